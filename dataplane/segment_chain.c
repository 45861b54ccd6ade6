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

		if (!copy)
			return NULL;
		rte_pktmbuf_free(packet);
		packet = copy;
	}
	chain_write_links(packet);
	return packet;
}

/* A copy of one segment, at the same place in its buffer; NULL if there is none. */
static struct rte_mbuf *
segment_copy(const struct rte_mbuf *segment, struct rte_mempool *mbuf_pool)
{
	struct rte_mbuf *copy = rte_pktmbuf_alloc(mbuf_pool);

	if (!copy)
		return NULL;
	if ((uint32_t)segment->data_off + segment->data_len > copy->buf_len) {
		rte_pktmbuf_free(copy);
		return NULL;
	}
	copy->data_off = segment->data_off;
	copy->data_len = segment->data_len;
	memcpy(rte_pktmbuf_mtod(copy, void *), rte_pktmbuf_mtod(segment, const void *),
		segment->data_len);
	return copy;
}

/* Copies the segments behind the first. Returns whether all are there. */
static bool
segments_copy(struct rte_mbuf *copy, const struct rte_mbuf *packet, struct rte_mempool *mbuf_pool)
{
	struct rte_mbuf *last = copy;

	for (const struct rte_mbuf *segment = packet->next; segment; segment = segment->next) {
		last->next = segment_copy(segment, mbuf_pool);
		if (!last->next)
			return false;
		last = last->next;
		copy->nb_segs++;
	}
	return true;
}

/* What the port said of the packet. Whose buffer it is differs: these flags are the copy's own. */
static void
head_copy(struct rte_mbuf *copy, const struct rte_mbuf *packet)
{
	copy->pkt_len = packet->pkt_len;
	copy->port = packet->port;
	copy->packet_type = packet->packet_type;
	copy->ol_flags |= packet->ol_flags & ~(RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL);
	copy->hash = packet->hash;
	copy->vlan_tci = packet->vlan_tci;
	copy->vlan_tci_outer = packet->vlan_tci_outer;
	copy->tx_offload = packet->tx_offload;
	rte_mbuf_dynfield_copy(copy, packet);
}

struct rte_mbuf *
segment_chain_copy(const struct rte_mbuf *packet, struct rte_mempool *mbuf_pool)
{
	struct rte_mbuf *copy = segment_copy(packet, mbuf_pool);

	if (!copy)
		return NULL;
	if (!segments_copy(copy, packet, mbuf_pool)) {
		rte_pktmbuf_free(copy);
		return NULL;
	}
	head_copy(copy, packet);
	if (copy->next)
		chain_write_links(copy);
	return copy;
}
