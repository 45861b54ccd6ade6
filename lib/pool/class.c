/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks of what a configuration says of classes and routes by name; policy.c makes of it what a
 * dispatcher goes by.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "pool.h"

const struct weir_strategy *
config_strategy_find(const struct weir_config *config, const char *name)
{
	for (uint32_t i = 0; name && i < config->n_strategies; i++) {
		if (strcmp(config->strategies[i]->name, name) == 0)
			return config->strategies[i];
	}
	return name ? weir_strategy_find(name) : NULL;
}

/* Begins an error about a field of a class, "classes[2].retries"; class 0 is the pool itself. */
static void
class_error_set(
	struct weir_config_error *error, uint32_t class_id, const char *field, const char *value)
{
	char name[sizeof(error->field)];

	snprintf(name, sizeof(name), "classes[%" PRIu32 "].%s", class_id - 1, field);
	error_set(error, class_id > 0 ? name : field, value);
}

static int
strategy_unknown(const struct weir_config *config, uint32_t class_id, const char *field,
	const char *name, struct weir_config_error *error)
{
	const struct weir_strategy *strategy;

	class_error_set(error, class_id, field, name);
	for (unsigned int i = 0; (strategy = weir_strategy_at(i)); i++)
		error_allow(error, strategy->name);
	for (uint32_t i = 0; i < config->n_strategies; i++)
		error_allow(error, config->strategies[i]->name);
	return -EINVAL;
}

static int
chunk_check(const struct weir_config *config, const struct weir_strategy *strategy,
	struct weir_config_error *error)
{
	if (config->chunk == 1 || !(strategy->flags & WEIR_STRATEGY_OWNS_FLOWS))
		return 0;
	error_set_number(error, "chunk", config->chunk);
	snprintf(error->allowed, sizeof(error->allowed),
		"1 with %s: a chunk would mix flows of different owners", strategy->name);
	return -EINVAL;
}

static int
fallback_check(const struct weir_config *config, uint32_t class_id,
	const struct weir_strategy *strategy, const char *name, struct weir_config_error *error)
{
	const struct weir_strategy *fallback;

	if (!name)
		return 0;
	fallback = config_strategy_find(config, name);
	if (!fallback)
		return strategy_unknown(config, class_id, "fallback", name, error);
	if (strategy && (strategy->flags & WEIR_STRATEGY_FINDS_NONE) &&
		!(fallback->flags & (WEIR_STRATEGY_ALL_TARGETS | WEIR_STRATEGY_FINDS_NONE)))
		return chunk_check(config, fallback, error);
	class_error_set(error, class_id, "fallback", name);
	error_allow(error, "one that always finds a worker, behind a strategy that may find none");
	return -EINVAL;
}

/* Checks a strategy by name, with its fallback; class 0 is the pool itself. */
static int
strategy_check(const struct weir_config *config, uint32_t class_id, const char *name,
	const char *fallback, struct weir_config_error *error)
{
	const struct weir_strategy *strategy = config_strategy_find(config, name);

	if (!strategy && (name || class_id == 0))
		return strategy_unknown(config, class_id, "strategy", name, error);
	if (strategy && chunk_check(config, strategy, error) < 0)
		return -EINVAL;
	return fallback_check(config, class_id, strategy, fallback, error);
}

static int
overflow_check(uint32_t class_id, const char *name, struct weir_config_error *error)
{
	const struct weir_overflow_policy *policy;

	if (name ? weir_overflow_find(name) != NULL : class_id > 0)
		return 0;
	class_error_set(error, class_id, "overflow", name);
	for (unsigned int i = 0; (policy = weir_overflow_at(i)); i++)
		error_allow(error, policy->name);
	return -EINVAL;
}

struct class_range {
	const char *field;
	uint64_t value;
	uint64_t max;
};

static int
class_ranges_check(
	uint32_t class_id, const struct weir_class *class, struct weir_config_error *error)
{
	const struct class_range ranges[] = {
		{ "action", class->action, WEIR_ACTION_DIVERT },
		{ "admission", class->admission, WEIR_ADMISSION_COUNT - 1 },
		{ "retries", class->retries, WEIR_WORKERS_MAX - 1 },
		{ "police_pps", class->police_pps, WEIR_POLICE_PPS_MAX },
		{ "police_burst", class->police_burst, class->police_pps > 0 ? INT32_MAX : 0 },
	};
	char value[24];

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		if (ranges[i].value <= ranges[i].max)
			continue;
		snprintf(value, sizeof(value), "%" PRIu64, ranges[i].value);
		class_error_set(error, class_id, ranges[i].field, value);
		snprintf(error->allowed, sizeof(error->allowed), "0 to %" PRIu64, ranges[i].max);
		return -EINVAL;
	}
	return 0;
}

