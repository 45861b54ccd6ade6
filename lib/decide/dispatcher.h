/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The dispatcher's private half: one thread's, but for the counters, which anyone may read.
 *
 *   dispatcher.c  creation, counters           dispatch.c   the burst pipeline
 *   mirror.c      snapshot → mirror            plan.c       where each packet goes
 *   harvest.c     progress → mirror,           lend.c       into lanes, or overflow
 *                 packets come home            hold_pass.c  what waits, in its order
 *   class.c       what classes say of packets  route.c      several strategies
 *   fan_out.c     a packet for all workers     admission.c  packets of a class at a worker
 *   budget.c      who may take more            retry.c      who else has room
 *   evict.c       a full lane's oldest goes    time.c       deadlines, periods
 *   reclaim.c     a worker is gone             why.c        explains, changes nothing
 */
#ifndef WEIR_DECIDE_DISPATCHER_H
#define WEIR_DECIDE_DISPATCHER_H

#include <weir/alarm.h>
#include <weir/decide.h>
#include <weir/strategy.h>

#include "area.h"
#include "bitset.h"
#include "counter.h"
#include "fastmod.h"
#include "hold.h"
#include "pin.h"
#include "pool.h"
#include "state_period.h"
#include "token_bucket.h"

/* What is counted of one worker; the dispatcher writes it once per harvest of that worker. */
struct worker_tally {
	CACHE_ALIGNED struct counter lent;
	struct counter harvested;
	struct counter reclaimed; /* ended without coming back from the worker */
	struct counter depth;
	struct counter max_depth;
	uint32_t rearm_below; /* own: a depth below this one arms the alarm anew; 0 = it is */
	struct counter dropped[WEIR_REASON_COUNT];
	struct counter depth_alarms;
	struct counter depth_alarm_level;
	struct weir_alarm depth_alarm; /* own */
};

/* What is counted of the dispatcher; written at most a few times per burst. */
struct dispatcher_tally {
	CACHE_ALIGNED struct counter received;
	struct counter copies;
	struct counter rejected;
	struct counter routed;
	struct counter lent;
	struct counter ended; /* lent ones that came back or were written off */
	struct counter returned_tx;
	struct counter consumed;
	struct counter held;
	struct counter moves;
	struct counter retries;
	struct counter depth_visits;
	struct counter line_reads;
	struct counter bursts;
	struct counter dropped[WEIR_REASON_COUNT];
};

/* Packets that end while a burst is dispatched, without having been lent: together, after it. */
struct drop_list {
	uint32_t n;
	void *packets[WEIR_BURST_MAX];
	struct weir_verdict verdicts[WEIR_BURST_MAX];
};

/* A packet that must wait: no worker's id, and no place in plan.position. */
#define PLAN_HOLD ((uint16_t)0x7fff)

/* Targets from here on are no workers: what else becomes of a packet. */
#define PLAN_SPECIAL WEIR_WORKERS_MAX
#define PLAN_KIND 0xff00	       /* the bits that tell them apart */
#define PLAN_DROP ((uint16_t)0x4000)   /* and the reason: it is dropped */
#define PLAN_DIVERT ((uint16_t)0x4100) /* it goes past all workers */
#define PLAN_ALL ((uint16_t)0x4200)    /* to all workers: it says so itself */
#define PLAN_SPREAD ((uint16_t)0x4300) /* to all workers: its route's strategy says so */

