/* SPDX-License-Identifier: BSD-3-Clause */
/* One lane with both its ends, over plain arrays and without a pool. Of either kind. */
#ifndef WEIR_TESTS_LANE_BENCH_H
#define WEIR_TESTS_LANE_BENCH_H

#include "lane.h"
#include "worker.h"

struct lane_bench {
	struct lane_geometry geometry;
	lane_slot *slots;
	struct weir_meta *metadata; /* NULL: none travels */
	struct weir_verdict *verdicts;
	void **packets;
	struct progress progress;
	struct activity activity;
	struct lane_producer producer; /* capacity 0: for the test to set */
	struct weir_worker worker;
};

/* Fills a zeroed bench. */
void lane_bench_open(struct lane_bench *bench, struct lane_geometry geometry);

void lane_bench_close(struct lane_bench *bench);

/* Packet number `id`, and what its worker sees: any address will do, none is followed. */
static inline void *
lane_bench_packet(uint32_t id)
{
	return (void *)((uintptr_t)0x10000 + (uintptr_t)id * 8);
}

static inline void *
lane_bench_data(uint32_t id)
{
	return (void *)((uintptr_t)id * 16);
}

#endif
