/* SPDX-License-Identifier: BSD-3-Clause */
/* cached-shallowest: vectors of published depths, staleness, own sends, and against a plain scan.
 */
#include "test.h"

#include <weir/cached_depth.h>

#include "pick.h"
#include "rig.h"

#define MS UINT64_C(1000000)
#define NONE INT64_C(-1) /* in a list of depths: nothing is published */

/* A table whose workers all have leases, and the strategy over it. */
struct fixture {
	struct weir_cached_depth *cached;
	struct weir_depth_lease lease[WEIR_WORKERS_MAX];
	struct pick *pick;
};

static struct fixture *
fixture_create_for(const weir_worker_id *ids, uint32_t n, uint64_t stale_after_ns, bool own_sends)
{
	struct weir_cached_depth_config config = weir_cached_depth_config_default();
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	config.n_workers = WEIR_WORKERS_MAX;
	config.stale_after_ns = stale_after_ns;
	config.add_own_sends = own_sends;
	fixture->cached = weir_cached_depth_create(&config, NULL);
	assert_non_null(fixture->cached);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(
			weir_depth_lease_take(fixture->cached, ids[i], &fixture->lease[ids[i]]), 0);
	fixture->pick = pick_create_of(weir_cached_depth_strategy(fixture->cached), ids, n);
	return fixture;
}

static struct fixture *
fixture_create(uint32_t n, bool own_sends)
{
	weir_worker_id ids[WEIR_WORKERS_MAX];

	for (uint32_t i = 0; i < n; i++)
		ids[i] = (weir_worker_id)i;
	return fixture_create_for(ids, n, 1000 * MS, own_sends);
}

static void
fixture_destroy(struct fixture *fixture)
{
	pick_destroy(fixture->pick);
	weir_cached_depth_destroy(fixture->cached);
	free(fixture);
}

static void
publish_state(struct fixture *fixture, weir_worker_id id, uint32_t depth, bool routable)
{
	const struct weir_depth_reading reading = {
		.time_ns = fixture->pick->context.now_ns,
		.depth_pkts = depth,
		.incarnation = weir_cached_depth_incarnation(fixture->cached, id),
		.routable = routable,
	};

	assert_int_equal(weir_cached_depth_publish(fixture->cached, id, &reading), 0);
}

static void
publish_all(struct fixture *fixture, const int64_t *depths, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (depths[i] != NONE)
			publish_state(fixture, fixture->pick->snapshot.routable[i],
				(uint32_t)depths[i], true);
	}
}

/* A fixture of as many workers as depths are given, all published at time 0. */
static struct fixture *
fixture_publish(const int64_t *depths, uint32_t n, bool own_sends)
{
	struct fixture *fixture = fixture_create(n, own_sends);

	publish_all(fixture, depths, n);
	return fixture;
}

#define DEPTHS(...)                          \
	((const int64_t[]) { __VA_ARGS__ }), \
		(sizeof((const int64_t[]) { __VA_ARGS__ }) / sizeof(int64_t))

static void
c7_vectors_of_the_source_without_own_sends(void **state)
{
	struct fixture *fixture = fixture_publish(DEPTHS(7, 2, 9), false);

	(void)state;
	assert_picks(fixture->pick, 0, 1, 1, 1);
	fixture_destroy(fixture);
	fixture = fixture_publish(DEPTHS(NONE, 4), false);
	assert_picks(fixture->pick, 0, 1, 1, 1, 1);
	fixture_destroy(fixture);
	fixture = fixture_publish(DEPTHS(NONE, NONE, NONE), false);
	assert_picks(fixture->pick, 0, 0, 1, 2, 0);
	fixture_destroy(fixture);
	fixture = fixture_publish(DEPTHS(0, 0, 0), false);
	assert_picks(fixture->pick, 0, 0, 1, 2, 0);
	fixture_destroy(fixture);
	fixture = fixture_publish(DEPTHS(64, 64), false);
	assert_picks(fixture->pick, 0, 0, 1);
	fixture_destroy(fixture);
}

