/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The values of --handler, `[WORKERS=]SPEC`: which worker runs which handler. Opens none for a
 * worker.
 */
#ifndef WEIR_DATAPLANE_OPTION_HANDLERS_H
#define WEIR_DATAPLANE_OPTION_HANDLERS_H

#include <stdbool.h>
#include <stdint.h>

#include "options.h"

/* The SPEC of one value: what follows the list of workers, or all of it. */
const char *option_handler_spec(const char *value);

/*
 * Checks one value by itself: its handler exists and its list, if any, is one. Returns 0 or
 * -EINVAL, without a message.
 */
int option_handler_check(const char *value);

/*
 * Checks the values against the number of workers, and loads the files that they name. Returns 0,
 * or -EINVAL after a refusal.
 */
int options_check_handlers(struct options *options);

/* The SPEC that `worker` runs: the last value that names it. Never NULL for parsed options. */
const char *options_handler_of(const struct options *options, weir_worker_id worker);

/*
 * The port that `worker` sends all its packets to, as the user named it: there may be none of that
 * name. NULL if its handler names no port.
 */
const char *options_port_of(const struct options *options, weir_worker_id worker);

/* Whether the handler of any worker writes to packets. */
bool options_write_packets(const struct options *options);

#endif
