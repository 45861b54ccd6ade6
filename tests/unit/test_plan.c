/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/decide with order flow: who asks the strategy, who follows a pin, and what is taken back. */
#include "test.h"

#include "dispatch.h"
#include "order_rig.h"

static void
idle_bucket_asks_the_strategy(void **state)
{
	struct rig *rig = order_rig("round-robin", 3, 64);

	(void)state;
	assert_goes(rig, { 7, 0 });
	order_bring_home(rig, 0, 1);
	assert_goes(rig, { 7, 1 });
	order_bring_home(rig, 1, 1);
	assert_goes(rig, { 7, 2 });
	assert_int_equal(order_index(rig), 3);
	assert_int_equal(order_moves(rig), 2);
	rig_destroy(rig);
}

static void
bucket_with_packets_out_follows_its_pin(void **state)
{
	struct rig *rig = order_rig("round-robin", 3, 64);

	(void)state;
	assert_goes(rig, { 7, 0 });
	assert_goes(rig, { 7, 0 });
	assert_goes(rig, { 7, 0 }, { 7, 0 }, { 7, 0 });
	assert_int_equal(order_index(rig), 1);
	assert_int_equal(order_moves(rig), 0);
	rig_destroy(rig);
}

static void
two_packets_of_one_bucket_in_one_burst_ask_once_and_go_together(void **state)
{
	struct rig *rig = order_rig("round-robin", 3, 64);

	(void)state;
	assert_goes(rig, { 7, 0 }, { 7, 0 }, { 8, 1 });
	assert_int_equal(order_index(rig), 2);
	rig_destroy(rig);
}

static void
buckets_of_a_burst_that_interleave_ask_once_each(void **state)
{
	struct rig *rig = order_rig("round-robin", 4, 64);

	(void)state;
	assert_goes(rig, { 7, 0 }, { 8, 1 }, { 7, 0 }, { 9, 2 }, { 8, 1 }, { 7, 0 }, { 9, 2 });
	assert_int_equal(order_index(rig), 3);
	rig_destroy(rig);
}

static void
a2_pinned_packets_do_not_advance_the_message_index(void **state)
{
	struct rig *rig = order_rig("round-robin", 3, 64);
	struct weir_dispatcher_counters counters;

	(void)state;
	assert_goes(rig, { 7, 0 });
	assert_goes(rig, { 7, 0 }, { 7, 0 }, { 7, 0 }, { 7, 0 });
	assert_goes(rig, { 8, 1 });
	assert_goes(rig, { 7, 0 }, { 9, 2 }, { 8, 1 });
	counters = rig_counters(rig, 0);
	assert_int_equal(order_index(rig), 3);
	assert_int_equal(counters.routed, 3);
	assert_int_equal(counters.received, 9);
	assert_int_equal(counters.lent, 9);
	rig_destroy(rig);
}

static void
bucket_moves_after_its_last_packet_is_harvested_and_not_before(void **state)
{
	struct rig *rig = order_rig("round-robin", 2, 64);

	(void)state;
	assert_goes(rig, { 7, 0 }, { 7, 0 });
	order_bring_home(rig, 0, 1);
	assert_true(order_is_out(rig, 7));
	assert_goes(rig, { 7, 0 });
	order_bring_home(rig, 0, 1);
	assert_goes(rig, { 7, 0 });
	assert_int_equal(order_moves(rig), 0);
	order_bring_home(rig, 0, 2);
	assert_false(order_is_out(rig, 7));
	assert_goes(rig, { 7, 1 });
	assert_int_equal(order_moves(rig), 1);
	rig_destroy(rig);
}

static void
packets_of_other_buckets_behind_the_last_one_do_not_keep_it(void **state)
{
	struct rig *rig = order_rig("round-robin", 2, 64);

	(void)state;
	assert_goes(rig, { 7, 0 }, { 8, 1 }, { 9, 0 });
	order_bring_home(rig, 0, 1);
	/* 9 is still out at worker 0. Index 3 is worker 1's. */
	assert_goes(rig, { 7, 1 }, { 9, 0 });
	rig_destroy(rig);
}

