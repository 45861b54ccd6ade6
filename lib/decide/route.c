/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several strategies in one burst: each is asked once, for all of its packets, with an index of its
 * own. One that finds no worker hands the packet on to its route's fallback.
 *
 * Routes are asked one after another in one mirror. Who reads depth counts its own picks there; of
 * the others they are counted here, so that each strategy sees what those before it have picked.
 */
#include "admission.h"

void
routes_adopt(struct weir_dispatcher *dispatcher)
{
	const uint32_t divisor = dispatcher->rotation_by.divisor;

	for (uint32_t i = 1; i < ROUTE_PARTS * dispatcher->policy->n_routes; i++)
		dispatcher->part[i].rotation = (uint32_t)(dispatcher->part[i].index % divisor);
}

/* What the strategy sees: the dispatcher's own context, but for what each part has of its own. */
static struct weir_pick_context *
part_context(struct weir_dispatcher *dispatcher, uint32_t part)
{
	const struct weir_strategy_route *route = &dispatcher->snapshot->route[part / ROUTE_PARTS];
	const struct route_part *own = &dispatcher->part[part];
	struct weir_pick_context *context = &dispatcher->class_plan.pick;

	if (part == 0)
		return &dispatcher->pick;
	*context = dispatcher->pick;
	context->table = part % ROUTE_PARTS == 0 ? route->table : route->fallback_table;
	context->state = own->state;
	context->seed = own->seed;
	context->index = own->index;
	context->rotation = own->rotation;
	return context;
}

/* Brings the metadata of the gathered packets into one piece. */
static void
metadata_gather(struct weir_dispatcher *dispatcher, const struct dispatch_state *state, uint32_t n)
{
	const struct class_plan *classes = &dispatcher->class_plan;

	for (uint32_t i = 0; i < n; i++)
		dispatcher->plan.metadata[i] =
			state->burst->meta[classes->packet[classes->gathered[i]]];
}

/* Asks for the `n` gathered packets and gives each its answer. */
static void
part_ask(struct weir_dispatcher *dispatcher, const struct dispatch_state *state, uint32_t part,
	uint32_t n)
{
	struct weir_pick_context *context = part_context(dispatcher, part);
	struct route_part *own = &dispatcher->part[part];
	struct plan *plan = &dispatcher->plan;
	const uint32_t n_picks = picks_needed(dispatcher, n);
	uint32_t pick = 0;
	uint32_t left = dispatcher->chunk;

	const bool counts_classes = dispatcher->counts_classes &&
				    (own->strategy->flags & WEIR_STRATEGY_READS_CLASS_DEPTH);

	if (counts_classes || (own->strategy->flags & WEIR_STRATEGY_READS_META))
		metadata_gather(dispatcher, state, n);
	own->n_picked = n;
	own->n_asked = n;
	own->strategy->pick_burst(context, plan->metadata, n_picks, plan->pick);
	dispatcher->pick.depth_visits = context->depth_visits;
	if (unlikely(counts_classes))
		class_picks_settle(dispatcher, own->strategy, plan->metadata, n_picks, plan->pick);
	for (uint32_t i = 0; i < n; i++) {
		plan->position[dispatcher->class_plan.gathered[i]] = plan->pick[pick];
		if (--left == 0) {
			pick++;
			left = dispatcher->chunk;
		}
	}
}

/* Gathers the route's askers. Returns their number. */
static uint32_t
route_gather(struct class_plan *classes, uint32_t route)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < classes->n_askers; k++) {
		classes->gathered[n] = (uint16_t)k;
		n += classes->route[k] == route;
	}
	return n;
}

/* Of the `n` gathered askers only those for which nobody was found. Returns their number. */
static uint32_t
unanswered_gather(struct weir_dispatcher *dispatcher, uint32_t n)
{
	struct class_plan *classes = &dispatcher->class_plan;
	uint32_t n_left = 0;

	for (uint32_t i = 0; i < n; i++) {
		const uint16_t k = classes->gathered[i];

		classes->gathered[n_left] = k;
		n_left += dispatcher->plan.position[k] >= dispatcher->snapshot->n_routable;
	}
	return n_left;
}

void
asker_uncount(struct weir_dispatcher *dispatcher, uint32_t k)
{
	struct class_plan *classes = &dispatcher->class_plan;
	struct route_part *part = &dispatcher->part[ROUTE_PARTS * classes->route[k]];

	classes->uncounted[k] = true;
	part[0].n_asked--;
	part[1].n_asked -= classes->fell_back[k];
}

/* Under an owner of flows what becomes of a packet follows from the answer, but is not it. */
static void
owned_place(struct weir_dispatcher *dispatcher, const struct dispatch_state *state, uint32_t k)
{
	const struct class_plan *classes = &dispatcher->class_plan;
	const struct weir_snapshot *snapshot = dispatcher->snapshot;
	const uint32_t i = classes->packet[k];
	const weir_worker_id owner = snapshot->routable[dispatcher->plan.position[k]];
	const uint16_t target =
		packet_source_owned(dispatcher, &state->burst->meta[i], state->from_hold, owner);

	dispatcher->plan.target[i] = target;
	dispatcher->plan.asked[i] = target == owner;
	if (target != owner)
		asker_uncount(dispatcher, k);
	if (target != PLAN_HOLD)
		follower_count(dispatcher, snapshot->position[target]);
}

