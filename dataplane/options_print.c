/* SPDX-License-Identifier: BSD-3-Clause */
/* What options say: refusals, one line each, and usage, which is derived from the table. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "handler/handler.h"
#include "option_row.h"
#include "options.h"

#define USAGE_COLUMNS 100
#define HELP_COLUMN 27
#define LINE_BYTES 1024

/*
 * Where refusals go instead of stderr; of the thread that has redirected them. Checks know nothing
 * of who asks: it is the one thing here that is no argument.
 */
static _Thread_local FILE *refusals_out;

void
options_refusals_redirect(FILE *out)
{
	refusals_out = out;
}

/* A value may hold anything: what could break the line or the terminal is shown as '?'. */
static void
line_sanitize(char *line)
{
	for (; *line; line++)
		if ((unsigned char)*line < 0x20 || *line == 0x7f)
			*line = '?';
}

static int
refuse_va(const char *prefix, const char *format, va_list arguments)
{
	char line[LINE_BYTES];

	vsnprintf(line, sizeof(line), format, arguments);
	line_sanitize(line);
	fprintf(refusals_out ? refusals_out : stderr, "weir: %s%s\n", prefix, line);
	return -EINVAL;
}

int
options_refuse_line(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	refuse_va("", format, arguments);
	va_end(arguments);
	return -EINVAL;
}

int
options_refuse(const char *option, const char *value, const char *allowed_format, ...)
{
	char prefix[LINE_BYTES];
	va_list arguments;

	if (!value)
		snprintf(prefix, sizeof(prefix), "%s: allowed ", option);
	else
		snprintf(
			prefix, sizeof(prefix), "%s %s: allowed ", option, value[0] ? value : "''");
	line_sanitize(prefix);
	va_start(arguments, allowed_format);
	refuse_va(prefix, allowed_format, arguments);
	va_end(arguments);
	return -EINVAL;
}

/* Prints words from the help column on, broken before the last column. */
static void
words_print(FILE *out, const char *text)
{
	size_t at = HELP_COLUMN;

	while (*text) {
		const size_t length = strcspn(text, " ");

		if (at + 1 + length > USAGE_COLUMNS) {
			fprintf(out, "\n%*s", HELP_COLUMN, "");
			at = HELP_COLUMN;
		} else if (at > HELP_COLUMN) {
			fputc(' ', out);
			at++;
		}
		fwrite(text, 1, length, out);
		at += length;
		text += length + strspn(text + length, " ");
	}
	fputc('\n', out);
}

/* Prints a name, and its help beside it or, if the name is long, below. */
static void
entry_print(FILE *out, const char *name, const char *help)
{
	const int used = fprintf(out, "  %s", name);

	if (used + 2 > HELP_COLUMN)
		fprintf(out, "\n%*s", HELP_COLUMN, "");
	else
		fprintf(out, "%*s", HELP_COLUMN - used, "");
	words_print(out, help);
}

static void
row_print(FILE *out, const struct option_row *row)
{
	char allowed[OPTION_TEXT_BYTES];
	char help[2 * OPTION_TEXT_BYTES];
	char name[64];

	snprintf(name, sizeof(name), "--%s%s%s", row->name, row->placeholder ? " " : "",
		row->placeholder ? row->placeholder : "");
	row->type->describe(row, allowed, sizeof(allowed));
	if (row->default_text)
		snprintf(help, sizeof(help), "%s (%s; default %s)", row->help, allowed,
			row->default_text);
	else if (row->placeholder)
		snprintf(help, sizeof(help), "%s (%s)", row->help, allowed);
	else
		snprintf(help, sizeof(help), "%s", row->help);
	entry_print(out, name, help);
}

