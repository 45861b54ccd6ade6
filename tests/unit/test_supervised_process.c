/* SPDX-License-Identifier: BSD-3-Clause */
/* dataplane/supervisor*.c with processes that do nothing but live, stop and die. */
#include "test.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervised.h"

#define REASON SUPERVISOR_REASON_BYTES

/* Takes packets in the name of a worker, and does not complete them. */
static void
packets_take(struct supervised *s, weir_worker_id id, uint32_t n)
{
	struct weir_packet packets[WEIR_BURST_MAX];

	assert_int_equal(weir_take(weir_pool_worker(s->app.pool, id), packets, n), n);
}

static void
process_kill(struct supervised *s, weir_worker_id id)
{
	assert_int_equal(kill(s->app.supervisor.slot[id].process.pid, SIGKILL), 0);
}

/* Dies, and is followed by another: until that is ready, what it had waits for it. */
static void
process_replace(struct supervised *s, weir_worker_id id)
{
	const uint32_t incarnation = s->app.supervisor.slot[id].life.incarnation;

	process_kill(s, id);
	SUPERVISED_UNTIL(s, s->app.supervisor.slot[id].life.incarnation == incarnation + 1);
	assert_int_equal(supervised_phase(s, id), WEIR_SLOT_STARTING);
	supervised_say_ready(s, id);
	SUPERVISED_UNTIL(s, supervised_phase(s, id) == WEIR_SLOT_READY);
}

/* A16: 5 in its hands, 100 in its queue: after the respawn 100 are finished, 5 are lost. */
static void
a_crash_loses_what_was_in_process_and_nothing_else(void **state)
{
	struct supervised *s = supervised_open(
		"--workers 1 --order flow --depth-mode queued --burst 64 --quiet", true);
	const struct weir_verdict verdict = weir_verdict_consumed();

	(void)state;
	supervised_start(s);
	supervised_lend(s, 105);
	packets_take(s, 0, 5);
	process_replace(s, 0);
	assert_int_equal(s->ended[WEIR_REASON_CRASH_INFLIGHT], 5);
	for (uint32_t i = 0; i < 100; i++) {
		supervised_pass(s);
		packets_take(s, 0, 1);
		weir_complete(weir_pool_worker(s->app.pool, 0), &verdict, 1);
	}
	supervised_pass(s);
	assert_int_equal(supervised_completed(s), 100);
	status_collect(&s->app, &s->app.status);
	assert_int_equal(s->app.status.crashes, 1);
	assert_int_equal(s->app.status.restarts, 1);
	supervised_close(s);
}

/* On request what was in process is not lost but begun again, once. */
static void
a_crash_loses_nothing_the_first_time_if_it_is_redelivered(void **state)
{
	struct supervised *s = supervised_open(
		"--workers 1 --order flow --depth-mode queued --redeliver --quiet", true);
	const struct weir_verdict verdict = weir_verdict_consumed();

	(void)state;
	supervised_start(s);
	supervised_lend(s, 10);
	packets_take(s, 0, 5);
	process_replace(s, 0);
	assert_int_equal(s->ended[WEIR_REASON_CRASH_INFLIGHT], 0);
	supervised_pass(s);
	packets_take(s, 0, 7);
	process_replace(s, 0);
	assert_int_equal(s->ended[WEIR_REASON_CRASH_INFLIGHT], 5);
	for (uint32_t i = 0; i < 5; i++) {
		supervised_pass(s);
		packets_take(s, 0, 1);
		weir_complete(weir_pool_worker(s->app.pool, 0), &verdict, 1);
	}
	supervised_pass(s);
	assert_int_equal(supervised_completed(s), 5);
	supervised_close(s);
}

/* A16: more deaths than the budget: out of the pool; whoever adds it by hand forgives it. */
static void
one_that_dies_too_often_is_out_of_the_pool(void **state)
{
	struct supervised *s = supervised_open("--workers 2 --restart 2/3600 --quiet", true);
	char reason[REASON];

	(void)state;
	supervised_start(s);
	process_replace(s, 1);
	process_replace(s, 1);
	process_kill(s, 1);
	SUPERVISED_UNTIL(s, supervised_phase(s, 1) == WEIR_SLOT_QUARANTINED);
	assert_int_equal(s->app.supervisor.slot[1].life.n_crashes, 3);
	assert_int_equal(s->app.supervisor.slot[1].life.n_restarts, 2);
	assert_int_equal(supervised_phase(s, 0), WEIR_SLOT_READY);
	assert_int_equal(supervisor_add(&s->app, 1, reason, REASON), 0);
	supervised_say_ready(s, 1);
	SUPERVISED_UNTIL(s, supervised_phase(s, 1) == WEIR_SLOT_READY);
	process_replace(s, 1);
	supervised_close(s);
}

/* X11: in state T it is lost, and back when it beats. */
static void
a_process_that_a_signal_stopped_is_lost_until_it_beats(void **state)
{
	struct supervised *s = supervised_open("--workers 2 --quiet", true);
	const struct worker_slot *slot = &s->app.supervisor.slot[0];

	(void)state;
	supervised_start(s);
	assert_int_equal(kill(slot->process.pid, SIGSTOP), 0);
	SUPERVISED_UNTIL(s, slot->flags == WEIR_WORKER_LOST);
	assert_int_equal(s->app.supervisor.slot[1].flags, 0);
	assert_int_equal(supervised_phase(s, 0), WEIR_SLOT_READY);
	assert_int_equal(kill(slot->process.pid, SIGCONT), 0);
	weir_worker_beat(weir_pool_worker(s->app.pool, 0));
	SUPERVISED_UNTIL(s, slot->flags == 0);
	supervised_close(s);
}

