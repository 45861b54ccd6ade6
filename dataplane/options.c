/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loop that parses by the table of options. Not by getopt_long: it takes any prefix of a name
 * for the name.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config_file.h"
#include "option_flow.h"
#include "option_handlers.h"
#include "option_routes.h"
#include "option_row.h"
#include "option_rules.h"
#include "option_values.h"
#include "option_workers.h"
#include "options.h"
#include "pool_options.h"

#define NAME_BYTES_MAX 32
#define TYPO_DISTANCE_MAX 2 /* edits between a word and the name that it may stand for */

/* The row of a name, by the whole of its `length` bytes. */
static const struct option_row *
row_of_name(enum options_command command, const char *name, size_t length)
{
	const struct option_row *row;

	for (unsigned int i = 0; (row = option_row_of(command, i)); i++)
		if (strlen(row->name) == length && strncmp(row->name, name, length) == 0)
			return row;
	return NULL;
}

/* The row of "--name" or "--name=value". */
static const struct option_row *
row_find(enum options_command command, const char *word)
{
	if (strncmp(word, "--", 2) != 0)
		return NULL;
	return row_of_name(command, word + 2, strcspn(word + 2, "="));
}

bool
options_given(const struct options *options, const char *name)
{
	const struct option_row *row;
	uint64_t bits = 0;

	for (int command = OPTIONS_OF_WEIR; command <= OPTIONS_OF_WHY; command++) {
		row = row_of_name((enum options_command)command, name, strlen(name));
		bits |= row ? option_row_bit(row) : 0;
	}
	return options->given & bits;
}

