/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of a configuration: what config.c and class.c share. */
#ifndef WEIR_POOL_CONFIG_H
#define WEIR_POOL_CONFIG_H

#include <weir/pool.h>
#include <weir/strategy.h>

/* The strategy that `name` means in this configuration; NULL if none, or if name is NULL. */
const struct weir_strategy *config_strategy_find(
	const struct weir_config *config, const char *name);

/* Checks strategies, policies and classes. Returns 0 or -EINVAL with `error` filled. */
int config_classes_check(const struct weir_config *config, struct weir_config_error *error);

/* Begins an error: `allowed` is empty after it. */
void error_set(struct weir_config_error *error, const char *field, const char *value);
void error_set_number(struct weir_config_error *error, const char *field, uint64_t value);

/* Adds a name to what is allowed. */
void error_allow(struct weir_config_error *error, const char *name);

#endif
