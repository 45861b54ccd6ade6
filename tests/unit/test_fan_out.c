/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/decide: one packet for all workers: what the others' lanes, the index and pins make of it. */
#include "test.h"

#include "dispatcher.h"
#include "order_rig.h"

static void
to_all(struct rig *rig, uint32_t n)
{
	rig->flags = WEIR_META_TO_ALL;
	assert_int_equal(rig_dispatch(rig, n), n);
	rig->flags = 0;
}

static void
assert_depths(const struct rig *rig, const uint32_t *depths)
{
	for (uint32_t i = 0; i < rig->config.n_workers; i++)
		assert_int_equal(rig_depth(rig, (weir_worker_id)i), depths[i]);
}

#define assert_depths_are(rig, ...) assert_depths(rig, (const uint32_t[]) { __VA_ARGS__ })

static void
a2_a_packet_for_all_moves_no_index(void **state)
{
	const struct weir_config config = rig_config("round-robin", 3);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	rig_copies_allow(rig, 64);
	assert_routes(rig, 0);
	to_all(rig, 1);
	assert_depths_are(rig, 2, 1, 1);
	assert_routes(rig, 1, 2, 0);
	assert_int_equal(weir_message_index(rig->dispatcher[0].dispatcher), 4);
	assert_int_equal(rig_counters(rig, 0).routed, 4);
	rig_destroy(rig);
}

static void
a13_under_every_strategy_each_worker_gets_a_flagged_packet_once(void **state)
{
	(void)state;
	for (unsigned int i = 0; weir_strategy_at(i); i++) {
		const struct weir_config config = rig_config(weir_strategy_at(i)->name, 4);
		struct rig *rig = rig_create(&config, 64);
		struct rig *plain = rig_create(&config, 64);

		rig_copies_allow(rig, 200);
		to_all(rig, 1);
		assert_depths_are(rig, 1, 1, 1, 1);
		rig_drain(rig);
		assert_int_equal(weir_message_index(rig->dispatcher[0].dispatcher), 0);
		/* The next ones go where they would have gone anyway. */
		assert_int_equal(rig_dispatch(rig, 1), 1);
		assert_int_equal(rig_dispatch(plain, 1), 1);
		if (!(weir_strategy_at(i)->flags & WEIR_STRATEGY_OWNS_FLOWS))
			assert_int_equal(rig_last(rig, 1)->charged, rig_last(plain, 1)->charged);
		rig_destroy(rig);
		rig_destroy(plain);
	}
}

static void
a13_one_among_others_of_a_burst_is_for_all(void **state)
{
	const struct weir_config config = rig_config("round-robin", 3);
	struct rig *rig = rig_create(&config, 64);
	void *handles[3];
	void *data[3];
	struct weir_meta meta[3] = { { 0 }, { .flags = WEIR_META_TO_ALL }, { 0 } };
	weir_worker_id workers[3];
	struct weir_dispatcher *d = rig->dispatcher[0].dispatcher;

	(void)state;
	rig_copies_allow(rig, 8);
	for (uint32_t i = 0; i < 3; i++) {
		struct rig_packet *packet = &rig->dispatcher[0].packets[i];

		packet->id = i;
		packet->payload = i;
		packet->owner = RIG_DISPATCHER;
		packet->charged = packet->from = WEIR_WORKER_NONE;
		packet->is_spread = true;
		packet->meta = meta[i];
		handles[i] = packet;
		data[i] = &packet->payload;
	}
	rig->dispatcher[0].n_packets = 3;
	assert_int_equal(weir_dispatch(d, &(const struct weir_burst) { .packets = handles,
						  .data = data,
						  .meta = meta,
						  .n = 3,
						  .workers = workers }),
		3);
	assert_depths_are(rig, 2, 2, 1);
	assert_int_equal(workers[0], 0);
	assert_int_equal(workers[1], 0);
	assert_int_equal(workers[2], 1);
	rig_destroy(rig);
}

static void
a13_nobody_is_there(void **state)
{
	const struct weir_config config = rig_config("round-robin", 2);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	rig_copies_allow(rig, 8);
	for (weir_worker_id id = 0; id < 2; id++)
		assert_int_equal(weir_pool_set_state(rig->pool, id, WEIR_WORKER_STOPPED), 0);
	to_all(rig, 2);
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_DEAD_WORKER], 2);
	for (weir_worker_id id = 0; id < 2; id++)
		assert_int_equal(weir_pool_remove(rig->pool, id), 0);
	to_all(rig, 3);
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_NO_ROUTE], 3);
	assert_int_equal(rig_ledger(rig).copies, 0);
	assert_int_equal(weir_message_index(rig->dispatcher[0].dispatcher), 0);
	rig_destroy(rig);
}

