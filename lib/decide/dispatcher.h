/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The dispatcher's private half: one thread's, but for the counters, which anyone may read.
 *
 *   dispatcher.c  creation, counters           dispatch.c   the burst pipeline
 *   mirror.c      snapshot → mirror            plan.c       where each packet goes
 *   harvest.c     progress → mirror,           lend.c       into lanes, or overflow
 *                 packets come home            hold_pass.c  what waits, in its order
 *   evict.c       a full lane's oldest goes    why.c        explains, changes nothing
 */
#ifndef WEIR_DECIDE_DISPATCHER_H
#define WEIR_DECIDE_DISPATCHER_H

#include <weir/decide.h>
#include <weir/strategy.h>

#include "area.h"
#include "bitset.h"
#include "counter.h"
#include "fastmod.h"
#include "hold.h"
#include "pin.h"
#include "pool.h"

/* What is counted of one worker; the dispatcher writes it once per harvest of that worker. */
struct worker_tally {
	CACHE_ALIGNED struct counter lent;
	struct counter harvested;
	struct counter reclaimed; /* ended without coming back from the worker */
	struct counter depth;
	struct counter max_depth;
	struct counter dropped[WEIR_REASON_COUNT];
};

/* What is counted of the dispatcher; written at most a few times per burst. */
struct dispatcher_tally {
	CACHE_ALIGNED struct counter received;
	struct counter rejected;
	struct counter routed;
	struct counter lent;
	struct counter ended; /* lent ones that came back or were written off */
	struct counter returned_tx;
	struct counter consumed;
	struct counter held;
	struct counter moves;
	struct counter depth_visits;
	struct counter line_reads;
	struct counter bursts;
	struct counter dropped[WEIR_REASON_COUNT];
};

/* Packets that were dropped while a burst was dispatched: they end together, after it. */
struct drop_list {
	uint32_t n;
	void *packets[WEIR_BURST_MAX];
	struct weir_verdict verdicts[WEIR_BURST_MAX];
};

/* A packet that must wait: no worker's id, and no place in plan.position. */
#define PLAN_HOLD ((uint16_t)0x7fff)

/* Where each packet of the burst at hand goes. */
struct plan {
	uint16_t target[WEIR_BURST_MAX]; /* by packet: a worker's id, or PLAN_HOLD */
	uint8_t asked[WEIR_BURST_MAX]; /* by packet: 1 if the strategy was asked for it (order flow)
					*/
	uint32_t n_asked;
	uint32_t n_again;
	/* By packet that asked: the answer; from WEIR_BURST_MAX on, by packet that follows a pin.
	 */
	uint16_t position[2 * WEIR_BURST_MAX];
	uint16_t pick[WEIR_BURST_MAX];		   /* by chunk: the strategy's words */
	uint16_t again[WEIR_BURST_MAX];		   /* picks of packets behind the one that asked */
	struct weir_meta metadata[WEIR_BURST_MAX]; /* of the packets that ask, in one piece */
};

/* What the packets in the hold wait for: see hold_is_due(). */
struct hold_wait {
	struct bitset pinned; /* workers that the pins of held buckets name */
	bool refused;	      /* one found no room, and those behind it were not looked at */
};

/*
 * What has happened that may free held packets. It counts from the last look at the hold, so from
 * before the plan of whatever went in since: what comes home in mid-burst is not missed.
 */
struct hold_news {
	struct bitset finished; /* workers whose packets came home, or were evicted */
	bool mirror;		/* a depth or the room of a lane changed */
	bool all;		/* anything may go: another pool, a reclaim, packets from outside */
};

struct weir_dispatcher {
	/* Fixed at creation. */
	struct weir_pool *pool;
	weir_finish_fn finish;
	void *finish_context;
	uint32_t id;
	uint32_t n_workers;
	uint32_t n_dispatchers;
	uint32_t burst;
	uint32_t chunk;
	bool refuses;		 /* policy: a refusal ends the dispatch */
	bool evicts;		 /* policy: the oldest makes room */
	uint8_t drop_reason;	 /* policy: what a drop is counted as */
	bool counts_in_process;	 /* depth mode outstanding */
	bool owns_flows;	 /* strategy: a flow has one owner */
	bool reads_metadata;	 /* strategy: looks at the packets' metadata */
	uint64_t sticky_ns;	 /* a bucket stays until it was silent that long; 0 = off */
	struct pin *pins;	 /* order flow: by bucket; NULL with order none */
	uint64_t *last_ns;	 /* with sticky_ns: by bucket, arrival of its last packet */
	uint64_t n_moves;	 /* buckets that went to another worker than before */
	_Atomic uint32_t *tails; /* own tail array; NULL with one dispatcher */
	struct progress *progress[WEIR_WORKERS_MAX];