static void
worker_0_completes_all(struct rig *rig)
{
	rig_work(rig, 0, UINT32_MAX);
}

/* Worker 0 gives the packet back after its progress was read: the dispatcher has yet to see it. */
static void
packet_that_is_completed_and_not_yet_harvested_is_out(void **state)
{
	struct rig *rig = order_rig("round-robin", 2, 64);

	(void)state;
	assert_goes(rig, { 7, 0 }, { 8, 1 });
	assert_int_equal(rig_work(rig, 1, 1), 1);
	rig->on_finish = worker_0_completes_all;
	assert_goes(rig, { 9, 0 }, { 7, 0 });
	assert_null(rig->on_finish);
	/* Index 3 is worker 1's; 7 is out with its second packet. */
	assert_goes(rig, { 10, 1 }, { 7, 0 });
	rig_destroy(rig);
}

static void
idle_flows_leave_a_stalled_worker_and_its_packets_out_stay(void **state)
{
	struct rig *rig = order_rig("shallowest", 2, 256);

	(void)state;
	for (uint16_t bucket = 100; bucket < 116; bucket++)
		assert_int_equal(dispatch_buckets(rig, bucket), 1);
	assert_int_equal(rig_depth(rig, 0), 8);
	rig_drain(rig);
	/* Worker 0 has eight packets of bucket 1 and completes none of them. */
	assert_goes(rig, { 1, 0 }, { 1, 0 }, { 1, 0 }, { 1, 0 }, { 1, 0 }, { 1, 0 }, { 1, 0 },
		{ 1, 0 });
	for (uint16_t bucket = 100; bucket < 116; bucket++) {
		assert_goes(rig, { bucket, 1 });
		order_bring_home(rig, 1, 1);
	}
	assert_int_equal(order_moves(rig), 8);
	assert_goes(rig, { 1, 0 });
	assert_int_equal(rig_depth(rig, 0), 9);
	rig_destroy(rig);
}

static void
colliding_flows_share_a_pin(void **state)
{
	struct rig *rig = order_rig("round-robin", 3, 64);
	const struct rig_packet *packets;

	(void)state;
	assert_goes(rig, { 7, 0 });
	assert_goes(rig, { 7, 0 }, { 7, 0 });
	packets = rig_last(rig, 3);
	assert_int_not_equal(packets[0].meta.hash, packets[1].meta.hash);
	assert_int_not_equal(packets[1].meta.hash, packets[2].meta.hash);
	rig_destroy(rig);
}

static void
first_and_last_bucket_and_worker_are_pinned_as_any(void **state)
{
	struct rig *rig = order_rig("last", 256, 64);

	(void)state;
	assert_goes(rig, { 0, 255 }, { 65535, 255 }, { 0, 255 }, { 65535, 255 });
	assert_int_equal(order_index(rig), 2);
	order_remove(rig, 255);
	assert_goes(rig, { 0, HELD }, { 1, 254 }, { 65535, HELD });
	rig_destroy(rig);
}

static void
chunk_is_of_consecutive_packets_that_ask(void **state)
{
	struct weir_config config = order_config("round-robin", 3);
	struct rig *rig;

	(void)state;
	config.chunk = 4;
	rig = rig_create(&config, 64);
	assert_goes(rig, { 1, 0 }, { 2, 0 }, { 1, 0 }, { 3, 0 }, { 4, 0 }, { 5, 1 }, { 6, 1 },
		{ 2, 0 });
	assert_int_equal(order_index(rig), 6);
	/* A follower in between neither takes part nor ends it. Index 6 is worker 0's. */
	assert_goes(rig, { 7, 0 }, { 5, 1 }, { 8, 0 });
	assert_int_equal(order_index(rig), 8);
	rig_destroy(rig);
}

