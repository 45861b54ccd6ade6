/* SPDX-License-Identifier: BSD-3-Clause */
/* When to stop, and the tick that keeps the table going. */
#include "control.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "app.h"
#include "clock.h"
#include "outputs.h"

/* Short enough for a prompt stop, long enough to leave the CPU to a loop that shares it. */
#define TICK_MS 5

/* Periods that a gap must last before it is an alarm. */
#define GAP_PERIODS 3

/* A signal handler has no argument: this is the one thing that it can reach. */
static _Atomic int stop_signal;

static void
signal_handle(int number)
{
	int none = 0;

	if (!atomic_compare_exchange_strong(&stop_signal, &none, number))
		_exit(128 + number);
}

int
control_catch_signals(void)
{
	struct sigaction action = { .sa_handler = signal_handle };
	struct sigaction hangup;

	sigemptyset(&action.sa_mask);
	/* A sink that meets a limit or a closed pipe is to see an error, not to end the program. */
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	if (sigaction(SIGINT, &action, NULL) < 0 || sigaction(SIGTERM, &action, NULL) < 0 ||
		sigaction(SIGHUP, NULL, &hangup) < 0)
		return -errno;
	/* A closing terminal is a clean stop too, unless nohup has said otherwise. */
	if (hangup.sa_handler != SIG_IGN && sigaction(SIGHUP, &action, NULL) < 0)
		return -errno;
	return 0;
}

int
control_stop_asked(void)
{
	return atomic_load(&stop_signal);
}

/* When input was last seen. Packets that wait in a hold are input that is not polled for. */
struct idle_watch {
	uint64_t received;
	uint64_t since_ns;
};

static bool
idle_long_enough(
	struct idle_watch *watch, const struct options *options, const struct status *status)
{
	if (status->ledger.received != watch->received || status->ledger.held > 0) {
		watch->received = status->ledger.received;
		watch->since_ns = status->time_ns;
	}
	return options->exit_idle_ns > 0 &&
	       status->time_ns - watch->since_ns >= options->exit_idle_ns;
}

static bool
run_is_over(struct idle_watch *watch, const struct app *app)
{
	const struct options *options = &app->options;
	const struct status *status = &app->status;

	if (app->stop_asked || control_stop_asked())
		return true;
	if (options->duration_ns > 0 && status->time_ns >= options->duration_ns)
		return true;
	if (options->packets > 0 && status->ledger.received >= options->packets)
		return true;
	return idle_long_enough(watch, options, status);
}

/*
 * The counters of running loops are not read at one instant: packets in motion show as a passing
 * gap of a few bursts. What is lost or leaked shows in every picture.
 */
struct gap_watch {
	int64_t last;
	uint32_t periods;
};

static void
gap_check(struct gap_watch *watch, const struct app *app, struct status *status)
{
	const int64_t motion = 2 * (int64_t)app->options.burst * app->n_rx_cores;
	const int64_t gap = weir_ledger_gap(&status->ledger);
	const bool suspect = gap > motion || gap < -motion || (gap != 0 && gap == watch->last);

	watch->periods = suspect ? watch->periods + 1 : 0;
	watch->last = gap;
	status->gap_lasts = watch->periods >= GAP_PERIODS;
}

static void
period_tick(struct app *app, struct gap_watch *watch, uint64_t *next_ns)
{
	const uint64_t period_ns = app->options.stats_period_ns;
	struct status_queue *spare = app->before.queue;

	if (period_ns == 0 || app->options.quiet || app->status.time_ns < *next_ns)
		return;
	gap_check(watch, app, &app->status);
	table_print(stdout, app, &app->before, &app->status);
	/* The two pictures keep their own arrays: contents change places, arrays do not. */
	memcpy(spare, app->status.queue, app->status.n_queues * sizeof(*spare));
	app->before = app->status;
	app->before.queue = spare;
	*next_ns += period_ns;
	if (*next_ns < app->status.time_ns)
		*next_ns = app->status.time_ns + period_ns;
}

void
control_drain_dead(struct app *app)
{
	for (uint32_t i = 0; i < app->n_rx_cores; i++)
		dead_file_drain(&app->dead_file, app->rx_cores[i]);
}

void
control_run(struct app *app)
{
	struct idle_watch watch = { 0 };
	struct gap_watch gap = { 0 };
	uint64_t next_table_ns = app->options.stats_period_ns;

	control_socket_serve(app);
	do {
		watch_wait(app, TICK_MS);
		supervisor_tick(app);
		control_socket_tick(app, clock_read_ns(CLOCK_MONOTONIC));
		status_collect(app, &app->status);
		skew_watch_tick(&app->skew, &app->status);
		alarm_watch_tick(&app->alarms, &app->status, app->options.quiet);
		control_drain_dead(app);
		period_tick(app, &gap, &next_table_ns);
	} while (!run_is_over(&watch, app));
}
