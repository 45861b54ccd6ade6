/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of a packet that goes to several workers. While no handler writes they are clones: mbufs
 * of a pool of their own, which share the data. Otherwise each worker gets bytes of its own.
 */
#include "rx_core.h"
#include "segment_chain.h"

static struct rte_mbuf *
packet_copy(const struct rx_core *rx_core, struct rte_mbuf *packet)
{
	if (rx_core->clone_pool)
		return rte_pktmbuf_clone(packet, rx_core->clone_pool);
	return segment_chain_copy(packet, rx_core->mbuf_pool);
}

uint32_t
rx_core_copy(void *context, void *packet, uint32_t n, void **copies, void **data)
{
	const struct rx_core *rx_core = context;

	for (uint32_t i = 0; i < n; i++) {
		struct rte_mbuf *copy = packet_copy(rx_core, packet);

		if (unlikely(!copy))
			return i;
		copies[i] = copy;
		data[i] = rte_pktmbuf_mtod(copy, void *);
	}
	return n;
}
