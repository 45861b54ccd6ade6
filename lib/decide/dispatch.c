/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The burst pipeline: snapshot → harvest → hold → pick → lend, or overflow.
 *
 * A strategy picks for the whole rest of a burst in one call. Where the policy breaks into that (a
 * refusal ends the dispatch, or the chunk that it falls into), what was picked but not lent is
 * taken back from the mirror and, if the dispatch goes on, picked afresh.
 */
#include <assert.h>

#include "dispatcher.h"

/* How one run over the picks ended. */
enum run_end {
	RUN_DONE,    /* every packet lent or dropped */
	RUN_BROKEN,  /* a drop ended its chunk: pick again for what is left */
	RUN_REFUSED, /* the packet at hand stays with the caller, and all behind it */
};

/* A burst on its way through the pipeline. */
struct dispatch_state {
	const struct weir_burst *burst;
	uint32_t next; /* first packet not yet taken over */
	struct bitset touched;
};

static void
drop_add(struct weir_dispatcher *dispatcher, void *packet, weir_worker_id worker, uint8_t reason)
{
	struct drop_list *drops = &dispatcher->drops;

	drops->packets[drops->n] = packet;
	drops->verdicts[drops->n++] = weir_verdict_drop(reason);
	counter_add(&dispatcher->tally.dropped[reason], 1);
	if (worker != WEIR_WORKER_NONE)
		counter_add(&dispatcher->worker_tally[worker].dropped[reason], 1);
}

static void
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

/* The packet's lane is full. Returns how the run goes on. */
static enum run_end
packet_overflow(struct weir_dispatcher *dispatcher, struct dispatch_state *state, weir_worker_id id)
{
	if (dispatcher->refuses)
		return RUN_REFUSED;
	drop_add(dispatcher, state->burst->packets[state->next], id, dispatcher->drop_reason);
	state->next++;
	return dispatcher->chunk > 1 ? RUN_BROKEN : RUN_DONE;
}

static inline void
packet_stage(struct weir_dispatcher *dispatcher, struct lane_producer *lane,
	const struct weir_burst *burst, uint32_t i)
{
	void *const *data = burst->data ? burst->data : burst->packets;

	dispatcher->posts[dispatcher->n_posts++] =
		lane_stage(lane, burst->packets[i], (uint64_t)(uintptr_t)data[i], &burst->meta[i]);
}

/* Edge E3: from here on the workers see what the burst has lent. */
static void
posts_publish(struct weir_dispatcher *dispatcher)
{
	for (uint32_t i = 0; i < dispatcher->n_posts; i++)
		lane_publish_metadata(&dispatcher->posts[i]);
	for (uint32_t i = 0; i < dispatcher->n_posts; i++)
		lane_publish(&dispatcher->posts[i]);
	dispatcher->n_posts = 0;
}

/* Lends the packets up to `end` to one worker. */
static inline enum run_end
chunk_lend(struct weir_dispatcher *dispatcher, struct dispatch_state *state, uint32_t end,
	weir_worker_id id)
{
	struct lane_producer *lane = &dispatcher->lane[id];

	bitset_add(&state->touched, id);
	while (state->next < end) {
		if (state->burst->workers)
			state->burst->workers[state->next] = id;
		if (unlikely(lane_room(lane) == 0) && !lane_make_room(dispatcher, id)) {
			const enum run_end run = packet_overflow(dispatcher, state, id);

			if (run != RUN_DONE)
				return run;
			continue;
		}
		packet_stage(dispatcher, lane, state->burst, state->next++);
	}
	return RUN_DONE;
}

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

/* The index follows the packets that were taken over, one by one whatever the chunk. */
static void
index_advance(struct weir_dispatcher *dispatcher, uint32_t n)
{
	struct weir_pick_context *pick = &dispatcher->pick;

	pick->index += n;
	pick->rotation = fastmod(dispatcher->rotation_by, pick->rotation + n);
}

/* Takes back from the mirror what was picked and not lent. */
static void
picks_withdraw(struct weir_dispatcher *dispatcher, uint32_t from, uint32_t n_picks)
{
	for (uint32_t i = from; i < n_picks; i++)
		mirror_restore(dispatcher, dispatcher->snapshot->routable[dispatcher->picks[i]]);
}

/* Picks for all that is left of the burst and lends until that is done or broken. */
static enum run_end
run_lend(struct weir_dispatcher *dispatcher, struct dispatch_state *state)
{
	const uint32_t first = state->next;
	const uint32_t n = state->burst->n;
	const uint32_t n_picks = picks_needed(dispatcher, n - first);
	enum run_end run = RUN_DONE;
	uint32_t i;

	dispatcher->snapshot->strategy->pick_burst(
		&dispatcher->pick, &state->burst->meta[first], n_picks, dispatcher->picks);
	for (i = 0; i < n_picks; i++) {
		const uint32_t end = state->next + dispatcher->chunk;

		run = chunk_lend(dispatcher, state, end < n ? end : n,
			dispatcher->snapshot->routable[dispatcher->picks[i]]);
		if (run != RUN_DONE)
			break;
	}
	/* The last chunk may be shorter than it was counted. */
	if (run != RUN_DONE || dispatcher->chunk > 1)
		picks_withdraw(dispatcher, run == RUN_DONE ? i - 1 : i, n_picks);
	index_advance(dispatcher, state->next - first);
	return run;
}

