/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why a packet goes where it goes: what the dispatcher knows of one packet before it decides. For
 * people and tests, not for packet paths.
 */
#ifndef WEIR_WHY_H
#define WEIR_WHY_H

#include <stdint.h>

#include <weir/decide.h>
#include <weir/packet.h>

/** How the worker of a packet is found. */
enum weir_route {
	WEIR_ROUTE_ASKS,	     /**< the strategy is asked */
	WEIR_ROUTE_PINNED,	     /**< follows its bucket's pin, for that has packets out */
	WEIR_ROUTE_STICKY,	     /**< stays with its bucket's worker: not silent long enough */
	WEIR_ROUTE_HELD_BEHIND,	     /**< held: earlier packets of its bucket are */
	WEIR_ROUTE_HELD_UNROUTABLE,  /**< held: its bucket is out at a worker that takes no more */
	WEIR_ROUTE_HELD_OTHER_OWNER, /**< held: its bucket is out at a worker that owns it no more
				      */
	WEIR_ROUTE_HELD_AWAITED,     /**< held: no worker is routable yet */
	WEIR_ROUTE_REFUSED,  /**< stays with the caller: the policy refuses, some are held */
	WEIR_ROUTE_LOST,     /**< dropped: no worker is routable */
	WEIR_ROUTE_DROPPED,  /**< its class drops it, or the policer of its class has no token */
	WEIR_ROUTE_DIVERTED, /**< its class sends it past all workers */
	WEIR_ROUTE_ALL,	     /**< every routable worker gets it */
	WEIR_ROUTE_COUNT,
};

/** What decides on one packet. Arrays are by position in the pool's list of routable workers. */
struct weir_explanation {
	enum weir_route route;
	enum weir_action action; /**< of its class */
	const char *strategy;	 /**< name of its class's */
	const char *fallback;	 /**< asked if that finds no worker; NULL: none */
	uint8_t reason;	       /**< enum weir_reason, where it is dropped before anybody is asked */
	weir_worker_id pinned; /**< worker of the bucket's last packet; WEIR_WORKER_NONE: none */
	uint32_t lane_out;     /**< packets lent to that worker and not harvested */
	uint32_t bucket_out;   /**< of these, up to the bucket's last: 0 = the bucket may move */
	uint32_t bucket_held;  /**< packets of the bucket in the hold */
	uint64_t index;	       /**< message index that the packet has if its strategy is asked */
	uint32_t n_routable;
	weir_worker_id worker[WEIR_WORKERS_MAX]; /**< position → id */
	uint32_t depth[WEIR_WORKERS_MAX];	 /**< as the strategy sees it, packets */
	uint32_t room[WEIR_WORKERS_MAX];	 /**< free slots of the lane, packets */
};

/**
 * Tells what weir_dispatch would go by if it were given this packet alone. Changes nothing.
 *
 * It sees what the dispatcher knew after its last call. weir_dispatch harvests first, and what
 * comes home there can free a bucket or a held packet: call weir_harvest before, and the answer is
 * exact unless a worker completes something, or the pool changes, in between.
 *
 * Which worker a strategy picks, and whether its lane has room, is only known once it is asked:
 * weir_burst.workers tells. All fields about pins are 0 and `pinned` is none with order `none`.
 *
 * Caller: the dispatcher's own thread.
 */
WEIR_API void weir_explain(const struct weir_dispatcher *dispatcher, const struct weir_meta *meta,
	struct weir_explanation *explanation);

#endif
