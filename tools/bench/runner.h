/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a plan in interleaved rounds and keeps every figure of every round. */
#ifndef WEIR_BENCH_RUNNER_H
#define WEIR_BENCH_RUNNER_H

#include <stdbool.h>

#include "bench.h"
#include "summary.h"

struct run {
	const struct bench *bench;
	const struct bench_command *command;
	struct bench_plan *plan;
	uint32_t n_figures;
	double *values; /* [case][figure][round]; behind the figures, the ratio */
};

/*
 * Opens all cases, measures round after round, closes them. Progress goes to stderr.
 * Returns 0, or -errno after one line on stderr.
 */
int run_all(struct run *run);
void run_free(struct run *run);

/* Every round's values of one figure; figure n_figures is the ratio to the baseline. */
const double *run_values(const struct run *run, uint32_t test, uint32_t figure);

/* The case that `test` is compared with; -1 if there is none, or if it is that case itself. */
int run_baseline(const struct run *run, uint32_t test);

#endif
