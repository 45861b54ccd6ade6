/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/pool: workers that go and come again, as control sees and tells it. */
#include "test.h"

#include "dispatcher.h"
#include "pool.h"
#include "rig.h"

static const struct weir_departure crash = {
	.state = WEIR_WORKER_DEAD,
	.queued_reason = WEIR_REASON_DEAD_WORKER,
	.in_process_reason = WEIR_REASON_CRASH_INFLIGHT,
};

static struct weir_pool *
pool_create(uint32_t n_workers, uint32_t n_dispatchers)
{
	struct weir_config config = rig_config("first", n_workers);
	struct weir_pool *pool;

	config.n_dispatchers = n_dispatchers;
	pool = weir_pool_create(&config, NULL);
	assert_non_null(pool);
	return pool;
}

static const struct pool_snapshot *
current(const struct weir_pool *pool)
{
	return pool_snapshot_of(pool_snapshot_load(pool));
}

static void
assert_order(const struct weir_pool *pool, weir_worker_id id, uint32_t incarnation,
	enum lane_order order)
{
	assert_int_equal(current(pool)->order[id].incarnation, incarnation);
	assert_int_equal(current(pool)->order[id].order, order);
}

static void
departure_that_is_none_is_refused(void **state)
{
	struct weir_pool *pool = pool_create(2, 1);
	struct weir_config config = rig_config("first", 1);
	struct weir_departure how = crash;

	(void)state;
	how.state = WEIR_WORKER_READY;
	assert_int_equal(weir_pool_worker_gone(pool, 0, &how), -EINVAL);
	how.state = WEIR_WORKER_STATE_COUNT;
	assert_int_equal(weir_pool_worker_gone(pool, 0, &how), -EINVAL);
	how = crash, how.queued_reason = WEIR_REASON_COUNT;
	assert_int_equal(weir_pool_worker_gone(pool, 0, &how), -EINVAL);
	how = crash, how.in_process_reason = WEIR_REASON_COUNT;
	assert_int_equal(weir_pool_worker_gone(pool, 0, &how), -EINVAL);
	how = crash, how.redeliver = true;
	assert_int_equal(weir_pool_worker_gone(pool, 0, &how), -EINVAL);
	assert_int_equal(weir_pool_worker_gone(pool, 2, &crash), -ENOENT);
	assert_int_equal(pool_snapshot_load(pool)->version, 1);
	assert_int_equal(weir_pool_worker_gone(pool, 0, &crash), 0);
	assert_int_equal(weir_pool_worker_gone(pool, 0, &crash), -EALREADY);
	assert_int_equal(pool_snapshot_load(pool)->version, 2);
	weir_pool_destroy(pool);
	/* What has no metadata cannot be dispatched again. */
	config.lend_metadata = false;
	pool = weir_pool_create(&config, NULL);
	how = crash, how.redispatch = true;
	assert_int_equal(weir_pool_worker_gone(pool, 0, &how), -EINVAL);
	weir_pool_destroy(pool);
}

static void
orders_follow_the_worker_and_stay_in_the_snapshot_that_gave_them(void **state)
{
	struct weir_pool *pool = pool_create(2, 1);
	const struct weir_departure how = {
		.state = WEIR_WORKER_STOPPED,
		.redispatch = true,
		.queued_reason = WEIR_REASON_DRAIN_TIMEOUT,
	};

	(void)state;
	assert_order(pool, 1, 0, LANE_OPEN);
	assert_int_equal(weir_pool_set_state(pool, 1, WEIR_WORKER_DRAINING), 0);
	assert_order(pool, 1, 0, LANE_END);
	assert_int_equal(weir_pool_worker_gone(pool, 1, &how), 0);
	assert_order(pool, 1, 0, LANE_RECLAIM);
	assert_int_equal(current(pool)->order[1].how.queued_reason, WEIR_REASON_DRAIN_TIMEOUT);
	assert_true(current(pool)->order[1].how.redispatch);
	assert_order(pool, 0, 0, LANE_OPEN);
	/* No dispatcher: nothing to wait for. */
	assert_int_equal(weir_pool_worker_restart(pool, 1), 0);
	assert_order(pool, 1, 1, LANE_OPEN);
	assert_false(current(pool)->order[1].how.redispatch);
	weir_pool_destroy(pool);
}

