/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stress: a pool with real threads. Dispatchers send numbered packets, workers answer in the
 * packet and in the verdict, dispatchers check both, the order of each lane (of each bucket with
 * order flow), and at the end the books. Bounded by packets, not by time. Built with every
 * sanitizer.
 */
#ifndef WEIR_TESTS_STRESS_H
#define WEIR_TESTS_STRESS_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/weir.h>

struct stress_plan {
	struct weir_config config;
	uint32_t n_packets; /* per dispatcher */
	/*
	 * If not 0, a control thread takes workers out and puts them back, and no dispatcher sends
	 * more than so many packets per change.
	 */
	uint32_t packets_per_change;
	uint32_t n_buckets;   /* that packets are drawn from; 0: all */
	bool delays;	      /* workers sleep and yield at random, also with packets in hand */
	uint32_t moves_min;   /* buckets that must have moved, over all dispatchers; 0: any */
	uint32_t evicted_min; /* packets that must have been evicted, likewise */
};

/* Runs the plan and prints a line. Returns the number of checks that failed. */
uint32_t stress_run(const struct stress_plan *plan, uint64_t seed);

/* A seed from the kernel, or WEIR_TEST_SEED; prints it. */
uint64_t stress_seed(const char *name);

#endif
