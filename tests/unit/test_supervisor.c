/* SPDX-License-Identifier: BSD-3-Clause */
/* dataplane/supervisor*.c with threads that work: every order, and what becomes of packets. */
#include "test.h"

#include "supervised.h"

#define REASON SUPERVISOR_REASON_BYTES

static void
all_are_ready_after_the_start(void **state)
{
	struct supervised *s = supervised_open("--workers 3 --handler drop --quiet", false);

	(void)state;
	assert_int_equal(supervised_phase(s, 0), WEIR_SLOT_FREE);
	supervised_start(s);
	for (weir_worker_id id = 0; id < 3; id++)
		assert_int_equal(supervised_phase(s, id), WEIR_SLOT_READY);
	supervised_lend(s, 100);
	SUPERVISED_UNTIL(s, s->ended[WEIR_REASON_HANDLER_DROP] == 100);
	supervised_close(s);
}

/* M1: an order overtakes all that is queued: at most one burst is finished after it. */
static void
a_pause_takes_effect_within_one_burst(void **state)
{
	struct supervised *s = supervised_open(
		"--workers 1 --burst 4 --handler wait:5000000 --order none --quiet", false);
	char reason[REASON];
	uint64_t before;

	(void)state;
	supervised_start(s);
	supervised_lend(s, 100);
	SUPERVISED_UNTIL(s, supervised_completed(s) > 0);
	assert_int_equal(supervisor_pause(&s->app, 0, reason, REASON), 0);
	weir_harvest(s->rx_core->dispatcher);
	before = supervised_completed(s);
	for (uint32_t i = 0; i < 100; i++)
		supervised_pass(s);
	assert_true(supervised_completed(s) <= before + 4);
	assert_int_equal(s->app.supervisor.slot[0].flags, WEIR_WORKER_PAUSED);
	/* What arrives meanwhile waits. */
	supervised_lend(s, 10);
	assert_int_equal(weir_held(s->rx_core->dispatcher), 10);
	assert_int_equal(supervisor_resume(&s->app, 0, reason, REASON), 0);
	SUPERVISED_UNTIL(s, supervised_completed(s) == 110);
	supervised_close(s);
}

/* M1: however much is queued; and an order is nothing that counts as depth. */
static void
a_pause_overtakes_10000_packets_and_changes_no_depth(void **state)
{
	struct supervised *s = supervised_open("--workers 1 --burst 32 --lane-size 16384 --handler "
					       "wait:100000 --order none --quiet",
		false);
	struct weir_worker_counters counters;
	char reason[REASON];
	uint64_t before;

	(void)state;
	supervised_start(s);
	supervised_lend(s, 10000);
	SUPERVISED_UNTIL(s, supervised_completed(s) > 0);
	assert_int_equal(supervisor_pause(&s->app, 0, reason, REASON), 0);
	weir_harvest(s->rx_core->dispatcher);
	before = supervised_completed(s);
	for (uint32_t i = 0; i < 100; i++)
		supervised_pass(s);
	assert_true(supervised_completed(s) <= before + 32);
	weir_dispatcher_worker_counters(s->rx_core->dispatcher, 0, &counters);
	assert_int_equal(counters.depth, 10000 - supervised_completed(s));
	assert_int_equal(supervisor_kill(&s->app, 0, reason, REASON), 0);
	SUPERVISED_UNTIL(s, supervised_phase(s, 0) == WEIR_SLOT_STOPPED);
	supervised_close(s);
}

/* A17: a group that is shut down by drains finishes all that it has, and no packet is dead. */
static void
a_group_that_drains_finishes_1000_packets(void **state)
{
	struct supervised *s = supervised_open("--workers 4 --lane-size 1024 --handler wait:10000 "
					       "--strategy round-robin --order none --quiet",
		false);
	char reason[REASON];

	(void)state;
	supervised_start(s);
	supervised_lend(s, 1000);
	for (weir_worker_id id = 0; id < 4; id++)
		assert_int_equal(supervisor_drain(&s->app, id, reason, REASON), 0);
	for (weir_worker_id id = 0; id < 4; id++)
		SUPERVISED_UNTIL(s, supervised_phase(s, id) == WEIR_SLOT_STOPPED);
	assert_int_equal(supervised_completed(s), 1000);
	supervised_close(s);
}