	/* The snapshot in use and what follows from it. */
	const struct weir_snapshot *snapshot;
	struct fastmod rotation_by; /* routable workers; members when all are stopped */

	/* The mirror, by position, and what the strategy sees of it. */
	struct weir_pick_context pick;
	CACHE_ALIGNED uint32_t depth[WEIR_WORKERS_MAX];
	CACHE_ALIGNED uint32_t room[WEIR_WORKERS_MAX];

	/* By worker id. */
	struct bitset outstanding; /* lanes with packets lent and not harvested */
	struct bitset reread;	   /* lanes whose progress was read again in this burst */
	struct lane_producer *lane;
	struct worker_tally *worker_tally;
	struct area lane_area;	  /* lane[], worker_tally[] and the handles of all lanes */
	struct claim_lane *claim; /* by worker id; NULL if the lanes are plain ones */
	struct area claim_area;	  /* claim[] and the lists of what was taken */

	/* What is lent in this burst and not yet published. */
	uint32_t n_posts;
	struct lane_post posts[WEIR_BURST_MAX];

	struct hold hold;
	struct hold_wait hold_wait;
	struct hold_news hold_news;
	uint64_t n_hold_passes;
	struct area state_area; /* the strategy's own */
	struct area pin_area;	/* pins[], last_ns[] */
	struct plan plan;
	struct weir_verdict verdicts[WEIR_BURST_MAX];
	struct drop_list drops;

	struct dispatcher_tally tally;
};

/* mirror.c */

/* Adopts the pool's current snapshot if it is a new one (edge E1). Once per burst. */
void mirror_sync(struct weir_dispatcher *dispatcher);

/* evict.c */

/* Lays the claim lanes out, if the pool has such. Returns 0 or a negative number: no memory. */
int claims_init(struct weir_dispatcher *dispatcher);

/* harvest.c */

/* Reads the progress of every worker that matters, once each; brings home what is completed. */
uint32_t harvest_pass(struct weir_dispatcher *dispatcher);

/* Reads one worker's progress and brings home what it has completed. Returns packets finished. */
uint32_t harvest_worker(struct weir_dispatcher *dispatcher, weir_worker_id id);

/* Lines of one worker that hold words this dispatcher needs: progress, and a claim lane's head. */
static inline uint32_t
progress_lines(const struct weir_dispatcher *dispatcher)
{
	return 1 + (dispatcher->n_dispatchers > PROGRESS_WORDS_PER_LINE) +
	       (dispatcher->claim != NULL);
}

/* Lines that reading one worker in mid-burst costs: those, and of each other's tail array one. */
static inline uint32_t
lines_per_reading(const struct weir_dispatcher *dispatcher)
{
	return progress_lines(dispatcher) + dispatcher->n_dispatchers - 1;
}

/* Packets lent and not come home, as the last harvest of the lane left it. */
static inline uint32_t
lane_outstanding(const struct lane_producer *lane)
{
	return lane->tail - lane->completed;
}

/* What counts as depth of `outstanding` packets, `in_process` of which are being worked on. */
static inline uint32_t
outstanding_to_depth(
	const struct weir_dispatcher *dispatcher, uint32_t outstanding, uint32_t in_process)
{
	if (dispatcher->counts_in_process)
		return outstanding;
	return outstanding > in_process ? outstanding - in_process : 0;
}

/* Depth of a worker as this dispatcher knows it. */
static inline uint32_t
lane_depth(const struct weir_dispatcher *dispatcher, const struct lane_producer *lane)
{
	return outstanding_to_depth(dispatcher, lane_outstanding(lane), lane->in_process) +
	       lane->others;
}

/* Recomputes one worker's mirror entry from its lane. Workers that are not routable have none. */
static inline void
mirror_restore(struct weir_dispatcher *dispatcher, weir_worker_id id)
{
	const struct lane_producer *lane = &dispatcher->lane[id];
	const uint16_t position = dispatcher->snapshot->position[id];

	if (position == WEIR_WORKER_NONE)
		return;
	dispatcher->depth[position] = lane_depth(dispatcher, lane);
	dispatcher->room[position] = lane_room(lane);
}

#endif
