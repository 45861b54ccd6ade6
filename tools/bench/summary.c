/* SPDX-License-Identifier: BSD-3-Clause */
#include "summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TRIMMED_SHARE 100 /* one sample in so many is left out */

static int
double_compare(const void *a, const void *b)
{
	const double x = *(const double *)a;
	const double y = *(const double *)b;

	return (x > y) - (x < y);
}

static int
sample_compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a;
	const uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

int
summary_make(struct summary *summary, const double *values, uint32_t n)
{
	double *sorted = malloc(n * sizeof(*sorted));

	if (!sorted)
		return -ENOMEM;
	memcpy(sorted, values, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), double_compare);
	*summary = (struct summary) {
		.median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2,
		.min = sorted[0],
		.max = sorted[n - 1],
	};
	free(sorted);
	return 0;
}

double
trimmed_mean(uint64_t *samples, uint32_t n)
{
	const uint32_t kept = n - n / TRIMMED_SHARE;
	double sum = 0;

	qsort(samples, n, sizeof(*samples), sample_compare);
	for (uint32_t i = 0; i < kept; i++)
		sum += (double)samples[i];
	return sum / kept;
}

uint64_t
sample_median(uint64_t *samples, uint32_t n)
{
	qsort(samples, n, sizeof(*samples), sample_compare);
	return samples[n / 2];
}
