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

	explanation->index = dispatcher->pick.index;
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
	struct weir_pick_context pick = dispatcher->pick;
	uint32_t depth[WEIR_WORKERS_MAX] = { 0 };
	uint32_t room[WEIR_WORKERS_MAX] = { 0 };
	uint16_t position;

	pick.depth = depth;
	pick.room = room;
	snapshot->route[0].strategy->pick_burst(&pick, meta, 1, &position);
	return snapshot->routable[position];
}

/* The tests of packet_plan and owned_plan, in their order. */
static enum weir_route
pin_route(const struct weir_dispatcher *dispatcher, const struct pin *pin,
	const struct weir_meta *meta)
{
	const bool out = pin_is_out(dispatcher, pin);

	if (pin_waits(pin, false))
		return WEIR_ROUTE_HELD_BEHIND;
	if (dispatcher->owns_flows) {
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

void
weir_explain(const struct weir_dispatcher *dispatcher, const struct weir_meta *meta,
	struct weir_explanation *explanation)
{
	const struct pin *pin = dispatcher->pins ? &dispatcher->pins[meta->bucket] : NULL;

	*explanation = (struct weir_explanation) { .pinned = WEIR_WORKER_NONE };
	mirror_explain(dispatcher, explanation);
	if (pin)
		pin_explain(dispatcher, pin, explanation);
	if (!weir_accepts(dispatcher))
		explanation->route = WEIR_ROUTE_REFUSED;
	else if (explanation->n_routable == 0)
		explanation->route = WEIR_ROUTE_LOST;
	else if (!pin)
		explanation->route = WEIR_ROUTE_ASKS;
	else
		explanation->route = pin_route(dispatcher, pin, meta);
}
