/* SPDX-License-Identifier: BSD-3-Clause */
/* The supervisor's words: a line on stderr for each turn in a worker's life. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "clock.h"
#include "supervisor_slot.h"

#define NS_PER_SECOND 1e9
#define LINE_BYTES 512

/* In one piece: lines of other threads must not come between. */
static void
line_print(const struct app *app, weir_worker_id id, const char *format, va_list arguments)
{
	const struct worker_slot *slot = &app->supervisor.slot[id];
	char who[48];
	char line[LINE_BYTES];

	snprintf(who, sizeof(who), "worker %u", id);
	if (slot->kind == WORKER_PROCESS && slot->last_pid > 0)
		snprintf(who, sizeof(who), "worker %u (process %d)", id, (int)slot->last_pid);
	vsnprintf(line, sizeof(line), format, arguments);
	fprintf(stderr, "weir: %s %s\n", who, line);
}

void
slot_note(const struct app *app, weir_worker_id id, const char *format, ...)
{
	va_list arguments;

	if (app->options.quiet)
		return;
	va_start(arguments, format);
	line_print(app, id, format, arguments);
	va_end(arguments);
}

void
slot_warn(const struct app *app, weir_worker_id id, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	line_print(app, id, format, arguments);
	va_end(arguments);
}

static void
say_ending(const struct app *app, weir_worker_id id, const struct weir_slot *life)
{
	switch (life->cause) {
	case WEIR_SLOT_INIT_TIMEOUT:
		slot_warn(app, id, "is not ready after %g s: it is ended",
			(double)app->options.init_timeout_ns / NS_PER_SECOND);
		break;
	case WEIR_SLOT_DRAIN_TIMEOUT:
		slot_warn(app, id, "has not finished after %g s: it is ended",
			(double)app->options.drain_timeout_ns / NS_PER_SECOND);
		break;
	case WEIR_SLOT_HUNG:
		slot_warn(app, id, "is stuck: it has packets and finishes none: it is ended");
		break;
	default:
		slot_note(app, id, "is told to stop at once");
		break;
	}
}

/* What follows a death that nobody asked for. */
static void
outcome_format(const struct weir_slot *life, char *text, size_t n_bytes)
{
	const struct weir_restart_budget *budget = &life->budget;
	const double window_s = (double)budget->window_ns / NS_PER_SECOND;

	if (life->restarts)
		snprintf(text, n_bytes, "restart %u of %u in %g s",
			weir_restart_budget_used(budget, clock_read_ns(CLOCK_MONOTONIC)), budget->n,
			window_s);
	else if (life->is_guest)
		snprintf(text, n_bytes, "it was attached by hand: it leaves the pool");
	else if (life->is_unwanted)
		snprintf(text, n_bytes, "it was to stop: it is not replaced");
	else
		snprintf(text, n_bytes, "more than %u restarts in %g s: it is out of the pool",
			budget->n, window_s);
}

static const char *
death_words(const struct worker_slot *slot)
{
	if (slot->life.cause == WEIR_SLOT_INIT_TIMEOUT)
		return "it was not ready in time";
	if (slot->life.cause == WEIR_SLOT_HUNG)
		return "it was stuck";
	return slot->last_words[0] != '\0' ? slot->last_words : "it could not be started";
}

static void
say_settled(const struct app *app, weir_worker_id id, const struct weir_slot *before)
{
	const struct worker_slot *slot = &app->supervisor.slot[id];
	char outcome[96];

	if (before->cause == WEIR_SLOT_DRAINED) {
		slot_note(app, id, "has finished and stopped");
	} else if (before->cause == WEIR_SLOT_KILLED || before->cause == WEIR_SLOT_DRAIN_TIMEOUT) {
		slot_note(app, id, "has stopped; what it had is dropped");
	} else {
		outcome_format(before, outcome, sizeof(outcome));
		slot_warn(app, id,
			"died: %s; it had about %" PRIu64 " packets: %" PRIu64
			" are crash_inflight, the others go on; %s",
			death_words(slot), slot->queued, slot_crash_inflight(app, id), outcome);
	}
}

void
slot_say_event(const struct app *app, weir_worker_id id, const struct weir_slot *before,
	enum weir_slot_event_kind kind)
{
	const struct weir_slot *now = &app->supervisor.slot[id].life;

	if (now->phase == before->phase || app->supervisor.is_closing)
		return;
	if (kind == WEIR_SLOT_EVENT_RECLAIMED)
		say_settled(app, id, before);
	else if (now->phase == WEIR_SLOT_READY && now->incarnation > 0)
		slot_note(app, id, "is ready, incarnation %u", now->incarnation);
	else if (now->phase == WEIR_SLOT_DRAINING)
		slot_note(app, id, "gets no more packets and finishes what it has");
	else if (now->phase == WEIR_SLOT_ENDING)
		say_ending(app, id, now);
}
