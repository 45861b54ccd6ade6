/* SPDX-License-Identifier: BSD-3-Clause */
/* shallowest: the vectors of A6 to A11, frozen ones by the strategy alone, live ones by a pool. */
#include "test.h"

#include "pick.h"
#include "rig.h"

static struct rig *
rig_with_depths(uint32_t n_workers, const uint32_t *depth, uint64_t index)
{
	const struct weir_config config = rig_config("shallowest", n_workers);
	struct rig *rig = rig_create(&config, 8192);

	rig_set_depths(rig, depth);
	weir_message_index_set(rig->dispatcher[0].dispatcher, index);
	return rig;
}

static void
a6_unique_minimum_wins_from_every_start(void **state)
{
	static const uint32_t depth[] = { 4, 1 };
	struct pick *pick = pick_create("shallowest", 2);
	struct rig *rig;

	(void)state;
	pick_freeze(pick, depth);
	assert_picks(pick, 0, 1, 1);
	pick_destroy(pick);
	rig = rig_with_depths(2, depth, 0);
	assert_routes(rig, 1, 1);
	rig_destroy(rig);
}

static void
a6_idle_workers_take_turns(void **state)
{
	static const uint32_t depth[] = { 0, 0, 0 };
	struct pick *pick = pick_create("shallowest", 3);
	struct rig *rig;

	(void)state;
	pick_freeze(pick, depth);
	assert_picks(pick, 0, 0, 1, 2, 0, 1, 2);
	pick_destroy(pick);
	rig = rig_with_depths(3, depth, 0);
	assert_routes(rig, 0, 1, 2, 0, 1, 2);
	rig_destroy(rig);
}

static void
a6_saturated_workers_take_turns(void **state)
{
	static const uint32_t depth[] = { 64, 64 };
	struct pick *pick = pick_create("shallowest", 2);
	struct rig *rig;

	(void)state;
	pick_freeze(pick, depth);
	assert_picks(pick, 0, 0, 1);
	pick_destroy(pick);
	rig = rig_with_depths(2, depth, 0);
	assert_routes(rig, 0, 1);
	rig_destroy(rig);
}

static void
a6_live_depths_0_3_0_level_out(void **state)
{
	static const uint32_t depth[] = { 0, 3, 0 };
	struct rig *rig = rig_with_depths(3, depth, 3);

	(void)state;
	assert_routes(rig, 0, 2, 2, 0);
	assert_int_equal(rig_depth(rig, 0), 2);
	assert_int_equal(rig_depth(rig, 1), 3);
	assert_int_equal(rig_depth(rig, 2), 2);
	rig_destroy(rig);
}

static void
a6_live_depths_0_3_0_level_out_singly(void **state)
{
	static const uint32_t depth[] = { 0, 3, 0 };
	struct rig *rig = rig_with_depths(3, depth, 3);

	(void)state;
	assert_routes_singly(rig, 0, 2, 2, 0);
	assert_int_equal(rig_depth(rig, 0), 2);
	assert_int_equal(rig_depth(rig, 1), 3);
	assert_int_equal(rig_depth(rig, 2), 2);
	rig_destroy(rig);
}

static void
a6_frozen_ties_follow_the_start_and_are_uneven(void **state)
{
	static const uint32_t depth[] = { 1, 5, 1 };
	struct pick *pick = pick_create("shallowest", 3);
	uint32_t share[3] = { 0 };

	(void)state;
	pick_freeze(pick, depth);
	for (uint32_t i = 0; i < 300; i++)
		share[pick_at(pick, i)]++;
	assert_int_equal(share[0], 100);
	assert_int_equal(share[1], 0);
	assert_int_equal(share[2], 200);
	pick_destroy(pick);
}

static void
a7_stopped_or_draining_worker_is_passed_over_though_it_is_idle(void **state)
{
	static const enum weir_worker_state states[] = { WEIR_WORKER_DRAINING,
		WEIR_WORKER_STOPPED };
	static const uint32_t depth[] = { 3, 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(states); i++) {
		struct rig *rig = rig_with_depths(2, depth, 0);

		assert_int_equal(weir_pool_set_state(rig->pool, 1, states[i]), 0);
		assert_routes(rig, 0, 0);
		assert_int_equal(rig_depth(rig, 1), 0);
		rig_destroy(rig);
	}
}

