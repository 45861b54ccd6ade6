/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pools with claim lanes: their creation, and the eviction of the oldest packet of a full lane. The
 * dispatcher is the only one that evicts, and it never waits for a worker: it tries a few times.
 */
#include <errno.h>

#include "dispatch.h"

/* A try fails because the worker has taken something: then there is room, but for hostile ones. */
#define EVICT_TRIES 3

int
claims_init(struct weir_dispatcher *dispatcher)
{
	const struct weir_pool *pool = dispatcher->pool;
	const uint32_t n = pool->config.n_workers;
	const size_t claims_bytes = n * sizeof(struct claim_lane);
	const size_t taken_bytes = claim_taken_bytes(&pool->geometry);
	char *memory;

	if (!pool->policy->claim_lanes)
		return 0;
	if (area_allocate(&dispatcher->claim_area, claims_bytes + n * taken_bytes) < 0)
		return -ENOMEM;
	memory = dispatcher->claim_area.memory;
	dispatcher->claim = (struct claim_lane *)memory;
	memory += claims_bytes;
	for (uint32_t i = 0; i < n; i++, memory += taken_bytes) {
		dispatcher->claim[i] = claim_lane_make(&pool->geometry, pool->config.lane_size,
			pool_claim_head(pool, dispatcher->id, (weir_worker_id)i), memory);
		claim_view(&dispatcher->claim[i], &dispatcher->lane[i]);
	}
	return 0;
}

void
claims_publish(struct weir_dispatcher *dispatcher, const struct bitset *touched)
{
	for (uint32_t w = 0; w < BITSET_WORDS; w++) {
		uint64_t bits = touched->word[w];

		while (bits) {
			const uint32_t id = bitset_pop(&bits, w);

			dispatcher->claim[id].published = dispatcher->lane[id].tail;
		}
	}
}

/* A packet that was lent and taken back: it ends with the burst's drops. */
static void
evicted_end(struct weir_dispatcher *dispatcher, weir_worker_id id, void *packet)
{
	drop_add(dispatcher, packet, id, WEIR_REASON_OVERFLOW_DROP_HEAD);
	counter_add(&dispatcher->tally.ended, 1);
	counter_add(&dispatcher->worker_tally[id].reclaimed, 1);
	/* It may have been the last one out of its bucket. */
	bitset_add(&dispatcher->hold_news.finished, id);
}

bool
lane_evict(
	struct weir_dispatcher *dispatcher, const struct dispatch_state *state, weir_worker_id id)
{
	struct lane_producer *lane = &dispatcher->lane[id];
	struct claim_lane *claim = &dispatcher->claim[id];
	void *packet;

	for (uint32_t tries = 0; tries < EVICT_TRIES; tries++) {
		if (!claim_can_evict(claim, lane))
			return false;
		/* Were its slot stored after the eviction, the worker could take it for a packet of
		 * two laps later. */
		if ((uint32_t)claim->head == claim->published)
			lend_publish(dispatcher, &state->touched);
		if (claim_evict(claim, lane, &packet)) {
			evicted_end(dispatcher, id, packet);
			return true;
		}
		counter_add(&dispatcher->tally.line_reads, lines_per_reading(dispatcher));
		harvest_worker(dispatcher, id);
		if (lane_room(lane) > 0)
			return true;
	}
	return false;
}
