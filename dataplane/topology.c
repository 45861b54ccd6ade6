/* SPDX-License-Identifier: BSD-3-Clause */
/* Who runs where, decided without EAL. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "topology.h"

/* With fewer CPUs for the workers than this, control has none of its own. */
#define WORKER_CPUS_WANTED 2

#define CPU_LIST_BYTES 256

int
topology_read_cpus(cpu_set_t *allowed)
{
	CPU_ZERO(allowed);
	if (sched_getaffinity(0, sizeof(*allowed), allowed) == 0)
		return 0;
	fprintf(stderr, "weir: the CPUs of this process cannot be read: %s\n", strerror(errno));
	return -errno;
}

/* ---- lists of CPUs ---- */

/* The first CPU from `cpu` on whose membership is `member`; CPU_SETSIZE if there is none. */
static unsigned int
cpu_next(const cpu_set_t *cpus, unsigned int cpu, bool member)
{
	while (cpu < CPU_SETSIZE && (CPU_ISSET(cpu, cpus) != 0) != member)
		cpu++;
	return cpu;
}

/* The CPU that comes `index`-th, from 0, counted round and round. The set is not empty. */
static unsigned int
cpu_at(const cpu_set_t *cpus, uint32_t index)
{
	unsigned int cpu = cpu_next(cpus, 0, true);

	for (index %= (uint32_t)CPU_COUNT(cpus); index > 0; index--)
		cpu = cpu_next(cpus, cpu + 1, true);
	return cpu;
}

static cpu_set_t
cpus_without(const cpu_set_t *cpus, const cpu_set_t *removed)
{
	cpu_set_t rest;

	CPU_AND(&rest, cpus, removed);
	CPU_XOR(&rest, cpus, &rest);
	return rest;
}

static int
range_format(
	char *text, size_t n_bytes, const char *separator, unsigned int first, unsigned int last)
{
	if (first == last)
		return snprintf(text, n_bytes, "%s%u", separator, first);
	return snprintf(text, n_bytes, "%s%u-%u", separator, first, last);
}

void
topology_format_cpus(const cpu_set_t *cpus, char *text, size_t n_bytes)
{
	unsigned int first = cpu_next(cpus, 0, true);
	size_t used = 0;

	snprintf(text, n_bytes, "none");
	while (first < CPU_SETSIZE) {
		const unsigned int end = cpu_next(cpus, first, false);

		used += (size_t)range_format(
			text + used, n_bytes - used, used ? "," : "", first, end - 1);
		if (used >= n_bytes) {
			snprintf(text + n_bytes - 4, 4, "...");
			return;
		}
		first = cpu_next(cpus, end, true);
	}
}

/* ---- lcores ---- */

int
topology_check_worker_cpus(const struct options *options, const cpu_set_t *allowed)
{
	const cpu_set_t missing = cpus_without(&options->worker_cpus, allowed);
	char missing_list[CPU_LIST_BYTES];
	char allowed_list[CPU_LIST_BYTES];

	if (CPU_COUNT(&missing) == 0)
		return 0;
	topology_format_cpus(&missing, missing_list, sizeof(missing_list));
	topology_format_cpus(allowed, allowed_list, sizeof(allowed_list));
	return options_refuse(
		"--worker-cpus", missing_list, "%s (the CPUs of this process)", allowed_list);
}

/*
 * Whether control gets a CPU of its own. It sleeps nearly always, so it goes without when that
 * leaves the workers fewer CPUs than they can use.
 */
static bool
control_deserves_cpu(const struct options *options, uint32_t n_free)
{
	uint32_t wanted =
		options->workers < WORKER_CPUS_WANTED ? options->workers : WORKER_CPUS_WANTED;

	if (CPU_COUNT(&options->worker_cpus) > 0)
		wanted = 0; /* they have theirs */
	return n_free >= 1 + options->rx_cores + wanted;
}

static struct topology_core
core_on_cpu(unsigned int lcore_id, unsigned int cpu)
{
	struct topology_core core = { .lcore_id = lcore_id };

	CPU_SET(cpu, &core.cpus);
	return core;
}

void
topology_choose_lcores(
	struct topology *topology, const struct options *options, const cpu_set_t *allowed)
{
	cpu_set_t free_cpus = cpus_without(allowed, &options->worker_cpus);
	uint32_t first_rx;

