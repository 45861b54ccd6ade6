/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of a pool's configuration: one table of ranges, and the names that must be registered. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "pool.h"

#define HOLD_SIZE_MAX UINT16_MAX /* struct pin counts the held of one bucket in 16 bits */

#define HOLD_TIMEOUT_NS_MAX INT64_MAX /* a deadline is a sum */

#define STICKY_NS_MAX INT64_MAX /* silences are compared signed */

struct range {
	const char *field;
	size_t offset;
	uint32_t min;
	uint32_t max;
};

static const struct range ranges[] = {
	{ "n_workers", offsetof(struct weir_config, n_workers), 1, WEIR_WORKERS_MAX },
	{ "n_dispatchers", offsetof(struct weir_config, n_dispatchers), 1, WEIR_DISPATCHERS_MAX },
	{ "lane_size", offsetof(struct weir_config, lane_size), 1, WEIR_LANE_SIZE_MAX },
	{ "burst", offsetof(struct weir_config, burst), 1, WEIR_BURST_MAX },
	{ "chunk", offsetof(struct weir_config, chunk), 1, WEIR_BURST_MAX },
	{ "n_classes", offsetof(struct weir_config, n_classes), 0, WEIR_CLASSES_MAX - 1 },
	{ "budget_pkts", offsetof(struct weir_config, budget_pkts), 0, WEIR_LANE_SIZE_MAX },
	{ "hold_size", offsetof(struct weir_config, hold_size), 0, HOLD_SIZE_MAX },
};

#define N_RANGES (sizeof(ranges) / sizeof(ranges[0]))

struct weir_config
weir_config_default(void)
{
	return (struct weir_config) {
		.n_workers = 4,
		.n_dispatchers = 1,
		.lane_size = 512,
		.burst = 32,
		.chunk = 1,
		.strategy = weir_strategy_at(0)->name,
		.overflow = weir_overflow_at(0)->name,
		.lend_metadata = true,
	};
}

void
error_set(struct weir_config_error *error, const char *field, const char *value)
{
	snprintf(error->field, sizeof(error->field), "%s", field);
	snprintf(error->value, sizeof(error->value), "%s", value ? value : "(null)");
	error->allowed[0] = '\0';
}

void
error_set_number(struct weir_config_error *error, const char *field, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	error_set(error, field, text);
}

void
error_allow(struct weir_config_error *error, const char *name)
{
	const size_t length = strlen(error->allowed);

	snprintf(error->allowed + length, sizeof(error->allowed) - length, "%s%s",
		length ? ", " : "", name);
}

static int
range_check(const struct range *range, const struct weir_config *config,
	struct weir_config_error *error)
{
	uint32_t number;

	memcpy(&number, (const char *)config + range->offset, sizeof(number));
	if (number >= range->min && number <= range->max)
		return 0;
	error_set_number(error, range->field, number);
	snprintf(error->allowed, sizeof(error->allowed), "%" PRIu32 " to %" PRIu32, range->min,
		range->max);
	return -EINVAL;
}

static int
urgent_check(const struct weir_config *config, struct weir_config_error *error)
{
	if (config->n_urgent < config->n_dispatchers)
		return 0;
	error_set_number(error, "n_urgent", config->n_urgent);
	snprintf(error->allowed, sizeof(error->allowed),
		"0 to %" PRIu32 ": one dispatcher at least is not urgent",
		config->n_dispatchers - 1);
	return -EINVAL;
}

static int
members_check(const struct weir_config *config, struct weir_config_error *error)
{
	if (config->n_members <= config->n_workers)
		return 0;
	error_set_number(error, "n_members", config->n_members);
	snprintf(error->allowed, sizeof(error->allowed), "0 to %" PRIu32 ", the workers",
		config->n_workers);
	return -EINVAL;
}

