/* SPDX-License-Identifier: BSD-3-Clause */
#include "option_workers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

uint32_t
options_workers_max(const struct options *options)
{
	return options->workers_max > 0 ? options->workers_max : options->workers;
}

static int
workers_max_check(const struct options *options)
{
	char value[16];

	if (options_workers_max(options) >= options->workers)
		return 0;
	snprintf(value, sizeof(value), "%" PRIu32, options->workers_max);
	return options_refuse("--workers-max", value,
		"0, or %" PRIu32 " to %d (--workers %" PRIu32 ")", options->workers,
		WEIR_WORKERS_MAX, options->workers);
}

int
options_check_workers(const struct options *options)
{
	return workers_max_check(options);
}