static void
c7_without_own_sends_a_whole_burst_goes_to_the_minimum(void **state)
{
	struct fixture *fixture = fixture_publish(DEPTHS(7, 2, 9), false);

	(void)state;
	pick_burst(fixture->pick, WEIR_BURST_MAX);
	for (uint32_t i = 0; i < WEIR_BURST_MAX; i++)
		assert_int_equal(fixture->pick->out[i], 1);
	fixture_destroy(fixture);
}

/* Picks a hundred in bursts of `n`; published and sent must be level within one pick at the end. */
static void
assert_level(const int64_t *published, uint32_t n_workers, uint32_t burst, uint32_t stride)
{
	struct fixture *fixture = fixture_publish(published, n_workers, true);
	uint64_t total[8] = { 0 };
	uint64_t min = UINT64_MAX;
	uint64_t max = 0;

	pick_set_stride(fixture->pick, stride);
	for (uint32_t done = 0; done < 100; done += burst) {
		pick_burst(fixture->pick, burst);
		for (uint32_t i = 0; i < burst; i++)
			total[fixture->pick->out[i]] += stride;
	}
	for (uint32_t i = 0; i < n_workers; i++) {
		total[i] += (uint64_t)published[i];
		min = total[i] < min ? total[i] : min;
		max = total[i] > max ? total[i] : max;
	}
	assert_true(max - min <= stride);
	fixture_destroy(fixture);
}

static void
c7_own_sends_level_a_hundred_packets_within_one(void **state)
{
	(void)state;
	assert_level(DEPTHS(0, 0, 5), 1, 1);
	assert_level(DEPTHS(0, 0, 5), 4, 1);
	assert_level(DEPTHS(0, 0, 5), 100, 1);
	assert_level(DEPTHS(9, 0, 5, 31), 10, 1);
}

static void
c7_a_chunk_counts_whole(void **state)
{
	(void)state;
	assert_level(DEPTHS(0, 0, 5), 10, 2);
}

static void
c7_a_new_reading_begins_the_own_sends_afresh(void **state)
{
	struct fixture *fixture = fixture_publish(DEPTHS(0, 3), true);

	(void)state;
	assert_picks(fixture->pick, 0, 0, 0, 0);
	/* Both stand at 3 now. Worker 0 says that it has done all three. */
	publish_state(fixture, 0, 0, true);
	assert_picks(fixture->pick, 1, 0, 0, 0);
	/* Worker 1 says that it has got more from elsewhere. */
	publish_state(fixture, 1, 6, true);
	assert_picks(fixture->pick, 1, 0, 0, 0, 0, 1);
	fixture_destroy(fixture);
}

static void
c7_picks_that_are_withdrawn_were_not_sent(void **state)
{
	struct fixture *fixture = fixture_publish(DEPTHS(0, 10), true);
	const struct weir_strategy *strategy = weir_cached_depth_strategy(fixture->cached);

	(void)state;
	for (uint32_t round = 0; round < 5; round++) {
		pick_set_index(fixture->pick, 0);
		pick_burst(fixture->pick, 10);
		strategy->withdraw_picks(&fixture->pick->context, 1);
		/* A second time there is nothing left to take back. */
		strategy->withdraw_picks(&fixture->pick->context, 1);
	}
	/* Five were sent: five more until both are level. */
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(pick_at(fixture->pick, 0), 0);
	assert_int_equal(pick_at(fixture->pick, 1), 1);
	fixture_destroy(fixture);
}

static void
c7_own_sends_stay_with_the_worker_when_the_pool_changes(void **state)
{
	static const weir_worker_id swapped[] = { 1, 0 };
	struct fixture *fixture = fixture_publish(DEPTHS(0, 5), true);
	struct pick *pick = fixture->pick;

	(void)state;
	assert_picks(pick, 0, 0, 0, 0, 0);
	memcpy(pick->snapshot.routable, swapped, sizeof(swapped));
	/* Worker 0, now second, stands at 4 and gets one more; at 5 both take turns. */
	assert_picks(pick, 0, 1, 1, 0);
	fixture_destroy(fixture);
}

static void
c7_the_deepest_depth_is_a_depth(void **state)
{
	struct fixture *fixture = fixture_publish(DEPTHS(UINT32_MAX, NONE, UINT32_MAX), true);

	(void)state;
	assert_picks(fixture->pick, 0, 0, 2, 2, 0, 2);
	fixture_destroy(fixture);
}