/* N1: not even by what comes late. */
static void
state_of_a_worker_that_is_gone_never_comes_back_n1(void **state)
{
	struct weir_pool *pool = pool_create(2, 1);

	(void)state;
	assert_int_equal(weir_pool_worker_gone(pool, 0, &crash), 0);
	assert_int_equal(weir_pool_worker_state(pool, 0, NULL), WEIR_WORKER_DEAD);
	for (int earlier = 0; earlier < WEIR_WORKER_DEAD; earlier++)
		assert_int_equal(
			weir_pool_set_state(pool, 0, (enum weir_worker_state)earlier), -EINVAL);
	assert_int_equal(weir_pool_worker_state(pool, 0, NULL), WEIR_WORKER_DEAD);
	assert_int_equal(weir_pool_remove(pool, 0), 0);
	assert_int_equal(weir_pool_worker_state(pool, 0, NULL), WEIR_WORKER_DEAD);
	/* Its lanes are not its own any more: only a restart leads back. */
	assert_int_equal(weir_pool_add(pool, 0), -EBUSY);
	assert_int_equal(weir_pool_worker_restart(pool, 0), 0);
	assert_int_equal(weir_pool_worker_state(pool, 0, NULL), WEIR_WORKER_STARTING);
	weir_pool_destroy(pool);
}

static void
flags_make_a_worker_unroutable_for_as_long_as_there_is_one_x11(void **state)
{
	static const uint32_t flags[] = { WEIR_WORKER_PAUSED, WEIR_WORKER_LOST, WEIR_WORKER_STUCK };
	struct weir_pool *pool = pool_create(2, 1);
	uint32_t seen;

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(flags); i++) {
		assert_int_equal(weir_pool_set_flags(pool, 0, flags[i]), 0);
		assert_int_equal(pool_snapshot_load(pool)->n_routable, 1);
		assert_int_equal(pool_snapshot_load(pool)->routable[0], 1);
		/* What it is apart from that stays as it is. */
		assert_int_equal(weir_pool_worker_state(pool, 0, &seen), WEIR_WORKER_READY);
		assert_int_equal(seen, flags[i]);
		assert_int_equal(weir_pool_set_flags(pool, 0, flags[i] | flags[(i + 1) % 3]), 0);
		assert_int_equal(weir_pool_set_flags(pool, 0, flags[(i + 1) % 3]), 0);
		assert_int_equal(pool_snapshot_load(pool)->n_routable, 1);
		assert_int_equal(weir_pool_set_flags(pool, 0, 0), 0);
		assert_int_equal(pool_snapshot_load(pool)->n_routable, 2);
	}
	weir_pool_destroy(pool);
}

static void
flags_that_are_none_or_no_change_publish_nothing(void **state)
{
	struct weir_pool *pool = pool_create(2, 1);

	(void)state;
	assert_int_equal(weir_pool_set_flags(pool, 0, 0), 0);
	assert_int_equal(weir_pool_set_flags(pool, 0, WEIR_WORKER_STUCK << 1), -EINVAL);
	assert_int_equal(weir_pool_set_flags(pool, 2, WEIR_WORKER_LOST), -ENOENT);
	assert_int_equal(pool_snapshot_load(pool)->version, 1);
	assert_int_equal(weir_pool_set_flags(pool, 0, WEIR_WORKER_LOST), 0);
	assert_int_equal(weir_pool_set_flags(pool, 0, WEIR_WORKER_LOST), 0);
	assert_int_equal(pool_snapshot_load(pool)->version, 2);
	weir_pool_destroy(pool);
}

