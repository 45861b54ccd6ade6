/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The dispatcher: decides for bursts of packets and lends them to workers, and brings them home.
 * It owns every packet from weir_dispatch to the call of `finish`.
 */
#ifndef WEIR_DECIDE_H
#define WEIR_DECIDE_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/packet.h>
#include <weir/pool.h>
#include <weir/stats.h>

/** One dispatcher of a pool: an rx core's private half. Opaque. */
struct weir_dispatcher;

/**
 * Called with packets that have ended: harvested from a worker, or dropped or diverted (a verdict
 * to transmit, and no worker) by the dispatcher. They are the caller's again, to transmit or free
 * as the verdict says. Runs inside weir_dispatch, weir_hold, weir_harvest, weir_reclaim and
 * weir_hold_drop, on their thread; must call none of them. Verdicts are copies. `worker` is the one
 * that they came back from, WEIR_WORKER_NONE if they were never lent, or were taken back out of its
 * lane (evicted, or it is gone); the verdict of such a drop has `intended`.
 */
typedef void (*weir_finish_fn)(void *context, void *const *packets,
	const struct weir_verdict *verdicts, uint32_t n, weir_worker_id worker);

/**
 * Makes up to `n` copies of a packet for further workers: copies[i] is what `finish` gets, data[i]
 * what the worker sees. Each is lent and ends by itself; the original is lent as well, to the first
 * worker that gets one. Runs inside weir_dispatch and weir_harvest, on their thread.
 *
 * A copy that is not made ends in the books alone: it is counted in `copies` and as dropped, and
 * `finish` never sees it. Those that the function does not make are `no_mbuf`. It is not asked for
 * those that would find a full lane under a policy that drops.
 * @return copies made, at most `n`
 */
typedef uint32_t (*weir_copy_fn)(
	void *context, void *packet, uint32_t n, void **copies, void **data);

/** A burst to dispatch: parallel arrays, all owned by the caller. */
struct weir_burst {
	void *const *packets;	      /**< handles: what `finish` gets back */
	void *const *data;	      /**< what the worker sees; NULL = the handles themselves */
	const struct weir_meta *meta; /**< classified metadata */
	uint32_t n;		      /**< 0 .. config.burst (asserted) */
	weir_worker_id *workers;      /**< out, or NULL: worker that each packet was charged to, or
					 WEIR_WORKER_NONE; of several the one that got itself */
};

/**
 * Creates the private half of dispatcher `id`. Allocates; caller: the control thread, before the
 * dispatcher's own thread starts.
 * @param finish must not be NULL
 * @return NULL with errno EINVAL (no such id, no `finish`), EEXIST (created before) or ENOMEM
 */
WEIR_API struct weir_dispatcher *weir_dispatcher_create(
	struct weir_pool *pool, uint32_t id, weir_finish_fn finish, void *context);

/**
 * Frees a dispatcher; its id cannot be used again, for its lanes have a history. Nothing may be
 * lent or held any more (asserted). NULL is allowed. Caller: the control thread.
 */
WEIR_API void weir_dispatcher_destroy(struct weir_dispatcher *dispatcher);

/**
 * Names the function that copies packets that go to several workers; without one every copy but
 * the first ends as `no_mbuf`, and WEIR_META_TO_ALL has no effect. `context` is that of `finish`.
 * Caller: the control thread, before the dispatcher's own thread starts.
 */
WEIR_API void weir_copy_set(struct weir_dispatcher *dispatcher, weir_copy_fn copy);

/**
 * Tells the time, for deadlines, policers, readings of depth and the periods of strategies' state:
 * nanoseconds of a monotonic clock, not 0; a time that is not later than the last one is ignored.
 * Once per loop, before weir_dispatch or weir_harvest. A dispatcher that was never told lets
 * nothing expire, its policers refill nothing, and its strategies forget nothing. Caller: the
 * dispatcher's own thread.
 */
WEIR_API void weir_time_set(struct weir_dispatcher *dispatcher, uint64_t now_ns);

/**
 * Harvests, retries the hold, then decides and lends a burst, in order.
 *
 * Packets that the policy drops or evicts come back through `finish` before this returns. Under a
 * policy that refuses (`reject`), the first refusal ends the dispatch: the packets from there on
 * stay with the caller, the message index does not count them, and nothing is dispatched while
 * packets of such a policy are held for want of room. A packet for several workers is never
 * refused: its copies that find no room are held for their workers, each counted in `rejected`.
 *
 * @return packets taken over: lent, dropped or held; less than burst->n only if some were refused
 * Caller: the dispatcher's own thread. No allocation, lock or system call.
 */
WEIR_API uint32_t weir_dispatch(struct weir_dispatcher *dispatcher, const struct weir_burst *burst);

/** A burst in two parts, each in the order of the whole. About 12 KiB: keep it, do not stack it. */
struct weir_split {
	struct weir_burst chosen; /**< packets of the classes that were asked for */
	struct weir_burst rest;	  /**< the others */
	void *packets[WEIR_BURST_MAX];
	void *data[WEIR_BURST_MAX];
	struct weir_meta meta[WEIR_BURST_MAX];
};

