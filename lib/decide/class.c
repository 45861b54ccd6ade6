/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bursts whose packets differ: their classes drop, divert or police them, ask different strategies,
 * or send them to all workers. Plans as plan.c does, packet by packet: class before pin, pin before
 * strategy. What is dropped or diverted by class touches no pin, index or mirror.
 *
 * With order flow a bucket's packets may be of several routes. Those that ask go where the first of
 * them goes. Where an owner of flows is among the routes that could be wrong: the plan ends before
 * a packet whose bucket it has by another route, and a new one begins once this one is carried out.
 */
#include "admission.h"

/* While it is planned, a target from here on stands for an asker: the number is added. */
#define TARGET_PICK 0x1000u
/* Is routed: no target yet. */
#define TARGET_ROUTED 0x2000u
/* What packet_source says of followers: no asker's number. */
#define SOURCE_FOLLOWS 0x3000u

/* In `met`: packets of the bucket have no owner. Owners are route + 1. */
#define MET_OPEN UINT8_MAX

bool
burst_differs(const struct weir_dispatcher *dispatcher, const struct dispatch_state *state)
{
	const struct weir_meta *meta = state->burst->meta;
	uint32_t flags = 0;

	if (dispatcher->is_classed)
		return true;
	for (uint32_t i = state->next; i < state->burst->n; i++)
		flags |= meta[i].flags;
	return (flags & WEIR_META_TO_ALL) != 0;
}

bool
packet_police(struct weir_dispatcher *dispatcher, const struct weir_meta *meta)
{
	const struct pool_class *class = class_of(dispatcher, meta);
	struct token_bucket *bucket;

	if (class->action == WEIR_ACTION_DROP || class->police_pps == 0)
		return true;
	bucket = &dispatcher->bucket[class - dispatcher->policy->class_of];
	token_bucket_fill(bucket, dispatcher->pick.now_ns);
	return token_bucket_take(bucket);
}

/* What the packet's class makes of it: TARGET_ROUTED unless that is settled already. */
static uint16_t
packet_classify(struct weir_dispatcher *dispatcher, const struct weir_meta *meta, bool from_hold)
{
	const struct pool_class *class = class_of(dispatcher, meta);

	if (class->action == WEIR_ACTION_DROP)
		return PLAN_DROP + WEIR_REASON_RULE_DROP;
	/* What is held was policed when it came. */
	if (!from_hold && !packet_police(dispatcher, meta))
		return PLAN_DROP + WEIR_REASON_RATE_LIMITED;
	if (class->action == WEIR_ACTION_DIVERT)
		return PLAN_DIVERT;
	if (packet_is_for_all(dispatcher, meta))
		return PLAN_ALL;
	return TARGET_ROUTED;
}

/* A packet for all is lent to each whatever is picked: it counts in the mirror before any pick. */
static void
all_count(struct weir_dispatcher *dispatcher)
{
	for (uint32_t position = 0; position < dispatcher->snapshot->n_routable; position++)
		follower_count(dispatcher, position);
}

/* Adds packet `i` to those that ask. Returns its target for now. */
static uint16_t
asker_add(struct weir_dispatcher *dispatcher, uint32_t i, uint32_t route)
{
	struct class_plan *classes = &dispatcher->class_plan;
	const uint32_t k = classes->n_askers++;

	classes->packet[k] = (uint16_t)i;
	classes->route[k] = (uint8_t)route;
	classes->fell_back[k] = false;
	classes->uncounted[k] = false;
	classes->routes |= UINT64_C(1) << route;
	dispatcher->plan.asked[i] = 1;
	return (uint16_t)(TARGET_PICK + k);
}