/* A worker of which nothing is known reads 0: it is offered packets rather than starved. */
static void
a7_worker_without_a_reading_counts_as_idle(void **state)
{
	static const uint32_t one[] = { 3, 0 };
	static const uint32_t two[] = { 0, 0, 1 };
	struct pick *pick = pick_create("shallowest", 2);

	(void)state;
	pick_freeze(pick, one);
	assert_picks(pick, 0, 1, 1);
	pick_destroy(pick);
	pick = pick_create("shallowest", 3);
	pick_freeze(pick, two);
	assert_picks(pick, 0, 0, 1, 0, 0);
	pick_destroy(pick);
}

static void
a7_worker_that_joins_counts_as_idle(void **state)
{
	const struct weir_config config = rig_config("shallowest", 3);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_int_equal(weir_pool_remove(rig->pool, 2), 0);
	assert_int_equal(rig_dispatch(rig, 6), 6);
	assert_int_equal(weir_pool_add(rig->pool, 2), 0);
	assert_int_equal(weir_pool_set_state(rig->pool, 2, WEIR_WORKER_READY), 0);
	assert_routes(rig, 2, 2, 2);
	rig_destroy(rig);
}

static void
a7_packet_in_process_counts_in_mode_outstanding(void **state)
{
	const struct weir_config config = rig_config("shallowest", 2);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_routes(rig, 0);
	assert_int_equal(rig_take(rig, 0, 1), 1);
	weir_message_index_set(rig->dispatcher[0].dispatcher, 0);
	assert_routes(rig, 1);
	rig_destroy(rig);
}

static void
a7_packet_in_process_does_not_count_in_mode_queued(void **state)
{
	struct weir_config config = rig_config("shallowest", 2);
	struct rig *rig;

	(void)state;
	config.depth_mode = WEIR_DEPTH_QUEUED;
	rig = rig_create(&config, 64);
	assert_routes(rig, 0);
	assert_int_equal(rig_take(rig, 0, 1), 1);
	/* Stuck on its only packet it ties with the idle one, and is first. */
	weir_message_index_set(rig->dispatcher[0].dispatcher, 0);
	assert_routes(rig, 0);
	/* What waits behind that one counts: 1 against 0. */
	weir_message_index_set(rig->dispatcher[0].dispatcher, 0);
	assert_routes(rig, 1);
	rig_destroy(rig);
}

static void
in_process_of_another_dispatcher_does_not_count_in_mode_queued(void **state)
{
	struct weir_config config = rig_config("shallowest", 2);
	struct rig *rig;

	(void)state;
	config.n_dispatchers = 2;
	config.depth_mode = WEIR_DEPTH_QUEUED;
	rig = rig_create(&config, 64);
	weir_message_index_set(rig->dispatcher[1].dispatcher, 0);
	assert_int_equal(rig_dispatch_from(rig, 1, 1), 1);
	assert_int_equal(rig->dispatcher[1].packets[0].charged, 0);
	assert_int_equal(rig_take(rig, 0, 1), 1);
	weir_message_index_set(rig->dispatcher[0].dispatcher, 0);
	assert_routes(rig, 0);
	rig_destroy(rig);
}

static void
backlog_of_another_dispatcher_counts(void **state)
{
	struct weir_config config = rig_config("shallowest", 3);
	struct rig *rig;

	(void)state;
	config.n_dispatchers = 2;
	rig = rig_create(&config, 64);
	/* Dispatcher 1 loads workers 0 and 1 with two packets each, and worker 2 with one. */
	weir_message_index_set(rig->dispatcher[1].dispatcher, 0);
	assert_int_equal(rig_dispatch_from(rig, 1, 5), 5);
	weir_message_index_set(rig->dispatcher[0].dispatcher, 0);
	assert_routes(rig, 2, 1, 2);
	/* And the other way round: depths are 2, 3 and 3 now. */
	weir_message_index_set(rig->dispatcher[1].dispatcher, 1);
	assert_int_equal(rig_dispatch_from(rig, 1, 1), 1);
	assert_int_equal(rig->dispatcher[1].packets[5].charged, 0);
	rig_destroy(rig);
}

static void
a8_packets_for_stopped_workers_are_charged_in_rotation(void **state)
{
	const struct weir_config config = rig_config("shallowest", 3);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	for (weir_worker_id id = 0; id < 3; id++)
		assert_int_equal(weir_pool_set_state(rig->pool, id, WEIR_WORKER_STOPPED), 0);
	assert_routes(rig, 0, 1, 2, 0, 1, 2);
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_DEAD_WORKER], 6);
	assert_int_equal(rig->dispatcher[0].n_ended, 6);
	for (weir_worker_id id = 0; id < 3; id++)
		assert_int_equal(
			rig_worker_counters(rig, 0, id).dropped[WEIR_REASON_DEAD_WORKER], 2);
	assert_int_equal(weir_message_index(rig->dispatcher[0].dispatcher), 6);
	rig_destroy(rig);
}