static void
flags_end_with_the_incarnation(void **state)
{
	struct weir_pool *pool = pool_create(1, 1);
	uint32_t flags;

	(void)state;
	assert_int_equal(weir_pool_set_flags(pool, 0, WEIR_WORKER_LOST), 0);
	assert_int_equal(weir_pool_worker_gone(pool, 0, &crash), 0);
	assert_int_equal(weir_pool_worker_restart(pool, 0), 0);
	assert_int_equal(weir_pool_worker_state(pool, 0, &flags), WEIR_WORKER_STARTING);
	assert_int_equal(flags, 0);
	weir_pool_destroy(pool);
}

static void
somebody_is_awaited_while_a_member_may_become_routable(void **state)
{
	struct weir_pool *pool = pool_create(1, 1);
	struct weir_departure how = crash;

	(void)state;
	assert_false(current(pool)->is_awaited);
	assert_int_equal(weir_pool_set_flags(pool, 0, WEIR_WORKER_PAUSED), 0);
	assert_true(current(pool)->is_awaited);
	assert_int_equal(weir_pool_set_flags(pool, 0, 0), 0);
	assert_int_equal(weir_pool_set_state(pool, 0, WEIR_WORKER_DRAINING), 0);
	assert_false(current(pool)->is_awaited);
	how.awaited = true;
	assert_int_equal(weir_pool_worker_gone(pool, 0, &how), 0);
	assert_true(current(pool)->is_awaited);
	assert_int_equal(weir_pool_worker_restart(pool, 0), 0);
	assert_true(current(pool)->is_awaited);
	assert_int_equal(weir_pool_set_state(pool, 0, WEIR_WORKER_READY), 0);
	assert_false(current(pool)->is_awaited);
	/* Not to come again, or put out of the pool for good. */
	assert_int_equal(weir_pool_worker_gone(pool, 0, &crash), 0);
	assert_false(current(pool)->is_awaited);
	assert_int_equal(weir_pool_worker_restart(pool, 0), 0);
	assert_int_equal(weir_pool_worker_gone(pool, 0, &how), 0);
	assert_int_equal(weir_pool_remove(pool, 0), 0);
	assert_false(current(pool)->is_awaited);
	weir_pool_destroy(pool);
}

/*
 * A15: whoever compares the incarnation knows a late event for what it is: the pool does so for
 * what dispatchers report, a worker for where its lanes end.
 */
static void
event_of_an_earlier_incarnation_has_no_effect_a15(void **state)
{
	const struct weir_config config = rig_config("first", 2);
	struct rig *rig = rig_create(&config, 64);
	const uint32_t before = weir_pool_worker_incarnation(rig->pool, 0);
	struct lane_header *lane = &pool_worker_header(rig->pool, 0)->lane[0];

	(void)state;
	rig_kill(rig, 0, &crash);
	rig_harvest(rig);
	rig_restart(rig, 0);
	assert_int_not_equal(weir_pool_worker_incarnation(rig->pool, 0), before);
	/* The end of the lane as the last one was told it. */
	lane_end(lane, before, 0);
	weir_pool_command(rig->pool, 0, WEIR_COMMAND_DRAIN);
	assert_false(weir_worker_is_drained(rig->worker[0].worker));
	lane_end(lane, before + 1, 0);
	assert_true(weir_worker_is_drained(rig->worker[0].worker));
	/* A dispatcher's report of the last one. */
	rig_kill(rig, 0, &crash);
	pool_reclaim_report(rig->pool, 0, 0, before, 0);
	assert_false(weir_pool_worker_is_reclaimed(rig->pool, 0));
	rig_destroy(rig);
}

