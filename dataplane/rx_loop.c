/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rx core's loop: receive → classify (flow, rule) → dispatch (which harvests first) → flush.
 * Control reaches it through the mailbox only.
 */
#include "rx_core.h"

#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "relax.h"
#include "segment_chain.h"

/* Packets ahead of the one being parsed whose first line is fetched. */
#define CLASSIFY_PREFETCH_PKTS 4

/*
 * Keeps the longest time from one loop to the next: what a packet that arrives may have to wait
 * until it is looked at. Taking the CPU away from the loop makes it longer too. Written only when
 * it grows.
 */
static inline void
loop_measure(struct rx_core *rx_core, uint64_t tsc)
{
	const uint64_t cycles = tsc - rx_core->loop_begin_tsc;

	if (unlikely(cycles > counter_read(&rx_core->tally.loop_max_cycles)))
		counter_set(&rx_core->tally.loop_max_cycles, cycles);
	rx_core->loop_begin_tsc = tsc;
}

/* To give the CPU away is no part of a loop: that is done only when there is nothing to do. */
static void
loop_idle(struct rx_core *rx_core)
{
	if (rx_core->yields)
		loop_measure(rx_core, rte_rdtsc());
	loop_relax(rx_core->yields);
	if (rx_core->yields)
		rx_core->loop_begin_tsc = rte_rdtsc();
}

/*
 * Wall-clock time by one reading of the TSC per loop: the arrival of what was received, and, as it
 * never steps back, the dispatcher's clock.
 */
static uint64_t
loop_time_ns(struct rx_core *rx_core)
{
	const uint64_t tsc = rte_rdtsc();

	loop_measure(rx_core, tsc);
	return rx_core_time_ns(rx_core, tsc);
}

static_assert(RTE_MAX_ETHPORTS <= UINT8_MAX + 1, "a port fits the metadata");

/* The packet's own stamp where the port writes one that means wall-clock time. */
static inline uint64_t
packet_time_ns(const struct rx_core *rx_core, const struct rx_queue *queue,
	const struct rte_mbuf *packet, uint64_t now_ns)
{
	if (!queue->stamps_us || !(packet->ol_flags & rx_core->stamp_flag))
		return now_ns;
	return *RTE_MBUF_DYNFIELD(packet, rx_core->stamp_offset, const uint64_t *) * 1000;
}

static inline void
flow_count(struct rx_tally *tally, const struct weir_meta *meta)
{
	const uint32_t group = weir_bucket_group(meta->bucket);

	counter_add(&tally->flow[meta->flow_reason], 1);
	counter_add(&tally->group_all[group], 1);
	/* Rare: most packets need not load and store one counter more. */
	if (unlikely(meta->flow_reason != WEIR_FLOW_PORTS && meta->flow_reason != WEIR_FLOW_NIC))
		counter_add(&tally->group_fallback[group], 1);
}

static inline void
packet_classify(struct rx_core *rx_core, const struct rx_queue *queue, uint32_t i, uint64_t now_ns)
{
	const struct rte_mbuf *packet = rx_core->rx_packets[i];
	const uint8_t *data = rte_pktmbuf_mtod(packet, const uint8_t *);
	struct weir_meta *meta = &rx_core->meta[i];

	*meta = (struct weir_meta) {
		.time_ns = packet_time_ns(rx_core, queue, packet, now_ns),
		.length = packet->pkt_len,
		.segment_length = packet->data_len,
		.port = (uint8_t)queue->port,
		.flags = packet->nb_segs > 1 ? WEIR_META_CHAIN : 0,
	};
	if (queue->gives_hash && (packet->ol_flags & RTE_MBUF_F_RX_RSS_HASH))
		weir_flow_adopt_hash(packet->hash.rss, meta);
	else
		weir_flow_classify(&rx_core->flow, data, packet->data_len, meta);
	flow_count(&rx_core->tally, meta);
	rx_core->data[i] = rte_pktmbuf_mtod(packet, void *);
}

/* Which rule each packet matches. Only called where there are rules: without, it costs nothing. */
static void
burst_match(struct rx_core *rx_core, const struct weir_rules *rules, uint32_t n)
{
	weir_rules_classify(rules, rx_core->data, rx_core->meta, n);
	for (uint32_t i = 0; i < n; i++)
		counter_add(&rx_core->tally.matched[rx_core->meta[i].class_id], 1);
}