static void
c8_vectors_of_the_source(void **state)
{
	static const weir_worker_id ids[] = { 0, 1 };
	struct fixture *fixture = fixture_publish(DEPTHS(0, 5), false);

	(void)state;
	fixture->pick->context.now_ns = 500 * MS;
	assert_int_equal(pick_at(fixture->pick, 1), 0);
	fixture->pick->context.now_ns = 1000 * MS;
	assert_int_equal(pick_at(fixture->pick, 1), 0);
	fixture->pick->context.now_ns = 1001 * MS;
	assert_int_equal(pick_at(fixture->pick, 1), 1);
	fixture_destroy(fixture);
	fixture = fixture_create_for(ids, 2, 0, false);
	publish_all(fixture, DEPTHS(0, 5));
	fixture->pick->context.now_ns = 86400000 * MS;
	assert_int_equal(pick_at(fixture->pick, 1), 0);
	fixture_destroy(fixture);
}

static void
c8_a_stale_worker_is_skipped_while_others_are_fresh(void **state)
{
	struct fixture *fixture = fixture_publish(DEPTHS(0, NONE, NONE), false);

	(void)state;
	fixture->pick->context.now_ns = 1000 * MS + 1;
	publish_state(fixture, 1, 900, true);
	assert_picks(fixture->pick, 0, 1, 1, 1);
	/* It publishes again. */
	publish_state(fixture, 0, 899, true);
	assert_picks(fixture->pick, 0, 0, 0, 0);
	fixture_destroy(fixture);
}

static void
c8_a_dispatcher_that_was_never_told_the_time_rotates(void **state)
{
	struct fixture *fixture = fixture_create(3, true);

	(void)state;
	fixture->pick->context.now_ns = 5000 * MS;
	publish_all(fixture, DEPTHS(0, 100, 100));
	fixture->pick->context.now_ns = 0;
	assert_picks(fixture->pick, 0, 0, 1, 2, 0);
	fixture_destroy(fixture);
}

static void
c6_a_rejoined_worker_is_skipped_until_it_publishes(void **state)
{
	struct fixture *fixture = fixture_publish(DEPTHS(0, 50), true);

	(void)state;
	assert_picks(fixture->pick, 0, 0, 0);
	assert_true(weir_cached_depth_rejoin(fixture->cached, 0) > 0);
	assert_picks(fixture->pick, 0, 1, 1, 1);
	publish_state(fixture, 0, 51, true);
	/* What was sent to its predecessor is not counted: 51 against 53. */
	assert_picks(fixture->pick, 0, 0, 0, 0, 1);
	fixture_destroy(fixture);
}

static void
c9_a_worker_whose_publisher_was_stopped_is_skipped(void **state)
{
	struct fixture *fixture = fixture_publish(DEPTHS(0, 50), false);

	(void)state;
	assert_picks(fixture->pick, 0, 0, 0);
	weir_depth_lease_release(&fixture->lease[0]);
	assert_picks(fixture->pick, 0, 1, 1);
	/* And gets its turn when nobody reports. */
	weir_depth_lease_release(&fixture->lease[1]);
	assert_picks(fixture->pick, 0, 0, 1, 0, 1);
	fixture_destroy(fixture);
}

static void
c6_workers_beyond_the_table_have_no_reading(void **state)
{
	struct weir_cached_depth_config config = weir_cached_depth_config_default();
	static const weir_worker_id ids[] = { 200, 1, 255 };
	struct fixture fixture = { 0 };

	(void)state;
	config.n_workers = 2;
	fixture.cached = weir_cached_depth_create(&config, NULL);
	assert_non_null(fixture.cached);
	assert_int_equal(weir_depth_lease_take(fixture.cached, 1, &fixture.lease[1]), 0);
	fixture.pick = pick_create_of(weir_cached_depth_strategy(fixture.cached), ids, 3);
	assert_picks(fixture.pick, 0, 0, 1, 2, 0);
	publish_state(&fixture, 1, 1000, true);
	assert_picks(fixture.pick, 0, 1, 1, 1, 1);
	pick_destroy(fixture.pick);
	weir_cached_depth_destroy(fixture.cached);
}

