/* SPDX-License-Identifier: BSD-3-Clause */
/* Many values to few: the mean of a round's bursts, the median and range of all rounds. */
#ifndef WEIR_BENCH_SUMMARY_H
#define WEIR_BENCH_SUMMARY_H

#include <stdint.h>

struct summary {
	double median;
	double min;
	double max;
};

/* Of `n` values, 1 or more; they are left as they are. Returns 0 or -ENOMEM. */
int summary_make(struct summary *summary, const double *values, uint32_t n);

/*
 * The mean of all samples but the slowest hundredth, which interrupts and the hypervisor have hit.
 * Sorts them. n: 1 or more.
 */
double trimmed_mean(uint64_t *samples, uint32_t n);

/* The median of `n` samples, 1 or more. Sorts them. */
uint64_t sample_median(uint64_t *samples, uint32_t n);

#endif