static void
burst_classify(struct rx_core *rx_core, const struct rx_queue *queue, uint32_t n, uint64_t now_ns)
{
	for (uint32_t i = 0; i < n; i++) {
		if (i + CLASSIFY_PREFETCH_PKTS < n)
			prefetch_read(rte_pktmbuf_mtod(
				rx_core->rx_packets[i + CLASSIFY_PREFETCH_PKTS], const void *));
		packet_classify(rx_core, queue, i, now_ns);
	}
	if (queue->passes_rules && rx_core->rule_set->rules)
		burst_match(rx_core, rx_core->rule_set->rules, n);
}

/* A packet that cannot be lent ends here. */
static void
packet_drop(struct rx_core *rx_core, struct rte_mbuf *packet, struct counter *counter,
	enum weir_reason reason)
{
	if (unlikely(rx_core->dead != NULL))
		dead_packet_note(rx_core->dead, packet, (uint8_t)reason, WEIR_WORKER_NONE);
	rte_pktmbuf_free(packet);
	counter_add(counter, 1);
}

/* A chain that workers can walk, or NULL: dropped and counted. */
static struct rte_mbuf *
chain_accept(struct rx_core *rx_core, struct rte_mbuf *packet)
{
	struct rte_mbuf *linked;

	if (!segment_chain_is_whole(packet)) {
		packet_drop(rx_core, packet, &rx_core->tally.bad_frame, WEIR_REASON_BAD_FRAME);
		return NULL;
	}
	linked = segment_chain_link(packet, rx_core->mbuf_pool);
	if (!linked)
		packet_drop(rx_core, packet, &rx_core->tally.no_mbuf, WEIR_REASON_NO_MBUF);
	return linked;
}

/* Puts copies in the packets' places, for workers that do not see the port's own buffers. */
static uint32_t
burst_copy(struct rx_core *rx_core, uint32_t n)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct rte_mbuf *packet = rx_core->rx_packets[i];
		struct rte_mbuf *copy = rte_pktmbuf_copy(packet, rx_core->mbuf_pool, 0, UINT32_MAX);

		if (unlikely(!copy)) {
			packet_drop(rx_core, packet, &rx_core->tally.no_mbuf, WEIR_REASON_NO_MBUF);
			continue;
		}
		rte_pktmbuf_free(packet);
		rx_core->rx_packets[kept++] = copy;
	}
	return kept;
}

/* Makes every chain walkable for workers. Returns how many packets are left, ranks closed. */
static uint32_t
burst_link_chains(struct rx_core *rx_core, uint32_t n)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct rte_mbuf *packet = rx_core->rx_packets[i];

		if (unlikely(packet->nb_segs > 1))
			packet = chain_accept(rx_core, packet);
		if (packet)
			rx_core->rx_packets[kept++] = packet;
	}
	return kept;
}

static void
burst_count(struct rx_core *rx_core, struct rx_queue *queue, uint32_t n)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < n; i++)
		bytes += rx_core->rx_packets[i]->pkt_len;
	counter_add(&queue->received, n);
	counter_add(&rx_core->tally.received, n);
	counter_add(&rx_core->tally.received_bytes, bytes);
}

/* Dispatches packets; what is refused waits in the hold, and polling with it. */
static void
part_dispatch(struct weir_dispatcher *dispatcher, struct weir_burst *burst)
{
	const uint32_t taken = weir_dispatch(dispatcher, burst);

	if (likely(taken == burst->n))
		return;
	burst->packets += taken;
	burst->data += taken;
	burst->meta += taken;
	burst->n -= taken;
	weir_hold(dispatcher, burst);
}

/* Dispatches what was received; with urgent classes each part by its own dispatcher. */
static void
burst_dispatch(struct rx_core *rx_core, uint32_t n)
{
	struct weir_burst burst = {
		.packets = (void *const *)rx_core->rx_packets,
		.data = rx_core->data,
		.meta = rx_core->meta,
		.n = n,
	};

	if (likely(!rx_core->urgent)) {
		part_dispatch(rx_core->dispatcher, &burst);
		return;
	}
	weir_burst_split(&burst, rx_core->rule_set->urgent_classes, &rx_core->split);
	part_dispatch(rx_core->urgent, &rx_core->split.chosen);
	part_dispatch(rx_core->dispatcher, &rx_core->split.rest);
}

static void
time_tell(struct rx_core *rx_core, uint64_t now_ns)
{
	weir_time_set(rx_core->dispatcher, now_ns);
	if (unlikely(rx_core->urgent))
		weir_time_set(rx_core->urgent, now_ns);
}

