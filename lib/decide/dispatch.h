/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between the steps of the burst pipeline: plan.c decides for every packet of a burst where it
 * goes, lend.c brings it there, or into overflow; hold_pass.c runs both over what was held.
 */
#ifndef WEIR_DECIDE_DISPATCH_H
#define WEIR_DECIDE_DISPATCH_H

#include "dispatcher.h"

/* A burst on its way through the pipeline. */
struct dispatch_state {
	const struct weir_burst *burst;
	void *const *data; /* the burst's, or its packets */
	bool from_hold;	   /* its packets are the hold's oldest */
	uint32_t next;	   /* first packet not yet taken over */
	struct bitset touched;
};

/* What is done with a packet. Classes that nobody configured are as class 0. */
static inline const struct pool_class *
class_of(const struct weir_dispatcher *dispatcher, const struct weir_meta *meta)
{
	return &dispatcher->policy->class_of[weir_class_id(meta)];
}

/* Whether nobody may be routable for a while only: what finds no worker waits. */
static inline bool
workers_are_awaited(const struct weir_dispatcher *dispatcher)
{
	return pool_snapshot_of(dispatcher->snapshot)->is_awaited;
}

/* time.c */

/* The deadline of a packet that is put into the hold now; 0 = it has none. */
static inline uint64_t
hold_deadline(const struct weir_dispatcher *dispatcher)
{
	if (dispatcher->hold_timeout_ns == 0 || dispatcher->now_ns == 0)
		return 0;
	return dispatcher->now_ns + dispatcher->hold_timeout_ns;
}

/* Whether it is too late for the entry at this array index. */
static inline bool
entry_is_late(const struct weir_dispatcher *dispatcher, const struct hold *hold, uint32_t index)
{
	const uint64_t deadline_ns = hold->deadline_ns[index];

	return deadline_ns > 0 && dispatcher->now_ns >= deadline_ns;
}

/* Lets strategies' per-class state begin afresh when its time is over. Between bursts. */
void periods_check(struct weir_dispatcher *dispatcher);

/* budget.c */

/*
 * Makes a plan keep to the budget. A pick of a worker that has none left goes to the next one that
 * has, or into the hold; the packet of an owner that has none waits. What follows a pin goes on.
 * Only with a budget.
 */
void budget_apply(struct weir_dispatcher *dispatcher, const struct dispatch_state *state);

/* retry.c */

/* How the search for another worker ended. */
enum retry_end {
	RETRY_NONE,	 /* the packet may not go elsewhere, or there is nobody else */
	RETRY_FOUND,	 /* the plan is changed: there is room */
	RETRY_EXHAUSTED, /* nobody that was tried has room */
};

/*
 * Looks for room for the packet at hand, whose lane is full, at as many other workers as its class
 * allows. Those of its bucket behind it in the burst follow it.
 */
enum retry_end packet_retry(struct weir_dispatcher *dispatcher, const struct dispatch_state *state);

/* dispatch.c */

/* Routes a burst; returns how many packets were taken over: lent, dropped or held. */
uint32_t burst_route(struct weir_dispatcher *dispatcher, struct dispatch_state *state);

/*
 * Makes the mirror exact again where what was lent differs from what was planned. Between plans and
 * at the end of a burst.
 */
void mirror_settle(struct weir_dispatcher *dispatcher, const struct dispatch_state *state);

/* The index follows the packets that the strategy was asked for, one by one whatever the chunk. */
void index_advance(struct weir_dispatcher *dispatcher, uint32_t n);

/* plan.c */

/* Plans for the packets from state->next on. There is at least one routable worker. */
void plan_make(struct weir_dispatcher *dispatcher, const struct dispatch_state *state);

/* Takes the marks of a pick that is not carried out off the pin of its bucket. */
static inline void
pick_forget(const struct weir_dispatcher *dispatcher, struct pin *pin)
{
	if (pin->flags & PIN_PICKED)
		pin->stamp = dispatcher->lane[pin->worker].harvested;
	pin->flags &= (uint8_t) ~(PIN_PICKED | PIN_STUCK);
}