/* Order flow, no owner: the packet follows its pin, waits, takes part in a pick, or asks. */
static uint16_t
packet_follow(struct weir_dispatcher *dispatcher, const struct dispatch_state *state, uint32_t i,
	uint32_t route)
{
	const struct weir_meta *meta = &state->burst->meta[i];
	const uint32_t n_askers = dispatcher->class_plan.n_askers;
	const uint16_t source =
		packet_source(dispatcher, meta, state->from_hold, n_askers, SOURCE_FOLLOWS);
	uint16_t position;

	if (source == PLAN_HOLD)
		return PLAN_HOLD;
	if (source == n_askers)
		return asker_add(dispatcher, i, route);
	if (source != SOURCE_FOLLOWS)
		return (uint16_t)(TARGET_PICK + source);
	position = dispatcher->snapshot->position[dispatcher->pins[meta->bucket].worker];
	if (position == WEIR_WORKER_NONE)
		return PLAN_HOLD;
	follower_count(dispatcher, position);
	return dispatcher->pins[meta->bucket].worker;
}

/* The target of one packet, or for now the asker whose answer it will have. */
static uint16_t
packet_plan(struct weir_dispatcher *dispatcher, const struct dispatch_state *state, uint32_t i)
{
	const struct weir_meta *meta = &state->burst->meta[i];
	const uint32_t route = class_of(dispatcher, meta)->route;
	const struct weir_strategy *strategy = route_strategy(dispatcher, route);
	const uint16_t target = packet_classify(dispatcher, meta, state->from_hold);

	dispatcher->plan.asked[i] = 0;
	if (target == PLAN_ALL)
		all_count(dispatcher);
	if (target != TARGET_ROUTED)
		return target;
	if (strategy->flags & WEIR_STRATEGY_ALL_TARGETS) {
		all_count(dispatcher);
		dispatcher->class_plan.routes |= UINT64_C(1) << route;
		dispatcher->part[ROUTE_PARTS * route].n_asked++;
		return PLAN_SPREAD;
	}
	if (!dispatcher->pins || (strategy->flags & WEIR_STRATEGY_OWNS_FLOWS))
		return asker_add(dispatcher, i, route);
	return packet_follow(dispatcher, state, i, route);
}

/* Whether the plan has the packet's bucket by a route that may send it elsewhere. */
static bool
packet_conflicts(struct weir_dispatcher *dispatcher, const struct weir_meta *meta)
{
	const struct pool_class *class = class_of(dispatcher, meta);
	const uint32_t flags = route_strategy(dispatcher, class->route)->flags;
	const uint8_t who =
		flags & WEIR_STRATEGY_OWNS_FLOWS ? (uint8_t)(class->route + 1) : MET_OPEN;
	uint8_t *met = &dispatcher->met[meta->bucket];

	if (class->action != WEIR_ACTION_ROUTE || (flags & WEIR_STRATEGY_ALL_TARGETS) ||
		packet_is_for_all(dispatcher, meta))
		return false;
	if (*met == 0)
		*met = who;
	return *met != who;
}

static void
met_clear(struct weir_dispatcher *dispatcher, const struct weir_burst *burst)
{
	const struct class_plan *classes = &dispatcher->class_plan;

	for (uint32_t i = classes->first; i < classes->end; i++)
		dispatcher->met[burst->meta[i].bucket] = 0;
}

/* The target of a packet whose asker has its answer. */
static uint16_t
answer_target(struct weir_dispatcher *dispatcher, uint32_t i, uint32_t k)
{
	const struct class_plan *classes = &dispatcher->class_plan;
	const uint16_t position = dispatcher->plan.position[k];
	const uint8_t none_reason = route_strategy(dispatcher, classes->route[k])->none_reason;

	if (unlikely(position >= dispatcher->snapshot->n_routable))
		return (uint16_t)(PLAN_DROP + (none_reason ? none_reason : WEIR_REASON_NO_ROUTE));
	/* Those that take part in another packet's pick count now. */
	if (classes->packet[k] != i)
		follower_count(dispatcher, position);
	return dispatcher->snapshot->routable[position];
}

