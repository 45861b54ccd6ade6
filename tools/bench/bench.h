/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a sub-command of weir-bench is: columns of figures, and a plan of cases that the runner
 * measures in interleaved rounds. Knows no sub-command.
 */
#ifndef WEIR_BENCH_BENCH_H
#define WEIR_BENCH_BENCH_H

#include <stdint.h>

#include "machine.h"
#include "options.h"

#define BENCH_FIGURES_MAX 6
#define BENCH_CASES_MAX 1024

struct feed;

/* A column: what is measured of each case, once per round. */
struct bench_figure {
	const char *key;     /* in the JSON */
	const char *heading; /* in the table */
	int decimals;	     /* in the table */
};

/* All that a case may look at. */
struct bench {
	struct bench_options options;
	struct machine machine;
	struct feed *feed; /* traffic for whoever lends packets */
};

struct bench_case;

struct bench_case_ops {
	/* Allocates what all rounds use. Returns 0 or -errno; nothing is left on failure. */
	int (*open)(struct bench_case *test, const struct bench *bench);
	/*
	 * Measures one round: writes one value per figure of the command and adds to packets_in
	 * and packets_out. Returns 0 or -errno.
	 */
	int (*round)(struct bench_case *test, const struct bench *bench, double *figures);
	void (*close)(struct bench_case *test);
};

/* One row of the table. */
struct bench_case {
	const char *subject;
	const char *situation;
	uint32_t workers; /* 0: none are played */
	uint32_t chunk;
	const struct bench_case_ops *ops;
	const void *variant;  /* the command's own: what distinguishes this case */
	void *state;	      /* between open and close */
	uint64_t packets_in;  /* over all rounds; equal at the end of each */
	uint64_t packets_out; /* likewise */
};

struct bench_plan {
	struct bench_case cases[BENCH_CASES_MAX];
	uint32_t n;
};

struct bench_command {
	const char *name;
	const char *help;
	const struct bench_figure *figures; /* ends with an entry without a key */
	const char *baseline; /* subject that the first figure is divided by, round by round */
	const char *proof;    /* what held in every round, for a round that ended with 0 */
	void (*plan)(const struct bench_options *options, struct bench_plan *plan);
};

/* Adds a case, unless the options leave it out or the plan is full. */
void plan_add(struct bench_plan *plan, const struct bench_options *options,
	const struct bench_case *test);

extern const struct bench_command command_lane;
extern const struct bench_command command_dispatch;
extern const struct bench_command command_order;
extern const struct bench_command command_owners;
extern const struct bench_command command_parse;
extern const struct bench_command command_rules;

#endif
