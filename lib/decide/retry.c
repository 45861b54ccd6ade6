/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Retries: a packet whose lane is full may try other workers, as many as its class says, each at
 * most once: the next routable ones in rotation. Order comes first: what follows a pin stays.
 */
#include "dispatch.h"

/* Whether the packet's bucket has nothing out and may go to any worker. */
static bool
packet_is_free(const struct weir_dispatcher *dispatcher, const struct weir_meta *meta)
{
	const struct pin *pin;

	if (!dispatcher->pins)
		return true;
	pin = &dispatcher->pins[meta->bucket];
	return (pin->flags & PIN_PICKED) ||
	       (!(pin->flags & PIN_STUCK) && !pin_is_out(dispatcher, pin));
}

/* Packets of the bucket that were to follow the packet at hand go where it goes. */
static void
bucket_move(
	struct weir_dispatcher *dispatcher, const struct dispatch_state *state, weir_worker_id to)
{
	const struct weir_meta *meta = state->burst->meta;
	uint16_t *target = dispatcher->plan.target;
	const uint16_t from = target[state->next];

	target[state->next] = to;
	for (uint32_t i = state->next + 1; dispatcher->pins && i < state->burst->n; i++) {
		if (target[i] == from && meta[i].bucket == meta[state->next].bucket)
			target[i] = to;
	}
}

/* Whether a worker can be given the packet instead. Its budget counts. */
static bool
worker_has_room(struct weir_dispatcher *dispatcher, weir_worker_id id)
{
	const struct lane_producer *lane = &dispatcher->lane[id];

	counter_add(&dispatcher->tally.retries, 1);
	if (lane_room(lane) == 0)
		lane_make_room(dispatcher, id);
	return lane_allowance(dispatcher, lane) > 0;
}

enum retry_end
packet_retry(struct weir_dispatcher *dispatcher, const struct dispatch_state *state)
{
	const struct weir_meta *meta = &state->burst->meta[state->next];
	const struct weir_snapshot *snapshot = dispatcher->snapshot;
	const uint32_t retries = class_of(dispatcher, meta)->retries;
	const uint32_t others = snapshot->n_routable - 1;
	const uint32_t n = retries < others ? retries : others;
	uint32_t position = snapshot->position[dispatcher->plan.target[state->next]];

	if (likely(retries == 0) || !packet_is_free(dispatcher, meta))
		return RETRY_NONE;
	for (uint32_t i = 0; i < n; i++) {
		position = position + 1 == snapshot->n_routable ? 0 : position + 1;
		if (!worker_has_room(dispatcher, snapshot->routable[position]))
			continue;
		bitset_add(&dispatcher->unsettled, snapshot->routable[position]);
		bucket_move(dispatcher, state, snapshot->routable[position]);
		return RETRY_FOUND;
	}
	return RETRY_EXHAUSTED;
}
