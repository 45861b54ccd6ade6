/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lane: a single-producer single-consumer ring from one dispatcher to one worker.
 *
 * A slot is one 64-bit word {where the packet's data is : 63, phase : 1}, an address or, for
 * workers in other processes, an offset. The producer flips the phase with every lap, so the
 * consumer sees a new packet by one load of the slot itself: there is no shared head or tail, and
 * the consumer writes nothing here. A packet stays in its slot until it is harvested; that is why
 * capacity counts packets in process too, and why a worker that dies takes nothing along. (Pools
 * that evict have another kind of lane: claim_lane.h.)
 *
 * Three kinds of memory, by writer:
 *   lane area (slots, metadata, covers)   dispatcher writes, worker reads
 *   worker area (verdicts)                worker writes, dispatcher reads
 *   private (packet handles)              dispatcher only
 */
#ifndef WEIR_LANE_LANE_H
#define WEIR_LANE_LANE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/packet.h>

#include "cacheline.h"

typedef _Atomic uint64_t lane_slot;

/* Of a class that covers early: sequence number of its newest packet in the lane. */
typedef _Atomic uint32_t lane_cover_seq;

/* Where one lane's arrays begin, in bytes within their areas, and how long the arrays are. */
struct lane_geometry {
	uint32_t n_slots;    /* power of two, at least the capacity */
	uint32_t n_verdicts; /* power of two: n_slots, and more in claim lanes */
	size_t slots_bytes;
	size_t metadata_bytes; /* 0 when no metadata travels */
	size_t verdicts_bytes;
	size_t packets_bytes;
	size_t covers_bytes; /* 0 when no class covers early: whoever lays lanes out adds them */
};

/*
 * The dispatcher's end, private to it. One cache line: a lend touches this line, the slot's, the
 * handle's and the metadata's.
 */
struct lane_producer {
	CACHE_ALIGNED lane_slot *slots;
	struct weir_meta *metadata; /* NULL when no metadata travels */
	void **packets;		    /* handles, for harvest */
	const struct weir_verdict *verdicts;
	uint32_t n_slots;
	uint32_t capacity;   /* usable slots; 0 once the lane takes no more */
	uint32_t tail;	     /* packets lent so far */
	uint32_t harvested;  /* packets brought home so far */
	uint32_t completed;  /* as the worker's progress word said last */
	uint32_t in_process; /* likewise */
	uint32_t others;     /* what other dispatchers have outstanding there, as read last */
	uint32_t peak_mark;  /* a depth above this one is a new peak, or an alarm */
};
static_assert(sizeof(struct lane_producer) == CACHE_LINE_BYTES, "one line per lane");

struct claim_head;

/* The worker's end, private to it. */
struct lane_consumer {
	const lane_slot *slots;
	const struct weir_meta *metadata;
	struct weir_verdict *verdicts;
	const lane_cover_seq *covers; /* by class; NULL when no class covers early */
	struct claim_head *claim;     /* NULL: a plain lane; see claim_lane.h */
	uint32_t n_slots;
	uint32_t n_verdicts;
	uint32_t head;	     /* packets taken so far */
	uint32_t completed;  /* packets completed so far */
	uintptr_t data_base; /* what offsets in slots begin at; 0 where they are addresses */
};
static_assert(sizeof(struct lane_consumer) == CACHE_LINE_BYTES, "one line per lane");

/*
 * Array sizes for lanes of `capacity` usable slots (1 .. 65535). Each array is one cache line
 * longer than it needs: lanes laid out one after another then fall into different cache sets,
 * where power-of-two strides would put the current slot of every lane into the same one.
 */
struct lane_geometry lane_geometry_make(uint32_t capacity, bool with_metadata);

/* The phase bit of the slot that holds sequence number `seq`: 1 in the first lap, 0 in the next. */
static inline uint64_t
lane_phase(uint32_t seq, uint32_t n_slots)
{
	return (seq & n_slots) == 0;
}

/* Packets lent and not harvested. */
static inline uint32_t
lane_occupied(const struct lane_producer *lane)
{
	return lane->tail - lane->harvested;
}

/* Free slots. */
static inline uint32_t
lane_room(const struct lane_producer *lane)
{
	const uint32_t occupied = lane_occupied(lane);

	return occupied < lane->capacity ? lane->capacity - occupied : 0;
}

/*
 * Where the data is of the packet that was lent as number `seq` and whose slot still has it: an
 * address, or an offset from the data_base that it was staged with.
 */
static inline uintptr_t
lane_data_place(const struct lane_producer *lane, uint32_t seq)
{
	return (uintptr_t)(atomic_load_explicit(
				   &lane->slots[seq & (lane->n_slots - 1)], memory_order_relaxed) >>
			   1);
}

/* What is left to do of a lend that was staged: the stores to lines that the worker reads. */
struct lane_post {
	lane_slot *slot;
	uint64_t word;
	struct weir_meta *metadata; /* NULL when no metadata travels */
	const struct weir_meta *from;
};

/*
 * Lends `n` packets of a burst, all but their publication: data[i] is what the worker gets, counted
 * from `data_base` (0: addresses travel), packets[i] what harvest gives back. There must be room.
 * `meta` must stay until lane_publish_metadata. The worker sees nothing before lane_publish.
 *
 * A burst is staged whole, then its metadata copied, then its slots stored. A worker at the
 * producer's heels would otherwise take the slot beside the one that is being written, and each
 * line would change hands once per packet; and stores to metadata lines, which the worker's core
 * had last, would fill the store buffer, where the prefetches of a burst overlap.
 */
static inline void
lane_stage(struct lane_producer *lane, uintptr_t data_base, void *const *packets, void *const *data,
	const struct weir_meta *meta, uint32_t n, struct lane_post *posts)
{
	/* In locals: the stores below could change the lane, as far as the compiler knows. */
	lane_slot *const slots = lane->slots;
	struct weir_meta *const metadata = lane->metadata;
	void **const handles = lane->packets;
	const uint32_t n_slots = lane->n_slots;
	const uint32_t tail = lane->tail;

	lane->tail = tail + n;
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t index = (tail + i) & (n_slots - 1);

		if (metadata)
			prefetch_write(&metadata[index]);
		handles[index] = packets[i];
		posts[i] = (struct lane_post) {
			.slot = &slots[index],
			.word = (uint64_t)((uintptr_t)data[i] - data_base) << 1 |
				lane_phase(tail + i, n_slots),
			.metadata = metadata ? &metadata[index] : NULL,
			.from = &meta[i],
		};
	}
}

