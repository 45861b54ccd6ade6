/* SPDX-License-Identifier: BSD-3-Clause */
/* All the workers of a pool, played by one thread with weir_take and weir_complete. */
#ifndef WEIR_BENCH_WORKERS_H
#define WEIR_BENCH_WORKERS_H

#include <stdint.h>

#include <weir/lane.h>

struct bench_workers {
	struct weir_worker *worker[WEIR_WORKERS_MAX];
	uint32_t n;
	uint32_t seen[WEIR_WORKERS_MAX]; /* packets of the lane met so far */
	struct weir_packet packets[WEIR_BURST_MAX];
	struct weir_verdict verdicts[WEIR_BURST_MAX];
};

/* Of a pool with one dispatcher. */
void workers_init(struct bench_workers *workers, struct weir_pool *pool);

/*
 * Completes what every worker has, but for its `keep` newest packets. Returns packets that no
 * earlier sweep has met.
 */
uint32_t workers_sweep(struct bench_workers *workers, uint32_t keep);

#endif