/* One that gets no CPU and one that sleeps look alike, and neither is lost. */
static void
a_process_that_sleeps_is_not_lost(void **state)
{
	struct supervised *s = supervised_open("--workers 1 --heartbeat 5 --quiet", true);

	(void)state;
	supervised_start(s);
	for (uint32_t i = 0; i < 200; i++) {
		supervised_pass(s);
		assert_int_equal(s->app.supervisor.slot[0].flags, 0);
	}
	supervised_close(s);
}

static void
a_stuck_process_is_ended_and_replaced(void **state)
{
	struct supervised *s = supervised_open("--workers 1 --stuck-after 0.05 --quiet", true);

	(void)state;
	supervised_start(s);
	/* Idle for longer than that: it is not stuck. */
	for (uint32_t i = 0; i < 100; i++)
		supervised_pass(s);
	assert_int_equal(supervised_phase(s, 0), WEIR_SLOT_READY);
	supervised_lend(s, 1);
	SUPERVISED_UNTIL(s, s->app.supervisor.slot[0].life.incarnation == 1);
	assert_int_equal(s->app.supervisor.slot[0].life.n_crashes, 1);
	supervised_close(s);
}

/* N1: never ready: it is ended at the init timeout, and no packet has been lent to it. */
static void
one_that_is_never_ready_is_ended_in_time(void **state)
{
	struct supervised *s =
		supervised_open("--workers 1 --workers-max 2 --init-timeout 0.05 --restart 1/3600 "
				"--strategy round-robin --quiet",
			true);
	char reason[REASON];

	(void)state;
	supervised_start(s);
	assert_int_equal(supervisor_add(&s->app, 1, reason, REASON), 0);
	supervised_lend(s, 10);
	SUPERVISED_UNTIL(s, supervised_phase(s, 1) == WEIR_SLOT_QUARANTINED);
	assert_int_equal(s->app.supervisor.slot[1].life.n_crashes, 2);
	status_collect(&s->app, &s->app.status);
	assert_int_equal(s->app.status.worker[1].lent, 0);
	supervised_close(s);
}

/* The budget counts what cannot even be begun. */
static int
process_refuse(struct app *app, weir_worker_id id, struct worker_process *process)
{
	(void)app;
	(void)id;
	(void)process;
	return -EAGAIN;
}

static void
one_that_cannot_be_begun_is_out_in_the_end(void **state)
{
	struct supervised *s =
		supervised_open("--workers 1 --workers-max 2 --restart 3/3600 --quiet", true);
	char reason[REASON];

	(void)state;
	supervised_start(s);
	s->app.supervisor.process_start = process_refuse;
	assert_int_equal(supervisor_add(&s->app, 1, reason, REASON), 0);
	SUPERVISED_UNTIL(s, supervised_phase(s, 1) == WEIR_SLOT_QUARANTINED);
	assert_int_equal(s->app.supervisor.slot[1].life.n_restarts, 3);
	supervised_close(s);
}

/* Brought by hand: it works like any other, and with its end it is out of the pool. */
static void
a_guest_is_not_restarted(void **state)
{
	struct supervised *s = supervised_open("--workers 1 --workers-max 2 --quiet", true);
	struct worker_process process;
	char reason[REASON];

	(void)state;
	supervised_start(s);
	assert_int_equal(s->app.supervisor.process_start(&s->app, 1, &process), 0);
	assert_int_equal(supervisor_adopt(&s->app, 0, &process, reason, REASON), -EBUSY);
	assert_int_equal(supervisor_adopt(&s->app, 1, &process, reason, REASON), 0);
	supervised_say_ready(s, 1);
	SUPERVISED_UNTIL(s, supervised_phase(s, 1) == WEIR_SLOT_READY);
	process_kill(s, 1);
	SUPERVISED_UNTIL(s, supervised_phase(s, 1) == WEIR_SLOT_FREE);
	assert_int_equal(s->app.supervisor.slot[1].life.n_crashes, 1);
	assert_int_equal(s->app.supervisor.slot[1].life.n_restarts, 0);
	supervised_close(s);
}

/* A17: SIGKILL, the queue is dead, what it worked on is lost. */
static void
a_killed_process_takes_its_queue_along(void **state)
{
	struct supervised *s = supervised_open("--workers 1 --depth-mode queued --quiet", true);
	char reason[REASON];

	(void)state;
	supervised_start(s);
	supervised_lend(s, 50);
	packets_take(s, 0, 8);
	assert_int_equal(supervisor_kill(&s->app, 0, reason, REASON), 0);
	SUPERVISED_UNTIL(s, supervised_phase(s, 0) == WEIR_SLOT_STOPPED);
	assert_int_equal(s->ended[WEIR_REASON_DEAD_WORKER], 42);
	assert_int_equal(s->ended[WEIR_REASON_CRASH_INFLIGHT], 8);
	assert_int_equal(s->app.supervisor.slot[0].life.n_restarts, 0);
	supervised_close(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_crash_loses_what_was_in_process_and_nothing_else),
		cmocka_unit_test(a_crash_loses_nothing_the_first_time_if_it_is_redelivered),
		cmocka_unit_test(one_that_dies_too_often_is_out_of_the_pool),
		cmocka_unit_test(a_process_that_a_signal_stopped_is_lost_until_it_beats),
		cmocka_unit_test(a_process_that_sleeps_is_not_lost),
		cmocka_unit_test(a_stuck_process_is_ended_and_replaced),
		cmocka_unit_test(one_that_is_never_ready_is_ended_in_time),
		cmocka_unit_test(one_that_cannot_be_begun_is_out_in_the_end),
		cmocka_unit_test(a_guest_is_not_restarted),
		cmocka_unit_test(a_killed_process_takes_its_queue_along),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