static void
chunk_of_8_counts_in_the_mirror_what_it_lent(void **state)
{
	struct weir_config config = order_config("shallowest", 3);
	struct rig *rig;

	(void)state;
	config.chunk = 8;
	rig = rig_create(&config, 512);
	/* The rig compares the mirror with the lanes after each; every second packet follows. */
	for (uint32_t n = 0; n <= 32; n += 4) {
		uint16_t buckets[32];

		for (uint32_t i = 0; i < n; i++)
			buckets[i] = (uint16_t)(i % 2 ? 3 : 100 * n + i);
		assert_int_equal(rig_dispatch_buckets(rig, 0, buckets, n), n);
	}
	rig_destroy(rig);
}

static void
pins_are_followed_in_both_depth_modes(void **state)
{
	static const struct {
		enum weir_depth_mode mode;
		weir_worker_id worker;
	} rows[] = { { WEIR_DEPTH_OUTSTANDING, 1 }, { WEIR_DEPTH_QUEUED, 0 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct weir_config config = order_config("shallowest", 2);
		struct rig *rig;

		config.depth_mode = rows[i].mode;
		rig = rig_create(&config, 64);
		assert_goes(rig, { 7, 0 }, { 7, 0 });
		/* Both in process: out, whatever counts as depth. */
		assert_int_equal(rig_take(rig, 0, 2), 2);
		assert_goes(rig, { 8, 1 });
		assert_goes(rig, { 9, rows[i].worker });
		assert_goes(rig, { 7, 0 });
		rig_destroy(rig);
	}
}

static void
dispatchers_have_pins_of_their_own(void **state)
{
	struct weir_config config = order_config("round-robin", 2);
	static const uint16_t bucket = 7;
	struct rig *rig;

	(void)state;
	config.n_dispatchers = 2;
	rig = rig_create(&config, 64);
	assert_goes(rig, { 7, 0 }, { 7, 0 });
	/* The second dispatcher's rotation starts at worker 1. */
	assert_int_equal(rig_dispatch_buckets(rig, 1, &bucket, 1), 1);
	assert_int_equal(rig->dispatcher[1].packets[0].charged, 1);
	assert_goes(rig, { 7, 0 });
	/* Worker 1 is done; worker 0 still has the first dispatcher's. */
	assert_int_equal(rig_work(rig, 1, 1), 1);
	assert_int_equal(rig_dispatch_buckets(rig, 1, &bucket, 1), 1);
	assert_int_equal(rig->dispatcher[1].packets[1].charged, 0);
	assert_int_equal(rig_counters(rig, 1).moves, 1);
	assert_int_equal(order_moves(rig), 0);
	rig_destroy(rig);
}

static void
reclaimed_bucket_asks_afresh(void **state)
{
	struct rig *rig = order_rig("round-robin", 2, 64);

	(void)state;
	assert_goes(rig, { 7, 0 }, { 7, 0 }, { 7, 0 });
	assert_int_equal(rig_take(rig, 0, 1), 1);
	assert_int_equal(order_kill(rig, 0), 3);
	assert_goes(rig, { 7, 1 });
	assert_int_equal(order_moves(rig), 1);
	order_bring_home(rig, 1, 1);
	rig_destroy(rig);
}

static void
bucket_whose_packets_were_written_off_asks_afresh(void **state)
{
	struct rig *rig = order_rig("round-robin", 2, 64);

	(void)state;
	assert_goes(rig, { 7, 0 }, { 7, 0 });
	assert_int_equal(weir_reclaim(rig->dispatcher[0].dispatcher, 0, WEIR_REASON_DEAD_WORKER,
				 WEIR_RECLAIM_WRITE_OFF),
		2);
	rig->dispatcher[0].n_written_off = 2;
	order_remove(rig, 0);
	assert_goes(rig, { 7, 1 });
	order_bring_home(rig, 1, 1);
	for (uint32_t i = 0; i < 2; i++)
		rig->dispatcher[0].packets[i].owner = RIG_ENDED;
	rig_destroy(rig);
}

static void
bucket_moves_and_follows_while_lane_numbers_wrap(void **state)
{
	struct weir_config config = order_config("round-robin", 2);
	struct rig *rig;

	(void)state;
	config.lane_size = 4;
	rig = rig_create(&config, 256);
	order_start_at(rig, (uint32_t)-16);
	for (uint32_t i = 0; i < 40; i++) {
		const weir_worker_id worker = i % 2;

		assert_goes(rig, { 7, worker });
		assert_goes(rig, { 7, worker }, { 7, worker });
		order_bring_home(rig, worker, 2);
		assert_goes(rig, { 7, worker });
		order_bring_home(rig, worker, 2);
		assert_int_equal(order_index(rig), i + 1);
	}
	assert_int_equal(order_moves(rig), 39);
	rig_destroy(rig);
}

static void
pinned_packets_count_in_the_mirror_before_any_pick_of_their_burst(void **state)
{
	struct rig *rig = order_rig("shallowest", 2, 64);

	(void)state;
	assert_goes(rig, { 1, 0 });
	assert_goes(rig, { 3, 1 }, { 3, 1 });
	weir_message_index_set(rig->dispatcher[0].dispatcher, 0);
	/* Worker 0 is the shallower now, and will not be once its two have come. */
	assert_goes(rig, { 2, 1 }, { 1, 0 }, { 1, 0 });
	rig_destroy(rig);
}

/*
 * Held packets that a pass over the hold leaves to the next one would go sooner in `singly`, which
 * makes more passes: before there are so many, everything comes home in both.
 */
static void
hold_bound(struct rig *rig)
{
	if (order_held(rig) + rig->config.burst < HOLD_PASS_PKTS)
		return;
	for (uint32_t id = 0; id < rig->config.n_workers; id++)
		rig_work(rig, (weir_worker_id)id, UINT32_MAX);
	rig_harvest(rig);
}

/* The same traffic and changes on both; `singly` gets each burst packet by packet. */
static void
compare_bursts(const struct weir_config *config, struct test_random *random)
{
	struct rig *burst = rig_create(config, 20000);
	struct rig *singly = rig_create(config, 20000);
	uint32_t n_workers = config->n_workers;

	burst->n_buckets = singly->n_buckets = 40;
	for (uint32_t round = 0; round < 300; round++) {
		const uint32_t n = test_random_below(random, config->burst + 1);
		const weir_worker_id id = (weir_worker_id)test_random_below(random, n_workers);
		const uint32_t done = test_random_below(random, 40);

		assert_int_equal(rig_dispatch(burst, n), n);
		/* Both harvest now, so that both pass over the hold as often. */
		rig_harvest(singly);
		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(rig_dispatch(singly, 1), 1);
		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(
				rig_last(burst, n)[i].charged, rig_last(singly, n)[i].charged);
		rig_work(burst, id, done);
		rig_work(singly, id, done);
		hold_bound(burst);
		hold_bound(singly);
		if (round == 150) {
			order_remove(burst, 0);
			order_remove(singly, 0);
		}
	}
	assert_int_equal(order_index(burst), order_index(singly));
	assert_int_equal(order_moves(burst), order_moves(singly));
	rig_destroy(burst);
	rig_destroy(singly);
}

/* Without overflow, and not of strategies that read depth: see the next test. */
static void
a11_bursts_go_as_their_packets_would_one_by_one_where_depth_is_not_read(void **state)
{
	struct test_random random = test_random_start(__func__);

	(void)state;
	for (unsigned int i = 0; weir_strategy_at(i); i++) {
		struct weir_config config = order_config(weir_strategy_at(i)->name, 4);

		/* Nor what there is of a class, for followers are part of that. */
		if (weir_strategy_at(i)->flags &
			(WEIR_STRATEGY_READS_DEPTH | WEIR_STRATEGY_READS_CLASS_DEPTH))
			continue;
		config.lane_size = 8192;
		config.hold_size = 8192;
		compare_bursts(&config, &random);
		config.sticky_ns = 50;
		compare_bursts(&config, &random);
	}
}

/* Who reads depth sees the followers of a burst first: equal where none follows. */
static void
a11_bursts_of_idle_buckets_go_as_their_packets_would_one_by_one(void **state)
{
	struct test_random random = test_random_start(__func__);

	(void)state;
	for (unsigned int i = 0; weir_strategy_at(i); i++) {
		const struct weir_config config = order_config(weir_strategy_at(i)->name, 5);
		struct rig *burst = rig_create(&config, 8192);
		struct rig *singly = rig_create(&config, 8192);

		for (uint32_t round = 0; round < 200; round++) {
			const uint32_t n = test_random_below(&random, config.burst + 1);

			/* Every bucket in turn, by id. */
			assert_int_equal(rig_dispatch(burst, n), n);
			for (uint32_t p = 0; p < n; p++) {
				assert_int_equal(rig_dispatch(singly, 1), 1);
				assert_int_equal(rig_last(burst, n)[p].charged,
					rig_last(singly, 1)->charged);
			}
			if (round % 8 == 7) {
				rig_drain(burst);
				rig_drain(singly);
			}
		}
		rig_destroy(burst);
		rig_destroy(singly);
	}
}

static void
order_none_has_no_pins(void **state)
{
	const struct weir_config config = rig_config("round-robin", 3);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_null(rig->dispatcher[0].dispatcher->pins);
	assert_goes(rig, { 7, 0 }, { 7, 1 }, { 7, 2 });
	assert_int_equal(order_moves(rig), 0);
	rig_destroy(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idle_bucket_asks_the_strategy),
		cmocka_unit_test(bucket_with_packets_out_follows_its_pin),
		cmocka_unit_test(two_packets_of_one_bucket_in_one_burst_ask_once_and_go_together),
		cmocka_unit_test(buckets_of_a_burst_that_interleave_ask_once_each),
		cmocka_unit_test(a2_pinned_packets_do_not_advance_the_message_index),
		cmocka_unit_test(bucket_moves_after_its_last_packet_is_harvested_and_not_before),
		cmocka_unit_test(packets_of_other_buckets_behind_the_last_one_do_not_keep_it),
		cmocka_unit_test(packet_that_is_completed_and_not_yet_harvested_is_out),
		cmocka_unit_test(idle_flows_leave_a_stalled_worker_and_its_packets_out_stay),
		cmocka_unit_test(colliding_flows_share_a_pin),
		cmocka_unit_test(first_and_last_bucket_and_worker_are_pinned_as_any),
		cmocka_unit_test(chunk_is_of_consecutive_packets_that_ask),
		cmocka_unit_test(chunk_of_8_counts_in_the_mirror_what_it_lent),
		cmocka_unit_test(pins_are_followed_in_both_depth_modes),
		cmocka_unit_test(dispatchers_have_pins_of_their_own),
		cmocka_unit_test(reclaimed_bucket_asks_afresh),
		cmocka_unit_test(bucket_whose_packets_were_written_off_asks_afresh),
		cmocka_unit_test(bucket_moves_and_follows_while_lane_numbers_wrap),
		cmocka_unit_test(pinned_packets_count_in_the_mirror_before_any_pick_of_their_burst),
		cmocka_unit_test(
			a11_bursts_go_as_their_packets_would_one_by_one_where_depth_is_not_read),
		cmocka_unit_test(a11_bursts_of_idle_buckets_go_as_their_packets_would_one_by_one),
		cmocka_unit_test(order_none_has_no_pins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
