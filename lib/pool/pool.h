/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pool's inside: configuration, memory of all lanes, workers, and the published snapshot.
 *
 * Who writes what: the control thread everything but `seen`, whose entries each dispatcher writes;
 * claims whichever dispatcher claims; the contents of the lane area are written by dispatchers,
 * those of the worker area by workers, the heads of claim lanes by both. Of the lane area the
 * workers' headers are control's; it also writes what nobody else uses, between two incarnations.
 */
#ifndef WEIR_POOL_POOL_H
#define WEIR_POOL_POOL_H

#include <stdatomic.h>
#include <stdbool.h>

#include <weir/overflow.h>
#include <weir/pool.h>
#include <weir/strategy.h>

#include "area.h"
#include "claim_lane.h"
#include "lane.h"
#include "policy.h"
#include "progress.h"
#include "worker.h"
#include "worker_memory.h"

/* A dispatcher's published lane tails, dense, so that others learn its part of a backlog (E7). */
struct tail_array {
	CACHE_ALIGNED _Atomic uint32_t tail[WEIR_WORKERS_MAX];
};

/*
 * What one dispatcher has reclaimed, by worker: {incarnation + 1 : 32, position : 32}, the position
 * being the number of its lane's next packet, where the next incarnation begins. 0: nothing yet.
 */
struct reclaim_array {
	CACHE_ALIGNED _Atomic uint64_t done[WEIR_WORKERS_MAX];
};

/* The version that one dispatcher uses: older snapshots may be freed. A line each. */
struct seen_version {
	CACHE_ALIGNED _Atomic uint64_t version;
};

/* What dispatchers do with their lanes to a worker. */
enum lane_order {
	LANE_OPEN = 0, /* nothing */
	LANE_END,      /* say once where it ends: the worker drains */
	LANE_RECLAIM,  /* take back all that is in it: the worker is gone */
};

/* The order for the lanes of one worker. A new one has another incarnation or is a later one. */
struct worker_order {
	uint32_t incarnation;
	enum lane_order order;
	struct weir_departure how; /* with LANE_RECLAIM */
};

struct pool_snapshot {
	struct weir_snapshot view;
	struct pool_policy *policy;
	bool is_awaited; /* nobody may be routable, but somebody will be */
	struct worker_order order[WEIR_WORKERS_MAX]; /* by worker id */
	struct pool_snapshot *older;		     /* retired before this one */
};

struct weir_pool {
	struct weir_config config;
	struct pool_policy *policy; /* the newest snapshot's */
	struct lane_geometry geometry;
	struct area lane_area;	 /* per worker: header, per dispatcher: slots, metadata, covers */
	struct area worker_area; /* per worker: whose, progress, per dispatcher: verdicts, heads */
	struct area tail_area;	 /* per dispatcher: its tail array */
	struct area claim_area;	 /* per class and worker: who claims it */
	struct area workers_area;
	struct weir_worker *workers;

	/* Control thread only. */
	enum weir_worker_state state[WEIR_WORKERS_MAX];
	uint32_t flags[WEIR_WORKERS_MAX]; /* enum weir_worker_flag */
	struct worker_order order[WEIR_WORKERS_MAX];
	struct pool_snapshot *retired;
	bool dispatcher_exists[WEIR_DISPATCHERS_MAX];
	bool dispatcher_created[WEIR_DISPATCHERS_MAX]; /* its lanes have a history: never again */
	_Atomic bool reclaimed[WEIR_WORKERS_MAX];      /* set by weir_reclaim: no way back */

	/* Edge E1: control stores, each dispatcher loads it once per burst. */
	CACHE_ALIGNED _Atomic(struct pool_snapshot *) current;

	struct seen_version seen[WEIR_DISPATCHERS_MAX];

	/* Edge E13: each dispatcher stores its own, control loads them. */
	struct reclaim_array reclaim[WEIR_DISPATCHERS_MAX];
};

/* The producer's end of the lane from `dispatcher` to `worker`; handles are the caller's array. */
struct lane_producer pool_lane_producer(
	struct weir_pool *pool, uint32_t dispatcher, weir_worker_id worker, void **packets);

/* By class, what covers earlier packets of a lane; NULL if no class covers early. */
lane_cover_seq *pool_lane_cover(
	const struct weir_pool *pool, uint32_t dispatcher, weir_worker_id worker);

