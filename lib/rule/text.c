/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of a rule: `EXPRESSION => WORD...`. Knows the words, not the expressions. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <weir/overflow.h>
#include <weir/strategy.h>

#include "rule.h"

#define ARROW "=>"
#define ARROW_BYTES 2
#define NAME_BYTES 64

/* The kinds of words: each at most once. */
enum word_kind {
	WORD_TARGET, /* where to */
	WORD_POLICE,
	WORD_ADMISSION,
	WORD_RETRY,
	WORD_OVERFLOW,
	WORD_URGENT,
	WORD_KINDS,
};

/* The words of one action on their way into a class. */
struct action {
	const char *text; /* the whole rule */
	const struct rule_names *names;
	struct weir_class *class;
	struct weir_rule_error *error;
	const struct weir_strategy *strategy; /* NULL: the pool's */
	struct text_part word[WORD_KINDS];    /* `begin` is NULL where none was said */
};

static bool
part_is(const struct text_part *part, const char *word)
{
	return strlen(word) == part->length && memcmp(part->begin, word, part->length) == 0;
}

/* What follows `prefix` in the part; `begin` is NULL if it does not begin so. */
static struct text_part
part_after(const struct text_part *part, const char *prefix)
{
	const uint32_t length = (uint32_t)strlen(prefix);

	if (part->length < length || memcmp(part->begin, prefix, length) != 0)
		return (struct text_part) { 0 };
	return (struct text_part) { part->begin + length, part->length - length };
}

static struct text_part
part_trim(const char *begin, const char *end)
{
	while (begin < end && is_blank(*begin))
		begin++;
	while (begin < end && is_blank(end[-1]))
		end--;
	return (struct text_part) { begin, (uint32_t)(end - begin) };
}

/* Refuses a part of the action: "WORD: WHY". */
static int __attribute__((format(printf, 3, 4)))
part_refuse(const struct action *action, const struct text_part *part, const char *format, ...)
{
	struct weir_rule_error *error = action->error;
	const int shown = (int)(part->length < NAME_BYTES ? part->length : NAME_BYTES);
	va_list arguments;
	int used;

	error->column = (uint32_t)(part->begin - action->text) + 1;
	if (shown == 0)
		used = snprintf(error->message, sizeof(error->message), "no action: ");
	else
		used = snprintf(error->message, sizeof(error->message), "%.*s%s: ", shown,
			part->begin, (uint32_t)shown < part->length ? "..." : "");
	va_start(arguments, format);
	vsnprintf(error->message + used, sizeof(error->message) - (size_t)used, format, arguments);
	va_end(arguments);
	return -EINVAL;
}

/* Adds a name to a list in text. */
static void
list_add(char *list, size_t n_bytes, const char *name)
{
	const size_t used = strlen(list);

	snprintf(list + used, n_bytes - used, "%s%s", used ? ", " : "", name);
}

static const struct weir_strategy *
strategy_find(const struct rule_names *names, const struct text_part *part)
{
	const struct weir_strategy *strategy;

	for (uint32_t i = 0; i < names->n_strategies; i++) {
		if (part_is(part, names->strategies[i]->name))
			return names->strategies[i];
	}
	for (unsigned int i = 0; (strategy = weir_strategy_at(i)); i++) {
		if (part_is(part, strategy->name))
			return strategy;
	}
	return NULL;
}

/* Refuses what is neither a strategy nor another word. */
static int
word_unknown(const struct action *action, const struct text_part *part)
{
	const struct rule_names *names = action->names;
	const struct weir_strategy *strategy;
	char list[WEIR_RULE_MESSAGE_BYTES / 2] = "";

	for (unsigned int i = 0; (strategy = weir_strategy_at(i)); i++)
		list_add(list, sizeof(list), strategy->name);
	for (uint32_t i = 0; i < names->n_strategies; i++)
		list_add(list, sizeof(list), names->strategies[i]->name);
	return part_refuse(action, part,
		"allowed drop, kernel, police:PPS[:BURST], serial, discard-later, cover-early, "
		"retry:N, overflow:POLICY, urgent, or a strategy: %s",
		list);
}

