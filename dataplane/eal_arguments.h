/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line before EAL sees it: what is EAL's, what is Weir's, and what Weir adds to the
 * former. Starts nothing.
 */
#ifndef WEIR_DATAPLANE_EAL_ARGUMENTS_H
#define WEIR_DATAPLANE_EAL_ARGUMENTS_H

#include <stdbool.h>

#include "topology.h"

/* A command line. Words point into the argv that was split, or into this struct: don't copy it. */
struct eal_arguments {
	char **user_argv;
	int n_eal_words; /* of user_argv: the program's name and what is before the `--` */
	int options_argc;
	char **options_argv;  /* what follows the `--`: for options_parse */
	bool has_core_option; /* the user has chosen lcores */
	bool has_file_prefix;
	bool help;    /* asked for before the `--`, or as the word `help` */
	bool version; /* as help */

	int argc; /* for rte_eal_init */
	char **argv;
	char lcores_word[sizeof("--lcores=") + TOPOLOGY_LCORES_BYTES];
	char file_prefix_word[sizeof("--file-prefix=weir")];
	char separator_word[sizeof("--")];
};

/*
 * Splits argv where EAL's own parser would. Once `help` or `version` is set, nothing else is
 * looked at. Returns 0; or -EINVAL after a refusal: an option of Weir's before the `--`, a word
 * that neither knows, an option of EAL's that Weir can't run with.
 */
int eal_arguments_split(struct eal_arguments *arguments, int argc, char **argv);

/*
 * Makes argc and argv for rte_eal_init: the user's words, `--lcores` and `--file-prefix weir`
 * where the user gave none, and the options behind `--` (EAL shows them in its telemetry).
 * Returns 0 or -ENOMEM.
 *
 * @param lcores what topology_format_lcores writes
 */
int eal_arguments_build(struct eal_arguments *arguments, const char *lcores);

/* Frees what eal_arguments_build has made. After rte_eal_init. */
void eal_arguments_free(struct eal_arguments *arguments);

#endif