/* The rows of a command, each group under its heading. */
static void
rows_print(FILE *out, enum options_command command)
{
	const struct option_row *row;
	const char *heading = NULL;

	for (unsigned int i = 0; (row = option_row_of(command, i)); i++) {
		if (option_heading_of(row) != heading)
			fprintf(out, "\n%s:\n", option_heading_of(row));
		heading = option_heading_of(row);
		row_print(out, row);
	}
}

static void
choices_print(FILE *out)
{
	const struct weir_strategy *strategy;
	const struct weir_overflow_policy *policy;

	fprintf(out, "\nStrategies:\n");
	for (unsigned int i = 0; (strategy = weir_strategy_at(i)); i++)
		entry_print(out, strategy->name, strategy->help);
	entry_print(out, "custom:FILE.so",
		"one of your own, a shared object: runs with all of Weir's rights");
	entry_print(out, "bpf:FILE.o", "one of your own, an eBPF program that Weir runs itself");
	fprintf(out, "\nOverflow policies:\n");
	for (unsigned int i = 0; (policy = weir_overflow_at(i)); i++)
		entry_print(out, policy->name, policy->help);
}

static void
handlers_print(FILE *out)
{
	const struct handler *handler;

	fprintf(out, "\nHandlers:\n");
	for (unsigned int i = 0; (handler = handler_at(i)); i++)
		entry_print(out, handler->usage, handler->help);
}

static void
rules_print(FILE *out)
{
	static const struct {
		const char *word;
		const char *help;
	} words[] = {
		{ "NAME[,FALLBACK]", "by a strategy of their own" },
		{ "drop", "dropped" },
		{ "kernel", "to the exception port; with police if need be, nothing else" },
		{ "police:PPS[:BURST]", "no faster than that on each rx core" },
		{ "serial", "one worker's packets of the rule queue up: the default" },
		{ "discard-later", "none while its worker has another of the rule" },
		{ "cover-early", "a newer one takes the place of those that wait" },
		{ "retry:N", "so many other workers are tried when a lane is full" },
		{ "overflow:POLICY", "then, a policy of their own" },
		{ "urgent", "workers take them first, whatever else waits" },
	};

	fprintf(out, "\nRules, 'EXPRESSION => WORD...': pcap-filter(7) => what is done with "
		     "packets:\n");
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		entry_print(out, words[i].word, words[i].help);
}

void
options_print_usage(FILE *out)
{
	fprintf(out,
		"Usage: weir [EAL options] -- [options]\n"
		"       weir why CAPTURE [options]     tells why packets land where they do\n"
		"       weir help | version\n"
		"\n"
		"Steers packets from DPDK ports to the shallowest worker. Without a NIC:\n"
		"  weir --no-huge -m 256 --no-pci --vdev net_null0 -- --order none --duration 5\n"
		"\n"
		"EAL options are DPDK's own: -l, --lcores (cores), -a (devices), --vdev (virtual "
		"devices),\n"
		"-m (megabytes), --no-huge, --file-prefix ... Without core options Weir "
		"chooses.\n");
	rows_print(out, OPTIONS_OF_WEIR);
	choices_print(out);
	rules_print(out);
	handlers_print(out);
	fprintf(out,
		"\nExit status: 0, 2 if an option was refused, 3 if the ledger does not balance, "
		"1 otherwise.\n");
}

void
options_print_why_usage(FILE *out)
{
	fprintf(out,
		"Usage: weir why CAPTURE [options]\n"
		"\n"
		"Replays a capture of Ethernet packets (a file, or - for standard input) through "
		"Weir's own\n"
		"dispatcher, packet by packet, and tells for each one its layers, its flow and "
		"why it went to its\n"
		"worker; at the end, how evenly that was, and what was the cause if it was not. "
		"Needs no DPDK\n"
		"device, no hugepages and no privileges.\n");
	rows_print(out, OPTIONS_OF_WHY);
	choices_print(out);
	rules_print(out);
	fprintf(out, "\nExit status: 0, 2 if an option or the capture was refused, "
		     "1 otherwise.\n");
}
