/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lib/decide: acceptance of what happens when a worker drains, is killed, or dies: X8, X9, A14,
 * A15, A17, A18, M8, N13; what is redelivered, and what becomes of copies.
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

static const struct weir_departure crash_redelivered = {
	.state = WEIR_WORKER_DEAD,
	.redispatch = true,
	.redeliver = true,
	.queued_reason = WEIR_REASON_DEAD_WORKER,
	.in_process_reason = WEIR_REASON_CRASH_INFLIGHT,
};

static const struct weir_departure killed = {
	.state = WEIR_WORKER_STOPPED,
	.queued_reason = WEIR_REASON_DEAD_WORKER,
	.in_process_reason = WEIR_REASON_CRASH_INFLIGHT,
};

/* Workers say what they have in process. */
static struct rig *
rig_of(const char *strategy, uint32_t n_workers, const char *policy)
{
	struct weir_config config = rig_config(strategy, n_workers);

	config.depth_mode = WEIR_DEPTH_QUEUED;
	config.overflow = policy;
	return rig_create(&config, 4096);
}

static void
drain(struct rig *rig, weir_worker_id id)
{
	assert_int_equal(weir_pool_set_state(rig->pool, id, WEIR_WORKER_DRAINING), 0);
}

/* Packets that were charged to worker `id`, of the last `n`. */
static uint32_t
charged(const struct rig *rig, weir_worker_id id, uint32_t n)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += rig_last(rig, n)[i].charged == id;
	return sum;
}

static void
a14_killed_worker_gets_nothing_once_its_state_has_changed(void **state)
{
	struct rig *rig = rig_of("shallowest", 3, "drop-new");

	(void)state;
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(rig_dispatch(rig, 10), 10);
	assert_true(rig_depth(rig, 1) > 0);
	rig_kill(rig, 1, &crash);
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(rig_dispatch(rig, 10), 10);
	assert_int_equal(charged(rig, 1, 100), 0);
	rig_drain(rig);
	assert_int_equal(rig_counters(rig, 0).consumed, 200);
	rig_destroy(rig);
}

static void
a14_rotation_and_broadcast_go_on_among_those_that_are_left(void **state)
{
	struct rig *rig = rig_of("round-robin", 3, "drop-new");

	(void)state;
	rig_kill(rig, 1, &crash);
	assert_int_equal(weir_pool_remove(rig->pool, 1), 0);
	assert_int_equal(rig_dispatch(rig, 6), 6);
	assert_int_equal(charged(rig, 0, 6), 3);
	assert_int_equal(charged(rig, 2, 6), 3);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_DEAD_WORKER), 0);
	rig_destroy(rig);
	rig = rig_of("broadcast", 3, "drop-new");
	rig_kill(rig, 1, &crash);
	assert_int_equal(rig_dispatch(rig, 1), 1);
	assert_int_equal(rig_depth(rig, 0) + rig_depth(rig, 2), 2);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_DEAD_WORKER), 0);
	rig_destroy(rig);
}

/* An incarnation that is gone is gone once: a second word of it changes nothing of the next one. */
static void
a15_only_what_is_there_can_be_gone_and_the_next_incarnation_is_routable(void **state)
{
	struct rig *rig = rig_of("round-robin", 3, "drop-new");

	(void)state;
	rig_kill(rig, 1, &crash);
	assert_int_equal(weir_pool_worker_gone(rig->pool, 1, &crash), -EALREADY);
	assert_int_equal(weir_pool_worker_restart(rig->pool, 1), -EBUSY);
	rig_harvest(rig);
	assert_int_equal(weir_pool_worker_gone(rig->pool, 1, &crash), -EALREADY);
	assert_int_equal(weir_pool_worker_incarnation(rig->pool, 1), 0);
	rig_restart(rig, 1);
	assert_int_equal(weir_pool_worker_incarnation(rig->pool, 1), 1);
	assert_int_equal(rig_dispatch(rig, 6), 6);
	for (weir_worker_id id = 0; id < 3; id++)
		assert_int_equal(charged(rig, id, 6), 2);
	rig_destroy(rig);
}

