/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lib/decide: a worker is gone. What it was lent comes home, ends, or goes to others in order, some
 * packets per loop, and the next incarnation begins where the last one's lane ended.
 */
#include "test.h"

#include "dispatcher.h"
#include "order_rig.h"

static const struct weir_departure crash = {
	.state = WEIR_WORKER_DEAD,
	.redispatch = true,
	.queued_reason = WEIR_REASON_DEAD_WORKER,
	.in_process_reason = WEIR_REASON_CRASH_INFLIGHT,
};

static const struct weir_departure kill_order = {
	.state = WEIR_WORKER_STOPPED,
	.queued_reason = WEIR_REASON_DEAD_WORKER,
	.in_process_reason = WEIR_REASON_CRASH_INFLIGHT,
};

static struct weir_dispatcher *
dispatcher_of(const struct rig *rig)
{
	return rig->dispatcher[0].dispatcher;
}

/* Kinds of lanes, as bits: drop-head's, and those that processes can map. */
#define KIND_CLAIM 1
#define KIND_SHARED 2
#define N_KINDS 4

/* Workers say what they have in process. */
static struct rig *
kind_rig(int kind, uint32_t n_workers, uint32_t lane_size)
{
	struct weir_config config =
		kind & KIND_CLAIM ? rig_drop_head_config("round-robin", n_workers, lane_size)
				  : rig_config("round-robin", n_workers);

	config.lane_size = lane_size;
	config.order = WEIR_ORDER_FLOW;
	config.depth_mode = WEIR_DEPTH_QUEUED;
	if (kind & KIND_SHARED) {
		config.is_shared = true;
		config.data_base = (void *)(uintptr_t)4096;
		config.data_bytes = (size_t)1 << 47;
	}
	return rig_create(&config, 4096);
}

static void
what_was_queued_goes_to_others_in_order(void **state)
{
	(void)state;
	for (int kind = 0; kind < N_KINDS; kind++) {
		struct rig *rig = kind_rig(kind, 2, 64);

		rig->bucket = 7;
		assert_int_equal(rig_dispatch(rig, 20), 20);
		assert_int_equal(rig_depth(rig, 0), 20);
		rig_kill(rig, 0, &crash);
		assert_int_equal(rig_dispatch(rig, 10), 10);
		/* All of it was put before those 10, at once, and lent to the other one. */
		assert_int_equal(order_held(rig), 0);
		assert_int_equal(rig_depth(rig, 1), 30);
		assert_true(weir_pool_worker_is_reclaimed(rig->pool, 0));
		assert_int_equal(rig_work(rig, 1, UINT32_MAX), 30);
		assert_int_equal(rig_harvest(rig), 30);
		for (uint32_t i = 0; i < 30; i++)
			assert_int_equal(rig->dispatcher[0].ended[i]->id, i);
		rig_destroy(rig);
	}
}

/* A16 */
static void
what_was_in_process_is_lost_and_the_rest_is_done_by_the_next_incarnation_a16(void **state)
{
	(void)state;
	for (int kind = 0; kind < N_KINDS; kind++) {
		struct rig *rig = kind_rig(kind, 1, 512);
		struct weir_departure how = crash;

		how.awaited = true;
		for (uint32_t i = 0; i < 5; i++)
			assert_int_equal(rig_dispatch(rig, 21), 21);
		assert_int_equal(rig_take(rig, 0, 5), 5);
		rig_kill(rig, 0, &how);
		rig_harvest(rig);
		assert_int_equal(order_held(rig), 100);
		assert_int_equal(rig_dropped(rig, WEIR_REASON_CRASH_INFLIGHT), 5);
		rig_restart(rig, 0);
		rig_harvest(rig);
		assert_int_equal(order_held(rig), 0);
		assert_int_equal(rig_work(rig, 0, UINT32_MAX), 100);
		assert_int_equal(rig_harvest(rig), 100);
		assert_int_equal(rig->dispatcher[0].n_ended, 105);
		for (uint32_t i = 0; i < 105; i++)
			assert_int_equal(rig->dispatcher[0].packets[i].n_taken, 1);
		rig_destroy(rig);
	}
}

