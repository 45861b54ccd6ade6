/* SPDX-License-Identifier: BSD-3-Clause */
#include "pool_options.h"

#include <errno.h>
#include <string.h>

static void
config_fill(struct weir_config *config, const struct options *options)
{
	*config = weir_config_default();
	config->n_workers = options->workers;
	config->n_dispatchers = options->rx_cores;
	config->lane_size = options->lane_size;
	config->burst = options->burst;
	config->chunk = options->chunk;
	config->hold_size = HOLD_SIZE_PKTS;
	config->depth_mode = options->depth_mode;
	config->order = strcmp(options->order, "flow") == 0 ? WEIR_ORDER_FLOW : WEIR_ORDER_NONE;
	config->sticky_ns = options->sticky_usec * 1000;
	config->strategy = options->strategy;
	config->overflow = options->overflow;
	config->seed = options->seed;
}

/* The option that sets a field of struct weir_config: `lane_size` is set by --lane-size. */
static const char *
option_of_field(const char *field, char *option, size_t option_bytes)
{
	if (strcmp(field, "n_workers") == 0)
		return "--workers";
	if (strcmp(field, "n_dispatchers") == 0)
		return "--rx-cores";
	snprintf(option, option_bytes, "--%s", field);
	for (char *c = option; *c; c++)
		*c = *c == '_' ? '-' : *c;
	return option;
}

int
pool_create_by_options(struct weir_pool **pool, const struct options *options)
{
	struct weir_config_error error;
	struct weir_config config;
	char option[56];

	config_fill(&config, options);
	*pool = weir_pool_create(&config, &error);
	if (*pool)
		return 0;
	if (errno == EINVAL)
		return options_refuse(option_of_field(error.field, option, sizeof(option)),
			error.value, "%s", error.allowed);
	fprintf(stderr, "weir: no memory for the lanes of %u workers\n", config.n_workers);
	return -ENOMEM;
}
