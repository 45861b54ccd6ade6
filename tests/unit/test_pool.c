/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/pool: creation, the memory of lanes and workers, and dispatchers of a pool. */
#include "test.h"

#include "pool.h"
#include "rig.h"

static void
finish_nothing(void *context, void *const *packets, const struct weir_verdict *verdicts, uint32_t n,
	weir_worker_id worker)
{
	(void)context;
	(void)packets;
	(void)verdicts;
	(void)worker;
	fail_msg("%u packets ended, none was dispatched", n);
}

static void
a1_every_worker_is_a_ready_member_in_order(void **state)
{
	static const uint32_t sizes[] = { 1, 2, 3, 255, 256 };

	(void)state;
	for (size_t s = 0; s < ARRAY_LENGTH(sizes); s++) {
		const struct weir_config config = rig_config("first", sizes[s]);
		struct weir_pool *pool = weir_pool_create(&config, NULL);
		const struct weir_snapshot *snapshot;

		assert_non_null(pool);
		snapshot = pool_snapshot_load(pool);
		assert_int_equal(snapshot->version, 1);
		assert_int_equal(snapshot->n_members, sizes[s]);
		assert_int_equal(snapshot->n_routable, sizes[s]);
		for (uint32_t i = 0; i < sizes[s]; i++) {
			assert_int_equal(snapshot->member[i], i);
			assert_int_equal(snapshot->routable[i], i);
			assert_int_equal(snapshot->position[i], i);
		}
		weir_pool_destroy(pool);
	}
}

static void
pool_keeps_its_own_copy_of_the_configuration(void **state)
{
	char strategy[] = "round-robin";
	char overflow[] = "reject";
	struct weir_config config = weir_config_default();
	struct weir_pool *pool;

	(void)state;
	config.strategy = strategy;
	config.overflow = overflow;
	config.lane_size = 77;
	pool = weir_pool_create(&config, NULL);
	assert_non_null(pool);
	memset(strategy, 0, sizeof(strategy));
	memset(overflow, 0, sizeof(overflow));
	assert_string_equal(weir_pool_config(pool)->strategy, "round-robin");
	assert_string_equal(weir_pool_config(pool)->overflow, "reject");
	assert_int_equal(weir_pool_config(pool)->lane_size, 77);
	weir_pool_destroy(pool);
}

static void
worker_beyond_the_pool_is_refused(void **state)
{
	const struct weir_config config = rig_config("first", 3);
	struct weir_pool *pool = weir_pool_create(&config, NULL);

	(void)state;
	assert_non_null(pool);
	for (weir_worker_id id = 0; id < 3; id++)
		assert_int_equal(weir_worker_get_id(weir_pool_worker(pool, id)), id);
	errno = 0;
	assert_null(weir_pool_worker(pool, 3));
	assert_int_equal(errno, EINVAL);
	assert_null(weir_pool_worker(pool, WEIR_WORKER_NONE));
	weir_pool_destroy(pool);
}

static void
dispatcher_is_refused_for_the_documented_reasons(void **state)
{
	const struct weir_config config = rig_config("first", 3);
	struct weir_pool *pool = weir_pool_create(&config, NULL);
	struct weir_dispatcher *dispatcher;

	(void)state;
	assert_non_null(pool);
	errno = 0;
	assert_null(weir_dispatcher_create(pool, 1, finish_nothing, NULL));
	assert_int_equal(errno, EINVAL);
	errno = 0;
	assert_null(weir_dispatcher_create(pool, 0, NULL, NULL));
	assert_int_equal(errno, EINVAL);
	dispatcher = weir_dispatcher_create(pool, 0, finish_nothing, NULL);
	assert_non_null(dispatcher);
	errno = 0;
	assert_null(weir_dispatcher_create(pool, 0, finish_nothing, NULL));
	assert_int_equal(errno, EEXIST);
	weir_dispatcher_destroy(dispatcher);
	weir_pool_destroy(pool);
}

