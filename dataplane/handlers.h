/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handlers that options name by a file: each SPEC is tried and loaded once, and tells then what it
 * does with packets. Needs no EAL.
 */
#ifndef WEIR_DATAPLANE_HANDLERS_H
#define WEIR_DATAPLANE_HANDLERS_H

#include <stdint.h>
#include <stdio.h>

#include "handler/handler.h"

#define HANDLERS_MAX 64 /* values of --handler */

struct handlers_loaded {
	const char *spec;
	struct handler handler;
	void *code;
};

/* Zeroed: none. */
struct handlers {
	struct handlers_loaded loaded[HANDLERS_MAX];
	uint32_t n;
};

/*
 * Loads what a SPEC names by a file, unless that has been done; leaves others alone. A SPEC whose
 * handler exists, and which lives as long as `handlers`; no more than HANDLERS_MAX different ones.
 * Returns 0, or -EINVAL after one line that names option, SPEC and reason.
 */
int handlers_load(struct handlers *handlers, const char *spec);

/* The handler of a SPEC, loaded or registered; NULL if there is none. */
const struct handler *handlers_find(const struct handlers *handlers, const char *spec);

/* A line for each one that was loaded: what it is. */
void handlers_print_loaded(const struct handlers *handlers, FILE *out);

/* After the last worker that has one open. Accepts zeroed and unloaded ones. */
void handlers_unload(struct handlers *handlers);

#endif
