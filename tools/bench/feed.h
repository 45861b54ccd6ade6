/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ready-made traffic: bursts of packet handles with their metadata filled in, flows drawn
 * uniformly. What a burst hands out lies in the first-level cache, as after classification.
 */
#ifndef WEIR_BENCH_FEED_H
#define WEIR_BENCH_FEED_H

#include <stdint.h>

#include <weir/decide.h>

#include "area.h"

#define FEED_FLOWS_MAX 65536
#define FEED_FLOWS_DEFAULT 4096

struct feed {
	struct weir_meta flow[FEED_FLOWS_MAX];
	uint32_t n_flows; /* of these, that packets are drawn from */
	struct area buffers;
	uint64_t seed;
	uint64_t n;   /* packets handed out so far */
	uint64_t sum; /* of their handles */
	void *packets[WEIR_BURST_MAX];
	struct weir_meta meta[WEIR_BURST_MAX];
};

/* Returns 0 or -ENOMEM. */
int feed_init(struct feed *feed, uint64_t seed);
void feed_fini(struct feed *feed);

/* From here on packets are drawn from the first `n_flows` flows, 1 .. FEED_FLOWS_MAX. */
void feed_set_flows(struct feed *feed, uint32_t n_flows);

/* The next `n` packets, at most WEIR_BURST_MAX; valid until the next call. */
struct weir_burst feed_next(struct feed *feed, uint32_t n);

/* Where packets come home to: handles as a transmit queue would get them, then a sum of them. */
struct home {
	void **packets;
	uint32_t n; /* handles in `packets` */
	uint32_t capacity;
	uint64_t total; /* packets that came home, over all bursts */
	uint64_t sum;	/* of their handles */
};

/* `capacity`: most packets that can come home at once. Returns 0 or -ENOMEM. */
int home_init(struct home *home, uint32_t capacity);
void home_fini(struct home *home);

/* Counts what came home since the last call. */
void home_settle(struct home *home);

#endif
