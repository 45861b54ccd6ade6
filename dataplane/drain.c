/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a run, in order: rx cores poll no more → what is lent comes home → rx loops end →
 * workers end → what is left is written off. Afterwards nothing runs but control.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include <rte_launch.h>

#include "app.h"
#include "clock.h"
#include "control.h"

/* How long a worker may take to leave its loop before it is called stuck. */
#define WORKER_JOIN_S 3

/* Between two looks whether the rx cores have drained. */
#define DRAIN_TICK_MS 1

static bool
rx_cores_drained(const struct app *app)
{
	for (uint32_t i = 0; i < app->n_rx_cores; i++) {
		const struct rx_core *rx_core = app->rx_cores[i];

		if (rx_core->started && counter_read(&rx_core->tally.drained) == 0)
			return false;
	}
	return true;
}

static void
rx_cores_drain(struct app *app)
{
	const uint64_t deadline_ns = clock_read_ns(CLOCK_MONOTONIC) + app->options.drain_timeout_ns;

	for (uint32_t i = 0; i < app->n_rx_cores; i++)
		mailbox_post(&app->rx_cores[i]->mailbox, LOOP_DRAIN);
	while (!rx_cores_drained(app) && clock_read_ns(CLOCK_MONOTONIC) < deadline_ns) {
		watch_wait(app, DRAIN_TICK_MS);
		control_socket_tick(app, clock_read_ns(CLOCK_MONOTONIC));
		control_drain_dead(app);
	}
}

static void
rx_cores_join(const struct app *app)
{
	for (uint32_t i = 0; i < app->n_rx_cores; i++)
		mailbox_post(&app->rx_cores[i]->mailbox, LOOP_STOP);
	for (uint32_t i = 0; i < app->n_rx_cores; i++)
		rte_eal_wait_lcore(app->rx_cores[i]->lcore);
}

/* Joins a worker, or finds it stuck in its handler: then its packets cannot be reclaimed. */
static void
worker_join(struct app *app, uint32_t id, const struct timespec *deadline)
{
	struct worker_thread *thread = app->workers[id];

	thread->joined = pthread_clockjoin_np(thread->thread, NULL, CLOCK_MONOTONIC, deadline) == 0;
	if (thread->joined)
		return;
	app->n_stuck++;
	fprintf(stderr,
		"weir: worker %u does not return from its handler: what it holds is written off\n",
		id);
}

static void
workers_join(struct app *app)
{
	struct timespec deadline;

	for (uint32_t i = 0; i < app->n_workers; i++)
		mailbox_post(&app->workers[i]->mailbox, LOOP_STOP);
	/* Not by the wall clock, which may be set while we wait. */
	clock_gettime(CLOCK_MONOTONIC, &deadline);
	deadline.tv_sec += WORKER_JOIN_S;
	for (uint32_t i = 0; i < app->n_workers; i++) {
		if (app->workers[i]->started)
			worker_join(app, i, &deadline);
	}
}

static void
dispatcher_reclaim(struct app *app, struct rx_core *rx_core, struct weir_dispatcher *dispatcher)
{
	for (uint32_t i = 0; i < app->n_workers; i++) {
		weir_reclaim(dispatcher, (weir_worker_id)i, WEIR_REASON_DRAIN_TIMEOUT,
			app->workers[i]->joined ? WEIR_RECLAIM_GONE : WEIR_RECLAIM_WRITE_OFF);
		dead_file_drain(&app->dead_file, rx_core);
	}
	weir_hold_drop(dispatcher, WEIR_REASON_DRAIN_TIMEOUT);
}

/* The rx loops have ended: their dispatchers are control's now. */
static void
rx_core_reclaim(struct app *app, struct rx_core *rx_core)
{
	if (rx_core->urgent)
		dispatcher_reclaim(app, rx_core, rx_core->urgent);
	dispatcher_reclaim(app, rx_core, rx_core->dispatcher);
	rx_core_flush(rx_core);
	dead_file_drain(&app->dead_file, rx_core);
}

void
control_drain(struct app *app)
{
	rx_cores_drain(app);
	rx_cores_join(app);
	workers_join(app);
	control_drain_dead(app);
	for (uint32_t i = 0; i < app->n_rx_cores; i++)
		rx_core_reclaim(app, app->rx_cores[i]);
	app->at_rest = true;
	status_collect(app, &app->status);
	alarm_watch_tick(&app->alarms, &app->status, app->options.quiet);
}