/* Reads a decimal number of min .. max. */
static bool
number_read(const struct text_part *part, uint64_t min, uint64_t max, uint64_t *number)
{
	*number = 0;
	for (uint32_t i = 0; i < part->length; i++) {
		const char c = part->begin[i];

		if (c < '0' || c > '9' || *number > max / 10)
			return false;
		*number = *number * 10 + (uint64_t)(c - '0');
	}
	return part->length > 0 && *number >= min && *number <= max;
}

/* ---- words: each returns 0, or -EINVAL after a refusal; those of another kind, 1 ---- */

static int
police_read(struct action *action, const struct text_part *word)
{
	struct text_part pps = part_after(word, "police:");
	struct text_part burst = { 0 };
	const char *colon;
	uint64_t n_burst = 0;
	bool ok;

	if (!pps.begin)
		return 1;
	colon = memchr(pps.begin, ':', pps.length);
	if (colon) {
		burst = (struct text_part) { colon + 1,
			(uint32_t)(pps.begin + pps.length - colon - 1) };
		pps.length = (uint32_t)(colon - pps.begin);
	}
	ok = number_read(&pps, 1, WEIR_POLICE_PPS_MAX, &action->class->police_pps);
	if (!ok || (colon && !number_read(&burst, 1, INT32_MAX, &n_burst)))
		return part_refuse(action, word,
			"allowed police:PPS[:BURST], PPS 1 to %" PRIu64 ", BURST 1 to %d",
			WEIR_POLICE_PPS_MAX, INT32_MAX);
	action->class->police_burst = (uint32_t)n_burst;
	return 0;
}

static int
admission_read(struct action *action, const struct text_part *word)
{
	static const char *const names[WEIR_ADMISSION_COUNT] = {
		[WEIR_ADMIT_SERIAL] = "serial",
		[WEIR_ADMIT_DISCARD_LATER] = "discard-later",
		[WEIR_ADMIT_COVER_EARLY] = "cover-early",
	};

	for (unsigned int i = 0; i < WEIR_ADMISSION_COUNT; i++) {
		if (!part_is(word, names[i]))
			continue;
		action->class->admission = (enum weir_admission)i;
		return 0;
	}
	return 1;
}

static int
retry_read(struct action *action, const struct text_part *word)
{
	const struct text_part n = part_after(word, "retry:");
	uint64_t number;

	if (!n.begin)
		return 1;
	if (!number_read(&n, 1, WEIR_WORKERS_MAX - 1, &number))
		return part_refuse(
			action, word, "allowed retry:N, N 1 to %d", WEIR_WORKERS_MAX - 1);
	action->class->retries = (uint32_t)number;
	return 0;
}

static int
overflow_read(struct action *action, const struct text_part *word)
{
	const struct text_part name = part_after(word, "overflow:");
	const struct weir_overflow_policy *policy;
	char list[WEIR_RULE_MESSAGE_BYTES / 2] = "";

	if (!name.begin)
		return 1;
	for (unsigned int i = 0; (policy = weir_overflow_at(i)); i++) {
		list_add(list, sizeof(list), policy->name);
		if (!part_is(&name, policy->name))
			continue;
		action->class->overflow = policy->name;
		return 0;
	}
	return part_refuse(action, word, "allowed overflow:POLICY, POLICY one of %s", list);
}

static int
urgent_read(struct action *action, const struct text_part *word)
{
	if (!part_is(word, "urgent"))
		return 1;
	action->class->urgent = true;
	return 0;
}

/* Every word that no other kind has read. */
static int
target_read(struct action *action, const struct text_part *word)
{
	const char *comma = memchr(word->begin, ',', word->length);
	struct text_part name = *word;
	struct text_part rest = { 0 };
	const struct weir_strategy *fallback = NULL;

	if (part_is(word, "drop") || part_is(word, "kernel")) {
		action->class->action =
			word->begin[0] == 'd' ? WEIR_ACTION_DROP : WEIR_ACTION_DIVERT;
		return 0;
	}
	if (comma) {
		name.length = (uint32_t)(comma - word->begin);
		rest = (struct text_part) { comma + 1, word->length - name.length - 1 };
		fallback = strategy_find(action->names, &rest);
	}
	action->strategy = strategy_find(action->names, &name);
	if (!action->strategy || (comma && !fallback))
		return word_unknown(action, action->strategy ? &rest : &name);
	action->class->strategy = action->strategy->name;
	action->class->fallback = fallback ? fallback->name : NULL;
	return 0;
}

