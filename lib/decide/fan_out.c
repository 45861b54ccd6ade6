/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One packet for every routable worker of one snapshot, in pool order. The first worker that gets
 * one gets the packet itself, the others copies; each is lent, and ends, by itself. Order flow
 * ignores them: they are concurrent with the packets behind.
 *
 * A full lane is a matter of its own worker's. Under a policy that drops, a copy for it is not even
 * made: it is counted as wanted and as dropped, and no call of `finish` tells of it; so it is with
 * copies that cannot be made. Under a policy that refuses, the copy waits in the hold for its
 * worker. Each worker admits its copy by itself. Whatever becomes of it, no other worker is tried,
 * and no budget holds it back: it has its one worker, as what follows a pin.
 */
#include "admission.h"

/* Why a worker gets no copy of a packet; COPY_WANTED if it gets one. */
static uint8_t
copy_reason(
	struct weir_dispatcher *dispatcher, const struct dispatch_state *state, weir_worker_id id)
{
	const struct weir_meta *meta = &state->burst->meta[state->next];
	const struct weir_overflow_policy *policy = class_of(dispatcher, meta)->policy;

	if (dispatcher->counts_classes && !class_admits(dispatcher, meta, id))
		return WEIR_REASON_BUSY_DISCARD;
	if (lane_room(&dispatcher->lane[id]) > 0 || lane_make_room(dispatcher, id) ||
		policy->refuses || (policy->evicts && lane_evict(dispatcher, state, id)))
		return COPY_WANTED;
	return policy->reason;
}

/* Decides which workers a packet is brought to. Returns their number. */
static uint32_t
workers_choose(struct weir_dispatcher *dispatcher, const struct dispatch_state *state)
{
	const struct weir_snapshot *snapshot = dispatcher->snapshot;
	uint32_t n = 0;

	for (uint32_t position = 0; position < snapshot->n_routable; position++) {
		const weir_worker_id id = snapshot->routable[position];
		const uint8_t reason = copy_reason(dispatcher, state, id);

		dispatcher->fan_out.reason[position] = reason;
		n += reason == COPY_WANTED;
		/* The plan has counted it in the mirror. */
		if (unlikely(reason == WEIR_REASON_BUSY_DISCARD))
			bitset_add(&dispatcher->unsettled, id);
	}
	return n;
}

/* Puts the packet at hand and copies of it into the list: `n` in all. Returns how many there are.
 */
static uint32_t
copies_make(struct weir_dispatcher *dispatcher, const struct dispatch_state *state, uint32_t n)
{
	struct fan_out *out = &dispatcher->fan_out;
	uint32_t made = 0;

	out->packets[0] = state->burst->packets[state->next];
	out->data[0] = state->data[state->next];
	if (n > 1 && dispatcher->copy)
		made = dispatcher->copy(dispatcher->finish_context, out->packets[0], n - 1,
			&out->packets[1], &out->data[1]);
	return 1 + (made < n ? made : n - 1);
}

bool
packet_is_sharded(const struct weir_dispatcher *dispatcher, const struct weir_meta *meta)
{
	return (packet_strategy(dispatcher, meta)->flags & WEIR_STRATEGY_SHARDS) &&
	       !packet_is_for_all(dispatcher, meta);
}

/*
 * The metadata of copies that are not numbered, which they share. It lies where that of the first
 * one's post would: nobody else uses that place before all of them are published.
 */
static const struct weir_meta *
shared_metadata(struct weir_dispatcher *dispatcher, const struct weir_meta *meta)
{
	struct weir_meta *shared = &dispatcher->fan_out.metadata[dispatcher->n_posts];

	*shared = *meta;
	shared->flags |= WEIR_META_COPY;
	return shared;
}

/* The metadata of the numbered copy for `position`. */
static const struct weir_meta *
shard_metadata(
	struct weir_dispatcher *dispatcher, const struct dispatch_state *state, uint32_t position)
{
	struct weir_meta *own = &dispatcher->fan_out.metadata[dispatcher->n_posts];

	*own = state->burst->meta[state->next];
	own->shard_index = (uint8_t)position;
	own->shard_last = (uint8_t)(dispatcher->snapshot->n_routable - 1);
	return own;
}

/* The copy waits for its worker: a refusal that its packet has no part in. */
static void
copy_hold(struct weir_dispatcher *dispatcher, const struct weir_burst *copy, weir_worker_id id)
{
	counter_add(&dispatcher->tally.rejected, 1);
	if (!hold_add(dispatcher, copy, 0, id, true))
		drop_add(dispatcher, copy->packets[0], WEIR_WORKER_NONE, WEIR_REASON_HELD_OVERFLOW);
}

/* Brings entry `i` of the list to the worker at `position`; shared: its metadata, if not numbered.
 */
static void
copy_bring(struct weir_dispatcher *dispatcher, struct dispatch_state *state, uint32_t i,
	uint32_t position, const struct weir_meta *shared)
{
	const weir_worker_id id = dispatcher->snapshot->routable[position];
	const struct weir_burst copy = {
		.packets = &dispatcher->fan_out.packets[i],
		.data = &dispatcher->fan_out.data[i],
		.meta = shared ? shared : shard_metadata(dispatcher, state, position),
		.n = 1,
	};
	struct dispatch_state one = { .burst = &copy, .data = copy.data };

	if (lane_room(&dispatcher->lane[id]) == 0) {
		copy_hold(dispatcher, &copy, id);
		return;
	}
	packet_lend(dispatcher, &one, 0, id);
	bitset_add(&state->touched, id);
	if (i == 0)
		dispatcher->plan.target[state->next] = id;
}

/* No worker gets one: the packet itself ends, too. */
static void
packet_drop(struct weir_dispatcher *dispatcher, const struct dispatch_state *state)
{
	const weir_worker_id *routable = dispatcher->snapshot->routable;
	const uint8_t *reason = dispatcher->fan_out.reason;

	drop_add(dispatcher, state->burst->packets[state->next], routable[0], reason[0]);
	for (uint32_t position = 1; position < dispatcher->snapshot->n_routable; position++)
		drop_count(dispatcher, routable[position], reason[position]);
	dispatcher->plan.target[state->next] = routable[0];
}

void
packet_fan_out(struct weir_dispatcher *dispatcher, struct dispatch_state *state)
{
	const struct weir_snapshot *snapshot = dispatcher->snapshot;
	const struct weir_meta *meta = &state->burst->meta[state->next];
	const uint32_t n_wanted = workers_choose(dispatcher, state);
	const struct weir_meta *shared = NULL;
	uint32_t n_there;
	uint32_t next = 0;

	counter_add(&dispatcher->tally.copies, snapshot->n_routable - 1);
	if (n_wanted == 0) {
		packet_drop(dispatcher, state);
		return;
	}
	posts_reserve(dispatcher, state, n_wanted);
	if (!packet_is_sharded(dispatcher, meta))
		shared = shared_metadata(dispatcher, meta);
	n_there = copies_make(dispatcher, state, n_wanted);
	dispatcher->fan_out.is_short |= n_there < n_wanted;
	for (uint32_t position = 0; position < snapshot->n_routable; position++) {
		const uint8_t reason = dispatcher->fan_out.reason[position];

		if (reason != COPY_WANTED)
			drop_count(dispatcher, snapshot->routable[position], reason);
		else if (next < n_there)
			copy_bring(dispatcher, state, next++, position, shared);
		else
			drop_count(dispatcher, snapshot->routable[position], WEIR_REASON_NO_MBUF);
	}
	posts_reserve(dispatcher, state, state->burst->n - state->next);
}
