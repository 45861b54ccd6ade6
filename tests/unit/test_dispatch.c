/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/decide: the burst pipeline. */
#include "test.h"

#include "dispatcher.h"
#include "rig.h"

static void
a1_two_packets_go_to_the_only_worker_under_every_strategy(void **state)
{
	(void)state;
	for (unsigned int i = 0; weir_strategy_at(i); i++) {
		struct weir_config config = rig_config(weir_strategy_at(i)->name, 1);
		struct rig *rig;

		config.fallback = rig_fallback(weir_strategy_at(i));
		rig = rig_create(&config, 64);
		assert_routes(rig, 0, 0);
		rig_destroy(rig);
	}
}

/* X0 asks the same of every strategy. */
static void
a2_empty_pool_ends_five_packets_as_no_route_and_moves_the_index_by_five(void **state)
{
	(void)state;
	for (unsigned int i = 0; weir_strategy_at(i); i++) {
		const struct weir_config config = rig_config(weir_strategy_at(i)->name, 2);
		struct rig *rig = rig_create(&config, 64);

		assert_int_equal(weir_pool_remove(rig->pool, 1), 0);
		assert_int_equal(weir_pool_remove(rig->pool, 0), 0);
		assert_int_equal(rig_dispatch(rig, 5), 5);
		assert_int_equal(rig->dispatcher[0].n_ended, 5);
		for (uint32_t p = 0; p < 5; p++) {
			const struct rig_packet *packet = rig->dispatcher[0].ended[p];

			assert_int_equal(packet->id, p);
			assert_int_equal(packet->from, WEIR_WORKER_NONE);
			assert_int_equal(packet->charged, WEIR_WORKER_NONE);
			assert_int_equal(packet->verdict.target, WEIR_REASON_NO_ROUTE);
		}
		assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_NO_ROUTE], 5);
		assert_int_equal(weir_message_index(rig->dispatcher[0].dispatcher), 5);
		rig_destroy(rig);
	}
}

static void
a8_stopped_pool_charges_the_rotation_under_every_strategy_and_policy(void **state)
{
	(void)state;
	for (unsigned int i = 0; weir_strategy_at(i); i++) {
		for (unsigned int p = 0; weir_overflow_at(p); p++) {
			struct weir_config config = rig_config(weir_strategy_at(i)->name, 3);
			struct rig *rig;
			uint8_t reason;

			config.overflow = weir_overflow_at(p)->name;
			if (weir_config_check(&config, NULL) < 0)
				continue;
			rig = rig_create(&config, 64);
			for (weir_worker_id id = 0; id < 3; id++)
				assert_int_equal(
					weir_pool_set_state(rig->pool, id, WEIR_WORKER_STOPPED), 0);
			reason = weir_strategy_at(i)->none_reason;
			if (reason == 0) {
				reason = WEIR_REASON_DEAD_WORKER;
				assert_routes(rig, 0, 1, 2);
				assert_routes_singly(rig, 0, 1, 2);
			} else {
				assert_int_equal(rig_dispatch(rig, 6), 6);
				assert_int_equal(rig_last(rig, 1)->charged, WEIR_WORKER_NONE);
			}
			assert_int_equal(rig_ledger(rig).dropped[reason], 6);
			rig_destroy(rig);
		}
	}
}

static void
a8_losses_rotate_over_the_members_that_are_left(void **state)
{
	const struct weir_config config = rig_config("round-robin", 4);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	for (weir_worker_id id = 0; id < 4; id++)
		assert_int_equal(weir_pool_set_state(rig->pool, id, WEIR_WORKER_STOPPED), 0);
	assert_int_equal(weir_pool_remove(rig->pool, 1), 0);
	assert_routes(rig, 0, 2, 3, 0, 2, 3);
	rig_destroy(rig);
}

static void
a2_losses_at_the_wrap_of_the_index_are_charged_to_members(void **state)
{
	const struct weir_config config = rig_config("round-robin", 3);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	for (weir_worker_id id = 0; id < 3; id++)
		assert_int_equal(weir_pool_set_state(rig->pool, id, WEIR_WORKER_STOPPED), 0);
	weir_harvest(rig->dispatcher[0].dispatcher);
	weir_message_index_set(rig->dispatcher[0].dispatcher, UINT64_MAX - 1);
	assert_int_equal(rig_dispatch(rig, 8), 8);
	for (uint32_t i = 0; i < 8; i++)
		assert_true(rig_last(rig, 8)[i].charged < 3);
	rig_destroy(rig);
}

