/* SPDX-License-Identifier: BSD-3-Clause */
#include "verb_list.h"

/* Columns of words and argument. */
#define WORDS_WIDTH 20

static const struct verb_row verb_list[VERB_COUNT] = {
	[VERB_HELP] = { "help", NULL, "what can be asked" },
	[VERB_STATUS] = { "status", NULL, "all that is counted, in JSON: as --report writes it" },
	[VERB_WORKERS] = { "workers", NULL, "a table of the workers: a line for each" },
	[VERB_WORKER_DRAIN] = { "worker drain", "ID", "let it finish what it has, then stop" },
	[VERB_WORKER_KILL] = { "worker kill", "ID",
		"stop it at once: what it has not begun is lost" },
	[VERB_WORKER_PAUSE] = { "worker pause", "ID", "let it take nothing until it is resumed" },
	[VERB_WORKER_RESUME] = { "worker resume", "ID", "let a paused one go on" },
	[VERB_WORKER_ADD] = { "worker add", "ID",
		"start a worker that is free, stopped or quarantined" },
	[VERB_WORKER_REMOVE] = { "worker remove", "ID",
		"let it finish what it has, then leave the pool" },
	[VERB_STOP] = { "stop", NULL, "end the run, as SIGTERM does" },
};

const struct verb_row *
verb_row_of(enum verb verb)
{
	return &verb_list[verb];
}

void
verb_list_print(FILE *out)
{
	for (unsigned int i = 0; i < VERB_COUNT; i++) {
		const struct verb_row *row = &verb_list[i];
		const int n = fprintf(out, "  %s%s%s", row->words, row->argument ? " " : "",
			row->argument ? row->argument : "");

		fprintf(out, "%*s%s\n", n < WORDS_WIDTH ? WORDS_WIDTH - n : 1, "", row->help);
	}
}
