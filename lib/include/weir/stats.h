/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters and the ledger. Every packet ends in exactly one term:
 *
 *     received + copies == completed + sum(dropped by reason) + held + in_lanes
 *
 * Refusals (`rejected`) are no term: the packet stays with the caller.
 */
#ifndef WEIR_STATS_H
#define WEIR_STATS_H

#include <stddef.h>
#include <stdint.h>

#include <weir/packet.h>

/** Why a packet was dropped. A closed set: counters stay bounded whatever the traffic. */
enum weir_reason {
	WEIR_REASON_OVERFLOW_DROP_NEW,	/**< the chosen worker's lane was full */
	WEIR_REASON_OVERFLOW_DROP_HEAD, /**< gave its place in a full lane to a newer packet */
	WEIR_REASON_DEAD_WORKER,	/**< every worker of the pool is stopped */
	WEIR_REASON_NO_ROUTE,		/**< the pool has no workers, or none that failover takes */
	WEIR_REASON_ALL_BUSY,		/**< busyover, no worker is idle */
	WEIR_REASON_BUSY_DISCARD,	/**< discard-later, its worker has one of its class */
	WEIR_REASON_COVERED,		/**< cover-early, a newer one of its class came */
	WEIR_REASON_RATE_LIMITED,	/**< its rule's policer had no token left */
	WEIR_REASON_RULE_DROP,		/**< its rule drops */
	WEIR_REASON_RETRY_EXHAUSTED,	/**< no worker that its rule lets it try had room */
	WEIR_REASON_HANDLER_DROP,	/**< the handler's verdict */
	WEIR_REASON_SINK_FAILED,	/**< a sink could not store the packet (disk full, say) */
	WEIR_REASON_TX_FULL,		/**< the port did not take it at once */
	WEIR_REASON_NO_MBUF,		/**< no buffer for a copy that was needed */
	WEIR_REASON_BAD_FRAME,		/**< a chain from the driver that contradicts itself */
	WEIR_REASON_BAD_VERDICT,	/**< a verdict out of range: port, offset, length or kind */
	WEIR_REASON_HELD_OVERFLOW,	/**< the hold was full */
	WEIR_REASON_HOLD_TIMEOUT,	/**< waited in the hold up to its deadline */
	WEIR_REASON_DRAIN_TIMEOUT,	/**< not finished when the drain timeout ended */
	WEIR_REASON_CRASH_INFLIGHT,	/**< its worker died while it may have worked on it */
	WEIR_REASON_COUNT,
};

/**
 * The stable name of a reason, as in reports: `overflow_drop_new`.
 * @return NULL if `reason` is not below WEIR_REASON_COUNT. Any thread.
 */
WEIR_API const char *weir_reason_name(unsigned int reason);

/** What one dispatcher counted of one worker. Written by that dispatcher only. */
struct weir_worker_counters {
	uint64_t lent;			     /**< packets put into its lane, evicted ones too */
	uint64_t harvested;		     /**< packets that came back */
	uint64_t dropped[WEIR_REASON_COUNT]; /**< charged to it, by reason */
	uint32_t max_depth;		     /**< highest depth seen at a harvest, packets */
	uint32_t depth;			     /**< depth at the last harvest, packets */
	uint64_t depth_alarms;		     /**< how often its depth alarm rang: weir/alarm.h */
	uint64_t depth_alarm_level;	     /**< threshold that rang last, packets; 0 = none */
};

/** What one dispatcher counted. Written by that dispatcher only; a snapshot when copied out. */
struct weir_dispatcher_counters {
	uint64_t received;    /**< packets taken over from the caller */
	uint64_t copies;      /**< copies wanted of packets that go to several workers */
	uint64_t rejected;    /**< refusals: packets left with the caller, copies that must wait */
	uint64_t routed;      /**< packets that strategies were asked for: the message indices */
	uint64_t lent;	      /**< packets put into lanes */
	uint64_t returned_tx; /**< came back to be transmitted */
	uint64_t consumed;    /**< came back from a sink */
	uint64_t dropped[WEIR_REASON_COUNT]; /**< by reason */
	uint64_t held;			     /**< in the hold now */
	uint64_t moves;			     /**< buckets that went to another worker than before */
	uint64_t depth_visits;		     /**< mirror entries that strategies looked at */
	uint64_t line_reads; /**< other cores' cache lines read by the harvest pass */
	uint64_t bursts;     /**< dispatch calls with packets */
	uint64_t retries;    /**< other workers tried for packets that found a lane full */
};

/**
 * What one worker, in its present incarnation, counted of itself. Written by that worker only: from
 * a process it is hearsay.
 */
struct weir_worker_activity {
	uint64_t taken;	      /**< packets taken from lanes */
	uint64_t completed;   /**< packets given back */
	uint64_t busy_cycles; /**< cycles of work, as it counted them: weir_worker_count_busy */
	uint64_t busy_since;  /**< when the work in hand was begun, by its clock; 0: none is */
};

/** The ledger of a pool, summed over its dispatchers. All in packets. */
struct weir_ledger {
	uint64_t received;
	uint64_t copies;
	uint64_t completed;
	uint64_t dropped[WEIR_REASON_COUNT];
	uint64_t held;
	uint64_t in_lanes;
};

/** Sum of all reasons. */
WEIR_API uint64_t weir_ledger_dropped(const struct weir_ledger *ledger);

/**
 * How far the ledger is from balance: (received + copies) - (completed + dropped + held +
 * in_lanes). Zero at rest; while packets move, a reader on another core may see a passing gap.
 */
WEIR_API int64_t weir_ledger_gap(const struct weir_ledger *ledger);

#endif