static void
draining_workers_are_dead_too(void **state)
{
	const struct weir_config config = rig_config("shallowest", 2);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_int_equal(weir_pool_set_state(rig->pool, 0, WEIR_WORKER_DRAINING), 0);
	assert_int_equal(weir_pool_set_state(rig->pool, 1, WEIR_WORKER_DRAINING), 0);
	assert_routes(rig, 0, 1);
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_DEAD_WORKER], 2);
	rig_destroy(rig);
}

static void
empty_burst_takes_nothing_and_counts_nothing(void **state)
{
	const struct weir_config config = rig_config("shallowest", 2);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_int_equal(rig_dispatch(rig, 0), 0);
	assert_int_equal(rig_counters(rig, 0).bursts, 0);
	assert_int_equal(rig_counters(rig, 0).received, 0);
	rig_destroy(rig);
}

static void
dispatch_of_nothing_harvests(void **state)
{
	const struct weir_config config = rig_config("shallowest", 2);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_int_equal(rig_dispatch(rig, 4), 4);
	rig_work(rig, 0, 4);
	assert_int_equal(rig_dispatch(rig, 0), 0);
	assert_int_equal(rig->dispatcher[0].n_ended, 2);
	rig_destroy(rig);
}

static void
dispatch_harvests_before_it_decides(void **state)
{
	const struct weir_config config = rig_config("shallowest", 2);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_int_equal(rig_dispatch(rig, 8), 8);
	assert_int_equal(rig_work(rig, 1, 4), 4);
	assert_routes(rig, 1, 1, 1, 1);
	assert_int_equal(rig->dispatcher[0].n_ended, 4);
	rig_destroy(rig);
}

static void
counters_of_bursts_and_packets_add_up(void **state)
{
	const struct weir_config config = rig_config("round-robin", 3);
	struct rig *rig = rig_create(&config, 256);
	struct weir_dispatcher_counters counters;

	(void)state;
	for (uint32_t i = 1; i <= 10; i++)
		assert_int_equal(rig_dispatch(rig, i), i);
	counters = rig_counters(rig, 0);
	assert_int_equal(counters.bursts, 10);
	assert_int_equal(counters.received, 55);
	assert_int_equal(counters.routed, 55);
	assert_int_equal(counters.lent, 55);
	assert_int_equal(counters.rejected, 0);
	assert_int_equal(weir_in_lanes(rig->dispatcher[0].dispatcher), 55);
	rig_destroy(rig);
}

/* What came back of the packets of burst_without_data(). */
struct plain_finish {
	void *packets[4];
	uint32_t n;
};

static void
plain_finish(void *context, void *const *packets, const struct weir_verdict *verdicts, uint32_t n,
	weir_worker_id worker)
{
	struct plain_finish *finished = context;

	(void)verdicts;
	assert_int_equal(worker, 0);
	for (uint32_t i = 0; i < n; i++)
		finished->packets[finished->n++] = packets[i];
}

