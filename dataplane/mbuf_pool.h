/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pool that all ports receive into, and that of clones: each as large as what can be on its way
 * at one time.
 */
#ifndef WEIR_DATAPLANE_MBUF_POOL_H
#define WEIR_DATAPLANE_MBUF_POOL_H

#include <stdint.h>

#include "options.h"
#include "port.h"

struct packet_memory;
struct rte_mempool;

/*
 * The mbufs that can be in use at one time, if no frame takes more than one: in descriptors, lanes
 * (two sets for each worker), bursts and caches, and with rx cores. No EAL needed.
 *
 * @param kept_pkts packets that one rx core can keep: in its holds and in its tx FIFOs
 */
uint64_t mbuf_pool_size(
	const struct options *options, const struct ports *ports, uint32_t kept_pkts);

/*
 * The bytes that `n` buffers take, their queue included: a buffer may not cross a page, so with
 * pages of 4096 bytes each takes one or more of its own. No EAL needed.
 *
 * @param mbuf_size the data room, headroom included
 */
uint64_t mbuf_pool_bytes(uint64_t n, uint32_t mbuf_size, uint64_t page_bytes);

/*
 * Creates the pool for configured ports. Where workers are processes, the packets' data lie in
 * `memory`, which is opened for it. Returns 0; -EINVAL after one line on stderr when the memory is
 * short; -errno after another line. Freed with rte_mempool_free, the memory afterwards with
 * packet_memory_close, in every case.
 */
int mbuf_pool_create(struct rte_mempool **pool, struct packet_memory *memory,
	const struct options *options, const struct ports *ports, uint32_t kept_pkts);

/* The mbufs for the ports whose packets are copied; 0 if there are none. No EAL needed. */
uint64_t copied_pool_size(const struct options *options, const struct ports *ports);

/*
 * Creates the pool that ports receive into whose packets are copied (port.copies): what is in their
 * descriptors and their drivers' own queues. NULL if there is no such port. Returns and freed as
 * mbuf_pool_create.
 */
int copied_pool_create(
	struct rte_mempool **pool, const struct options *options, const struct ports *ports);

/*
 * The clones that can be in use at one time: all that lanes, holds, tx FIFOs and tx descriptors can
 * have. No EAL needed. Parameters as of mbuf_pool_size.
 */
uint64_t clone_pool_size(
	const struct options *options, const struct ports *ports, uint32_t kept_pkts);

/*
 * Creates the pool of clones: mbufs without data room, which share the data of those that they are
 * made of. Their own pool, whose buffers they give back, not those of the data. Returns and freed
 * as mbuf_pool_create.
 */
int clone_pool_create(struct rte_mempool **pool, const struct options *options,
	const struct ports *ports, uint32_t kept_pkts);

#endif
