/* SPDX-License-Identifier: BSD-3-Clause */
/* The values of --rule and of [rules]: collected one by one, compiled together. */
#ifndef WEIR_DATAPLANE_OPTION_RULES_H
#define WEIR_DATAPLANE_OPTION_RULES_H

#include <stdint.h>

#include "options.h"

struct config_entry;

/* Adds a rule of the command line. Returns 0, or -EINVAL without a message if there are too many.
 */
int option_rule_add(struct options *options, const char *text);

/* Adds a rule of a file, or what a rule goes on with. Returns 0, or -EINVAL after a refusal. */
int option_rule_add_entry(struct options *options, const struct config_entry *entry);

/* Compiles all of them into options->rules. Returns 0, -EINVAL after a refusal, -ENOMEM after a
 * line. Without rules, options->rules stays NULL. */
int options_compile_rules(struct options *options);

/* The refusal of what rule `number` (from 1) says; always returns -EINVAL. One line on stderr. */
int options_refuse_rule(const struct options *options, uint32_t number, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
