/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads EAL's options as EAL does, by getopt_long with the same table: it alone tells a word that
 * is an option from one that is an option's value.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_version.h>

#include "eal_arguments.h"

/* What the scan wants to know of; everything else is EAL_OTHER. */
enum eal_option {
	EAL_OTHER = 256, /* above every letter */
	EAL_LCORES,
	EAL_FILE_PREFIX,
	EAL_PROC_TYPE,
};

/* The first '-' makes getopt report words in order, the ':' makes it tell missing values apart. */
static const char eal_short_options[] = "-:a:b:c:s:d:hl:S:m:n:r:v";

/* The options of EAL 22.11. */
static const struct option eal_long_options[] = {
	{ "allow", required_argument, NULL, EAL_OTHER },
	{ "base-virtaddr", required_argument, NULL, EAL_OTHER },
	{ "block", required_argument, NULL, EAL_OTHER },
	{ "create-uio-dev", no_argument, NULL, EAL_OTHER },
	{ "file-prefix", required_argument, NULL, EAL_FILE_PREFIX },
	{ "force-max-simd-bitwidth", required_argument, NULL, EAL_OTHER },
	{ "help", no_argument, NULL, 'h' },
	{ "huge-dir", required_argument, NULL, EAL_OTHER },
	{ "huge-unlink", optional_argument, NULL, EAL_OTHER },
	{ "huge-worker-stack", optional_argument, NULL, EAL_OTHER },
	{ "in-memory", no_argument, NULL, EAL_OTHER },
	{ "iova-mode", required_argument, NULL, EAL_OTHER },
	{ "lcores", required_argument, NULL, EAL_LCORES },
	{ "legacy-mem", no_argument, NULL, EAL_OTHER },
	{ "log-level", required_argument, NULL, EAL_OTHER },
	{ "main-lcore", required_argument, NULL, EAL_LCORES },
	{ "match-allocations", no_argument, NULL, EAL_OTHER },
	{ "mbuf-pool-ops-name", required_argument, NULL, EAL_OTHER },
	{ "no-hpet", no_argument, NULL, EAL_OTHER },
	{ "no-huge", no_argument, NULL, EAL_OTHER },
	{ "no-pci", no_argument, NULL, EAL_OTHER },
	{ "no-shconf", no_argument, NULL, EAL_OTHER },
	{ "no-telemetry", no_argument, NULL, EAL_OTHER },
	{ "proc-type", required_argument, NULL, EAL_PROC_TYPE },
	{ "single-file-segments", no_argument, NULL, EAL_OTHER },
	{ "socket-limit", required_argument, NULL, EAL_OTHER },
	{ "socket-mem", required_argument, NULL, EAL_OTHER },
	{ "syslog", required_argument, NULL, EAL_OTHER },
	{ "telemetry", no_argument, NULL, EAL_OTHER },
	{ "trace", required_argument, NULL, EAL_OTHER },
	{ "trace-bufsz", required_argument, NULL, EAL_OTHER },
	{ "trace-dir", required_argument, NULL, EAL_OTHER },
	{ "trace-mode", required_argument, NULL, EAL_OTHER },
	{ "vdev", required_argument, NULL, EAL_OTHER },
	{ "vfio-intr", required_argument, NULL, EAL_OTHER },
	{ "vfio-vf-token", required_argument, NULL, EAL_OTHER },
	{ "vmware-tsc-map", no_argument, NULL, EAL_OTHER },
	{ NULL, 0, NULL, 0 },
};

/* A later EAL may know more: then what is not in the table is left for EAL to judge. */
static const bool table_is_complete = RTE_VERSION < RTE_VERSION_NUM(23, 3, 0, 0);

/* What getopt finds in no table: a word, or a letter within one. */
static int
unknown_consider(struct eal_arguments *arguments, const char *word)
{
	const char letter[] = { '-', (char)optopt, '\0' };

	if (optopt > 0 && optopt < EAL_OTHER)
		word = letter;
	if (strcmp(word, "--version") == 0) {
		arguments->version = true;
		return 0;
	}
	if (options_is_known(word))
		return options_refuse(
			word, NULL, "only after the --: weir [EAL options] -- [options]");
	if (table_is_complete)
		return options_refuse(word, NULL, "EAL's options; Weir's own go after the --");
	return 0;
}