static void
class_plan_make(struct weir_dispatcher *dispatcher, const struct dispatch_state *state)
{
	struct class_plan *classes = &dispatcher->class_plan;
	uint16_t *target = dispatcher->plan.target;
	uint32_t i;

	classes->first = state->next;
	classes->n_askers = 0;
	classes->routes = 0;
	for (i = state->next; i < state->burst->n; i++) {
		if (dispatcher->met && packet_conflicts(dispatcher, &state->burst->meta[i]))
			break;
		target[i] = packet_plan(dispatcher, state, i);
	}
	classes->end = i;
	if (dispatcher->met)
		met_clear(dispatcher, state->burst);
	routes_ask(dispatcher, state);
	for (i = classes->first; i < classes->end; i++) {
		const uint32_t k = target[i] - TARGET_PICK;

		if (k < WEIR_BURST_MAX)
			target[i] = answer_target(dispatcher, i, k);
	}
}

/* Copies that were planned are not lent. Nobody comes home in their place to end a wait. */
static void
all_restore(struct weir_dispatcher *dispatcher)
{
	if (dispatcher->has_budget)
		dispatcher->hold_news.all = true;
	for (uint32_t i = 0; i < dispatcher->snapshot->n_routable; i++)
		mirror_restore(dispatcher, dispatcher->snapshot->routable[i]);
}

/* Takes back what was planned for a packet and not done. */
static void
packet_withdraw(struct weir_dispatcher *dispatcher, const struct dispatch_state *state, uint32_t i)
{
	const struct pool_class *class = class_of(dispatcher, &state->burst->meta[i]);
	const uint16_t target = dispatcher->plan.target[i];

	if (target < PLAN_SPECIAL)
		mirror_restore(dispatcher, target);
	if (target == PLAN_ALL || target == PLAN_SPREAD)
		all_restore(dispatcher);
	if (target == PLAN_SPREAD)
		dispatcher->part[ROUTE_PARTS * class->route].n_asked--;
	if (class->police_pps > 0 && class->action != WEIR_ACTION_DROP && !state->from_hold &&
		target != PLAN_DROP + WEIR_REASON_RATE_LIMITED)
		token_bucket_return(&dispatcher->bucket[class - dispatcher->policy->class_of]);
}

/*
 * Whose mirror entries are not exact: chunks may be shorter than they were counted, owners' packets
 * may have gone elsewhere, and a copy may have been wanting.
 */
static void
class_mirror_settle(struct weir_dispatcher *dispatcher)
{
	const struct class_plan *classes = &dispatcher->class_plan;

	for (uint32_t k = 0; k < classes->n_askers; k++) {
		const uint16_t position = dispatcher->plan.position[k];

		if ((dispatcher->chunk > 1 || classes->uncounted[k]) &&
			position < dispatcher->snapshot->n_routable)
			mirror_restore(dispatcher, dispatcher->snapshot->routable[position]);
	}
	if (unlikely(dispatcher->fan_out.is_short)) {
		dispatcher->fan_out.is_short = false;
		all_restore(dispatcher);
	}
}

/* Makes the plan keep to the budget. Returns whether picks have to wait for it. */
static bool
class_budget_apply(struct weir_dispatcher *dispatcher, const struct dispatch_state *state)
{
	const struct class_plan *classes = &dispatcher->class_plan;
	bool any = false;

	budget_apply(dispatcher, state);
	for (uint32_t k = 0; k < classes->n_askers; k++) {
		if (dispatcher->plan.target[classes->packet[k]] != PLAN_HOLD ||
			classes->uncounted[k])
			continue;
		asker_uncount(dispatcher, k);
		any = true;
	}
	return any;
}

/* Takes back what of the plan was not done. */
static void
class_withdraw(struct weir_dispatcher *dispatcher, const struct dispatch_state *state)
{
	routes_withdraw(dispatcher, state->next);
	for (uint32_t i = state->next; i < state->burst->n; i++)
		packet_withdraw(dispatcher, state, i);
}

