/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of values that options have: each reads a value and tells what it allows. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "handler/handler.h"
#include "option_flow.h"
#include "option_handlers.h"
#include "option_row.h"
#include "option_values.h"

#define RESTART_NS_MAX (OPTION_SECONDS_MAX * OPTION_NS_PER_SECOND)

static void *
row_field(const struct option_row *row, struct options *options)
{
	return (char *)options + row->offset;
}

static bool
row_allows(const struct option_row *row, uint64_t number)
{
	return number >= row->min && number <= row->max;
}

static int
u32_parse(const struct option_row *row, const char *value, struct options *options)
{
	uint64_t number;

	if (option_parse_number(value, &number) < 0 || !row_allows(row, number))
		return -EINVAL;
	*(uint32_t *)row_field(row, options) = (uint32_t)number;
	return 0;
}

static int
u64_parse(const struct option_row *row, const char *value, struct options *options)
{
	uint64_t number;

	if (option_parse_number(value, &number) < 0 || !row_allows(row, number))
		return -EINVAL;
	*(uint64_t *)row_field(row, options) = number;
	return 0;
}

static void
u32_describe(const struct option_row *row, char *text, size_t n_bytes)
{
	snprintf(text, n_bytes, "%u to %u", (uint32_t)row->min, (uint32_t)row->max);
}

static void
u64_describe(const struct option_row *row, char *text, size_t n_bytes)
{
	if (row->max == UINT64_MAX)
		snprintf(text, n_bytes, "%" PRIu64 " to 2^64 - 1", row->min);
	else
		snprintf(text, n_bytes, "%" PRIu64 " to %" PRIu64, row->min, row->max);
}

/* Zero is allowed whatever the least: it means off, or at once. */
static int
seconds_parse(const struct option_row *row, const char *value, struct options *options)
{
	uint64_t ns;

	if (option_parse_seconds(value, &ns) < 0 || (ns > 0 && !row_allows(row, ns)))
		return -EINVAL;
	*(uint64_t *)row_field(row, options) = ns;
	return 0;
}

static void
seconds_describe(const struct option_row *row, char *text, size_t n_bytes)
{
	const unsigned long long max = row->max / OPTION_NS_PER_SECOND;
	const unsigned long long tenths = row->min * 10 / OPTION_NS_PER_SECOND;

	if (tenths > 0)
		snprintf(text, n_bytes, "0 or %llu.%llu to %llu seconds", tenths / 10, tenths % 10,
			max);
	else
		snprintf(text, n_bytes, "0 to %llu seconds", max);
}

/* The index of the choice of this name; -EINVAL if there is none. */
static int
choice_find(const struct option_row *row, const char *value)
{
	const char *name;

	for (unsigned int i = 0; (name = row->name_at(i)); i++)
		if (strcmp(name, value) == 0)
			return (int)i;
	return -EINVAL;
}

static int
choice_parse(const struct option_row *row, const char *value, struct options *options)
{
	const int index = choice_find(row, value);

	if (index < 0)
		return index;
	*(const char **)row_field(row, options) = row->name_at((unsigned int)index);
	return 0;
}

/* As choice_parse, but the field is an enum, which all have the size of an int: the index. */
static int
enum_parse(const struct option_row *row, const char *value, struct options *options)
{
	const int index = choice_find(row, value);

	if (index < 0)
		return index;
	*(unsigned int *)row_field(row, options) = (unsigned int)index;
	return 0;
}

static void
choice_describe(const struct option_row *row, char *text, size_t n_bytes)
{
	const char *name;
	size_t used = 0;

	text[0] = '\0';
	for (unsigned int i = 0; (name = row->name_at(i)) && used < n_bytes; i++)
		used += (size_t)snprintf(text + used, n_bytes - used, "%s%s", i ? ", " : "", name);
}

static int
cpus_parse(const struct option_row *row, const char *value, struct options *options)
{
	const char *cursor = value;
	uint32_t first, last;
	cpu_set_t cpus;
	int rc;

	CPU_ZERO(&cpus);
	while ((rc = option_next_range(&cursor, value + strlen(value), &first, &last)) > 0) {
		if (!row_allows(row, last))
			return -EINVAL;
		for (uint32_t cpu = first; cpu <= last; cpu++)
			CPU_SET(cpu, &cpus);
	}
	if (rc == 0)
		*(cpu_set_t *)row_field(row, options) = cpus;
	return rc;
}