static void
restart_is_busy_until_every_dispatcher_has_reclaimed(void **state)
{
	struct weir_config config = rig_config("first", 2);
	struct rig *rig;

	(void)state;
	config.n_dispatchers = 2;
	rig = rig_create(&config, 64);
	assert_int_equal(weir_pool_worker_restart(rig->pool, 2), -ENOENT);
	assert_int_equal(weir_pool_worker_restart(rig->pool, 0), -EBUSY);
	assert_false(weir_pool_worker_is_reclaimed(rig->pool, 0));
	rig_kill(rig, 0, &crash);
	assert_int_equal(weir_pool_worker_restart(rig->pool, 0), -EBUSY);
	weir_harvest(rig->dispatcher[0].dispatcher);
	assert_false(weir_pool_worker_is_reclaimed(rig->pool, 0));
	assert_int_equal(weir_pool_worker_restart(rig->pool, 0), -EBUSY);
	weir_harvest(rig->dispatcher[1].dispatcher);
	assert_true(weir_pool_worker_is_reclaimed(rig->pool, 0));
	rig_restart(rig, 0);
	assert_false(weir_pool_worker_is_reclaimed(rig->pool, 0));
	/* Reports of the last time do not count this time. */
	rig_kill(rig, 0, &crash);
	assert_false(weir_pool_worker_is_reclaimed(rig->pool, 0));
	assert_int_equal(weir_pool_worker_restart(rig->pool, 0), -EBUSY);
	rig_destroy(rig);
}

static void
restarted_worker_keeps_its_place_and_a_removed_one_comes_last(void **state)
{
	struct weir_pool *pool = pool_create(3, 1);

	(void)state;
	assert_int_equal(weir_pool_worker_gone(pool, 0, &crash), 0);
	assert_int_equal(weir_pool_worker_restart(pool, 0), 0);
	assert_int_equal(pool_snapshot_load(pool)->n_members, 3);
	assert_int_equal(pool_snapshot_load(pool)->member[0], 0);
	assert_int_equal(weir_pool_worker_gone(pool, 0, &crash), 0);
	assert_int_equal(weir_pool_remove(pool, 0), 0);
	assert_int_equal(weir_pool_worker_restart(pool, 0), 0);
	assert_int_equal(pool_snapshot_load(pool)->n_members, 3);
	assert_int_equal(pool_snapshot_load(pool)->member[0], 1);
	assert_int_equal(pool_snapshot_load(pool)->member[2], 0);
	assert_int_equal(weir_pool_worker_incarnation(pool, 0), 2);
	assert_int_equal(weir_pool_worker_incarnation(pool, 1), 0);
	weir_pool_destroy(pool);
}

static void
lanes_that_were_closed_are_never_opened_again(void **state)
{
	const struct weir_config config = rig_config("first", 2);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	rig_kill(rig, 0, &crash);
	weir_reclaim(rig->dispatcher[0].dispatcher, 0, WEIR_REASON_DEAD_WORKER, WEIR_RECLAIM_GONE);
	assert_int_equal(weir_pool_worker_restart(rig->pool, 0), -EBUSY);
	rig_destroy(rig);
}

/* All that a process can write, at random. */
static void
own_memory_spoil(struct rig *rig, struct test_random *random)
{
	uint64_t *words = rig->pool->worker_area.memory;
	const size_t n = rig->pool->worker_area.bytes / sizeof(*words);

	for (size_t i = 0; i < n; i++)
		words[i] = test_random_next(random) >> test_random_below(random, 64);
}

