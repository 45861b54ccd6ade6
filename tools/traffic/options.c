/* SPDX-License-Identifier: BSD-3-Clause */
/* The option table of weir-traffic, and what is derived from it. */
#include "options.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE_PREFIX "weir-traffic: "

enum option_type {
	OPTION_NUMBER,	/* uint64_t from `min` to `max` */
	OPTION_DECIMAL, /* double from `min` to `max` */
	OPTION_MIX,	/* struct mix */
	OPTION_PATH,	/* const char *, not empty */
	OPTION_FLAG,	/* bool, no value */
};

struct option_row {
	const char *name;
	const char *argument; /* as usage calls the value; NULL for a flag */
	const char *initial;  /* the default, in the user's notation; NULL: none */
	const char *help;
	uint64_t min;
	uint64_t max;
	size_t offset; /* of the field in struct traffic_options */
	enum option_type type;
};

#define FIELD(field) .offset = offsetof(struct traffic_options, field)

static const struct option_row rows[] = {
	{ .name = "--output",
		.type = OPTION_PATH,
		FIELD(output),
		.argument = "FILE",
		.help = "the pcap to write; the option's name may be left out" },
	{ .name = "--packets",
		.type = OPTION_NUMBER,
		FIELD(packets),
		.argument = "N",
		.min = 1,
		.max = 1000000000,
		.initial = "100000",
		.help = "packets to write: exactly so many" },
	{ .name = "--flows",
		.type = OPTION_NUMBER,
		FIELD(flows),
		.argument = "N",
		.min = 1,
		.max = 1048576,
		.initial = "1000",
		.help = "flows, each of one packet at least; no more than packets" },
	{ .name = "--seed",
		.type = OPTION_NUMBER,
		FIELD(seed),
		.argument = "N",
		.max = UINT64_MAX,
		.initial = "1",
		.help = "the same options and seed write the same file, byte for byte" },
	{ .name = "--mix",
		.type = OPTION_MIX,
		FIELD(mix),
		.argument = "KIND=W,...",
		.initial = "tcp=40,udp=20,dns=15,vlan=10,ipv6=10,fragments=5",
		.help = "shares of flows by kind; kinds that are not named get none" },
	{ .name = "--zipf",
		.type = OPTION_DECIMAL,
		FIELD(zipf),
		.argument = "S",
		.max = 4,
		.initial = "1.0",
		.help = "the k-th flow has a share of packets like 1/k^S; 0 makes all equal" },
	{ .name = "--min-size",
		.type = OPTION_NUMBER,
		FIELD(min_size_bytes),
		.argument = "BYTES",
		.min = FRAME_SIZE_MIN,
		.max = FRAME_SIZE_MAX,
		.initial = "60",
		.help = "least frame, without check sequence; shorter packets are padded" },
	{ .name = "--max-size",
		.type = OPTION_NUMBER,
		FIELD(max_size_bytes),
		.argument = "BYTES",
		.min = FRAME_SIZE_MIN,
		.max = FRAME_SIZE_MAX,
		.initial = "1514",
		.help = "greatest frame; headers and DNS messages are never cut for it" },
	{ .name = "--rate",
		.type = OPTION_NUMBER,
		FIELD(rate_pps),
		.argument = "PPS",
		.min = 1,
		.max = 1000000000,
		.initial = "100000",
		.help = "packets per second, by their timestamps" },
	{ .name = "--help", .type = OPTION_FLAG, FIELD(help), .help = "print this" },
};
#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

#define ALLOWED_BYTES (MIX_ALLOWED_BYTES + 32)

/* What a row allows, in words. */
static void
row_allowed(const struct option_row *row, char allowed[ALLOWED_BYTES])
{
	switch (row->type) {
	case OPTION_NUMBER:
	case OPTION_DECIMAL:
		(void)snprintf(allowed, ALLOWED_BYTES, "%ju to %ju%s", (uintmax_t)row->min,
			(uintmax_t)row->max, row->type == OPTION_DECIMAL ? ", decimals too" : "");
		break;
	case OPTION_MIX:
		mix_allowed(allowed);
		break;
	case OPTION_PATH:
		(void)snprintf(allowed, ALLOWED_BYTES, "a file's path");
		break;
	case OPTION_FLAG:
		(void)snprintf(allowed, ALLOWED_BYTES, "no value");
		break;
	}
}

/* value: NULL if it is missing. Always returns -EINVAL. */
static int
row_refuse(const struct option_row *row, const char *value)
{
	char allowed[ALLOWED_BYTES];

	row_allowed(row, allowed);
	if (value == NULL)
		(void)fprintf(
			stderr, MESSAGE_PREFIX "%s: no value; allowed: %s\n", row->name, allowed);
	else
		(void)fprintf(
			stderr, MESSAGE_PREFIX "%s %s: allowed: %s\n", row->name, value, allowed);
	return -EINVAL;
}

/* Digits only: no sign, no blank, no other base. */
static int
number_parse(const char *text, uint64_t *value)
{
	const size_t n = strspn(text, "0123456789");

	errno = 0;
	*value = strtoull(text, NULL, 10);
	return n == 0 || text[n] != '\0' || errno != 0 ? -EINVAL : 0;
}

static int
decimal_parse(const char *text, double *value)
{
	const size_t n = strspn(text, "0123456789.");
	char *end;

	*value = strtod(text, &end);
	return n == 0 || text[n] != '\0' || *end != '\0' || !isfinite(*value) ? -EINVAL : 0;
}

