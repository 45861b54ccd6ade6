/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a strategy from outside is asked before it may decide: whether what it says of itself makes
 * sense, and whether it answers what it is asked. Knows neither shared objects nor eBPF.
 */
#ifndef WEIR_STRATEGY_TRIAL_H
#define WEIR_STRATEGY_TRIAL_H

#include <stddef.h>

struct weir_strategy;

/* Looks at the members. Returns 0, or -EINVAL with a line in `reason`. */
int strategy_check(const struct weir_strategy *strategy, char *reason, size_t n_bytes);

/*
 * Prepares, picks, withdraws and releases for pools of 1, 3 and 256 workers, with random depths,
 * weights and packets that are the same every time. A strategy that passed strategy_check; in a
 * child process, since it may crash or hang. Returns 0, or -EINVAL or -ENOMEM with a line.
 */
int strategy_try(const struct weir_strategy *strategy, char *reason, size_t n_bytes);

#endif
