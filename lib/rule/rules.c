/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules, made of texts and taken apart again. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rule.h"

#define SNAPLEN_BYTES 65535

/* Makes one rule. Returns 0, -EINVAL with `error` filled but for its number, or -ENOMEM. */
static int
rule_init(struct rule *rule, struct weir_class *class, pcap_t *pcap, const char *text,
	const struct rule_names *names, struct weir_rule_error *error)
{
	struct text_part expression, action;

	if (rule_text_read(text, names, &expression, &action, class, error) < 0)
		return -EINVAL;
	rule->expression = strndup(expression.begin, expression.length);
	rule->action = strndup(action.begin, action.length);
	if (!rule->expression || !rule->action)
		return -ENOMEM;
	return rule_compile(pcap, rule->expression, (uint32_t)(expression.begin - text) + 1,
		&rule->program, error);
}

static int
rules_fill(struct weir_rules *rules, pcap_t *pcap, const char *const *texts, uint32_t n,
	const struct rule_names *names, struct weir_rule_error *error)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < n; i++) {
		error->rule = i + 1;
		if (i == WEIR_RULES_MAX) {
			error->column = 1;
			snprintf(error->message, sizeof(error->message), "allowed at most %d rules",
				WEIR_RULES_MAX);
			return -EINVAL;
		}
		rules->n = i + 1;
		rc = rule_init(&rules->rule[i], &rules->classes[i], pcap, texts[i], names, error);
	}
	return rc;
}

struct weir_rules *
weir_rules_create(const char *const *texts, uint32_t n,
	const struct weir_strategy *const *strategies, uint32_t n_strategies,
	struct weir_rule_error *error)
{
	const struct rule_names names = { strategies, n_strategies };
	pcap_t *pcap = pcap_open_dead(DLT_EN10MB, SNAPLEN_BYTES);
	struct weir_rules *rules = calloc(1, sizeof(*rules));
	struct weir_rule_error ignored;
	int rc = -ENOMEM;

	if (pcap && rules)
		rc = rules_fill(rules, pcap, texts, n, &names, error ? error : &ignored);
	if (pcap)
		pcap_close(pcap);
	if (rc < 0) {
		weir_rules_destroy(rules);
		errno = -rc;
		return NULL;
	}
	return rules;
}

void
weir_rules_destroy(struct weir_rules *rules)
{
	if (!rules)
		return;
	for (uint32_t i = 0; i < rules->n; i++) {
		pcap_freecode(&rules->rule[i].program);
		free(rules->rule[i].expression);
		free(rules->rule[i].action);
	}
	free(rules);
}

uint32_t
weir_rules_count(const struct weir_rules *rules)
{
	return rules->n;
}

const struct weir_class *
weir_rules_classes(const struct weir_rules *rules)
{
	return rules->classes;
}

const char *
weir_rules_expression(const struct weir_rules *rules, uint32_t class_id)
{
	assert(class_id >= 1 && class_id <= rules->n);
	return rules->rule[class_id - 1].expression;
}

const char *
weir_rules_action(const struct weir_rules *rules, uint32_t class_id)
{
	assert(class_id >= 1 && class_id <= rules->n);
	return rules->rule[class_id - 1].action;
}
