/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads which lcores EAL was given, when the user has chosen them. */
#include <stdio.h>

#include <rte_lcore.h>

#include "topology.h"

/* By its CPU set: rte_lcore_to_cpu_id() is the core's number within its socket, not a CPU. */
static struct topology_core
core_read(unsigned int lcore_id)
{
	return (struct topology_core) {
		.lcore_id = lcore_id,
		.cpus = rte_lcore_cpuset(lcore_id),
	};
}

static int
rx_cores_refuse(const struct options *options, uint32_t n_left)
{
	char value[16];

	snprintf(value, sizeof(value), "%u", options->rx_cores);
	return options_refuse("--rx-cores", value,
		"at most %u: EAL has %u lcore(s), and the main one is control", n_left, n_left + 1);
}

/* Lcores beside the main one. rte_lcore_count() counts service cores too. */
static uint32_t
lcores_count(void)
{
	unsigned int lcore_id;
	uint32_t n = 0;

	RTE_LCORE_FOREACH_WORKER (lcore_id)
		n++;
	return n;
}

int
topology_adopt_lcores(struct topology *topology, const struct options *options)
{
	const uint32_t n_left = lcores_count();
	unsigned int lcore_id;

	if (n_left < options->rx_cores)
		return rx_cores_refuse(options, n_left);
	if (n_left > options->rx_cores && !options->quiet)
		fprintf(stderr, "weir: %u of %u lcores stay idle: --rx-cores is %u\n",
			n_left - options->rx_cores, n_left + 1, options->rx_cores);
	topology->control = core_read(rte_get_main_lcore());
	topology->n_rx = 0;
	RTE_LCORE_FOREACH_WORKER (lcore_id)
		if (topology->n_rx < options->rx_cores)
			topology->rx[topology->n_rx++] = core_read(lcore_id);
	return 0;
}
