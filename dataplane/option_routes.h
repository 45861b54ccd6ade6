/* SPDX-License-Identifier: BSD-3-Clause */
/* The options that say where packets go: what they say together, checked without a port. */
#ifndef WEIR_DATAPLANE_OPTION_ROUTES_H
#define WEIR_DATAPLANE_OPTION_ROUTES_H

#include "option_row.h"

/*
 * Loads the strategies that --strategy and rules name by a file. Before options_compile_rules.
 * Returns 0; or -EINVAL after a refusal, or -ENOMEM after a line.
 */
int options_load_strategies(struct options *options);

/*
 * Checks strategies, weights, rules, budget and deadlines against each other: what says nothing is
 * refused. After options_compile_rules. Returns 0, or -EINVAL after a refusal.
 */
int options_check_routes(const struct options *options, enum options_command command);

#endif