/* Three workers with lanes of two; the one in the middle is full, the others are empty. */
static struct rig *
rig_with_full_worker_1(const char *overflow)
{
	struct weir_config config = rig_config("broadcast", 3);
	struct rig *rig;

	config.lane_size = 2;
	config.overflow = overflow;
	rig = rig_create(&config, 64);
	assert_int_equal(rig_dispatch(rig, 2), 2);
	rig_work(rig, 0, 2);
	rig_work(rig, 2, 2);
	rig_harvest(rig);
	assert_depths_are(rig, 0, 2, 0);
	return rig;
}

static void
a5_a_full_lane_drops_its_own_copy_only(void **state)
{
	struct rig *rig = rig_with_full_worker_1("drop-new");
	const uint32_t n_copies = rig->dispatcher[0].n_copies;

	(void)state;
	assert_int_equal(rig_dispatch(rig, 1), 1);
	assert_depths_are(rig, 1, 2, 1);
	assert_int_equal(rig_worker_counters(rig, 0, 1).dropped[WEIR_REASON_OVERFLOW_DROP_NEW], 1);
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_OVERFLOW_DROP_NEW], 1);
	/* The one that was dropped was not made. */
	assert_int_equal(rig->dispatcher[0].n_copies, n_copies + 1);
	assert_int_equal(rig_counters(rig, 0).copies, 6);
	rig_destroy(rig);
}

static void
a10_with_every_lane_full_the_packet_itself_ends_once(void **state)
{
	struct weir_config config = rig_config("broadcast", 3);
	struct rig *rig;

	(void)state;
	config.lane_size = 1;
	rig = rig_create(&config, 64);
	assert_int_equal(rig_dispatch(rig, 4), 4);
	assert_int_equal(rig->dispatcher[0].n_ended, 3);
	for (weir_worker_id id = 0; id < 3; id++)
		assert_int_equal(
			rig_worker_counters(rig, 0, id).dropped[WEIR_REASON_OVERFLOW_DROP_NEW], 3);
	rig_destroy(rig);
}

static void
a18_under_reject_the_copy_waits_for_its_worker_and_the_others_have_theirs(void **state)
{
	struct rig *rig = rig_with_full_worker_1("reject");
	struct weir_dispatcher *d = rig->dispatcher[0].dispatcher;

	(void)state;
	assert_int_equal(rig_dispatch(rig, 1), 1);
	assert_depths_are(rig, 1, 2, 1);
	assert_int_equal(rig_counters(rig, 0).rejected, 1);
	assert_int_equal(weir_held(d), 1);
	/* Nobody's state has changed: there is no other snapshot. */
	assert_int_equal(d->snapshot->version, 1);
	assert_false(weir_accepts(d));
	assert_int_equal(rig_dispatch(rig, 1), 0);
	assert_int_equal(rig_work(rig, 1, 1), 1);
	assert_int_equal(rig_retry(rig, 0), 1);
	assert_depths_are(rig, 2, 2, 2);
	assert_int_equal(weir_held(d), 1);
	rig_drain(rig);
	/* Four packets, and each worker has had each. */
	assert_int_equal(rig_ledger(rig).completed, 12);
	rig_destroy(rig);
}

static void
a_held_copy_of_a_worker_that_left_ends(void **state)
{
	struct rig *rig = rig_with_full_worker_1("reject");

	(void)state;
	assert_int_equal(rig_dispatch(rig, 1), 1);
	assert_int_equal(weir_pool_remove(rig->pool, 1), 0);
	rig_harvest(rig);
	assert_int_equal(weir_held(rig->dispatcher[0].dispatcher), 0);
	assert_int_equal(rig_worker_counters(rig, 0, 1).dropped[WEIR_REASON_DEAD_WORKER], 1);
	assert_true(weir_accepts(rig->dispatcher[0].dispatcher));
	rig_destroy(rig);
}

static void
copies_that_find_the_hold_full_end(void **state)
{
	struct weir_config config = rig_config("broadcast", 3);
	struct rig *rig;

	(void)state;
	config.lane_size = 1;
	config.hold_size = 2;
	config.overflow = "reject";
	rig = rig_create(&config, 64);
	assert_int_equal(rig_dispatch(rig, 2), 2);
	assert_int_equal(weir_held(rig->dispatcher[0].dispatcher), 2);
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_HELD_OVERFLOW], 1);
	rig_destroy(rig);
}

static void
copies_that_cannot_be_made_are_charged_to_their_workers(void **state)
{
	static const uint32_t limits[] = { 0, 1, 2 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(limits); i++) {
		const struct weir_config config = rig_config("broadcast", 4);
		struct rig *rig = rig_create(&config, 64);

		rig->copies_per_call = limits[i];
		assert_int_equal(rig_dispatch(rig, 5), 5);
		for (weir_worker_id id = 0; id < 4; id++) {
			const uint32_t lent = id <= limits[i] ? 5 : 0;

			assert_int_equal(rig_depth(rig, id), lent);
			assert_int_equal(
				rig_worker_counters(rig, 0, id).dropped[WEIR_REASON_NO_MBUF],
				5 - lent);
		}
		rig_destroy(rig);
	}
}