static void
c10_a_draining_worker_gets_nothing_though_it_is_empty(void **state)
{
	struct fixture *fixture = fixture_publish(DEPTHS(0, 400, 400), true);

	(void)state;
	assert_picks(fixture->pick, 0, 0);
	publish_state(fixture, 0, 0, false);
	for (uint32_t i = 0; i < 100; i++) {
		pick_burst(fixture->pick, 7);
		for (uint32_t j = 0; j < 7; j++)
			assert_int_not_equal(fixture->pick->out[j], 0);
	}
	fixture_destroy(fixture);
}

static void
c10_a_draining_worker_gets_nothing_when_no_other_has_a_reading(void **state)
{
	struct fixture *fixture = fixture_create(4, true);

	(void)state;
	publish_state(fixture, 1, 0, false);
	assert_picks(fixture->pick, 0, 0, 2, 2, 3, 0, 2);
	publish_state(fixture, 3, 0, false);
	assert_picks(fixture->pick, 0, 0, 2, 2, 0);
	/* Stale, what it said is no reading. */
	fixture->pick->context.now_ns = 1001 * MS;
	assert_picks(fixture->pick, 0, 0, 1, 2, 3);
	fixture_destroy(fixture);
}

static void
a8_when_all_are_draining_picks_rotate(void **state)
{
	struct fixture *fixture = fixture_create(3, true);

	(void)state;
	for (weir_worker_id id = 0; id < 3; id++)
		publish_state(fixture, id, 0, false);
	assert_picks(fixture->pick, 0, 0, 1, 2, 0);
	fixture_destroy(fixture);
}

/* The definition, position by position: usable depths only, strictly less, from the rotation on. */
static uint16_t
reference_pick(const int64_t *depth, uint32_t n, uint32_t rotation)
{
	uint32_t best = rotation;
	int64_t best_depth = INT64_MAX;

	for (uint32_t i = 0; i < n; i++) {
		const uint32_t position = (rotation + i) % n;

		if (depth[position] == NONE || depth[position] >= best_depth)
			continue;
		best = position;
		best_depth = depth[position];
	}
	return (uint16_t)best;
}

static void
c7_a_burst_is_a_plain_scan_packet_by_packet(void **state)
{
	struct test_random random = test_random_start(__func__);

	(void)state;
	for (uint32_t round = 0; round < 300; round++) {
		const uint32_t n = test_random_between(&random, 1, 20);
		const bool own_sends = test_random_below(&random, 3) > 0;
		const uint32_t deep = 1u << test_random_below(&random, 8);
		struct fixture *fixture = fixture_create(n, own_sends);
		int64_t depth[20];

		for (uint32_t i = 0; i < n; i++)
			depth[i] = test_random_below(&random, 4) ? test_random_below(&random, deep)
								 : NONE;
		publish_all(fixture, depth, n);
		pick_set_index(fixture->pick, test_random_below(&random, 1000));
		for (uint32_t burst = 0; burst < 3; burst++) {
			const uint32_t n_picks = test_random_between(&random, 1, 64);
			uint32_t rotation = fixture->pick->context.rotation;

			pick_burst(fixture->pick, n_picks);
			for (uint32_t i = 0; i < n_picks; i++) {
				const uint16_t expected = reference_pick(depth, n, rotation);

				assert_int_equal(fixture->pick->out[i], expected);
				if (own_sends && depth[expected] != NONE)
					depth[expected]++;
				rotation = (rotation + 1) % n;
			}
		}
		fixture_destroy(fixture);
	}
}

static void
depths_and_rooms_of_the_mirror_are_not_touched(void **state)
{
	static const uint32_t frozen[] = { 3, 2, 1 };
	struct fixture *fixture = fixture_publish(DEPTHS(1, 2, 3), true);

	(void)state;
	pick_freeze(fixture->pick, frozen);
	assert_picks(fixture->pick, 0, 0, 1, 0);
	assert_memory_equal(fixture->pick->depth, frozen, sizeof(frozen));
	assert_int_equal(fixture->pick->context.depth_visits, 0);
	fixture_destroy(fixture);
}

