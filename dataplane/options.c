/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of options and the loop that parses by it. Not by getopt_long: it takes any prefix of
 * a name for the name.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "option_flow.h"
#include "option_handlers.h"
#include "option_row.h"
#include "option_values.h"
#include "options.h"

#define RX_QUEUES_MAX 64
#define MBUF_BYTES_MIN 256			/* the headroom, 128, and a short frame */
#define STICKY_USEC_MAX 3600000000		/* an hour */
#define SECONDS_MAX 31536000			/* a year */
#define STATS_PERIOD_MIN_NS UINT64_C(100000000) /* more often, nobody can read the table */

#define NAME_BYTES_MAX 32
#define TYPO_DISTANCE_MAX 2 /* edits between a word and the name that it may stand for */

static const char *
strategy_name_at(unsigned int index)
{
	const struct weir_strategy *strategy = weir_strategy_at(index);

	return strategy ? strategy->name : NULL;
}

static const char *
overflow_name_at(unsigned int index)
{
	const struct weir_overflow_policy *policy = weir_overflow_at(index);

	return policy ? policy->name : NULL;
}

static const char *
order_name_at(unsigned int index)
{
	static const char *const names[] = { "flow", "none" };

	return index < sizeof(names) / sizeof(names[0]) ? names[index] : NULL;
}

static const char *const depth_mode_names[] = {
	[WEIR_DEPTH_OUTSTANDING] = "outstanding",
	[WEIR_DEPTH_QUEUED] = "queued",
};

static const char *
depth_mode_name_at(unsigned int index)
{
	return index < sizeof(depth_mode_names) / sizeof(depth_mode_names[0])
		       ? depth_mode_names[index]
		       : NULL;
}

static const char *const flow_depth_names[] = {
	[WEIR_FLOW_INNER] = "inner",
	[WEIR_FLOW_OUTER] = "outer",
};

static const char *
flow_depth_name_at(unsigned int index)
{
	return index < sizeof(flow_depth_names) / sizeof(flow_depth_names[0])
		       ? flow_depth_names[index]
		       : NULL;
}

#define FIELD(member) .offset = offsetof(struct options, member)
#define SECONDS_RANGE(least) .min = (least), .max = SECONDS_MAX * OPTION_NS_PER_SECOND