static int
weights_check(const struct weir_config *config, struct weir_config_error *error)
{
	char field[24];

	for (uint32_t id = 0; id < config->n_workers; id++) {
		if (config->weights[id] <= WEIR_WEIGHT_MAX)
			continue;
		snprintf(field, sizeof(field), "weights[%" PRIu32 "]", id);
		error_set_number(error, field, config->weights[id]);
		snprintf(error->allowed, sizeof(error->allowed), "0 to %d", WEIR_WEIGHT_MAX);
		return -EINVAL;
	}
	return 0;
}

static int
depth_mode_check(const struct weir_config *config, struct weir_config_error *error)
{
	char value[16];

	if (config->depth_mode == WEIR_DEPTH_OUTSTANDING || config->depth_mode == WEIR_DEPTH_QUEUED)
		return 0;
	snprintf(value, sizeof(value), "%d", (int)config->depth_mode);
	error_set(error, "depth_mode", value);
	error_allow(error, "WEIR_DEPTH_OUTSTANDING");
	error_allow(error, "WEIR_DEPTH_QUEUED");
	return -EINVAL;
}

static int
order_check(const struct weir_config *config, struct weir_config_error *error)
{
	char value[24];

	if (config->order != WEIR_ORDER_NONE && config->order != WEIR_ORDER_FLOW) {
		snprintf(value, sizeof(value), "%d", (int)config->order);
		error_set(error, "order", value);
		error_allow(error, "WEIR_ORDER_NONE");
		error_allow(error, "WEIR_ORDER_FLOW");
		return -EINVAL;
	}
	if (config->sticky_ns > STICKY_NS_MAX ||
		(config->sticky_ns > 0 && config->order == WEIR_ORDER_NONE)) {
		error_set_number(error, "sticky_ns", config->sticky_ns);
		error_allow(error, "below 2^63, and 0 with order none: nothing sticks there");
		return -EINVAL;
	}
	return 0;
}

static int
waiting_check(const struct weir_config *config, struct weir_config_error *error)
{
	if (config->budget_pkts > config->lane_size) {
		error_set_number(error, "budget_pkts", config->budget_pkts);
		snprintf(error->allowed, sizeof(error->allowed),
			"0 to %" PRIu32 ", the lane's size: a lane cannot hold more",
			config->lane_size);
		return -EINVAL;
	}
	if (config->hold_timeout_ns > HOLD_TIMEOUT_NS_MAX) {
		error_set_number(error, "hold_timeout_ns", config->hold_timeout_ns);
		error_allow(error, "below 2^63");
		return -EINVAL;
	}
	return 0;
}

static int
sharing_check(const struct weir_config *config, struct weir_config_error *error)
{
	const bool has_data = config->data_base && config->data_bytes > 0 &&
			      config->data_bytes <= UINTPTR_MAX - (uintptr_t)config->data_base;

	if (config->is_shared ? has_data : !config->data_base && config->data_bytes == 0)
		return 0;
	if (config->is_shared == (config->data_base != NULL))
		error_set_number(error, "data_bytes", config->data_bytes);
	else
		error_set(error, "data_base", config->data_base ? "an address" : NULL);
	error_allow(error, config->is_shared ? "where the packets' data lie, and how many bytes"
					     : "nothing unless is_shared");
	return -EINVAL;
}

int
weir_config_check(const struct weir_config *config, struct weir_config_error *error)
{
	struct weir_config_error ignored;

	if (!error)
		error = &ignored;
	for (size_t i = 0; i < N_RANGES; i++) {
		if (range_check(&ranges[i], config, error) < 0)
			return -EINVAL;
	}
	if (members_check(config, error) < 0 || urgent_check(config, error) < 0 ||
		config_classes_check(config, error) < 0 || weights_check(config, error) < 0)
		return -EINVAL;
	if (order_check(config, error) < 0 || waiting_check(config, error) < 0)
		return -EINVAL;
	if (sharing_check(config, error) < 0)
		return -EINVAL;
	return depth_mode_check(config, error);
}
