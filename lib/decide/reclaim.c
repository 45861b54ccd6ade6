/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker is gone: what it was lent is taken back out of its lane, some packets per loop, and ends
 * or goes to others. Whose worker's lane that is says the pool's snapshot (edge E1), and the pool
 * is told when it is done (edge E13). A worker that drains is told where its lane ends (edge E14).
 *
 * What goes to others stands in the hold's front until they have room. It is taken from the newest
 * on, each put before the last one, so that it comes to stand in order; and it is sealed there, and
 * the lane's `harvested` stays where it is, until the last packet is out. So all this while the
 * pins of these buckets are out at a worker that is not routable, and nothing overtakes.
 */
#include <assert.h>

#include "admission.h"

/* A packet in a lane. */
struct lent_packet {
	void *packet;
	void *data;
	const struct weir_meta *meta; /* NULL when no metadata travels */
};

/* What is done with a packet that is put into the hold: no reason to drop it. */
#define FATE_REQUEUED ((uint8_t)WEIR_REASON_COUNT)

/* An order, to be told from others. */
static uint64_t
order_word(const struct worker_order *order)
{
	return (uint64_t)order->incarnation << 32 | order->order;
}

void
orders_adopt(struct weir_dispatcher *dispatcher, const struct weir_snapshot *snapshot)
{
	const struct worker_order *order = pool_snapshot_of(snapshot)->order;

	for (uint32_t id = 0; id < dispatcher->n_workers; id++) {
		const uint64_t word = order_word(&order[id]);

		if (likely(word == dispatcher->order_seen[id]))
			continue;
		dispatcher->order_seen[id] = word;
		if (order[id].order == LANE_RECLAIM)
			bitset_add(&dispatcher->reclaim.pending, id);
		/* Edge E14: who drains is not routable, so nothing comes behind. */
		if (order[id].order == LANE_END)
			lane_end(&pool_worker_header(dispatcher->pool, (weir_worker_id)id)
					  ->lane[dispatcher->id],
				order[id].incarnation, dispatcher->lane[id].tail);
	}
}

/* Packet number `k` of those that a worker has claimed and that have not come home. */
static struct lent_packet
claimed_at(const struct weir_dispatcher *dispatcher, const struct claim_lane *claim, uint32_t k)
{
	const uint32_t index = (claim->harvested + k) & (claim->n_taken_slots - 1);
	struct lent_packet lent = { .packet = claim->taken_packets[index] };

	if (!claim->taken_lent)
		return lent;
	lent.data = (void *)(dispatcher->data_base + claim->taken_lent[index].data_place);
	lent.meta = &claim->taken_lent[index].meta;
	return lent;
}

/* Packet number `k` of those that are out, from the oldest on: first what a worker has claimed. */
static struct lent_packet
lent_at(const struct weir_dispatcher *dispatcher, weir_worker_id id, uint32_t k)
{
	const struct lane_producer *lane = &dispatcher->lane[id];
	uint32_t seq = lane->harvested + k;

	if (dispatcher->claim) {
		const struct claim_lane *claim = &dispatcher->claim[id];
		const uint32_t n_claimed = claim_in_process(claim);

		if (k < n_claimed)
			return claimed_at(dispatcher, claim, k);
		seq = (uint32_t)claim->head + (k - n_claimed);
	}
	return (struct lent_packet) {
		.packet = lane->packets[seq & (lane->n_slots - 1)],
		.data = (void *)(dispatcher->data_base + lane_data_place(lane, seq)),
		.meta = lane->metadata ? &lane->metadata[seq & (lane->n_slots - 1)] : NULL,
	};
}

/* What becomes of a packet: the reason that it is dropped for, or FATE_REQUEUED. */
static uint8_t
lent_fate(const struct weir_departure *how, const struct weir_meta *meta, bool is_in_process)
{
	const uint8_t flags = meta ? meta->flags : 0;

	/* What was in process when two workers went is not tried on a third. */
	if (is_in_process)
		return how->redeliver && !(flags & (WEIR_META_COPY | WEIR_META_REDELIVERED))
			       ? FATE_REQUEUED
			       : (uint8_t)how->in_process_reason;
	if (!how->redispatch)
		return (uint8_t)how->queued_reason;
	return flags & WEIR_META_COPY ? WEIR_REASON_DEAD_WORKER : FATE_REQUEUED;
}

