/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of workers' lives, checked against each other and against handlers. */
#ifndef WEIR_DATAPLANE_OPTION_WORKERS_H
#define WEIR_DATAPLANE_OPTION_WORKERS_H

#include "options.h"

/* Returns 0, or -EINVAL after a refusal. */
int options_check_workers(const struct options *options);

#endif
