/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An expression, compiled by libpcap. It says what is wrong but not where: if its message quotes
 * something, that is looked for; else the longest beginning of the expression is, by words, that
 * compiles once something is put behind it. What follows that beginning is the offender.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "rule.h"

/* Characters that are words by themselves; addresses, names and ranges hold all the others. */
#define OPERATORS "()[]&|!=<>+*"
#define COMPLETION_BYTES 32

/* What a beginning may lack: an operand, an operator, or several. */
static const char *const completions[] = {
	"",
	" greater 1",
	" 1",
	" 1-2",
	" 1.1.1.1",
	" ::1",
	" 255.0.0.0",
	" 02:00:00:00:00:00",
	" port 1",
	" host 1.1.1.1",
	"0] = 0",
	"] = 0",
	" = 0",
	" 0 = 0",
};

static bool
is_operator(char c)
{
	return c && strchr(OPERATORS, c);
}

/* Whether a word begins at text[at]. */
static bool
word_begins(const char *text, uint32_t at)
{
	if (is_blank(text[at]))
		return false;
	return at == 0 || is_blank(text[at - 1]) || is_operator(text[at - 1]) ||
	       is_operator(text[at]);
}

/* Whether a word that this character follows ends. */
static bool
word_ends(char next)
{
	return !next || is_blank(next) || is_operator(next);
}

/* Unoptimised, as "ip and arp" is well formed though it matches nothing. */
static bool
text_compiles(pcap_t *pcap, const char *text)
{
	struct bpf_program program;

	if (pcap_compile(pcap, &program, text, 0, PCAP_NETMASK_UNKNOWN) < 0)
		return false;
	pcap_freecode(&program);
	return true;
}

/* Round brackets that are open at the end of a text. */
static uint32_t
brackets_open(const char *text, uint32_t length)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < length; i++) {
		if (text[i] == '(')
			n++;
		else if (text[i] == ')' && n > 0)
			n--;
	}
	return n;
}

/* Whether the beginning of an expression can be the beginning of a sound one. */
static bool
beginning_is_sound(pcap_t *pcap, const char *expression, uint32_t length)
{
	char text[2 * WEIR_RULE_TEXT_MAX + COMPLETION_BYTES];
	const uint32_t n_open = brackets_open(expression, length);

	for (size_t i = 0; i < sizeof(completions) / sizeof(completions[0]); i++) {
		const int used = snprintf(
			text, sizeof(text), "%.*s%s", (int)length, expression, completions[i]);

		memset(text + used, ')', n_open);
		text[(uint32_t)used + n_open] = '\0';
		if (text_compiles(pcap, text))
			return true;
	}
	return false;
}

/* Where what the message quotes stands in the expression; false if nowhere. */
static bool
quoted_find(const char *message, const char *expression, uint32_t *at)
{
	const char *begin = message + strcspn(message, "'\"");
	const size_t length = *begin ? strcspn(begin + 1, "'\"") : 0;
	char quoted[WEIR_RULE_TEXT_MAX + 1];
	const char *found;

	if (length == 0 || length >= sizeof(quoted))
		return false;
	memcpy(quoted, begin + 1, length);
	quoted[length] = '\0';
	for (found = expression; (found = strstr(found, quoted)); found++) {
		*at = (uint32_t)(found - expression);
		if (word_begins(expression, *at) && word_ends(found[length]))
			return true;
	}
	return false;
}

/* Where the offending part of an expression begins, as well as that can be told. */
static uint32_t
offender_find(pcap_t *pcap, const char *expression, const char *message)
{
	uint32_t at;

	if (quoted_find(message, expression, &at))
		return at;
	if (text_compiles(pcap, expression))
		return 0;
	for (at = (uint32_t)strlen(expression); at > 0; at--) {
		if ((!expression[at] || word_begins(expression, at)) &&
			beginning_is_sound(pcap, expression, at))
			break;
	}
	return at;
}

int
rule_compile(pcap_t *pcap, const char *expression, uint32_t column, struct bpf_program *program,
	struct weir_rule_error *error)
{
	if (pcap_compile(pcap, program, expression, 1, PCAP_NETMASK_UNKNOWN) == 0)
		return 0;
	snprintf(error->message, sizeof(error->message), "%s", pcap_geterr(pcap));
	error->column = column + offender_find(pcap, expression, error->message);
	return -EINVAL;
}
