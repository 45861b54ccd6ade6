/* SPDX-License-Identifier: BSD-3-Clause */
#include "pool_options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "option_rules.h"

uint64_t
pool_options_hold_timeout(const struct options *options)
{
	if (options_given(options, "hold-timeout") || options->budget == 0)
		return options->hold_timeout_usec;
	return OPTIONS_BUDGET_TIMEOUT_USEC;
}

uint64_t
pool_options_urgent(const struct options *options)
{
	if (!options->rules)
		return 0;
	return weir_classes_urgent(
		weir_rules_classes(options->rules), weir_rules_count(options->rules));
}

uint32_t
pool_options_dispatchers(const struct options *options)
{
	return pool_options_urgent(options) != 0 ? 2 : 1;
}

static void
config_fill(
	struct weir_config *config, const struct options *options, const struct weir_class *classes)
{
	*config = weir_config_default();
	config->n_workers = options_workers_max(options);
	config->n_members = options->workers;
	config->n_dispatchers = options->rx_cores * pool_options_dispatchers(options);
	config->n_urgent = config->n_dispatchers - options->rx_cores;
	config->lane_size = options->lane_size;
	config->burst = options->burst;
	config->chunk = options->chunk;
	config->hold_size = HOLD_SIZE_PKTS;
	config->depth_mode = options->depth_mode;
	config->order = strcmp(options->order, "flow") == 0 ? WEIR_ORDER_FLOW : WEIR_ORDER_NONE;
	config->sticky_ns = options->sticky_usec * 1000;
	config->strategy = options->strategy;
	config->strategies = options->strategies.loaded;
	config->n_strategies = options->strategies.n;
	config->overflow = options->overflow;
	config->seed = options->seed;
	config->fallback = options->fallback;
	memcpy(config->weights, options->weights, options->n_weights * sizeof(config->weights[0]));
	config->budget_pkts = options->budget;
	config->hold_timeout_ns = pool_options_hold_timeout(options) * 1000;
	config->state_period_ns = options->state_period_ns;
	config->classes = classes;
	config->n_classes = options->rules ? weir_rules_count(options->rules) : 0;
	config->depth_alarm_pkts = options->depth_alarm;
}

/* Fields that another option sets than the one that is called like them. */
static const struct {
	const char *field;
	const char *option;
} field_options[] = {
	{ "n_workers", "--workers" },
	{ "n_dispatchers", "--rx-cores" },
	{ "budget_pkts", "--budget" },
	{ "hold_timeout_ns", "--hold-timeout" },
	{ "state_period_ns", "--state-period" },
};

/* The option that sets a field of struct weir_config: `lane_size` is set by --lane-size. */
static const char *
option_of_field(const char *field, char *option, size_t option_bytes)
{
	for (size_t i = 0; i < sizeof(field_options) / sizeof(field_options[0]); i++) {
		if (strcmp(field, field_options[i].field) == 0)
			return field_options[i].option;
	}
	snprintf(option, option_bytes, "--%s", field);
	for (char *c = option; *c; c++)
		*c = *c == '_' ? '-' : *c;
	return option;
}

/* A class is a rule there. */
int
pool_options_refuse(const struct options *options, const struct weir_config_error *error)
{
	char field[128] = "";
	char option[56];
	uint32_t class;

	if (sscanf(error->field, "classes[%" SCNu32 "].%47s", &class, field) == 2)
		return options_refuse_rule(options, class + 1, "%s %s: allowed %s", field,
			error->value, error->allowed);
	if (strcmp(error->field, "fallback") == 0) {
		snprintf(field, sizeof(field), "%s,%s", options->strategy, options->fallback);
		return options_refuse("--strategy", field, "as FALLBACK %s", error->allowed);
	}
	return options_refuse(option_of_field(error->field, option, sizeof(option)), error->value,
		"%s", error->allowed);
}

static int
urgent_check(const struct options *options)
{
	const uint32_t n = pool_options_dispatchers(options);
	char value[16];

	if (n * options->rx_cores <= WEIR_DISPATCHERS_MAX)
		return 0;
	snprintf(value, sizeof(value), "%" PRIu32, options->rx_cores);
	return options_refuse("--rx-cores", value,
		"1 to %" PRIu32 " with a rule that says urgent: each takes %" PRIu32
		" of %d dispatchers, and these would take %" PRIu32,
		WEIR_DISPATCHERS_MAX / n, n, WEIR_DISPATCHERS_MAX, n * options->rx_cores);
}

int
pool_options_check(const struct options *options)
{
	struct weir_config_error error;
	struct weir_config config;

	if (urgent_check(options) < 0)
		return -EINVAL;
	config_fill(&config, options, options->rules ? weir_rules_classes(options->rules) : NULL);
	return weir_config_check(&config, &error) < 0 ? pool_options_refuse(options, &error) : 0;
}

/* The classes of the rules, with the port that they could not know. */
static void
classes_fill(struct weir_class *classes, const struct options *options, uint8_t divert_port)
{
	const uint32_t n = options->rules ? weir_rules_count(options->rules) : 0;

	for (uint32_t i = 0; i < n; i++) {
		classes[i] = weir_rules_classes(options->rules)[i];
		classes[i].divert_port = divert_port;
	}
}

int
pool_create_by_options(struct weir_pool **pool, const struct options *options,
	const struct pool_surroundings *surroundings)
{
	struct weir_class classes[WEIR_RULES_MAX] = { 0 };
	struct weir_config_error error;
	struct weir_config config;

	config_fill(&config, options, classes);
	config.tag = surroundings->tag;
	config.is_shared = surroundings->data_base != NULL;
	config.data_base = surroundings->data_base;
	config.data_bytes = surroundings->data_bytes;
	classes_fill(classes, options, surroundings->divert_port);
	*pool = weir_pool_create(&config, &error);
	if (*pool)
		return 0;
	if (errno == EINVAL)
		return pool_options_refuse(options, &error);
	fprintf(stderr, "weir: no memory%s for the lanes of %u workers\n",
		config.is_shared ? ", or too few open files (ulimit -n)," : "", config.n_workers);
	return -ENOMEM;
}

void
pool_options_change(const struct options *options, uint8_t divert_port, struct weir_class *classes,
	struct weir_change *change)
{
	classes_fill(classes, options, divert_port);
	*change = (struct weir_change) {
		.strategy = options->strategy,
		.fallback = options->fallback,
		.overflow = options->overflow,
		.strategies = options->strategies.loaded,
		.n_strategies = options->strategies.n,
		.classes = classes,
		.n_classes = options->rules ? weir_rules_count(options->rules) : 0,
		.weights = options->weights,
	};
}