bool
options_is_known(const char *word)
{
	return row_find(OPTIONS_OF_WEIR, word) != NULL;
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
name_suggest(enum options_command command, const char *name)
{
	const struct option_row *row;
	const char *nearest = NULL;
	unsigned int best = TYPO_DISTANCE_MAX + 1;

	for (unsigned int i = 0; (row = option_row_of(command, i)); i++) {
		const unsigned int distance = edit_distance(name, row->name);

		if (distance < best) {
			best = distance;
			nearest = row->name;
		}
	}
	for (unsigned int i = 0; !nearest && (row = option_row_of(command, i)); i++)
		if (strncmp(row->name, name, strlen(name)) == 0)
			nearest = row->name;
	return nearest;
}

/* How the commands are called, and where the options of each are found. */
static const struct {
	const char *name;
	const char *elsewhere;
} command_words[] = {
	[OPTIONS_OF_WEIR] = { "weir", "weir --help lists them, EAL's go before the --" },
	[OPTIONS_OF_WHY] = { "weir why", "weir why --help lists them" },
};

static int
refuse_unknown(enum options_command command, const char *word)
{
	const enum options_command other =
		command == OPTIONS_OF_WEIR ? OPTIONS_OF_WHY : OPTIONS_OF_WEIR;
	const int length = (int)strcspn(word, "=");
	const char *suggestion = NULL;
	char name[NAME_BYTES_MAX];

	if (row_find(other, word))
		return options_refuse_line("%.*s: an option of %s, not of %s", length, word,
			command_words[other].name, command_words[command].name);
	if (strncmp(word, "--", 2) == 0 && length > 3 && length - 2 < NAME_BYTES_MAX) {
		snprintf(name, sizeof(name), "%.*s", length - 2, word + 2);
		suggestion = name_suggest(command, name);
	}
	if (suggestion)
		return options_refuse_line(
			"%.*s: no such option, did you mean --%s?", length, word, suggestion);
	if (word[0] == '-')
		return options_refuse_line(
			"%.*s: no such option; %s", length, word, command_words[command].elsewhere);
	return options_refuse_line(
		"%s: not an option; weir --help lists them", *word ? word : "''");
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

/* A word that is no option: the capture. Returns 1, the words that it takes, or -EINVAL. */
static int
capture_parse(struct options *options, const char *word)
{
	if (options->capture)
		return options_refuse_line(
			"%s: one capture only, not %s too", word, options->capture);
	if (word[0] == '\0')
		return options_refuse("CAPTURE", word, "a file, or - for standard input");
	options->capture = word;
	return 1;
}

/* Parses the option that starts at argv[0]. Returns the words that it takes, or -EINVAL. */
static int
option_parse(struct options *options, enum options_command command, int argc, char **argv)
{
	const struct option_row *row = row_find(command, argv[0]);
	const char *equals = strchr(argv[0], '=');
	const char *value = equals ? equals + 1 : NULL;
	int n_words = 1;

	if (command == OPTIONS_OF_WHY && (argv[0][0] != '-' || strcmp(argv[0], "-") == 0))
		return capture_parse(options, argv[0]);
	if (!row)
		return refuse_unknown(command, argv[0]);
	if (strcmp(row->name, "config") == 0 && options->config)
		return options_refuse_line(
			"%s: one file only, and %s is one already", argv[0], options->config);
	if (row->placeholder && !value) {
		/* What looks like an option is one: no value begins so. */
		if (argc < 2 || strncmp(argv[1], "--", 2) == 0)
			return row_refuse(row, NULL);
		value = argv[1];
		n_words = 2;
	}
	if (row->type->parse(row, value, options) < 0)
		return row_refuse(row, value);
	options->given |= option_row_bit(row);
	return n_words;
}

/* What a file's entries go into. */
struct file_target {
	struct options *options;
	enum options_command command;
};

/* What a file must not say: it would be about the file itself, or about a single call. */
static bool
row_is_of_words_only(const struct option_row *row)
{
	static const char *const names[] = { "config", "help", "version" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(row->name, names[i]) == 0)
			return true;
	return false;
}

static int
key_refuse(const struct file_target *target, const struct config_entry *entry)
{
	const bool is_known = row_of_name(target->command, entry->key, strlen(entry->key));
	const char *suggestion = strlen(entry->key) < NAME_BYTES_MAX
					 ? name_suggest(target->command, entry->key)
					 : NULL;

	if (is_known)
		return options_refuse_line("%s:%u: %s: allowed on the command line only",
			entry->path, entry->line, entry->key);
	if (suggestion)
		return options_refuse_line("%s:%u: %s: no such option, did you mean %s?",
			entry->path, entry->line, entry->key, suggestion);
	return options_refuse_line("%s:%u: %s: no option that a file can have; weir --help lists "
				   "them",
		entry->path, entry->line, entry->key);
}

/* Stores a value of a file. Options without a value are switched by yes and no there. */
static int
entry_parse(const struct option_row *row, const struct config_entry *entry, struct options *options)
{
	char allowed[OPTION_TEXT_BYTES] = "yes or no";

	if (!row->placeholder && strcmp(entry->value, "no") == 0)
		return 0;
	if (!row->placeholder && strcmp(entry->value, "yes") == 0)
		return row->type->parse(row, NULL, options);
	if (row->placeholder && row->type->parse(row, entry->value, options) == 0)
		return 0;
	if (row->placeholder)
		row->type->describe(row, allowed, sizeof(allowed));
	return options_refuse_line("%s:%u: %s %s: allowed %s", entry->path, entry->line, entry->key,
		entry->value[0] ? entry->value : "''", allowed);
}

/*
 * Takes an entry of a file. `weir why` reads the files of `weir`: options that it does not have are
 * checked there, and change nothing.
 */
static int
entry_take(void *context, const struct config_entry *entry)
{
	const struct file_target *target = context;
	const size_t length = strlen(entry->key);
	const struct option_row *row = row_of_name(target->command, entry->key, length);
	struct options unused = { 0 };

	if (strcmp(entry->key, "rule") == 0)
		return option_rule_add_entry(target->options, entry);
	if (row && !row_is_of_words_only(row)) {
		if (entry_parse(row, entry, target->options) < 0)
			return -EINVAL;
		target->options->given |= option_row_bit(row);
		return 0;
	}
	row = row ? NULL : row_of_name(OPTIONS_OF_WEIR, entry->key, length);
	return row ? entry_parse(row, entry, &unused) : key_refuse(target, entry);
}

/* The value of the first --config among words that come before --help; NULL if there is none. */
static const char *
file_find(int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "--version") == 0)
			return NULL;
		if (strncmp(argv[i], "--config=", 9) == 0)
			return argv[i] + 9;
		if (strcmp(argv[i], "--config") == 0)
			return i + 1 < argc && strncmp(argv[i + 1], "--", 2) != 0 ? argv[i + 1]
										  : "";
	}
	return NULL;
}

/* Reads the file before the words, so that those win. Returns 0 or as options_parse. */
static int
file_parse(struct options *options, enum options_command command, int argc, char **argv)
{
	struct file_target target = { options, command };
	const char *path = file_find(argc, argv);

	/* An empty name is refused among the words, like any other bad value. */
	return path && path[0] ? config_file_read(path, options, entry_take, &target) : 0;
}

/* Defaults go through the same parser: the table can't say one thing and do another. */
static void
defaults_parse(struct options *options, enum options_command command)
{
	const struct option_row *row;

	for (unsigned int i = 0; (row = option_row_of(command, i)); i++)
		if (row->default_text && row->type->parse(row, row->default_text, options) < 0)
			abort();
}

