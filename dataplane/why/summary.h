/* SPDX-License-Identifier: BSD-3-Clause */
/* What a replay comes to: flows, buckets, workers, and a sentence that names the cause. */
#ifndef WEIR_WHY_SUMMARY_H
#define WEIR_WHY_SUMMARY_H

#include <stdio.h>

#include "census.h"
#include "options.h"

/* Returns 0 or -ENOMEM after a line. */
int summary_print(
	FILE *out, const struct options *options, const struct census *census, uint64_t moves);

#endif
