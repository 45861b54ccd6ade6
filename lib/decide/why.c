/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The burst pipeline's view of one packet, by the same tests as plan.c, but nothing is marked,
 * counted or lent. Cold.
 */
#include <weir/why.h>

#include "dispatch.h"

static void
mirror_explain(const struct weir_dispatcher *dispatcher, struct weir_explanation *explanation)
{
	const struct weir_snapshot *snapshot = dispatcher->snapshot;

	explanation->n_routable = snapshot->n_routable;
	for (uint32_t i = 0; i < snapshot->n_routable; i++) {
		const struct lane_producer *lane = &dispatcher->lane[snapshot->routable[i]];

		explanation->worker[i] = snapshot->routable[i];
		explanation->depth[i] = lane_depth(dispatcher, lane);
		explanation->room[i] = lane_room(lane);
	}
}

static void
pin_explain(const struct weir_dispatcher *dispatcher, const struct pin *pin,
	struct weir_explanation *explanation)
{
	const struct lane_producer *lane = &dispatcher->lane[pin->worker];

	explanation->bucket_held = pin->held;
	if (!(pin->flags & PIN_KNOWN))
		return;
	explanation->pinned = pin->worker;
	explanation->lane_out = lane_occupied(lane);
	if (pin_is_out(dispatcher, pin))
		explanation->bucket_out = pin->stamp - lane->harvested;
}

/*
 * The worker that owns the packet's flow. The strategy is really asked, with a mirror of its own:
 * what owns flows goes by its table alone, so that an extra question changes no later answer.
 */
static weir_worker_id
owner_find(const struct weir_dispatcher *dispatcher, const struct weir_meta *meta)
{
	const struct weir_snapshot *snapshot = dispatcher->snapshot;
	const struct weir_strategy_route *route =
		&snapshot->route[class_of(dispatcher, meta)->route];
	struct weir_pick_context pick = dispatcher->pick;
	uint32_t depth[WEIR_WORKERS_MAX] = { 0 };
	uint32_t room[WEIR_WORKERS_MAX] = { 0 };
	uint16_t position;

	pick.depth = depth;
	pick.room = room;
	pick.table = route->table;
	route->strategy->pick_burst(&pick, meta, 1, &position);
	return position < snapshot->n_routable ? snapshot->routable[position] : WEIR_WORKER_NONE;
}

/* The tests of packet_source and owned_plan, in their order. */
static enum weir_route
pin_route(const struct weir_dispatcher *dispatcher, const struct pin *pin,
	const struct weir_meta *meta)
{
	const bool out = pin_is_out(dispatcher, pin);

	if (pin_waits(pin, false))
		return WEIR_ROUTE_HELD_BEHIND;
	if (packet_is_owned(dispatcher, meta)) {
		if (owner_find(dispatcher, meta) == pin->worker)
			return WEIR_ROUTE_ASKS;
		if (pin_lingers(dispatcher, pin, meta))
			return WEIR_ROUTE_STICKY;
		return out ? WEIR_ROUTE_HELD_OTHER_OWNER : WEIR_ROUTE_ASKS;
	}
	if (out)
		return dispatcher->snapshot->position[pin->worker] == WEIR_WORKER_NONE
			       ? WEIR_ROUTE_HELD_UNROUTABLE
			       : WEIR_ROUTE_PINNED;
	return pin_lingers(dispatcher, pin, meta) ? WEIR_ROUTE_STICKY : WEIR_ROUTE_ASKS;
}

/* What the packet's class says of it. */
static void
class_explain(const struct weir_dispatcher *dispatcher, const struct weir_meta *meta,
	struct weir_explanation *explanation)
{
	const struct pool_class *class = class_of(dispatcher, meta);
	const struct route_part *part = &dispatcher->part[ROUTE_PARTS * class->route];

	explanation->action = class->action;
	explanation->strategy = part[0].strategy->name;
	explanation->fallback = part[1].strategy ? part[1].strategy->name : NULL;
	explanation->index = class->route == 0 ? dispatcher->pick.index : part[0].index;
}

/* Whether the policer of the packet's class has no token for it. */
static bool
is_over_rate(const struct weir_dispatcher *dispatcher, const struct weir_meta *meta)
{
	const struct pool_class *class = class_of(dispatcher, meta);
	struct token_bucket bucket = dispatcher->bucket[class - dispatcher->policy->class_of];

	if (class->police_pps == 0)
		return false;
	token_bucket_fill(&bucket, dispatcher->pick.now_ns);
	return !token_bucket_take(&bucket);
}

/* The tests of packet_classify, in their order; WEIR_ROUTE_COUNT: a strategy's packet. */
static enum weir_route
class_route_explain(const struct weir_dispatcher *dispatcher, const struct weir_meta *meta,
	struct weir_explanation *explanation)
{
	const bool is_for_all = packet_is_for_all(dispatcher, meta);
	const uint32_t flags = packet_strategy(dispatcher, meta)->flags;

	if (explanation->action == WEIR_ACTION_DROP)
		explanation->reason = WEIR_REASON_RULE_DROP;
	else if (is_over_rate(dispatcher, meta))
		explanation->reason = WEIR_REASON_RATE_LIMITED;
	else if (explanation->action == WEIR_ACTION_DIVERT)
		return WEIR_ROUTE_DIVERTED;
	else if (explanation->n_routable == 0)
		return workers_are_awaited(dispatcher) ? WEIR_ROUTE_HELD_AWAITED : WEIR_ROUTE_LOST;
	else
		return is_for_all || (flags & WEIR_STRATEGY_ALL_TARGETS) ? WEIR_ROUTE_ALL
									 : WEIR_ROUTE_COUNT;
	return WEIR_ROUTE_DROPPED;
}

void
weir_explain(const struct weir_dispatcher *dispatcher, const struct weir_meta *meta,
	struct weir_explanation *explanation)
{
	const struct pin *pin = dispatcher->pins ? &dispatcher->pins[meta->bucket] : NULL;

	*explanation = (struct weir_explanation) { .pinned = WEIR_WORKER_NONE };
	mirror_explain(dispatcher, explanation);
	class_explain(dispatcher, meta, explanation);
	if (pin)
		pin_explain(dispatcher, pin, explanation);
	if (!weir_accepts(dispatcher)) {
		explanation->route = WEIR_ROUTE_REFUSED;
		return;
	}
	explanation->route = class_route_explain(dispatcher, meta, explanation);
	if (explanation->route == WEIR_ROUTE_COUNT)
		explanation->route = pin ? pin_route(dispatcher, pin, meta) : WEIR_ROUTE_ASKS;
}