/**
 * Parts a burst by class, so that urgent packets can be given to an urgent dispatcher. Both parts
 * name arrays of `split`, or of `burst` where one of them has all: they last as long as both.
 * `workers` is NULL in both.
 *
 * @param classes a bit for each class id of the chosen ones; those from 64 on are never chosen
 * @param split	  out; what it was before does not matter
 * Any thread. No allocation, lock or system call.
 */
WEIR_API void weir_burst_split(
	const struct weir_burst *burst, uint64_t classes, struct weir_split *split);

/**
 * Takes over packets that weir_dispatch refused, in order, into the hold; they are dispatched
 * before anything newer. What does not fit ends as `held_overflow` through `finish`; so does, as
 * `rate_limited`, what its class's policer does not let pass.
 * Caller: the dispatcher's own thread.
 */
WEIR_API void weir_hold(struct weir_dispatcher *dispatcher, const struct weir_burst *burst);

/**
 * Whether weir_dispatch takes packets now: not while it holds some that find no room, or no budget,
 * and whose policy refuses. What waits for a worker that takes nothing, or for one that is to come,
 * and what was lent to one that is gone, is no hindrance. An rx core polls only then. Caller: the
 * dispatcher's own thread.
 */
WEIR_API bool weir_accepts(const struct weir_dispatcher *dispatcher);

/** Packets in the hold. Caller: the dispatcher's own thread. */
WEIR_API uint32_t weir_held(const struct weir_dispatcher *dispatcher);

/**
 * Brings completed packets home through `finish` and retries the hold. weir_dispatch does it
 * first; an idle dispatcher calls this as often as packets may wait.
 * @return packets finished. Caller: the dispatcher's own thread.
 */
WEIR_API uint32_t weir_harvest(struct weir_dispatcher *dispatcher);

/** Packets lent and not yet harvested, over all lanes. Any thread; exact on the dispatcher's own.
 */
WEIR_API uint32_t weir_in_lanes(const struct weir_dispatcher *dispatcher);

/** What weir_reclaim may do with the packets that a worker was working on. */
enum weir_reclaim_mode {
	/** The worker is gone for certain: every packet comes back through `finish`. */
	WEIR_RECLAIM_GONE,
	/** It may still be working: packets are written off in the books and never come back. */
	WEIR_RECLAIM_WRITE_OFF,
};

/**
 * For the end of a run: ends everything that is lent to one worker: what it has completed is
 * harvested, the rest is dropped for `reason`, what of it is being reclaimed already
 * (weir_pool_worker_gone) excepted: that is held. The lane takes no packets afterwards, and the
 * worker cannot be added to the pool again. Take it out of the routable workers first: picks would
 * find its empty lane otherwise.
 * @param worker below n_workers (asserted)
 * @param reason below WEIR_REASON_COUNT (asserted)
 * @return packets dropped
 * Caller: the dispatcher's own thread; WEIR_RECLAIM_GONE only once the worker's thread is joined.
 */
WEIR_API uint32_t weir_reclaim(struct weir_dispatcher *dispatcher, weir_worker_id worker,
	enum weir_reason reason, enum weir_reclaim_mode mode);

/**
 * Ends everything in the hold: dropped for `reason`, through `finish`.
 * @return packets dropped. Caller: the dispatcher's own thread.
 */
WEIR_API uint32_t weir_hold_drop(struct weir_dispatcher *dispatcher, enum weir_reason reason);

/**
 * Where the message index stands: packets that the pool's own strategy was asked for; classes with
 * one of their own have their own. Settable for tests and replays. Caller: the dispatcher's own
 * thread.
 */
WEIR_API uint64_t weir_message_index(const struct weir_dispatcher *dispatcher);
WEIR_API void weir_message_index_set(struct weir_dispatcher *dispatcher, uint64_t index);

/**
 * Adopts the pool's newest snapshot now, or, with `like`, the one that this other dispatcher of the
 * same thread goes by. From the first call on the dispatcher adopts none by itself, so that what
 * its caller does between two calls (classify by rules, say) and what it does go together: call it
 * once per loop, before packets are classified.
 * @param like NULL: the newest
 * @return the tag of the configuration or change that is in force (weir_config.tag)
 * Caller: the dispatcher's own thread. No allocation, lock or system call.
 */
WEIR_API void *weir_refresh(struct weir_dispatcher *dispatcher, const struct weir_dispatcher *like);

/** Copies the dispatcher's counters. Any thread; single counters are never torn. */
WEIR_API void weir_dispatcher_counters(
	const struct weir_dispatcher *dispatcher, struct weir_dispatcher_counters *counters);

/**
 * Copies what the dispatcher counted of worker `id`.
 * @return 0, or -EINVAL if `id` is not below n_workers. Any thread.
 */
WEIR_API int weir_dispatcher_worker_counters(const struct weir_dispatcher *dispatcher,
	weir_worker_id id, struct weir_worker_counters *counters);

/**
 * Adds a dispatcher's terms to a ledger (start from a zeroed one). `completed` gets what came back
 * to be transmitted or consumed: a caller that transmits moves what the port refused from there to
 * its own reason. Exact when the dispatcher is at rest. Any thread.
 */
WEIR_API void weir_ledger_add(struct weir_ledger *ledger, const struct weir_dispatcher *dispatcher);

#endif