static void
burst_without_data_lends_the_handles_and_needs_no_list_of_workers(void **state)
{
	const struct weir_config config = rig_config("first", 1);
	struct weir_pool *pool = weir_pool_create(&config, NULL);
	struct plain_finish finished = { .n = 0 };
	struct weir_dispatcher *dispatcher =
		weir_dispatcher_create(pool, 0, plain_finish, &finished);
	uint8_t bytes[4];
	void *const handles[] = { &bytes[0], &bytes[1], &bytes[2] };
	const struct weir_meta meta[3] = { 0 };
	const struct weir_burst burst = { .packets = handles, .meta = meta, .n = 3 };
	struct weir_packet packets[3];
	struct weir_verdict verdicts[3] = { 0 };

	(void)state;
	assert_int_equal(weir_dispatch(dispatcher, &burst), 3);
	assert_int_equal(weir_take(weir_pool_worker(pool, 0), packets, 3), 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_ptr_equal(packets[i].data, &bytes[i]);
	weir_complete(weir_pool_worker(pool, 0), verdicts, 3);
	assert_int_equal(weir_harvest(dispatcher), 3);
	assert_int_equal(finished.n, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_ptr_equal(finished.packets[i], &bytes[i]);
	weir_dispatcher_destroy(dispatcher);
	weir_pool_destroy(pool);
}

static void
pool_without_metadata_routes_all_the_same(void **state)
{
	struct weir_config config = rig_config("rendezvous", 3);
	struct rig *rig;

	(void)state;
	config.lend_metadata = false;
	rig = rig_create(&config, 64);
	assert_int_equal(rig_dispatch(rig, 32), 32);
	/* The rig checks that the workers see zeroes. */
	rig_drain(rig);
	assert_int_equal(rig_ledger(rig).completed, 32);
	rig_destroy(rig);
}

static void
dispatch_33(void *context)
{
	static void *packets[33];
	static struct weir_meta meta[33];
	const struct weir_burst burst = { .packets = packets, .meta = meta, .n = 33 };

	weir_dispatch(context, &burst);
}

static void
dispatching_more_than_a_burst_is_asserted(void **state)
{
	const struct weir_config config = rig_config("first", 1);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	test_needs_assertions();
	assert_true(test_aborts(dispatch_33, rig->dispatcher[0].dispatcher));
	rig_destroy(rig);
}

static void
full_bursts_of_256_pass(void **state)
{
	struct weir_config config = rig_config("shallowest", 256);
	struct rig *rig;

	(void)state;
	config.burst = 256;
	rig = rig_create(&config, 1024);
	assert_int_equal(rig_dispatch(rig, 256), 256);
	for (uint32_t id = 0; id < 256; id++)
		assert_int_equal(rig_depth(rig, (weir_worker_id)id), 1);
	rig_drain(rig);
	assert_int_equal(rig_dispatch(rig, 256), 256);
	rig_destroy(rig);
}

/* Every packet of a burst of 256 dropped at once. */
static void
burst_of_256_drops_comes_back_in_one_piece(void **state)
{
	struct weir_config config = rig_config("first", 1);
	struct rig *rig;

	(void)state;
	config.burst = 256;
	config.lane_size = 1;
	rig = rig_create(&config, 1024);
	assert_int_equal(rig_dispatch(rig, 1), 1);
	assert_int_equal(rig_dispatch(rig, 256), 256);
	assert_int_equal(rig->dispatcher[0].n_ended, 256);
	assert_int_equal(rig->dispatcher[0].n_finish_calls, 1);
	rig_destroy(rig);
}

static void
short_last_chunk_counts_as_what_it_lent(void **state)
{
	struct weir_config config = rig_config("shallowest", 3);
	struct rig *rig;

	(void)state;
	config.chunk = 8;
	rig = rig_create(&config, 64);
	/* The rig compares the mirror with the lanes after each. */
	assert_int_equal(rig_dispatch(rig, 3), 3);
	assert_int_equal(rig_dispatch(rig, 11), 11);
	assert_int_equal(rig_dispatch(rig, 16), 16);
	rig_destroy(rig);
}

static void
refusal_ends_the_chunk_it_falls_into(void **state)
{
	struct weir_config config = rig_config("round-robin", 3);
	struct rig *rig;

	(void)state;
	config.chunk = 4;
	config.lane_size = 6;
	config.overflow = "reject";
	rig = rig_create(&config, 64);
	assert_routes(rig, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2);
	/* Index 12 is worker 0's: two fit, the third is refused. */
	assert_int_equal(rig_dispatch(rig, 8), 2);
	assert_int_equal(weir_message_index(rig->dispatcher[0].dispatcher), 14);
	/* Index 14 is worker 2's: a new chunk of four begins, of which two fit. */
	assert_int_equal(rig_retry(rig, 0), 2);
	assert_int_equal(rig_last(rig, 6)[0].charged, 2);
	assert_int_equal(rig_last(rig, 6)[1].charged, 2);
	rig_destroy(rig);
}

static void
drop_ends_the_chunk_it_falls_into(void **state)
{
	struct weir_config config = rig_config("round-robin", 3);
	struct rig *rig;

	(void)state;
	config.chunk = 4;
	config.lane_size = 5;
	rig = rig_create(&config, 64);
	assert_routes(rig, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2);
	/*
	 * Each lane has room for one more. Index 12 is worker 0's: one fits, 13 is dropped. The
	 * strategy is asked again for index 14, worker 2's, then for 16, worker 1's, and for 18 and
	 * 19, which find all full.
	 */
	assert_routes(rig, 0, 0, 2, 2, 1, 1, 0, 1);
	for (weir_worker_id id = 0; id < 3; id++)
		assert_int_equal(rig_depth(rig, id), 5);
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_OVERFLOW_DROP_NEW], 5);
	rig_destroy(rig);
}

