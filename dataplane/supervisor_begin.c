/* SPDX-License-Identifier: BSD-3-Clause */
/* The beginning of workers: those of the start, and every incarnation that follows. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "control.h"
#include "option_handlers.h"
#include "supervisor_slot.h"

static enum worker_kind
kind_of_ours(const struct app *app)
{
	return app->supervisor.process_start ? WORKER_PROCESS : WORKER_THREAD;
}

/* Nobody is there, and somebody will come: until then packets wait. Returns 0 or -ENOMEM. */
static int
guests_await(struct app *app)
{
	const struct weir_departure nobody = {
		.state = WEIR_WORKER_STOPPED,
		.awaited = true,
		.queued_reason = WEIR_REASON_DEAD_WORKER,
		.in_process_reason = WEIR_REASON_CRASH_INFLIGHT,
	};
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < app->options.workers; i++)
		rc = weir_pool_worker_gone(app->pool, (weir_worker_id)i, &nobody);
	return rc;
}

int
supervisor_open(struct app *app)
{
	struct supervisor *supervisor = &app->supervisor;
	const struct weir_slot life = weir_slot_make(
		weir_restart_budget_make(app->options.restarts, app->options.restart_window_ns));
	char reason[SUPERVISOR_REASON_BYTES];

	supervisor->n = options_workers_max(&app->options);
	app->n_workers = supervisor->n;
	for (uint32_t i = 0; i < supervisor->n; i++)
		supervisor->slot[i] = (struct worker_slot) {
			.life = life,
			.kind = kind_of_ours(app),
			.process = { .pidfd = -1, .socket = -1 },
		};
	if (app->options.worker_mode == WORKER_MODE_ATTACHED)
		return guests_await(app);
	for (uint32_t i = 0; i < app->options.workers; i++) {
		const weir_worker_id id = (weir_worker_id)i;
		const int rc = body_prepare(app, id, weir_pool_worker_incarnation(app->pool, id),
			reason, sizeof(reason));

		if (rc == -ENOMEM)
			return rc;
		if (rc < 0)
			return options_refuse(
				"--handler", options_handler_of(&app->options, id), "%s", reason);
	}
	return 0;
}

void
supervisor_close(struct app *app)
{
	for (uint32_t i = 0; i < app->supervisor.n; i++) {
		struct worker_slot *slot = slot_of(app, (weir_worker_id)i);

		/* A worker that is stuck in its handler still uses both. */
		if (slot->thread && slot->thread->started)
			continue;
		body_close(app, slot);
		free(slot->thread);
		slot->thread = NULL;
	}
	app->supervisor.n = 0;
	app->n_workers = 0;
}

/* Nothing is refused from here on for another handler's sake: each may clear its own ground. */
static int
handler_begin(const struct worker_thread *thread, char *reason, size_t reason_bytes)
{
	const struct handler *handler = thread->loop.handler;

	return handler->begin ? handler->begin(thread->loop.handler_state, reason, reason_bytes)
			      : 0;
}

int
supervisor_begin(struct app *app)
{
	char reason[SUPERVISOR_REASON_BYTES];

	for (uint32_t i = 0; i < app->options.workers; i++) {
		const struct worker_thread *thread = slot_of(app, (weir_worker_id)i)->thread;

		if (thread && handler_begin(thread, reason, sizeof(reason)) < 0)
			return options_refuse("--handler",
				options_handler_of(&app->options, (weir_worker_id)i), "%s", reason);
	}
	return 0;
}

static void
slot_begun(struct app *app, weir_worker_id id, bool is_guest)
{
	const struct weir_slot_event event = {
		.kind = WEIR_SLOT_EVENT_BEGUN,
		.incarnation = weir_pool_worker_incarnation(app->pool, id),
		.now_ns = clock_read_ns(CLOCK_MONOTONIC),
		.is_guest = is_guest,
	};
	const struct weir_slot_limits limits = { .init_ns = app->options.init_timeout_ns };
	struct worker_slot *slot = slot_of(app, id);

	weir_slot_advance(&slot->life, &limits, &event);
	slot->pending = WEIR_SLOT_DO_NOTHING;
	slot->body_incarnation = event.incarnation;
	slot->flags = 0;
	slot->is_paused = false;
	slot->is_judged = false;
	slot->is_slow = false;
	slot->is_said_unyielding = false;
	slot->mark = (struct service_mark) { 0 };
	slot_show(slot);
}

