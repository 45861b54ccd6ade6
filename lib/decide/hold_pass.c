/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The dispatcher's use of its hold: packets go in that must wait, and come out in their order. A
 * packet that may not go yet keeps its place in line, and those of its bucket behind it wait with
 * it, but no other bucket does.
 */
#include <assert.h>

#include "dispatch.h"

static void
held_count(struct weir_dispatcher *dispatcher)
{
	counter_set(&dispatcher->tally.held, hold_count(&dispatcher->hold));
}

/* One packet of a burst as a burst of its own. */
static struct weir_burst
burst_of_one(const struct weir_burst *burst, uint32_t i)
{
	return (struct weir_burst) {
		.packets = &burst->packets[i],
		.data = burst->data ? &burst->data[i] : NULL,
		.meta = &burst->meta[i],
		.n = 1,
	};
}

bool
hold_add(struct weir_dispatcher *dispatcher, const struct weir_burst *burst, uint32_t i)
{
	const struct weir_burst one = burst_of_one(burst, i);

	if (hold_push(&dispatcher->hold, &one) == 0)
		return false;
	if (dispatcher->pins)
		dispatcher->pins[burst->meta[i].bucket].held++;
	held_count(dispatcher);
	return true;
}

/* An entry keeps its place: it goes round the ring once per pass, as all that stay do. */
static void
entry_stay(struct weir_dispatcher *dispatcher, const struct weir_burst *burst, uint32_t i)
{
	const struct weir_burst one = burst_of_one(burst, i);

	if (dispatcher->pins)
		dispatcher->pins[burst->meta[i].bucket].flags |= PIN_STAYED;
	hold_push(&dispatcher->hold, &one);
}

/* Takes the hold's oldest packets out of it once they were routed; those that stay go back. */
static void
entries_settle(struct weir_dispatcher *dispatcher, const struct dispatch_state *state)
{
	const struct weir_burst *burst = state->burst;

	hold_pop(&dispatcher->hold, burst->n);
	for (uint32_t i = 0; i < burst->n; i++) {
		if (i >= state->next || dispatcher->plan.target[i] == PLAN_HOLD)
			entry_stay(dispatcher, burst, i);
		else if (dispatcher->pins)
			dispatcher->pins[burst->meta[i].bucket].held--;
	}
}

/* The marks of a pass are of that pass only. */
static void
stayed_clear(struct weir_dispatcher *dispatcher)
{
	const struct hold *hold = &dispatcher->hold;

	for (uint32_t seq = hold->head; dispatcher->pins && seq != hold->tail; seq++)
		dispatcher->pins[hold->metadata[seq & (hold->n_slots - 1)].bucket].flags &=
			(uint8_t)~PIN_STAYED;
}

void
hold_pass(struct weir_dispatcher *dispatcher)
{
	uint32_t left = hold_count(&dispatcher->hold);
	bool refused = false;

	dispatcher->hold_due = false;
	while (left > 0) {
		const uint32_t max = left < dispatcher->burst ? left : dispatcher->burst;
		const struct weir_burst burst = hold_front(&dispatcher->hold, max);
		struct dispatch_state state = {
			.burst = &burst, .data = burst.data, .from_hold = true
		};

		/* After a refusal the rest goes round untouched, so that the order stays. */
		if (!refused)
			refused = burst_route(dispatcher, &state) < burst.n;
		entries_settle(dispatcher, &state);
		left -= burst.n;
	}
	stayed_clear(dispatcher);
	held_count(dispatcher);
}

void
weir_hold(struct weir_dispatcher *dispatcher, const struct weir_burst *burst)
{
	assert(burst->n <= dispatcher->burst);
	counter_add(&dispatcher->tally.received, burst->n);
	/* Whatever they were refused for may have changed before they came here. */
	dispatcher->hold_due = true;
	for (uint32_t i = 0; i < burst->n; i++) {
		if (!hold_add(dispatcher, burst, i))
			drop_add(dispatcher, burst->packets[i], WEIR_WORKER_NONE,
				WEIR_REASON_HELD_OVERFLOW);
	}
	drops_finish(dispatcher);
}

bool
weir_accepts(const struct weir_dispatcher *dispatcher)
{
	return !dispatcher->refuses || hold_count(&dispatcher->hold) == 0;
}

uint32_t
weir_held(const struct weir_dispatcher *dispatcher)
{
	return hold_count(&dispatcher->hold);
}

uint32_t
weir_hold_drop(struct weir_dispatcher *dispatcher, enum weir_reason reason)
{
	uint32_t dropped = 0;

	while (hold_count(&dispatcher->hold) > 0) {
		const struct weir_burst burst = hold_front(&dispatcher->hold, WEIR_BURST_MAX);

		for (uint32_t i = 0; i < burst.n; i++) {
			drop_add(dispatcher, burst.packets[i], WEIR_WORKER_NONE, (uint8_t)reason);
			if (dispatcher->pins)
				dispatcher->pins[burst.meta[i].bucket].held--;
		}
		drops_finish(dispatcher);
		hold_pop(&dispatcher->hold, burst.n);
		dropped += burst.n;
	}
	held_count(dispatcher);
	return dropped;
}