/* Where each packet of the burst at hand goes. */
struct plan {
	uint16_t target[WEIR_BURST_MAX]; /* by packet: a worker's id, or a PLAN_ value */
	uint8_t asked[WEIR_BURST_MAX]; /* by packet: 1 if the strategy was asked for it (order flow)
					*/
	bool wants_room[WEIR_BURST_MAX]; /* by packet that is held: it waits for room */
	uint32_t n_asked;		 /* packets that the index counts */
	uint32_t n_picked;		 /* packets of the strategy's last call */
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
	struct bitset pinned;  /* workers that the pins of held buckets name */
	struct bitset targets; /* workers that entries are for */
	bool refused;	       /* one found no room, and those behind it were not looked at */
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

/* Held packets that wait for budget: whoever comes new stands behind them. */
struct budget_lines {
	bool any;	      /* for that of any worker */
	struct bitset owners; /* for that of these, which own them */
};

/* Packets of each class at each worker. Of use only while counts_classes. */
struct class_books {
	uint32_t *depth;     /* packets of a class lent to a worker, by weir_class_slot() */
	uint8_t *slot_class; /* by worker and lane slot: class of the packet there */
	size_t slots_bytes;  /* of slot_class */
	weir_claim *claims;  /* the pool's; NULL where none are taken */
	uint32_t n_picked;
	uint32_t picked[WEIR_BURST_MAX]; /* slots that strategies picked for the plan at hand */
	struct area area;
};

/*
 * What a plan in which packets may differ keeps besides. An asker is a packet that a strategy is
 * asked for; they are numbered in order of arrival.
 */
struct class_plan {
	uint32_t first; /* packet */
	uint32_t end;	/* packet behind the last: the rest is planned once these are carried out */
	uint32_t n_askers;
	uint64_t routes;		   /* routes whose strategies have packets in it */
	uint16_t packet[WEIR_BURST_MAX];   /* by asker */
	uint8_t route[WEIR_BURST_MAX];	   /* by asker */
	bool fell_back[WEIR_BURST_MAX];	   /* by asker: the fallback was asked, too */
	bool uncounted[WEIR_BURST_MAX];	   /* by asker: no index counts it, for it did not go
					      where the answer says */
	uint16_t gathered[WEIR_BURST_MAX]; /* the askers of one call, in order */
	struct weir_pick_context pick;	   /* of the strategy at hand, unless that is route 0's */
};

/*
 * A strategy of a route, or its fallback, as this dispatcher asks it. What belongs to the strategy
 * of route 0 lies in the dispatcher's `pick`, where pools of one route find it at once.
 */
struct route_part {
	const struct weir_strategy *strategy; /* NULL: the route has no fallback */
	void *state;
	uint64_t seed;
	uint64_t index;
	uint32_t rotation;
	uint32_t n_picked; /* in the plan at hand: packets of its last call */
	uint32_t n_asked;  /* of these, those that its index counts */
};

/* Parts of a route: its strategy is part 2 * route, its fallback the one behind. */
#define ROUTE_PARTS 2

/* In fan_out.reason: the worker gets one. */
#define COPY_WANTED ((uint8_t)WEIR_REASON_COUNT)

/* Copies of packets on their way to the workers. */
struct fan_out {
	void *packets[WEIR_WORKERS_MAX];
	void *data[WEIR_WORKERS_MAX];
	uint8_t reason[WEIR_WORKERS_MAX];	   /* by position: why its worker gets none */
	bool is_short;				   /* one could not be made, in the plan at hand */
	struct weir_meta metadata[WEIR_BURST_MAX]; /* by post: the copies' own */
};

/*
 * Lanes of workers that are gone are reclaimed one after another. Of the packets that were out when
 * that of `worker` was begun, numbered from the oldest on, those from `first` up to `end` are still
 * in it.
 */
struct reclaim {
	struct bitset pending; /* workers that are gone, the one at hand included */
	weir_worker_id worker; /* WEIR_WORKER_NONE: none is at hand */
	uint32_t first;
	uint32_t end;
	uint32_t n_in_process; /* the oldest so many were */
};

/* Most packets that are taken out of such lanes in one weir_harvest. */
#define RECLAIM_PKTS 256

struct weir_dispatcher {
	/* Fixed at creation, but for what follows from the policy. */
	struct weir_pool *pool;
	const struct pool_policy *policy; /* the snapshot's */
	weir_finish_fn finish;
	void *finish_context;
	weir_copy_fn copy; /* NULL: packets are not copied */
	uint32_t id;
	uint32_t n_workers;
	uint32_t n_dispatchers;
	uint32_t burst;
	uint32_t chunk;
	bool may_differ;	/* a burst may be more than plan.c knows of */
	bool is_classed;	/* and all are: packets differ in more than their overflow policy */
	bool counts_picks;	/* a strategy reads depth: picks of the others count, too */
	bool mixes_owners;	/* order flow: owners of flows are not the only strategy */
	bool counts_in_process; /* depth mode outstanding */
	bool owns_flows;	/* strategy: a flow has one owner */
	bool reads_metadata;	/* strategy: looks at the packets' metadata */
	bool counts_classes;	/* an admission or a strategy goes by packets of a class */
	bool has_budget;
	uint32_t budget;	  /* packets that may be outstanding at a worker; UINT32_MAX: any */
	uint64_t hold_timeout_ns; /* what is held may wait that long; 0 = for ever */
	uintptr_t data_base;	  /* what offsets in slots begin at; 0: they are addresses */
	uint64_t sticky_ns;	  /* a bucket stays until it was silent that long; 0 = off */
	struct pin *pins;	  /* order flow: by bucket; NULL with order none */
	uint64_t *last_ns;	  /* with sticky_ns: by bucket, arrival of its last packet */
	uint8_t *met;	     /* with mixes_owners: by bucket, whose packets of it the plan has */
	uint8_t *met_memory; /* order flow: what that is, if it is */
	bool is_refreshed;   /* its caller says when to adopt a snapshot */
	uint64_t n_moves;    /* buckets that went to another worker than before */
	_Atomic uint32_t *tails; /* own tail array; NULL with one dispatcher */
	struct progress *progress[WEIR_WORKERS_MAX];