/* The marker is no packet: what comes after it is not lent to the worker at all. */
static void
a17_drained_worker_does_what_it_was_lent_before_and_nothing_after(void **state)
{
	(void)state;
	for (int claims = 0; claims < 2; claims++) {
		struct rig *rig = rig_of("first", 1, claims ? "drop-head" : "drop-new");

		assert_int_equal(rig_dispatch(rig, 2), 2);
		drain(rig, 0);
		assert_false(weir_worker_is_drained(rig->worker[0].worker));
		assert_int_equal(rig_dispatch(rig, 1), 1);
		assert_int_equal(rig_dropped(rig, WEIR_REASON_DEAD_WORKER), 1);
		assert_false(weir_worker_is_drained(rig->worker[0].worker));
		assert_int_equal(rig_work(rig, 0, UINT32_MAX), 2);
		assert_true(weir_worker_is_drained(rig->worker[0].worker));
		rig_kill(rig, 0, &killed);
		assert_int_equal(rig_harvest(rig), 2);
		assert_int_equal(rig_counters(rig, 0).consumed, 2);
		assert_int_equal(rig_dropped(rig, WEIR_REASON_DEAD_WORKER), 1);
		rig_destroy(rig);
	}
}

/* A18: a copy that is refused waits for its worker; the others have theirs. */
static void
a18_refusal_aborts_no_fan_out_and_changes_no_worker(void **state)
{
	struct weir_config config = rig_config("broadcast", 3);
	struct rig *rig;

	(void)state;
	config.overflow = "reject";
	config.lane_size = 1;
	rig = rig_create(&config, 64);
	assert_int_equal(rig_dispatch(rig, 1), 1);
	rig_work(rig, 0, 1);
	rig_work(rig, 2, 1);
	assert_int_equal(rig_dispatch(rig, 1), 1);
	assert_int_equal(rig_depth(rig, 0), 1);
	assert_int_equal(rig_depth(rig, 2), 1);
	assert_int_equal(rig_counters(rig, 0).rejected, 1);
	assert_int_equal(order_held(rig), 1);
	for (weir_worker_id id = 0; id < 3; id++)
		assert_int_equal(weir_pool_worker_state(rig->pool, id, NULL), WEIR_WORKER_READY);
	/* Its worker dies: the copy ends, as what it had does, and the port goes on. */
	rig_kill(rig, 1, &crash);
	rig_harvest(rig);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_DEAD_WORKER), 2);
	assert_true(weir_accepts(rig->dispatcher[0].dispatcher));
	rig_destroy(rig);
}

/* M8: the end of a lane takes no place in it, and a full neighbour delays nothing. */
static void
m8_full_lanes_keep_neither_a_drain_nor_a_reclaim_from_ending(void **state)
{
	struct weir_config config = order_config("round-robin", 3);
	struct rig *rig;

	(void)state;
	config.lane_size = 4;
	rig = rig_create(&config, 64);
	assert_int_equal(rig_dispatch(rig, 12), 12);
	drain(rig, 0);
	rig_kill(rig, 1, &crash);
	rig_harvest(rig);
	/* Worker 2 is full and does nothing: 1 is reclaimed, 0 knows its end. */
	assert_int_equal(rig_depth(rig, 2), 4);
	assert_true(weir_pool_worker_is_reclaimed(rig->pool, 1));
	assert_int_equal(order_held(rig), 4);
	assert_int_equal(rig_work(rig, 0, UINT32_MAX), 4);
	assert_true(weir_worker_is_drained(rig->worker[0].worker));
	rig_destroy(rig);
}

