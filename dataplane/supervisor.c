/* SPDX-License-Identifier: BSD-3-Clause */
/* The slots: what happens in them is told to their lives, and what these decide is done. */
#include "supervisor_slot.h"

#include <errno.h>
#include <string.h>

#include "clock.h"

struct worker_slot *
slot_of(struct app *app, weir_worker_id id)
{
	return &app->supervisor.slot[id];
}

void
slot_show(struct worker_slot *slot)
{
	struct slot_view *view = &slot->view;

	counter_set(&view->phase, slot->life.phase);
	counter_set(&view->kind, slot->kind);
	counter_set(&view->flags, slot->flags);
	counter_set(&view->is_slow, slot->is_slow);
	counter_set(&view->incarnation, slot->life.incarnation);
	counter_set(&view->pid, (uint64_t)slot->process.pid);
	counter_set(&view->restarts, slot->life.n_restarts);
	counter_set(&view->crashes, slot->life.n_crashes);
}

/* What is to become of what a worker had. */
static struct weir_departure
departure_of(const struct app *app, const struct worker_slot *slot)
{
	struct weir_departure how = {
		.state = slot->life.cause == WEIR_SLOT_DRAINED ? WEIR_WORKER_STOPPED
							       : WEIR_WORKER_DEAD,
		.queued_reason = WEIR_REASON_DEAD_WORKER,
		.in_process_reason = WEIR_REASON_CRASH_INFLIGHT,
	};

	if (slot->life.cause == WEIR_SLOT_KILLED)
		return how;
	if (slot->life.cause == WEIR_SLOT_DRAIN_TIMEOUT) {
		how.queued_reason = WEIR_REASON_DRAIN_TIMEOUT;
		how.in_process_reason = WEIR_REASON_DRAIN_TIMEOUT;
		return how;
	}
	how.redispatch = true;
	how.redeliver = app->options.redeliver;
	how.awaited = slot->life.restarts;
	return how;
}

/* ---- actions: 0, or -ENOMEM with nothing changed ---- */

static int
slot_drain(struct app *app, weir_worker_id id)
{
	/* First: the worker stops when it has reached where its lanes end. */
	const int rc = weir_pool_set_state(app->pool, id, WEIR_WORKER_DRAINING);

	if (rc == 0)
		weir_pool_command(app->pool, id, WEIR_COMMAND_DRAIN);
	return rc;
}

static int
slot_end(struct app *app, weir_worker_id id)
{
	const enum weir_slot_cause cause = slot_of(app, id)->life.cause;
	int rc = 0;

	/* One that will be replaced goes on being awaited: it is unroutable by its flag. */
	if (cause == WEIR_SLOT_KILLED)
		rc = weir_pool_set_state(app->pool, id, WEIR_WORKER_DRAINING);
	if (rc == 0)
		body_end(app, id);
	return rc;
}

static int
slot_reclaim(struct app *app, weir_worker_id id)
{
	struct worker_slot *slot = slot_of(app, id);
	const struct weir_departure how = departure_of(app, slot);
	const int rc = weir_pool_worker_gone(app->pool, id, &how);

	if (rc == 0 && slot->life.cause == WEIR_SLOT_KILLED)
		counter_add(&slot->view.kills, 1);
	return rc;
}

static int
slot_restart(struct app *app, weir_worker_id id)
{
	char reason[SUPERVISOR_REASON_BYTES];
	const int rc = slot_begin(app, id, NULL, reason, sizeof(reason));

	if (rc == 0 || rc == -ENOMEM)
		return rc;
	slot_warn(app, id, "cannot be started again: %s", reason);
	slot_tell(app, id, WEIR_SLOT_EVENT_KILL);
	return 0;
}

static int
slot_do(struct app *app, weir_worker_id id, enum weir_slot_action action)
{
	switch (action) {
	case WEIR_SLOT_DO_ADMIT:
		return weir_pool_set_state(app->pool, id, WEIR_WORKER_READY);
	case WEIR_SLOT_DO_DRAIN:
		return slot_drain(app, id);
	case WEIR_SLOT_DO_END:
		return slot_end(app, id);
	case WEIR_SLOT_DO_RECLAIM:
		return slot_reclaim(app, id);
	case WEIR_SLOT_DO_RESTART:
		return slot_restart(app, id);
	case WEIR_SLOT_DO_REMOVE:
		return weir_pool_remove(app->pool, id);
	default:
		return 0;
	}
}

