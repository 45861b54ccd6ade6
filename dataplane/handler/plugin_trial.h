/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a handler from outside is asked before it may have packets: whether it opens, answers each
 * of some random ones as its flags say, and closes. Knows no shared objects.
 */
#ifndef WEIR_DATAPLANE_HANDLER_PLUGIN_TRIAL_H
#define WEIR_DATAPLANE_HANDLER_PLUGIN_TRIAL_H

#include <stddef.h>

struct weir_handler;

/*
 * Opens, begins, processes bursts of 1, 3, 32 and 256 packets that are the same every time, and
 * closes. A handler whose members were checked; in a child process, since it may crash or hang.
 * Returns 0, or -EINVAL or -ENOMEM with a line in `reason`.
 */
int plugin_trial_run(
	const struct weir_handler *handler, const char *arguments, char *reason, size_t n_bytes);

#endif
