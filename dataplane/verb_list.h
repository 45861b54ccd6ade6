/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What can be asked of a running Weir: the words, for `weir`, which answers (verbs.c), and for
 * `weirctl`, which prints them. Knows no DPDK.
 */
#ifndef WEIR_DATAPLANE_VERB_LIST_H
#define WEIR_DATAPLANE_VERB_LIST_H

#include <stdio.h>

enum verb {
	VERB_HELP,
	VERB_STATUS,
	VERB_WORKERS,
	VERB_WORKER_DRAIN,
	VERB_WORKER_KILL,
	VERB_WORKER_PAUSE,
	VERB_WORKER_RESUME,
	VERB_WORKER_ADD,
	VERB_WORKER_REMOVE,
	VERB_STOP,
	VERB_COUNT,
};

struct verb_row {
	const char *words;    /* what a request begins with, one blank between two */
	const char *argument; /* its name; NULL: takes none */
	const char *help;     /* one sentence without its full stop */
};

/* The row of a verb. */
const struct verb_row *verb_row_of(enum verb verb);

/* Prints a line for each verb. */
void verb_list_print(FILE *out);

#endif
