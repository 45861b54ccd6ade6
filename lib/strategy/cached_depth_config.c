/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of cached depth: defaults, what each may be, and what the two times may be together.
 */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <weir/cached_depth.h>

#define NS_PER_MS UINT64_C(1000000)

struct time_range {
	const char *field; /* of the struct */
	const char *typed; /* as users know it */
	size_t offset;
	uint64_t min_ns;
};

static const struct time_range times[] = {
	{ "refresh_ns", "refresh_ms", offsetof(struct weir_cached_depth_config, refresh_ns), 1 },
	{ "stale_after_ns", "stale_after_ms",
		offsetof(struct weir_cached_depth_config, stale_after_ns), 0 },
};

#define N_TIMES (sizeof(times) / sizeof(times[0]))

struct weir_cached_depth_config
weir_cached_depth_config_default(void)
{
	return (struct weir_cached_depth_config) {
		.n_workers = 4,
		.refresh_ns = 200 * NS_PER_MS,
		.stale_after_ns = 1000 * NS_PER_MS,
		.add_own_sends = true,
	};
}

/* Fills `error`, if there is one. Returns -EINVAL. */
static int
config_refuse(
	struct weir_config_error *error, const char *field, const char *value, const char *allowed)
{
	if (error) {
		snprintf(error->field, sizeof(error->field), "%s", field);
		snprintf(error->value, sizeof(error->value), "%s", value);
		snprintf(error->allowed, sizeof(error->allowed), "%s", allowed);
	}
	return -EINVAL;
}

static int
config_refuse_number(
	struct weir_config_error *error, const char *field, uint64_t number, const char *allowed)
{
	char value[24];

	snprintf(value, sizeof(value), "%" PRIu64, number);
	return config_refuse(error, field, value, allowed);
}

static int
time_check(const struct time_range *range, const struct weir_cached_depth_config *config,
	struct weir_config_error *error)
{
	char allowed[64];
	uint64_t time_ns;

	memcpy(&time_ns, (const char *)config + range->offset, sizeof(time_ns));
	if (time_ns >= range->min_ns && time_ns <= INT64_MAX)
		return 0;
	snprintf(allowed, sizeof(allowed), "%" PRIu64 " to %" PRId64, range->min_ns, INT64_MAX);
	return config_refuse_number(error, range->field, time_ns, allowed);
}

int
weir_cached_depth_config_check(
	const struct weir_cached_depth_config *config, struct weir_config_error *error)
{
	char allowed[128];

	if (config->n_workers < 1 || config->n_workers > WEIR_WORKERS_MAX) {
		snprintf(allowed, sizeof(allowed), "1 to %d", WEIR_WORKERS_MAX);
		return config_refuse_number(error, "n_workers", config->n_workers, allowed);
	}
	for (size_t i = 0; i < N_TIMES; i++) {
		if (time_check(&times[i], config, error) < 0)
			return -EINVAL;
	}
	if (config->stale_after_ns == 0 || config->stale_after_ns >= config->refresh_ns)
		return 0;
	snprintf(allowed, sizeof(allowed),
		"0 (never stale), or at least refresh_ns, which is %" PRIu64, config->refresh_ns);
	return config_refuse_number(error, "stale_after_ns", config->stale_after_ns, allowed);
}

/* Decimal digits only: no sign, no fraction, no blanks. Returns 0 or -EINVAL. */
static int
ms_parse(const char *text, uint64_t *time_ns)
{
	uint64_t ms = 0;

	if (*text == '\0')
		return -EINVAL;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' || __builtin_mul_overflow(ms, 10, &ms) ||
			__builtin_add_overflow(ms, (uint64_t)(*text - '0'), &ms))
			return -EINVAL;
	}
	return __builtin_mul_overflow(ms, NS_PER_MS, time_ns) ? -EINVAL : 0;
}

int
weir_cached_depth_config_set(struct weir_cached_depth_config *config, const char *name,
	const char *value, struct weir_config_error *error)
{
	const struct time_range *range = times;
	char allowed[96];
	uint64_t time_ns;

	while (range < times + N_TIMES && strcmp(range->typed, name) != 0)
		range++;
	if (range == times + N_TIMES)
		return config_refuse(error, name, value, "refresh_ms, stale_after_ms");
	if (ms_parse(value, &time_ns) < 0 || time_ns < range->min_ns || time_ns > INT64_MAX) {
		snprintf(allowed, sizeof(allowed),
			"a whole number of milliseconds, %" PRIu64 " to %" PRIu64, range->min_ns,
			INT64_MAX / NS_PER_MS);
		return config_refuse(error, name, value, allowed);
	}
	memcpy((char *)config + range->offset, &time_ns, sizeof(time_ns));
	return 0;
}
