/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/lane, lib/pool: what a worker and control tell each other past the lanes. */
#include "test.h"

#include "pool.h"
#include "rig.h"

static struct rig *
rig_of(uint32_t n_workers, uint32_t n_dispatchers, const char *overflow)
{
	struct weir_config config = rig_config("first", n_workers);

	config.n_dispatchers = n_dispatchers;
	config.overflow = overflow;
	return rig_create(&config, 256);
}

static struct lane_header *
lane_header(const struct rig *rig, uint32_t dispatcher, weir_worker_id id)
{
	return &pool_worker_header(rig->pool, id)->lane[dispatcher];
}

static void
command_is_run_until_another_is_given(void **state)
{
	struct rig *rig = rig_of(2, 1, "drop-new");
	const struct weir_worker *worker = rig->worker[1].worker;

	(void)state;
	assert_int_equal(weir_worker_read_command(worker), WEIR_COMMAND_RUN);
	for (unsigned int command = WEIR_COMMAND_STOP; command-- > 0;) {
		weir_pool_command(rig->pool, 1, (enum weir_worker_command)command);
		assert_int_equal(weir_worker_read_command(worker), command);
	}
	weir_pool_command(rig->pool, 1, WEIR_COMMAND_STOP);
	assert_int_equal(weir_worker_read_command(worker), WEIR_COMMAND_STOP);
	assert_int_equal(weir_worker_read_command(rig->worker[0].worker), WEIR_COMMAND_RUN);
	rig_destroy(rig);
}

static void
command_that_is_none_makes_a_worker_leave(void **state)
{
	struct rig *rig = rig_of(1, 1, "drop-new");

	(void)state;
	atomic_store(&pool_worker_header(rig->pool, 0)->command, WEIR_COMMAND_STOP + 1);
	assert_int_equal(weir_worker_read_command(rig->worker[0].worker), WEIR_COMMAND_STOP);
	rig_destroy(rig);
}

static void
assert_pulse(const struct rig *rig, weir_worker_id id, uint32_t beats, enum weir_worker_state state)
{
	const struct weir_worker_pulse pulse = weir_pool_worker_pulse(rig->pool, id);

	assert_int_equal(pulse.beats, beats);
	assert_int_equal(pulse.state, state);
}

static void
pulse_counts_beats_and_tells_the_last_state_reported(void **state)
{
	struct rig *rig = rig_of(2, 1, "drop-new");
	struct weir_worker *worker = rig->worker[1].worker;

	(void)state;
	assert_pulse(rig, 1, 0, WEIR_WORKER_STARTING);
	weir_worker_beat(worker);
	assert_pulse(rig, 1, 1, WEIR_WORKER_STARTING);
	weir_worker_report_state(worker, WEIR_WORKER_READY);
	assert_pulse(rig, 1, 1, WEIR_WORKER_READY);
	weir_worker_beat(worker);
	weir_worker_beat(worker);
	assert_pulse(rig, 1, 3, WEIR_WORKER_READY);
	weir_worker_report_state(worker, WEIR_WORKER_DRAINING);
	weir_worker_report_state(worker, WEIR_WORKER_STOPPED);
	assert_pulse(rig, 1, 3, WEIR_WORKER_STOPPED);
	assert_pulse(rig, 0, 0, WEIR_WORKER_STARTING);
	rig_destroy(rig);
}

/* Beats are compared, never counted up to anything: after the last one comes the first. */
static void
beats_wrap_and_leave_the_state_alone(void **state)
{
	struct rig *rig = rig_of(1, 1, "drop-new");

	(void)state;
	pulse_publish(
		pool_progress(rig->pool, 0), pulse_pack(UINT32_MAX, (uint32_t)WEIR_WORKER_READY));
	weir_worker_beat(rig->worker[0].worker);
	assert_pulse(rig, 0, 0, WEIR_WORKER_READY);
	rig_destroy(rig);
}

/* Only control says that a worker is dead; and a process can write what it likes. */
static void
state_that_no_worker_can_report_is_taken_for_starting(void **state)
{
	static const uint32_t wrong[] = { WEIR_WORKER_DEAD, WEIR_WORKER_STATE_COUNT, UINT32_MAX };
	struct rig *rig = rig_of(1, 1, "drop-new");

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(wrong); i++) {
		pulse_publish(pool_progress(rig->pool, 0), pulse_pack(7, wrong[i]));
		assert_pulse(rig, 0, 7, WEIR_WORKER_STARTING);
	}
	rig_destroy(rig);
}

static void
report_dead(void *context)
{
	weir_worker_report_state(context, WEIR_WORKER_DEAD);
}

