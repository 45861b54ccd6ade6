/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of workers' lives, checked against each other and against handlers. */
#ifndef WEIR_DATAPLANE_OPTION_WORKERS_H
#define WEIR_DATAPLANE_OPTION_WORKERS_H

#include "options.h"

/* Checks that there can be as many workers as there are. Returns 0, or -EINVAL after a refusal. */
int options_check_workers_max(const struct options *options);

/*
 * Checks that with --redeliver every handler may be started again. After options_check_handlers.
 * Returns 0, or -EINVAL after a refusal.
 */
int options_check_redeliver(const struct options *options);

#endif