/* Puts a packet before all that is held, with `marks` on it. Returns false if there is no room. */
static bool
lent_requeue(struct weir_dispatcher *dispatcher, weir_worker_id id, const struct lent_packet *lent,
	uint8_t marks)
{
	struct weir_meta meta = *lent->meta;
	/* One that is 0 of 1 is the whole packet, and is planned again. */
	const bool is_numbered = meta.shard_last > 0 && packet_is_sharded(dispatcher, &meta);
	const struct weir_burst one = {
		.packets = &lent->packet, .data = &lent->data, .meta = &meta, .n = 1
	};

	meta.flags |= marks;
	if (weir_held(dispatcher) >= UINT16_MAX ||
		!hold_unshift(&dispatcher->front, &one, is_numbered ? id : WEIR_WORKER_NONE,
			hold_deadline(dispatcher)))
		return false;
	dispatcher->front.n_sealed++;
	if (dispatcher->pins && !is_numbered)
		dispatcher->pins[meta.bucket].held++;
	return true;
}

/* Takes packet number `k` out of the lane. */
static void
lent_take_back(struct weir_dispatcher *dispatcher, const struct weir_departure *how, uint32_t k)
{
	const weir_worker_id id = dispatcher->reclaim.worker;
	const struct lent_packet lent = lent_at(dispatcher, id, k);
	const bool is_in_process = k < dispatcher->reclaim.n_in_process;
	const uint8_t marks =
		is_in_process ? WEIR_META_RECLAIMED | WEIR_META_REDELIVERED : WEIR_META_RECLAIMED;
	uint8_t fate = lent_fate(how, lent.meta, is_in_process);

	dispatcher->lane[id].completed++;
	if (dispatcher->counts_classes)
		class_unbook(dispatcher, id, dispatcher->lane[id].harvested + k, 1);
	if (fate == FATE_REQUEUED && !lent_requeue(dispatcher, id, &lent, marks))
		fate = WEIR_REASON_HELD_OVERFLOW;
	if (fate != FATE_REQUEUED)
		drop_add(dispatcher, lent.packet, id, fate);
}

/* Takes up to `max` packets out of the lane at hand. Returns how many. */
static uint32_t
lane_take_back(struct weir_dispatcher *dispatcher, uint32_t max)
{
	struct reclaim *reclaim = &dispatcher->reclaim;
	const weir_worker_id id = reclaim->worker;
	const struct weir_departure *how = &pool_snapshot_of(dispatcher->snapshot)->order[id].how;
	struct worker_tally *tally = &dispatcher->worker_tally[id];
	const uint32_t left = reclaim->end - reclaim->first;
	const uint32_t n = left < max ? left : max;

	counter_add(&dispatcher->tally.ended, n);
	counter_add(&tally->reclaimed, n);
	/* What ends, ends in order. */
	for (uint32_t i = 0; i < n; i++)
		lent_take_back(
			dispatcher, how, how->redispatch ? --reclaim->end : reclaim->first++);
	counter_set(&tally->depth, left - n);
	return n;
}

/* The worker is gone, so its last word is out: what it has completed comes home as ever. */
static void
reclaim_begin(struct weir_dispatcher *dispatcher, weir_worker_id id)
{
	const struct lane_producer *lane = &dispatcher->lane[id];
	uint32_t n_in_process;

	harvest_worker(dispatcher, id);
	n_in_process = lane->in_process;
	/* No worker takes more at once: one that says so lies. Claims are seen by the lane's head.
	 */
	if (!dispatcher->claim && n_in_process > WEIR_BURST_MAX)
		n_in_process = WEIR_BURST_MAX;
	dispatcher->reclaim.worker = id;
	dispatcher->reclaim.first = 0;
	dispatcher->reclaim.end = lane_outstanding(lane);
	dispatcher->reclaim.n_in_process = n_in_process;
}

/* Nothing of the worker's is to be reclaimed any more, and the pool hears of it. */
static void
reclaim_report(struct weir_dispatcher *dispatcher, weir_worker_id id)
{
	const uint32_t position =
		dispatcher->claim ? dispatcher->claim[id].taken : dispatcher->lane[id].tail;

	if (!bitset_has(&dispatcher->reclaim.pending, id))
		return;
	bitset_remove(&dispatcher->reclaim.pending, id);
	if (dispatcher->reclaim.worker == id) {
		dispatcher->reclaim.worker = WEIR_WORKER_NONE;
		dispatcher->front.n_sealed = 0;
	}
	pool_reclaim_report(dispatcher->pool, dispatcher->id, id,
		pool_snapshot_of(dispatcher->snapshot)->order[id].incarnation, position);
}