/* Whatever the last one has left behind in its memory. */
static void
next_incarnation_begins_where_each_lane_was_left(void **state)
{
	struct test_random random = test_random_start(__func__);

	(void)state;
	for (int claims = 0; claims < 2; claims++) {
		struct weir_config config =
			claims ? rig_drop_head_config("first", 1, 8) : rig_config("first", 1);
		struct rig *rig;

		config.lane_size = 8;
		config.n_dispatchers = 2;
		rig = rig_create(&config, 4096);
		rig->is_hostile = true;
		for (uint32_t round = 0; round < 60; round++) {
			const struct worker_header *header = pool_worker_header(rig->pool, 0);
			struct weir_worker_activity activity;

			rig_dispatch_from(rig, 0, test_random_below(&random, 12));
			rig_dispatch_from(rig, 1, test_random_below(&random, 12));
			rig_work(rig, 0, test_random_below(&random, 8));
			rig_take(rig, 0, test_random_below(&random, 4) + 1);
			weir_worker_beat(rig->worker[0].worker);
			own_memory_spoil(rig, &random);
			rig_kill(rig, 0, &crash);
			while (!weir_pool_worker_is_reclaimed(rig->pool, 0))
				rig_harvest(rig);
			rig_restart(rig, 0);
			assert_int_equal(header->incarnation, round + 1);
			weir_pool_worker_activity(rig->pool, 0, &activity);
			assert_int_equal(activity.taken + activity.completed +
						 activity.busy_cycles + activity.busy_since,
				0);
			assert_int_equal(weir_pool_worker_pulse(rig->pool, 0).beats, 0);
			assert_int_equal(
				weir_pool_worker_pulse(rig->pool, 0).state, WEIR_WORKER_STARTING);
			/* It finds nothing old, and all that is new. */
			assert_int_equal(rig_take(rig, 0, 8), 0);
			rig_dispatch_from(rig, 0, 5);
			rig_dispatch_from(rig, 1, 3);
			assert_int_equal(rig_work(rig, 0, 32), 8);
			assert_int_equal(rig_harvest(rig), 8);
			rig_check(rig);
		}
		rig_destroy(rig);
	}
}

/* Its slots could pass for those of a first lap. */
static void
lane_of_a_dispatcher_that_is_destroyed_is_empty_for_the_next_incarnation(void **state)
{
	(void)state;
	for (int claims = 0; claims < 2; claims++) {
		struct weir_config config =
			claims ? rig_drop_head_config("first", 1, 8) : rig_config("first", 1);
		struct rig *rig;

		config.lane_size = 8;
		config.n_dispatchers = 2;
		rig = rig_create(&config, 64);
		rig_dispatch_from(rig, 1, 5);
		rig_drain(rig);
		rig_dispatcher_lose(rig);
		rig_kill(rig, 0, &crash);
		rig_harvest(rig);
		rig_restart(rig, 0);
		assert_int_equal(rig_take(rig, 0, 8), 0);
		rig_destroy(rig);
	}
}

static uint32_t
retired_count(const struct weir_pool *pool)
{
	uint32_t n = 0;

	for (const struct pool_snapshot *old = pool->retired; old; old = old->older)
		n++;
	return n;
}

static void
snapshots_of_all_that_comes_and_goes_are_freed(void **state)
{
	const struct weir_config config = rig_config("rendezvous", 2);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	for (uint32_t round = 0; round < 100; round++) {
		rig_kill(rig, 1, &crash);
		rig_harvest(rig);
		rig_restart(rig, 1);
		assert_true(retired_count(rig->pool) <= 3);
	}
	rig_destroy(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(departure_that_is_none_is_refused),
		cmocka_unit_test(orders_follow_the_worker_and_stay_in_the_snapshot_that_gave_them),
		cmocka_unit_test(state_of_a_worker_that_is_gone_never_comes_back_n1),
		cmocka_unit_test(flags_make_a_worker_unroutable_for_as_long_as_there_is_one_x11),
		cmocka_unit_test(flags_that_are_none_or_no_change_publish_nothing),
		cmocka_unit_test(flags_end_with_the_incarnation),
		cmocka_unit_test(somebody_is_awaited_while_a_member_may_become_routable),
		cmocka_unit_test(event_of_an_earlier_incarnation_has_no_effect_a15),
		cmocka_unit_test(restart_is_busy_until_every_dispatcher_has_reclaimed),
		cmocka_unit_test(restarted_worker_keeps_its_place_and_a_removed_one_comes_last),
		cmocka_unit_test(lanes_that_were_closed_are_never_opened_again),
		cmocka_unit_test(next_incarnation_begins_where_each_lane_was_left),
		cmocka_unit_test(
			lane_of_a_dispatcher_that_is_destroyed_is_empty_for_the_next_incarnation),
		cmocka_unit_test(snapshots_of_all_that_comes_and_goes_are_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
