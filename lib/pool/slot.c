/* SPDX-License-Identifier: BSD-3-Clause */
/* The life cycle of workers: one function for each event. */
#include <weir/slot.h>

#include <stddef.h>

static const char *const phase_names[WEIR_SLOT_PHASE_COUNT] = {
	[WEIR_SLOT_FREE] = "free",
	[WEIR_SLOT_STARTING] = "starting",
	[WEIR_SLOT_READY] = "ready",
	[WEIR_SLOT_DRAINING] = "draining",
	[WEIR_SLOT_ENDING] = "ending",
	[WEIR_SLOT_RECLAIMING] = "reclaiming",
	[WEIR_SLOT_STOPPED] = "stopped",
	[WEIR_SLOT_QUARANTINED] = "quarantined",
};

const char *
weir_slot_phase_name(unsigned int phase)
{
	return phase < WEIR_SLOT_PHASE_COUNT ? phase_names[phase] : NULL;
}

struct weir_slot
weir_slot_make(struct weir_restart_budget budget)
{
	return (struct weir_slot) { .budget = budget };
}

bool
weir_slot_is_alive(const struct weir_slot *slot)
{
	return slot->phase >= WEIR_SLOT_STARTING && slot->phase <= WEIR_SLOT_ENDING;
}

bool
weir_slot_is_vacant(const struct weir_slot *slot)
{
	return slot->phase == WEIR_SLOT_FREE || slot->phase == WEIR_SLOT_STOPPED ||
	       slot->phase == WEIR_SLOT_QUARANTINED;
}

static uint64_t
deadline_at(uint64_t now_ns, uint64_t limit_ns)
{
	return limit_ns > 0 ? now_ns + limit_ns : 0;
}

static enum weir_slot_action
slot_begin(struct weir_slot *slot, const struct weir_slot_limits *limits,
	const struct weir_slot_event *event)
{
	if (!weir_slot_is_vacant(slot))
		return WEIR_SLOT_DO_NOTHING;
	if (slot->phase == WEIR_SLOT_QUARANTINED)
		slot->budget = weir_restart_budget_make(slot->budget.n, slot->budget.window_ns);
	slot->phase = WEIR_SLOT_STARTING;
	slot->cause = WEIR_SLOT_NO_CAUSE;
	slot->incarnation = event->incarnation;
	slot->deadline_ns = deadline_at(event->now_ns, limits->init_ns);
	slot->is_unwanted = false;
	slot->leaves_pool = event->is_guest;
	slot->is_guest = event->is_guest;
	slot->restarts = false;
	return WEIR_SLOT_DO_NOTHING;
}

static enum weir_slot_action
slot_end(struct weir_slot *slot, enum weir_slot_cause cause)
{
	slot->phase = WEIR_SLOT_ENDING;
	slot->cause = cause;
	slot->deadline_ns = 0;
	return WEIR_SLOT_DO_END;
}

/*
 * Packets may wait for the next incarnation that the pool was promised. Where there will be none,
 * only that the worker leaves the pool ends their wait.
 */
static enum weir_slot_action
slot_abandon(struct weir_slot *slot)
{
	if (!slot->restarts)
		return WEIR_SLOT_DO_NOTHING;
	slot->restarts = false;
	slot->phase = WEIR_SLOT_FREE;
	return WEIR_SLOT_DO_REMOVE;
}

static enum weir_slot_action
slot_drain(struct weir_slot *slot, const struct weir_slot_limits *limits, uint64_t now_ns)
{
	slot->is_unwanted = true;
	if (slot->phase == WEIR_SLOT_STOPPED)
		return slot_abandon(slot);
	if (slot->phase != WEIR_SLOT_STARTING && slot->phase != WEIR_SLOT_READY)
		return WEIR_SLOT_DO_NOTHING;
	slot->phase = WEIR_SLOT_DRAINING;
	slot->deadline_ns = deadline_at(now_ns, limits->drain_ns);
	return WEIR_SLOT_DO_DRAIN;
}

static enum weir_slot_action
slot_kill(struct weir_slot *slot)
{
	slot->is_unwanted = true;
	if (slot->phase == WEIR_SLOT_STOPPED)
		return slot_abandon(slot);
	if (!weir_slot_is_alive(slot) || slot->phase == WEIR_SLOT_ENDING)
		return WEIR_SLOT_DO_NOTHING;
	return slot_end(slot, WEIR_SLOT_KILLED);
}

