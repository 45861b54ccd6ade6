/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an rx core works with. Filled by control before the loop starts; from then on the loop's
 * own, but for the counters (anyone reads) and the mailbox (control writes).
 */
#ifndef WEIR_DATAPLANE_RX_CORE_H
#define WEIR_DATAPLANE_RX_CORE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_config.h>
#include <rte_mbuf.h>

#include <weir/weir.h>

#include "counter.h"
#include "dead_packets.h"
#include "mailbox.h"
#include "rule_set.h"

/* Packets waiting for a port, per rx core: what a pass can bring home before it is flushed. */
#define TX_FIFO_PKTS 256

/* One (port, queue) that an rx core polls. A line each: it counts there with every burst. */
struct rx_queue {
	CACHE_ALIGNED uint16_t port;
	uint16_t queue;
	bool gives_hash; /* the port's RSS hash tells the flow, where a packet has one */
	bool passes_rules;
	bool copies;	/* what comes from it is copied into a buffer that workers can see */
	bool stamps_us; /* net_pcap: the timestamp field holds microseconds since the epoch */
	struct counter received;
};

static_assert(sizeof(struct rx_queue) == CACHE_LINE_BYTES, "no queue shares a line with another");

/* Packets on their way to one port; flushed every pass. */
struct tx_fifo {
	uint16_t n;
	struct rte_mbuf *packets[TX_FIFO_PKTS];
	weir_worker_id worker[TX_FIFO_PKTS]; /* whose each was, or WEIR_WORKER_NONE */
};

/* Packets that came back to be transmitted and were dropped. */
struct tx_loss {
	struct counter all;
	struct counter worker[WEIR_WORKERS_MAX]; /* of these, by whose they were */
};

/* Written by the rx core only. */
struct rx_tally {
	CACHE_ALIGNED struct counter received;
	struct counter received_bytes;
	struct counter sent;	  /* taken by a port */
	struct counter bad_frame; /* chains that contradict themselves: dropped */
	struct counter no_mbuf;	  /* had to be copied, and there was no buffer: dropped */
	struct counter loops;
	struct counter loop_max_cycles; /* the longest of them, without giving the CPU away */
	struct counter drained; /* 1: LOOP_DRAIN was read and nothing is lent or held any more */
	struct counter flow[WEIR_FLOW_REASON_COUNT];	   /* packets by how their flow was found */
	struct counter group_all[WEIR_BUCKET_GROUPS];	   /* packets by group of buckets */
	struct counter group_fallback[WEIR_BUCKET_GROUPS]; /* of these, without ports */
	struct counter matched[WEIR_CLASSES_MAX]; /* packets by class, of those that pass rules */
	struct tx_loss tx_full;			  /* not taken by a port */
	struct tx_loss bad_verdict;		  /* TX verdicts out of range */
};

static_assert(RTE_MAX_ETHPORTS <= 32, "rx_core.tx_ports has a bit for every port");

struct rx_core {
	/* Fixed before the start. */
	uint32_t id;
	uint32_t lcore;
	uint32_t burst;
	bool started; /* control's note: the loop runs */
	bool yields;  /* shares its CPU with another polling thread: gives way on empty polls */
	uint32_t tx_allowed; /* bit per port id that may be sent to */
	uint16_t tx_queue;
	uint32_t tx_frame_bytes[RTE_MAX_ETHPORTS]; /* longest frame by port id, as far as known */
	uint32_t n_queues;
	struct rx_queue *queues;
	struct weir_dispatcher *dispatcher;
	struct weir_dispatcher *urgent; /* of the urgent classes; NULL: there are none */
	struct weir_flow_config flow;
	struct rte_mempool *mbuf_pool;	/* for the copies that chains may need */
	struct rte_mempool *clone_pool; /* copies for further workers share the data; NULL: they
					   have their own, of mbuf_pool */
	struct dead_ring *dead;		/* samples of what is freed undelivered; NULL: none */
	int stamp_offset;		/* dynamic field of arrival times; < 0: none */
	uint64_t stamp_flag;		/* its flag in ol_flags */
	uint64_t epoch_ns;		/* wall clock at TSC `epoch_tsc` */
	uint64_t epoch_tsc;
	uint64_t ns_per_tsc_32; /* nanoseconds per TSC cycle, times 2^32 */
	uint64_t packets_max; /* stop polling once all rx cores together received this; 0 = never */
	uint32_t n_rx_cores;
	struct rx_core *const *rx_cores; /* all of them, for packets_max */

	struct mailbox mailbox;

	/* The loop's own. */
	CACHE_ALIGNED uint32_t next_queue;
	const struct rule_set *rule_set; /* of this loop: the tag of the pool's policy */
	uint64_t loop_begin_tsc;
	uint32_t finished; /* packets that ended in this loop */
	uint32_t tx_ports; /* bit per port whose FIFO is not empty */
	struct tx_fifo tx[RTE_MAX_ETHPORTS];
	struct rte_mbuf *rx_packets[WEIR_BURST_MAX];
	void *data[WEIR_BURST_MAX];
	struct weir_meta meta[WEIR_BURST_MAX];
	struct weir_split split; /* with urgent classes */

	struct rx_tally tally;
};

static_assert(offsetof(struct rx_core, mailbox) % CACHE_LINE_BYTES == 0, "control writes it");
static_assert(offsetof(struct rx_core, next_queue) ==
		      offsetof(struct rx_core, mailbox) + CACHE_LINE_BYTES,
	"the mailbox is alone on its line, and what the loop writes starts the next");
static_assert(offsetof(struct rx_core, tally) % CACHE_LINE_BYTES == 0, "anyone reads it");

static inline uint64_t
rx_core_cycles_ns(const struct rx_core *rx_core, uint64_t cycles)
{
	return (uint64_t)(((unsigned __int128)cycles * rx_core->ns_per_tsc_32) >> 32);
}

/* Wall-clock time at a reading of the TSC. */
static inline uint64_t
rx_core_time_ns(const struct rx_core *rx_core, uint64_t tsc)
{
	return rx_core->epoch_ns + rx_core_cycles_ns(rx_core, tsc - rx_core->epoch_tsc);
}

/* rx_loop.c: the loop; an lcore function. Returns 0 after LOOP_STOP. */
int rx_loop_run(void *rx_core);

/* harvest.c: the dispatcher's finish callback (context: struct rx_core). */
void rx_core_finish(void *context, void *const *packets, const struct weir_verdict *verdicts,
	uint32_t n, weir_worker_id worker);

/* copies.c: the dispatcher's copy function (context: struct rx_core). */
uint32_t rx_core_copy(void *context, void *packet, uint32_t n, void **copies, void **data);

/* harvest.c: hands every waiting packet to its port; what it does not take is dropped. */
void rx_core_flush(struct rx_core *rx_core);

#endif