static void
a9_idle_pool_of_64_costs_one_visit_per_packet(void **state)
{
	const struct weir_config config = rig_config("shallowest", 64);
	struct rig *rig = rig_create(&config, 256);

	(void)state;
	for (uint32_t i = 1; i <= 200; i++) {
		assert_int_equal(rig_dispatch(rig, 1), 1);
		assert_int_equal(rig_work(rig, rig_last(rig, 1)->charged, 1), 1);
		assert_int_equal(rig_counters(rig, 0).depth_visits, i);
	}
	rig_destroy(rig);
}

static void
a9_idle_pool_of_64_costs_one_visit_per_packet_of_a_burst(void **state)
{
	const struct weir_config config = rig_config("shallowest", 64);
	struct rig *rig = rig_create(&config, 256);

	(void)state;
	assert_int_equal(rig_dispatch(rig, 32), 32);
	assert_int_equal(rig_counters(rig, 0).depth_visits, 32);
	rig_destroy(rig);
}

static void
a9_backlogged_pool_costs_n_visits_per_packet(void **state)
{
	static const uint32_t sizes[] = { 1, 2, 4, 64, 256 };

	(void)state;
	for (size_t s = 0; s < ARRAY_LENGTH(sizes); s++) {
		uint32_t depth[WEIR_WORKERS_MAX];
		struct rig *rig;
		uint64_t before;

		for (uint32_t i = 0; i < sizes[s]; i++)
			depth[i] = 1 + i % 3;
		rig = rig_with_depths(sizes[s], depth, 0);
		before = rig_counters(rig, 0).depth_visits;
		for (uint32_t i = 1; i <= 8; i++) {
			assert_int_equal(rig_dispatch(rig, 1), 1);
			assert_int_equal(rig_counters(rig, 0).depth_visits - before, i * sizes[s]);
		}
		rig_destroy(rig);
	}
}

/* Visits of one burst of 32 at `depth` each, from index 0. */
static uint64_t
visits_of_burst(uint32_t n_workers, uint32_t each)
{
	uint32_t depth[WEIR_WORKERS_MAX];
	struct rig *rig;
	uint64_t before;
	uint64_t visits;

	for (uint32_t i = 0; i < n_workers; i++)
		depth[i] = each;
	rig = rig_with_depths(n_workers, depth, 0);
	before = rig_counters(rig, 0).depth_visits;
	assert_int_equal(rig_dispatch(rig, 32), 32);
	visits = rig_counters(rig, 0).depth_visits - before;
	rig_destroy(rig);
	return visits;
}

static void
a9_burst_of_32_on_an_idle_pool_visits_53_47_32_32(void **state)
{
	(void)state;
	assert_int_equal(visits_of_burst(4, 0), 53);
	assert_int_equal(visits_of_burst(16, 0), 47);
	assert_int_equal(visits_of_burst(64, 0), 32);
	assert_int_equal(visits_of_burst(256, 0), 32);
}

static void
a9_burst_of_32_on_a_backlogged_pool_visits_56_62_95_287(void **state)
{
	(void)state;
	assert_int_equal(visits_of_burst(4, 5), 56);
	assert_int_equal(visits_of_burst(16, 5), 62);
	assert_int_equal(visits_of_burst(64, 5), 95);
	assert_int_equal(visits_of_burst(256, 5), 287);
}

static void
a10_four_full_lanes_drop_exactly_100_of_400_each(void **state)
{
	struct weir_config config = rig_config("shallowest", 4);
	struct rig *rig;

	(void)state;
	config.lane_size = 16;
	rig = rig_create(&config, 1024);
	assert_int_equal(rig_dispatch(rig, 32), 32);
	assert_int_equal(rig_dispatch(rig, 32), 32);
	assert_int_equal(rig_ledger(rig).in_lanes, 64);
	for (uint32_t left = 400; left > 0; left -= 16)
		assert_int_equal(rig_dispatch(rig, 16), 16);
	assert_int_equal(rig_ledger(rig).in_lanes, 64);
	for (weir_worker_id id = 0; id < 4; id++)
		assert_int_equal(
			rig_worker_counters(rig, 0, id).dropped[WEIR_REASON_OVERFLOW_DROP_NEW],
			100);
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_OVERFLOW_DROP_NEW], 400);
	rig_destroy(rig);
}

static void
a11_burst_on_four_idle_workers_goes_8_8_8_8(void **state)
{
	const struct weir_config config = rig_config("shallowest", 4);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_int_equal(rig_dispatch(rig, 32), 32);
	for (weir_worker_id id = 0; id < 4; id++)
		assert_int_equal(rig_depth(rig, id), 8);
	rig_destroy(rig);
}