/* Starts what runs in a slot. If it does not, the next tick finds it gone. */
static void
slot_start(struct app *app, weir_worker_id id)
{
	const int rc = body_start(app, id);

	if (rc < 0)
		slot_warn(app, id, "cannot be started: %s", strerror(-rc));
	slot_show(slot_of(app, id));
}

/* ---- the start ---- */

/* Whether all are ready: 1; 0 if some are not yet; -EIO if one will not be, after a line. */
static int
all_are_ready(struct app *app)
{
	int ready = 1;

	for (uint32_t i = 0; i < app->options.workers; i++) {
		const struct worker_slot *slot = slot_of(app, (weir_worker_id)i);

		if (slot->life.phase == WEIR_SLOT_READY)
			continue;
		if (slot->life.phase != WEIR_SLOT_STARTING) {
			/* Deaths are told once all is reclaimed, which a start does not wait for.
			 */
			if (slot->last_words[0] != '\0')
				slot_warn(app, (weir_worker_id)i, "ended before all were ready: %s",
					slot->last_words);
			return -EIO;
		}
		ready = 0;
	}
	return ready;
}

int
supervisor_start(struct app *app)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	int ready;

	if (app->options.worker_mode == WORKER_MODE_ATTACHED)
		return 0;
	for (uint32_t i = 0; i < app->options.workers; i++) {
		slot_begun(app, (weir_worker_id)i, false);
		slot_start(app, (weir_worker_id)i);
	}
	for (;;) {
		supervisor_tick(app);
		ready = all_are_ready(app);
		if (ready != 0 || control_stop_asked())
			return ready < 0 ? ready : 0;
		nanosleep(&pause, NULL);
	}
}

/* ---- what comes later ---- */

/* Opens the handler of the next incarnation, which has nobody else to wait for. */
static int
next_prepare(struct app *app, weir_worker_id id, char *reason, size_t reason_bytes)
{
	struct worker_slot *slot = slot_of(app, id);
	int rc = body_prepare(
		app, id, weir_pool_worker_incarnation(app->pool, id) + 1, reason, reason_bytes);

	if (rc == 0 && slot->thread) {
		rc = handler_begin(slot->thread, reason, reason_bytes);
		if (rc < 0)
			body_close(app, slot);
	}
	return rc;
}

/* Keeps what the last incarnation has counted, whose memory is the next one's now. */
static void
counts_keep(struct slot_view *view, const struct weir_worker_activity *activity)
{
	counter_add(&view->taken, activity->taken);
	counter_add(&view->completed, activity->completed);
	counter_add(&view->busy_cycles, activity->busy_cycles);
}

static int
pool_begin(struct app *app, weir_worker_id id)
{
	struct worker_slot *slot = slot_of(app, id);
	struct weir_worker_activity activity;
	int rc;

	/* Nobody has ever been there: nothing is to be reclaimed. */
	if (!weir_pool_worker_is_reclaimed(app->pool, id))
		return weir_pool_add(app->pool, id);
	weir_pool_worker_activity(app->pool, id, &activity);
	rc = weir_pool_worker_restart(app->pool, id);
	if (rc == 0)
		counts_keep(&slot->view, &activity);
	return rc;
}

int
slot_begin(struct app *app, weir_worker_id id, const struct worker_process *process, char *reason,
	size_t reason_bytes)
{
	struct worker_slot *slot = slot_of(app, id);
	int rc = 0;

	slot->kind = process ? WORKER_PROCESS : kind_of_ours(app);
	if (!process)
		rc = next_prepare(app, id, reason, reason_bytes);
	if (rc < 0)
		return rc;
	rc = pool_begin(app, id);
	if (rc < 0) {
		body_close(app, slot);
		snprintf(reason, reason_bytes, "the pool does not take it: %s", strerror(-rc));
		return rc;
	}
	slot_begun(app, id, process != NULL);
	if (!process) {
		slot_start(app, id);
		return 0;
	}
	slot->process = *process;
	slot->last_pid = process->pid;
	body_watch(app, id);
	slot_show(slot);
	return 0;
}