static int (*const word_readers[WORD_KINDS])(
	struct action *action, const struct text_part *word) = {
	[WORD_TARGET] = target_read,
	[WORD_POLICE] = police_read,
	[WORD_ADMISSION] = admission_read,
	[WORD_RETRY] = retry_read,
	[WORD_OVERFLOW] = overflow_read,
	[WORD_URGENT] = urgent_read,
};

static int
word_read(struct action *action, const struct text_part *word)
{
	unsigned int kind = WORD_KINDS;
	int rc = 1;

	/* Backwards: what is no other word must be a target. */
	while (rc > 0)
		rc = word_readers[--kind](action, word);
	if (rc < 0)
		return rc;
	if (action->word[kind].begin)
		return part_refuse(action, word, "allowed once, and not besides %.*s",
			(int)action->word[kind].length, action->word[kind].begin);
	action->word[kind] = *word;
	return 0;
}

/* The kinds of words, a bit each, that may stand beside the action's target. */
static unsigned int
kinds_allowed(const struct action *action)
{
	const unsigned int all = (1u << WORD_KINDS) - 1;

	if (action->class->action == WEIR_ACTION_DROP)
		return 1u << WORD_TARGET;
	if (action->class->action == WEIR_ACTION_DIVERT)
		return 1u << WORD_TARGET | 1u << WORD_POLICE;
	/* Who gets a copy is not a choice: there is no other worker to try. */
	if (action->strategy && (action->strategy->flags & WEIR_STRATEGY_ALL_TARGETS))
		return all & ~(1u << WORD_RETRY);
	return all;
}

static const char *
beside_target(const struct action *action)
{
	if (action->class->action == WEIR_ACTION_DROP)
		return "no other word";
	if (action->class->action == WEIR_ACTION_DIVERT)
		return "police:PPS[:BURST]";
	return "any but retry: every worker gets a copy";
}

/* Refuses the first word that says nothing beside the others. */
static int
words_check(const struct action *action)
{
	const unsigned int allowed = kinds_allowed(action);
	const struct text_part *target = &action->word[WORD_TARGET];

	for (unsigned int kind = 0; kind < WORD_KINDS; kind++) {
		if (!action->word[kind].begin || (allowed >> kind & 1))
			continue;
		return part_refuse(action, &action->word[kind], "not with %.*s: allowed %s",
			(int)target->length, target->begin, beside_target(action));
	}
	return 0;
}

static int
words_read(struct action *action, const struct text_part *part)
{
	const char *end = part->begin + part->length;
	struct text_part word;

	if (part->length == 0)
		return word_unknown(action, part);
	for (const char *at = part->begin; at < end; at = word.begin + word.length) {
		word.begin = at + strspn(at, BLANKS);
		word.length = (uint32_t)strcspn(word.begin, BLANKS);
		if (word_read(action, &word) < 0)
			return -EINVAL;
	}
	return words_check(action);
}

/* The last arrow that stands alone; NULL if there is none. */
static const char *
arrow_find(const char *text)
{
	const char *found = NULL;

	for (const char *at = text; (at = strstr(at, ARROW)); at++) {
		if ((at == text || is_blank(at[-1])) &&
			(!at[ARROW_BYTES] || is_blank(at[ARROW_BYTES])))
			found = at;
	}
	return found;
}

int
rule_text_read(const char *text, const struct rule_names *names, struct text_part *expression,
	struct text_part *action_part, struct weir_class *class, struct weir_rule_error *error)
{
	struct action action = { .text = text, .names = names, .class = class, .error = error };
	const size_t length = strnlen(text, WEIR_RULE_TEXT_MAX + 1);
	const struct text_part all = { text, (uint32_t)length };
	const char *arrow;

	*class = (struct weir_class) { 0 };
	if (length > WEIR_RULE_TEXT_MAX)
		return part_refuse(&action, &all, "allowed at most %d bytes", WEIR_RULE_TEXT_MAX);
	arrow = arrow_find(text);
	if (!arrow)
		return part_refuse(&action, &all,
			"allowed EXPRESSION => ACTION, with blanks "
			"around the =>");
	*expression = part_trim(text, arrow);
	*action_part = part_trim(arrow + ARROW_BYTES, text + length);
	return words_read(&action, action_part);
}