static void
n13_drain_with_100_queued_gives_no_new_ones_and_does_all_100(void **state)
{
	struct rig *rig = rig_of("round-robin", 2, "drop-new");

	(void)state;
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(rig_dispatch(rig, 20), 20);
	assert_int_equal(rig_depth(rig, 0), 100);
	drain(rig, 0);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(rig_dispatch(rig, 20), 20);
	assert_int_equal(charged(rig, 0, 100), 0);
	assert_int_equal(rig_work(rig, 0, 99), 99);
	assert_false(weir_worker_is_drained(rig->worker[0].worker));
	assert_int_equal(rig_work(rig, 0, UINT32_MAX), 1);
	assert_true(weir_worker_is_drained(rig->worker[0].worker));
	rig_kill(rig, 0, &killed);
	assert_int_equal(rig_harvest(rig), 100);
	assert_int_equal(rig_worker_counters(rig, 0, 0).harvested, 100);
	assert_int_equal(weir_in_lanes(rig->dispatcher[0].dispatcher), 200);
	rig_destroy(rig);
}

/* N13: at the timeout the residue is named, exactly. */
static void
n13_residue_of_a_drain_that_took_too_long_is_accounted(void **state)
{
	struct weir_departure late = killed;
	struct rig *rig = rig_of("round-robin", 2, "drop-new");

	(void)state;
	late.queued_reason = WEIR_REASON_DRAIN_TIMEOUT;
	late.in_process_reason = WEIR_REASON_DRAIN_TIMEOUT;
	assert_int_equal(rig_dispatch(rig, 20), 20);
	drain(rig, 0);
	rig_harvest(rig);
	assert_int_equal(rig_work(rig, 0, 3), 3);
	assert_int_equal(rig_take(rig, 0, 2), 2);
	rig_kill(rig, 0, &late);
	assert_int_equal(rig_harvest(rig), 3);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_DRAIN_TIMEOUT), 7);
	rig_destroy(rig);
}

static void
x8_failover_goes_back_to_the_first_worker_once_it_has_restarted(void **state)
{
	struct rig *rig = rig_of("failover", 3, "drop-new");

	(void)state;
	rig_kill(rig, 0, &crash);
	assert_routes(rig, 1);
	rig_pause(rig, 1);
	assert_routes(rig, 2);
	rig_restart(rig, 0);
	assert_routes(rig, 0);
	rig_resume(rig, 1);
	rig_destroy(rig);
}

/* X9: what a worker had counts for it no more, once it is reclaimed. */
static void
x9_busyover_finds_a_restarted_worker_idle(void **state)
{
	struct weir_config config = rig_config("busyover", 2);
	struct rig *rig;

	(void)state;
	config.fallback = NULL;
	rig = rig_create(&config, 64);
	assert_routes_singly(rig, 0, 1);
	rig_kill(rig, 0, &killed);
	assert_int_equal(rig_dispatch(rig, 1), 1);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_ALL_BUSY), 1);
	rig_restart(rig, 0);
	assert_routes(rig, 0);
	rig_destroy(rig);
}

static void
what_was_in_process_is_redelivered_once_and_marked(void **state)
{
	(void)state;
	for (int claims = 0; claims < 2; claims++) {
		struct rig *rig = rig_of("first", 3, claims ? "drop-head" : "drop-new");
		const struct rig_packet *packets = rig->dispatcher[0].packets;

		assert_int_equal(rig_dispatch(rig, 5), 5);
		assert_int_equal(rig_take(rig, 0, 2), 2);
		rig_kill(rig, 0, &crash_redelivered);
		rig_harvest(rig);
		assert_int_equal(rig_depth(rig, 1), 5);
		assert_int_equal(rig_take(rig, 1, 1), 1);
		assert_int_equal(
			packets[0].meta.flags & WEIR_META_REDELIVERED, WEIR_META_REDELIVERED);
		/* Twice is enough: the poison ends, the other one was not begun again. */
		rig_kill(rig, 1, &crash_redelivered);
		rig_harvest(rig);
		assert_int_equal(rig_dropped(rig, WEIR_REASON_CRASH_INFLIGHT), 1);
		assert_int_equal(rig_work(rig, 2, UINT32_MAX), 4);
		rig_harvest(rig);
		assert_int_equal(packets[0].n_taken, 2);
		assert_int_equal(packets[1].n_taken, 2);
		assert_int_equal(packets[2].n_taken, 1);
		assert_int_equal(packets[2].meta.flags, WEIR_META_RECLAIMED);
		rig_destroy(rig);
	}
}