static const struct option_row option_table[] = {
	{
		.heading = "Cores and workers",
		.name = "rx-cores",
		.placeholder = "R",
		.help = "lcores that receive, dispatch and transmit",
		.default_text = "1",
		.type = &option_type_u32,
		FIELD(rx_cores),
		.min = 1,
		.max = WEIR_DISPATCHERS_MAX,
	},
	{
		.name = "rx-queues",
		.placeholder = "Q",
		.help = "receive queues of each port",
		.default_text = "1",
		.type = &option_type_u32,
		FIELD(rx_queues),
		.min = 1,
		.max = RX_QUEUES_MAX,
	},
	{
		.name = "workers",
		.placeholder = "N",
		.help = "workers that packets are lent to",
		.default_text = "4",
		.type = &option_type_u32,
		FIELD(workers),
		.min = 1,
		.max = WEIR_WORKERS_MAX,
	},
	{
		.name = "worker-cpus",
		.placeholder = "LIST",
		.help = "CPUs that workers are pinned to, in turn; without it, those that are left",
		.type = &option_type_cpus,
		FIELD(worker_cpus),
		.max = CPU_SETSIZE - 1,
	},
	{
		.name = "handler",
		.placeholder = "[WORKERS=]SPEC",
		.help = "what workers do with packets, repeatable: the last that names a worker "
			"wins",
		.default_text = "forward",
		.type = &option_type_handler,
		.max = OPTIONS_HANDLERS_MAX,
	},
	{
		.heading = "Decisions",
		.name = "strategy",
		.placeholder = "NAME",
		.help = "how a packet's worker is chosen",
		.default_text = "shallowest",
		.type = &option_type_choice,
		FIELD(strategy),
		.name_at = strategy_name_at,
	},
	{
		.name = "order",
		.placeholder = "MODE",
		.help = "flow: packets of a flow that one rx core received never overtake each "
			"other; none: every packet goes its own way",
		.default_text = "flow",
		.type = &option_type_choice,
		FIELD(order),
		.name_at = order_name_at,
	},
	{
		.name = "sticky",
		.placeholder = "USEC",
		.help = "with order flow, a flow stays with its worker until it was silent that "
			"long; 0: until its packets are done",
		.default_text = "0",
		.type = &option_type_u64,
		FIELD(sticky_usec),
		.max = STICKY_USEC_MAX,
	},
	{
		.name = "overflow",
		.placeholder = "POLICY",
		.help = "when the chosen worker's lane is full: drop the packet, or stop receiving",
		.default_text = "drop-new",
		.type = &option_type_choice,
		FIELD(overflow),
		.name_at = overflow_name_at,
	},
	{
		.name = "chunk",
		.placeholder = "K",
		.help = "consecutive packets that share a decision",
		.default_text = "1",
		.type = &option_type_u32,
		FIELD(chunk),
		.min = 1,
		.max = WEIR_BURST_MAX,
	},
	{
		.name = "depth-mode",
		.placeholder = "MODE",
		.help = "what a worker's depth counts: all that it has, or what waits",
		.default_text = "outstanding",
		.type = &option_type_enum,
		FIELD(depth_mode),
		.name_at = depth_mode_name_at,
	},
	{
		.name = "seed",
		.placeholder = "N",
		.help = "of all random decisions; without it, random and printed at start",
		.type = &option_type_seed,
	},
	{
		.name = "hash-key",
		.placeholder = "HEX",
		.help = "key of the flow hash; without it, random",
		.type = &option_type_hash_key,
	},
	{
		.name = "flow-depth",
		.placeholder = "DEPTH",
		.help = "which packet of a tunnel tells the flow",
		.default_text = "inner",
		.type = &option_type_enum,
		FIELD(flow.depth),
		.name_at = flow_depth_name_at,
	},
	{
		.name = "flow-nesting",
		.placeholder = "N",
		.help = "tunnels in tunnels that are looked through",
		.default_text = "4",
		.type = &option_type_u32,
		FIELD(flow.nesting_max),
		.max = WEIR_FLOW_NESTING_MAX,
	},
	{
		.name = "flow-ports",
		.placeholder = "NAME=PORT[,...]",
		.help = "UDP ports of tunnels, repeatable: what is not named stays as it was",
		.default_text = "vxlan=4789,vxlan-gpe=4790,geneve=6081,gtpu=2152,teredo=3544",
		.type = &option_type_tunnel_ports,
		FIELD(flow.tunnel_port),
		.max = UINT16_MAX,
	},
	{
		.heading = "Sizes",
		.name = "lane-size",
		.placeholder = "N",
		.help = "packets that one rx core can have lent to one worker",
		.default_text = "512",
		.type = &option_type_u32,
		FIELD(lane_size),
		.min = 1,
		.max = UINT16_MAX,
	},
	{
		.name = "burst",
		.placeholder = "N",
		.help = "most packets moved at a time",
		.default_text = "32",
		.type = &option_type_u32,
		FIELD(burst),
		.min = 1,
		.max = WEIR_BURST_MAX,
	},
	{
		.name = "mbuf-size",
		.placeholder = "BYTES",
		.help = "a buffer's data room, headroom included; longer frames take several",
		.default_text = "2176",
		.type = &option_type_u32,
		FIELD(mbuf_size),
		.min = MBUF_BYTES_MIN,
		.max = UINT16_MAX,
	},
	{
		.heading = "When to stop",
		.name = "duration",
		.placeholder = "SECONDS",
		.help = "stop after this time; 0: never",
		.default_text = "0",
		.type = &option_type_seconds,
		FIELD(duration_ns),
		SECONDS_RANGE(0),
	},
	{
		.name = "packets",
		.placeholder = "N",
		.help = "stop after so many packets received; 0: never",
		.default_text = "0",
		.type = &option_type_u64,
		FIELD(packets),
		.max = UINT64_MAX,
	},
	{
		.name = "exit-idle",
		.placeholder = "SECONDS",
		.help = "stop after so long without input; 0: never",
		.default_text = "0",
		.type = &option_type_seconds,
		FIELD(exit_idle_ns),
		SECONDS_RANGE(0),
	},
	{
		.name = "drain-timeout",
		.placeholder = "SECONDS",
		.help = "time that workers have to finish at the end",
		.default_text = "5",
		.type = &option_type_seconds,
		FIELD(drain_timeout_ns),
		SECONDS_RANGE(0),
	},
	{
		.heading = "Output",
		.name = "stats-period",
		.placeholder = "SECONDS",
		.help = "time between two tables; 0: none",
		.default_text = "1",
		.type = &option_type_seconds,
		FIELD(stats_period_ns),
		SECONDS_RANGE(STATS_PERIOD_MIN_NS),
	},
	{
		.name = "report",
		.placeholder = "FILE",
		.help = "write a report in JSON at the end",
		.type = &option_type_path,
		FIELD(report),
	},
	{
		.name = "quiet",
		.help = "print neither tables nor notes",
		.type = &option_type_flag,
		FIELD(quiet),
	},
	{
		.name = "help",
		.help = "print this and exit",
		.type = &option_type_flag,
		FIELD(help),
	},
	{
		.name = "version",
		.help = "print the version and exit",
		.type = &option_type_flag,
		FIELD(version),
	},
};

