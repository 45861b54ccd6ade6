/* SPDX-License-Identifier: BSD-3-Clause */
#include "option_routes.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "option_rules.h"
#include "option_values.h"

#define NAME_BYTES 64
#define LIST_BYTES 512

/* ---- values ---- */

/* The registered strategy of this name, which ends at `length`; NULL if there is none. */
static const struct weir_strategy *
strategy_find(const char *text, size_t length)
{
	char name[NAME_BYTES];

	if (length >= sizeof(name))
		return NULL;
	memcpy(name, text, length);
	name[length] = '\0';
	return weir_strategy_find(name);
}

/*
 * The name that ends at `length`: of a registered strategy, or of a file, which is loaded once all
 * options are known. NULL if it is neither, or without memory.
 */
static const char *
name_accept(struct options *options, const char *text, size_t length)
{
	const struct weir_strategy *strategy = strategy_find(text, length);
	char name[PATH_MAX];

	if (strategy)
		return strategy->name;
	if (!strategies_names_file(text) || length >= sizeof(name))
		return NULL;
	memcpy(name, text, length);
	name[length] = '\0';
	return options_keep(options, name);
}

static int
strategy_parse(const struct option_row *row, const char *value, struct options *options)
{
	const char *comma = strchrnul(value, ',');
	const char *strategy = name_accept(options, value, (size_t)(comma - value));
	const char *fallback = NULL;

	(void)row;
	if (*comma)
		fallback = name_accept(options, comma + 1, strlen(comma + 1));
	if (!strategy || (*comma && !fallback))
		return -EINVAL;
	options->strategy = strategy;
	options->fallback = fallback;
	return 0;
}

int
options_load_strategies(struct options *options)
{
	struct strategies *strategies = &options->strategies;
	int rc = strategies_load(strategies, "--strategy", options->strategy);

	if (rc == 0 && options->fallback)
		rc = strategies_load(strategies, "--strategy", options->fallback);
	for (uint32_t i = 0; rc == 0 && i < options->n_rules; i++) {
		const char *arrow = strstr(options->rule_text[i], "=>");

		if (arrow)
			rc = strategies_load(strategies, "--rule", arrow + 2);
	}
	return rc;
}

/* Writes the names of the strategies that have a property. */
static void
strategies_list(
	char *text, size_t n_bytes, bool (*has_property)(const struct weir_strategy *strategy))
{
	const struct weir_strategy *strategy;
	size_t used = 0;

	text[0] = '\0';
	for (unsigned int i = 0; (strategy = weir_strategy_at(i)) && used < n_bytes; i++) {
		if (!has_property(strategy))
			continue;
		used += (size_t)snprintf(
			text + used, n_bytes - used, "%s%s", used ? ", " : "", strategy->name);
	}
}

static bool
is_any(const struct weir_strategy *strategy)
{
	(void)strategy;
	return true;
}

static void
strategy_describe(const struct option_row *row, char *text, size_t n_bytes)
{
	size_t used;

	(void)row;
	strategies_list(text, n_bytes, is_any);
	used = strlen(text);
	snprintf(text + used, n_bytes - used, ", custom:FILE.so, bpf:FILE.o");
}

static int
weights_parse(const struct option_row *row, const char *value, struct options *options)
{
	uint16_t weights[WEIR_WORKERS_MAX];
	uint32_t n = 0;

	for (const char *at = value, *end;; at = end + 1) {
		char digits[8] = "";
		uint64_t weight;

		end = strchrnul(at, ',');
		if (n == WEIR_WORKERS_MAX || (size_t)(end - at) >= sizeof(digits))
			return -EINVAL;
		memcpy(digits, at, (size_t)(end - at));
		if (option_parse_number(digits, &weight) < 0 || weight < row->min ||
			weight > row->max)
			return -EINVAL;
		weights[n++] = (uint16_t)weight;
		if (!*end)
			break;
	}
	memcpy(options->weights, weights, n * sizeof(weights[0]));
	options->n_weights = n;
	options->weights_text = value;
	return 0;
}

static void
weights_describe(const struct option_row *row, char *text, size_t n_bytes)
{
	snprintf(text, n_bytes, "one for each worker, %" PRIu64 " to %" PRIu64, row->min, row->max);
}

static int
rule_parse(const struct option_row *row, const char *value, struct options *options)
{
	(void)row;
	return option_rule_add(options, value);
}

static void
rule_describe(const struct option_row *row, char *text, size_t n_bytes)
{
	snprintf(text, n_bytes, "at most %" PRIu64 " of 'EXPRESSION => ACTION'", row->max);
}

