/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The budget: a worker has at most so many packets outstanding, and what finds every worker at its
 * budget waits in one line, so that the next worker that finishes takes the oldest. A queue length
 * is not a work length: behind a packet that takes a hundred times the mean, few may be stuck.
 *
 * The plan is made first, by strategies that know of no budget but for the room that the mirror
 * shows them; here it is changed where it goes beyond.
 */
#include "dispatch.h"

static void
left_take(struct weir_dispatcher *dispatcher, uint16_t position)
{
	if (dispatcher->left[position] > 0)
		dispatcher->left[position]--;
}

/* Whether a packet's target is the strategy's pick for it: its bucket has nothing out. */
static bool
packet_is_pick(
	const struct weir_dispatcher *dispatcher, const struct dispatch_state *state, uint32_t i)
{
	const struct pin *pin;

	if (!dispatcher->pins)
		return true;
	pin = &dispatcher->pins[state->burst->meta[i].bucket];
	return (pin->flags & PIN_PICKED) ||
	       (dispatcher->plan.asked[i] && !pin_is_out(dispatcher, pin));
}

/* Every worker gets the packet, or a copy. */
static void
copies_charge(struct weir_dispatcher *dispatcher)
{
	for (uint32_t position = 0; position < dispatcher->snapshot->n_routable; position++)
		left_take(dispatcher, (uint16_t)position);
}

/*
 * What follows a pin, and what goes to all workers, is lent whatever there is left: it counts
 * before any pick.
 */
static void
followers_charge(struct weir_dispatcher *dispatcher, const struct dispatch_state *state)
{
	for (uint32_t i = state->next; i < state->burst->n; i++) {
		const uint16_t target = dispatcher->plan.target[i];

		if (target == PLAN_ALL || target == PLAN_SPREAD)
			copies_charge(dispatcher);
		else if (target < WEIR_WORKERS_MAX && !packet_is_pick(dispatcher, state, i))
			left_take(dispatcher, dispatcher->snapshot->position[target]);
	}
}

/* The first position from `from` on, in rotation, that has budget left; WEIR_WORKER_NONE if none.
 */
static uint16_t
position_with_budget(const struct weir_dispatcher *dispatcher, uint16_t from)
{
	const uint32_t n = dispatcher->snapshot->n_routable;

	for (uint32_t position = from; position < n; position++) {
		if (dispatcher->left[position] > 0)
			return (uint16_t)position;
	}
	for (uint32_t position = 0; position < from; position++) {
		if (dispatcher->left[position] > 0)
			return (uint16_t)position;
	}
	return WEIR_WORKER_NONE;
}

/* Where a pick of any worker goes. Nothing gains budget while a plan is made. */
static uint16_t
pick_of_any(struct weir_dispatcher *dispatcher, uint16_t position)
{
	if (dispatcher->lines.any)
		return WEIR_WORKER_NONE;
	if (dispatcher->left[position] == 0)
		position = position_with_budget(dispatcher, position);
	dispatcher->lines.any = position == WEIR_WORKER_NONE;
	return position;
}

/* Whether a packet's owner can take it; else it waits for that one. */
static uint16_t
pick_of_owner(struct weir_dispatcher *dispatcher, weir_worker_id owner, uint16_t position)
{
	if (dispatcher->left[position] > 0 && !bitset_has(&dispatcher->lines.owners, owner))
		return position;
	bitset_add(&dispatcher->lines.owners, owner);
	return WEIR_WORKER_NONE;
}

/* Where a pick goes: to a worker, or into the hold. */
static uint16_t
pick_settle(struct weir_dispatcher *dispatcher, uint16_t target, bool is_owned)
{
	const uint16_t picked = dispatcher->snapshot->position[target];
	const uint16_t position = is_owned ? pick_of_owner(dispatcher, target, picked)
					   : pick_of_any(dispatcher, picked);

	/* The strategy may have counted its pick in the mirror. */
	if (position != picked)
		bitset_add(&dispatcher->unsettled, target);
	if (position == WEIR_WORKER_NONE)
		return PLAN_HOLD;
	left_take(dispatcher, position);
	return dispatcher->snapshot->routable[position];
}

/* The first packet of a pick: what becomes of it is noted in its pin, for those that follow. */
static void
pick_apply(struct weir_dispatcher *dispatcher, const struct dispatch_state *state, uint32_t i)
{
	struct plan *plan = &dispatcher->plan;
	struct pin *pin = dispatcher->pins ? &dispatcher->pins[state->burst->meta[i].bucket] : NULL;

	plan->target[i] = pick_settle(
		dispatcher, plan->target[i], packet_is_owned(dispatcher, &state->burst->meta[i]));
	if (pin && (pin->flags & PIN_PICKED))
		pin->stamp = plan->target[i];
	if (plan->target[i] != PLAN_HOLD)
		return;
	plan->asked[i] = 0;
	plan->n_asked--;
}

/* A further packet of a pick goes where the first went. */
static void
follower_apply(struct weir_dispatcher *dispatcher, const struct pin *pin, uint32_t i)
{
	uint16_t *target = &dispatcher->plan.target[i];

	*target = (uint16_t)pin->stamp;
	if (*target != PLAN_HOLD)
		left_take(dispatcher, dispatcher->snapshot->position[*target]);
}

/* Picks that wait have not been made, as far as their pins know. */
static void
waiting_forget(struct weir_dispatcher *dispatcher, const struct dispatch_state *state)
{
	for (uint32_t i = state->next; dispatcher->pins && i < state->burst->n; i++) {
		if (dispatcher->plan.target[i] == PLAN_HOLD)
			pick_forget(dispatcher, &dispatcher->pins[state->burst->meta[i].bucket]);
	}
}

void
budget_apply(struct weir_dispatcher *dispatcher, const struct dispatch_state *state)
{
	/*
	 * Whoever comes new stands behind those that wait. So do those behind one that stays in
	 * this pass: what was planned before it may yet be dropped and leave budget.
	 */
	if (!state->from_hold && weir_held(dispatcher) == 0)
		dispatcher->lines = (struct budget_lines) { 0 };
	followers_charge(dispatcher, state);
	for (uint32_t i = state->next; i < state->burst->n; i++) {
		const struct pin *pin =
			dispatcher->pins ? &dispatcher->pins[state->burst->meta[i].bucket] : NULL;

		if (dispatcher->plan.target[i] >= WEIR_WORKERS_MAX ||
			!packet_is_pick(dispatcher, state, i))
			continue;
		if (pin && (pin->flags & PIN_PICKED) && !dispatcher->plan.asked[i])
			follower_apply(dispatcher, pin, i);
		else
			pick_apply(dispatcher, state, i);
	}
	waiting_forget(dispatcher, state);
}