/* N13: what a worker has when it is told to drain it finishes; it gets nothing new. */
static void
a_drained_worker_finishes_all_that_it_has(void **state)
{
	struct supervised *s = supervised_open(
		"--workers 2 --handler wait:300000 --order none --strategy first --quiet", false);
	char reason[REASON];

	(void)state;
	supervised_start(s);
	supervised_lend(s, 100);
	assert_int_equal(supervisor_drain(&s->app, 0, reason, REASON), 0);
	supervised_lend(s, 50);
	SUPERVISED_UNTIL(s, supervised_phase(s, 0) == WEIR_SLOT_STOPPED);
	SUPERVISED_UNTIL(s, supervised_completed(s) == 150);
	status_collect(&s->app, &s->app.status);
	assert_int_equal(s->app.status.worker[0].received, 100);
	assert_int_equal(s->app.status.worker[1].received, 50);
	assert_int_equal(s->app.status.crashes, 0);
	supervised_close(s);
}

/* N13: at the timeout exactly what is left is accounted. */
static void
what_is_left_at_the_drain_timeout_is_accounted(void **state)
{
	struct supervised *s = supervised_open("--workers 2 --handler wait:20000000 --burst 2 "
					       "--order none --strategy first --drain-timeout 0.1 "
					       "--quiet",
		false);
	char reason[REASON];

	(void)state;
	supervised_start(s);
	supervised_lend(s, 100);
	assert_int_equal(supervisor_drain(&s->app, 0, reason, REASON), 0);
	SUPERVISED_UNTIL(s, supervised_phase(s, 0) == WEIR_SLOT_STOPPED);
	assert_true(s->ended[WEIR_REASON_DRAIN_TIMEOUT] > 0);
	assert_int_equal(supervised_completed(s) + s->ended[WEIR_REASON_DRAIN_TIMEOUT], 100);
	supervised_close(s);
}

static void
without_time_to_finish_a_drain_ends_at_once(void **state)
{
	struct supervised *s = supervised_open("--workers 1 --handler wait:20000000 --burst 2 "
					       "--order none --drain-timeout 0 --quiet",
		false);
	char reason[REASON];

	(void)state;
	supervised_start(s);
	supervised_lend(s, 500);
	assert_int_equal(supervisor_drain(&s->app, 0, reason, REASON), 0);
	SUPERVISED_UNTIL(s, supervised_phase(s, 0) == WEIR_SLOT_STOPPED);
	assert_true(s->ended[WEIR_REASON_DRAIN_TIMEOUT] > 400);
	supervised_close(s);
}

/* A17: killed with a queue: all that was not begun is dropped, nothing is finished afterwards. */
static void
a_killed_workers_queue_is_dead(void **state)
{
	struct supervised *s = supervised_open(
		"--workers 2 --handler wait:20000000 --burst 1 --order none --strategy first "
		"--quiet",
		false);
	char reason[REASON];
	uint64_t completed;

	(void)state;
	supervised_start(s);
	supervised_lend(s, 51);
	SUPERVISED_UNTIL(s, supervised_completed(s) == 1);
	assert_int_equal(supervisor_kill(&s->app, 0, reason, REASON), 0);
	SUPERVISED_UNTIL(s, supervised_phase(s, 0) == WEIR_SLOT_STOPPED);
	completed = supervised_completed(s);
	/* What it had in its hands it has given back. */
	assert_true(completed >= 1 && completed <= 3);
	assert_int_equal(s->ended[WEIR_REASON_DEAD_WORKER], 51 - completed);
	assert_int_equal(s->ended[WEIR_REASON_CRASH_INFLIGHT], 0);
	status_collect(&s->app, &s->app.status);
	assert_int_equal(s->app.status.worker[0].dropped[WEIR_REASON_DEAD_WORKER], 51 - completed);
	assert_int_equal(s->app.status.worker[0].kills, 1);
	assert_int_equal(s->app.status.crashes, 0);
	/* The other one takes what comes. */
	supervised_lend(s, 3);
	SUPERVISED_UNTIL(s, supervised_completed(s) == completed + 3);
	supervised_close(s);
}

