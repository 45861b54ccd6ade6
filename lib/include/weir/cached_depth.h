/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cached depth: `shallowest` over depths that are published from time to time, for workers whose
 * progress no dispatcher can read: in another process, on another machine. A table holds the newest
 * reading of each worker; the strategy `cached-shallowest` picks by readings that are fresh enough,
 * skips workers that have none, and adds what it has sent since.
 *
 *   weir_cached_depth_create    the table and its strategy                (control thread)
 *   weir_depth_lease_take       a worker's readings count from now on     (control thread)
 *   weir_cached_depth_publish   a reading                     (the worker's runtime or its agent)
 *   weir_pool_create            with weir_cached_depth_strategy() among `strategies`
 *
 * Source: actor-ts's smallest-mailbox cluster router, of which this keeps the options, the skipping
 * and the rotation; corrected are its herding (nothing sent was added until the next reading) and
 * its ages (counted from arrival; here from the publisher's own time).
 */
#ifndef WEIR_CACHED_DEPTH_H
#define WEIR_CACHED_DEPTH_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/packet.h>
#include <weir/pool.h>
#include <weir/strategy.h>

/** A table of readings and the strategy over it. Opaque. */
struct weir_cached_depth;

/** What a table is made of. Start from weir_cached_depth_config_default(). */
struct weir_cached_depth_config {
	uint32_t n_workers;	 /**< 1 .. WEIR_WORKERS_MAX; a pool's workers beyond have no
				      readings */
	uint64_t refresh_ns;	 /**< how often publishers are to publish, 1 .. INT64_MAX */
	uint64_t stale_after_ns; /**< a reading older than this is none, 0 .. INT64_MAX; 0 = never
				      stale, else at least refresh_ns */
	bool add_own_sends;	 /**< count what was picked since a reading on top of it */
};

/** 4 workers, a reading every 200 ms, stale after 1000 ms, own sends added. Any thread. */
WEIR_API struct weir_cached_depth_config weir_cached_depth_config_default(void);

/**
 * Checks a configuration as a whole: who changes one of the times alone must still leave
 * stale_after_ns at 0 or at least at refresh_ns.
 * @param error may be NULL
 * @return 0, or -EINVAL with `error` filled (`field` is a member of this struct). Any thread.
 */
WEIR_API int weir_cached_depth_config_check(
	const struct weir_cached_depth_config *config, struct weir_config_error *error);

/**
 * Sets one of the times from what a user typed: `refresh_ms` (from 1 on) or `stale_after_ms` (from
 * 0 on), a whole number of milliseconds in decimal digits. Checks this value by itself; the pair is
 * checked by weir_cached_depth_config_check().
 * @param error may be NULL
 * @return 0, or -EINVAL (no such name, no such number) with `error` filled. Any thread.
 */
WEIR_API int weir_cached_depth_config_set(struct weir_cached_depth_config *config, const char *name,
	const char *value, struct weir_config_error *error);

/**
 * Creates a table without readings. Caller: the control thread.
 * @param error may be NULL
 * @return NULL with errno EINVAL (`error` filled) or ENOMEM
 */
WEIR_API struct weir_cached_depth *weir_cached_depth_create(
	const struct weir_cached_depth_config *config, struct weir_config_error *error);

/**
 * Frees a table. The pools that use its strategy must be destroyed, publishers must have ended, and
 * leases are not to be released any more. NULL is allowed. Caller: the control thread.
 */
WEIR_API void weir_cached_depth_destroy(struct weir_cached_depth *cached);

/**
 * The strategy over this table, `cached-shallowest`: for weir_config.strategies. It is the table's
 * and lives as long. Any thread.
 *
 * A reading is usable if its worker has a lease, if it is of the worker's present incarnation, and
 * if it is not stale: stale_after_ns is 0, or its time and the time of the dispatcher
 * (weir_time_set) are at most that far apart. A dispatcher that is never told the time so finds
 * none usable, and neither does one whose clock has nothing to do with the publishers'.
 *
 * Of the workers with a usable reading that says routable, the one with the lowest depth is picked;
 * ties rotate. If there is none, picks rotate over all workers but those that a usable reading
 * calls not routable; only if these are all, over all.
 *
 * Own sends are picks of one route of one dispatcher: a chunk counts whole, packets that follow the
 * pin of their flow are not counted, and other dispatchers' sends are seen with the next reading.
 * Each burst reads one line per routable worker; a publisher writes it every refresh_ns.
 */
WEIR_API const struct weir_strategy *weir_cached_depth_strategy(
	const struct weir_cached_depth *cached);

/**
 * A share in the publishing of one worker's depth. The caller's memory, zeroed at first: every user
 * of the readings has one of its own.
 */
struct weir_depth_lease {
	struct weir_cached_depth *cached; /**< NULL: not taken */
	weir_worker_id worker;
};

/**
 * Takes a lease. The worker's first one begins an incarnation: it has no reading until that one
 * publishes. Caller: the control thread.
 * @return 0, -EINVAL (`worker` not below n_workers) or -EBUSY (the lease is taken)
 */
WEIR_API int weir_depth_lease_take(
	struct weir_cached_depth *cached, weir_worker_id worker, struct weir_depth_lease *lease);

/**
 * Gives a lease back. With a worker's last one its publisher is stopped: from the next burst on it
 * has no reading. A lease that is not taken is left alone. Caller: the control thread.
 */
WEIR_API void weir_depth_lease_release(struct weir_depth_lease *lease);

/**
 * The present incarnation of a worker: what its publisher must put into readings.
 * @return 0 if there is no such worker or nobody has a lease. Any thread.
 */
WEIR_API uint32_t weir_cached_depth_incarnation(
	const struct weir_cached_depth *cached, weir_worker_id worker);

/**
 * A worker left and is back, or another one has taken its place: begins an incarnation. What its
 * predecessors published is no reading any more. The predecessor's publisher must have ended.
 * Caller: the control thread.
 * @return the new incarnation; 0 if there is no such worker or nobody has a lease
 */
WEIR_API uint32_t weir_cached_depth_rejoin(struct weir_cached_depth *cached, weir_worker_id worker);

/** What a publisher says of a worker. */
struct weir_depth_reading {
	uint64_t time_ns;     /**< when it was measured, by the clock of weir_time_set */
	uint32_t depth_pkts;  /**< packets that the worker has */
	uint32_t incarnation; /**< whose depth this is, by weir_cached_depth_incarnation() */
	bool routable;	      /**< false: no new packets, the worker drains or is not well */
};

/**
 * Publishes a reading; dispatchers see it from their next burst on. Allocates nothing, waits for
 * nobody. Caller: one thread at a time for each worker.
 * @return 0, -EINVAL (no such worker), -ESHUTDOWN (nobody has a lease) or -ESTALE (not the present
 * incarnation)
 */
WEIR_API int weir_cached_depth_publish(struct weir_cached_depth *cached, weir_worker_id worker,
	const struct weir_depth_reading *reading);

/**
 * Whether it is time to publish: somebody has a lease, and the present incarnation has published
 * nothing, or last something measured refresh_ns ago or earlier. Caller: the worker's publisher.
 */
WEIR_API bool weir_cached_depth_due(
	const struct weir_cached_depth *cached, weir_worker_id worker, uint64_t now_ns);

/**
 * Copies a worker's newest reading, if it is usable at `now_ns`. Any thread.
 * @return 0, -EINVAL (no such worker), -ENODATA (no usable reading) or -EAGAIN (it was published
 * again and again meanwhile)
 */
WEIR_API int weir_cached_depth_read(const struct weir_cached_depth *cached, weir_worker_id worker,
	uint64_t now_ns, struct weir_depth_reading *reading);

#endif
