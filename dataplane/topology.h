/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who runs where: the CPUs of the control lcore, the rx cores and the workers, and which rx core
 * polls which queue. topology.c decides and knows no EAL; topology_eal.c reads what EAL was told.
 */
#ifndef WEIR_DATAPLANE_TOPOLOGY_H
#define WEIR_DATAPLANE_TOPOLOGY_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options.h"

/* Room for topology_format_lcores: "14@1023," for each of the lcores. */
#define TOPOLOGY_LCORES_BYTES ((WEIR_DISPATCHERS_MAX + 1) * 8)

struct topology_core {
	unsigned int lcore_id;
	cpu_set_t cpus;	 /* where EAL lets it run: one CPU unless --lcores says otherwise */
	bool shares_cpu; /* with another rx core or a worker: it yields on empty polls */
};

struct topology_worker {
	unsigned int cpu;
	bool shares_cpu;    /* with an rx core or another worker: it yields on empty polls */
	uint32_t n_sharers; /* polling threads of that CPU, itself included */
};

struct topology {
	struct topology_core control; /* sleeps: nobody yields for it */
	struct topology_core rx[WEIR_DISPATCHERS_MAX];
	uint32_t n_rx;
	struct topology_worker worker[WEIR_WORKERS_MAX];
	uint32_t n_workers;
};

/*
 * Reads the CPUs that this process may use. Before rte_eal_init, which pins the calling thread.
 * Returns 0, or -errno after a line on stderr.
 */
int topology_read_cpus(cpu_set_t *allowed);

/* Checks --worker-cpus against the CPUs. Returns 0, or -EINVAL after a refusal. */
int topology_check_worker_cpus(const struct options *options, const cpu_set_t *allowed);

/*
 * Chooses the CPUs of control (lcore 0) and of the rx cores (lcores 1..R), for use without core
 * options.
 */
void topology_choose_lcores(
	struct topology *topology, const struct options *options, const cpu_set_t *allowed);

/* Writes the value of --lcores: "0@0,1@1". */
void topology_format_lcores(const struct topology *topology, char *text, size_t n_bytes);

/*
 * Takes control and the rx cores from EAL's lcores: the main one, and the others in order. Lcores
 * that are left over get a note on stderr. After rte_eal_init. Returns 0, or -EINVAL after a
 * refusal if they are too few.
 */
int topology_adopt_lcores(struct topology *topology, const struct options *options);

/*
 * Gives each worker a CPU, round-robin over --worker-cpus or else over the CPUs that control and
 * the rx cores leave, and notes who shares one. After control and rx cores have theirs.
 */
void topology_place_workers(
	struct topology *topology, const struct options *options, const cpu_set_t *allowed);

/* Writes CPUs as a list: "0-3,5"; "none" if there are none; "..." ends what does not fit. */
void topology_format_cpus(const cpu_set_t *cpus, char *text, size_t n_bytes);

/* The port that packets of `port` are forwarded to: 0-1, 2-3, a lone last port to itself. */
uint32_t topology_pair(uint32_t port, uint32_t n_ports);

/*
 * Which rx core polls a queue. Ports are counted from 0 without gaps, whatever their ids. Both
 * ports of a forwarding pair are polled by one rx core as long as there is enough work for all.
 */
struct topology_spread {
	uint32_t n_rx_cores;
	uint32_t n_queues; /* of each port */
	bool by_pair;
};

/*
 * Spreads queues over rx cores. Returns 0, or -EINVAL after a refusal if there are more rx cores
 * than queues.
 */
int topology_spread_queues(
	struct topology_spread *spread, const struct options *options, uint32_t n_ports);

/* The rx core that polls this queue. */
uint32_t topology_rx_core_of(const struct topology_spread *spread, uint32_t port, uint32_t queue);

#endif