static void
null_may_be_destroyed(void **state)
{
	(void)state;
	weir_pool_destroy(NULL);
	weir_dispatcher_destroy(NULL);
}

struct region {
	uintptr_t from;
	uintptr_t to;
};

static int
region_compare(const void *a, const void *b)
{
	const struct region *x = a;
	const struct region *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

static void
region_add(struct region *regions, size_t *n, const void *from, size_t bytes)
{
	if (bytes > 0)
		regions[(*n)++] =
			(struct region) { .from = (uintptr_t)from, .to = (uintptr_t)from + bytes };
}

static void
assert_disjoint(struct region *regions, size_t n)
{
	qsort(regions, n, sizeof(*regions), region_compare);
	for (size_t i = 1; i < n; i++)
		assert_true(regions[i].from >= regions[i - 1].to);
}

static void
assert_inside(const struct region *region, const struct area *area)
{
	assert_true(region->from >= (uintptr_t)area->memory);
	assert_true(region->to <= (uintptr_t)area->memory + area->bytes);
}

/* Every array of every lane of `config` lies in its area and overlaps no other. */
static void
memory_check(const struct weir_config *config)
{
	struct weir_pool *pool = weir_pool_create(config, NULL);
	const size_t n_lanes = (size_t)config->n_workers * config->n_dispatchers;
	struct region *lanes = calloc(2 * n_lanes + config->n_workers, sizeof(*lanes));
	struct region *workers = calloc(n_lanes + 2 * config->n_workers, sizeof(*workers));
	size_t n_lane_regions = 0;
	size_t n_worker_regions = 0;

	assert_non_null(pool);
	assert_non_null(lanes);
	assert_non_null(workers);
	for (uint32_t w = 0; w < config->n_workers; w++) {
		const weir_worker_id id = (weir_worker_id)w;

		region_add(lanes, &n_lane_regions, pool_worker_header(pool, id),
			sizeof(struct worker_header));
		region_add(workers, &n_worker_regions, pool_progress(pool, id),
			sizeof(struct progress));
		region_add(workers, &n_worker_regions, pool_activity(pool, id),
			sizeof(struct activity));
		for (uint32_t d = 0; d < config->n_dispatchers; d++) {
			const struct lane_producer lane = pool_lane_producer(pool, d, id, NULL);
			const struct lane_consumer *consumer = &weir_pool_worker(pool, id)->lane[d];

			assert_ptr_equal(lane.slots, consumer->slots);
			assert_ptr_equal(lane.metadata, consumer->metadata);
			assert_ptr_equal(lane.verdicts, consumer->verdicts);
			assert_int_equal(lane.n_slots, consumer->n_slots);
			assert_int_equal((uintptr_t)lane.slots % 64, 0);
			assert_int_equal((uintptr_t)lane.metadata % 64, 0);
			assert_int_equal((uintptr_t)lane.verdicts % 64, 0);
			region_add(lanes, &n_lane_regions, lane.slots,
				lane.n_slots * sizeof(lane_slot));
			region_add(lanes, &n_lane_regions, lane.metadata,
				lane.metadata ? lane.n_slots * sizeof(struct weir_meta) : 0);
			region_add(workers, &n_worker_regions, lane.verdicts,
				lane.n_slots * sizeof(struct weir_verdict));
		}
	}
	for (size_t i = 0; i < n_lane_regions; i++)
		assert_inside(&lanes[i], &pool->lane_area);
	for (size_t i = 0; i < n_worker_regions; i++)
		assert_inside(&workers[i], &pool->worker_area);
	assert_disjoint(lanes, n_lane_regions);
	assert_disjoint(workers, n_worker_regions);
	free(lanes);
	free(workers);
	weir_pool_destroy(pool);
}

static void
lanes_lie_apart_in_their_areas_for_all_sizes(void **state)
{
	static const uint32_t sizes[] = { 1, 2, 3, 7, 8, 9, 512, 513 };

	(void)state;
	for (size_t s = 0; s < ARRAY_LENGTH(sizes); s++) {
		struct weir_config config = rig_config("first", 256);

		config.n_dispatchers = WEIR_DISPATCHERS_MAX;
		config.lane_size = sizes[s];
		memory_check(&config);
		config.lend_metadata = false;
		memory_check(&config);
	}
}

static void
longest_lanes_lie_apart(void **state)
{
	struct weir_config config = rig_config("first", 3);

	(void)state;
	config.n_dispatchers = 2;
	config.lane_size = WEIR_LANE_SIZE_MAX;
	memory_check(&config);
}

/* What two processes will map apart shares no page. */
static void
memory_of_two_workers_shares_no_page(void **state)
{
	struct weir_config config = rig_config("first", 64);
	struct weir_pool *pool;
	uintptr_t lane_end = 0;
	uintptr_t worker_end = 0;

	(void)state;
	config.lane_size = 3;
	config.n_dispatchers = 2;
	pool = weir_pool_create(&config, NULL);
	assert_non_null(pool);
	for (weir_worker_id id = 0; id < 64; id++) {
		const struct lane_producer first = pool_lane_producer(pool, 0, id, NULL);
		const struct lane_producer last = pool_lane_producer(pool, 1, id, NULL);

		assert_true((uintptr_t)pool_worker_header(pool, id) / 4096 > lane_end || id == 0);
		assert_true((uintptr_t)first.slots > (uintptr_t)pool_worker_header(pool, id));
		assert_true((uintptr_t)pool_progress(pool, id) / 4096 > worker_end || id == 0);
		lane_end = ((uintptr_t)&last.metadata[last.n_slots] - 1) / 4096;
		worker_end = ((uintptr_t)&last.verdicts[last.n_slots] - 1) / 4096;
	}
	weir_pool_destroy(pool);
}

static void
dispatchers_start_their_rotations_apart(void **state)
{
	struct weir_config config = rig_config("round-robin", 8);
	struct rig *rig;

	(void)state;
	config.n_dispatchers = 4;
	rig = rig_create(&config, 8);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(weir_message_index(rig->dispatcher[i].dispatcher), i * 2);
	rig_destroy(rig);
}

static void
destroy_dispatcher(void *context)
{
	weir_dispatcher_destroy(context);
}

static void
destroying_a_dispatcher_with_packets_lent_or_held_is_asserted(void **state)
{
	struct weir_config config = rig_config("first", 1);
	struct rig *rig;

	(void)state;
	test_needs_assertions();
	config.overflow = "reject";
	config.lane_size = 1;
	rig = rig_create(&config, 8);
	assert_int_equal(rig_dispatch(rig, 2), 1);
	rig_hold(rig, 0);
	assert_true(test_aborts(destroy_dispatcher, rig->dispatcher[0].dispatcher));
	rig_drain(rig);
	assert_false(test_aborts(destroy_dispatcher, rig->dispatcher[0].dispatcher));
	rig_destroy(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a1_every_worker_is_a_ready_member_in_order),
		cmocka_unit_test(pool_keeps_its_own_copy_of_the_configuration),
		cmocka_unit_test(worker_beyond_the_pool_is_refused),
		cmocka_unit_test(dispatcher_is_refused_for_the_documented_reasons),
		cmocka_unit_test(null_may_be_destroyed),
		cmocka_unit_test(lanes_lie_apart_in_their_areas_for_all_sizes),
		cmocka_unit_test(longest_lanes_lie_apart),
		cmocka_unit_test(memory_of_two_workers_shares_no_page),
		cmocka_unit_test(dispatchers_start_their_rotations_apart),
		cmocka_unit_test(destroying_a_dispatcher_with_packets_lent_or_held_is_asserted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