	if (CPU_COUNT(&free_cpus) == 0)
		free_cpus = *allowed;
	first_rx = control_deserves_cpu(options, (uint32_t)CPU_COUNT(&free_cpus)) ? 1 : 0;
	topology->control = core_on_cpu(0, cpu_at(&free_cpus, 0));
	topology->n_rx = options->rx_cores;
	for (uint32_t i = 0; i < topology->n_rx; i++)
		topology->rx[i] = core_on_cpu(i + 1, cpu_at(&free_cpus, first_rx + i));
}

void
topology_format_lcores(const struct topology *topology, char *text, size_t n_bytes)
{
	int used = snprintf(text, n_bytes, "%u@%u", topology->control.lcore_id,
		cpu_at(&topology->control.cpus, 0));

	for (uint32_t i = 0; i < topology->n_rx; i++)
		used += snprintf(text + used, n_bytes - (size_t)used, ",%u@%u",
			topology->rx[i].lcore_id, cpu_at(&topology->rx[i].cpus, 0));
}

/* ---- workers ---- */

static cpu_set_t
rx_cpus(const struct topology *topology)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	for (uint32_t i = 0; i < topology->n_rx; i++)
		CPU_OR(&cpus, &cpus, &topology->rx[i].cpus);
	return cpus;
}

/*
 * The CPUs for workers: those that were asked for; or else those without an rx core and without
 * control; or those without an rx core; or all.
 */
static cpu_set_t
worker_cpus(
	const struct topology *topology, const struct options *options, const cpu_set_t *allowed)
{
	const cpu_set_t rx = rx_cpus(topology);
	const cpu_set_t without_rx = cpus_without(allowed, &rx);
	const cpu_set_t left = cpus_without(&without_rx, &topology->control.cpus);

	if (CPU_COUNT(&options->worker_cpus) > 0)
		return options->worker_cpus;
	if (CPU_COUNT(&left) > 0)
		return left;
	return CPU_COUNT(&without_rx) > 0 ? without_rx : *allowed;
}

/* An rx core that may run on several CPUs shares each of them. */
static void
sharing_note(struct topology *topology)
{
	uint32_t n_threads[CPU_SETSIZE] = { 0 };

	for (uint32_t w = 0; w < topology->n_workers; w++)
		n_threads[topology->worker[w].cpu]++;
	for (uint32_t i = 0; i < topology->n_rx; i++)
		for (unsigned int cpu = 0; cpu < CPU_SETSIZE; cpu++)
			n_threads[cpu] += CPU_ISSET(cpu, &topology->rx[i].cpus) != 0;

	for (uint32_t w = 0; w < topology->n_workers; w++) {
		topology->worker[w].n_sharers = n_threads[topology->worker[w].cpu];
		topology->worker[w].shares_cpu = topology->worker[w].n_sharers > 1;
	}
	for (uint32_t i = 0; i < topology->n_rx; i++)
		for (unsigned int cpu = 0; cpu < CPU_SETSIZE; cpu++)
			if (CPU_ISSET(cpu, &topology->rx[i].cpus) && n_threads[cpu] > 1)
				topology->rx[i].shares_cpu = true;
}

void
topology_place_workers(
	struct topology *topology, const struct options *options, const cpu_set_t *allowed)
{
	const cpu_set_t cpus = worker_cpus(topology, options, allowed);

	topology->n_workers = options_workers_max(options);
	for (uint32_t w = 0; w < topology->n_workers; w++)
		topology->worker[w].cpu = cpu_at(&cpus, w);
	sharing_note(topology);
}

/* ---- queues ---- */

uint32_t
topology_pair(uint32_t port, uint32_t n_ports)
{
	const uint32_t other = port ^ 1;

	return other < n_ports ? other : port;
}

int
topology_spread_queues(
	struct topology_spread *spread, const struct options *options, uint32_t n_ports)
{
	const uint32_t n_pairs = (n_ports + 1) / 2;
	char value[16];

	if (options->rx_cores > n_ports * options->rx_queues) {
		snprintf(value, sizeof(value), "%u", options->rx_cores);
		return options_refuse("--rx-cores", value,
			"at most %u: there are %u port(s) with %u rx queue(s) each",
			n_ports * options->rx_queues, n_ports, options->rx_queues);
	}
	*spread = (struct topology_spread) {
		.n_rx_cores = options->rx_cores,
		.n_queues = options->rx_queues,
		.by_pair = options->rx_cores <= n_pairs * options->rx_queues,
	};
	return 0;
}

uint32_t
topology_rx_core_of(const struct topology_spread *spread, uint32_t port, uint32_t queue)
{
	const uint32_t unit = spread->by_pair ? port / 2 : port;

	return (unit * spread->n_queues + queue) % spread->n_rx_cores;
}
