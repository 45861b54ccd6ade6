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
	if (dispatcher->pins) {
		struct pin *pin = &dispatcher->pins[burst->meta[i].bucket];

		pin->held++;
		bitset_add(&dispatcher->hold_wait.pinned, pin->worker);
	}
	held_count(dispatcher);
	return true;
}

/* An entry stays: it keeps its place in line, and so do those of its bucket behind it. */
static void
entry_stay(struct weir_dispatcher *dispatcher, uint32_t bucket)
{
	struct pin *pin;

	if (!dispatcher->pins)
		return;
	pin = &dispatcher->pins[bucket];
	pin->flags |= PIN_STAYED;
	bitset_add(&dispatcher->hold_wait.pinned, pin->worker);
}

/*
 * Once the entries from number `first` on were routed: those that stay close ranks behind the
 * `n_kept` before them. Returns how many have stayed by now. The line does not move otherwise: runs
 * of entries end where the ring does, and what a pass can do must not depend on earlier passes.
 */
static uint32_t
entries_settle(struct weir_dispatcher *dispatcher, const struct dispatch_state *state,
	uint32_t first, uint32_t n_kept)
{
	const struct weir_burst *burst = state->burst;

	for (uint32_t i = 0; i < burst->n; i++) {
		const uint32_t bucket = burst->meta[i].bucket;

		if (i >= state->next || dispatcher->plan.target[i] == PLAN_HOLD) {
			entry_stay(dispatcher, bucket);
			hold_move(&dispatcher->hold, first + i, n_kept++);
		} else if (dispatcher->pins) {
			dispatcher->pins[bucket].held--;
		}
	}
	return n_kept;
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

/*
 * The causes for which a packet is held, and what ends each. No wake-up is missed: a pass while
 * none of this has happened would plan as the last one did, and leave everything where it is.
 *
 *   its bucket is out at a worker that is not routable,   that worker's packets come home, are
 *   or not the owner: only then does a plan say "wait"    evicted or reclaimed; another pool
 *   a packet of its bucket is before it in the hold       whatever ends that one's wait: the pin,
 *                                                         and so the worker waited for, is one
 *   it found no room (policy reject), or is behind one    a change of depth or room, of whichever
 *   that did not                                          worker: any may be picked next. Also the
 *                                                         pass's own hand-overs: they shift bursts
 *                                                         and chunks for what is left
 *   it came from outside and was never planned            the next look
 *
 * A bucket with packets in the hold gets no lends but from there: its pin names the same worker
 * until it goes. A further cause gets its row here, its mark in struct hold_wait where an entry
 * goes in or stays, and its news.
 */
bool
hold_is_due(const struct weir_dispatcher *dispatcher)
{
	const struct hold_wait *wait = &dispatcher->hold_wait;
	const struct hold_news *news = &dispatcher->hold_news;

	return news->all || (wait->refused && news->mirror) ||
	       bitset_meets(&wait->pinned, &news->finished);
}

void
hold_pass(struct weir_dispatcher *dispatcher)
{
	struct hold *hold = &dispatcher->hold;
	const uint32_t n = hold_count(hold);
	uint32_t n_kept = 0;
	bool refused = false;

	dispatcher->n_hold_passes++;
	dispatcher->hold_wait = (struct hold_wait) { 0 };
	for (uint32_t first = 0; first < n;) {
		const struct weir_burst burst = hold_run(hold, first, dispatcher->burst);
		struct dispatch_state state = {
			.burst = &burst, .data = burst.data, .from_hold = true
		};

		/* After a refusal the rest stays untouched, in its order. */
		if (!refused)
			refused = burst_route(dispatcher, &state) < burst.n;
		n_kept = entries_settle(dispatcher, &state, first, n_kept);
		first += burst.n;
	}
	hold_keep(hold, n_kept);
	stayed_clear(dispatcher);
	dispatcher->hold_wait.refused = refused;
	dispatcher->hold_news.mirror |= n_kept != n;
	held_count(dispatcher);
}

void
weir_hold(struct weir_dispatcher *dispatcher, const struct weir_burst *burst)
{
	assert(burst->n <= dispatcher->burst);
	counter_add(&dispatcher->tally.received, burst->n);
	/* Whatever they were refused for may have changed before they came here. */
	dispatcher->hold_news.all = true;
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
		const struct weir_burst burst = hold_run(&dispatcher->hold, 0, WEIR_BURST_MAX);

		for (uint32_t i = 0; i < burst.n; i++) {
			drop_add(dispatcher, burst.packets[i], WEIR_WORKER_NONE, (uint8_t)reason);
			if (dispatcher->pins)
				dispatcher->pins[burst.meta[i].bucket].held--;
		}
		drops_finish(dispatcher);
		hold_pop(&dispatcher->hold, burst.n);
		dropped += burst.n;
	}
	dispatcher->hold_wait = (struct hold_wait) { 0 };
	held_count(dispatcher);
	return dropped;
}
