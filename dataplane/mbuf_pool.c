/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes and creates the pools of mbufs and of clones. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "mbuf_pool.h"
#include "packet_memory.h"
#include "pool_options.h"

/*
 * Per-lcore cache: eight bursts of the default size. A smaller one goes to the shared ring more
 * often, a larger one keeps more mbufs from the other lcores.
 */
#define CACHE_MBUFS 256
/* A cache is flushed when it holds half as much again. */
#define CACHE_MBUFS_MAX (CACHE_MBUFS + CACHE_MBUFS / 2)

/* What net_af_xdp keeps for a queue: its rings for receiving and for sending, 2048 each. */
#define DRIVER_QUEUES_PKTS 4096

#define BYTES_PER_MB UINT64_C(1048576) /* as EAL's -m counts */
#define HUGEPAGE_BYTES (2 * BYTES_PER_MB)

static uint64_t
descriptors_count(const struct ports *ports)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < ports->n; i++) {
		const struct port *port = &ports->port[i];

		n += (uint64_t)port->n_rx_queues * port->n_rx_desc;
		n += (uint64_t)port->n_tx_queues * port->n_tx_desc;
	}
	return n;
}

uint64_t
mbuf_pool_size(const struct options *options, const struct ports *ports, uint32_t kept_pkts)
{
	const uint64_t n_rx_cores = options->rx_cores;
	const uint64_t per_lane = 2 * (uint64_t)options->lane_size + options->burst;
	const uint64_t per_worker = pool_options_dispatchers(options) * per_lane;
	const uint64_t per_rx_core = options_workers_max(options) * per_worker + options->burst +
				     kept_pkts + CACHE_MBUFS_MAX;

	/* Control has a cache too. */
	return descriptors_count(ports) + n_rx_cores * per_rx_core + CACHE_MBUFS_MAX;
}

uint64_t
clone_pool_size(const struct options *options, const struct ports *ports, uint32_t kept_pkts)
{
	const uint64_t per_lane = (uint64_t)options->lane_size + options->burst;
	const uint64_t per_worker = pool_options_dispatchers(options) * per_lane;
	const uint64_t per_rx_core =
		options_workers_max(options) * per_worker + kept_pkts + CACHE_MBUFS_MAX;
	uint64_t n = CACHE_MBUFS_MAX;

	for (uint32_t i = 0; i < ports->n; i++)
		n += (uint64_t)ports->port[i].n_tx_queues * ports->port[i].n_tx_desc;
	return n + options->rx_cores * per_rx_core;
}

/* The socket of the ports that have one; any, if they disagree. */
static int
socket_choose(const struct ports *ports)
{
	int chosen = SOCKET_ID_ANY;

	for (uint32_t i = 0; i < ports->n; i++) {
		const int socket_id = ports->port[i].socket_id;

		if (socket_id == SOCKET_ID_ANY)
			continue;
		if (chosen != SOCKET_ID_ANY && chosen != socket_id)
			return SOCKET_ID_ANY;
		chosen = socket_id;
	}
	return chosen;
}

/* The mempool library says one or the other, by how far it came. */
static bool
memory_was_short(int pool_errno)
{
	return pool_errno == ENOMEM || pool_errno == ENOBUFS;
}

/* A pool to be created. */
struct pool_plan {
	const char *name;
	const char *what; /* for people */
	uint64_t n_mbufs;
	uint32_t room_bytes;		    /* of each mbuf's data */
	const struct packet_memory *memory; /* where the data lie; NULL: in the mbufs */
};

/* On the ports' socket if it has the memory, else anywhere. NULL with rte_errno. */
static struct rte_mempool *
pool_create_on(const struct pool_plan *plan, int socket_id)
{
	struct rte_mempool *pool;

	if (plan->n_mbufs > UINT32_MAX) {
		rte_errno = ENOMEM;
		return NULL;
	}
	if (plan->memory)
		pool = packet_memory_pool(plan->memory, plan->name, (uint32_t)plan->n_mbufs,
			CACHE_MBUFS, plan->room_bytes, socket_id);
	else
		pool = rte_pktmbuf_pool_create(plan->name, (unsigned int)plan->n_mbufs, CACHE_MBUFS,
			0, (uint16_t)plan->room_bytes, socket_id);
	if (pool || !memory_was_short(rte_errno) || socket_id == SOCKET_ID_ANY)
		return pool;
	return pool_create_on(plan, SOCKET_ID_ANY);
}

static uint64_t
mbuf_bytes(uint32_t mbuf_size)
{
	return rte_mempool_calc_obj_size((uint32_t)sizeof(struct rte_mbuf) + mbuf_size, 0, NULL);
}

uint64_t
mbuf_pool_bytes(uint64_t n, uint32_t mbuf_size, uint64_t page_bytes)
{
	const uint64_t each = mbuf_bytes(mbuf_size);
	const uint64_t per_page = page_bytes / each;
	const uint64_t queue = rte_align64pow2(n + 1) * sizeof(void *);

	if (per_page == 0)
		return queue + n * ((each + page_bytes - 1) / page_bytes * page_bytes);
	return queue + (n + per_page - 1) / per_page * page_bytes;
}