	/* The snapshot in use and what follows from it. */
	const struct weir_snapshot *snapshot;
	struct fastmod rotation_by; /* routable workers; members when all are stopped */

	/* The mirror, by position, and what the strategy sees of it. */
	struct weir_pick_context pick;
	CACHE_ALIGNED uint32_t depth[WEIR_WORKERS_MAX];
	CACHE_ALIGNED uint32_t room[WEIR_WORKERS_MAX];
	CACHE_ALIGNED uint32_t left[WEIR_WORKERS_MAX]; /* of a budget, in the plan at hand */

	/* By worker id. */
	struct bitset outstanding; /* lanes with packets lent and not harvested */
	struct bitset reread;	   /* lanes whose progress was read again in this burst */
	struct bitset unsettled;   /* mirror entries that a change of plan has made inexact */
	struct lane_producer *lane;
	struct worker_tally *worker_tally;
	struct area lane_area;	  /* lane[], worker_tally[] and the handles of all lanes */
	struct claim_lane *claim; /* by worker id; NULL if the lanes are plain ones */
	struct area claim_area;	  /* claim[] and the lists of what was taken */

	/* What is lent in this burst and not yet published. */
	uint32_t n_posts;
	struct lane_post posts[WEIR_BURST_MAX];

	struct reclaim reclaim;
	uint64_t order_seen[WEIR_WORKERS_MAX]; /* the pool's last one for each lane */
	struct hold hold;
	struct hold front; /* before all of `hold`: what was lent to workers that are gone */
	struct hold_wait hold_wait;
	struct hold_news hold_news;
	uint64_t n_hold_passes;
	uint32_t n_held_refusing; /* packets in the hold that want room and whose policy refuses */
	struct budget_lines lines;
	uint64_t now_ns; /* as weir_time_set said last; 0 = it never did */
	struct state_period state_period;
	struct class_books class_books;
	struct area pin_area; /* pins[], last_ns[], met_memory[] */
	struct plan plan;
	struct class_plan class_plan;
	struct route_part part[ROUTE_PARTS * WEIR_ROUTES_MAX];
	struct token_bucket bucket[WEIR_CLASSES_MAX];
	struct fan_out fan_out;
	struct weir_verdict verdicts[WEIR_BURST_MAX];
	struct drop_list drops;

	struct dispatcher_tally tally;
};

/* mirror.c */

/* Adopts the pool's current snapshot if it is a new one (edge E1). Once per burst. */
void mirror_sync(struct weir_dispatcher *dispatcher);

/* reclaim.c */

/* Takes note of what is new in the snapshot's orders for lanes. */
void orders_adopt(struct weir_dispatcher *dispatcher, const struct weir_snapshot *snapshot);

/*
 * Takes packets out of lanes of workers that are gone, at most RECLAIM_PKTS: they end, or stand in
 * the front of the hold. After the harvest pass.
 */
void reclaim_step(struct weir_dispatcher *dispatcher);

/* evict.c */

/* Lays the claim lanes out, if the pool has such. Returns 0 or -ENOMEM. */
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

/* What a worker may be given: free slots of its lane, and not more than its budget has left. */
static inline uint32_t
lane_allowance(const struct weir_dispatcher *dispatcher, const struct lane_producer *lane)
{
	const uint32_t occupied = lane_occupied(lane);
	const uint32_t left = occupied < dispatcher->budget ? dispatcher->budget - occupied : 0;
	const uint32_t room = lane_room(lane);

	return room < left ? room : left;
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
	if (likely(!dispatcher->has_budget))
		return;
	dispatcher->room[position] = lane_allowance(dispatcher, lane);
	dispatcher->left[position] = dispatcher->room[position];
}

#endif