/* Plans for what is left of the burst, or for a part of it, and carries that out. */
static enum run_end
class_run(struct weir_dispatcher *dispatcher, struct dispatch_state *state)
{
	const struct class_plan *classes = &dispatcher->class_plan;
	const struct weir_burst *whole = state->burst;
	struct weir_burst part = *whole;
	bool waits = false;
	enum run_end run;

	posts_reserve(dispatcher, state, whole->n - state->next);
	class_plan_make(dispatcher, state);
	part.n = classes->end;
	state->burst = &part;
	if (unlikely(dispatcher->has_budget))
		waits = class_budget_apply(dispatcher, state);
	run = plan_carry_out(dispatcher, state);
	if (unlikely(dispatcher->class_books.n_picked > 0))
		class_claims_settle(dispatcher);
	if (state->next < part.n || waits)
		class_withdraw(dispatcher, state);
	class_mirror_settle(dispatcher);
	if (dispatcher->pins)
		pins_clean(dispatcher, &part, classes->first, part.n);
	routes_advance(dispatcher);
	state->burst = whole;
	if (state->next < whole->n)
		mirror_settle(dispatcher, state);
	return run;
}

void
special_settle(struct weir_dispatcher *dispatcher, struct dispatch_state *state)
{
	const uint16_t target = dispatcher->plan.target[state->next];
	const struct weir_meta *meta = &state->burst->meta[state->next];
	void *packet = state->burst->packets[state->next];

	switch (target & PLAN_KIND) {
	case PLAN_DROP:
		drop_add(dispatcher, packet, WEIR_WORKER_NONE,
			(uint8_t)(target & (uint16_t)~PLAN_KIND));
		break;
	case PLAN_DIVERT:
		counter_add(&dispatcher->tally.returned_tx, 1);
		end_add(dispatcher, packet,
			(struct weir_verdict) { .kind = WEIR_VERDICT_TX,
				.target = class_of(dispatcher, meta)->divert_port,
				.length = meta->length });
		break;
	default:
		packet_fan_out(dispatcher, state);
	}
	state->next++;
}

/* The packet at hand would be routed, but no worker is there: the loss is named. */
static void
packet_lose(struct weir_dispatcher *dispatcher, struct dispatch_state *state, bool is_counted)
{
	const struct weir_snapshot *snapshot = dispatcher->snapshot;
	const uint32_t i = state->next++;
	const uint32_t route = class_of(dispatcher, &state->burst->meta[i])->route;
	const uint32_t part = ROUTE_PARTS * route;
	uint8_t reason = route_strategy(dispatcher, route)->none_reason;
	weir_worker_id id = WEIR_WORKER_NONE;

	if (snapshot->n_members == 0) {
		reason = WEIR_REASON_NO_ROUTE;
	} else if (reason == 0) {
		reason = WEIR_REASON_DEAD_WORKER;
		id = snapshot->member[part_rotation(dispatcher, part)];
	}
	if (state->burst->workers)
		state->burst->workers[i] = id;
	drop_add(dispatcher, state->burst->packets[i], id, reason);
	if (is_counted)
		part_advance(dispatcher, part, 1);
}

/* The packet at hand would be routed, and waits for the worker that is to come. */
static void
packet_await(struct weir_dispatcher *dispatcher, struct dispatch_state *state)
{
	dispatcher->plan.target[state->next] = PLAN_HOLD;
	if (state->burst->workers)
		state->burst->workers[state->next] = WEIR_WORKER_NONE;
	packet_hold(dispatcher, state, false);
}

void
class_lose(struct weir_dispatcher *dispatcher, struct dispatch_state *state)
{
	while (state->next < state->burst->n) {
		const uint32_t i = state->next;
		const uint16_t target =
			packet_classify(dispatcher, &state->burst->meta[i], state->from_hold);

		dispatcher->plan.target[i] = target; /* none of those that stay held */
		if (target == TARGET_ROUTED || target == PLAN_ALL) {
			if (workers_are_awaited(dispatcher))
				packet_await(dispatcher, state);
			else
				packet_lose(dispatcher, state, target == TARGET_ROUTED);
			continue;
		}
		if (state->burst->workers)
			state->burst->workers[i] = WEIR_WORKER_NONE;
		special_settle(dispatcher, state);
	}
}

void
class_route(struct weir_dispatcher *dispatcher, struct dispatch_state *state)
{
	if (dispatcher->snapshot->n_routable == 0) {
		class_lose(dispatcher, state);
		return;
	}
	while (state->next < state->burst->n && class_run(dispatcher, state) != RUN_REFUSED)
		;
}
