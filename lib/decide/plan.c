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
#include "admission.h"

/* Asks the strategy for `n` packets; position[i] becomes the answer for the i-th of them. */
static void
strategy_ask(struct weir_dispatcher *dispatcher, const struct weir_meta *metadata, uint32_t n)
{
	struct plan *plan = &dispatcher->plan;
	const uint32_t n_picks = picks_needed(dispatcher, n);
	const uint32_t chunk = dispatcher->chunk;

	plan->n_asked = n;
	plan->n_picked = n;
	if (n == 0)
		return;
	dispatcher->snapshot->route[0].strategy->pick_burst(
		&dispatcher->pick, metadata, n_picks, chunk == 1 ? plan->position : plan->pick);
	if (unlikely(dispatcher->counts_classes) &&
		(dispatcher->snapshot->route[0].strategy->flags & WEIR_STRATEGY_READS_CLASS_DEPTH))
		class_picks_settle(dispatcher, dispatcher->snapshot->route[0].strategy, metadata,
			n_picks, chunk == 1 ? plan->position : plan->pick);
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

/*
 * While a burst is planned, a packet's target is its source: the place in plan->position where the
 * answer for it is or will be. Picks come first, by number, from here on packets that follow pins.
 */
#define SOURCE_FOLLOWERS WEIR_BURST_MAX

/* Marks the pin: its bucket takes part in pick number `n_picks`, the next one. */
static inline uint16_t
pick_open(struct pin *pin, uint32_t n_picks)
{
	pin->flags |= PIN_PICKED;
	pin->stamp = n_picks;
	return (uint16_t)n_picks;
}

/* Kept out of line: nearly all pins are plain. */
__attribute__((noinline)) uint16_t
packet_source(struct weir_dispatcher *dispatcher, const struct weir_meta *meta, bool from_hold,
	uint32_t n_picks, uint32_t follows)
{
	struct pin *pin = &dispatcher->pins[meta->bucket];

	if (pin->flags & PIN_PICKED)
		return (uint16_t)pin->stamp;
	if (pin_waits(pin, from_hold))
		return PLAN_HOLD;
	if (!pin_is_out(dispatcher, pin) && !pin_sticks(dispatcher, pin, meta))
		return pick_open(pin, n_picks);
	return (uint16_t)follows;
}

/* Gathers the metadata of the packets that ask, for strategies that look at it. */
static void
metadata_gather(struct weir_dispatcher *dispatcher, const struct dispatch_state *state)
{
	struct plan *plan = &dispatcher->plan;
	uint32_t n = 0;

	for (uint32_t i = state->next; i < state->burst->n; i++) {
		if (plan->asked[i])
			plan->metadata[n++] = state->burst->meta[i];
	}
}

/* Packets whose worker turns out not to be routable wait. */
static void
followers_hold(struct weir_dispatcher *dispatcher, const struct dispatch_state *state)
{
	struct plan *plan = &dispatcher->plan;

	for (uint32_t i = state->next; i < state->burst->n; i++) {
		const uint16_t source = plan->target[i];

		if (source >= SOURCE_FOLLOWERS && source != PLAN_HOLD &&
			plan->position[source] == WEIR_WORKER_NONE)
			plan->target[i] = PLAN_HOLD;
	}
}

/* Puts positions in the place of the workers that packets follow, and counts those in the mirror.
 */
static void
followers_place(struct weir_dispatcher *dispatcher, const struct dispatch_state *state, uint32_t n)
{
	const uint16_t *position_of = dispatcher->snapshot->position;
	uint16_t *place = &dispatcher->plan.position[SOURCE_FOLLOWERS];
	bool all_routable = true;

	for (uint32_t i = 0; i < n; i++) {
		const uint16_t position = position_of[place[i]];

		place[i] = position;
		if (likely(position != WEIR_WORKER_NONE))
			follower_count(dispatcher, position);
		else
			all_routable = false;
	}
	if (unlikely(!all_routable))
		followers_hold(dispatcher, state);
}

/*
 * First half of a plan that follows pins: every packet's target becomes its source, or PLAN_HOLD.
 * Counts the followers in the mirror. Returns the number of picks to ask for.
 *
 * Whether a bucket is out is as good as random on a loaded pool. So a plain pin, and nearly all
 * are, is dealt with without a branch on that: `follow` is all ones or nothing.
 */
static inline __attribute__((always_inline)) uint32_t
sources_find(struct weir_dispatcher *dispatcher, const struct dispatch_state *state,
	const bool may_be_plain, const bool may_be_out)
{
	const struct lane_producer *const lanes = dispatcher->lane;
	const struct weir_meta *const meta = state->burst->meta;
	struct pin *const pins = dispatcher->pins;
	struct plan *const plan = &dispatcher->plan;
	const uint32_t n = state->burst->n;
	uint32_t n_picks = 0;
	uint32_t follows = SOURCE_FOLLOWERS; /* the next follower's place */
	uint32_t n_again = 0;

	for (uint32_t i = state->next; i < n; i++) {
		struct pin *const pin = &pins[meta[i].bucket];
		const uint64_t word = pin->word;
		const uint32_t worker = pin_word_worker(word);

		plan->position[follows] = (uint16_t)worker;
		if (may_be_plain && likely(pin_word_is_plain(word))) {
			const bool out =
				may_be_out && pin_stamp_is_out(pin_word_stamp(word),
						      lanes[worker].harvested, lanes[worker].tail);
			const uint64_t follow = -(uint64_t)out;

			pin->word = word ^ (pin_word_picking(word, n_picks) & ~follow);
			plan->target[i] =
				(uint16_t)(n_picks ^ ((n_picks ^ follows) & (uint32_t)follow));
			plan->asked[i] = (uint8_t)(1 + follow);
			follows -= (uint32_t)follow;
			n_picks += plan->asked[i];
		} else {
			const uint32_t source = packet_source(
				dispatcher, &meta[i], state->from_hold, n_picks, follows);

			plan->target[i] = (uint16_t)source;
			plan->again[n_again] = (uint16_t)source;
			n_again += source < n_picks;
			plan->asked[i] = source == n_picks;
			follows += source == follows;
			n_picks += source == n_picks;
		}
	}
	plan->n_again = n_again;
	followers_place(dispatcher, state, follows - SOURCE_FOLLOWERS);
	return n_picks;
}

/* Second half: the answers are there. Those that take part in another packet's pick count now. */
static void
sources_resolve(struct weir_dispatcher *dispatcher, const struct dispatch_state *state)
{
	const weir_worker_id *const routable = dispatcher->snapshot->routable;
	struct plan *const plan = &dispatcher->plan;

	for (uint32_t i = 0; i < plan->n_again; i++)
		follower_count(dispatcher, plan->position[plan->again[i]]);
	for (uint32_t i = state->next; i < state->burst->n; i++) {
		if (likely(plan->target[i] != PLAN_HOLD))
			plan->target[i] = routable[plan->position[plan->target[i]]];
	}
}

/*
 * Order flow: a packet follows its bucket's pin; what has none asks. What a burst's pins can be is
 * settled once per burst, and the loop made for each case.
 */
static void
plan_follow(struct weir_dispatcher *dispatcher, const struct dispatch_state *state)
{
	/* Where buckets may stick, or what is planned is held itself, no pin is plain. */
	const bool may_be_plain = !state->from_hold && dispatcher->sticky_ns == 0;
	/* With all packets at home, and none of this burst lent yet, no bucket is out. */
	const bool may_be_out = state->next > 0 || !bitset_is_empty(&dispatcher->outstanding);
	uint32_t n_picks;

	if (unlikely(!may_be_plain))
		n_picks = sources_find(dispatcher, state, false, true);
	else if (may_be_out)
		n_picks = sources_find(dispatcher, state, true, true);
	else
		n_picks = sources_find(dispatcher, state, true, false);
	if (dispatcher->reads_metadata)
		metadata_gather(dispatcher, state);
	strategy_ask(dispatcher, dispatcher->plan.metadata, n_picks);
	sources_resolve(dispatcher, state);
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

uint16_t
packet_source_owned(struct weir_dispatcher *dispatcher, const struct weir_meta *meta,
	bool from_hold, weir_worker_id owner)
{
	return owned_plan(dispatcher, meta, from_hold, owner);
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

	for (uint32_t i = state->next; i < state->burst->n; i++)
		n += dispatcher->pins ? dispatcher->plan.asked[i]
				      : dispatcher->plan.target[i] != PLAN_HOLD;
	return n;
}

/* Tells the strategy which of its picks were carried out, if it keeps something for each. */
static void
picks_withdraw(struct weir_dispatcher *dispatcher, const struct dispatch_state *state)
{
	const struct weir_strategy *strategy = dispatcher->snapshot->route[0].strategy;
	struct plan *plan = &dispatcher->plan;
	const uint32_t n_left = state->burst->n - state->next;
	uint32_t n_kept;

	plan->n_asked -= asked_count(dispatcher, state);
	if (!strategy->withdraw_picks)
		return;
	/* Who owns flows is asked for all packets, and some do not go by the answer. */
	n_kept = dispatcher->owns_flows ? plan->n_picked - n_left : plan->n_asked;
	if (n_kept < plan->n_picked)
		strategy->withdraw_picks(&dispatcher->pick, picks_needed(dispatcher, n_kept));
}

void
pins_clean(struct weir_dispatcher *dispatcher, const struct weir_burst *burst, uint32_t first,
	uint32_t end)
{
	/* A pick whose packet was not lent leaves no pin. */
	for (uint32_t i = first; i < end; i++)
		pick_forget(dispatcher, &dispatcher->pins[burst->meta[i].bucket]);
}

void
plan_withdraw(struct weir_dispatcher *dispatcher, const struct dispatch_state *state)
{
	struct plan *plan = &dispatcher->plan;

	picks_withdraw(dispatcher, state);
	for (uint32_t i = state->next; i < state->burst->n; i++) {
		if (plan->target[i] != PLAN_HOLD)
			mirror_restore(dispatcher, plan->target[i]);
	}
	/* Also of those that were dropped. */
	if (dispatcher->pins)
		pins_clean(dispatcher, state->burst, 0, state->burst->n);
}
