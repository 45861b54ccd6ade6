/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/pool: changes of state and membership, and how they reach the dispatchers. */
#include "test.h"

#include "pool.h"
#include "rig.h"

static struct weir_pool *
pool_create(const char *strategy, uint32_t n_workers)
{
	const struct weir_config config = rig_config(strategy, n_workers);
	struct weir_pool *pool = weir_pool_create(&config, NULL);

	assert_non_null(pool);
	return pool;
}

static void
assert_ids(const weir_worker_id *ids, uint32_t n, const weir_worker_id *expected, size_t n_expected)
{
	assert_int_equal(n, n_expected);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(ids[i], expected[i]);
}

#define assert_members(snapshot, ...)                         \
	assert_ids((snapshot)->member, (snapshot)->n_members, \
		(const weir_worker_id[]) { __VA_ARGS__ },     \
		sizeof((const weir_worker_id[]) { __VA_ARGS__ }) / sizeof(weir_worker_id))
#define assert_routable(snapshot, ...)                           \
	assert_ids((snapshot)->routable, (snapshot)->n_routable, \
		(const weir_worker_id[]) { __VA_ARGS__ },        \
		sizeof((const weir_worker_id[]) { __VA_ARGS__ }) / sizeof(weir_worker_id))

static void
assert_positions_invert_the_list(const struct weir_snapshot *snapshot)
{
	uint32_t n = 0;

	for (uint32_t id = 0; id < WEIR_WORKERS_MAX; id++) {
		if (snapshot->position[id] == WEIR_WORKER_NONE)
			continue;
		assert_true(snapshot->position[id] < snapshot->n_routable);
		assert_int_equal(snapshot->routable[snapshot->position[id]], id);
		n++;
	}
	assert_int_equal(n, snapshot->n_routable);
}

static void
only_ready_workers_are_routable(void **state)
{
	static const enum weir_worker_state states[] = { WEIR_WORKER_DRAINING,
		WEIR_WORKER_STOPPED };

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(states); i++) {
		struct weir_pool *pool = pool_create("first", 4);
		const struct weir_snapshot *snapshot;

		assert_int_equal(weir_pool_set_state(pool, 1, states[i]), 0);
		snapshot = pool_snapshot_load(pool);
		assert_int_equal(snapshot->version, 2);
		assert_members(snapshot, 0, 1, 2, 3);
		assert_routable(snapshot, 0, 2, 3);
		assert_positions_invert_the_list(snapshot);
		weir_pool_destroy(pool);
	}
}

static void
state_that_is_no_change_publishes_nothing(void **state)
{
	struct weir_pool *pool = pool_create("first", 4);

	(void)state;
	assert_int_equal(weir_pool_set_state(pool, 1, WEIR_WORKER_READY), 0);
	assert_int_equal(pool_snapshot_load(pool)->version, 1);
	weir_pool_destroy(pool);
}

static void
state_of_no_member_or_of_no_kind_is_refused(void **state)
{
	struct weir_pool *pool = pool_create("first", 4);

	(void)state;
	assert_int_equal(weir_pool_set_state(pool, 4, WEIR_WORKER_STOPPED), -ENOENT);
	assert_int_equal(weir_pool_set_state(pool, WEIR_WORKER_NONE, WEIR_WORKER_STOPPED), -ENOENT);
	assert_int_equal(weir_pool_set_state(pool, 1, WEIR_WORKER_STATE_COUNT), -EINVAL);
	assert_int_equal(weir_pool_set_state(pool, 1, (enum weir_worker_state) - 1), -EINVAL);
	assert_int_equal(weir_pool_remove(pool, 1), 0);
	assert_int_equal(weir_pool_set_state(pool, 1, WEIR_WORKER_READY), -ENOENT);
	weir_pool_destroy(pool);
}

static void
state_never_goes_back_until_the_worker_is_added_anew(void **state)
{
	struct weir_pool *pool = pool_create("first", 4);
	uint64_t version;

	(void)state;
	for (int now = WEIR_WORKER_READY; now < WEIR_WORKER_STATE_COUNT; now++) {
		assert_int_equal(weir_pool_set_state(pool, 1, (enum weir_worker_state)now), 0);
		version = pool_snapshot_load(pool)->version;
		for (int earlier = 0; earlier < now; earlier++)
			assert_int_equal(
				weir_pool_set_state(pool, 1, (enum weir_worker_state)earlier),
				-EINVAL);
		assert_int_equal(pool_snapshot_load(pool)->version, version);
	}
	assert_int_equal(weir_pool_remove(pool, 1), 0);
	assert_int_equal(weir_pool_add(pool, 1), 0);
	assert_int_equal(weir_pool_set_state(pool, 1, WEIR_WORKER_READY), 0);
	weir_pool_destroy(pool);
}