const struct option_type option_type_rule = { rule_parse, rule_describe, NULL };
const struct option_type option_type_strategy = { strategy_parse, strategy_describe, NULL };
const struct option_type option_type_weights = { weights_parse, weights_describe, NULL };

/* ---- what the values say together ---- */

static bool
reads_weights(const struct weir_strategy *strategy)
{
	return strategy->flags & WEIR_STRATEGY_READS_WEIGHT;
}

static bool
keeps_state(const struct weir_strategy *strategy)
{
	return strategy->state_bytes > 0;
}

static bool
name_has_property(const struct options *options, const char *name,
	bool (*has_property)(const struct weir_strategy *strategy))
{
	const struct weir_strategy *strategy =
		name ? strategies_find(&options->strategies, name) : NULL;

	return strategy && has_property(strategy);
}

/* Whether a strategy that packets may be routed by has a property. */
static bool
some_route_has(
	const struct options *options, bool (*has_property)(const struct weir_strategy *strategy))
{
	const struct weir_class *class;

	if (name_has_property(options, options->strategy, has_property) ||
		name_has_property(options, options->fallback, has_property))
		return true;
	for (uint32_t i = 0; i < options->n_rules; i++) {
		class = &weir_rules_classes(options->rules)[i];
		if (name_has_property(options, class->strategy, has_property) ||
			name_has_property(options, class->fallback, has_property))
			return true;
	}
	return false;
}

/* Refuses an option that none of the strategies heeds. */
static int
heedless_refuse(const char *option, const char *value, const char *what,
	bool (*has_property)(const struct weir_strategy *strategy))
{
	char names[LIST_BYTES];

	strategies_list(names, sizeof(names), has_property);
	return options_refuse(option, value, "only with a strategy that %s: %s", what,
		names[0] ? names : "there is none");
}

static int
weights_check(const struct options *options)
{
	if (options->n_weights == 0)
		return 0;
	if (options->n_weights != options->workers)
		return options_refuse("--weights", options->weights_text,
			"one weight for each of the %u workers", options->workers);
	if (some_route_has(options, reads_weights))
		return 0;
	return heedless_refuse("--weights", options->weights_text, "reads weights", reads_weights);
}

static int
state_period_check(const struct options *options)
{
	char value[24];

	if (!options_given(options, "state-period") || options->state_period_ns == 0 ||
		some_route_has(options, keeps_state))
		return 0;
	snprintf(value, sizeof(value), "%" PRIu64, options->state_period_ns / OPTION_NS_PER_SECOND);
	return heedless_refuse("--state-period", value, "keeps state", keeps_state);
}

/* Whether packets may wait for room, by the policy of any route. */
static bool
some_policy_refuses(const struct options *options)
{
	if (weir_overflow_find(options->overflow)->refuses)
		return true;
	for (uint32_t i = 0; i < options->n_rules; i++) {
		const char *name = weir_rules_classes(options->rules)[i].overflow;

		if (name && weir_overflow_find(name)->refuses)
			return true;
	}
	return false;
}

static int
hold_timeout_check(const struct options *options)
{
	char value[24];

	if (options->hold_timeout_usec == 0 || options->budget > 0 || some_policy_refuses(options))
		return 0;
	snprintf(value, sizeof(value), "%" PRIu64, options->hold_timeout_usec);
	return options_refuse("--hold-timeout", value,
		"0, or with --budget or --overflow reject: nothing waits without them");
}

/* The number of the first rule that says kernel; 0 if none does. */
static uint32_t
kernel_rule(const struct options *options)
{
	for (uint32_t i = 0; i < options->n_rules; i++) {
		if (weir_rules_classes(options->rules)[i].action == WEIR_ACTION_DIVERT)
			return i + 1;
	}
	return 0;
}

static int
exception_port_check(const struct options *options)
{
	const uint32_t number = kernel_rule(options);

	if (number > 0 && !options->exception_port)
		return options_refuse_rule(
			options, number, "kernel: allowed with --exception-port");
	if (number == 0 && options->exception_port)
		return options_refuse("--exception-port", options->exception_port,
			"only with a rule that says kernel");
	return 0;
}

int
options_check_routes(const struct options *options, enum options_command command)
{
	int rc = weights_check(options);

	if (rc == 0)
		rc = hold_timeout_check(options);
	if (rc == 0)
		rc = state_period_check(options);
	/* `weir why` has no ports. */
	if (rc == 0 && command == OPTIONS_OF_WEIR)
		rc = exception_port_check(options);
	return rc;
}
