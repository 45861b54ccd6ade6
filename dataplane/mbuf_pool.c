/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes and creates the pool of mbufs. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "mbuf_pool.h"
#include "pool_options.h"

/*
 * Per-lcore cache: eight bursts of the default size. A smaller one goes to the shared ring more
 * often, a larger one keeps more mbufs from the other lcores.
 */
#define CACHE_MBUFS 256
/* A cache is flushed when it holds half as much again. */
#define CACHE_MBUFS_MAX (CACHE_MBUFS + CACHE_MBUFS / 2)

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
	const uint64_t per_rx_core =
		options->workers * per_worker + options->burst + kept_pkts + CACHE_MBUFS_MAX;

	/* Control has a cache too. */
	return descriptors_count(ports) + n_rx_cores * per_rx_core + CACHE_MBUFS_MAX;
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

/* On the ports' socket if it has the memory, else anywhere. NULL with rte_errno. */
static struct rte_mempool *
pool_create(uint64_t n, uint32_t mbuf_size, int socket_id)
{
	struct rte_mempool *pool;

	if (n > UINT32_MAX) {
		rte_errno = ENOMEM;
		return NULL;
	}
	pool = rte_pktmbuf_pool_create(
		"weir_mbufs", (unsigned int)n, CACHE_MBUFS, 0, (uint16_t)mbuf_size, socket_id);
	if (pool || !memory_was_short(rte_errno) || socket_id == SOCKET_ID_ANY)
		return pool;
	return pool_create(n, mbuf_size, SOCKET_ID_ANY);
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
memory_refuse(uint64_t n, uint32_t mbuf_size)
{
	const bool has_hugepages = rte_eal_has_hugepages() != 0;
	const uint64_t page_bytes =
		has_hugepages ? HUGEPAGE_BYTES : (uint64_t)sysconf(_SC_PAGESIZE);
	const uint64_t bytes = mbuf_pool_bytes(n, mbuf_size, page_bytes);

	fprintf(stderr,
		"weir: the mbuf pool needs %llu mbufs of %llu bytes = %llu MB in pages of %llu kB, "
		"more than EAL has: raise %s, or take fewer --workers or a smaller --lane-size\n",
		(unsigned long long)n, (unsigned long long)mbuf_bytes(mbuf_size),
		(unsigned long long)(bytes / BYTES_PER_MB + 1),
		(unsigned long long)(page_bytes / 1024),
		has_hugepages ? "the number of hugepages" : "-m");
	return -EINVAL;
}

int
mbuf_pool_create(struct rte_mempool **pool, const struct options *options,
	const struct ports *ports, uint32_t kept_pkts)
{
	const uint64_t n = mbuf_pool_size(options, ports, kept_pkts);

	int pool_errno;

	*pool = pool_create(n, options->mbuf_size, socket_choose(ports));
	if (*pool)
		return 0;
	pool_errno = rte_errno;
	if (memory_was_short(pool_errno))
		return memory_refuse(n, options->mbuf_size);
	fprintf(stderr, "weir: the mbuf pool cannot be created: %s\n", rte_strerror(pool_errno));
	/* No option has been refused, whatever the library did not like. */
	return pool_errno > 0 && pool_errno != EINVAL ? -pool_errno : -EIO;
}
