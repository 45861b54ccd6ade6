/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pool's policy → what a dispatcher goes by: at its creation, and when the pool was changed.
 * Between bursts: nothing is planned. What is lent and held stays as it is; it counts for the class
 * that has its number now.
 */
#include "admission.h"

#include "rng.h"

static void
part_init(struct weir_dispatcher *dispatcher, uint32_t part, const struct weir_strategy *strategy,
	char **memory)
{
	const uint64_t seed = dispatcher->pick.seed;
	const size_t bytes = policy_state_bytes_of(strategy);

	dispatcher->part[part] = (struct route_part) {
		.strategy = strategy,
		.state = bytes > 0 ? *memory : NULL,
		.seed = part == 0 ? seed : rng_at(seed, part),
		.index = dispatcher->pick.index,
	};
	/* There may be no memory at all. */
	if (bytes > 0)
		*memory += bytes;
}

static void
parts_init(struct weir_dispatcher *dispatcher)
{
	const struct pool_policy *policy = dispatcher->policy;
	char *memory = policy_state(policy, dispatcher->id);

	for (uint32_t i = 0; i < policy->n_routes; i++) {
		part_init(dispatcher, ROUTE_PARTS * i, policy->route[i].strategy, &memory);
		part_init(dispatcher, ROUTE_PARTS * i + 1, policy->route[i].fallback, &memory);
	}
	dispatcher->pick.state = dispatcher->part[0].state;
}

static uint32_t
strategy_flags(const struct weir_strategy *strategy)
{
	return strategy ? strategy->flags : 0;
}

/* Flags of all strategies that packets may be routed by. */
static uint32_t
policy_flags(const struct pool_policy *policy)
{
	uint32_t flags = 0;

	for (uint32_t i = 0; i < policy->n_routes; i++)
		flags |= strategy_flags(policy->route[i].strategy) |
			 strategy_flags(policy->route[i].fallback);
	return flags;
}

/* Packets of 10 ms: a policer lets through what came late by so much. */
static uint32_t
police_burst(const struct pool_class *class)
{
	const uint64_t packets = class->police_pps / 100;

	if (class->police_burst > 0)
		return class->police_burst;
	return packets > 0 ? (uint32_t)packets : 1;
}

/* Policers begin with full buckets. */
static void
classes_learn(struct weir_dispatcher *dispatcher)
{
	for (uint32_t i = 0; i < WEIR_CLASSES_MAX; i++) {
		const struct pool_class *class = &dispatcher->policy->class_of[i];

		dispatcher->is_classed |=
			class->action != WEIR_ACTION_ROUTE || class->police_pps > 0;
		dispatcher->bucket[i] = token_bucket_make(class->police_pps, police_burst(class));
	}
}

/* Learns how packets may differ. */
static void
routes_learn(struct weir_dispatcher *dispatcher)
{
	const struct pool_policy *policy = dispatcher->policy;
	const uint32_t own = policy->route[0].strategy->flags;
	const uint32_t flags = policy_flags(policy);

	dispatcher->owns_flows = own & WEIR_STRATEGY_OWNS_FLOWS;
	dispatcher->reads_metadata = own & WEIR_STRATEGY_READS_META;
	dispatcher->is_classed =
		policy->n_routes > 1 ||
		(flags & (WEIR_STRATEGY_ALL_TARGETS | WEIR_STRATEGY_FINDS_NONE)) != 0;
	classes_learn(dispatcher);
	/* Who never copies does not even look whether packets want to be copied. */
	dispatcher->may_differ = dispatcher->copy || dispatcher->is_classed;
	dispatcher->counts_picks = flags & WEIR_STRATEGY_READS_DEPTH;
	dispatcher->mixes_owners = policy->n_routes > 1 && (flags & WEIR_STRATEGY_OWNS_FLOWS) != 0;
	dispatcher->met = dispatcher->mixes_owners ? dispatcher->met_memory : NULL;
}

void
policy_adopt(struct weir_dispatcher *dispatcher, const struct pool_policy *policy)
{
	dispatcher->policy = policy;
	routes_learn(dispatcher);
	parts_init(dispatcher);
	class_books_adopt(dispatcher);
	refusing_recount(dispatcher);
}
