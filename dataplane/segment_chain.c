/* SPDX-License-Identifier: BSD-3-Clause */
#include "segment_chain.h"

#include <weir/packet.h>

static_assert(RTE_PKTMBUF_HEADROOM >= sizeof(struct weir_segment_link), "a copy has room");

bool
segment_chain_is_whole(const struct rte_mbuf *packet)
{
	uint64_t bytes = 0;
	uint32_t n = 0;

	for (const struct rte_mbuf *segment = packet; segment; segment = segment->next) {
		bytes += segment->data_len;
		n++;
	}
	return bytes == packet->pkt_len && n == packet->nb_segs;
}

static bool
chain_has_room(const struct rte_mbuf *segment)
{
	for (; segment; segment = segment->next) {
		if (rte_pktmbuf_headroom(segment) < sizeof(struct weir_segment_link))
			return false;
	}
	return true;
}

static void
chain_write_links(struct rte_mbuf *segment)
{
	for (; segment; segment = segment->next) {
		char *data = rte_pktmbuf_mtod(segment, char *);
		const struct rte_mbuf *next = segment->next;
		const struct weir_segment_link link = {
			.next_offset = next ? rte_pktmbuf_mtod(next, char *) - data : 0,
			.next_length = next ? next->data_len : 0,
		};

		memcpy(data - sizeof(link), &link, sizeof(link));
	}
}

struct rte_mbuf *
segment_chain_link(struct rte_mbuf *packet, struct rte_mempool *mbuf_pool)
{
	if (!chain_has_room(packet)) {
		struct rte_mbuf *copy = rte_pktmbuf_copy(packet, mbuf_pool, 0, UINT32_MAX);

		rte_pktmbuf_free(packet);
		if (!copy)
			return NULL;
		packet = copy;
	}
	chain_write_links(packet);
	return packet;
}