const struct option_row *
option_row_at(unsigned int index)
{
	return index < sizeof(option_table) / sizeof(option_table[0]) ? &option_table[index] : NULL;
}

/* The row of "--name" or "--name=value", by the whole name. */
static const struct option_row *
row_find(const char *word)
{
	const struct option_row *row;
	size_t length;

	if (strncmp(word, "--", 2) != 0)
		return NULL;
	word += 2;
	length = strcspn(word, "=");
	for (unsigned int i = 0; (row = option_row_at(i)); i++)
		if (strlen(row->name) == length && strncmp(row->name, word, length) == 0)
			return row;
	return NULL;
}

bool
options_is_known(const char *word)
{
	return row_find(word) != NULL;
}

static unsigned int
least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/*
 * Levenshtein's distance: insertions, deletions and replacements from one name to the other.
 * Both are shorter than NAME_BYTES_MAX.
 */
static unsigned int
edit_distance(const char *a, const char *b)
{
	unsigned int distance[NAME_BYTES_MAX]; /* from a's first i characters to b's first j */
	const unsigned int n = (unsigned int)strlen(b);

	for (unsigned int j = 0; j <= n; j++)
		distance[j] = j;
	for (unsigned int i = 1; a[i - 1]; i++) {
		unsigned int diagonal = distance[0];

		distance[0] = i;
		for (unsigned int j = 1; j <= n; j++) {
			const unsigned int replaced = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = distance[j];
			distance[j] = least(replaced, 1 + least(distance[j], distance[j - 1]));
		}
	}
	return distance[n];
}

/* The name that an unknown one was likely meant to be: one edit or two away, or its beginning. */
static const char *
name_suggest(const char *name)
{
	const struct option_row *row;
	const char *nearest = NULL;
	unsigned int best = TYPO_DISTANCE_MAX + 1;

	for (unsigned int i = 0; (row = option_row_at(i)); i++) {
		const unsigned int distance = edit_distance(name, row->name);

		if (distance < best) {
			best = distance;
			nearest = row->name;
		}
	}
	for (unsigned int i = 0; !nearest && (row = option_row_at(i)); i++)
		if (strncmp(row->name, name, strlen(name)) == 0)
			nearest = row->name;
	return nearest;
}

