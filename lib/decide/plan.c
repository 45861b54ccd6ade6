/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plan: where each packet of a burst goes. One call of the strategy serves the whole burst.
 *
 * With order `none` every packet asks the strategy. With order `flow` a packet follows its
 * bucket's pin while that is out, and waits where the pin's worker may get nothing new; only
 * buckets with nothing out ask. Two packets of one bucket in a burst ask once.
 *
 * Pinned packets of a burst count in the mirror before any of its picks: they are lent whatever
 * the picks will be.
 */
#include "dispatch.h"

/* While it is planned, a target of this and above stands for a pick: the number is added. */
#define TARGET_PICK 0x8000u

static uint32_t
picks_needed(const struct weir_dispatcher *dispatcher, uint32_t n)
{
	uint32_t n_picks = 0;

	if (dispatcher->chunk == 1)
		return n;
	for (uint32_t covered = 0; covered < n; covered += dispatcher->chunk)
		n_picks++;
	return n_picks;
}

/* Asks the strategy for `n` packets; position[i] becomes the answer for the i-th of them. */
static void
strategy_ask(struct weir_dispatcher *dispatcher, const struct weir_meta *metadata, uint32_t n)
{
	struct plan *plan = &dispatcher->plan;
	const uint32_t n_picks = picks_needed(dispatcher, n);
	const uint32_t chunk = dispatcher->chunk;

	plan->n_asked = n;
	if (n == 0)
		return;
	dispatcher->snapshot->route[0].strategy->pick_burst(
		&dispatcher->pick, metadata, n_picks, chunk == 1 ? plan->position : plan->pick);
	if (chunk == 1)
		return;
	for (uint32_t i = 0, pick = 0, left = chunk; i < n; i++) {
		plan->position[i] = plan->pick[pick];
		if (--left == 0) {
			pick++;
			left = chunk;
		}
	}
}

/* Order none: each packet goes where the strategy says. */
static void
plan_spray(struct weir_dispatcher *dispatcher, const struct dispatch_state *state)
{
	const weir_worker_id *routable = dispatcher->snapshot->routable;
	struct plan *plan = &dispatcher->plan;
	const uint32_t n = state->burst->n - state->next;

	strategy_ask(dispatcher, &state->burst->meta[state->next], n);
	for (uint32_t i = 0; i < n; i++)
		plan->target[state->next + i] = routable[plan->position[i]];
}

/* Whether a bucket with nothing out stays where it is because it was not silent long enough. */
static bool
pin_sticks(const struct weir_dispatcher *dispatcher, struct pin *pin, const struct weir_meta *meta)
{
	if (dispatcher->sticky_ns == 0)
		return false;
	if (pin->flags & PIN_STUCK)
		return true;
	if (!pin_lingers(dispatcher, pin, meta))
		return false;
	pin->flags |= PIN_STUCK;
	return true;
}

/* Counts a packet in the mirror that follows its pin, as weir_pick_count does a pick. */
static inline void
follower_count(struct weir_dispatcher *dispatcher, uint32_t position)
{
	const uint32_t one = dispatcher->room[position] > 0;

	dispatcher->depth[position] += one;
	dispatcher->room[position] -= one;
}

/* The target of one packet, or the number of the pick that it takes part in. */
static inline uint16_t
packet_plan(struct weir_dispatcher *dispatcher, const struct weir_meta *meta, bool from_hold)
{
	struct pin *pin = &dispatcher->pins[meta->bucket];
	struct plan *plan = &dispatcher->plan;
	const bool out = pin_is_out(dispatcher, pin);

	if (pin->flags & PIN_PICKED)
		return (uint16_t)(TARGET_PICK + pin->stamp);
	if (unlikely(pin_waits(pin, from_hold)))
		return PLAN_HOLD;
	if (out || unlikely(pin_sticks(dispatcher, pin, meta))) {
		const uint16_t position = dispatcher->snapshot->position[pin->worker];

		if (unlikely(position == WEIR_WORKER_NONE))
			return PLAN_HOLD;
		follower_count(dispatcher, position);
		return pin->worker;
	}
	pin->flags |= PIN_PICKED;
	pin->stamp = plan->n_asked;
	if (dispatcher->reads_metadata)
		plan->metadata[plan->n_asked] = *meta;
	return (uint16_t)(TARGET_PICK + plan->n_asked++);
}

