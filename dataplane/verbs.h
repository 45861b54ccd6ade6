/* SPDX-License-Identifier: BSD-3-Clause */
/* What becomes of a request to a running Weir. Knows words and answers, no socket. Control's. */
#ifndef WEIR_DATAPLANE_VERBS_H
#define WEIR_DATAPLANE_VERBS_H

#include <stddef.h>

struct app;

/* Longest reply; a longer one becomes a refusal that says so. */
#define VERBS_REPLY_BYTES_MAX (4u << 20)

/*
 * Carries out one request, a line of words, and returns the reply, to be freed: "ok" and lines, or
 * "error: " and a reason. The bytes may be any. NULL without memory.
 *
 * @param n_bytes of the request, of which at most CONTROL_REQUEST_BYTES_MAX are looked at: a longer
 * one is refused
 */
char *verbs_answer(struct app *app, const char *request, size_t n_bytes, size_t *reply_bytes);

#endif