/* Without order, a flow's packets have no worker to stick to. */
static int
sticky_check(const struct options *options)
{
	char value[24];

	if (options->sticky_usec == 0 || strcmp(options->order, "flow") == 0)
		return 0;
	snprintf(value, sizeof(value), "%" PRIu64, options->sticky_usec);
	return options_refuse("--sticky", value, "0 with --order %s", options->order);
}

/* One of N of what is not written is nothing. */
static int
dead_sample_check(const struct options *options)
{
	char value[16];

	if (options->dead_sample == 0 || options->dead_packets)
		return 0;
	snprintf(value, sizeof(value), "%u", options->dead_sample);
	return options_refuse("--dead-sample", value, "only with --dead-packets");
}

/* Whether two paths lead to the same file, as far as can be told before they are opened. */
static bool
is_same_file(const char *path, const char *other)
{
	struct stat of_path, of_other;

	if (strcmp(path, other) == 0)
		return true;
	return stat(path, &of_path) == 0 && stat(other, &of_other) == 0 &&
	       S_ISREG(of_path.st_mode) && of_path.st_dev == of_other.st_dev &&
	       of_path.st_ino == of_other.st_ino;
}

/* The report is written at the end, over whatever stands there. */
static int
outputs_check(const struct options *options)
{
	if (!options->report || !options->dead_packets ||
		!is_same_file(options->report, options->dead_packets))
		return 0;
	return options_refuse("--dead-packets", options->dead_packets,
		"a file of its own: --report writes to that one");
}

/* The checks that look at several values. */
static int
options_check(struct options *options, enum options_command command)
{
	int rc = options_load_strategies(options);

	if (rc == 0)
		rc = sticky_check(options);
	if (rc == 0)
		rc = options_compile_rules(options);
	if (rc == 0)
		rc = options_check_routes(options, command);
	if (rc == 0)
		rc = dead_sample_check(options);
	if (rc == 0)
		rc = outputs_check(options);
	if (rc == 0)
		rc = options_check_workers_max(options);
	if (rc == 0)
		rc = pool_options_check(options);
	if (rc == 0)
		rc = options_check_tunnel_ports(options);
	if (rc == 0)
		rc = options_check_handlers(options);
	return rc < 0 ? rc : options_check_redeliver(options);
}

/* Parses what the user has given. Returns 0 or -EINVAL after a refusal. */
static int
words_parse(struct options *options, enum options_command command, int argc, char **argv)
{
	int rc;

	rc = file_parse(options, command, argc, argv);
	if (rc < 0)
		return rc;
	for (int i = 0; i < argc; i += rc) {
		rc = option_parse(options, command, argc - i, argv + i);
		if (rc < 0)
			return rc;
		if (options->help || options->version)
			return 0;
	}
	return options_check(options, command);
}

/* A text that options own. */
struct options_kept {
	struct options_kept *next;
	char text[];
};

const char *
options_keep(struct options *options, const char *text)
{
	const size_t n_bytes = strlen(text) + 1;
	struct options_kept *kept = malloc(sizeof(*kept) + n_bytes);

	if (!kept) {
		fprintf(stderr, "weir: no memory for the options\n");
		return NULL;
	}
	memcpy(kept->text, text, n_bytes);
	kept->next = options->kept;
	options->kept = kept;
	return kept->text;
}

void
options_free(struct options *options)
{
	weir_rules_destroy(options->rules);
	options->rules = NULL;
	while (options->kept) {
		struct options_kept *next = options->kept->next;

		free(options->kept);
		options->kept = next;
	}
	strategies_unload(&options->strategies);
	handlers_unload(&options->handlers_loaded);
}

int
options_parse(struct options *options, int argc, char **argv)
{
	return options_parse_text(options, argc, argv, NULL);
}

int
options_parse_text(struct options *options, int argc, char **argv, const char *config_text)
{
	*options = (struct options) { .config_text = config_text };
	defaults_parse(options, OPTIONS_OF_WEIR);
	return words_parse(options, OPTIONS_OF_WEIR, argc, argv);
}

int
options_parse_why(struct options *options, int argc, char **argv)
{
	int rc;

	*options = (struct options) { 0 };
	/* What `weir why` does not offer stays as it is in a weir that is given nothing. */
	defaults_parse(options, OPTIONS_OF_WEIR);
	defaults_parse(options, OPTIONS_OF_WHY);
	rc = words_parse(options, OPTIONS_OF_WHY, argc, argv);
	if (rc == 0 && !options->help && !options->capture)
		return options_refuse("CAPTURE", NULL, "a file, or - for standard input");
	return rc;
}
