/* SPDX-License-Identifier: BSD-3-Clause */
#include "dead_packets.h"

#include <stdlib.h>

#include <rte_cycles.h>

#include "rx_core.h"

struct dead_ring *
dead_ring_create(uint32_t sample)
{
	struct dead_ring *ring = aligned_alloc(CACHE_LINE_BYTES, sizeof(*ring));

	if (!ring)
		return NULL;
	/* Every page is touched here, none on the packet path. */
	memset(ring, 0, sizeof(*ring));
	ring->sample = sample;
	ring->until_next = 1;
	return ring;
}

/* The packet's first bytes, by what its segments have: a bad frame's head may say more. */
static uint16_t
bytes_keep(uint8_t *to, const struct rte_mbuf *packet)
{
	uint32_t n = 0;

	for (; packet && n < DEAD_SNAP_BYTES; packet = packet->next) {
		const uint32_t part = RTE_MIN((uint32_t)packet->data_len, DEAD_SNAP_BYTES - n);

		memcpy(to + n, rte_pktmbuf_mtod(packet, const void *), part);
		n += part;
	}
	return (uint16_t)n;
}

static void
ring_put(struct dead_ring *ring, const struct rte_mbuf *packet, uint8_t reason,
	weir_worker_id worker)
{
	const uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
	struct dead_packet *dead = &ring->packets[tail & (DEAD_RING_PKTS - 1)];

	/* Edge E12, the way back: without it a packet could be written over while it is read. */
	if (tail - ring->head_seen == DEAD_RING_PKTS)
		ring->head_seen = atomic_load_explicit(&ring->head, memory_order_acquire);
	if (tail - ring->head_seen == DEAD_RING_PKTS) {
		counter_add(&ring->lost, 1);
		return;
	}
	dead->tsc = rte_rdtsc();
	dead->length = packet->pkt_len;
	dead->port = packet->port;
	dead->worker = worker;
	dead->reason = reason;
	dead->n_bytes = bytes_keep(dead->bytes, packet);
	/* Edge E12, release side: without it control could read the place before the packet. */
	atomic_store_explicit(&ring->tail, tail + 1, memory_order_release);
}

void
dead_packet_note(struct dead_ring *ring, const struct rte_mbuf *packet, uint8_t reason,
	weir_worker_id worker)
{
	if (--ring->until_next > 0)
		return;
	ring->until_next = ring->sample;
	ring_put(ring, packet, reason, worker);
}

void
dead_burst_note(struct rx_core *rx_core, void *const *packets, const struct weir_verdict *verdicts,
	uint32_t n, weir_worker_id worker)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct weir_verdict *verdict = &verdicts[i];

		if (verdict->kind == WEIR_VERDICT_DROP)
			dead_packet_note(rx_core->dead, packets[i], verdict->target,
				worker != WEIR_WORKER_NONE ? worker
							   : (weir_worker_id)verdict->intended);
	}
}

const struct dead_packet *
dead_ring_peek(const struct dead_ring *ring)
{
	const uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

	/* Edge E12, acquire side. */
	if (atomic_load_explicit(&ring->tail, memory_order_acquire) == head)
		return NULL;
	return &ring->packets[head & (DEAD_RING_PKTS - 1)];
}

void
dead_ring_pop(struct dead_ring *ring)
{
	const uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

	/* Edge E12, the way back: the packet has been read before its place is given away. */
	atomic_store_explicit(&ring->head, head + 1, memory_order_release);
}
