/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DPDK for unit tests: no huge pages, no root, nothing shared with another run; one lcore, one
 * virtual device, port 0. net_ring gives back what is sent to it.
 */
#ifndef WEIR_TESTS_EAL_BENCH_H
#define WEIR_TESTS_EAL_BENCH_H

#include <rte_mbuf.h>

#include <weir/packet.h>

/* Starts EAL with the device. Returns 0, or -1. */
int eal_bench_start(const char *vdev);

/* Starts port 0 with a queue each way. Returns 0, or -1. */
int eal_bench_port_start(uint16_t n_descriptors, struct rte_mempool *mbufs);

/* A packet of `bytes` bytes, all `fill`. */
struct rte_mbuf *eal_bench_packet(struct rte_mempool *mbufs, uint16_t bytes, uint8_t fill);

/* The verdict that sends it out by port 0, from `offset` on and so long. */
static inline struct weir_verdict
eal_bench_verdict_tx(int16_t offset, uint32_t length)
{
	return (struct weir_verdict) {
		.kind = WEIR_VERDICT_TX, .data_offset = offset, .length = length
	};
}

/* Closes port 0 and ends EAL. The pool goes in between: the port's queues held buffers of it. */
int eal_bench_stop(struct rte_mempool *mbufs);

#endif