static void
copies_of_a_packet_for_all_end_with_their_worker_and_are_marked(void **state)
{
	struct rig *rig = rig_of("broadcast", 3, "drop-new");

	(void)state;
	assert_int_equal(rig_dispatch(rig, 4), 4);
	assert_int_equal(rig_take(rig, 0, 1), 1);
	assert_int_equal(rig->worker[0].taken[0].meta.flags, WEIR_META_COPY);
	assert_int_equal(rig_take(rig, 1, 1), 1);
	assert_int_equal(rig->worker[1].taken[0].meta.flags, WEIR_META_COPY);
	rig_kill(rig, 1, &crash_redelivered);
	rig_harvest(rig);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_CRASH_INFLIGHT), 1);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_DEAD_WORKER), 3);
	assert_int_equal(rig_depth(rig, 0) + rig_depth(rig, 2), 8);
	rig_destroy(rig);
}

static void
numbered_copies_are_redone_by_others_and_keep_their_numbers(void **state)
{
	struct rig *rig = rig_of("shard-broadcast", 3, "drop-new");
	uint32_t seen[3] = { 0 };

	(void)state;
	assert_int_equal(rig_dispatch(rig, 4), 4);
	rig_kill(rig, 1, &crash);
	rig_harvest(rig);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_DEAD_WORKER), 0);
	for (weir_worker_id id = 0; id < 3; id += 2) {
		while (rig_take(rig, id, 1) == 1) {
			assert_int_equal(rig->worker[id].taken[0].meta.shard_last, 2);
			seen[rig->worker[id].taken[0].meta.shard_index]++;
			rig_complete(rig, id, 1, weir_verdict_consumed());
		}
	}
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(seen[i], 4);
	rig_destroy(rig);
}

/* What a process writes is hostile: as if it had everything, and nothing, in process. */
static void
progress_that_lies_of_what_is_in_process_is_bounded(void **state)
{
	struct weir_config config = rig_config("first", 2);
	struct rig *rig;

	(void)state;
	config.depth_mode = WEIR_DEPTH_QUEUED;
	config.lane_size = 1024;
	rig = rig_create(&config, 4096);
	for (uint32_t i = 0; i < 20; i++)
		assert_int_equal(rig_dispatch(rig, 32), 32);
	progress_publish(pool_progress(rig->pool, 0), 0, progress_pack(0, UINT16_MAX));
	rig_kill(rig, 0, &crash);
	for (uint32_t i = 0; i < 4; i++)
		rig_harvest(rig);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_CRASH_INFLIGHT), WEIR_BURST_MAX);
	assert_int_equal(rig_depth(rig, 1), 640 - WEIR_BURST_MAX);
	rig_destroy(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a14_killed_worker_gets_nothing_once_its_state_has_changed),
		cmocka_unit_test(a14_rotation_and_broadcast_go_on_among_those_that_are_left),
		cmocka_unit_test(
			a15_only_what_is_there_can_be_gone_and_the_next_incarnation_is_routable),
		cmocka_unit_test(a17_drained_worker_does_what_it_was_lent_before_and_nothing_after),
		cmocka_unit_test(a18_refusal_aborts_no_fan_out_and_changes_no_worker),
		cmocka_unit_test(m8_full_lanes_keep_neither_a_drain_nor_a_reclaim_from_ending),
		cmocka_unit_test(n13_drain_with_100_queued_gives_no_new_ones_and_does_all_100),
		cmocka_unit_test(n13_residue_of_a_drain_that_took_too_long_is_accounted),
		cmocka_unit_test(x8_failover_goes_back_to_the_first_worker_once_it_has_restarted),
		cmocka_unit_test(x9_busyover_finds_a_restarted_worker_idle),
		cmocka_unit_test(what_was_in_process_is_redelivered_once_and_marked),
		cmocka_unit_test(copies_of_a_packet_for_all_end_with_their_worker_and_are_marked),
		cmocka_unit_test(numbered_copies_are_redone_by_others_and_keep_their_numbers),
		cmocka_unit_test(progress_that_lies_of_what_is_in_process_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
