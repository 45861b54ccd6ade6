/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The options of weir-traffic: one table (options.c), from which parsing, checks, defaults and
 * usage are derived.
 */
#ifndef WEIR_TRAFFIC_OPTIONS_H
#define WEIR_TRAFFIC_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "mix.h"

/* Frame sizes are those of Ethernet without preamble and check sequence. */
#define FRAME_SIZE_MIN 60
#define FRAME_SIZE_MAX 9014

struct traffic_options {
	uint64_t flows;
	uint64_t packets;
	uint64_t seed;
	double zipf;
	struct mix mix;
	uint64_t min_size_bytes;
	uint64_t max_size_bytes;
	uint64_t rate_pps;
	const char *output; /* into argv */
	bool help;
};

/*
 * Parses the command line. Returns 0, or -EINVAL after one line on stderr that names the option,
 * the value and what is allowed. With `help` set nothing else has been checked.
 */
int options_parse(struct traffic_options *options, int argc, char **argv);

void options_print_usage(FILE *out);

#endif
