/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Carrying the plan out: each packet into its worker's lane, into the hold, or into overflow, in
 * the order of arrival; then all of it published together.
 */
#include "admission.h"

void
end_add(struct weir_dispatcher *dispatcher, void *packet, struct weir_verdict verdict)
{
	struct drop_list *drops = &dispatcher->drops;

	/* Copies can be more than a burst has packets. */
	if (unlikely(drops->n == WEIR_BURST_MAX))
		drops_finish(dispatcher);
	drops->packets[drops->n] = packet;
	drops->verdicts[drops->n++] = verdict;
}

void
drop_count(struct weir_dispatcher *dispatcher, weir_worker_id worker, uint8_t reason)
{
	counter_add(&dispatcher->tally.dropped[reason], 1);
	if (worker != WEIR_WORKER_NONE)
		counter_add(&dispatcher->worker_tally[worker].dropped[reason], 1);
}

void
drop_add(struct weir_dispatcher *dispatcher, void *packet, weir_worker_id worker, uint8_t reason)
{
	struct weir_verdict verdict = weir_verdict_drop(reason);

	verdict.intended = worker;
	drop_count(dispatcher, worker, reason);
	end_add(dispatcher, packet, verdict);
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

bool
lane_make_room(struct weir_dispatcher *dispatcher, weir_worker_id id)
{
	if (bitset_has(&dispatcher->reread, id))
		return false;
	bitset_add(&dispatcher->reread, id);
	counter_add(&dispatcher->tally.line_reads, lines_per_reading(dispatcher));
	harvest_worker(dispatcher, id);
	return lane_room(&dispatcher->lane[id]) > 0;
}

void
packet_lend(struct weir_dispatcher *dispatcher, struct dispatch_state *state, uint32_t i,
	weir_worker_id id)
{
	const struct weir_burst *burst = state->burst;

	if (dispatcher->counts_classes)
		class_book(dispatcher, &burst->meta[i], id);
	lane_stage(&dispatcher->lane[id], dispatcher->data_base, &burst->packets[i],
		&state->data[i], &burst->meta[i], 1, &dispatcher->posts[dispatcher->n_posts++]);
	bitset_add(&state->touched, id);
}

/* What was lent before and lost its worker waits until it finds room, whatever the policy. */
static bool
packet_is_reclaimed(const struct dispatch_state *state, const struct weir_meta *meta)
{
	return state->from_hold && (meta->flags & WEIR_META_RECLAIMED) != 0;
}

/* The packet at hand is dropped. Returns how the run goes on. */
static enum run_end
packet_drop(struct weir_dispatcher *dispatcher, struct dispatch_state *state, weir_worker_id id,
	uint8_t reason)
{
	drop_add(dispatcher, state->burst->packets[state->next], id, reason);
	state->next++;
	return dispatcher->chunk > 1 ? RUN_BROKEN : RUN_DONE;
}

/* The packet finds no room, at its worker or in the hold. Returns how the run goes on. */
static enum run_end
packet_overflow(struct weir_dispatcher *dispatcher, struct dispatch_state *state, weir_worker_id id,
	uint8_t reason)
{
	const struct weir_meta *meta = &state->burst->meta[state->next];

	if (class_of(dispatcher, meta)->policy->refuses || packet_is_reclaimed(state, meta))
		return RUN_REFUSED;
	return packet_drop(dispatcher, state, id, reason);
}

enum run_end
packet_hold(struct weir_dispatcher *dispatcher, struct dispatch_state *state, bool wants_room)
{
	dispatcher->plan.wants_room[state->next] = wants_room;
	if (!state->from_hold &&
		!hold_add(dispatcher, state->burst, state->next, WEIR_WORKER_NONE, wants_room))
		return wants_room ? packet_overflow(dispatcher, state, WEIR_WORKER_NONE,
					    WEIR_REASON_HELD_OVERFLOW)
				  : packet_drop(dispatcher, state, WEIR_WORKER_NONE,
					    WEIR_REASON_HELD_OVERFLOW);
	if (state->from_hold && dispatcher->pins)
		dispatcher->pins[state->burst->meta[state->next].bucket].flags |= PIN_STAYED;
	state->next++;
	return RUN_DONE;
}

/* Whether a packet that must wait does so for budget, which is room, and not for its bucket. */
static bool
packet_wants_budget(const struct weir_dispatcher *dispatcher, const struct dispatch_state *state)
{
	const struct pin *pin;

	if (!dispatcher->has_budget || !dispatcher->pins)
		return dispatcher->has_budget;
	pin = &dispatcher->pins[state->burst->meta[state->next].bucket];
	return !pin_waits(pin, state->from_hold) && !pin_is_out(dispatcher, pin);
}

/* Points the pin to where its bucket's packet went. Returns whether that was a move. */
static inline bool
pin_set(struct pin *pin, weir_worker_id id, uint32_t stamp)
{
	const uint16_t was = pin->tie;

	pin->stamp = stamp;
	pin->tie = pin_tie_make(id);
	return pin_tie_moved(was, pin->tie);
}

/* Notes when the buckets of the packets from `first` up to `end` were last heard of. */
static void
arrivals_note(struct weir_dispatcher *dispatcher, const struct weir_meta *meta, uint32_t first,
	uint32_t end)
{
	for (uint32_t i = first; i < end; i++) {
		uint64_t *last_ns = &dispatcher->last_ns[meta[i].bucket];

		if ((int64_t)(meta[i].time_ns - *last_ns) > 0)
			*last_ns = meta[i].time_ns;
	}
}

/* Tells the caller which worker each packet was charged to, the refused one included. */
static void
workers_tell(const struct weir_dispatcher *dispatcher, const struct dispatch_state *state,
	uint32_t first)
{
	const uint16_t *target = dispatcher->plan.target;

	for (uint32_t i = first; i < state->burst->n && i <= state->next; i++)
		state->burst->workers[i] = target[i] < PLAN_SPECIAL ? target[i] : WEIR_WORKER_NONE;
}

/* Whether the packet with this target can be lent at once. */
static inline bool
target_has_room(const struct weir_dispatcher *dispatcher, uint16_t target)
{
	return likely(target < PLAN_SPECIAL) && likely(lane_room(&dispatcher->lane[target]) > 0);
}

/*
 * Lends packet by packet, up to the first that cannot be lent at once. Inlined once with pins and
 * once without: the loop is the hottest there is. What it reads is in locals, since its stores
 * could change the originals as far as the compiler knows.
 */
static inline __attribute__((always_inline)) void
packets_lend(struct weir_dispatcher *dispatcher, struct dispatch_state *state, struct pin *pins)
{
	const struct weir_burst burst = *state->burst;
	const uint16_t *const target = dispatcher->plan.target;
	struct lane_producer *const lanes = dispatcher->lane;
	void *const *const data = state->data;
	const uintptr_t data_base = dispatcher->data_base;
	struct lane_post *post = &dispatcher->posts[dispatcher->n_posts];
	uint64_t n_moves = 0;
	uint32_t i;

	for (i = state->next; i < burst.n && likely(target[i] < PLAN_SPECIAL); i++) {
		struct lane_producer *lane = &lanes[target[i]];
		const weir_worker_id id = target[i];

		if (unlikely(lane_room(lane) == 0))
			break;
		lane_stage(lane, data_base, &burst.packets[i], &data[i], &burst.meta[i], 1, post++);
		bitset_add(&state->touched, id);
		if (pins)
			n_moves += pin_set(&pins[burst.meta[i].bucket], id, lane->tail);
	}
	dispatcher->n_moves += n_moves;
	dispatcher->n_posts += i - state->next;
	state->next = i;
}

/* Packets from `first` on that go where that one goes, as many as there is room for; at least one.
 */
static inline uint32_t
run_length(const struct weir_dispatcher *dispatcher, const struct dispatch_state *state,
	uint32_t first)
{
	const uint16_t *target = dispatcher->plan.target;
	const uint32_t room = lane_room(&dispatcher->lane[target[first]]);
	const uint32_t left = state->burst->n - first;
	const uint32_t most = left < room ? left : room;
	uint32_t n = 1;

	while (n < most && target[first + n] == target[first])
		n++;
	return n;
}

/* As packets_lend, but run by run: with chunks many packets in a row go to one worker. */
static void
runs_lend(struct weir_dispatcher *dispatcher, struct dispatch_state *state)
{
	const struct weir_burst *burst = state->burst;
	const uint16_t *target = dispatcher->plan.target;
	uint32_t i = state->next;

	while (i < burst->n && target_has_room(dispatcher, target[i])) {
		struct lane_producer *lane = &dispatcher->lane[target[i]];
		const uint32_t n = run_length(dispatcher, state, i);
		uint32_t stamp = lane->tail;

		lane_stage(lane, dispatcher->data_base, &burst->packets[i], &state->data[i],
			&burst->meta[i], n, &dispatcher->posts[dispatcher->n_posts]);
		dispatcher->n_posts += n;
		bitset_add(&state->touched, target[i]);
		for (uint32_t k = i; dispatcher->pins && k < i + n; k++)
			dispatcher->n_moves += pin_set(
				&dispatcher->pins[burst->meta[k].bucket], target[k], ++stamp);
		i += n;
	}
	state->next = i;
}

/* As packets_lend, where packets of a class are counted and some are not let in. */
static void
classes_lend(struct weir_dispatcher *dispatcher, struct dispatch_state *state)
{
	const struct weir_burst *burst = state->burst;
	const uint16_t *target = dispatcher->plan.target;

	for (; state->next < burst->n && target[state->next] < PLAN_SPECIAL; state->next++) {
		const uint32_t i = state->next;
		const weir_worker_id id = target[i];

		if (!class_admits(dispatcher, &burst->meta[i], id)) {
			drop_add(dispatcher, burst->packets[i], id, WEIR_REASON_BUSY_DISCARD);
			/* The strategy may have counted it in the mirror. */
			bitset_add(&dispatcher->unsettled, id);
			continue;
		}
		if (lane_room(&dispatcher->lane[id]) == 0)
			return;
		packet_lend(dispatcher, state, i, id);
		if (dispatcher->pins)
			dispatcher->n_moves += pin_set(&dispatcher->pins[burst->meta[i].bucket], id,
				dispatcher->lane[id].tail);
	}
}

/* Lends up to the first packet that cannot be lent at once. */
static void
plan_lend(struct weir_dispatcher *dispatcher, struct dispatch_state *state)
{
	const uint32_t first = state->next;

	if (unlikely(dispatcher->counts_classes))
		classes_lend(dispatcher, state);
	else if (dispatcher->chunk > 1)
		runs_lend(dispatcher, state);
	else if (dispatcher->pins)
		packets_lend(dispatcher, state, dispatcher->pins);
	else
		packets_lend(dispatcher, state, NULL);
	if (unlikely(dispatcher->last_ns != NULL))
		arrivals_note(dispatcher, state->burst->meta, first, state->next);
}

/* The lane is full for certain: others are tried, then the oldest of it makes room, or none does.
 */
static enum run_end
lane_overflow(struct weir_dispatcher *dispatcher, struct dispatch_state *state, uint16_t target)
{
	const struct weir_meta *meta = &state->burst->meta[state->next];
	const struct weir_overflow_policy *policy = class_of(dispatcher, meta)->policy;
	const enum retry_end retry = packet_retry(dispatcher, state);

	if (retry == RETRY_FOUND)
		return RUN_DONE;
	if (policy->evicts && !packet_is_reclaimed(state, meta) &&
		lane_evict(dispatcher, state, target))
		return RUN_DONE;
	return packet_overflow(dispatcher, state, target,
		retry == RETRY_EXHAUSTED ? WEIR_REASON_RETRY_EXHAUSTED : policy->reason);
}

/* The packet at hand cannot be lent at once: it waits, or its lane is full. */
static enum run_end
packet_settle(struct weir_dispatcher *dispatcher, struct dispatch_state *state)
{
	const uint16_t target = dispatcher->plan.target[state->next];

	if (target == PLAN_HOLD)
		return packet_hold(dispatcher, state, packet_wants_budget(dispatcher, state));
	if (target >= PLAN_SPECIAL) {
		special_settle(dispatcher, state);
		return RUN_DONE;
	}
	if (lane_make_room(dispatcher, target))
		return RUN_DONE;
	return lane_overflow(dispatcher, state, target);
}

enum run_end
plan_carry_out(struct weir_dispatcher *dispatcher, struct dispatch_state *state)
{
	const uint32_t first = state->next;
	enum run_end run = RUN_DONE;

	while (state->next < state->burst->n && run == RUN_DONE) {
		plan_lend(dispatcher, state);
		if (unlikely(state->next < state->burst->n))
			run = packet_settle(dispatcher, state);
	}
	if (state->burst->workers)
		workers_tell(dispatcher, state, first);
	return run;
}

static void
tails_publish(struct weir_dispatcher *dispatcher, const struct bitset *touched)
{
	for (uint32_t w = 0; w < BITSET_WORDS; w++) {
		uint64_t bits = touched->word[w];

		while (bits)
			tail_publish(dispatcher, bitset_pop(&bits, w));
	}
}

void
posts_reserve(struct weir_dispatcher *dispatcher, struct dispatch_state *state, uint32_t n)
{
	if (unlikely(dispatcher->n_posts + n > WEIR_BURST_MAX))
		lend_publish(dispatcher, &state->touched);
}

/* Stores the slots of the burst, and what follows from that. */
static inline void
slots_publish(struct weir_dispatcher *dispatcher, const struct bitset *touched)
{
	/* Edge E3: from here on the workers see what the burst has lent. */
	for (uint32_t i = 0; i < dispatcher->n_posts; i++)
		lane_publish(&dispatcher->posts[i]);
	counter_add(&dispatcher->tally.lent, dispatcher->n_posts);
	dispatcher->n_posts = 0;
	bitset_add_all(&dispatcher->outstanding, touched);
	if (dispatcher->tails)
		tails_publish(dispatcher, touched);
}

/* Into claim lanes. Kept out of line, so that plain lanes do not pay for it. */
static __attribute__((noinline)) void
claims_lend_publish(struct weir_dispatcher *dispatcher, const struct bitset *touched)
{
	for (uint32_t i = 0; i < dispatcher->n_posts; i++)
		claim_publish_metadata(&dispatcher->posts[i]);
	slots_publish(dispatcher, touched);
	claims_publish(dispatcher, touched);
}

void
lend_publish(struct weir_dispatcher *dispatcher, const struct bitset *touched)
{
	if (unlikely(dispatcher->claim)) {
		claims_lend_publish(dispatcher, touched);
		return;
	}
	for (uint32_t i = 0; i < dispatcher->n_posts; i++)
		lane_publish_metadata(&dispatcher->posts[i]);
	slots_publish(dispatcher, touched);
}