static void
what_was_completed_comes_home_with_its_verdict(void **state)
{
	(void)state;
	for (int kind = 0; kind < N_KINDS; kind++) {
		struct rig *rig = kind_rig(kind, 2, 64);

		rig->bucket = 7;
		assert_int_equal(rig_dispatch(rig, 20), 20);
		assert_int_equal(rig_work(rig, 0, 8), 8);
		assert_int_equal(rig_take(rig, 0, 3), 3);
		rig_complete(rig, 0, 1, weir_verdict_drop(WEIR_REASON_HANDLER_DROP));
		rig_kill(rig, 0, &crash);
		assert_int_equal(rig_harvest(rig), 9);
		assert_int_equal(rig_dropped(rig, WEIR_REASON_HANDLER_DROP), 1);
		assert_int_equal(rig_dropped(rig, WEIR_REASON_CRASH_INFLIGHT), 2);
		assert_int_equal(
			rig_worker_counters(rig, 0, 0).dropped[WEIR_REASON_CRASH_INFLIGHT], 2);
		assert_int_equal(rig_depth(rig, 1), 9);
		rig_destroy(rig);
	}
}

/* With its data, of which what is claimed has no slot any more. */
static void
what_was_in_process_is_redelivered_on_request(void **state)
{
	struct weir_departure how = crash;

	(void)state;
	how.redeliver = true;
	for (int kind = 0; kind < N_KINDS; kind++) {
		struct rig *rig = kind_rig(kind, 2, 8);

		rig->bucket = 7;
		for (uint32_t i = 0; i < 20; i++) {
			assert_int_equal(rig_dispatch(rig, 8), 8);
			assert_int_equal(rig_take(rig, order_pin(rig, 7), 8), 8);
			/* In claim lanes these take the place of those. */
			rig_dispatch(rig, 8);
			rig_kill(rig, order_pin(rig, 7), &how);
			rig_harvest(rig);
			rig_drain(rig);
			rig_restart(rig, rig->worker[0].is_gone ? 0 : 1);
		}
		assert_int_equal(rig_dropped(rig, WEIR_REASON_CRASH_INFLIGHT), 0);
		assert_int_equal(rig_counters(rig, 0).consumed, kind & KIND_CLAIM ? 320 : 160);
		rig_destroy(rig);
	}
}

/* A17: in order of arrival. */
static void
what_was_queued_ends_where_it_is_not_to_be_redone_a17(void **state)
{
	(void)state;
	for (int kind = 0; kind < N_KINDS; kind++) {
		struct rig *rig = kind_rig(kind, 2, 64);
		struct rig_dispatcher *d = &rig->dispatcher[0];

		rig->bucket = 7;
		assert_int_equal(rig_dispatch(rig, 25), 25);
		assert_int_equal(rig_dispatch(rig, 25), 25);
		rig_kill(rig, 0, &kill_order);
		rig_harvest(rig);
		assert_int_equal(order_held(rig), 0);
		assert_int_equal(rig_dropped(rig, WEIR_REASON_DEAD_WORKER), 50);
		assert_int_equal(d->n_ended, 50);
		for (uint32_t i = 0; i < 50; i++) {
			assert_int_equal(d->ended[i]->id, i);
			assert_int_equal(d->ended[i]->n_taken, 0);
			assert_int_equal(d->ended[i]->from, WEIR_WORKER_NONE);
			assert_int_equal(d->ended[i]->verdict.intended, 0);
		}
		assert_int_equal(rig_dispatch(rig, 1), 1);
		assert_int_equal(rig_depth(rig, 1), 1);
		rig_destroy(rig);
	}
}