/* Whether picks by this strategy must be counted for it. */
static bool
is_counted_here(const struct weir_dispatcher *dispatcher, const struct weir_strategy *strategy)
{
	return dispatcher->counts_picks && !(strategy->flags & WEIR_STRATEGY_READS_DEPTH);
}

/* The answers for the route's askers are there: who does not count its picks has them counted. */
static void
route_place(struct weir_dispatcher *dispatcher, const struct dispatch_state *state, uint32_t route)
{
	const struct class_plan *classes = &dispatcher->class_plan;
	const struct route_part *part = &dispatcher->part[ROUTE_PARTS * route];
	const bool is_owned =
		dispatcher->pins && (part[0].strategy->flags & WEIR_STRATEGY_OWNS_FLOWS);
	const bool counts_own = is_counted_here(dispatcher, part[0].strategy);
	const bool counts_fallback =
		part[1].strategy && is_counted_here(dispatcher, part[1].strategy);

	for (uint32_t k = 0; k < classes->n_askers; k++) {
		const uint16_t position = dispatcher->plan.position[k];

		if (classes->route[k] != route || position >= dispatcher->snapshot->n_routable)
			continue;
		if (is_owned)
			owned_place(dispatcher, state, k);
		else if (classes->fell_back[k] ? counts_fallback : counts_own)
			follower_count(dispatcher, position);
	}
}

static void
route_ask(struct weir_dispatcher *dispatcher, const struct dispatch_state *state, uint32_t route)
{
	struct class_plan *classes = &dispatcher->class_plan;
	const struct route_part *part = &dispatcher->part[ROUTE_PARTS * route];
	uint32_t n = route_gather(classes, route);

	if (n == 0) /* all of its packets go to all workers */
		return;
	part_ask(dispatcher, state, ROUTE_PARTS * route, n);
	if (part[0].strategy->flags & WEIR_STRATEGY_FINDS_NONE && part[1].strategy) {
		n = unanswered_gather(dispatcher, n);
		for (uint32_t i = 0; i < n; i++)
			classes->fell_back[classes->gathered[i]] = true;
		if (n > 0)
			part_ask(dispatcher, state, ROUTE_PARTS * route + 1, n);
	}
	route_place(dispatcher, state, route);
}

void
routes_ask(struct weir_dispatcher *dispatcher, const struct dispatch_state *state)
{
	uint64_t routes = dispatcher->class_plan.routes;

	while (routes)
		route_ask(dispatcher, state, bitset_pop(&routes, 0));
}

/* Tells a strategy that only the picks for its first `n` packets were carried out. */
static void
part_withdraw(struct weir_dispatcher *dispatcher, uint32_t part, uint32_t n)
{
	struct route_part *own = &dispatcher->part[part];

	if (n < own->n_picked && own->strategy->withdraw_picks)
		own->strategy->withdraw_picks(
			part_context(dispatcher, part), picks_needed(dispatcher, n));
	own->n_picked = n;
}

void
routes_withdraw(struct weir_dispatcher *dispatcher, uint32_t next)
{
	const struct class_plan *classes = &dispatcher->class_plan;
	uint32_t n_kept[ROUTE_PARTS * WEIR_ROUTES_MAX] = { 0 };
	uint64_t routes = classes->routes;

	for (uint32_t k = 0; k < classes->n_askers; k++) {
		const uint32_t part = ROUTE_PARTS * classes->route[k];
		const bool is_owned =
			dispatcher->part[part].strategy->flags & WEIR_STRATEGY_OWNS_FLOWS;
		/* Of what waits for the budget of any worker, nothing behind it goes. */
		const bool is_kept =
			classes->packet[k] < next && (is_owned || !classes->uncounted[k]);

		n_kept[part] += is_kept;
		n_kept[part + 1] += is_kept && classes->fell_back[k];
		if (classes->packet[k] >= next && !classes->uncounted[k])
			asker_uncount(dispatcher, k);
	}
	while (routes) {
		const uint32_t part = ROUTE_PARTS * bitset_pop(&routes, 0);

		part_withdraw(dispatcher, part, n_kept[part]);
		part_withdraw(dispatcher, part + 1, n_kept[part + 1]);
	}
}

void
part_advance(struct weir_dispatcher *dispatcher, uint32_t part, uint32_t n)
{
	struct route_part *own = &dispatcher->part[part];

	if (part == 0) {
		index_advance(dispatcher, n);
		return;
	}
	own->index += n;
	own->rotation = fastmod(dispatcher->rotation_by, own->rotation + n);
	if (part % ROUTE_PARTS == 0)
		counter_add(&dispatcher->tally.routed, n);
}

void
routes_advance(struct weir_dispatcher *dispatcher)
{
	uint64_t routes = dispatcher->class_plan.routes;

	while (routes) {
		const uint32_t part = ROUTE_PARTS * bitset_pop(&routes, 0);

		for (uint32_t i = part; i < part + ROUTE_PARTS; i++) {
			part_advance(dispatcher, i, dispatcher->part[i].n_asked);
			dispatcher->part[i].n_asked = 0;
			dispatcher->part[i].n_picked = 0;
		}
	}
}