/* Copies the metadata of a staged lend. Before lane_publish. */
static inline void
lane_publish_metadata(const struct lane_post *post)
{
	if (post->metadata)
		*post->metadata = *post->from;
}

/*
 * Edge E3, release side: without release order the worker could see the slot before the metadata
 * and the packet bytes behind it. Posts of one lane are published in the order of their staging.
 */
static inline void
lane_publish(const struct lane_post *post)
{
	atomic_store_explicit(post->slot, post->word, memory_order_release);
}

/*
 * Looks at the slot of sequence number `seq`. Returns whether a packet is there and puts its data
 * into `data`. Edge E3, acquire side: pairs with lane_publish.
 */
static inline bool
lane_peek(const struct lane_consumer *lane, uint32_t seq, uint64_t *data)
{
	const uint64_t slot =
		atomic_load_explicit(&lane->slots[seq & (lane->n_slots - 1)], memory_order_acquire);

	*data = lane->data_base + (slot >> 1);
	return (slot & 1) == lane_phase(seq, lane->n_slots);
}

/*
 * Edge E9, dispatcher's side: the packet of sequence number `seq`, which is lent next, covers those
 * of its class that are queued before it. Relaxed: the slot of that packet is published behind this
 * (edge E3), so that a worker that sees the packet sees a number as high at least; and a worker
 * that sees the number sooner covers a packet whose successor is on its way.
 */
static inline void
lane_cover(lane_cover_seq *covers, uint32_t class_id, uint32_t seq)
{
	atomic_store_explicit(&covers[class_id], seq, memory_order_relaxed);
}

/*
 * Edge E9, worker's side: whether a newer packet of its class covers the one of sequence number
 * `seq`. Asked once for each packet, when it is taken: so a packet is either covered or worked on.
 * Every packet of such a class stores its number, so the two lie no farther apart than a lane is
 * long.
 */
static inline bool
lane_is_covered(const lane_cover_seq *covers, uint32_t class_id, uint32_t seq)
{
	return (int32_t)(seq - atomic_load_explicit(&covers[class_id], memory_order_relaxed)) < 0;
}

#endif
