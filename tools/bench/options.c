/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of options, and the little that is needed to parse by it and to print it. */
#include "options.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#define ROUNDS_MAX 1000
#define PACKETS_MAX 100000000

struct option_row;

/* Reads `value` into the row's field. Returns 0 or -EINVAL. */
typedef int (*option_parse_fn)(
	const struct option_row *row, const char *value, struct bench_options *options);

struct option_row {
	const char *name;
	const char *placeholder; /* NULL: takes no value */
	const char *help;
	const char *default_text; /* parsed as if the user had typed it; NULL: none */
	const char *allowed;	  /* what is allowed, where a range does not say it */
	option_parse_fn parse;
	size_t offset;
	uint64_t min;
	uint64_t max;
};

static void *
row_field(const struct option_row *row, struct bench_options *options)
{
	return (char *)options + row->offset;
}

/* Decimal digits up to `end`, one or more. Not strtoul: it takes signs and blanks. */
static int
number_parse(const char *text, const char *end, uint64_t *number)
{
	uint64_t value = 0;

	if (text == end)
		return -EINVAL;
	for (; text < end; text++) {
		if (*text < '0' || *text > '9' || __builtin_mul_overflow(value, 10, &value) ||
			__builtin_add_overflow(value, (uint64_t)(*text - '0'), &value))
			return -EINVAL;
	}
	*number = value;
	return 0;
}

/* A number in the row's range. */
static int
ranged_parse(const struct option_row *row, const char *text, const char *end, uint64_t *number)
{
	if (number_parse(text, end, number) < 0)
		return -EINVAL;
	return *number >= row->min && *number <= row->max ? 0 : -EINVAL;
}

/* Numbers with commas between them, at most `max`. Returns how many, or -EINVAL. */
static int
list_parse(const struct option_row *row, const char *value, uint32_t *list, int max)
{
	int n = 0;

	for (const char *text = value;; text++) {
		const char *end = strchrnul(text, ',');
		uint64_t number;

		if (n == max || ranged_parse(row, text, end, &number) < 0)
			return -EINVAL;
		list[n++] = (uint32_t)number;
		text = end;
		if (*text == '\0')
			return n;
	}
}

static int
u32_parse(const struct option_row *row, const char *value, struct bench_options *options)
{
	uint64_t number;

	if (ranged_parse(row, value, value + strlen(value), &number) < 0)
		return -EINVAL;
	*(uint32_t *)row_field(row, options) = (uint32_t)number;
	return 0;
}

static int
u64_parse(const struct option_row *row, const char *value, struct bench_options *options)
{
	return number_parse(value, value + strlen(value), row_field(row, options));
}

static int
workers_parse(const struct option_row *row, const char *value, struct bench_options *options)
{
	const int n = list_parse(row, value, options->workers, BENCH_WORKER_COUNTS_MAX);

	if (n < 0)
		return n;
	options->n_workers = (uint32_t)n;
	return 0;
}

static int
cpus_parse(const struct option_row *row, const char *value, struct bench_options *options)
{
	if (list_parse(row, value, options->cpu, BENCH_CPUS) != BENCH_CPUS)
		return -EINVAL;
	options->cpus_given = true;
	return 0;
}

static int
text_parse(const struct option_row *row, const char *value, struct bench_options *options)
{
	*(const char **)row_field(row, options) = value;
	return value[0] != '\0' ? 0 : -EINVAL;
}

static int
flag_parse(const struct option_row *row, const char *value, struct bench_options *options)
{
	(void)value;
	*(bool *)row_field(row, options) = true;
	return 0;
}

#define FIELD(member) .offset = offsetof(struct bench_options, member)

