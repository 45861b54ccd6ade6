/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a running Weir does with packets, and how that is changed: the words of its command line,
 * with what was set since in their place, are parsed and checked as at a start; then the pool takes
 * all of the difference at once, or nothing is changed. Control's.
 */
#ifndef WEIR_DATAPLANE_SETTINGS_H
#define WEIR_DATAPLANE_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "options.h"

struct app;

/* What can be set by name. */
enum setting {
	SETTING_STRATEGY, /* NAME[,FALLBACK] */
	SETTING_OVERFLOW, /* POLICY */
	SETTING_WEIGHTS,  /* W,... */
	SETTING_CONFIG,	  /* FILE: its options, and its rules */
	SETTING_COUNT,
};

/* A value that stands for what the command line says: what was set is forgotten. */
#define SETTING_TAKE_BACK "-"

/* Zeroed: nothing was ever set. */
struct settings {
	int n_words; /* of the command line, behind its -- */
	char **words;
	char *value[SETTING_COUNT]; /* set since; NULL: not. Owned */
	char *config_text;    /* of the file, as it was read last since the start. Owned; or NULL */
	struct options first; /* of the start: what else there is rests on its texts */
};

/*
 * Sets one of them, or reads the configuration file again (SETTING_COUNT), and writes what that
 * does. The file is read for that, and for SETTING_CONFIG, and not otherwise: what somebody is
 * writing there is nobody else's change. With `is_trial` nothing is changed. Returns whether it is
 * granted; `out` gets the reason else, one line.
 */
bool settings_change(
	struct app *app, enum setting setting, const char *value, bool is_trial, FILE *out);

/* Writes a line: what share of flows gets another worker in the pool as `prospect` has it. */
void settings_print_moves(const struct app *app, const struct weir_prospect *prospect, FILE *out);

/* Frees what was set, and the options of the start. Accepts zeroed ones. */
void settings_free(struct settings *settings);

#endif