static void
neighbours_of_a_removed_worker_close_ranks(void **state)
{
	struct weir_pool *pool = pool_create("first", 4);
	const struct weir_snapshot *snapshot;

	(void)state;
	assert_int_equal(weir_pool_remove(pool, 1), 0);
	snapshot = pool_snapshot_load(pool);
	assert_members(snapshot, 0, 2, 3);
	assert_routable(snapshot, 0, 2, 3);
	assert_positions_invert_the_list(snapshot);
	assert_int_equal(weir_pool_remove(pool, 1), -ENOENT);
	assert_int_equal(pool_snapshot_load(pool)->version, 2);
	weir_pool_destroy(pool);
}

static void
pool_can_shrink_to_nothing_and_grow_again(void **state)
{
	struct weir_pool *pool = pool_create("rendezvous", 2);

	(void)state;
	assert_int_equal(weir_pool_remove(pool, 0), 0);
	assert_int_equal(weir_pool_remove(pool, 1), 0);
	assert_int_equal(pool_snapshot_load(pool)->n_members, 0);
	assert_int_equal(pool_snapshot_load(pool)->n_routable, 0);
	assert_int_equal(weir_pool_add(pool, 1), 0);
	assert_int_equal(weir_pool_set_state(pool, 1, WEIR_WORKER_READY), 0);
	assert_routable(pool_snapshot_load(pool), 1);
	weir_pool_destroy(pool);
}

/* XB17: who was there before the pool was emptied is in no list, and gets nothing. */
static void
xb17_an_emptied_pool_lists_nobody_under_every_strategy(void **state)
{
	(void)state;
	for (unsigned int i = 0; weir_strategy_at(i); i++) {
		struct weir_config config = rig_config(weir_strategy_at(i)->name, 3);
		const struct weir_snapshot *snapshot;
		struct rig *rig;

		config.fallback = rig_fallback(weir_strategy_at(i));
		rig = rig_create(&config, 64);
		assert_int_equal(rig_dispatch(rig, 6), 6);
		rig_drain(rig);
		for (weir_worker_id id = 0; id < 3; id++)
			assert_int_equal(weir_pool_remove(rig->pool, id), 0);
		snapshot = pool_snapshot_load(rig->pool);
		assert_int_equal(snapshot->n_members, 0);
		assert_int_equal(snapshot->n_routable, 0);
		assert_positions_invert_the_list(snapshot);
		assert_routes(rig, WEIR_WORKER_NONE, WEIR_WORKER_NONE);
		assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_NO_ROUTE], 2);
		for (weir_worker_id id = 0; id < 3; id++)
			assert_int_equal(rig_depth(rig, id), 0);
		/* Nor does it come back with the next one. */
		assert_int_equal(weir_pool_add(rig->pool, 1), 0);
		assert_int_equal(weir_pool_set_state(rig->pool, 1, WEIR_WORKER_READY), 0);
		assert_routes(rig, 1, 1);
		rig_destroy(rig);
	}
}

static void
added_worker_comes_last_and_is_not_routable_before_it_is_ready(void **state)
{
	struct weir_pool *pool = pool_create("first", 4);
	const struct weir_snapshot *snapshot;

	(void)state;
	assert_int_equal(weir_pool_remove(pool, 0), 0);
	assert_int_equal(weir_pool_add(pool, 0), 0);
	snapshot = pool_snapshot_load(pool);
	assert_members(snapshot, 1, 2, 3, 0);
	assert_routable(snapshot, 1, 2, 3);
	assert_int_equal(weir_pool_set_state(pool, 0, WEIR_WORKER_READY), 0);
	snapshot = pool_snapshot_load(pool);
	assert_routable(snapshot, 1, 2, 3, 0);
	assert_positions_invert_the_list(snapshot);
	weir_pool_destroy(pool);
}

/* X0: no duplicates. */
static void
member_or_unknown_worker_cannot_be_added(void **state)
{
	struct weir_pool *pool = pool_create("first", 4);

	(void)state;
	assert_int_equal(weir_pool_add(pool, 2), -EEXIST);
	assert_int_equal(weir_pool_add(pool, 4), -EINVAL);
	assert_int_equal(weir_pool_add(pool, WEIR_WORKER_NONE), -EINVAL);
	assert_int_equal(pool_snapshot_load(pool)->version, 1);
	weir_pool_destroy(pool);
}

static void
published_snapshot_never_changes(void **state)
{
	const struct weir_config config = rig_config("first", 4);
	struct rig *rig = rig_create(&config, 8);
	const struct weir_snapshot *before = pool_snapshot_load(rig->pool);
	const struct weir_snapshot copy = *before;

	(void)state;
	/* The rig's dispatcher uses it, so it may not be freed either. */
	assert_int_equal(weir_pool_set_state(rig->pool, 1, WEIR_WORKER_STOPPED), 0);
	assert_int_equal(weir_pool_remove(rig->pool, 2), 0);
	assert_int_equal(weir_pool_add(rig->pool, 2), 0);
	assert_memory_equal(before, &copy, sizeof(copy));
	rig_destroy(rig);
}

static uint32_t
retired_count(const struct weir_pool *pool)
{
	uint32_t n = 0;

	for (const struct pool_snapshot *s = pool->retired; s; s = s->older)
		n++;
	return n;
}

