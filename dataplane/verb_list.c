/* SPDX-License-Identifier: BSD-3-Clause */
#include "verb_list.h"

/* Columns of words and argument. */
#define WORDS_WIDTH 32

static const struct verb_row verb_list[VERB_COUNT] = {
	[VERB_HELP] = { "help", NULL, "what can be asked" },
	[VERB_STATUS] = { "status", NULL, "all that is counted, in JSON: as --report writes it" },
	[VERB_WORKERS] = { "workers", NULL, "a table of the workers: a line for each" },
	[VERB_SET_STRATEGY] = { "set strategy", "NAME[,FALLBACK]",
		"go by another strategy from here on, as --strategy says it" },
	[VERB_SET_OVERFLOW] = { "set overflow", "POLICY", "and by another overflow policy" },
	[VERB_SET_WEIGHTS] = { "set weights", "W,...", "give each worker another weight" },
	[VERB_SET_CONFIG] = { "set config", "FILE",
		"go by the rules and settings of another file of --config" },
	[VERB_RELOAD] = { "reload", NULL, "read the file of --config again, and go by it" },
	[VERB_TRY_STRATEGY] = { "try strategy", "NAME[,FALLBACK]",
		"tell what share of flows that would move, and change nothing" },
	[VERB_TRY_OVERFLOW] = { "try overflow", "POLICY", "likewise" },
	[VERB_TRY_WEIGHTS] = { "try weights", "W,...", "likewise" },
	[VERB_TRY_CONFIG] = { "try config", "FILE", "likewise" },
	[VERB_DRAIN] = { "worker drain", "ID", "let it finish what it has, then stop" },
	[VERB_KILL] = { "worker kill", "ID", "stop it at once: what it has not begun is dropped" },
	[VERB_PAUSE] = { "worker pause", "ID", "let it take nothing until it is resumed" },
	[VERB_RESUME] = { "worker resume", "ID", "let it go on" },
	[VERB_ADD] = { "worker add", "ID", "begin it anew, or one more" },
	[VERB_REMOVE] = { "worker remove", "ID", "let it finish, stop, and leave the pool" },
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
