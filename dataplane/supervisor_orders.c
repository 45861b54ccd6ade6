/* SPDX-License-Identifier: BSD-3-Clause */
/* The orders that people give: each is checked against the phase that its worker is in. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "supervisor_slot.h"

/* An order, and the phases in which it means something. */
struct order {
	const char *verb;
	uint32_t phases; /* a bit each */
	const char *allowed;
};

#define PHASE(name) (UINT32_C(1) << WEIR_SLOT_##name)

static const struct order order_drain = { "drain", PHASE(STARTING) | PHASE(READY),
	"starting or ready" };
static const struct order order_kill = { "kill", PHASE(STARTING) | PHASE(READY) | PHASE(DRAINING),
	"starting, ready or draining" };
static const struct order order_pause = { "pause", PHASE(READY), "ready" };
static const struct order order_resume = { "resume", PHASE(READY), "ready and paused" };
static const struct order order_add = { "add", PHASE(FREE) | PHASE(STOPPED) | PHASE(QUARANTINED),
	"free, stopped or quarantined" };
static const struct order order_remove = { "remove",
	PHASE(STARTING) | PHASE(READY) | PHASE(DRAINING) | PHASE(STOPPED) | PHASE(QUARANTINED),
	"in the pool or quarantined" };

static int
order_check(struct app *app, const struct order *order, weir_worker_id id, char *reason,
	size_t reason_bytes)
{
	enum weir_slot_phase phase;

	if (id >= app->supervisor.n) {
		snprintf(reason, reason_bytes, "worker %u: workers are 0 to %u (--workers-max %u)",
			id, app->supervisor.n - 1, app->supervisor.n);
		return -ENOENT;
	}
	if (app->supervisor.is_closing) {
		snprintf(reason, reason_bytes, "%s worker %u: weir is stopping", order->verb, id);
		return -EBUSY;
	}
	phase = slot_of(app, id)->life.phase;
	if (order->phases >> phase & 1)
		return 0;
	snprintf(reason, reason_bytes, "%s worker %u: it is %s, and must be %s", order->verb, id,
		weir_slot_phase_name(phase), order->allowed);
	return -EBUSY;
}

/* An order that is nothing but an event. */
static int
order_tell(struct app *app, const struct order *order, weir_worker_id id,
	enum weir_slot_event_kind kind, char *reason, size_t reason_bytes)
{
	const int rc = order_check(app, order, id, reason, reason_bytes);

	if (rc < 0)
		return rc;
	slot_of(app, id)->is_paused = false;
	slot_tell(app, id, kind);
	return 0;
}

int
supervisor_drain(struct app *app, weir_worker_id id, char *reason, size_t reason_bytes)
{
	return order_tell(app, &order_drain, id, WEIR_SLOT_EVENT_DRAIN, reason, reason_bytes);
}

int
supervisor_kill(struct app *app, weir_worker_id id, char *reason, size_t reason_bytes)
{
	return order_tell(app, &order_kill, id, WEIR_SLOT_EVENT_KILL, reason, reason_bytes);
}

int
supervisor_remove(struct app *app, weir_worker_id id, char *reason, size_t reason_bytes)
{
	return order_tell(app, &order_remove, id, WEIR_SLOT_EVENT_REMOVE, reason, reason_bytes);
}

static int
pause_check(struct app *app, const struct order *order, weir_worker_id id, bool is_paused,
	char *reason, size_t reason_bytes)
{
	const int rc = order_check(app, order, id, reason, reason_bytes);

	if (rc < 0 || slot_of(app, id)->is_paused == is_paused)
		return rc;
	snprintf(reason, reason_bytes, "%s worker %u: it is %s, and must be %s", order->verb, id,
		is_paused ? "not paused" : "paused already", order->allowed);
	return -EBUSY;
}

static void
pause_set(struct app *app, weir_worker_id id, bool is_paused)
{
	struct worker_slot *slot = slot_of(app, id);
	const uint32_t flags = slot->flags & ~(uint32_t)WEIR_WORKER_PAUSED;

	slot->is_paused = is_paused;
	slot_flag(app, id, flags | (is_paused ? WEIR_WORKER_PAUSED : 0));
	weir_pool_command(app->pool, id, is_paused ? WEIR_COMMAND_PAUSE : WEIR_COMMAND_RUN);
	slot_show(slot);
	slot_note(app, id, is_paused ? "is paused" : "goes on");
}

int
supervisor_pause(struct app *app, weir_worker_id id, char *reason, size_t reason_bytes)
{
	const int rc = pause_check(app, &order_pause, id, false, reason, reason_bytes);

	if (rc == 0)
		pause_set(app, id, true);
	return rc;
}

int
supervisor_resume(struct app *app, weir_worker_id id, char *reason, size_t reason_bytes)
{
	const int rc = pause_check(app, &order_resume, id, true, reason, reason_bytes);

	if (rc == 0)
		pause_set(app, id, false);
	return rc;
}

int
supervisor_add(struct app *app, weir_worker_id id, char *reason, size_t reason_bytes)
{
	const int rc = order_check(app, &order_add, id, reason, reason_bytes);

	if (rc == 0 && app->options.worker_mode == WORKER_MODE_ATTACHED) {
		snprintf(reason, reason_bytes,
			"add worker %u: with --worker-mode attached by weir worker --id %u", id,
			id);
		return -EINVAL;
	}
	return rc < 0 ? rc : slot_begin(app, id, NULL, reason, reason_bytes);
}

int
supervisor_adopt(struct app *app, weir_worker_id id, const struct worker_process *process,
	char *reason, size_t reason_bytes)
{
	const int rc = order_check(app, &order_add, id, reason, reason_bytes);

	return rc < 0 ? rc : slot_begin(app, id, process, reason, reason_bytes);
}

void
supervisor_drain_all(struct app *app)
{
	for (uint32_t i = 0; i < app->supervisor.n; i++) {
		const struct worker_slot *slot = slot_of(app, (weir_worker_id)i);

		if (slot->is_paused && slot->life.phase == WEIR_SLOT_READY)
			pause_set(app, (weir_worker_id)i, false);
	}
}
