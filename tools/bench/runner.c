/* SPDX-License-Identifier: BSD-3-Clause */
#include "runner.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PROGRESS_SECONDS 2

static double *
values_at(const struct run *run, uint32_t test, uint32_t figure)
{
	const size_t row = (size_t)test * (run->n_figures + 1) + figure;

	return &run->values[row * run->bench->options.rounds];
}

const double *
run_values(const struct run *run, uint32_t test, uint32_t figure)
{
	return values_at(run, test, figure);
}

static bool
is_baseline_of(
	const struct run *run, const struct bench_case *candidate, const struct bench_case *test)
{
	return strcmp(candidate->subject, run->command->baseline) == 0 &&
	       strcmp(candidate->situation, test->situation) == 0 &&
	       candidate->workers == test->workers && candidate->chunk == test->chunk;
}

int
run_baseline(const struct run *run, uint32_t test)
{
	const struct bench_plan *plan = run->plan;

	for (uint32_t i = 0; run->command->baseline && i < plan->n; i++)
		if (i != test && is_baseline_of(run, &plan->cases[i], &plan->cases[test]))
			return (int)i;
	return -1;
}

static int
case_fail(const struct run *run, const struct bench_case *test, int rc)
{
	fprintf(stderr, "weir-bench: %s: %s, %s, %u workers, chunk %u: %s%s\n", run->command->name,
		test->subject, test->situation, test->workers, test->chunk,
		rc == -EBADMSG ? "not so: " : "",
		rc == -EBADMSG ? run->command->proof : strerror(-rc));
	return rc;
}

static int
case_measure(struct run *run, uint32_t i, uint32_t round)
{
	struct bench_case *test = &run->plan->cases[i];
	double figures[BENCH_FIGURES_MAX] = { 0 };
	const int rc = test->ops->round(test, run->bench, figures);

	if (rc < 0)
		return case_fail(run, test, rc);
	for (uint32_t f = 0; f < run->n_figures; f++)
		values_at(run, i, f)[round] = figures[f];
	return 0;
}

/* Long runs say where they are, on a line each. */
static void
progress_print(const struct run *run, uint32_t rounds_done, time_t *printed)
{
	const time_t now = time(NULL);

	if (now - *printed < PROGRESS_SECONDS)
		return;
	*printed = now;
	fprintf(stderr, "weir-bench: %s: %u of %u rounds\n", run->command->name, rounds_done,
		run->bench->options.rounds);
}

static int
rounds_measure(struct run *run)
{
	time_t printed = time(NULL);

	for (uint32_t round = 0; round < run->bench->options.rounds; round++) {
		for (uint32_t i = 0; i < run->plan->n; i++) {
			const int rc = case_measure(run, i, round);

			if (rc < 0)
				return rc;
		}
		progress_print(run, round + 1, &printed);
	}
	return 0;
}

/* Ratios are of one round each: what disturbs a whole round disturbs both sides. */
static void
ratios_compute(struct run *run)
{
	for (uint32_t i = 0; i < run->plan->n; i++) {
		const int baseline = run_baseline(run, i);

		for (uint32_t r = 0; baseline >= 0 && r < run->bench->options.rounds; r++)
			values_at(run, i, run->n_figures)[r] =
				values_at(run, i, 0)[r] / values_at(run, (uint32_t)baseline, 0)[r];
	}
}

static void
cases_close(struct run *run, uint32_t n)
{
	while (n-- > 0)
		run->plan->cases[n].ops->close(&run->plan->cases[n]);
}

static int
cases_open(struct run *run)
{
	for (uint32_t i = 0; i < run->plan->n; i++) {
		struct bench_case *test = &run->plan->cases[i];
		const int rc = test->ops->open(test, run->bench);

		if (rc < 0) {
			cases_close(run, i);
			return case_fail(run, test, rc);
		}
	}
	return 0;
}

int
run_all(struct run *run)
{
	int rc;

	while (run->command->figures[run->n_figures].key)
		run->n_figures++;
	run->values =
		calloc((size_t)run->plan->n * (run->n_figures + 1) * run->bench->options.rounds,
			sizeof(double));
	if (!run->values)
		return -ENOMEM;
	rc = cases_open(run);
	if (rc < 0)
		return rc;
	rc = rounds_measure(run);
	cases_close(run, run->plan->n);
	if (rc == 0)
		ratios_compute(run);
	return rc;
}

void
run_free(struct run *run)
{
	free(run->values);
	run->values = NULL;
}