/* A pool that was given the strategy by its name. */
static struct rig *
pool_create(const struct weir_strategy *const *strategy, enum weir_order order)
{
	struct weir_config config = rig_config("cached-shallowest", 3);

	config.strategies = strategy;
	config.n_strategies = 1;
	config.order = order;
	return rig_create(&config, 1000);
}

static void
c7_a_pool_routes_by_published_depths(void **state)
{
	struct fixture *fixture = fixture_create(3, true);
	const struct weir_strategy *const strategy = weir_cached_depth_strategy(fixture->cached);
	struct rig *rig;

	(void)state;
	rig = pool_create(&strategy, WEIR_ORDER_NONE);
	assert_routes(rig, 0, 1, 2, 0);
	publish_all(fixture, DEPTHS(3, 1, 3));
	assert_routes(rig, 1, 1, 0, 1, 2);
	assert_routes_singly(rig, 0, 1, 2);
	publish_state(fixture, 1, 0, false);
	assert_routes(rig, 0, 2, 2, 0);
	/* The pool's own states come first. */
	assert_int_equal(weir_pool_set_state(rig->pool, 0, WEIR_WORKER_STOPPED), 0);
	assert_routes(rig, 2, 2, 2);
	rig_destroy(rig);
	fixture_destroy(fixture);
}

static void
order_flow_is_kept_over_published_depths(void **state)
{
	struct test_random random = test_random_start(__func__);
	struct fixture *fixture = fixture_create(3, true);
	const struct weir_strategy *const strategy = weir_cached_depth_strategy(fixture->cached);
	struct rig *rig;

	(void)state;
	rig = pool_create(&strategy, WEIR_ORDER_FLOW);
	rig->n_buckets = 20;
	/* The rig checks order and books after every step. */
	for (uint32_t i = 0; i < 100; i++) {
		const weir_worker_id id = (weir_worker_id)test_random_below(&random, 3);

		assert_int_equal(rig_dispatch(rig, 10), 10);
		rig_work(rig, id, test_random_below(&random, 30));
		publish_state(fixture, id, rig_depth(rig, id), true);
	}
	rig_destroy(rig);
	fixture_destroy(fixture);
}

static void
it_is_no_name_of_the_registry(void **state)
{
	(void)state;
	assert_null(weir_strategy_find("cached-shallowest"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(c7_vectors_of_the_source_without_own_sends),
		cmocka_unit_test(c7_without_own_sends_a_whole_burst_goes_to_the_minimum),
		cmocka_unit_test(c7_own_sends_level_a_hundred_packets_within_one),
		cmocka_unit_test(c7_a_chunk_counts_whole),
		cmocka_unit_test(c7_a_new_reading_begins_the_own_sends_afresh),
		cmocka_unit_test(c7_picks_that_are_withdrawn_were_not_sent),
		cmocka_unit_test(c7_own_sends_stay_with_the_worker_when_the_pool_changes),
		cmocka_unit_test(c7_the_deepest_depth_is_a_depth),
		cmocka_unit_test(c8_vectors_of_the_source),
		cmocka_unit_test(c8_a_stale_worker_is_skipped_while_others_are_fresh),
		cmocka_unit_test(c8_a_dispatcher_that_was_never_told_the_time_rotates),
		cmocka_unit_test(c6_a_rejoined_worker_is_skipped_until_it_publishes),
		cmocka_unit_test(c9_a_worker_whose_publisher_was_stopped_is_skipped),
		cmocka_unit_test(c6_workers_beyond_the_table_have_no_reading),
		cmocka_unit_test(c10_a_draining_worker_gets_nothing_though_it_is_empty),
		cmocka_unit_test(c10_a_draining_worker_gets_nothing_when_no_other_has_a_reading),
		cmocka_unit_test(a8_when_all_are_draining_picks_rotate),
		cmocka_unit_test(c7_a_burst_is_a_plain_scan_packet_by_packet),
		cmocka_unit_test(depths_and_rooms_of_the_mirror_are_not_touched),
		cmocka_unit_test(c7_a_pool_routes_by_published_depths),
		cmocka_unit_test(order_flow_is_kept_over_published_depths),
		cmocka_unit_test(it_is_no_name_of_the_registry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