static int
memory_refuse(const struct pool_plan *plan)
{
	const bool has_hugepages = rte_eal_has_hugepages() != 0;
	const uint64_t page_bytes =
		has_hugepages ? HUGEPAGE_BYTES : (uint64_t)sysconf(_SC_PAGESIZE);
	const uint32_t room_bytes = plan->memory ? 0 : plan->room_bytes;
	const uint64_t bytes = mbuf_pool_bytes(plan->n_mbufs, room_bytes, page_bytes);

	fprintf(stderr,
		"weir: %s needs %llu mbufs of %llu bytes = %llu MB in pages of %llu kB, "
		"more than EAL has: raise %s, or take fewer --workers or a smaller --lane-size\n",
		plan->what, (unsigned long long)plan->n_mbufs,
		(unsigned long long)mbuf_bytes(room_bytes),
		(unsigned long long)(bytes / BYTES_PER_MB + 1),
		(unsigned long long)(page_bytes / 1024),
		has_hugepages ? "the number of hugepages" : "-m");
	return -EINVAL;
}

static int
pool_create(struct rte_mempool **pool, const struct pool_plan *plan, const struct ports *ports)
{
	int pool_errno;

	*pool = pool_create_on(plan, socket_choose(ports));
	if (*pool)
		return 0;
	pool_errno = rte_errno;
	if (memory_was_short(pool_errno))
		return memory_refuse(plan);
	fprintf(stderr, "weir: %s cannot be created: %s\n", plan->what, rte_strerror(pool_errno));
	/* No option has been refused, whatever the library did not like. */
	return pool_errno > 0 && pool_errno != EINVAL ? -pool_errno : -EIO;
}

/* The memory that worker processes map. Returns 0, -EINVAL after a refusal, or -errno. */
static int
memory_open(struct packet_memory *memory, const struct pool_plan *plan, const struct ports *ports)
{
	const int rc = packet_memory_open(memory, plan->n_mbufs, plan->room_bytes, ports);
	uint64_t bytes;

	if (rc != -ENOMEM)
		return rc;
	bytes = packet_memory_bytes(plan->n_mbufs, plan->room_bytes, memory->page_bytes, true);
	fprintf(stderr,
		"weir: the packets of worker processes need %llu buffers of %u bytes = %llu MB in "
		"pages of %llu kB, more than there is: %stake fewer --workers or a smaller "
		"--lane-size\n",
		(unsigned long long)plan->n_mbufs, plan->room_bytes,
		(unsigned long long)(bytes / BYTES_PER_MB + 1),
		(unsigned long long)(memory->page_bytes / 1024),
		rte_eal_has_hugepages() ? "raise the number of hugepages, or " : "");
	return -EINVAL;
}

int
mbuf_pool_create(struct rte_mempool **pool, struct packet_memory *memory,
	const struct options *options, const struct ports *ports, uint32_t kept_pkts)
{
	struct pool_plan plan = {
		.name = "weir_mbufs",
		.what = "the mbuf pool",
		.n_mbufs = mbuf_pool_size(options, ports, kept_pkts),
		.room_bytes = options->mbuf_size,
	};
	int rc;

	if (options->worker_mode != WORKER_MODE_THREAD) {
		rc = memory_open(memory, &plan, ports);
		if (rc < 0)
			return rc;
		plan.memory = memory;
	}
	return pool_create(pool, &plan, ports);
}

uint64_t
copied_pool_size(const struct options *options, const struct ports *ports)
{
	const uint64_t caches = (options->rx_cores + 1) * (uint64_t)CACHE_MBUFS_MAX;
	uint64_t n = 0;

	for (uint32_t i = 0; i < ports->n; i++) {
		const struct port *port = &ports->port[i];

		if (!port->copies)
			continue;
		n += port->n_rx_queues * ((uint64_t)port->n_rx_desc + DRIVER_QUEUES_PKTS);
		n += (uint64_t)port->n_tx_queues * port->n_tx_desc;
	}
	return n > 0 ? n + caches + options->rx_cores * (uint64_t)options->burst : 0;
}

int
copied_pool_create(
	struct rte_mempool **pool, const struct options *options, const struct ports *ports)
{
	const struct pool_plan plan = {
		.name = "weir_copied",
		.what = "the pool of packets to be copied",
		.n_mbufs = copied_pool_size(options, ports),
		.room_bytes = options->mbuf_size,
	};

	return plan.n_mbufs > 0 ? pool_create(pool, &plan, ports) : 0;
}

int
clone_pool_create(struct rte_mempool **pool, const struct options *options,
	const struct ports *ports, uint32_t kept_pkts)
{
	const struct pool_plan plan = {
		.name = "weir_clones",
		.what = "the pool of clones",
		.n_mbufs = clone_pool_size(options, ports, kept_pkts),
	};

	return pool_create(pool, &plan, ports);
}
