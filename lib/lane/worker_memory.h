/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One worker's memory: what lies where in its two blocks, so that whoever has them mapped can find
 * all of it. Offsets only: no two processes have them at the same addresses.
 *
 *   lane block  the header here, then per dispatcher slots, metadata, covers: the worker only reads
 *   own block   the line here, then progress, activity, verdicts, heads: the worker writes
 */
#ifndef WEIR_LANE_WORKER_MEMORY_H
#define WEIR_LANE_WORKER_MEMORY_H

#include <stdatomic.h>
#include <stdint.h>

#include <weir/pool.h>

#include "cacheline.h"
#include "counter.h"
#include "progress.h"

/* Their bytes read "WEIRLANE" and "WEIR OWN" in memory of a little-endian machine. */
#define WORKER_LANES_MAGIC UINT64_C(0x454e414c52494557)
#define WORKER_OWN_MAGIC UINT64_C(0x4e574f2052494557)

/* To be counted up with every change of what is in this file, in lanes or in progress lines. */
#define WORKER_ABI_VERSION 1

/* What lies where. All in bytes; those without a note from the begin of their block. */
struct worker_layout {
	uint64_t lanes_bytes; /* of the whole lane block */
	uint64_t own_bytes;   /* of the whole own block */
	uint64_t data_bytes;  /* of the memory that packets are in; 0: slots carry addresses */
	uint64_t slots_offset;
	uint64_t lane_stride;	  /* from one dispatcher's slots to the next one's */
	uint64_t metadata_offset; /* from a lane's slots; 0: no metadata travels */
	uint64_t covers_offset;	  /* from a lane's slots; 0: no class covers early */
	uint64_t progress_offset; /* the activity line is behind it */
	uint64_t verdicts_offset;
	uint64_t verdicts_stride;
	uint64_t heads_offset; /* a line for each dispatcher; 0: plain lanes */
	uint64_t covering;     /* classes that cover early, one bit each */
	uint32_t n_slots;
	uint32_t n_verdicts;
	uint32_t n_dispatchers;
	uint32_t n_urgent;
	uint32_t publishes_in_process; /* 1: before a handler runs; else 0 */
	uint32_t spare;
};

/*
 * What a dispatcher says of its lane, in a line of its own. Written by that dispatcher only; by
 * control where there is no such dispatcher.
 */
struct lane_header {
	/* Edge E14: {incarnation + 1 : 32, tail : 32} once the lane has ended; 0: it never has. */
	CACHE_ALIGNED _Atomic uint64_t end;
};

/* The begin of the lane block. Lines are control's, but for those of the lanes. */
struct worker_header {
	CACHE_ALIGNED uint64_t magic;
	uint32_t version;
	uint32_t header_bytes; /* of this struct */
	struct worker_layout layout;
	uint32_t id;
	_Atomic uint32_t incarnation;
	/* By dispatcher: where the incarnation begins, as its progress word counts. */
	uint32_t begin[WEIR_DISPATCHERS_MAX];
	/* Edge E5: enum weir_worker_command. */
	CACHE_ALIGNED _Atomic uint32_t command;
	struct lane_header lane[WEIR_DISPATCHERS_MAX];
};

/* The begin of the own block: tells it from others, and nothing else. Control writes it. */
struct worker_own {
	CACHE_ALIGNED uint64_t magic;
	uint32_t version;
	uint32_t id;
	uint32_t incarnation;
};
static_assert(sizeof(struct worker_own) == CACHE_LINE_BYTES, "one line");

/* What a worker counts of itself. A line apart from its progress, which dispatchers poll. */
struct activity {
	CACHE_ALIGNED struct counter taken; /* packets, of this incarnation */
	struct counter completed;
	struct counter busy_cycles;
	struct counter busy_since; /* 0: it is not at work */
};
static_assert(sizeof(struct activity) == CACHE_LINE_BYTES, "one line");

/* The lines of the own block that are there once, in front of the verdicts. */
struct worker_lines {
	struct progress progress;
	struct activity activity;
};

/*
 * Edge E14, release side: nothing more comes through the lane than the packets before sequence
 * number `tail`, as long as the worker is of this incarnation. Without release order the worker
 * could see the end and not the last packets before it, and leave them behind.
 */
static inline void
lane_end(struct lane_header *header, uint32_t incarnation, uint32_t tail)
{
	atomic_store_explicit(
		&header->end, (uint64_t)(incarnation + 1) << 32 | tail, memory_order_release);
}

/*
 * Makes `worker`, which is zeroed, of its two blocks. `checked` is the header that stands in front
 * of `lanes`, or a copy of it. `data`: what offsets in slots begin at; NULL if they are addresses.
 */
struct weir_worker;
void worker_open(struct weir_worker *worker, const void *lanes, const struct worker_header *checked,
	void *own, uint8_t *data);

#endif
