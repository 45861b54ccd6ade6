/* SPDX-License-Identifier: BSD-3-Clause */
#include "option_workers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "handlers.h"
#include "option_handlers.h"

uint32_t
options_workers_max(const struct options *options)
{
	return options->workers_max > 0 ? options->workers_max : options->workers;
}

int
options_check_workers_max(const struct options *options)
{
	char value[16];

	if (options_workers_max(options) >= options->workers)
		return 0;
	snprintf(value, sizeof(value), "%" PRIu32, options->workers_max);
	return options_refuse("--workers-max", value,
		"0, or %" PRIu32 " to %d (--workers %" PRIu32 ")", options->workers,
		WEIR_WORKERS_MAX, options->workers);
}

/* What a handler began and did not finish is begun again: it must say that this does no harm. */
int
options_check_redeliver(const struct options *options)
{
	if (!options->redeliver)
		return 0;
	for (uint32_t i = 0; i < options_workers_max(options); i++) {
		const char *spec = options_handler_of(options, (weir_worker_id)i);

		if (!handlers_find(&options->handlers_loaded, spec)->restartable)
			return options_refuse("--handler", spec,
				"with --redeliver, one that may be started again on a packet that "
				"it has begun");
	}
	return 0;
}