static void
worker_that_reports_itself_dead_is_asserted(void **state)
{
	struct rig *rig = rig_of(1, 1, "drop-new");

	(void)state;
	test_needs_assertions();
	assert_true(test_aborts(report_dead, rig->worker[0].worker));
	rig_destroy(rig);
}

static void
activity_tells_cycles_of_work_and_since_when_there_is_some(void **state)
{
	struct rig *rig = rig_of(2, 1, "drop-new");
	struct weir_worker *worker = rig->worker[0].worker;
	struct weir_worker_activity activity;

	(void)state;
	weir_worker_count_busy(worker, 0, 1000);
	weir_pool_worker_activity(rig->pool, 0, &activity);
	assert_int_equal(activity.busy_cycles, 0);
	assert_int_equal(activity.busy_since, 1000);
	weir_worker_count_busy(worker, 70, 0);
	weir_worker_count_busy(worker, 5, 0);
	weir_pool_worker_activity(rig->pool, 0, &activity);
	assert_int_equal(activity.busy_cycles, 75);
	assert_int_equal(activity.busy_since, 0);
	weir_pool_worker_activity(rig->pool, 1, &activity);
	assert_int_equal(activity.busy_cycles, 0);
	rig_destroy(rig);
}

static void
drained_is_who_has_completed_all_up_to_every_lanes_end(void **state)
{
	struct rig *rig = rig_of(1, 2, "drop-new");
	struct weir_worker *worker = rig->worker[0].worker;

	(void)state;
	rig_dispatch_from(rig, 0, 3);
	rig_dispatch_from(rig, 1, 2);
	assert_false(weir_worker_is_drained(worker));
	lane_end(lane_header(rig, 0, 0), 0, 3);
	rig_work(rig, 0, 5);
	/* The other dispatcher may still lend. */
	assert_false(weir_worker_is_drained(worker));
	lane_end(lane_header(rig, 1, 0), 0, 2);
	assert_true(weir_worker_is_drained(worker));
	rig_destroy(rig);
}

static void
drained_is_nobody_who_has_packets_queued_or_in_process(void **state)
{
	static const char *const policies[] = { "drop-new", "drop-head" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(policies); i++) {
		struct rig *rig = rig_of(1, 1, policies[i]);
		struct weir_worker *worker = rig->worker[0].worker;

		rig_dispatch(rig, 3);
		lane_end(lane_header(rig, 0, 0), 0, 3);
		assert_false(weir_worker_is_drained(worker));
		rig_work(rig, 0, 2);
		assert_false(weir_worker_is_drained(worker));
		assert_int_equal(rig_take(rig, 0, 8), 1);
		assert_false(weir_worker_is_drained(worker));
		rig_complete(rig, 0, 1, weir_verdict_consumed());
		assert_true(weir_worker_is_drained(worker));
		rig_destroy(rig);
	}
}

/* A claim lane's words count what was taken; its end is a place in the lane, past what was evicted.
 */
static void
drained_counts_what_was_evicted_as_gone(void **state)
{
	struct rig *rig = rig_drop_head("first", 1, 2);
	struct weir_worker *worker = rig->worker[0].worker;

	(void)state;
	rig_dispatch(rig, 5);
	assert_int_equal(rig_evicted(rig, 0, 0), 3);
	lane_end(lane_header(rig, 0, 0), 0, 5);
	assert_int_equal(rig_work(rig, 0, 1), 1);
	assert_false(weir_worker_is_drained(worker));
	assert_int_equal(rig_work(rig, 0, 8), 1);
	assert_true(weir_worker_is_drained(worker));
	rig_destroy(rig);
}

static void
end_of_another_incarnation_ends_nothing(void **state)
{
	struct rig *rig = rig_of(1, 1, "drop-new");
	struct weir_worker *worker = rig->worker[0].worker;

	(void)state;
	lane_end(lane_header(rig, 0, 0), 1, 0);
	assert_false(weir_worker_is_drained(worker));
	lane_end(lane_header(rig, 0, 0), UINT32_MAX, 0);
	assert_false(weir_worker_is_drained(worker));
	lane_end(lane_header(rig, 0, 0), 0, 0);
	assert_true(weir_worker_is_drained(worker));
	rig_destroy(rig);
}

/* The end is compared by difference: it may lie past the wrap. */
static void
end_past_the_wrap_is_reached_in_its_turn(void **state)
{
	struct rig *rig = rig_of(1, 1, "drop-new");
	struct lane_consumer *lane = &rig->worker[0].worker->lane[0];

	(void)state;
	lane_end(lane_header(rig, 0, 0), 0, 1);
	lane->completed = UINT32_MAX;
	assert_false(weir_worker_is_drained(rig->worker[0].worker));
	lane->completed = 1;
	assert_true(weir_worker_is_drained(rig->worker[0].worker));
	lane->completed = 0;
	rig_destroy(rig);
}

