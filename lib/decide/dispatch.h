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

/* dispatch.c */

/* Routes a burst; returns how many packets were taken over: lent, dropped or held. */
uint32_t burst_route(struct weir_dispatcher *dispatcher, struct dispatch_state *state);

/* The index follows the packets that the strategy was asked for, one by one whatever the chunk. */
void index_advance(struct weir_dispatcher *dispatcher, uint32_t n);

/* plan.c */

/* Plans for the packets from state->next on. There is at least one routable worker. */
void plan_make(struct weir_dispatcher *dispatcher, const struct dispatch_state *state);

/*
 * Takes back what was planned for the packets from state->next on and not done: from the mirror,
 * from the pins, and from the message index.
 */
void plan_withdraw(struct weir_dispatcher *dispatcher, const struct dispatch_state *state);

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

/* Carries the plan out until it is done or broken. */
enum run_end plan_carry_out(struct weir_dispatcher *dispatcher, struct dispatch_state *state);

/* Publishes what was lent: to the workers (edge E3) and to other dispatchers (edge E7). */
void lend_publish(struct weir_dispatcher *dispatcher, const struct bitset *touched);

/* Notes a packet that ends as dropped once the burst is through; worker: whom it is charged to. */
void drop_add(
	struct weir_dispatcher *dispatcher, void *packet, weir_worker_id worker, uint8_t reason);

/* Ends the packets that were noted. */
void drops_finish(struct weir_dispatcher *dispatcher);

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

/* Puts one packet into the hold. Returns false if that is full. */
bool hold_add(struct weir_dispatcher *dispatcher, const struct weir_burst *burst, uint32_t i);

/* Whether a pass over the hold, which is not empty, could find a packet that may go. */
bool hold_is_due(const struct weir_dispatcher *dispatcher);

/* Dispatches what is held and may go, oldest first; what may not keeps its place in line. */
void hold_pass(struct weir_dispatcher *dispatcher);

#endif