static void
cpus_describe(const struct option_row *row, char *text, size_t n_bytes)
{
	snprintf(text, n_bytes, "a list like 0-3,5 of CPUs 0 to %u", (uint32_t)row->max);
}

static int
seed_parse(const struct option_row *row, const char *value, struct options *options)
{
	(void)row;
	if (option_parse_number_or_hex(value, &options->seed) < 0)
		return -EINVAL;
	options->seed_given = true;
	return 0;
}

static void
seed_describe(const struct option_row *row, char *text, size_t n_bytes)
{
	(void)row;
	snprintf(text, n_bytes, "64 bits, decimal or hexadecimal behind 0x");
}

static int
hash_key_parse(const struct option_row *row, const char *value, struct options *options)
{
	(void)row;
	if (weir_hash_key_parse(value, &options->flow.hash_key) < 0)
		return -EINVAL;
	options->hash_key_given = true;
	return 0;
}

static void
hash_key_describe(const struct option_row *row, char *text, size_t n_bytes)
{
	(void)row;
	snprintf(text, n_bytes, "%d hexadecimal digits", 2 * WEIR_HASH_KEY_BYTES);
}

static int
tunnel_ports_parse(const struct option_row *row, const char *value, struct options *options)
{
	return option_parse_tunnel_ports(value, row_field(row, options));
}

static void
tunnel_ports_describe(const struct option_row *row, char *text, size_t n_bytes)
{
	const char *name;
	size_t used;

	used = (size_t)snprintf(text, n_bytes, "NAME: one of");
	for (unsigned int i = 0; (name = weir_flow_tunnel_name(i)) && used < n_bytes; i++)
		used += (size_t)snprintf(text + used, n_bytes - used, "%s %s", i ? "," : "", name);
	if (used < n_bytes)
		snprintf(text + used, n_bytes - used, "; PORT: 0 to %u, 0 is off",
			(uint32_t)row->max);
}

static int
handler_parse(const struct option_row *row, const char *value, struct options *options)
{
	if (options->n_handlers == row->max || option_handler_check(value) < 0)
		return -EINVAL;
	options->handlers[options->n_handlers++] = value;
	return 0;
}

/* The default is the first of the values: the user has one less. */
static void
handler_describe(const struct option_row *row, char *text, size_t n_bytes)
{
	const struct handler *handler;
	size_t used;

	used = (size_t)snprintf(text, n_bytes, "at most %u; WORKERS: ids like 0,2-3; SPEC: one of",
		(uint32_t)row->max - 1);
	for (unsigned int i = 0; (handler = handler_at(i)) && used < n_bytes; i++)
		used += (size_t)snprintf(
			text + used, n_bytes - used, "%s %s", i ? "," : "", handler->usage);
}

static int
path_parse(const struct option_row *row, const char *value, struct options *options)
{
	if (value[0] == '\0')
		return -EINVAL;
	*(const char **)row_field(row, options) = value;
	return 0;
}

static void
path_describe(const struct option_row *row, char *text, size_t n_bytes)
{
	(void)row;
	snprintf(text, n_bytes, "a path");
}

static int
flag_parse(const struct option_row *row, const char *value, struct options *options)
{
	if (value)
		return -EINVAL;
	*(bool *)row_field(row, options) = true;
	return 0;
}

static void
flag_describe(const struct option_row *row, char *text, size_t n_bytes)
{
	(void)row;
	snprintf(text, n_bytes, "no value");
}

static void
name_describe(const struct option_row *row, char *text, size_t n_bytes)
{
	(void)row;
	snprintf(text, n_bytes, "a port of EAL's: its device's name or its number");
}

/* "N/SECONDS", the second field being the one behind it. */
static int
restarts_parse(const struct option_row *row, const char *value, struct options *options)
{
	const char *slash = strchr(value, '/');
	char number[16];
	uint64_t n, ns;

	if (!slash || (size_t)(slash - value) >= sizeof(number))
		return -EINVAL;
	snprintf(number, sizeof(number), "%.*s", (int)(slash - value), value);
	if (option_parse_number(number, &n) < 0 || !row_allows(row, n) ||
		option_parse_seconds(slash + 1, &ns) < 0 || ns == 0 || ns > RESTART_NS_MAX)
		return -EINVAL;
	options->restarts = (uint32_t)n;
	options->restart_window_ns = ns;
	return 0;
}