/*
 * Takes back what was planned for the packets from state->next on and not done: from the mirror,
 * from the pins, and from the message index.
 */
void plan_withdraw(struct weir_dispatcher *dispatcher, const struct dispatch_state *state);

/*
 * Where a packet goes whose pin is not plain (its bucket has packets in the hold or before this one
 * in the burst, its worker is not routable, or it may stick): a number below `n_picks` of the pick
 * that it takes part in, `n_picks` if a strategy is to be asked for it, PLAN_HOLD, or `follows` if
 * it goes to its pin's worker.
 */
uint16_t packet_source(struct weir_dispatcher *dispatcher, const struct weir_meta *meta,
	bool from_hold, uint32_t n_picks, uint32_t follows);

/* Where a packet goes whose owner is `owner`: not to it while its bucket has ties elsewhere. */
uint16_t packet_source_owned(struct weir_dispatcher *dispatcher, const struct weir_meta *meta,
	bool from_hold, weir_worker_id owner);

/* Pins keep no marks of the burst's packets from `first` up to `end` that were not lent. */
void pins_clean(struct weir_dispatcher *dispatcher, const struct weir_burst *burst, uint32_t first,
	uint32_t end);

/* Counts a packet in the mirror that is lent to `position` whatever is picked. */
static inline void
follower_count(struct weir_dispatcher *dispatcher, uint32_t position)
{
	const uint32_t one = dispatcher->room[position] > 0;

	dispatcher->depth[position] += one;
	dispatcher->room[position] -= one;
}

/* Picks that a strategy is asked for on behalf of `n` packets. */
static inline uint32_t
picks_needed(const struct weir_dispatcher *dispatcher, uint32_t n)
{
	uint32_t n_picks = 0;

	if (dispatcher->chunk == 1)
		return n;
	for (uint32_t covered = 0; covered < n; covered += dispatcher->chunk)
		n_picks++;
	return n_picks;
}

/* Whether the packet says itself that all workers get it. Who copies nothing does not look. */
static inline bool
packet_is_for_all(const struct weir_dispatcher *dispatcher, const struct weir_meta *meta)
{
	return dispatcher->copy && (meta->flags & WEIR_META_TO_ALL);
}

/* The strategy of a route. */
static inline const struct weir_strategy *
route_strategy(const struct weir_dispatcher *dispatcher, uint32_t route)
{
	return dispatcher->part[ROUTE_PARTS * route].strategy;
}

/* The strategy that is asked for such a packet. */
static inline const struct weir_strategy *
packet_strategy(const struct weir_dispatcher *dispatcher, const struct weir_meta *meta)
{
	return route_strategy(dispatcher, class_of(dispatcher, meta)->route);
}

/* Whether the packet is of a strategy that owns flows. */
static inline bool
packet_is_owned(const struct weir_dispatcher *dispatcher, const struct weir_meta *meta)
{
	return (packet_strategy(dispatcher, meta)->flags & WEIR_STRATEGY_OWNS_FLOWS) != 0;
}

/* class.c: bursts whose packets differ in what is done with them, or in who is asked */

/* Whether there is more to a burst than one strategy and its worker for each packet. */
bool burst_differs(const struct weir_dispatcher *dispatcher, const struct dispatch_state *state);

/* Routes such a burst, up to its end or the first packet that is refused. */
void class_route(struct weir_dispatcher *dispatcher, struct dispatch_state *state);

/*
 * No worker is routable: what is left of the burst ends, or waits if one is awaited. Losses of a
 * strategy that names no reason of its own rotate over the members.
 */
void class_lose(struct weir_dispatcher *dispatcher, struct dispatch_state *state);