static void
chunk_larger_than_the_burst_is_one_pick_per_burst(void **state)
{
	struct weir_config config = rig_config("shallowest", 4);
	struct rig *rig;

	(void)state;
	config.chunk = 256;
	rig = rig_create(&config, 256);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(rig_dispatch(rig, 32), 32);
		for (uint32_t p = 1; p < 32; p++)
			assert_int_equal(rig_last(rig, 32)[p].charged, rig_last(rig, 32)->charged);
	}
	for (weir_worker_id id = 0; id < 4; id++)
		assert_int_equal(rig_depth(rig, id), 32);
	rig_destroy(rig);
}

static void
message_index_starts_at_zero_and_can_be_set(void **state)
{
	const struct weir_config config = rig_config("round-robin", 5);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_int_equal(weir_message_index(rig->dispatcher[0].dispatcher), 0);
	weir_message_index_set(rig->dispatcher[0].dispatcher, 13);
	assert_int_equal(weir_message_index(rig->dispatcher[0].dispatcher), 13);
	assert_routes(rig, 3, 4, 0);
	rig_destroy(rig);
}

static void
two_dispatchers_lend_to_the_same_workers_independently(void **state)
{
	struct weir_config config = rig_config("round-robin", 2);
	struct rig *rig;

	(void)state;
	config.n_dispatchers = 2;
	config.lane_size = 4;
	rig = rig_create(&config, 64);
	/* Lanes are per dispatcher: eight fit from each. */
	assert_int_equal(rig_dispatch_from(rig, 0, 8), 8);
	assert_int_equal(rig_dispatch_from(rig, 1, 8), 8);
	assert_int_equal(rig_ledger(rig).in_lanes, 16);
	assert_int_equal(rig_depth(rig, 0), 8);
	assert_int_equal(rig_depth(rig, 1), 8);
	rig_drain(rig);
	assert_int_equal(rig->dispatcher[0].n_ended, 8);
	assert_int_equal(rig->dispatcher[1].n_ended, 8);
	rig_destroy(rig);
}

static void
worker_counters_beyond_the_pool_are_refused(void **state)
{
	const struct weir_config config = rig_config("round-robin", 2);
	struct rig *rig = rig_create(&config, 64);
	struct weir_worker_counters counters;

	(void)state;
	assert_int_equal(
		weir_dispatcher_worker_counters(rig->dispatcher[0].dispatcher, 2, &counters),
		-EINVAL);
	assert_int_equal(weir_dispatcher_worker_counters(
				 rig->dispatcher[0].dispatcher, WEIR_WORKER_NONE, &counters),
		-EINVAL);
	rig_destroy(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a1_two_packets_go_to_the_only_worker_under_every_strategy),
		cmocka_unit_test(
			a2_empty_pool_ends_five_packets_as_no_route_and_moves_the_index_by_five),
		cmocka_unit_test(
			a8_stopped_pool_charges_the_rotation_under_every_strategy_and_policy),
		cmocka_unit_test(a8_losses_rotate_over_the_members_that_are_left),
		cmocka_unit_test(a2_losses_at_the_wrap_of_the_index_are_charged_to_members),
		cmocka_unit_test(draining_workers_are_dead_too),
		cmocka_unit_test(empty_burst_takes_nothing_and_counts_nothing),
		cmocka_unit_test(dispatch_of_nothing_harvests),
		cmocka_unit_test(dispatch_harvests_before_it_decides),
		cmocka_unit_test(counters_of_bursts_and_packets_add_up),
		cmocka_unit_test(burst_without_data_lends_the_handles_and_needs_no_list_of_workers),
		cmocka_unit_test(pool_without_metadata_routes_all_the_same),
		cmocka_unit_test(dispatching_more_than_a_burst_is_asserted),
		cmocka_unit_test(full_bursts_of_256_pass),
		cmocka_unit_test(burst_of_256_drops_comes_back_in_one_piece),
		cmocka_unit_test(short_last_chunk_counts_as_what_it_lent),
		cmocka_unit_test(refusal_ends_the_chunk_it_falls_into),
		cmocka_unit_test(drop_ends_the_chunk_it_falls_into),
		cmocka_unit_test(chunk_larger_than_the_burst_is_one_pick_per_burst),
		cmocka_unit_test(message_index_starts_at_zero_and_can_be_set),
		cmocka_unit_test(two_dispatchers_lend_to_the_same_workers_independently),
		cmocka_unit_test(worker_counters_beyond_the_pool_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
