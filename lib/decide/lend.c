/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Carrying the plan out: each packet into its worker's lane, into the hold, or into overflow, in
 * the order of arrival; then all of it published together.
 */
#include "dispatch.h"

void
drop_add(struct weir_dispatcher *dispatcher, void *packet, weir_worker_id worker, uint8_t reason)
{
	struct drop_list *drops = &dispatcher->drops;

	drops->packets[drops->n] = packet;
	drops->verdicts[drops->n++] = weir_verdict_drop(reason);
	counter_add(&dispatcher->tally.dropped[reason], 1);
	if (worker != WEIR_WORKER_NONE)
		counter_add(&dispatcher->worker_tally[worker].dropped[reason], 1);
}

void
drops_finish(struct weir_dispatcher *dispatcher)
{
	struct drop_list *drops = &dispatcher->drops;

	if (likely(drops->n == 0))
		return;
	dispatcher->finish(dispatcher->finish_context, drops->packets, drops->verdicts, drops->n,
		WEIR_WORKER_NONE);
	drops->n = 0;
}

/* A lane that looks full: its progress is read, once per burst, before that is believed. */
static bool
lane_make_room(struct weir_dispatcher *dispatcher, weir_worker_id id)
{
	if (bitset_has(&dispatcher->reread, id))
		return false;
	bitset_add(&dispatcher->reread, id);
	counter_add(&dispatcher->tally.line_reads, progress_lines(dispatcher));
	harvest_worker(dispatcher, id);
	return lane_room(&dispatcher->lane[id]) > 0;
}

/* The packet finds no room, at its worker or in the hold. Returns how the run goes on. */
static enum run_end
packet_overflow(struct weir_dispatcher *dispatcher, struct dispatch_state *state, weir_worker_id id,
	uint8_t reason)
{
	if (dispatcher->refuses)
		return RUN_REFUSED;
	drop_add(dispatcher, state->burst->packets[state->next], id, reason);
	state->next++;
	return dispatcher->chunk > 1 ? RUN_BROKEN : RUN_DONE;
}

/* The packet must wait for earlier ones of its bucket. Held ones just keep their place. */
static enum run_end
packet_hold(struct weir_dispatcher *dispatcher, struct dispatch_state *state)
{
	if (!state->from_hold && !hold_add(dispatcher, state->burst, state->next))
		return packet_overflow(
			dispatcher, state, WEIR_WORKER_NONE, WEIR_REASON_HELD_OVERFLOW);
	if (state->burst->workers)
		state->burst->workers[state->next] = WEIR_WORKER_NONE;
	state->n_held++;
	state->next++;
	return RUN_DONE;
}

/* The bucket follows this packet from now on, until it is harvested. */
static inline void
pin_set(struct weir_dispatcher *dispatcher, const struct weir_meta *meta, weir_worker_id id)
{
	struct pin *pin = &dispatcher->pins[meta->bucket];

	dispatcher->n_moves += (pin->flags & PIN_KNOWN) && pin->worker != id;
	pin->stamp = dispatcher->lane[id].tail;
	pin->worker = (uint8_t)id;
	pin->flags = (uint8_t)((pin->flags & ~(PIN_PICKED | PIN_STUCK)) | PIN_KNOWN);
	if (dispatcher->last_ns)
		dispatcher->last_ns[meta->bucket] = meta->time_ns;
}

/* Where the packets end, from state->next on, that go where that one goes. */
static inline uint32_t
run_find_end(const struct weir_dispatcher *dispatcher, const struct dispatch_state *state)
{
	const uint16_t *target = dispatcher->plan.target;
	const uint32_t n = state->burst->n;
	uint32_t end = state->next + 1;

	while (end < n && target[end] == target[state->next])
		end++;
	return end;
}

/* Lends the packets up to `end` to one worker, as many as its lane has room for. */
static inline void
run_lend(struct weir_dispatcher *dispatcher, struct dispatch_state *state, uint32_t end,
	weir_worker_id id)
{
	const struct weir_burst *burst = state->burst;
	void *const *data = burst->data ? burst->data : burst->packets;
	struct lane_producer *lane = &dispatcher->lane[id];
	struct lane_post *post = &dispatcher->posts[dispatcher->n_posts];
	const uint32_t room = lane_room(lane);
	const uint32_t first = state->next;

	end = end - first < room ? end : first + room;
	for (uint32_t i = first; i < end; i++) {
		*post++ = lane_stage(
			lane, burst->packets[i], (uint64_t)(uintptr_t)data[i], &burst->meta[i]);
		if (dispatcher->pins)
			pin_set(dispatcher, &burst->meta[i], id);
	}
	if (burst->workers) {
		for (uint32_t i = first; i < end; i++)
			burst->workers[i] = id;
	}
	dispatcher->n_posts += end - first;
	bitset_add(&state->touched, id);
	state->next = end;
}

/* The packet at hand found its worker's lane full. Returns how the run goes on. */
static enum run_end
packet_retry(struct weir_dispatcher *dispatcher, struct dispatch_state *state, weir_worker_id id)
{
	if (lane_make_room(dispatcher, id))
		return RUN_DONE;
	if (state->burst->workers)
		state->burst->workers[state->next] = id;
	return packet_overflow(dispatcher, state, id, dispatcher->drop_reason);
}

enum run_end
plan_carry_out(struct weir_dispatcher *dispatcher, struct dispatch_state *state)
{
	enum run_end run = RUN_DONE;

	while (state->next < state->burst->n && run == RUN_DONE) {
		const uint16_t target = dispatcher->plan.target[state->next];
		const uint32_t end = run_find_end(dispatcher, state);

		if (unlikely(target == PLAN_HOLD)) {
			run = packet_hold(dispatcher, state);
			continue;
		}
		run_lend(dispatcher, state, end, target);
		if (unlikely(state->next < end))
			run = packet_retry(dispatcher, state, target);
	}
	return run;
}

/*
 * Edge E7, release side: other dispatchers learn this one's part of the backlog, once per touched
 * lane and burst. Without it each would take a worker that only another one loads for idle.
 */
static void
tails_publish(struct weir_dispatcher *dispatcher, const struct bitset *touched)
{
	for (uint32_t w = 0; w < BITSET_WORDS; w++) {
		uint64_t bits = touched->word[w];

		while (bits) {
			const uint32_t id = bitset_pop(&bits, w);

			atomic_store_explicit(&dispatcher->tails[id], dispatcher->lane[id].tail,
				memory_order_release);
		}
	}
}

void
lend_publish(struct weir_dispatcher *dispatcher, const struct bitset *touched)
{
	for (uint32_t i = 0; i < dispatcher->n_posts; i++)
		lane_publish_metadata(&dispatcher->posts[i]);
	/* Edge E3: from here on the workers see what the burst has lent. */
	for (uint32_t i = 0; i < dispatcher->n_posts; i++)
		lane_publish(&dispatcher->posts[i]);
	counter_add(&dispatcher->tally.lent, dispatcher->n_posts);
	dispatcher->n_posts = 0;
	bitset_add_all(&dispatcher->outstanding, touched);
	if (dispatcher->tails)
		tails_publish(dispatcher, touched);
}