static int
refuse_unknown(const char *word)
{
	const int length = (int)strcspn(word, "=");
	const char *suggestion = NULL;
	char name[NAME_BYTES_MAX];

	if (strncmp(word, "--", 2) == 0 && length > 3 && length - 2 < NAME_BYTES_MAX) {
		snprintf(name, sizeof(name), "%.*s", length - 2, word + 2);
		suggestion = name_suggest(name);
	}
	if (suggestion)
		return options_refuse_line(
			"%.*s: no such option, did you mean --%s?", length, word, suggestion);
	if (word[0] == '-')
		return options_refuse_line("%.*s: no such option; weir --help lists them, EAL's go "
					   "before the --",
			length, word);
	return options_refuse_line("%s: not an option; weir --help lists them", word);
}

/* Refuses with what the row's type says is allowed; `value` is NULL if it is missing. */
static int
row_refuse(const struct option_row *row, const char *value)
{
	char allowed[OPTION_TEXT_BYTES];
	char option[NAME_BYTES_MAX + 2];

	snprintf(option, sizeof(option), "--%s", row->name);
	row->type->describe(row, allowed, sizeof(allowed));
	if (!value)
		return options_refuse_line("%s: needs a value, allowed %s", option, allowed);
	return options_refuse(option, value, "%s", allowed);
}

/* Parses the option that starts at argv[0]. Returns the words that it takes, or -EINVAL. */
static int
option_parse(struct options *options, int argc, char **argv)
{
	const struct option_row *row = row_find(argv[0]);
	const char *equals = strchr(argv[0], '=');
	const char *value = equals ? equals + 1 : NULL;
	int n_words = 1;

	if (!row)
		return refuse_unknown(argv[0]);
	if (row->placeholder && !value) {
		/* What looks like an option is one: no value begins so. */
		if (argc < 2 || strncmp(argv[1], "--", 2) == 0)
			return row_refuse(row, NULL);
		value = argv[1];
		n_words = 2;
	}
	if (row->type->parse(row, value, options) < 0)
		return row_refuse(row, value);
	return n_words;
}

/* Defaults go through the same parser: the table can't say one thing and do another. */
static void
options_set_defaults(struct options *options)
{
	const struct option_row *row;

	*options = (struct options) { 0 };
	for (unsigned int i = 0; (row = option_row_at(i)); i++)
		if (row->default_text && row->type->parse(row, row->default_text, options) < 0)
			abort();
}

/* A flow that has an owner goes to it packet by packet, whatever came before. */
static int
sticky_check(const struct options *options)
{
	char value[24];

	if (options->sticky_usec == 0 || strcmp(options->order, "flow") == 0)
		return 0;
	snprintf(value, sizeof(value), "%" PRIu64, options->sticky_usec);
	return options_refuse("--sticky", value, "0 with --order %s", options->order);
}

static int
chunk_check(const struct options *options)
{
	const struct weir_strategy *strategy = weir_strategy_find(options->strategy);
	char value[16];

	if (options->chunk == 1 || !(strategy->flags & WEIR_STRATEGY_OWNS_FLOWS))
		return 0;
	snprintf(value, sizeof(value), "%u", options->chunk);
	return options_refuse("--chunk", value, "1 with --strategy %s", strategy->name);
}

int
options_parse(struct options *options, int argc, char **argv)
{
	int rc;

	options_set_defaults(options);
	for (int i = 0; i < argc; i += rc) {
		rc = option_parse(options, argc - i, argv + i);
		if (rc < 0)
			return rc;
		if (options->help || options->version)
			return 0;
	}
	rc = chunk_check(options);
	if (rc == 0)
		rc = sticky_check(options);
	if (rc == 0)
		rc = options_check_tunnel_ports(options);
	return rc < 0 ? rc : options_check_handlers(options);
}
