/* SPDX-License-Identifier: BSD-3-Clause */
#include "option_rules.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "config_file.h"
#include "option_row.h"

#define REFUSAL_BYTES 1024
#define TEXT_SHOWN_BYTES 200 /* of a rule, in a refusal that must fit its line */

static int
rule_add(struct options *options, const char *text, const char *path, uint32_t line)
{
	if (options->n_rules == WEIR_RULES_MAX)
		return -EINVAL;
	options->rule_text[options->n_rules] = text;
	options->rule_path[options->n_rules] = path;
	options->rule_line[options->n_rules] = line;
	options->n_rules++;
	return 0;
}

int
option_rule_add(struct options *options, const char *text)
{
	return rule_add(options, text, NULL, 0);
}

/* A rule that was begun on an earlier line, and a blank between the two. */
static int
rule_continue(struct options *options, const struct config_entry *entry)
{
	const char **text = &options->rule_text[options->n_rules - 1];
	char joined[2 * WEIR_RULE_TEXT_MAX];
	const int n = snprintf(joined, sizeof(joined), "%s %s", *text, entry->value);

	if (n > WEIR_RULE_TEXT_MAX)
		return options_refuse_line("%s:%u: rule: allowed at most %d bytes, over all lines",
			entry->path, entry->line, WEIR_RULE_TEXT_MAX);
	*text = options_keep(options, joined);
	return *text ? 0 : -EINVAL;
}

int
option_rule_add_entry(struct options *options, const struct config_entry *entry)
{
	if (entry->continues)
		return rule_continue(options, entry);
	if (rule_add(options, entry->value, entry->path, entry->line) == 0)
		return 0;
	return options_refuse_line("%s:%u: rule %s: allowed at most %d rules", entry->path,
		entry->line, entry->value, WEIR_RULES_MAX);
}

int
options_refuse_rule(const struct options *options, uint32_t number, const char *format, ...)
{
	const char *path = options->rule_path[number - 1];
	const char *text = options->rule_text[number - 1];
	char line[REFUSAL_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (path)
		return options_refuse_line("%s:%u: rule %.*s: number %u, %s", path,
			options->rule_line[number - 1], TEXT_SHOWN_BYTES, text, number, line);
	return options_refuse_line(
		"--rule %.*s: number %u, %s", TEXT_SHOWN_BYTES, text, number, line);
}

int
options_compile_rules(struct options *options)
{
	struct weir_rule_error error;

	if (options->n_rules == 0)
		return 0;
	options->rules = weir_rules_create(options->rule_text, options->n_rules,
		options->strategies.loaded, options->strategies.n, &error);
	if (options->rules)
		return 0;
	if (errno == EINVAL)
		return options_refuse_rule(
			options, error.rule, "column %u: %s", error.column, error.message);
	fprintf(stderr, "weir: no memory for the rules\n");
	return -ENOMEM;
}