static void
a_stopped_worker_can_be_added_again(void **state)
{
	struct supervised *s =
		supervised_open("--workers 1 --handler wait:1000 --order none --quiet", false);
	char reason[REASON];

	(void)state;
	supervised_start(s);
	for (uint32_t round = 1; round <= 5; round++) {
		supervised_lend(s, 20);
		assert_int_equal(supervisor_drain(&s->app, 0, reason, REASON), 0);
		SUPERVISED_UNTIL(s, supervised_phase(s, 0) == WEIR_SLOT_STOPPED);
		assert_int_equal(supervised_completed(s), 20 * round);
		assert_int_equal(supervisor_add(&s->app, 0, reason, REASON), 0);
		SUPERVISED_UNTIL(s, supervised_phase(s, 0) == WEIR_SLOT_READY);
		assert_int_equal(s->app.supervisor.slot[0].life.incarnation, round);
	}
	supervised_lend(s, 20);
	SUPERVISED_UNTIL(s, supervised_completed(s) == 120);
	status_collect(&s->app, &s->app.status);
	assert_int_equal(s->app.status.worker[0].received, 120);
	assert_int_equal(s->app.status.worker[0].lent, 120);
	supervised_close(s);
}

/* A slot that has never been used, and one that was left. */
static void
a_worker_more_can_come_and_go(void **state)
{
	struct supervised *s = supervised_open("--workers 1 --workers-max 2 --handler wait:1000 "
					       "--order none --strategy last --quiet",
		false);
	char reason[REASON];

	(void)state;
	supervised_start(s);
	assert_int_equal(supervised_phase(s, 1), WEIR_SLOT_FREE);
	for (uint32_t round = 0; round < 3; round++) {
		assert_int_equal(supervisor_add(&s->app, 1, reason, REASON), 0);
		SUPERVISED_UNTIL(s, supervised_phase(s, 1) == WEIR_SLOT_READY);
		supervised_lend(s, 30);
		assert_int_equal(supervisor_remove(&s->app, 1, reason, REASON), 0);
		SUPERVISED_UNTIL(s, supervised_phase(s, 1) == WEIR_SLOT_FREE);
		supervised_lend(s, 5);
		SUPERVISED_UNTIL(s, supervised_completed(s) == 35 * (round + 1));
	}
	status_collect(&s->app, &s->app.status);
	assert_int_equal(s->app.status.worker[1].received, 90);
	assert_int_equal(s->app.status.worker[0].received, 15);
	supervised_close(s);
}

/* Two drains at a time both take effect (N13). */
static void
several_workers_can_drain_at_a_time(void **state)
{
	struct supervised *s = supervised_open(
		"--workers 4 --handler wait:300000 --strategy round-robin --quiet", false);
	char reason[REASON];

	(void)state;
	supervised_start(s);
	supervised_lend(s, 200);
	assert_int_equal(supervisor_drain(&s->app, 1, reason, REASON), 0);
	assert_int_equal(supervisor_drain(&s->app, 3, reason, REASON), 0);
	supervised_lend(s, 200);
	SUPERVISED_UNTIL(s, supervised_phase(s, 1) == WEIR_SLOT_STOPPED &&
				    supervised_phase(s, 3) == WEIR_SLOT_STOPPED);
	SUPERVISED_UNTIL(s, supervised_completed(s) == 400);
	supervised_close(s);
}

static void
an_order_that_makes_no_sense_is_refused_in_a_line(void **state)
{
	struct supervised *s = supervised_open("--workers 2 --handler drop --quiet", false);
	char reason[REASON];

	(void)state;
	supervised_start(s);
	assert_int_equal(supervisor_drain(&s->app, 2, reason, REASON), -ENOENT);
	assert_string_equal(reason, "worker 2: workers are 0 to 1 (--workers-max 2)");
	assert_int_equal(supervisor_add(&s->app, 1, reason, REASON), -EBUSY);
	assert_string_equal(
		reason, "add worker 1: it is ready, and must be free, stopped or quarantined");
	assert_int_equal(supervisor_resume(&s->app, 1, reason, REASON), -EBUSY);
	assert_string_equal(
		reason, "resume worker 1: it is not paused, and must be ready and paused");
	assert_int_equal(supervisor_pause(&s->app, 1, reason, REASON), 0);
	assert_int_equal(supervisor_pause(&s->app, 1, reason, REASON), -EBUSY);
	assert_string_equal(reason, "pause worker 1: it is paused already, and must be ready");
	assert_int_equal(supervisor_kill(&s->app, 1, reason, REASON), 0);
	SUPERVISED_UNTIL(s, supervised_phase(s, 1) == WEIR_SLOT_STOPPED);
	assert_int_equal(supervisor_kill(&s->app, 1, reason, REASON), -EBUSY);
	assert_int_equal(supervisor_remove(&s->app, 1, reason, REASON), 0);
	assert_int_equal(supervisor_remove(&s->app, 1, reason, REASON), -EBUSY);
	assert_string_equal(
		reason, "remove worker 1: it is free, and must be in the pool or quarantined");
	supervised_close(s);
}

