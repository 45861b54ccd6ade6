/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where packets go when they have ended: into a port's FIFO, or back to their pool. The FIFOs are
 * flushed every pass; what a port does not take at once is dropped, so that a full port never
 * blocks a lane.
 */
#include <rte_ethdev.h>

#include "rx_core.h"

/* Drops packets that came back to be transmitted; `workers`: whose each was. */
static void
packets_drop(struct rx_core *rx_core, struct rte_mbuf **packets, const weir_worker_id *workers,
	uint32_t n, struct tx_loss *loss, enum weir_reason reason)
{
	for (uint32_t i = 0; i < n; i++) {
		if (unlikely(rx_core->dead != NULL))
			dead_packet_note(rx_core->dead, packets[i], (uint8_t)reason, workers[i]);
		if (workers[i] < WEIR_WORKERS_MAX)
			counter_add(&loss->worker[workers[i]], 1);
	}
	rte_pktmbuf_free_bulk(packets, n);
	counter_add(&loss->all, n);
}

/* Moves the packet's beginning to where the handler put it; false if there is no room for that. */
static bool
packet_move_start(struct rte_mbuf *packet, int16_t offset)
{
	if (offset >= 0)
		return rte_pktmbuf_adj(packet, (uint16_t)offset) != NULL;
	return rte_pktmbuf_prepend(packet, (uint16_t)-offset) != NULL;
}

/* Cuts or extends the packet's end; false if there is no room for that. */
static bool
packet_resize(struct rte_mbuf *packet, uint32_t length)
{
	if (length == 0 || length > UINT16_MAX)
		return false;
	/* A chain may be longer than the 16 bits in which its end is cut. */
	if (length <= packet->pkt_len)
		return packet->pkt_len - length <= UINT16_MAX &&
		       rte_pktmbuf_trim(packet, (uint16_t)(packet->pkt_len - length)) == 0;
	return rte_pktmbuf_append(packet, (uint16_t)(length - packet->pkt_len)) != NULL;
}

/*
 * Whether the verdict takes in bytes before or behind the packet. With clones these are another
 * worker's as well, and no handler writes: what would be sent is not what anyone wrote there.
 */
static bool
verdict_grows(const struct rte_mbuf *packet, const struct weir_verdict *verdict)
{
	return verdict->data_offset < 0 ||
	       (uint64_t)verdict->data_offset + verdict->length > packet->pkt_len;
}

/* Gives the packet the shape that its verdict names. Verdicts are not trusted: all is checked. */
static inline bool
verdict_apply(
	const struct rx_core *rx_core, struct rte_mbuf *packet, const struct weir_verdict *verdict)
{
	if (likely(verdict->data_offset == 0 && verdict->length == packet->pkt_len))
		return true;
	if (rx_core->clone_pool && verdict_grows(packet, verdict))
		return false;
	if (verdict->data_offset != 0 && !packet_move_start(packet, verdict->data_offset))
		return false;
	return verdict->length == packet->pkt_len || packet_resize(packet, verdict->length);
}

static inline bool
port_allowed(const struct rx_core *rx_core, uint8_t port)
{
	return port < RTE_MAX_ETHPORTS && (rx_core->tx_allowed >> port & 1);
}

/*
 * How many packets a port gives up that takes none: all, or the first one alone if that is longer
 * than its frames. Some drivers (net_tap) never take such a packet, nor what stands behind it.
 */
static uint16_t
given_up_count(const struct rx_core *rx_core, uint16_t port, const struct rte_mbuf *first,
	uint16_t n_waiting)
{
	return first->pkt_len > rx_core->tx_frame_bytes[port] ? 1 : n_waiting;
}

static void
fifo_flush(struct rx_core *rx_core, uint16_t port)
{
	struct tx_fifo *fifo = &rx_core->tx[port];

	/* A driver may take fewer than a FIFO at one call and still have room: ask until it says 0.
	 */
	for (uint16_t done = 0; done < fifo->n;) {
		struct rte_mbuf **packets = &fifo->packets[done];
		uint16_t n = rte_eth_tx_burst(
			port, rx_core->tx_queue, packets, (uint16_t)(fifo->n - done));

		counter_add(&rx_core->tally.sent, n);
		if (unlikely(n == 0)) {
			n = given_up_count(rx_core, port, *packets, (uint16_t)(fifo->n - done));
			packets_drop(rx_core, packets, &fifo->worker[done], n,
				&rx_core->tally.tx_full, WEIR_REASON_TX_FULL);
		}
		done = (uint16_t)(done + n);
	}
	fifo->n = 0;
	rx_core->tx_ports &= ~(UINT32_C(1) << port);
}

static inline void
packet_transmit(struct rx_core *rx_core, struct rte_mbuf *packet,
	const struct weir_verdict *verdict, weir_worker_id worker)
{
	struct tx_fifo *fifo;

	if (unlikely(!port_allowed(rx_core, verdict->target) ||
		     !verdict_apply(rx_core, packet, verdict))) {
		packets_drop(rx_core, &packet, &worker, 1, &rx_core->tally.bad_verdict,
			WEIR_REASON_BAD_VERDICT);
		return;
	}
	fifo = &rx_core->tx[verdict->target];
	fifo->worker[fifo->n] = worker;
	fifo->packets[fifo->n++] = packet;
	rx_core->tx_ports |= UINT32_C(1) << verdict->target;
	if (fifo->n == TX_FIFO_PKTS)
		fifo_flush(rx_core, verdict->target);
}

void
rx_core_finish(void *context, void *const *packets, const struct weir_verdict *verdicts, uint32_t n,
	weir_worker_id worker)
{
	struct rx_core *rx_core = context;

	rx_core->finished += n;
	if (unlikely(rx_core->dead != NULL))
		dead_burst_note(rx_core, packets, verdicts, n, worker);
	for (uint32_t i = 0; i < n; i++) {
		if (verdicts[i].kind == WEIR_VERDICT_TX)
			packet_transmit(rx_core, packets[i], &verdicts[i], worker);
		else
			rte_pktmbuf_free(packets[i]);
	}
}

void
rx_core_flush(struct rx_core *rx_core)
{
	while (rx_core->tx_ports)
		fifo_flush(rx_core, (uint16_t)__builtin_ctz(rx_core->tx_ports));
}