/* The lane at hand is empty: the next incarnation finds it so, where this one would have gone on.
 */
static void
reclaim_end(struct weir_dispatcher *dispatcher)
{
	const weir_worker_id id = dispatcher->reclaim.worker;
	struct lane_producer *lane = &dispatcher->lane[id];

	lane->harvested = lane->tail;
	lane->completed = lane->tail;
	lane->in_process = 0;
	if (dispatcher->claim)
		claim_empty(&dispatcher->claim[id], lane);
	if (dispatcher->tails)
		tail_publish(dispatcher, id);
	/* The books of a lane with nothing in it. */
	harvest_worker(dispatcher, id);
	lane->others = 0;
	dispatcher->hold_news.all = true;
	reclaim_report(dispatcher, id);
}

/* The first worker whose lane is to be reclaimed; there is one. */
static weir_worker_id
pending_first(const struct weir_dispatcher *dispatcher)
{
	uint32_t w = 0;
	uint64_t bits;

	while (dispatcher->reclaim.pending.word[w] == 0)
		w++;
	bits = dispatcher->reclaim.pending.word[w];
	return (weir_worker_id)bitset_pop(&bits, w);
}

void
reclaim_step(struct weir_dispatcher *dispatcher)
{
	struct reclaim *reclaim = &dispatcher->reclaim;
	uint32_t left = RECLAIM_PKTS;

	while (left > 0 && !bitset_is_empty(&reclaim->pending)) {
		if (reclaim->worker == WEIR_WORKER_NONE)
			reclaim_begin(dispatcher, pending_first(dispatcher));
		left -= lane_take_back(dispatcher, left);
		if (reclaim->first == reclaim->end)
			reclaim_end(dispatcher);
	}
	drops_finish(dispatcher);
	counter_set(&dispatcher->tally.held, weir_held(dispatcher));
}

/* Ends all that is out in the lane at hand. */
static void
lane_drop(struct weir_dispatcher *dispatcher, enum weir_reason reason)
{
	const struct weir_verdict verdict = weir_verdict_drop((uint8_t)reason);
	const struct reclaim *reclaim = &dispatcher->reclaim;

	for (uint32_t k = reclaim->first; k < reclaim->end; k++) {
		const struct lent_packet lent = lent_at(dispatcher, reclaim->worker, k);

		dispatcher->finish(
			dispatcher->finish_context, &lent.packet, &verdict, 1, reclaim->worker);
	}
}

uint32_t
weir_reclaim(struct weir_dispatcher *dispatcher, weir_worker_id worker, enum weir_reason reason,
	enum weir_reclaim_mode mode)
{
	struct lane_producer *lane = &dispatcher->lane[worker];
	const struct reclaim at_hand = dispatcher->reclaim;
	struct reclaim *reclaim = &dispatcher->reclaim;
	uint32_t n;

	assert(worker < dispatcher->n_workers && (unsigned int)reason < WEIR_REASON_COUNT);
	if (reclaim->worker != worker)
		reclaim_begin(dispatcher, worker);
	n = reclaim->end - reclaim->first;
	if (dispatcher->counts_classes)
		class_unbook(dispatcher, worker, lane->harvested + reclaim->first, n);
	if (mode == WEIR_RECLAIM_GONE)
		lane_drop(dispatcher, reason);
	*reclaim = at_hand;
	if (dispatcher->claim)
		claim_close(&dispatcher->claim[worker], lane);
	lane->harvested = lane->tail;
	lane->completed = lane->tail;
	lane->in_process = 0;
	lane->capacity = 0;
	atomic_store_explicit(&dispatcher->pool->reclaimed[worker], true, memory_order_relaxed);
	bitset_remove(&dispatcher->outstanding, worker);
	dispatcher->hold_news.all = true;
	counter_add(&dispatcher->tally.ended, n);
	counter_add(&dispatcher->tally.dropped[reason], n);
	counter_add(&dispatcher->worker_tally[worker].dropped[reason], n);
	counter_add(&dispatcher->worker_tally[worker].reclaimed, n);
	mirror_restore(dispatcher, worker);
	counter_set(&dispatcher->worker_tally[worker].depth, 0);
	reclaim_report(dispatcher, worker);
	return n;
}
