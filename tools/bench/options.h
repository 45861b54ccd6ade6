/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The options of weir-bench: one table (options.c) from which parsing, checks and usage are
 * derived. Knows no sub-command.
 */
#ifndef WEIR_BENCH_OPTIONS_H
#define WEIR_BENCH_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <weir/packet.h>

#define BENCH_WORKER_COUNTS_MAX 16

enum bench_cpu {
	BENCH_CPU_DISPATCHER,
	BENCH_CPU_WORKERS,
	BENCH_CPUS,
};

struct bench_options {
	uint32_t rounds;
	uint32_t packets; /* per case and round */
	uint32_t workers[BENCH_WORKER_COUNTS_MAX];
	uint32_t n_workers; /* entries of `workers` */
	uint32_t burst;
	uint32_t chunk;
	uint32_t lane_size;
	uint32_t backlog;
	uint32_t cpu[BENCH_CPUS];
	bool cpus_given;
	uint64_t seed;
	const char *subject;   /* NULL: all */
	const char *situation; /* NULL: all */
	const char *json;      /* NULL: none */
	bool help;
};

/*
 * Parses what follows the sub-command. Strings point into argv.
 * Returns 0, or -EINVAL after one line on stderr.
 */
int options_parse(struct bench_options *options, int argc, char **argv);

/* The refusal of a value, for checks made elsewhere; returns -EINVAL. One line on stderr. */
int options_refuse(const char *name, const char *value, const char *allowed_format, ...)
	__attribute__((format(printf, 3, 4)));

/* Prints the options' part of usage: derived from the table. */
void options_print(FILE *out);

#endif