/* Puts workers in the place of pick numbers; the first packet of each pick is the one that asked.
 */
static void
picks_resolve(struct weir_dispatcher *dispatcher, const struct dispatch_state *state)
{
	struct plan *plan = &dispatcher->plan;
	uint32_t n_seen = 0;

	for (uint32_t i = state->next; i < state->burst->n; i++) {
		const uint32_t pick = plan->target[i] - TARGET_PICK;

		plan->asked[i] = false;
		if (plan->target[i] < TARGET_PICK)
			continue;
		plan->asked[i] = pick == n_seen;
		if (pick == n_seen)
			n_seen++;
		else
			follower_count(dispatcher, plan->position[pick]);
		plan->target[i] = dispatcher->snapshot->routable[plan->position[pick]];
	}
}

/* Order flow: a packet follows its bucket's pin; what has none asks. */
static void
plan_follow(struct weir_dispatcher *dispatcher, const struct dispatch_state *state)
{
	struct plan *plan = &dispatcher->plan;

	plan->n_asked = 0;
	for (uint32_t i = state->next; i < state->burst->n; i++)
		plan->target[i] = packet_plan(dispatcher, &state->burst->meta[i], state->from_hold);
	strategy_ask(dispatcher, plan->metadata, plan->n_asked);
	picks_resolve(dispatcher, state);
}

/* Where a packet goes whose owner is `owner`: not to it while its bucket has ties elsewhere. */
static inline uint16_t
owned_plan(struct weir_dispatcher *dispatcher, const struct weir_meta *meta, bool from_hold,
	weir_worker_id owner)
{
	struct pin *pin = &dispatcher->pins[meta->bucket];

	if (unlikely(pin_waits(pin, from_hold)))
		return PLAN_HOLD;
	if (likely(pin->worker == owner))
		return owner;
	if (pin_sticks(dispatcher, pin, meta))
		return pin->worker;
	return pin_is_out(dispatcher, pin) ? PLAN_HOLD : owner;
}

/*
 * Order flow under a strategy that owns flows: every packet goes to its owner, but not while
 * earlier ones of its bucket are out at another worker, or stick there.
 */
static void
plan_owned(struct weir_dispatcher *dispatcher, const struct dispatch_state *state)
{
	struct plan *plan = &dispatcher->plan;

	plan_spray(dispatcher, state);
	for (uint32_t i = state->next; i < state->burst->n; i++) {
		const weir_worker_id owner = plan->target[i];

		plan->target[i] =
			owned_plan(dispatcher, &state->burst->meta[i], state->from_hold, owner);
		plan->asked[i] = likely(plan->target[i] == owner);
		plan->n_asked -= !plan->asked[i];
	}
}

void
plan_make(struct weir_dispatcher *dispatcher, const struct dispatch_state *state)
{
	if (!dispatcher->pins)
		plan_spray(dispatcher, state);
	else if (dispatcher->owns_flows)
		plan_owned(dispatcher, state);
	else
		plan_follow(dispatcher, state);
}

/* Packets not yet taken over that have asked the strategy. */
static uint32_t
asked_count(const struct weir_dispatcher *dispatcher, const struct dispatch_state *state)
{
	uint32_t n = 0;

	if (!dispatcher->pins)
		return state->burst->n - state->next;
	for (uint32_t i = state->next; i < state->burst->n; i++)
		n += dispatcher->plan.asked[i];
	return n;
}

void
plan_withdraw(struct weir_dispatcher *dispatcher, const struct dispatch_state *state)
{
	struct plan *plan = &dispatcher->plan;

	plan->n_asked -= asked_count(dispatcher, state);
	for (uint32_t i = state->next; i < state->burst->n; i++) {
		if (plan->target[i] != PLAN_HOLD)
			mirror_restore(dispatcher, plan->target[i]);
	}
	if (!dispatcher->pins)
		return;
	/* A pick whose packet was not lent leaves no pin: also of those that were dropped. */
	for (uint32_t i = 0; i < state->burst->n; i++) {
		struct pin *pin = &dispatcher->pins[state->burst->meta[i].bucket];

		if (pin->flags & PIN_PICKED)
			pin->stamp = dispatcher->lane[pin->worker].harvested;
		pin->flags &= (uint8_t) ~(PIN_PICKED | PIN_STUCK);
	}
}
