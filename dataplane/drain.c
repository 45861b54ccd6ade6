/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a run, in order: rx cores poll no more → what is lent comes home → rx loops end →
 * workers end → what is left is written off. Afterwards nothing runs but control.
 */
#include <time.h>

#include <rte_launch.h>

#include "app.h"
#include "clock.h"
#include "control.h"

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
	supervisor_drain_all(app);
	while (!rx_cores_drained(app) && clock_read_ns(CLOCK_MONOTONIC) < deadline_ns) {
		watch_wait(app, DRAIN_TICK_MS);
		supervisor_tick(app);
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

static void
dispatcher_reclaim(struct app *app, struct rx_core *rx_core, struct weir_dispatcher *dispatcher)
{
	for (uint32_t i = 0; i < app->n_workers; i++) {
		weir_reclaim(dispatcher, (weir_worker_id)i, WEIR_REASON_DRAIN_TIMEOUT,
			supervisor_worker_is_gone(app, (weir_worker_id)i) ? WEIR_RECLAIM_GONE
									  : WEIR_RECLAIM_WRITE_OFF);
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
	supervisor_stop(app);
	control_drain_dead(app);
	for (uint32_t i = 0; i < app->n_rx_cores; i++)
		rx_core_reclaim(app, app->rx_cores[i]);
	app->at_rest = true;
	status_collect(app, &app->status);
	alarm_watch_tick(&app->alarms, &app->status, app->options.quiet);
}
