/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Classes and routes: what a configuration says by name becomes what a dispatcher goes by. Route 0
 * is the pool's own strategy; each class with one of its own adds one.
 */
#include "policy.h"

#include <stdlib.h>

#include "config.h"

static uint8_t
route_add(struct pool_policy *policy, const struct weir_config *config, const char *strategy,
	const char *fallback)
{
	policy->route[policy->n_routes] = (struct weir_strategy_route) {
		.strategy = config_strategy_find(config, strategy),
		.fallback = config_strategy_find(config, fallback),
	};
	return (uint8_t)policy->n_routes++;
}

static struct pool_class
class_resolve(struct pool_policy *policy, const struct weir_config *config,
	const struct weir_class *class)
{
	return (struct pool_class) {
		.action = class->action,
		.divert_port = class->divert_port,
		.route = class->strategy
				 ? route_add(policy, config, class->strategy, class->fallback)
				 : 0,
		.policy = class->overflow ? weir_overflow_find(class->overflow)
					  : policy->class_of[0].policy,
		.admission = class->admission,
		.retries = class->retries,
		.police_pps = class->police_pps,
		.police_burst = class->police_burst,
	};
}

static void
classes_resolve(struct pool_policy *policy, const struct weir_config *config)
{
	route_add(policy, config, config->strategy, config->fallback);
	policy->class_of[0] =
		(struct pool_class) { .policy = weir_overflow_find(config->overflow) };
	for (uint32_t i = 0; i < config->n_classes; i++)
		policy->class_of[i + 1] = class_resolve(policy, config, &config->classes[i]);
	/* A class that no rule has is treated like what no rule matched. */
	for (uint32_t id = config->n_classes + 1; id < WEIR_CLASSES_MAX; id++)
		policy->class_of[id] = policy->class_of[0];
	for (uint32_t id = 0; id <= config->n_classes; id++) {
		policy->claim_lanes |= policy->class_of[id].policy->evicts;
		policy->covering |=
			(uint64_t)(policy->class_of[id].admission == WEIR_ADMIT_COVER_EARLY) << id;
	}
}

static bool
strategy_has(const struct weir_strategy *strategy, uint32_t flag)
{
	return strategy && (strategy->flags & flag);
}

/* Whether a strategy that packets may be routed by has the flag. */
static bool
policy_has(const struct pool_policy *policy, uint32_t flag)
{
	for (uint32_t i = 0; i < policy->n_routes; i++) {
		if (strategy_has(policy->route[i].strategy, flag) ||
			strategy_has(policy->route[i].fallback, flag))
			return true;
	}
	return false;
}

bool
policy_fans_out(const struct pool_policy *policy)
{
	return policy_has(policy, WEIR_STRATEGY_ALL_TARGETS);
}

/* Allocates the strategies' state. Returns 0 or -ENOMEM. */
static int
state_init(struct pool_policy *policy, uint32_t n_dispatchers)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < policy->n_routes; i++)
		bytes += policy_state_bytes_of(policy->route[i].strategy) +
			 policy_state_bytes_of(policy->route[i].fallback);
	if (bytes == 0)
		return 0;
	policy->state_bytes = round_up(bytes, PAGE_BYTES);
	return area_allocate(&policy->state_area, n_dispatchers * policy->state_bytes);
}

struct pool_policy *
policy_create(const struct weir_config *config)
{
	struct pool_policy *policy = calloc(1, sizeof(*policy));

	if (!policy)
		return NULL;
	classes_resolve(policy, config);
	policy->claims = policy_has(policy, WEIR_STRATEGY_CLAIMS);
	if (state_init(policy, config->n_dispatchers) < 0) {
		free(policy);
		return NULL;
	}
	policy->tag = config->tag;
	policy->tag_release = config->tag_release;
	policy->n_users = 1;
	return policy;
}

struct pool_policy *
policy_use(struct pool_policy *policy)
{
	policy->n_users++;
	return policy;
}

void
policy_unuse(struct pool_policy *policy)
{
	if (!policy || --policy->n_users > 0)
		return;
	if (policy->tag_release)
		policy->tag_release(policy->tag);
	area_free(&policy->state_area);
	free(policy);
}