/* No worker is routable: the losses rotate over the members, or there is nobody to name. */
static void
burst_lose(struct weir_dispatcher *dispatcher, struct dispatch_state *state)
{
	const struct weir_snapshot *snapshot = dispatcher->snapshot;
	const bool empty = snapshot->n_members == 0;

	for (; state->next < state->burst->n; state->next++) {
		const weir_worker_id id =
			empty ? WEIR_WORKER_NONE : snapshot->member[dispatcher->pick.rotation];

		if (state->burst->workers)
			state->burst->workers[state->next] = id;
		drop_add(dispatcher, state->burst->packets[state->next], id,
			empty ? WEIR_REASON_NO_ROUTE : WEIR_REASON_DEAD_WORKER);
		index_advance(dispatcher, 1);
	}
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

/*
 * A lane that was read again in mid-burst had its mirror entry set to what was lent by then; what
 * has been lent since is added here, so that the next burst of this loop sees it.
 */
static void
mirror_settle(struct weir_dispatcher *dispatcher)
{
	for (uint32_t w = 0; w < BITSET_WORDS; w++) {
		uint64_t bits = dispatcher->reread.word[w];

		while (unlikely(bits))
			mirror_restore(dispatcher, (weir_worker_id)bitset_pop(&bits, w));
	}
}

/* Routes a burst; returns how many packets were taken over: lent or dropped. */
static uint32_t
burst_route(struct weir_dispatcher *dispatcher, const struct weir_burst *burst)
{
	struct dispatch_state state = { .burst = burst };
	uint32_t n_dropped;

	if (likely(dispatcher->snapshot->n_routable > 0)) {
		while (state.next < burst->n && run_lend(dispatcher, &state) != RUN_REFUSED)
			;
	} else {
		burst_lose(dispatcher, &state);
	}
	posts_publish(dispatcher);
	bitset_add_all(&dispatcher->outstanding, &state.touched);
	if (dispatcher->tails)
		tails_publish(dispatcher, &state.touched);
	mirror_settle(dispatcher);
	n_dropped = dispatcher->drops.n;
	drops_finish(dispatcher);
	counter_add(&dispatcher->tally.routed, state.next);
	counter_add(&dispatcher->tally.lent, state.next - n_dropped);
	counter_set(&dispatcher->tally.depth_visits, dispatcher->pick.depth_visits);
	return state.next;
}

/* Dispatches what is held, oldest first, until a refusal. */
static void
hold_retry(struct weir_dispatcher *dispatcher)
{
	while (unlikely(hold_count(&dispatcher->hold) > 0)) {
		const struct weir_burst burst = hold_front(&dispatcher->hold, dispatcher->burst);
		const uint32_t n = burst_route(dispatcher, &burst);

		hold_pop(&dispatcher->hold, n);
		counter_set(&dispatcher->tally.held, hold_count(&dispatcher->hold));
		if (n < burst.n)
			break;
	}
}

uint32_t
weir_harvest(struct weir_dispatcher *dispatcher)
{
	uint32_t finished;

	mirror_sync(dispatcher);
	dispatcher->reread = (struct bitset) { 0 };
	finished = harvest_pass(dispatcher);
	hold_retry(dispatcher);
	return finished;
}

uint32_t
weir_dispatch(struct weir_dispatcher *dispatcher, const struct weir_burst *burst)
{
	uint32_t taken = 0;

	assert(burst->n <= dispatcher->burst);
	weir_harvest(dispatcher);
	if (burst->n == 0)
		return 0;
	if (likely(hold_count(&dispatcher->hold) == 0))
		taken = burst_route(dispatcher, burst);
	counter_add(&dispatcher->tally.bursts, 1);
	counter_add(&dispatcher->tally.received, taken);
	counter_add(&dispatcher->tally.rejected, burst->n - taken);
	return taken;
}

void
weir_hold(struct weir_dispatcher *dispatcher, const struct weir_burst *burst)
{
	uint32_t n;

	assert(burst->n <= dispatcher->burst);
	n = hold_push(&dispatcher->hold, burst);
	counter_add(&dispatcher->tally.received, burst->n);
	counter_set(&dispatcher->tally.held, hold_count(&dispatcher->hold));
	for (uint32_t i = n; i < burst->n; i++)
		drop_add(
			dispatcher, burst->packets[i], WEIR_WORKER_NONE, WEIR_REASON_HELD_OVERFLOW);
	drops_finish(dispatcher);
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

		for (uint32_t i = 0; i < burst.n; i++)
			drop_add(dispatcher, burst.packets[i], WEIR_WORKER_NONE, (uint8_t)reason);
		drops_finish(dispatcher);
		hold_pop(&dispatcher->hold, burst.n);
		dropped += burst.n;
	}
	counter_set(&dispatcher->tally.held, 0);
	return dropped;
}
