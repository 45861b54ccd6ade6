/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The claim lane: a lane whose oldest packets the dispatcher can take back (drop-head). Slots,
 * metadata and phases are the plain lane's; what is added is one word per lane, the head, which
 * both ends move by compare-and-swap only: the worker to take a run, the dispatcher to evict one.
 *
 * A slot behind the head is free at once. So the worker copies slots and metadata first and claims
 * them afterwards, and the dispatcher keeps the handles of what was taken in a list of its own,
 * until they come home. Only queued packets count against the capacity.
 *
 * Edge E11: whoever moves the head releases, whoever reads it acquires. Without it the dispatcher
 * could store a slot anew that the worker is still copying, and the worker could take a slot's word
 * of two laps ago, which has the same phase, for the new one. The head has 64 bits, so that one
 * that a sleeping worker has read never comes back.
 *
 * The worker can write the head and its progress word: neither is believed out of range.
 */
#ifndef WEIR_LANE_CLAIM_LANE_H
#define WEIR_LANE_CLAIM_LANE_H

#include <string.h>

#include "lane.h"

/* The word that both ends write: the sequence number of the oldest queued packet. A line each. */
struct claim_head {
	CACHE_ALIGNED _Atomic uint64_t seq;
};

/* What else the lane said of a packet that was taken: its slot may be another's by now. */
struct claim_lent {
	uintptr_t data_place; /* as lane_data_place() says */
	struct weir_meta meta;
};

/*
 * The dispatcher's private half, beside the lane's struct lane_producer, whose fields are kept such
 * that the packet path treats both kinds alike (claim_view).
 */
struct claim_lane {
	CACHE_ALIGNED struct claim_head *shared;
	void **taken_packets; /* handles, by taken number, n_taken_slots of them */
	uint32_t *taken_seqs; /* likewise: sequence numbers in the lane */
	/* Likewise; NULL when no metadata travels: then no taken packet can be lent again. */
	struct claim_lent *taken_lent;
	uint64_t head; /* as last believed */
	uint32_t n_taken_slots;
	uint32_t capacity;  /* queued packets; 0 once the lane takes no more */
	uint32_t published; /* slots below this sequence number are stored */
	uint32_t taken;	    /* packets taken by the worker so far */
	uint32_t harvested; /* of these, brought home */
	uint32_t evicted;   /* packets taken back so far */
};
static_assert(sizeof(struct claim_lane) == CACHE_LINE_BYTES, "one line per lane");

/*
 * How far the head may be ahead of the oldest taken packet, by evictions, before there are no more:
 * stamps have 32 bits, and a pin's window must not wrap.
 */
#define CLAIM_GAP_MAX (UINT32_C(1) << 31)

/*
 * As lane_geometry_make, for claim lanes: twice the capacity and a burst may be taken or queued
 * before the dispatcher looks again, and each of them needs a verdict of its own.
 */
struct lane_geometry claim_geometry_make(uint32_t capacity, bool with_metadata);

/* Bytes of the list of what was taken, per lane. */
size_t claim_taken_bytes(const struct lane_geometry *geometry);

/* A fresh claim lane; `memory`: zeroed, claim_taken_bytes() long. */
struct claim_lane claim_lane_make(const struct lane_geometry *geometry, uint32_t capacity,
	struct claim_head *shared, void *memory);

/* Packets in the lane that neither the worker nor the dispatcher has taken out. */
static inline uint32_t
claim_queued(const struct claim_lane *claim, const struct lane_producer *lane)
{
	return lane->tail - (uint32_t)claim->head;
}

/* Packets that the worker has taken and that have not come home. */
static inline uint32_t
claim_in_process(const struct claim_lane *claim)
{
	return claim->taken - claim->harvested;
}

/*
 * Puts the lane's state into the fields that the packet path goes by: room counts what is queued;
 * depth counts what is queued or taken; and a pin is out if its packet is not older than the oldest
 * that is still taken, or queued. To be called after each change of the claim lane.
 */
void claim_view(const struct claim_lane *claim, struct lane_producer *lane);

/*
 * Edge E11, acquire side: learns what the worker has taken. A head that lies behind the last one or
 * beyond the tail is not believed.
 */
void claim_learn(struct claim_lane *claim, const struct lane_producer *lane);

/* Fetches what claim_learn and the harvest after it will read. */
static inline void
claim_prefetch(const struct claim_lane *claim, const struct lane_producer *lane)
{
	prefetch_read(claim->shared);
	prefetch_read(&lane->verdicts[claim->harvested & (claim->n_taken_slots - 1)]);
}

/* Whether there is something to evict. */
static inline bool
claim_can_evict(const struct claim_lane *claim, const struct lane_producer *lane)
{
	return claim_queued(claim, lane) > 0 &&
	       (uint32_t)claim->head - lane->harvested < CLAIM_GAP_MAX;
}

/*
 * Takes the oldest queued packet out of the lane (edge E11, release side). It must be published.
 * Returns false if the worker was quicker: then nothing has changed here, and claim_learn tells
 * what it took.
 */
bool claim_evict(struct claim_lane *claim, struct lane_producer *lane, void **packet);

/* Ends the use of a lane: it is empty and takes no more. */
void claim_close(struct claim_lane *claim, const struct lane_producer *lane);

/* Takes out of a lane all that is in it: its worker is gone, and the next one begins behind it. */
void claim_empty(struct claim_lane *claim, struct lane_producer *lane);

/*
 * lane_publish_metadata for claim lanes. The worker may be copying what stood here: whatever it
 * reads of this, its claim must fail, so each word releases the eviction that freed its place.
 */
static inline void
claim_publish_metadata(const struct lane_post *post)
{
	_Atomic uint64_t *const to = (_Atomic uint64_t *)(void *)post->metadata;
	uint64_t words[sizeof(struct weir_meta) / sizeof(uint64_t)];

	if (!post->metadata)
		return;
	memcpy(words, post->from, sizeof(words));
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		atomic_store_explicit(&to[i], words[i], memory_order_release);
}

/* The worker's end. */

/*
 * Copies up to `max` packets from sequence number `first` on. They are the worker's once
 * claim_take_copied says so: until then their data must not be touched. Returns packets copied.
 */
uint32_t claim_copy(const struct lane_consumer *lane, uint64_t first, struct weir_packet *packets,
	uint32_t max);

/*
 * Claims the `n` packets copied from `first` on (edge E11, release side: the dispatcher may store
 * their slots anew). Returns how many of them, the oldest, were evicted
 * meanwhile: all n if the worker has got nothing. What was copied of the others is theirs: a slot
 * changes only after its packet has left the lane.
 */
uint32_t claim_take_copied(const struct lane_consumer *lane, uint64_t first, uint32_t n);

/* Takes up to `max` packets, in order. Returns packets taken. */
uint32_t claim_take(struct lane_consumer *lane, struct weir_packet *packets, uint32_t max);

#endif