static void
a11_burst_fills_the_shallow_worker_then_spreads_by_rotation(void **state)
{
	static const uint32_t depth[] = { 0, 10, 10, 10 };
	struct rig *rig = rig_with_depths(4, depth, 0);

	(void)state;
	/* Indices 10 and 11 start at 2 and 3, where the tie is met first. */
	assert_routes(rig, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 3);
	rig_destroy(rig);
}

static void
burst_after_burst_without_a_harvest_in_between_counts_own_hand_overs(void **state)
{
	const struct weir_config config = rig_config("shallowest", 4);
	struct rig *rig = rig_create(&config, 128);

	(void)state;
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(rig_dispatch(rig, 3), 3);
	for (weir_worker_id id = 0; id < 4; id++)
		assert_int_equal(rig_depth(rig, id), 6);
	rig_destroy(rig);
}

static void
stalled_worker_stops_receiving(void **state)
{
	const struct weir_config config = rig_config("shallowest", 4);
	struct rig *rig = rig_create(&config, 2048);

	(void)state;
	for (uint32_t i = 0; i < 50; i++) {
		assert_int_equal(rig_dispatch(rig, 32), 32);
		for (weir_worker_id id = 1; id < 4; id++)
			rig_work(rig, id, UINT32_MAX);
	}
	/* A burst of 32 brings three idle workers to 10 or 11: beyond 10 it gets nothing more. */
	assert_int_equal(rig_depth(rig, 0), 10);
	rig_destroy(rig);
}

static void
chunk_stands_for_its_packets_in_the_depths(void **state)
{
	struct weir_config config = rig_config("shallowest", 4);
	struct rig *rig;

	(void)state;
	config.chunk = 8;
	rig = rig_create(&config, 64);
	assert_int_equal(rig_dispatch(rig, 32), 32);
	for (weir_worker_id id = 0; id < 4; id++)
		assert_int_equal(rig_depth(rig, id), 8);
	/* Three more: the last chunk is short and counts as three. */
	assert_int_equal(rig_dispatch(rig, 3), 3);
	assert_int_equal(rig_dispatch(rig, 8), 8);
	assert_int_not_equal(rig_last(rig, 8)->charged, rig_last(rig, 11)->charged);
	rig_destroy(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a6_unique_minimum_wins_from_every_start),
		cmocka_unit_test(a6_idle_workers_take_turns),
		cmocka_unit_test(a6_saturated_workers_take_turns),
		cmocka_unit_test(a6_live_depths_0_3_0_level_out),
		cmocka_unit_test(a6_live_depths_0_3_0_level_out_singly),
		cmocka_unit_test(a6_frozen_ties_follow_the_start_and_are_uneven),
		cmocka_unit_test(a7_stopped_or_draining_worker_is_passed_over_though_it_is_idle),
		cmocka_unit_test(a7_worker_without_a_reading_counts_as_idle),
		cmocka_unit_test(a7_worker_that_joins_counts_as_idle),
		cmocka_unit_test(a7_packet_in_process_counts_in_mode_outstanding),
		cmocka_unit_test(a7_packet_in_process_does_not_count_in_mode_queued),
		cmocka_unit_test(in_process_of_another_dispatcher_does_not_count_in_mode_queued),
		cmocka_unit_test(backlog_of_another_dispatcher_counts),
		cmocka_unit_test(a8_packets_for_stopped_workers_are_charged_in_rotation),
		cmocka_unit_test(a9_idle_pool_of_64_costs_one_visit_per_packet),
		cmocka_unit_test(a9_idle_pool_of_64_costs_one_visit_per_packet_of_a_burst),
		cmocka_unit_test(a9_backlogged_pool_costs_n_visits_per_packet),
		cmocka_unit_test(a9_burst_of_32_on_an_idle_pool_visits_53_47_32_32),
		cmocka_unit_test(a9_burst_of_32_on_a_backlogged_pool_visits_56_62_95_287),
		cmocka_unit_test(a10_four_full_lanes_drop_exactly_100_of_400_each),
		cmocka_unit_test(a11_burst_on_four_idle_workers_goes_8_8_8_8),
		cmocka_unit_test(a11_burst_fills_the_shallow_worker_then_spreads_by_rotation),
		cmocka_unit_test(
			burst_after_burst_without_a_harvest_in_between_counts_own_hand_overs),
		cmocka_unit_test(stalled_worker_stops_receiving),
		cmocka_unit_test(chunk_stands_for_its_packets_in_the_depths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
