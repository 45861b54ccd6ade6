/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What travels between a dispatcher and a worker: the metadata beside a packet, the packet as a
 * worker sees it, and the verdict that comes back. Knows no buffer library: no mbuf, no skb.
 */
#ifndef WEIR_PACKET_H
#define WEIR_PACKET_H

#include <assert.h>
#include <stdint.h>

/** Marks the functions that the shared library exports. */
#define WEIR_API __attribute__((visibility("default")))

/** Most workers that one pool can hold. Worker ids are 0 .. WEIR_WORKERS_MAX - 1. */
#define WEIR_WORKERS_MAX 256
/** Most dispatchers (rx cores) that lend to one pool: two progress lines of seven words. */
#define WEIR_DISPATCHERS_MAX 14
/** Most packets in one burst. */
#define WEIR_BURST_MAX 256
/** Most usable slots of a lane. */
#define WEIR_LANE_SIZE_MAX 65535
/** Classes of packets: 0 is of what no rule matched, 1 .. 63 are the rules'. */
#define WEIR_CLASSES_MAX 64
/** Flow buckets: the unit of pinning and of hash ownership. */
#define WEIR_BUCKETS 65536

/** A worker's id. */
typedef uint16_t weir_worker_id;

/** No worker: the packet has none to be charged to. */
#define WEIR_WORKER_NONE ((weir_worker_id)UINT16_MAX)

/** Bits of weir_meta.flags. */
enum weir_meta_flag {
	/** The packet is a chain of segments; `data` shows the first, see weir_segment_link. */
	WEIR_META_CHAIN = 1u << 0,
	/** To every routable worker, past the strategy: the message index does not count it. Only
	 * of a dispatcher that was given a weir_copy_fn; others do not look at it. */
	WEIR_META_TO_ALL = 1u << 1,
	/** Set by the dispatcher: one of several copies, for its worker alone. */
	WEIR_META_COPY = 1u << 2,
	/** Set by the dispatcher: it was lent before, to a worker that is gone. */
	WEIR_META_RECLAIMED = 1u << 3,
	/** Set by the dispatcher: that worker may have begun to work on it. */
	WEIR_META_REDELIVERED = 1u << 4,
};

/**
 * What the dispatcher knows of a packet. Filled by the caller of weir_dispatch, copied into the
 * lane, read by strategies and handlers. Half a cache line.
 */
struct weir_meta {
	uint64_t time_ns;	 /**< arrival, nanoseconds since the epoch */
	uint64_t hash;		 /**< keyed, symmetric flow hash (weir_flow_hash) */
	uint32_t length;	 /**< bytes of the whole packet */
	uint32_t segment_length; /**< bytes at `data`; less than `length` in a chain */
	uint16_t bucket;	 /**< flow bucket: the top 16 bits of `hash` */
	uint8_t port;		 /**< port that the packet arrived on */
	uint8_t flow_reason;	 /**< enum weir_flow_reason: how the flow was found */
	uint8_t flags;		 /**< enum weir_meta_flag */
	uint8_t class_id;	 /**< number of the rule that matched; 0 = none */
	uint8_t shard_index;	 /**< of a copy for several workers: which one it is, from 0 */
	uint8_t shard_last;	 /**< number of these copies less one: (0, 0) is a whole packet */
};
static_assert(sizeof(struct weir_meta) == 32, "two metadata per cache line");

/**
 * Stands in the 16 bytes before the data of each segment of a chain (WEIR_META_CHAIN), written by
 * the dispatcher's side before the packet is lent. An offset, not an address: a worker process
 * maps the buffers elsewhere.
 */
struct weir_segment_link {
	int64_t next_offset;  /**< from this segment's data to the next one's; 0 = last */
	uint32_t next_length; /**< bytes at the next segment's data */
	uint32_t reserved;    /**< zero */
};
static_assert(sizeof(struct weir_segment_link) == 16, "fits the smallest headroom");

/** A packet as a handler sees it: borrowed until its verdict is published. */
struct weir_packet {
	uint8_t *data; /**< first byte; `meta.segment_length` bytes may be read and written */
	struct weir_meta meta; /**< the worker's own copy */
};

/** What becomes of a packet. */
enum weir_verdict_kind {
	WEIR_VERDICT_TX = 0,   /**< transmit on port `target` */
	WEIR_VERDICT_DROP = 1, /**< free; `target` is an enum weir_reason */
	WEIR_VERDICT_CONSUMED =
		2,	       /**< a sink has taken what it wanted: free, counts as completed */
	WEIR_VERDICT_SENT = 3, /**< reserved: the worker has transmitted it itself */
};

/** The answer to one packet. Eight to a cache line. */
struct weir_verdict {
	uint8_t kind;	     /**< enum weir_verdict_kind */
	uint8_t target;	     /**< port or reason, by kind */
	int16_t data_offset; /**< where the packet now begins, bytes from the lent `data` */
	union {
		uint32_t length;   /**< bytes of the whole packet now */
		uint32_t intended; /**< of a drop that is the dispatcher's own: the worker that
					it is charged to, or WEIR_WORKER_NONE */
	};
};
static_assert(sizeof(struct weir_verdict) == 8, "eight verdicts per cache line");

/** The verdict that transmits `packet` unchanged on `port`. */
static inline struct weir_verdict
weir_verdict_tx(const struct weir_packet *packet, uint8_t port)
{
	return (struct weir_verdict) {
		.kind = WEIR_VERDICT_TX, .target = port, .length = packet->meta.length
	};
}

/** The verdict of a sink that has taken what it wanted of the packet. */
static inline struct weir_verdict
weir_verdict_consumed(void)
{
	return (struct weir_verdict) { .kind = WEIR_VERDICT_CONSUMED };
}

/** The verdict that drops a packet for `reason` (an enum weir_reason). */
static inline struct weir_verdict
weir_verdict_drop(uint8_t reason)
{
	return (struct weir_verdict) { .kind = WEIR_VERDICT_DROP, .target = reason };
}

#endif