static const struct option_row rows[] = {
	{ .name = "--rounds",
		.placeholder = "N",
		.default_text = "9",
		.parse = u32_parse,
		.help = "rounds of every case, one case after another (A B C A B C ...)",
		FIELD(rounds),
		.min = 1,
		.max = ROUNDS_MAX },
	{ .name = "--packets",
		.placeholder = "N",
		.default_text = "100000",
		.parse = u32_parse,
		.help = "packets per case and round",
		FIELD(packets),
		.min = 1,
		.max = PACKETS_MAX },
	{ .name = "--workers",
		.placeholder = "LIST",
		.default_text = "1,4,16,64,256",
		.parse = workers_parse,
		.help = "logical workers; a case each",
		.allowed = "a list like 1,4,16 of at most 16 numbers, each 1 to 256",
		.min = 1,
		.max = WEIR_WORKERS_MAX },
	{ .name = "--burst",
		.placeholder = "N",
		.default_text = "32",
		.parse = u32_parse,
		.help = "packets per burst",
		FIELD(burst),
		.min = 1,
		.max = WEIR_BURST_MAX },
	{ .name = "--chunk",
		.placeholder = "K",
		.default_text = "8",
		.parse = u32_parse,
		.help = "dispatch: packets per pick, measured beside 1",
		FIELD(chunk),
		.min = 1,
		.max = WEIR_BURST_MAX },
	{ .name = "--lane-size",
		.placeholder = "N",
		.default_text = "512",
		.parse = u32_parse,
		.help = "slots of each lane",
		FIELD(lane_size),
		.min = 1,
		.max = WEIR_LANE_SIZE_MAX },
	{ .name = "--backlog",
		.placeholder = "N",
		.default_text = "8",
		.parse = u32_parse,
		.help = "dispatch: packets that each worker holds in the backlogged cases",
		FIELD(backlog),
		.min = 1,
		.max = WEIR_LANE_SIZE_MAX },
	{ .name = "--subject",
		.placeholder = "NAME",
		.parse = text_parse,
		.help = "only this one of the table's first column",
		.allowed = "a name of that column",
		FIELD(subject) },
	{ .name = "--situation",
		.placeholder = "NAME",
		.parse = text_parse,
		.help = "only this one of the table's second column",
		.allowed = "a name of that column",
		FIELD(situation) },
	{ .name = "--cpus",
		.placeholder = "A,B",
		.parse = cpus_parse,
		.help = "the dispatcher's CPU and the workers' (default: the first two allowed)",
		.allowed = "two CPUs like 2,3 that this process may use",
		.max = CPU_SETSIZE - 1 },
	{ .name = "--seed",
		.placeholder = "N",
		.default_text = "1",
		.parse = u64_parse,
		.help = "of flows and of strategies that draw",
		.allowed = "a 64-bit number",
		FIELD(seed) },
	{ .name = "--json",
		.placeholder = "FILE",
		.parse = text_parse,
		.help = "write the results there as well",
		.allowed = "a file that can be written",
		FIELD(json) },
	{ .name = "--help", .parse = flag_parse, .help = "print this", FIELD(help) },
};

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

int
options_refuse(const char *name, const char *value, const char *allowed_format, ...)
{
	va_list arguments;

	fprintf(stderr, "weir-bench: %s%s%s: allowed ", name, value ? " " : "",
		value && value[0] == '\0' ? "''"
		: value			  ? value
					  : "");
	va_start(arguments, allowed_format);
	vfprintf(stderr, allowed_format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	return -EINVAL;
}

static int
row_refuse(const struct option_row *row, const char *value)
{
	if (row->allowed)
		return options_refuse(row->name, value, "%s", row->allowed);
	return options_refuse(row->name, value, "%" PRIu64 " to %" PRIu64, row->min, row->max);
}

static const struct option_row *
row_find(const char *name)
{
	for (size_t i = 0; i < N_ROWS; i++)
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	return NULL;
}

static int
defaults_set(struct bench_options *options)
{
	*options = (struct bench_options) { 0 };
	for (size_t i = 0; i < N_ROWS; i++) {
		const char *text = rows[i].default_text;

		if (text && rows[i].parse(&rows[i], text, options) < 0)
			return row_refuse(&rows[i], text);
	}
	return 0;
}

/* Limits that hang together. */
static int
options_check(const struct bench_options *options)
{
	const uint32_t needed = options->burst + options->backlog;
	char value[16];

	if (options->lane_size < needed) {
		snprintf(value, sizeof(value), "%u", options->lane_size);
		return options_refuse("--lane-size", value, "%u (burst + backlog) to %u", needed,
			WEIR_LANE_SIZE_MAX);
	}
	if (options->packets < options->burst) {
		snprintf(value, sizeof(value), "%u", options->packets);
		return options_refuse(
			"--packets", value, "%u (a burst) to %u", options->burst, PACKETS_MAX);
	}
	return 0;
}

int
options_parse(struct bench_options *options, int argc, char **argv)
{
	if (defaults_set(options) < 0)
		return -EINVAL;
	for (int i = 0; i < argc; i++) {
		const struct option_row *row = row_find(argv[i]);
		const char *value = NULL;

		if (!row)
			return options_refuse(argv[i], NULL, "what --help lists");
		if (row->placeholder) {
			value = i + 1 < argc ? argv[++i] : NULL;
			if (!value)
				return row_refuse(row, "(nothing)");
		}
		if (row->parse(row, value, options) < 0)
			return row_refuse(row, value);
	}
	return options_check(options);
}

void
options_print(FILE *out)
{
	for (size_t i = 0; i < N_ROWS; i++) {
		const struct option_row *row = &rows[i];
		char left[32];

		snprintf(left, sizeof(left), "%s %s", row->name,
			row->placeholder ? row->placeholder : "");
		fprintf(out, "  %-18s %s", left, row->help);
		if (row->default_text)
			fprintf(out, " (default %s)", row->default_text);
		fputc('\n', out);
	}
}