/* A17: the end of the run is a drain: a paused worker finishes too. */
static void
the_end_of_the_run_lets_paused_workers_finish(void **state)
{
	struct supervised *s =
		supervised_open("--workers 1 --handler wait:1000 --order none --quiet", false);
	char reason[REASON];

	(void)state;
	supervised_start(s);
	supervised_lend(s, 100);
	assert_int_equal(supervisor_pause(&s->app, 0, reason, REASON), 0);
	supervisor_drain_all(&s->app);
	SUPERVISED_UNTIL(s, supervised_completed(s) == 100);
	supervised_close(s);
}

/* Many threads on one CPU: however late they beat, nobody is lost for want of CPU (X11). */
static void
workers_that_share_a_cpu_are_not_lost(void **state)
{
	struct supervised *s = supervised_open(
		"--workers 16 --handler drop --order none --worker-cpus 0 --heartbeat 5 --quiet",
		false);

	(void)state;
	supervised_start(s);
	for (uint32_t pass = 0; pass < 1000; pass++) {
		supervised_lend(s, 16);
		supervised_pass(s);
		for (uint32_t i = 0; i < 16; i++)
			assert_int_equal(s->app.supervisor.slot[i].flags, 0);
	}
	supervised_close(s);
}

/* X11: it has the CPU and does not beat; and is back when it does. 200 ms at 2.5 GHz. */
static void
a_thread_that_burns_its_cpu_is_lost_until_it_beats(void **state)
{
	struct supervised *s = supervised_open(
		"--workers 1 --handler burn:500000000 --burst 1 --order none --quiet", false);
	const struct worker_slot *slot = &s->app.supervisor.slot[0];

	(void)state;
	supervised_start(s);
	supervised_lend(s, 1);
	SUPERVISED_UNTIL(s, slot->flags == WEIR_WORKER_LOST);
	assert_int_equal(supervised_phase(s, 0), WEIR_SLOT_READY);
	/* What comes meanwhile waits. */
	supervised_lend(s, 1);
	assert_int_equal(weir_held(s->rx_core->dispatcher), 1);
	SUPERVISED_UNTIL(s, slot->flags == 0);
	SUPERVISED_UNTIL(s, supervised_completed(s) == 2);
	supervised_close(s);
}

/* Nobody can end a thread: it stays, and comes back with the first packet that it finishes. */
static void
a_stuck_thread_is_flagged_until_it_finishes_a_packet(void **state)
{
	struct supervised *s = supervised_open("--workers 1 --handler wait:300000000 --burst 1 "
					       "--stuck-after 0.05 --order none --quiet",
		false);
	const struct worker_slot *slot = &s->app.supervisor.slot[0];

	(void)state;
	supervised_start(s);
	supervised_lend(s, 1);
	SUPERVISED_UNTIL(s, slot->flags == WEIR_WORKER_STUCK);
	SUPERVISED_UNTIL(s, slot->flags == 0);
	assert_int_equal(supervised_completed(s), 1);
	assert_int_equal(supervised_phase(s, 0), WEIR_SLOT_READY);
	assert_int_equal(slot->life.incarnation, 0);
	assert_int_equal(slot->life.n_crashes, 0);
	supervised_close(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_ready_after_the_start),
		cmocka_unit_test(a_pause_takes_effect_within_one_burst),
		cmocka_unit_test(a_pause_overtakes_10000_packets_and_changes_no_depth),
		cmocka_unit_test(a_group_that_drains_finishes_1000_packets),
		cmocka_unit_test(a_drained_worker_finishes_all_that_it_has),
		cmocka_unit_test(what_is_left_at_the_drain_timeout_is_accounted),
		cmocka_unit_test(without_time_to_finish_a_drain_ends_at_once),
		cmocka_unit_test(a_killed_workers_queue_is_dead),
		cmocka_unit_test(a_stopped_worker_can_be_added_again),
		cmocka_unit_test(a_worker_more_can_come_and_go),
		cmocka_unit_test(several_workers_can_drain_at_a_time),
		cmocka_unit_test(an_order_that_makes_no_sense_is_refused_in_a_line),
		cmocka_unit_test(the_end_of_the_run_lets_paused_workers_finish),
		cmocka_unit_test(workers_that_share_a_cpu_are_not_lost),
		cmocka_unit_test(a_thread_that_burns_its_cpu_is_lost_until_it_beats),
		cmocka_unit_test(a_stuck_thread_is_flagged_until_it_finishes_a_packet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
