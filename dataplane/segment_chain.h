/* SPDX-License-Identifier: BSD-3-Clause */
/* Chains of mbufs, made walkable for workers, who know no mbuf: see struct weir_segment_link. */
#ifndef WEIR_DATAPLANE_SEGMENT_CHAIN_H
#define WEIR_DATAPLANE_SEGMENT_CHAIN_H

#include <stdbool.h>

#include <rte_config.h>
#include <rte_mbuf.h>

/*
 * Whether the chain's segments hold what its head says: net_pcap 22.11 counts a frame's whole
 * length although the 16 bits of a sum may have wrapped, and copies less.
 */
bool segment_chain_is_whole(const struct rte_mbuf *packet);

/*
 * Writes the links of a chain into the room before each segment's data. A chain without that room
 * is replaced by a copy out of `mbuf_pool`, which has it.
 * Returns the chain, or NULL if there was no buffer for the copy; the packet stays as it is.
 * Caller: the rx core.
 */
struct rte_mbuf *segment_chain_link(struct rte_mbuf *packet, struct rte_mempool *mbuf_pool);

/*
 * A copy out of `mbuf_pool`, segment by segment: whatever is known of the packet's segments is true
 * of the copy's, links included. NULL if there are too few buffers, or theirs are too small; the
 * packet stays as it is. Caller: the rx core.
 */
struct rte_mbuf *segment_chain_copy(const struct rte_mbuf *packet, struct rte_mempool *mbuf_pool);

#endif
