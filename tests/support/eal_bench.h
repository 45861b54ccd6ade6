/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DPDK for unit tests: no huge pages, no root, nothing shared with another run; one lcore, one
 * virtual device, port 0. net_ring gives back what is sent to it.
 */
#ifndef WEIR_TESTS_EAL_BENCH_H
#define WEIR_TESTS_EAL_BENCH_H

#include <rte_mempool.h>

/* Starts EAL with the device. Returns 0, or -1. */
int eal_bench_start(const char *vdev);

/* Starts port 0 with a queue each way. Returns 0, or -1. */
int eal_bench_port_start(uint16_t n_descriptors, struct rte_mempool *mbufs);

/* Closes port 0 and ends EAL. The pool goes in between: the port's queues held buffers of it. */
int eal_bench_stop(struct rte_mempool *mbufs);

#endif
