/* SPDX-License-Identifier: BSD-3-Clause */
/* A rule in parts, and what creates one: text.c reads it, compile.c asks libpcap. */
#ifndef WEIR_RULE_RULE_H
#define WEIR_RULE_RULE_H

#include <pcap/pcap.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <weir/rule.h>

struct rule {
	char *expression; /* without blanks around it */
	char *action;	  /* likewise */
	struct bpf_program program;
};

struct weir_rules {
	uint32_t n;
	struct weir_class classes[WEIR_RULES_MAX];
	struct rule rule[WEIR_RULES_MAX];
};

/* What stands between words. */
#define BLANKS " \t\r\n"

static inline bool
is_blank(char c)
{
	return c && strchr(BLANKS, c);
}

/* A part of a text. */
struct text_part {
	const char *begin;
	uint32_t length; /* bytes */
};

/* The names that an action may use. */
struct rule_names {
	const struct weir_strategy *const *strategies; /* besides the registered ones */
	uint32_t n_strategies;
};

/*
 * Splits a text at its last "=>" and reads the words behind it into `class`. Returns 0, or -EINVAL
 * with `error` filled but for the rule's number.
 */
int rule_text_read(const char *text, const struct rule_names *names, struct text_part *expression,
	struct text_part *action, struct weir_class *class, struct weir_rule_error *error);

/*
 * Compiles an expression, which begins at `column` of its text. Returns 0, or -EINVAL with `error`
 * filled but for the rule's number.
 */
int rule_compile(pcap_t *pcap, const char *expression, uint32_t column, struct bpf_program *program,
	struct weir_rule_error *error);

#endif