/* With bursts between the steps, and the pool changed, so that the hold is looked at. */
static void
long_lane_reclaim(enum weir_order order)
{
	enum { LANE = 4000 };
	struct weir_config config = order_config("first", 2);
	struct rig *rig;
	uint32_t steps = 0;

	config.order = order;
	config.lane_size = LANE;
	rig = rig_create(&config, 8192);
	rig->bucket = 7;
	for (uint32_t i = 0; i < LANE / 32; i++)
		assert_int_equal(rig_dispatch(rig, 32), 32);
	rig_kill(rig, 0, &crash);
	while (!weir_pool_worker_is_reclaimed(rig->pool, 0)) {
		const struct weir_dispatcher *d = dispatcher_of(rig);
		const uint32_t end = d->reclaim.end;
		const uint32_t held = hold_count(&d->front);

		rig_dispatch_buckets(rig, 0, (const uint16_t[]) { 7, 8, 7 }, 3);
		if (steps > 0 && d->reclaim.worker != WEIR_WORKER_NONE) {
			assert_int_equal(end - d->reclaim.end, RECLAIM_PKTS);
			/* Sealed: until the last step nobody looks at them. */
			assert_int_equal(hold_count(&d->front) - held, RECLAIM_PKTS);
		}
		rig_work(rig, 1, 1);
		rig_pause(rig, 1);
		rig_resume(rig, 1);
		steps++;
	}
	assert_int_equal(steps, (LANE + RECLAIM_PKTS - 1) / RECLAIM_PKTS);
	rig_drain(rig);
	assert_int_equal(rig_counters(rig, 0).consumed, rig->dispatcher[0].n_packets);
	rig_destroy(rig);
}

static void
a_long_lane_is_reclaimed_in_bounded_steps(void **state)
{
	(void)state;
	long_lane_reclaim(WEIR_ORDER_NONE);
	long_lane_reclaim(WEIR_ORDER_FLOW);
}

static void
the_next_incarnation_goes_on_where_the_last_ones_lane_ended(void **state)
{
	(void)state;
	for (int kind = 0; kind < N_KINDS; kind++) {
		struct rig *rig = kind_rig(kind, 2, 8);

		/* Past the wrap of slots and phases, in every position of a lane. */
		for (uint32_t round = 0; round < 40; round++) {
			assert_int_equal(rig_dispatch(rig, 9), 9);
			assert_int_equal(rig_take(rig, 0, 2), 2);
			rig_complete(rig, 0, 1, weir_verdict_consumed());
			rig_kill(rig, 0, &crash);
			rig_harvest(rig);
			assert_true(weir_pool_worker_is_reclaimed(rig->pool, 0));
			assert_int_equal(weir_pool_worker_incarnation(rig->pool, 0), round);
			rig_restart(rig, 0);
			assert_int_equal(rig_take(rig, 0, 32), 0);
			rig_drain(rig);
			assert_int_equal(rig_dropped(rig, WEIR_REASON_CRASH_INFLIGHT), round + 1);
		}
		rig_destroy(rig);
	}
}

static void
two_workers_gone_at_once_are_reclaimed_one_after_the_other(void **state)
{
	struct weir_config config = order_config("round-robin", 3);
	struct rig *rig;

	(void)state;
	config.lane_size = 1024;
	rig = rig_create(&config, 4096);
	rig->n_buckets = 3;
	for (uint32_t i = 0; i < 20; i++)
		assert_int_equal(rig_dispatch(rig, 32), 32);
	rig_kill(rig, 2, &crash);
	rig_kill(rig, 1, &crash);
	for (uint32_t i = 0; i < 20; i++)
		rig_dispatch(rig, 5);
	assert_true(weir_pool_worker_is_reclaimed(rig->pool, 1));
	assert_true(weir_pool_worker_is_reclaimed(rig->pool, 2));
	rig_drain(rig);
	assert_int_equal(rig_counters(rig, 0).consumed, 740);
	rig_destroy(rig);
}

/* The second one's were the first one's before: they are older than what waits. */
static void
who_took_over_may_go_too(void **state)
{
	struct rig *rig = order_rig("round-robin", 3, 1024);
	weir_worker_id second;

	(void)state;
	rig->bucket = 7;
	assert_int_equal(rig_dispatch(rig, 20), 20);
	rig_kill(rig, 0, &crash);
	rig_harvest(rig);
	second = order_pin(rig, 7);
	assert_int_equal(rig_depth(rig, second), 20);
	assert_int_equal(rig_dispatch(rig, 10), 10);
	rig_kill(rig, second, &crash);
	assert_int_equal(rig_dispatch(rig, 10), 10);
	assert_int_equal(rig_depth(rig, 3 - second), 40);
	rig_drain(rig);
	assert_int_equal(rig_counters(rig, 0).consumed, 40);
	rig_destroy(rig);
}