static void
restarts_describe(const struct option_row *row, char *text, size_t n_bytes)
{
	snprintf(text, n_bytes, "N/SECONDS, N %" PRIu64 " to %" PRIu64 ", SECONDS up to %d",
		row->min, row->max, OPTION_SECONDS_MAX);
}

static void
user_describe(const struct option_row *row, char *text, size_t n_bytes)
{
	(void)row;
	snprintf(text, n_bytes, "a user's name");
}

/* ---- whether values differ ---- */

static const void *
field_of(const struct option_row *row, const struct options *options)
{
	return (const char *)options + row->offset;
}

static bool
u32_differs(const struct option_row *row, const struct options *a, const struct options *b)
{
	return memcmp(field_of(row, a), field_of(row, b), sizeof(uint32_t)) != 0;
}

static bool
u64_differs(const struct option_row *row, const struct options *a, const struct options *b)
{
	return memcmp(field_of(row, a), field_of(row, b), sizeof(uint64_t)) != 0;
}

static bool
text_differs(const struct option_row *row, const struct options *a, const struct options *b)
{
	const char *const *text = field_of(row, a);
	const char *const *other = field_of(row, b);

	return *text && *other ? strcmp(*text, *other) != 0 : *text != *other;
}

static bool
cpus_differs(const struct option_row *row, const struct options *a, const struct options *b)
{
	return !CPU_EQUAL((const cpu_set_t *)field_of(row, a), (const cpu_set_t *)field_of(row, b));
}

/* What was not given was drawn. */
static bool
seed_differs(const struct option_row *row, const struct options *a, const struct options *b)
{
	(void)row;
	return a->seed_given != b->seed_given || (a->seed_given && a->seed != b->seed);
}

static bool
hash_key_differs(const struct option_row *row, const struct options *a, const struct options *b)
{
	(void)row;
	return a->hash_key_given != b->hash_key_given ||
	       (a->hash_key_given &&
		       memcmp(&a->flow.hash_key, &b->flow.hash_key, sizeof(a->flow.hash_key)) != 0);
}

static bool
tunnel_ports_differs(const struct option_row *row, const struct options *a, const struct options *b)
{
	(void)row;
	return memcmp(a->flow.tunnel_port, b->flow.tunnel_port, sizeof(a->flow.tunnel_port)) != 0;
}

static bool
handler_differs(const struct option_row *row, const struct options *a, const struct options *b)
{
	(void)row;
	if (a->n_handlers != b->n_handlers)
		return true;
	for (uint32_t i = 0; i < a->n_handlers; i++) {
		if (strcmp(a->handlers[i], b->handlers[i]) != 0)
			return true;
	}
	return false;
}

static bool
flag_differs(const struct option_row *row, const struct options *a, const struct options *b)
{
	return *(const bool *)field_of(row, a) != *(const bool *)field_of(row, b);
}

static bool
restarts_differs(const struct option_row *row, const struct options *a, const struct options *b)
{
	(void)row;
	return a->restarts != b->restarts || a->restart_window_ns != b->restart_window_ns;
}

const struct option_type option_type_u32 = { u32_parse, u32_describe, u32_differs };
const struct option_type option_type_u64 = { u64_parse, u64_describe, u64_differs };
const struct option_type option_type_seconds = { seconds_parse, seconds_describe, u64_differs };
const struct option_type option_type_choice = { choice_parse, choice_describe, text_differs };
const struct option_type option_type_enum = { enum_parse, choice_describe, u32_differs };
const struct option_type option_type_cpus = { cpus_parse, cpus_describe, cpus_differs };
const struct option_type option_type_seed = { seed_parse, seed_describe, seed_differs };
const struct option_type option_type_hash_key = { hash_key_parse, hash_key_describe,
	hash_key_differs };
const struct option_type option_type_tunnel_ports = { tunnel_ports_parse, tunnel_ports_describe,
	tunnel_ports_differs };
const struct option_type option_type_handler = { handler_parse, handler_describe, handler_differs };
const struct option_type option_type_restarts = { restarts_parse, restarts_describe,
	restarts_differs };
const struct option_type option_type_path = { path_parse, path_describe, text_differs };
const struct option_type option_type_name = { path_parse, name_describe, text_differs };
const struct option_type option_type_user = { path_parse, user_describe, text_differs };
const struct option_type option_type_flag = { flag_parse, flag_describe, flag_differs };