/* The claims, by weir_class_slot(); NULL with one dispatcher or if no strategy claims. */
weir_claim *pool_claims(const struct weir_pool *pool);

/* The head of the claim lane from `dispatcher` to `worker`; NULL if the lanes are plain ones. */
struct claim_head *pool_claim_head(
	const struct weir_pool *pool, uint32_t dispatcher, weir_worker_id worker);

/* The progress lines of a worker, and what it counts of itself. */
struct progress *pool_progress(const struct weir_pool *pool, weir_worker_id worker);
struct activity *pool_activity(const struct weir_pool *pool, weir_worker_id worker);

/* What a worker is told past its lanes. */
struct worker_header *pool_worker_header(const struct weir_pool *pool, weir_worker_id worker);

/* The tail array of a dispatcher. */
struct tail_array *pool_tails(const struct weir_pool *pool, uint32_t dispatcher);

/* Lays out and allocates lanes, worker areas and workers. Returns 0 or -ENOMEM. */
int pool_memory_init(struct weir_pool *pool);
void pool_memory_fini(struct weir_pool *pool);

/*
 * Makes a worker's memory that of its next incarnation, whose lanes begin where each was left. All
 * that the last one could write is written anew; but the heads of claim lanes are stored by their
 * dispatchers, before they report.
 */
void pool_worker_reset(struct weir_pool *pool, weir_worker_id id, uint32_t incarnation);

/* A worker goes on under a new number: it is told to run. */
void pool_incarnation_begin(struct weir_pool *pool, weir_worker_id id, uint32_t incarnation);

/* Tells a worker that drains where the lanes of dispatchers end that do not exist. */
void pool_lanes_end_absent(struct weir_pool *pool, weir_worker_id id);

/* A dispatcher is no more: nobody waits for it. Its lanes are empty. */
void pool_dispatcher_leave(struct weir_pool *pool, uint32_t dispatcher);

/* What the configuration points at may go; the registries' and strategies' names stay. */
void pool_config_detach(struct weir_pool *pool);

/*
 * Publishes `edited`, a copy whose members or states differ, with the pool's policy; or changes
 * nothing: -ENOMEM.
 */
int snapshot_replace(struct weir_pool *pool, const struct weir_snapshot *edited);

/* What was published last. Only the control thread stores it, and it alone may ask. */
static inline const struct weir_snapshot *
pool_snapshot_view(const struct weir_pool *pool)
{
	return &atomic_load_explicit(&pool->current, memory_order_relaxed)->view;
}

/* Publishes the first snapshot: config.n_members members, all ready. Returns 0 or -ENOMEM. */
int pool_snapshot_init(struct weir_pool *pool);

/* Frees every snapshot; no dispatcher uses one any more. */
void pool_snapshot_fini(struct weir_pool *pool);

/*
 * Edge E1, acquire side: what the control thread put into the snapshot is seen; without it the
 * pointer could be new and what it points at old. Once per burst.
 */
static inline const struct weir_snapshot *
pool_snapshot_load(const struct weir_pool *pool)
{
	return &atomic_load_explicit(&pool->current, memory_order_acquire)->view;
}

/* The whole of which `view` is what strategies see. */
static inline const struct pool_snapshot *
pool_snapshot_of(const struct weir_snapshot *view)
{
	return (const struct pool_snapshot *)(const void *)((const char *)view -
							    offsetof(struct pool_snapshot, view));
}

/*
 * Edge E13, release side: `dispatcher` has taken everything out of its lane to `worker`, and will
 * not look at that incarnation's memory again. Without release order control could start the next
 * incarnation in memory that is still being read.
 */
static inline void
pool_reclaim_report(struct weir_pool *pool, uint32_t dispatcher, weir_worker_id worker,
	uint32_t incarnation, uint32_t position)
{
	atomic_store_explicit(&pool->reclaim[dispatcher].done[worker],
		(uint64_t)(incarnation + 1) << 32 | position, memory_order_release);
}

/*
 * Edge E1, the way back: tells the control thread that `dispatcher` uses no snapshot older than
 * `version` any more. Without release order control could free one that is still being read.
 */
static inline void
pool_snapshot_report(struct weir_pool *pool, uint32_t dispatcher, uint64_t version)
{
	atomic_store_explicit(&pool->seen[dispatcher].version, version, memory_order_release);
}

#endif