/* Settles the packet at hand, whose target is a special one other than PLAN_HOLD. */
void special_settle(struct weir_dispatcher *dispatcher, struct dispatch_state *state);

/* Whether the policer of the packet's class, if there is one, lets it pass. */
bool packet_police(struct weir_dispatcher *dispatcher, const struct weir_meta *meta);

/* route.c: who is asked */

/* Goes by another policy from here on: between bursts. */
void policy_adopt(struct weir_dispatcher *dispatcher, const struct pool_policy *policy);

/* The pool has changed: `rotation_by` is new. */
void routes_adopt(struct weir_dispatcher *dispatcher);

/* Asks the strategy of each route in the plan, and its fallback for what it found nobody for. */
void routes_ask(struct weir_dispatcher *dispatcher, const struct dispatch_state *state);

/* The packet that asked as number `k` does not go where the answer says: no index counts it. */
void asker_uncount(struct weir_dispatcher *dispatcher, uint32_t k);

/* Takes back the picks for packets from `next` on, and those that wait for budget. */
void routes_withdraw(struct weir_dispatcher *dispatcher, uint32_t next);

/* The plan is carried out or withdrawn: the indices follow. */
void routes_advance(struct weir_dispatcher *dispatcher);

/* A part's index follows `n` packets. */
void part_advance(struct weir_dispatcher *dispatcher, uint32_t part, uint32_t n);

/* Its rotation: index mod the routable workers; the members when none is routable. */
static inline uint32_t
part_rotation(const struct weir_dispatcher *dispatcher, uint32_t part)
{
	return part == 0 ? dispatcher->pick.rotation : dispatcher->part[part].rotation;
}

/* fan_out.c */

/* Whether the copies of a packet are numbered: its class's strategy says so. */
bool packet_is_sharded(const struct weir_dispatcher *dispatcher, const struct weir_meta *meta);

/* Brings the packet at hand to every routable worker. */
void packet_fan_out(struct weir_dispatcher *dispatcher, struct dispatch_state *state);

/* The tests that plan.c goes by and why.c explains. */

/* Whether packets of the pin's bucket are lent and not harvested. */
static inline bool
pin_is_out(const struct weir_dispatcher *dispatcher, const struct pin *pin)
{
	const struct lane_producer *lane = &dispatcher->lane[pin->worker];

	return pin_stamp_is_out(pin->stamp, lane->harvested, lane->tail);
}

/* Whether a packet must wait behind held ones of its bucket. */
static inline bool
pin_waits(const struct pin *pin, bool from_hold)
{
	return from_hold ? (pin->flags & PIN_STAYED) != 0 : pin->held > 0;
}

/*
 * Whether a bucket with nothing out was not silent long enough to leave its worker. Signed: the
 * stamps of captures and of several ports step back now and then.
 */
static inline bool
pin_lingers(const struct weir_dispatcher *dispatcher, const struct pin *pin,
	const struct weir_meta *meta)
{
	return dispatcher->sticky_ns > 0 && (pin->flags & PIN_KNOWN) &&
	       dispatcher->snapshot->position[pin->worker] != WEIR_WORKER_NONE &&
	       (int64_t)(meta->time_ns - dispatcher->last_ns[meta->bucket]) <
		       (int64_t)dispatcher->sticky_ns;
}

/* lend.c */

/* How a run over the plan ended. */
enum run_end {
	RUN_DONE,    /* every packet lent, dropped or held */
	RUN_BROKEN,  /* a drop ended its chunk: plan again for what is left */
	RUN_REFUSED, /* the packet at hand stays with the caller, and all behind it */
};

/*
 * The packet at hand must wait: for room, or for a worker. Held ones just keep their place. Where
 * the hold is full, one that waits for a worker ends whatever its policy: who has stopped stops no
 * port.
 */
enum run_end packet_hold(
	struct weir_dispatcher *dispatcher, struct dispatch_state *state, bool wants_room);