/* A word that is neither an option nor an option's value: a command, if it is the first. */
static int
word_consider(struct eal_arguments *arguments, const char *word, bool is_first)
{
	arguments->help = is_first && strcmp(word, "help") == 0;
	arguments->version = is_first && strcmp(word, "version") == 0;
	if (arguments->help || arguments->version || !table_is_complete)
		return 0;
	return options_refuse(
		word, NULL, "options, or first one of the commands why, help and version");
}

/*
 * Takes note of one result of getopt. -s and -S count as core options: they take cores away from
 * those that EAL would find.
 */
static int
option_consider(struct eal_arguments *arguments, int option, char *const *argv)
{
	switch (option) {
	case 'h':
		arguments->help = true;
		return 0;
	case 'c':
	case 'l':
	case 's':
	case 'S':
	case EAL_LCORES:
		arguments->has_core_option = true;
		return 0;
	case EAL_FILE_PREFIX:
		arguments->has_file_prefix = true;
		return 0;
	case EAL_PROC_TYPE:
		if (strcmp(optarg, "primary") == 0)
			return 0;
		return options_refuse(
			"--proc-type", optarg, "primary: workers are no EAL processes");
	case ':':
		return options_refuse(argv[optind - 1], NULL, "only with a value");
	case '?':
		return unknown_consider(arguments, argv[optind - 1]);
	case 1:
		return word_consider(arguments, optarg, optind == 2);
	default:
		return 0;
	}
}

int
eal_arguments_split(struct eal_arguments *arguments, int argc, char **argv)
{
	int option;
	int rc = 0;

	*arguments = (struct eal_arguments) { .user_argv = argv, .n_eal_words = 1 };
	opterr = 0;
	optind = 0; /* glibc: start anew, whatever was parsed before */
	while (rc == 0 && !arguments->help && !arguments->version) {
		option = getopt_long(argc, argv, eal_short_options, eal_long_options, NULL);
		if (option == -1)
			break;
		arguments->n_eal_words = optind;
		rc = option_consider(arguments, option, argv);
	}
	arguments->options_argc = argc - optind;
	arguments->options_argv = argv + optind;
	optind = 1;
	return rc;
}

/* Adds the words of which the user has given none. */
static void
words_add(struct eal_arguments *arguments, const char *lcores)
{
	if (!arguments->has_core_option) {
		snprintf(arguments->lcores_word, sizeof(arguments->lcores_word), "--lcores=%s",
			lcores);
		arguments->argv[arguments->argc++] = arguments->lcores_word;
	}
	if (!arguments->has_file_prefix) {
		snprintf(arguments->file_prefix_word, sizeof(arguments->file_prefix_word),
			"--file-prefix=weir");
		arguments->argv[arguments->argc++] = arguments->file_prefix_word;
	}
}

int
eal_arguments_build(struct eal_arguments *arguments, const char *lcores)
{
	const size_t n_words_max =
		(size_t)arguments->n_eal_words + 3 + (size_t)arguments->options_argc;

	snprintf(arguments->separator_word, sizeof(arguments->separator_word), "--");
	arguments->argv = calloc(n_words_max + 1, sizeof(arguments->argv[0]));
	if (!arguments->argv)
		return -ENOMEM;
	for (int i = 0; i < arguments->n_eal_words; i++)
		arguments->argv[arguments->argc++] = arguments->user_argv[i];
	words_add(arguments, lcores);
	arguments->argv[arguments->argc++] = arguments->separator_word;
	for (int i = 0; i < arguments->options_argc; i++)
		arguments->argv[arguments->argc++] = arguments->options_argv[i];
	return 0;
}

void
eal_arguments_free(struct eal_arguments *arguments)
{
	free(arguments->argv);
	arguments->argv = NULL;
	arguments->argc = 0;
}
