/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine and the build that figures come from: without them a figure means nothing. */
#ifndef WEIR_BENCH_MACHINE_H
#define WEIR_BENCH_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "options.h"

#define MACHINE_TEXT_BYTES 128

/* How the dispatcher's and the workers' CPU lie to each other. */
enum cpu_relation {
	CPU_RELATION_SHARED,   /* one CPU for both: threads yield, figures mean nothing */
	CPU_RELATION_SIBLINGS, /* hyperthreads of one core: they share its caches */
	CPU_RELATION_CORES,    /* two cores */
	CPU_RELATION_UNKNOWN,  /* two CPUs, topology unreadable */
};

struct machine {
	char cpu_model[MACHINE_TEXT_BYTES];
	char kernel[MACHINE_TEXT_BYTES];
	char governor[MACHINE_TEXT_BYTES]; /* of the dispatcher's CPU; "unknown" if unreadable */
	const char *compiler;
	const char *build_type;
	const char *version;
	uint32_t cpu[BENCH_CPUS];
	enum cpu_relation relation;
	double tsc_hz;
	/* Readings' own cost, subtracted from every sample: see pair.h. */
	uint64_t returned_cost_cycles;
	uint64_t drained_cost_cycles;
};

/*
 * Chooses the CPUs (those of the options, or the first two that this process may use), moves the
 * calling thread to the dispatcher's, and measures the counter there.
 * Returns 0; -EINVAL if a CPU was asked for that may not be used; another -errno.
 */
int machine_probe(struct machine *machine, const struct bench_options *options);

/* For people and for the JSON. */
const char *cpu_relation_name(enum cpu_relation relation);

/* How often the calling thread has lost its CPU to another one. */
uint64_t thread_preemptions(void);

/* What an interval took without the readings around it. */
static inline uint64_t
cost_subtract(uint64_t cycles, uint64_t cost)
{
	return cycles > cost ? cycles - cost : 0;
}

/* Moves the calling thread to one CPU. Returns 0 or -errno. */
int cpu_pin(uint32_t cpu);

#endif
