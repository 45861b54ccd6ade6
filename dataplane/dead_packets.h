/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples of packets that an rx core frees undelivered: a bounded ring, one writer (the rx core)
 * and one reader (control). A full ring loses the sample and counts that; it never waits. Knows
 * no file.
 */
#ifndef WEIR_DATAPLANE_DEAD_PACKETS_H
#define WEIR_DATAPLANE_DEAD_PACKETS_H

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_config.h>
#include <rte_mbuf.h>

#include <weir/weir.h>

#include "cacheline.h"
#include "counter.h"

/* Power of two. Control reads every few milliseconds: a burst of losses fits, a flood does not. */
#define DEAD_RING_PKTS 1024
/* Bytes kept of each: headers, tunnels included, and some payload. */
#define DEAD_SNAP_BYTES 256

/* What is kept of a packet. */
struct dead_packet {
	uint64_t tsc;	       /* when it ended */
	uint32_t length;       /* bytes of the whole packet */
	uint16_t n_bytes;      /* of these, kept */
	uint16_t port;	       /* that it arrived on; RTE_MBUF_PORT_INVALID: none */
	weir_worker_id worker; /* that it was meant for, or WEIR_WORKER_NONE */
	uint8_t reason;	       /* enum weir_reason */
	uint8_t bytes[DEAD_SNAP_BYTES];
};

struct dead_ring {
	/* Written by the rx core. */
	CACHE_ALIGNED _Atomic uint32_t tail; /* packets put in so far */
	uint32_t head_seen;		     /* how far the reader was when last looked */
	uint32_t sample;		     /* one of so many is kept */
	uint32_t until_next;		     /* drops up to the next that is kept */
	struct counter lost;		     /* to be kept, and the ring was full */

	/* Written by control. */
	CACHE_ALIGNED _Atomic uint32_t head; /* packets read so far */

	CACHE_ALIGNED struct dead_packet packets[DEAD_RING_PKTS];
};

static_assert(offsetof(struct dead_ring, head) == CACHE_LINE_BYTES, "a line for each writer");

struct rx_core;

/* An empty ring that keeps one of `sample` packets (1 or more); NULL without memory. free()d. */
struct dead_ring *dead_ring_create(uint32_t sample);

/* Notes a packet that is about to be freed, if it is its turn. Caller: the rx core. */
void dead_packet_note(struct dead_ring *ring, const struct rte_mbuf *packet, uint8_t reason,
	weir_worker_id worker);

/* Notes what one call of `finish` drops. Caller: the rx core, if it has a ring. */
void dead_burst_note(struct rx_core *rx_core, void *const *packets,
	const struct weir_verdict *verdicts, uint32_t n, weir_worker_id worker);

/* The oldest packet in the ring, until dead_ring_pop; NULL: none. Caller: control. */
const struct dead_packet *dead_ring_peek(const struct dead_ring *ring);

/* Gives the oldest packet's place back. Caller: control, after dead_ring_peek. */
void dead_ring_pop(struct dead_ring *ring);

#endif