static void
old_snapshots_live_until_every_dispatcher_has_reported(void **state)
{
	struct weir_config config = rig_config("rendezvous", 4);
	struct rig *rig;

	(void)state;
	config.n_dispatchers = 2;
	rig = rig_create(&config, 8);
	/* Versions 1 to 3 are retired; both dispatchers use version 1. */
	for (weir_worker_id id = 0; id < 3; id++)
		assert_int_equal(weir_pool_remove(rig->pool, id), 0);
	assert_int_equal(retired_count(rig->pool), 3);
	/* One of them adopts version 4: the other still uses version 1. */
	weir_harvest(rig->dispatcher[0].dispatcher);
	assert_int_equal(weir_pool_add(rig->pool, 0), 0);
	assert_int_equal(retired_count(rig->pool), 4);
	/* Now dispatcher 0 uses version 4 and dispatcher 1 version 5: 1, 2 and 3 go. */
	weir_harvest(rig->dispatcher[1].dispatcher);
	assert_int_equal(weir_pool_add(rig->pool, 1), 0);
	assert_int_equal(retired_count(rig->pool), 2);
	assert_int_equal(rig->pool->retired->view.version, 5);
	assert_int_equal(rig->pool->retired->older->view.version, 4);
	rig_destroy(rig);
}

static void
dispatcher_that_is_gone_keeps_no_snapshot(void **state)
{
	struct weir_config config = rig_config("first", 4);
	struct rig *rig;

	(void)state;
	config.n_dispatchers = 2;
	rig = rig_create(&config, 8);
	weir_dispatcher_destroy(rig->dispatcher[1].dispatcher);
	assert_int_equal(weir_pool_remove(rig->pool, 0), 0);
	weir_harvest(rig->dispatcher[0].dispatcher);
	assert_int_equal(weir_pool_remove(rig->pool, 1), 0);
	/* Version 1 is gone; version 2 is in use by dispatcher 0. */
	assert_int_equal(retired_count(rig->pool), 1);
	rig->config.n_dispatchers = 1;
	order_oracle_fini(&rig->dispatcher[1].order);
	free(rig->dispatcher[1].packets);
	free(rig->dispatcher[1].ended);
	free(rig->dispatcher[1].held);
	rig_destroy(rig);
}

static void
dispatcher_honours_a_change_from_its_next_burst_on(void **state)
{
	const struct weir_config config = rig_config("first", 3);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_routes(rig, 0, 0, 0);
	assert_int_equal(weir_pool_set_state(rig->pool, 0, WEIR_WORKER_DRAINING), 0);
	assert_routes(rig, 1, 1, 1);
	/* What was lent before stays lent, and comes home. */
	assert_int_equal(rig_depth(rig, 0), 3);
	assert_int_equal(rig_work(rig, 0, 32), 3);
	assert_int_equal(rig_harvest(rig), 3);
	assert_int_equal(weir_pool_remove(rig->pool, 1), 0);
	assert_routes(rig, 2, 2, 2);
	assert_int_equal(rig_work(rig, 1, 32), 3);
	assert_int_equal(rig_harvest(rig), 3);
	rig_destroy(rig);
}

static void
worker_that_comes_back_takes_packets_again(void **state)
{
	const struct weir_config config = rig_config("first", 2);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_routes(rig, 0, 0);
	assert_int_equal(weir_pool_remove(rig->pool, 0), 0);
	assert_routes(rig, 1);
	assert_int_equal(weir_pool_add(rig->pool, 0), 0);
	assert_int_equal(weir_pool_set_state(rig->pool, 0, WEIR_WORKER_READY), 0);
	/* It joined at the end, with its two packets: those behind follow them. */
	assert_int_equal(weir_pool_remove(rig->pool, 1), 0);
	assert_routes(rig, 0, 0, 0);
	assert_int_equal(rig_depth(rig, 0), 5);
	rig_destroy(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_ready_workers_are_routable),
		cmocka_unit_test(state_that_is_no_change_publishes_nothing),
		cmocka_unit_test(state_of_no_member_or_of_no_kind_is_refused),
		cmocka_unit_test(state_never_goes_back_until_the_worker_is_added_anew),
		cmocka_unit_test(neighbours_of_a_removed_worker_close_ranks),
		cmocka_unit_test(pool_can_shrink_to_nothing_and_grow_again),
		cmocka_unit_test(xb17_an_emptied_pool_lists_nobody_under_every_strategy),
		cmocka_unit_test(added_worker_comes_last_and_is_not_routable_before_it_is_ready),
		cmocka_unit_test(member_or_unknown_worker_cannot_be_added),
		cmocka_unit_test(published_snapshot_never_changes),
		cmocka_unit_test(old_snapshots_live_until_every_dispatcher_has_reported),
		cmocka_unit_test(dispatcher_that_is_gone_keeps_no_snapshot),
		cmocka_unit_test(dispatcher_honours_a_change_from_its_next_burst_on),
		cmocka_unit_test(worker_that_comes_back_takes_packets_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
