/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Doing something dangerous first in a child process with a time limit: what crashes or hangs
 * there ends as a reason in one line. Knows neither strategies nor handlers.
 */
#ifndef WEIR_PLUGIN_CHILD_H
#define WEIR_PLUGIN_CHILD_H

#include <stddef.h>

#define CHILD_CPU_SECONDS 2   /* of the child's own CPU time: a busy machine refuses nothing */
#define CHILD_WAIT_SECONDS 20 /* in all: for what sleeps */

/*
 * What the child does. Returns 0 if all is well; or a negative errno, with a line in `reason`.
 * Its memory goes with the process; what it prints is thrown away.
 */
typedef int (*child_body_fn)(void *context, char *reason, size_t n_bytes);

/*
 * Runs `body` in a child process. Returns what it returned, with its reason; -EINVAL, with a
 * reason, if it crashed, took too long or ended the process; or another -errno, with a reason,
 * if there is no process to be had.
 */
int child_try(child_body_fn body, void *context, char *reason, size_t n_bytes);

/* Writes a line and returns -errno_value: for bodies. Control characters become '?'. */
int reason_set(char *reason, size_t n_bytes, int errno_value, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

#endif