/* Packets of a queue can be of either kind: it is polled only while both take some. */
static bool
loop_accepts(const struct rx_core *rx_core)
{
	return weir_accepts(rx_core->dispatcher) &&
	       (likely(!rx_core->urgent) || weir_accepts(rx_core->urgent));
}

/*
 * How many packets may still be received under `packets_max`. Exact with one rx core; with several,
 * two that look at the same moment can together go over it by a burst each.
 */
static uint32_t
packets_allowed(const struct rx_core *rx_core)
{
	uint64_t received = 0;

	if (likely(rx_core->packets_max == 0))
		return rx_core->burst;
	for (uint32_t i = 0; i < rx_core->n_rx_cores; i++)
		received += counter_read(&rx_core->rx_cores[i]->tally.received);
	if (received >= rx_core->packets_max)
		return 0;
	return (uint32_t)RTE_MIN(rx_core->packets_max - received, (uint64_t)rx_core->burst);
}

/* Polls one queue, the next in turn, and dispatches. Returns packets received. */
static uint32_t
queue_serve(struct rx_core *rx_core)
{
	struct rx_queue *queue = &rx_core->queues[rx_core->next_queue];
	const uint32_t allowed = packets_allowed(rx_core);
	uint64_t now_ns;
	uint32_t n = 0;

	if (++rx_core->next_queue == rx_core->n_queues)
		rx_core->next_queue = 0;
	if (allowed > 0)
		n = rte_eth_rx_burst(
			queue->port, queue->queue, rx_core->rx_packets, (uint16_t)allowed);
	now_ns = loop_time_ns(rx_core);
	time_tell(rx_core, now_ns);
	if (n > 0) {
		burst_count(rx_core, queue, n);
		if (unlikely(queue->copies))
			n = burst_copy(rx_core, n);
		n = burst_link_chains(rx_core, n);
		burst_classify(rx_core, queue, n, now_ns);
	}
	burst_dispatch(rx_core, n);
	return n;
}

/* A loop that receives nothing. */
static void
loop_harvest(struct rx_core *rx_core)
{
	time_tell(rx_core, loop_time_ns(rx_core));
	if (unlikely(rx_core->urgent))
		weir_harvest(rx_core->urgent);
	weir_harvest(rx_core->dispatcher);
}

/* Other rules have other numbers: what was counted by them ends here. */
static __attribute__((noinline)) void
rules_adopt(struct rx_core *rx_core, const struct rule_set *rule_set)
{
	rx_core->rule_set = rule_set;
	for (uint32_t i = 0; i < WEIR_CLASSES_MAX; i++)
		counter_set(&rx_core->tally.matched[i], 0);
}

/* Takes what the pool has become, and the rules with it: once per loop, for both dispatchers. */
static void
loop_refresh(struct rx_core *rx_core)
{
	const struct rule_set *rule_set = weir_refresh(rx_core->dispatcher, NULL);

	if (unlikely(rx_core->urgent))
		weir_refresh(rx_core->urgent, rx_core->dispatcher);
	if (unlikely(rule_set != rx_core->rule_set))
		rules_adopt(rx_core, rule_set);
}

static bool
is_empty(const struct weir_dispatcher *dispatcher)
{
	return weir_in_lanes(dispatcher) == 0 && weir_held(dispatcher) == 0;
}

static void
loop_report_drained(struct rx_core *rx_core)
{
	if (is_empty(rx_core->dispatcher) && (!rx_core->urgent || is_empty(rx_core->urgent)))
		counter_set(&rx_core->tally.drained, 1);
}

int
rx_loop_run(void *argument)
{
	struct rx_core *rx_core = argument;
	enum loop_command command;

	rx_core->loop_begin_tsc = rte_rdtsc();
	while ((command = mailbox_read(&rx_core->mailbox)) != LOOP_STOP) {
		uint32_t received = 0;

		rx_core->finished = 0;
		loop_refresh(rx_core);
		if (likely(command == LOOP_RUN) && loop_accepts(rx_core))
			received = queue_serve(rx_core);
		else
			loop_harvest(rx_core);
		rx_core_flush(rx_core);
		counter_add(&rx_core->tally.loops, 1);
		if (command == LOOP_DRAIN)
			loop_report_drained(rx_core);
		if (received == 0 && rx_core->finished == 0)
			loop_idle(rx_core);
	}
	return 0;
}