/* M11, as far as there is a hand-back: what finds no room waits, whatever the policy. */
static void
what_was_lent_before_waits_for_room_whatever_the_policy_m11(void **state)
{
	static const char *const policies[] = { "drop-new", "drop-head", "reject" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(policies); i++) {
		struct weir_config config = order_config("round-robin", 2);
		struct rig *rig;

		config.lane_size = 8;
		config.overflow = policies[i];
		rig = rig_create(&config, 1024);
		assert_int_equal(rig_dispatch(rig, 16), 16);
		rig_kill(rig, 0, &crash);
		rig_harvest(rig);
		assert_int_equal(order_held(rig), 8);
		assert_true(weir_accepts(dispatcher_of(rig)));
		/* An arrival finds no room either, and its policy decides. */
		rig_dispatch(rig, 1);
		assert_int_equal(order_held(rig), 8);
		rig_abandon(rig, 0);
		assert_int_equal(rig_work(rig, 1, 3), 3);
		rig_harvest(rig);
		assert_int_equal(order_held(rig), 5);
		rig_drain(rig);
		assert_int_equal(rig_dropped(rig, WEIR_REASON_DEAD_WORKER), 0);
		assert_int_equal(rig_dropped(rig, WEIR_REASON_HELD_OVERFLOW), 0);
		rig_destroy(rig);
	}
}

/* Deadlines are each packet's own: what waits behind what was reclaimed is late sooner. */
static void
deadlines_are_kept_before_and_behind_what_was_reclaimed(void **state)
{
	struct weir_config config = order_config("round-robin", 3);
	struct rig *rig;

	(void)state;
	config.hold_timeout_ns = 1000;
	config.lane_size = 1;
	rig = rig_create(&config, 1024);
	rig_time(rig, 100);
	assert_goes(rig, { 7, 0 }, { 8, 1 }, { 9, 2 });
	rig_pause(rig, 1);
	rig_time(rig, 200);
	assert_goes(rig, { 8, HELD });
	rig_time(rig, 700);
	rig_kill(rig, 0, &crash);
	rig_harvest(rig);
	/* The one of bucket 7 stands before that of 8, but waits from now on. */
	assert_int_equal(order_held(rig), 2);
	rig_time(rig, 1199);
	rig_harvest(rig);
	assert_int_equal(order_held(rig), 2);
	rig_time(rig, 1200);
	rig_harvest(rig);
	assert_int_equal(order_held(rig), 1);
	assert_int_equal(rig->dispatcher[0].ended[0]->meta.bucket, 8);
	rig_time(rig, 1699);
	rig_harvest(rig);
	assert_int_equal(order_held(rig), 1);
	rig_time(rig, 1700);
	rig_harvest(rig);
	assert_int_equal(order_held(rig), 0);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_HOLD_TIMEOUT), 2);
	rig_resume(rig, 1);
	rig_destroy(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_queued_goes_to_others_in_order),
		cmocka_unit_test(
			what_was_in_process_is_lost_and_the_rest_is_done_by_the_next_incarnation_a16),
		cmocka_unit_test(what_was_completed_comes_home_with_its_verdict),
		cmocka_unit_test(what_was_in_process_is_redelivered_on_request),
		cmocka_unit_test(what_was_queued_ends_where_it_is_not_to_be_redone_a17),
		cmocka_unit_test(a_long_lane_is_reclaimed_in_bounded_steps),
		cmocka_unit_test(the_next_incarnation_goes_on_where_the_last_ones_lane_ended),
		cmocka_unit_test(two_workers_gone_at_once_are_reclaimed_one_after_the_other),
		cmocka_unit_test(who_took_over_may_go_too),
		cmocka_unit_test(what_was_lent_before_waits_for_room_whatever_the_policy_m11),
		cmocka_unit_test(deadlines_are_kept_before_and_behind_what_was_reclaimed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