/* Carries the plan out until it is done or broken. */
enum run_end plan_carry_out(struct weir_dispatcher *dispatcher, struct dispatch_state *state);

/* Publishes what was lent: to the workers (edge E3) and to other dispatchers (edge E7). */
void lend_publish(struct weir_dispatcher *dispatcher, const struct bitset *touched);

/*
 * Edge E7, release side: other dispatchers learn this one's part of the backlog, once per touched
 * lane and burst. Without it each would take a worker that only another one loads for idle.
 */
static inline void
tail_publish(struct weir_dispatcher *dispatcher, uint32_t id)
{
	uint32_t tail = dispatcher->lane[id].tail;

	/* What was evicted is nobody's backlog, and is never completed. */
	if (dispatcher->claim)
		tail -= dispatcher->claim[id].evicted;
	atomic_store_explicit(&dispatcher->tails[id], tail, memory_order_release);
}

/* Notes a packet that ends with `verdict`, which is counted, once the burst is through. */
void end_add(struct weir_dispatcher *dispatcher, void *packet, struct weir_verdict verdict);

/* Counts a drop; worker: whom it is charged to. */
void drop_count(struct weir_dispatcher *dispatcher, weir_worker_id worker, uint8_t reason);

/* Counts and notes a packet that ends as dropped. */
void drop_add(
	struct weir_dispatcher *dispatcher, void *packet, weir_worker_id worker, uint8_t reason);

/* Makes room for `n` more packets to be staged: publishes what is, if need be. */
void posts_reserve(struct weir_dispatcher *dispatcher, struct dispatch_state *state, uint32_t n);

/* Ends the packets that were noted. */
void drops_finish(struct weir_dispatcher *dispatcher);

/*
 * Reads the progress of a lane that looks full, once per burst, before that is believed. Returns
 * whether there is room now.
 */
bool lane_make_room(struct weir_dispatcher *dispatcher, weir_worker_id id);

/* Stages packet `i` of the burst into a lane that has room; lend_publish is to follow. */
void packet_lend(struct weir_dispatcher *dispatcher, struct dispatch_state *state, uint32_t i,
	weir_worker_id id);

/* evict.c */

/* Notes how far the claim lanes are published. */
void claims_publish(struct weir_dispatcher *dispatcher, const struct bitset *touched);

/*
 * A claim lane that is full for certain: its oldest packet makes room, unless the worker is found
 * to have made some. Returns false if there is none: nothing is queued that could be evicted.
 */
bool lane_evict(
	struct weir_dispatcher *dispatcher, const struct dispatch_state *state, weir_worker_id id);

/* hold_pass.c */

/*
 * Puts one packet into the hold: to be planned again (target WEIR_WORKER_NONE), when it counts in
 * its bucket's `held`; or for one worker and no other, as copies are, when it does not. Whether it
 * waits for room tells weir_accepts. Returns false if the hold is full.
 */
bool hold_add(struct weir_dispatcher *dispatcher, const struct weir_burst *burst, uint32_t i,
	weir_worker_id target, bool wants_room);

/* Counts afresh which held packets refuse others: policies are others than before. */
void refusing_recount(struct weir_dispatcher *dispatcher);

/* Whether a pass over the hold, which is not empty, could find a packet that may go. */
bool hold_is_due(const struct weir_dispatcher *dispatcher);

/* Ends held packets whose deadline has come, at most WEIR_BURST_MAX of each of the two parts. */
void hold_expire(struct weir_dispatcher *dispatcher);

/* Packets after which a pass over the hold leaves the rest to the next loop. */
#define HOLD_PASS_PKTS 1024

/*
 * Dispatches what is held and may go, oldest first, HOLD_PASS_PKTS and up to a burst more at once;
 * what may not keeps its place in line. What is for a worker that is not routable any more ends as
 * `dead_worker`.
 */
void hold_pass(struct weir_dispatcher *dispatcher);

#endif