static void
finish_nothing(void *context, void *const *packets, const struct weir_verdict *verdicts, uint32_t n,
	weir_worker_id worker)
{
	(void)context;
	(void)packets;
	(void)verdicts;
	(void)n;
	(void)worker;
}

static void
draining_worker_waits_for_no_dispatcher_that_does_not_exist(void **state)
{
	struct weir_config config = rig_config("first", 1);
	struct weir_dispatcher *dispatcher;
	struct weir_pool *pool;

	(void)state;
	config.n_dispatchers = 3;
	pool = weir_pool_create(&config, NULL);
	assert_non_null(pool);
	dispatcher = weir_dispatcher_create(pool, 1, finish_nothing, NULL);
	assert_non_null(dispatcher);
	assert_int_equal(weir_pool_set_state(pool, 0, WEIR_WORKER_DRAINING), 0);
	assert_false(weir_worker_is_drained(weir_pool_worker(pool, 0)));
	lane_end(&pool_worker_header(pool, 0)->lane[1], 0, 0);
	assert_true(weir_worker_is_drained(weir_pool_worker(pool, 0)));
	weir_dispatcher_destroy(dispatcher);
	weir_pool_destroy(pool);
}

static void
draining_worker_waits_no_longer_for_a_dispatcher_that_is_destroyed(void **state)
{
	static const char *const policies[] = { "drop-new", "drop-head" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(policies); i++) {
		struct rig *rig = rig_of(2, 2, policies[i]);
		struct weir_worker *worker = rig->worker[0].worker;

		rig_dispatch_from(rig, 0, 3);
		rig_dispatch_from(rig, 1, 4);
		rig_drain(rig);
		assert_int_equal(weir_pool_set_state(rig->pool, 0, WEIR_WORKER_DRAINING), 0);
		lane_end(lane_header(rig, 0, 0), 0, 3);
		assert_false(weir_worker_is_drained(worker));
		rig_dispatcher_lose(rig);
		assert_true(weir_worker_is_drained(worker));
		/* Of a worker that does not drain nothing ends. */
		assert_int_equal(atomic_load(&lane_header(rig, 1, 1)->end), 0);
		rig_destroy(rig);
	}
}

static void
worker_that_is_put_back_runs_under_the_next_number(void **state)
{
	struct rig *rig = rig_of(2, 1, "drop-new");
	const struct weir_worker *worker = rig->worker[0].worker;

	(void)state;
	lane_end(lane_header(rig, 0, 0), 0, 0);
	weir_pool_command(rig->pool, 0, WEIR_COMMAND_DRAIN);
	assert_true(weir_worker_is_drained(worker));
	assert_int_equal(weir_pool_remove(rig->pool, 0), 0);
	assert_int_equal(weir_pool_add(rig->pool, 0), 0);
	assert_int_equal(weir_pool_worker_incarnation(rig->pool, 0), 1);
	assert_int_equal(weir_worker_read_command(worker), WEIR_COMMAND_RUN);
	assert_false(weir_worker_is_drained(worker));
	rig_destroy(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(command_is_run_until_another_is_given),
		cmocka_unit_test(command_that_is_none_makes_a_worker_leave),
		cmocka_unit_test(pulse_counts_beats_and_tells_the_last_state_reported),
		cmocka_unit_test(beats_wrap_and_leave_the_state_alone),
		cmocka_unit_test(state_that_no_worker_can_report_is_taken_for_starting),
		cmocka_unit_test(worker_that_reports_itself_dead_is_asserted),
		cmocka_unit_test(activity_tells_cycles_of_work_and_since_when_there_is_some),
		cmocka_unit_test(drained_is_who_has_completed_all_up_to_every_lanes_end),
		cmocka_unit_test(drained_is_nobody_who_has_packets_queued_or_in_process),
		cmocka_unit_test(drained_counts_what_was_evicted_as_gone),
		cmocka_unit_test(end_of_another_incarnation_ends_nothing),
		cmocka_unit_test(end_past_the_wrap_is_reached_in_its_turn),
		cmocka_unit_test(draining_worker_waits_for_no_dispatcher_that_does_not_exist),
		cmocka_unit_test(
			draining_worker_waits_no_longer_for_a_dispatcher_that_is_destroyed),
		cmocka_unit_test(worker_that_is_put_back_runs_under_the_next_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
