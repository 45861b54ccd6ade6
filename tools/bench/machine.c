/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads /proc, /sys and the cycle counter. What cannot be read is named "unknown". */
#include "machine.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>

#include "summary.h"
#include "tsc.h"

#define NS_PER_SECOND 1000000000L
#define TSC_MEASURE_NS 20000000L /* 20 ms: the clock's granularity is below 1e-5 of it */
#define COST_SAMPLES 1001

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

static const char *const relation_names[] = {
	[CPU_RELATION_SHARED] = "shared",
	[CPU_RELATION_SIBLINGS] = "hyperthreads of one core",
	[CPU_RELATION_CORES] = "two cores",
	[CPU_RELATION_UNKNOWN] = "unknown",
};

const char *
cpu_relation_name(enum cpu_relation relation)
{
	return relation_names[relation];
}

static void
text_set(char *text, const char *value)
{
	snprintf(text, MACHINE_TEXT_BYTES, "%s", value);
}

/* The first line of a file, without its end; "unknown" if there is none. */
static void
line_read(const char *path, char *text)
{
	FILE *file = fopen(path, "r");

	text_set(text, "unknown");
	if (!file)
		return;
	if (!fgets(text, MACHINE_TEXT_BYTES, file))
		text_set(text, "unknown");
	text[strcspn(text, "\n")] = '\0';
	fclose(file);
}

static void
cpu_line_read(const char *format, uint32_t cpu, char *text)
{
	char path[MACHINE_TEXT_BYTES];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/%s", cpu, format);
	line_read(path, text);
}

static void
cpu_model_read(char *text)
{
	FILE *file = fopen("/proc/cpuinfo", "r");
	char line[256];

	text_set(text, "unknown");
	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		const char *colon = strchr(line, ':');

		if (strncmp(line, "model name", strlen("model name")) != 0 || !colon)
			continue;
		line[strcspn(line, "\n")] = '\0';
		text_set(text, colon + strspn(colon, ": "));
		break;
	}
	fclose(file);
}

static void
kernel_read(char *text)
{
	struct utsname name;

	text_set(text, "unknown");
	if (uname(&name) == 0)
		snprintf(text, MACHINE_TEXT_BYTES, "%.40s %.80s", name.sysname, name.release);
}

static enum cpu_relation
relation_find(const uint32_t *cpu)
{
	char siblings[BENCH_CPUS][MACHINE_TEXT_BYTES];

	if (cpu[BENCH_CPU_DISPATCHER] == cpu[BENCH_CPU_WORKERS])
		return CPU_RELATION_SHARED;
	for (int i = 0; i < BENCH_CPUS; i++)
		cpu_line_read("topology/thread_siblings_list", cpu[i], siblings[i]);
	if (strcmp(siblings[0], "unknown") == 0)
		return CPU_RELATION_UNKNOWN;
	return strcmp(siblings[0], siblings[1]) == 0 ? CPU_RELATION_SIBLINGS : CPU_RELATION_CORES;
}

/* The first two CPUs that may be used; one for both if there is no other. */
static void
cpus_default(const cpu_set_t *allowed, uint32_t *cpu)
{
	int n = 0;

	for (uint32_t i = 0; i < CPU_SETSIZE && n < BENCH_CPUS; i++)
		if (CPU_ISSET(i, allowed))
			cpu[n++] = i;
	if (n == 1)
		cpu[1] = cpu[0];
}

static int
cpus_choose(const struct bench_options *options, uint32_t *cpu)
{
	cpu_set_t allowed;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		return -errno;
	if (!options->cpus_given) {
		cpus_default(&allowed, cpu);
		return 0;
	}
	for (int i = 0; i < BENCH_CPUS; i++) {
		cpu[i] = options->cpu[i];
		if (!CPU_ISSET(cpu[i], &allowed))
			return -EINVAL;
	}
	return 0;
}

uint64_t
thread_preemptions(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) == 0 ? (uint64_t)usage.ru_nivcsw : 0;
}

int
cpu_pin(uint32_t cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) < 0 ? -errno : 0;
}

static int64_t
clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

static double
tsc_hz_measure(void)
{
	const int64_t start_ns = clock_ns();
	const uint64_t start = tsc_read();
	int64_t passed_ns;

	while ((passed_ns = clock_ns() - start_ns) < TSC_MEASURE_NS)
		;
	return (double)(tsc_read() - start) / (double)passed_ns * (double)NS_PER_SECOND;
}

/* What a sample shows when there is nothing between its readings. */
static void
reading_cost_measure(struct machine *machine)
{
	uint64_t returned[COST_SAMPLES];
	uint64_t drained[COST_SAMPLES];

	for (uint32_t i = 0; i < COST_SAMPLES; i++) {
		uint64_t start;

		stores_drain();
		start = tsc_read();
		returned[i] = tsc_read() - start;
		stores_drain();
		drained[i] = tsc_read() - start;
	}
	machine->returned_cost_cycles = sample_median(returned, COST_SAMPLES);
	machine->drained_cost_cycles = sample_median(drained, COST_SAMPLES);
}

int
machine_probe(struct machine *machine, const struct bench_options *options)
{
	int rc;

	*machine = (struct machine) {
		.compiler = COMPILER,
		.build_type = BENCH_BUILD_TYPE,
		.version = BENCH_VERSION,
	};
	rc = cpus_choose(options, machine->cpu);
	if (rc < 0)
		return rc;
	rc = cpu_pin(machine->cpu[BENCH_CPU_DISPATCHER]);
	if (rc < 0)
		return rc;
	cpu_model_read(machine->cpu_model);
	kernel_read(machine->kernel);
	cpu_line_read(
		"cpufreq/scaling_governor", machine->cpu[BENCH_CPU_DISPATCHER], machine->governor);
	machine->relation = relation_find(machine->cpu);
	machine->tsc_hz = tsc_hz_measure();
	reading_cost_measure(machine);
	return 0;
}
