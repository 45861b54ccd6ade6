/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The polarisation alarm: tells traffic that the flow hash cannot spread (fragments, tunnels that
 * cannot be looked into, one pair of MACs) from traffic that is merely uneven.
 */
#ifndef WEIR_POLARISATION_H
#define WEIR_POLARISATION_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/flow.h>
#include <weir/packet.h>

/** Groups of buckets whose use is counted: 256 neighbouring buckets each. */
#define WEIR_BUCKET_GROUPS 256
/** Fewer packets in a window than this prove nothing. */
#define WEIR_POLARISATION_PKTS_MIN 1024

/** How often each group of buckets was used, in packets, counting up. */
struct weir_bucket_use {
	uint64_t all[WEIR_BUCKET_GROUPS];
	uint64_t fallback[WEIR_BUCKET_GROUPS]; /**< of these, without ports to tell flows apart */
};

/** The group of a bucket. */
static inline uint32_t
weir_bucket_group(uint16_t bucket)
{
	return bucket / (WEIR_BUCKETS / WEIR_BUCKET_GROUPS);
}

/** What a window of traffic looks like. */
struct weir_polarisation {
	uint64_t packets;    /**< in the window */
	double entropy_bits; /**< of the use of groups: 8 = evenly, 0 = all in one */
	uint32_t top_group;  /**< the most used group */
	double top_share;    /**< its share of all packets, 0 to 1 */
	bool alarm;
};

/**
 * Judges the window between two countings.
 *
 * The alarm rings when one group alone has more than a worker's whole share (1/n_workers) of at
 * least WEIR_POLARISATION_PKTS_MIN packets, and at least half of it by fallback: then the cause is
 * what the hash was given. A single large flow with ports does not ring it. With one worker there
 * is no share to exceed.
 *
 * @param before counting at the window's start; counters may wrap
 * @param now    counting at its end
 * @param n_workers 1 .. WEIR_WORKERS_MAX
 * Any thread; not for the packet path.
 */
WEIR_API struct weir_polarisation weir_polarisation_judge(const struct weir_bucket_use *before,
	const struct weir_bucket_use *now, uint32_t n_workers);

#endif
