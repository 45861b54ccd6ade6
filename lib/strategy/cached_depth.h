/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of readings. A line per worker, written by its publisher alone: two slots in turn and
 * the number of the newest. A publisher that dies half-way leaves the last whole reading, and a
 * reader never waits for it.
 */
#ifndef WEIR_STRATEGY_CACHED_DEPTH_H
#define WEIR_STRATEGY_CACHED_DEPTH_H

#include <stdatomic.h>

#include <weir/cached_depth.h>

#include "area.h"
#include "cacheline.h"

/* Looks at a line that changes under the reader's eyes, before it gives up. */
#define READING_TRIES 4

struct reading_slot {
	_Atomic uint64_t time_ns;
	_Atomic uint64_t depth; /* {incarnation : 32, depth_pkts : 32} */
	_Atomic uint64_t routable;
};

struct reading_line {
	CACHE_ALIGNED _Atomic uint64_t sequence; /* readings published; the newest's slot is its
						    lowest bit; 0 = none */
	struct reading_slot slot[2];
};
static_assert(sizeof(struct reading_line) == CACHE_LINE_BYTES, "one line");

/* Control thread only. */
struct reading_lease {
	uint32_t n_leases;
	uint32_t incarnation; /* the last one that began */
};

struct weir_cached_depth {
	struct weir_cached_depth_config config;
	struct weir_strategy strategy;
	struct area area; /* this object's own */
	struct reading_lease lease[WEIR_WORKERS_MAX];
	/* Written by control: the incarnation whose readings count, 0 = nobody has a lease. */
	CACHE_ALIGNED _Atomic uint32_t incarnation[WEIR_WORKERS_MAX];
	struct reading_line line[WEIR_WORKERS_MAX];
};

/* The strategy, but for its instance. */
extern const struct weir_strategy cached_shallowest;

/* Nothing hangs on it but itself: a reading of another incarnation is no reading, old or new. */
static inline uint32_t
reading_incarnation(const struct weir_cached_depth *cached, weir_worker_id worker)
{
	return atomic_load_explicit(&cached->incarnation[worker], memory_order_relaxed);
}

/*
 * Edge E10, acquire side: the slot that the number names is whole. Its words are acquired too: the
 * publisher writes this slot again only after it has stored the next number, so who reads a word of
 * that next turn also finds the number changed when it looks again. Without it a reading could be
 * half one and half another. Returns the number, 0 if there is no reading, or UINT64_MAX if the
 * line changed meanwhile.
 */
static inline uint64_t
reading_load_once(const struct reading_line *line, struct weir_depth_reading *reading)
{
	const uint64_t sequence = atomic_load_explicit(&line->sequence, memory_order_acquire);
	const struct reading_slot *slot = &line->slot[sequence & 1];
	const uint64_t depth = atomic_load_explicit(&slot->depth, memory_order_acquire);

	*reading = (struct weir_depth_reading) {
		.time_ns = atomic_load_explicit(&slot->time_ns, memory_order_acquire),
		.depth_pkts = (uint32_t)depth,
		.incarnation = (uint32_t)(depth >> 32),
		.routable = atomic_load_explicit(&slot->routable, memory_order_acquire) != 0,
	};
	return atomic_load_explicit(&line->sequence, memory_order_relaxed) == sequence ? sequence
										       : UINT64_MAX;
}

/* The same, some times over. */
static inline uint64_t
reading_load(const struct reading_line *line, struct weir_depth_reading *reading)
{
	uint64_t sequence = UINT64_MAX;

	for (uint32_t i = 0; i < READING_TRIES && sequence == UINT64_MAX; i++)
		sequence = reading_load_once(line, reading);
	return sequence;
}

/* The one thing that makes a reading usable besides its incarnation: it is not too far from now. */
static inline bool
reading_is_fresh(const struct weir_cached_depth *cached, const struct weir_depth_reading *reading,
	uint64_t now_ns)
{
	const uint64_t bound = cached->config.stale_after_ns;
	/* A publisher whose clock is ahead is believed no further than one that is late. */
	const uint64_t apart =
		now_ns > reading->time_ns ? now_ns - reading->time_ns : reading->time_ns - now_ns;

	return bound == 0 || apart <= bound;
}

#endif