/* Stores a value, if the row allows it. Returns 0 or -EINVAL; silent. */
static int
row_set(const struct option_row *row, struct traffic_options *options, const char *value)
{
	void *field = (char *)options + row->offset;
	uint64_t number = 0;
	double decimal = 0;

	switch (row->type) {
	case OPTION_NUMBER:
		if (number_parse(value, &number) || number < row->min || number > row->max)
			return -EINVAL;
		*(uint64_t *)field = number;
		return 0;
	case OPTION_DECIMAL:
		if (decimal_parse(value, &decimal) || decimal < (double)row->min ||
			decimal > (double)row->max)
			return -EINVAL;
		*(double *)field = decimal;
		return 0;
	case OPTION_MIX:
		return mix_parse(value, field);
	case OPTION_PATH:
		*(const char **)field = value;
		return *value == '\0' ? -EINVAL : 0;
	case OPTION_FLAG:
		*(bool *)field = true;
		return 0;
	}
	return -EINVAL;
}

/* The row that `word` names, up to an '='; NULL if there is none. */
static const struct option_row *
row_find(const char *word)
{
	const size_t n = strcspn(word, "=");

	for (size_t i = 0; i < N_ROWS; i++)
		if (strlen(rows[i].name) == n && memcmp(rows[i].name, word, n) == 0)
			return &rows[i];
	return NULL;
}

/* The command line as it is consumed. */
struct words {
	char **next;
	char **end;
	bool seen[N_ROWS];
};

/* The value of the option `word`: behind its '=', or the next word. NULL if there is none. */
static const char *
words_take_value(struct words *words, const char *word)
{
	const char *equals = strchr(word, '=');

	if (equals != NULL)
		return equals + 1;
	return words->next < words->end ? *words->next++ : NULL;
}

static int
words_take_option(struct words *words, struct traffic_options *options, const char *word)
{
	const bool positional = word[0] != '-';
	const struct option_row *row = row_find(positional ? "--output" : word);

	if (row == NULL) {
		(void)fprintf(stderr, MESSAGE_PREFIX "%s: no such option; see --help\n", word);
		return -EINVAL;
	}
	if (words->seen[row - rows]) {
		(void)fprintf(stderr, MESSAGE_PREFIX "%s: allowed: once\n", word);
		return -EINVAL;
	}
	words->seen[row - rows] = true;
	if (row->type == OPTION_FLAG)
		return strchr(word, '=') ? row_refuse(row, strchr(word, '=') + 1)
					 : row_set(row, options, NULL);
	const char *value = positional ? word : words_take_value(words, word);

	if (value == NULL || row_set(row, options, value) != 0)
		return row_refuse(row, value);
	return 0;
}

/* What one value allows another. `flows` follows `packets` unless it was asked for. */
static int
options_check(struct traffic_options *options, bool flows_given)
{
	if (options->output == NULL)
		return row_refuse(row_find("--output"), NULL);
	if (options->min_size_bytes > options->max_size_bytes) {
		(void)fprintf(stderr,
			MESSAGE_PREFIX "--min-size %ju: allowed: up to --max-size %ju\n",
			(uintmax_t)options->min_size_bytes, (uintmax_t)options->max_size_bytes);
		return -EINVAL;
	}
	if (options->flows > options->packets && flows_given) {
		(void)fprintf(stderr, MESSAGE_PREFIX "--flows %ju: allowed: up to --packets %ju\n",
			(uintmax_t)options->flows, (uintmax_t)options->packets);
		return -EINVAL;
	}
	if (options->flows > options->packets)
		options->flows = options->packets;
	return 0;
}

int
options_parse(struct traffic_options *options, int argc, char **argv)
{
	struct words words = { .next = argv + 1, .end = argv + argc };

	*options = (struct traffic_options) { .output = NULL };
	for (size_t i = 0; i < N_ROWS; i++)
		if (rows[i].initial != NULL && row_set(&rows[i], options, rows[i].initial) != 0)
			return row_refuse(&rows[i], rows[i].initial);
	while (words.next < words.end && !options->help) {
		const char *word = *words.next++;

		if (words_take_option(&words, options, word) != 0)
			return -EINVAL;
	}
	if (options->help)
		return 0;
	return options_check(options, words.seen[row_find("--flows") - rows]);
}

static void
row_print_usage(FILE *out, const struct option_row *row)
{
	char allowed[ALLOWED_BYTES];
	char head[40];

	(void)snprintf(head, sizeof(head), "%s %s", row->name, row->argument ? row->argument : "");
	(void)fprintf(out, "  %-20s %s\n", head, row->help);
	row_allowed(row, allowed);
	if (row->type == OPTION_NUMBER || row->type == OPTION_DECIMAL)
		(void)fprintf(out, "  %-20s (%s; default %s)\n", "", allowed, row->initial);
	else if (row->initial != NULL)
		(void)fprintf(out, "  %-20s (default %s)\n", "", row->initial);
}

void
options_print_usage(FILE *out)
{
	(void)fprintf(out, "usage: weir-traffic [options] FILE\n"
			   "Writes a capture of made-up traffic, for tests and benchmarks.\n\n");
	for (size_t i = 0; i < N_ROWS; i++)
		row_print_usage(out, &rows[i]);
	(void)fprintf(out, "\nkinds of flows:\n");
	for (unsigned int kind = 0; kind < TRAFFIC_KINDS; kind++)
		(void)fprintf(out, "  %-20s %s\n", traffic_kind_name((enum traffic_kind)kind),
			traffic_kind_help((enum traffic_kind)kind));
}