/* A worker tells what is covered by the class in the metadata. */
static int
admission_check(
	const struct weir_config *config, uint32_t class_id, struct weir_config_error *error)
{
	if (config->classes[class_id - 1].admission != WEIR_ADMIT_COVER_EARLY ||
		config->lend_metadata)
		return 0;
	class_error_set(error, class_id, "admission", "WEIR_ADMIT_COVER_EARLY");
	error_allow(error, "WEIR_ADMIT_SERIAL");
	error_allow(error, "WEIR_ADMIT_DISCARD_LATER: the other one needs lend_metadata");
	return -EINVAL;
}

/* What goes to all workers has no other one to try. */
static int
retries_check(const struct weir_config *config, uint32_t class_id, struct weir_config_error *error)
{
	const struct weir_class *class = &config->classes[class_id - 1];
	const char *name = class->strategy ? class->strategy : config->strategy;
	const struct weir_strategy *strategy = config_strategy_find(config, name);
	char value[24];

	if (class->retries == 0 || !(strategy->flags & WEIR_STRATEGY_ALL_TARGETS))
		return 0;
	snprintf(value, sizeof(value), "%" PRIu32, class->retries);
	class_error_set(error, class_id, "retries", value);
	snprintf(error->allowed, sizeof(error->allowed),
		"0 with %s: a copy is for its worker alone", name);
	return -EINVAL;
}

/* The first class from 0 on whose policy evicts; WEIR_CLASSES_MAX if there is none. */
static uint32_t
evicting_class_find(const struct weir_config *config)
{
	for (uint32_t id = 0; id <= config->n_classes; id++) {
		const char *name = id == 0 ? config->overflow : config->classes[id - 1].overflow;

		if (name && weir_overflow_find(name)->evicts)
			return id;
	}
	return WEIR_CLASSES_MAX;
}

static bool
strategy_counts_classes(const struct weir_config *config, const char *name)
{
	const struct weir_strategy *strategy = config_strategy_find(config, name);

	return strategy && (strategy->flags & WEIR_STRATEGY_READS_CLASS_DEPTH);
}

/* Whether packets of a class are counted at each worker: by their places in the lane. */
static bool
classes_are_counted(const struct weir_config *config)
{
	bool counted = strategy_counts_classes(config, config->strategy) ||
		       strategy_counts_classes(config, config->fallback);

	for (uint32_t i = 0; i < config->n_classes; i++) {
		const struct weir_class *class = &config->classes[i];

		counted |= class->admission != WEIR_ADMIT_SERIAL ||
			   strategy_counts_classes(config, class->strategy) ||
			   strategy_counts_classes(config, class->fallback);
	}
	return counted;
}

/* Where packets are evicted they leave a lane out of turn, which budgets and counts don't know. */
static int
evicts_check(const struct weir_config *config, struct weir_config_error *error)
{
	const uint32_t class_id = evicting_class_find(config);

	if (class_id == WEIR_CLASSES_MAX ||
		(config->budget_pkts == 0 && !classes_are_counted(config)))
		return 0;
	class_error_set(error, class_id, "overflow",
		class_id == 0 ? config->overflow : config->classes[class_id - 1].overflow);
	snprintf(error->allowed, sizeof(error->allowed),
		"a policy that does not evict, beside a budget, busyover and admissions other "
		"than serial");
	return -EINVAL;
}

/* What is never lent cannot be taken first; nor can anything where no dispatcher is urgent. */
static int
class_urgent_check(
	const struct weir_config *config, uint32_t class_id, struct weir_config_error *error)
{
	const struct weir_class *class = &config->classes[class_id - 1];

	if (!class->urgent || (class->action == WEIR_ACTION_ROUTE && config->n_urgent > 0))
		return 0;
	class_error_set(error, class_id, "urgent", "true");
	error_allow(error, class->action == WEIR_ACTION_ROUTE
				   ? "false with n_urgent 0"
				   : "false where packets are dropped or diverted");
	return -EINVAL;
}

int
config_classes_check(const struct weir_config *config, struct weir_config_error *error)
{
	if (strategy_check(config, 0, config->strategy, config->fallback, error) < 0 ||
		overflow_check(0, config->overflow, error) < 0)
		return -EINVAL;
	for (uint32_t i = 0; i < config->n_classes; i++) {
		const struct weir_class *class = &config->classes[i];

		if (strategy_check(config, i + 1, class->strategy, class->fallback, error) < 0 ||
			overflow_check(i + 1, class->overflow, error) < 0 ||
			class_ranges_check(i + 1, class, error) < 0 ||
			class_urgent_check(config, i + 1, error) < 0 ||
			admission_check(config, i + 1, error) < 0 ||
			retries_check(config, i + 1, error) < 0)
			return -EINVAL;
	}
	return evicts_check(config, error);
}

uint64_t
weir_classes_urgent(const struct weir_class *classes, uint32_t n)
{
	uint64_t urgent = 0;

	assert(n < WEIR_CLASSES_MAX);
	for (uint32_t i = 0; i < n; i++)
		urgent |= (uint64_t)classes[i].urgent << (i + 1);
	return urgent;
}
