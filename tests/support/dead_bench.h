/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An rx core with a ring for dead packets, a port that loops back and lanes that fill quickly: what
 * the tests of dead packets share.
 */
#ifndef WEIR_TESTS_DEAD_BENCH_H
#define WEIR_TESTS_DEAD_BENCH_H

#include <stdint.h>

#include <weir/weir.h>

#include "rx_core.h"

#define DEAD_MBUFS 4095
#define DEAD_WORKERS 3
#define DEAD_LANE_PKTS 4
#define DEAD_PACKET_BYTES 100

struct dead_bench {
	struct rte_mempool *mbufs;
	struct rx_core *rx_core;
	struct weir_pool *pool;
	char path[64]; /* of a file that tests may write; removed at the end */
};

/* Starts EAL; `state` gets the bench. For cmocka's group. */
int dead_bench_setup(void **state);
int dead_bench_teardown(void **state);

/* A run with an rx core and workers of its own, which keeps one of `sample` packets; 0: none. */
void dead_bench_open(struct dead_bench *bench, const char *strategy, uint32_t sample);

/* Ends the run; every buffer must be back. */
void dead_bench_close(struct dead_bench *bench);

/* A packet that has arrived on port 2. */
struct rte_mbuf *dead_bench_packet(const struct dead_bench *bench, uint16_t bytes, uint8_t fill);

/* Dispatches `n` packets one by one, filled with 0, 1, 2 ... */
void dead_bench_dispatch(struct dead_bench *bench, uint32_t n);

void dead_bench_dispatch_packet(struct dead_bench *bench, struct rte_mbuf *packet);

#endif