static enum weir_slot_action
slot_remove(struct weir_slot *slot, const struct weir_slot_limits *limits, uint64_t now_ns)
{
	const bool is_member = slot->phase == WEIR_SLOT_STOPPED;

	if (weir_slot_is_vacant(slot)) {
		slot->phase = WEIR_SLOT_FREE;
		slot->restarts = false;
		return is_member ? WEIR_SLOT_DO_REMOVE : WEIR_SLOT_DO_NOTHING;
	}
	slot->leaves_pool = true;
	return slot_drain(slot, limits, now_ns);
}

static enum weir_slot_action
slot_tick(struct weir_slot *slot, uint64_t now_ns)
{
	if (slot->deadline_ns == 0 || now_ns < slot->deadline_ns)
		return WEIR_SLOT_DO_NOTHING;
	if (slot->phase == WEIR_SLOT_STARTING)
		return slot_end(slot, WEIR_SLOT_INIT_TIMEOUT);
	return slot_end(slot, WEIR_SLOT_DRAIN_TIMEOUT);
}

/* What nobody asked for is repaired, while the budget lasts. */
static enum weir_slot_action
slot_go(struct weir_slot *slot, const struct weir_slot_event *event)
{
	if (!weir_slot_is_alive(slot))
		return WEIR_SLOT_DO_NOTHING;
	if (slot->phase != WEIR_SLOT_ENDING)
		slot->cause = slot->phase == WEIR_SLOT_DRAINING && event->is_clean
				      ? WEIR_SLOT_DRAINED
				      : WEIR_SLOT_CRASHED;
	slot->phase = WEIR_SLOT_RECLAIMING;
	slot->deadline_ns = 0;
	if (slot->cause == WEIR_SLOT_CRASHED || slot->cause == WEIR_SLOT_INIT_TIMEOUT ||
		slot->cause == WEIR_SLOT_HUNG)
		slot->n_crashes++;
	if (!slot->is_unwanted && !slot->is_guest)
		slot->restarts = weir_restart_budget_take(&slot->budget, event->now_ns);
	return WEIR_SLOT_DO_RECLAIM;
}

static enum weir_slot_action
slot_settle(struct weir_slot *slot)
{
	if (slot->phase != WEIR_SLOT_RECLAIMING)
		return WEIR_SLOT_DO_NOTHING;
	slot->phase = WEIR_SLOT_STOPPED;
	if (slot->leaves_pool) {
		slot->restarts = false;
		slot->phase = WEIR_SLOT_FREE;
		return WEIR_SLOT_DO_REMOVE;
	}
	if (slot->is_unwanted)
		return slot_abandon(slot);
	if (slot->restarts) {
		slot->n_restarts++;
		return WEIR_SLOT_DO_RESTART;
	}
	slot->phase = WEIR_SLOT_QUARANTINED;
	return WEIR_SLOT_DO_REMOVE;
}

enum weir_slot_action
weir_slot_advance(struct weir_slot *slot, const struct weir_slot_limits *limits,
	const struct weir_slot_event *event)
{
	if (event->kind == WEIR_SLOT_EVENT_BEGUN)
		return slot_begin(slot, limits, event);
	if (event->incarnation != slot->incarnation)
		return WEIR_SLOT_DO_NOTHING;
	switch (event->kind) {
	case WEIR_SLOT_EVENT_READY:
		if (slot->phase != WEIR_SLOT_STARTING)
			return WEIR_SLOT_DO_NOTHING;
		slot->phase = WEIR_SLOT_READY;
		slot->deadline_ns = 0;
		return WEIR_SLOT_DO_ADMIT;
	case WEIR_SLOT_EVENT_HUNG:
		if (slot->phase != WEIR_SLOT_READY && slot->phase != WEIR_SLOT_DRAINING)
			return WEIR_SLOT_DO_NOTHING;
		return slot_end(slot, WEIR_SLOT_HUNG);
	case WEIR_SLOT_EVENT_GONE:
		return slot_go(slot, event);
	case WEIR_SLOT_EVENT_RECLAIMED:
		return slot_settle(slot);
	case WEIR_SLOT_EVENT_DRAIN:
		return slot_drain(slot, limits, event->now_ns);
	case WEIR_SLOT_EVENT_KILL:
		return slot_kill(slot);
	case WEIR_SLOT_EVENT_REMOVE:
		return slot_remove(slot, limits, event->now_ns);
	default:
		return slot_tick(slot, event->now_ns);
	}
}
