/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strategies that options name by a file: `custom:FILE.so` and `bpf:FILE.o`. Each file is loaded
 * once, under the very name that the user typed. Needs no EAL.
 */
#ifndef WEIR_DATAPLANE_STRATEGIES_H
#define WEIR_DATAPLANE_STRATEGIES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <weir/strategy.h>

#define STRATEGIES_MAX 64 /* a rule could name a strategy, and another one as its fallback */

/* For weir_config.strategies. Zeroed: none. */
struct strategies {
	const struct weir_strategy *loaded[STRATEGIES_MAX];
	uint32_t n;
};

/* Whether a name stands for a file. */
bool strategies_names_file(const char *name);

/*
 * Loads what the words of `text`, separated by blanks or commas, name by a file; other words are
 * left alone. `option` is where they come from. Returns 0; or -EINVAL, or -ENOMEM, after one line
 * that names option, file and reason.
 */
int strategies_load(struct strategies *strategies, const char *option, const char *text);

/* The strategy of this name, loaded or registered; NULL if there is none. */
const struct weir_strategy *strategies_find(const struct strategies *strategies, const char *name);

/* A line for each one that was loaded: what it is and, of programs, how it is run. */
void strategies_print(const struct strategies *strategies, FILE *out);

/* A line for each one that gave answers that are none. */
void strategies_print_strays(const struct strategies *strategies, FILE *out);

/* After the last pool that uses them. Accepts zeroed and unloaded ones. */
void strategies_unload(struct strategies *strategies);

#endif