/* Does what is still to be done about a slot; what cannot be done now stays to be done. */
static void
slot_act(struct app *app, weir_worker_id id)
{
	struct worker_slot *slot = slot_of(app, id);
	const enum weir_slot_action action = slot->pending;

	slot->pending = WEIR_SLOT_DO_NOTHING;
	/* What the memory did not suffice for is tried again with the next tick. */
	if (slot_do(app, id, action) == -ENOMEM)
		slot->pending = action;
}

static void
slot_tell_event(struct app *app, weir_worker_id id, const struct weir_slot_event *event)
{
	const uint64_t drain_ns = app->options.drain_timeout_ns;
	const struct weir_slot_limits limits = {
		.init_ns = app->options.init_timeout_ns,
		/* No time to finish is none, as at the end of the run, and not all there is. */
		.drain_ns = drain_ns > 0 ? drain_ns : 1,
	};
	struct worker_slot *slot = slot_of(app, id);
	const struct weir_slot before = slot->life;
	const enum weir_slot_action action = weir_slot_advance(&slot->life, &limits, event);

	slot_say_event(app, id, &before, event->kind);
	/* The rx loops have ended: what workers had is taken back without the pool. */
	if (action != WEIR_SLOT_DO_NOTHING && !app->supervisor.is_closing) {
		slot->pending = action;
		slot_act(app, id);
	}
	slot_show(slot);
}

void
slot_tell(struct app *app, weir_worker_id id, enum weir_slot_event_kind kind)
{
	const struct weir_slot_event event = {
		.kind = kind,
		.incarnation = slot_of(app, id)->life.incarnation,
		.now_ns = clock_read_ns(CLOCK_MONOTONIC),
	};

	slot_tell_event(app, id, &event);
}

/* ---- the tick ---- */

void
slot_look_for_end(struct app *app, weir_worker_id id)
{
	struct worker_slot *slot = slot_of(app, id);
	struct weir_slot_event event = {
		.kind = WEIR_SLOT_EVENT_GONE,
		.incarnation = slot->body_incarnation,
		.now_ns = clock_read_ns(CLOCK_MONOTONIC),
	};

	if (!weir_slot_is_alive(&slot->life) || !body_has_ended(app, id, &event.is_clean))
		return;
	slot_count_departed(app, id);
	slot_tell_event(app, id, &event);
	if (!app->supervisor.is_closing)
		body_close(app, slot);
}

static void
slot_look_for_ready(struct app *app, weir_worker_id id)
{
	if (slot_of(app, id)->life.phase == WEIR_SLOT_STARTING &&
		weir_pool_worker_pulse(app->pool, id).state >= WEIR_WORKER_READY)
		slot_tell(app, id, WEIR_SLOT_EVENT_READY);
}

static void
slot_tick(struct app *app, weir_worker_id id, uint64_t now_ns)
{
	struct worker_slot *slot = slot_of(app, id);

	if (slot->pending != WEIR_SLOT_DO_NOTHING)
		slot_act(app, id);
	slot_look_for_end(app, id);
	slot_look_for_ready(app, id);
	slot_tell(app, id, WEIR_SLOT_EVENT_TICK);
	if (slot->life.phase == WEIR_SLOT_RECLAIMING && slot->pending == WEIR_SLOT_DO_NOTHING &&
		weir_pool_worker_is_reclaimed(app->pool, id))
		slot_tell(app, id, WEIR_SLOT_EVENT_RECLAIMED);
	slot_judge(app, id, now_ns);
	slot_show(slot);
}

void
supervisor_tick(struct app *app)
{
	const uint64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);

	for (uint32_t i = 0; i < app->supervisor.n; i++)
		slot_tick(app, (weir_worker_id)i, now_ns);
	service_judge(app, now_ns);
}

bool
supervisor_worker_is_gone(const struct app *app, weir_worker_id id)
{
	return !weir_slot_is_alive(&app->supervisor.slot[id].life);
}