static void
without_a_copy_function_one_worker_gets_the_packet(void **state)
{
	const struct weir_config config = rig_config("broadcast", 3);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	weir_copy_set(rig->dispatcher[0].dispatcher, NULL);
	assert_int_equal(rig_dispatch(rig, 2), 2);
	assert_depths_are(rig, 2, 0, 0);
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_NO_MBUF], 4);
	rig_destroy(rig);
}

/* Far more copies than a burst has room to publish at once. */
static void
a_full_burst_to_256_workers_arrives_whole(void **state)
{
	struct weir_config config = rig_config("broadcast", 256);
	struct rig *rig;

	(void)state;
	config.burst = WEIR_BURST_MAX;
	config.lane_size = 200;
	rig = rig_create(&config, 256);
	assert_int_equal(rig_dispatch(rig, 256), 256);
	for (uint32_t id = 0; id < 256; id++)
		assert_int_equal(rig_depth(rig, (weir_worker_id)id), 200);
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_OVERFLOW_DROP_NEW], 56 * 256);
	rig_destroy(rig);
}

static void
copies_count_as_depth_for_the_picks_of_their_burst(void **state)
{
	const struct weir_class classes[] = { { .strategy = "broadcast" } };
	struct weir_config config = rig_config("shallowest", 2);
	struct rig *rig;

	(void)state;
	config.classes = classes;
	config.n_classes = 1;
	rig = rig_create(&config, 64);
	assert_routes(rig, 0);
	rig->class_id = 1;
	assert_int_equal(rig_dispatch(rig, 3), 3);
	rig->class_id = 0;
	assert_depths_are(rig, 4, 3);
	/* The rig compares the mirror with the lanes. */
	assert_routes(rig, 1, 0);
	rig_destroy(rig);
}

static void
order_flow_ignores_what_goes_to_all(void **state)
{
	struct rig *rig = order_rig("round-robin", 3, 64);

	(void)state;
	rig_copies_allow(rig, 64);
	assert_goes(rig, { 7, 0 });
	rig->bucket = 7;
	to_all(rig, 1);
	assert_int_equal(order_pin(rig, 7), 0);
	order_bring_home(rig, 0, 1);
	/* Copies of 7 are out at all workers, and yet the bucket is free. */
	assert_goes(rig, { 7, 1 });
	rig_destroy(rig);
}

static void
a_refused_packet_for_all_goes_from_the_hold_to_each_once(void **state)
{
	struct weir_config config = rig_config("round-robin", 2);
	struct rig *rig;

	(void)state;
	config.lane_size = 1;
	config.overflow = "reject";
	rig = rig_create(&config, 64);
	rig_copies_allow(rig, 8);
	assert_int_equal(rig_dispatch(rig, 3), 2);
	rig_hold(rig, 0);
	rig->flags = WEIR_META_TO_ALL;
	assert_int_equal(rig_dispatch(rig, 1), 0);
	rig->flags = 0;
	rig_hold(rig, 0);
	assert_int_equal(weir_held(rig->dispatcher[0].dispatcher), 2);
	rig_drain(rig);
	assert_int_equal(rig_ledger(rig).completed, 5);
	assert_int_equal(rig_ledger(rig).copies, 1);
	rig_destroy(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a2_a_packet_for_all_moves_no_index),
		cmocka_unit_test(a13_under_every_strategy_each_worker_gets_a_flagged_packet_once),
		cmocka_unit_test(a13_one_among_others_of_a_burst_is_for_all),
		cmocka_unit_test(a13_nobody_is_there),
		cmocka_unit_test(a5_a_full_lane_drops_its_own_copy_only),
		cmocka_unit_test(a10_with_every_lane_full_the_packet_itself_ends_once),
		cmocka_unit_test(
			a18_under_reject_the_copy_waits_for_its_worker_and_the_others_have_theirs),
		cmocka_unit_test(a_held_copy_of_a_worker_that_left_ends),
		cmocka_unit_test(copies_that_find_the_hold_full_end),
		cmocka_unit_test(copies_that_cannot_be_made_are_charged_to_their_workers),
		cmocka_unit_test(without_a_copy_function_one_worker_gets_the_packet),
		cmocka_unit_test(a_full_burst_to_256_workers_arrives_whole),
		cmocka_unit_test(copies_count_as_depth_for_the_picks_of_their_burst),
		cmocka_unit_test(order_flow_ignores_what_goes_to_all),
		cmocka_unit_test(a_refused_packet_for_all_goes_from_the_hold_to_each_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
