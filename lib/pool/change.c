/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes of what a pool does with packets while they flow, and what a change would do: checked as
 * a new configuration is, made ready beside what is in force, then published whole or not at all.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "pool.h"

/* The configuration that the pool would have after a change. */
static struct weir_config
config_after(const struct weir_pool *pool, const struct weir_change *change)
{
	struct weir_config config = pool->config;

	if (change->strategy) {
		config.strategy = change->strategy;
		config.fallback = change->fallback;
	}
	if (change->overflow)
		config.overflow = change->overflow;
	if (change->weights)
		memcpy(config.weights, change->weights, sizeof(config.weights));
	config.strategies = change->strategies;
	config.n_strategies = change->n_strategies;
	config.classes = change->classes;
	config.n_classes = change->n_classes;
	config.tag = change->tag;
	config.tag_release = change->tag_release;
	return config;
}

/* Lanes were laid out by the first policy. */
static int
layout_check(const struct weir_pool *pool, const struct pool_policy *policy,
	struct weir_config_error *error)
{
	if (policy->claim_lanes != pool->policy->claim_lanes) {
		error_set(error, "overflow", policy->class_of[0].policy->name);
		error_allow(error, pool->policy->claim_lanes
					   ? "beside a policy that evicts, as at the start"
					   : "only policies that do not evict, as at the start");
		return -EINVAL;
	}
	if (policy->covering != pool->policy->covering) {
		error_set(error, "classes", "WEIR_ADMIT_COVER_EARLY");
		error_allow(error, "of the same classes as at the start");
		return -EINVAL;
	}
	return 0;
}

/* A policy that was not taken: its tag stays the caller's. */
static void
policy_discard(struct pool_policy *policy)
{
	policy->tag_release = NULL;
	policy_unuse(policy);
}

/* Makes the policy of a changed configuration. Returns 0, -EINVAL or -ENOMEM. */
static int
policy_prepare(const struct weir_pool *pool, const struct weir_config *config,
	struct pool_policy **policy, struct weir_config_error *error)
{
	struct weir_config_error ignored;
	int rc;

	if (!error)
		error = &ignored;
	rc = weir_config_check(config, error);
	if (rc < 0)
		return rc;
	*policy = policy_create(config);
	if (!*policy)
		return -ENOMEM;
	rc = layout_check(pool, *policy, error);
	if (rc < 0)
		policy_discard(*policy);
	return rc;
}

int
weir_pool_check_change(const struct weir_pool *pool, const struct weir_change *change,
	struct weir_config_error *error)
{
	const struct weir_config config = config_after(pool, change);
	struct pool_policy *policy;
	const int rc = policy_prepare(pool, &config, &policy, error);

	if (rc == 0)
		policy_discard(policy);
	return rc;
}

int
weir_pool_change(
	struct weir_pool *pool, const struct weir_change *change, struct weir_config_error *error)
{
	const struct weir_config before = pool->config;
	struct pool_policy *old = pool->policy;
	const struct weir_config config = config_after(pool, change);
	struct pool_policy *policy;
	int rc = policy_prepare(pool, &config, &policy, error);

	if (rc < 0)
		return rc;
	pool->config = config;
	pool->policy = policy;
	pool_config_detach(pool);
	rc = snapshot_replace(pool, pool_snapshot_view(pool));
	if (rc < 0) {
		pool->config = before;
		pool->policy = old;
		policy_discard(policy);
		return rc;
	}
	policy_unuse(old);
	return 0;
}

/* Who a bucket's packets would go to: what a strategy needs to see to tell that. */
struct owner_question {
	struct weir_pick_context context;
	uint32_t depth[WEIR_WORKERS_MAX];
	uint32_t room[WEIR_WORKERS_MAX];
	struct weir_meta meta[WEIR_BURST_MAX];
	uint16_t answer[WEIR_BURST_MAX];
};

/* Asks for every bucket, in bursts. */
static void
owners_ask(const struct weir_snapshot *view, const void *table, struct owner_question *question,
	weir_worker_id *owners)
{
	const struct weir_strategy *strategy = view->route[0].strategy;

	question->context = (struct weir_pick_context) {
		.table = table,
		.depth = question->depth,
		.room = question->room,
		.n_routable = view->n_routable,
		.stride = 1,
		.rotation_stride = 1 % view->n_routable,
		.routable = view->routable,
		.version = view->version,
		.seed = view->seed,
	};
	for (uint32_t first = 0; first < WEIR_BUCKETS; first += WEIR_BURST_MAX) {
		for (uint32_t i = 0; i < WEIR_BURST_MAX; i++)
			question->meta[i] = (struct weir_meta) {
				.hash = (uint64_t)(first + i) << 48,
				.bucket = (uint16_t)(first + i),
			};
		strategy->pick_burst(
			&question->context, question->meta, WEIR_BURST_MAX, question->answer);
		for (uint32_t i = 0; i < WEIR_BURST_MAX; i++)
			owners[first + i] = question->answer[i] < view->n_routable
						    ? view->routable[question->answer[i]]
						    : WEIR_WORKER_NONE;
	}
}

/* Fills `owners` for a picture of the pool. */
static int
owners_find(const struct weir_snapshot *view, weir_worker_id *owners)
{
	const struct weir_strategy *strategy = view->route[0].strategy;
	struct owner_question *question;
	const void *table = NULL;
	int rc = 0;

	if (!(strategy->flags & WEIR_STRATEGY_OWNS_FLOWS) || view->n_routable == 0)
		return -ENOTSUP;
	question = calloc(1, sizeof(*question));
	if (!question)
		return -ENOMEM;
	if (strategy->prepare) {
		table = strategy->prepare(strategy, view);
		rc = table ? 0 : -ENOMEM;
	}
	if (rc == 0)
		owners_ask(view, table, question, owners);
	if (table)
		strategy->release((void *)(uintptr_t)table);
	free(question);
	return rc;
}

/* Takes a worker out of the routable ones, whose neighbours close ranks. */
static void
view_remove(struct weir_snapshot *view, weir_worker_id id)
{
	uint32_t at = id < WEIR_WORKERS_MAX ? view->position[id] : WEIR_WORKER_NONE;

	if (at == WEIR_WORKER_NONE)
		return;
	view->position[id] = WEIR_WORKER_NONE;
	view->n_routable--;
	for (; at < view->n_routable; at++) {
		view->routable[at] = view->routable[at + 1];
		view->weight[at] = view->weight[at + 1];
		view->position[view->routable[at]] = (uint16_t)at;
	}
}

/* Puts a worker behind the routable ones, where a new member stands. */
static void
view_add(struct weir_snapshot *view, weir_worker_id id, uint16_t weight)
{
	if (id >= WEIR_WORKERS_MAX || view->position[id] != WEIR_WORKER_NONE)
		return;
	view->position[id] = (uint16_t)view->n_routable;
	view->weight[view->n_routable] = weight > 0 ? weight : 1;
	view->routable[view->n_routable++] = id;
}

static void
weights_put(struct weir_snapshot *view, const uint16_t *weights)
{
	for (uint32_t i = 0; i < view->n_routable; i++) {
		const uint16_t weight = weights[view->routable[i]];

		view->weight[i] = weight > 0 ? weight : 1;
	}
}

/* Makes the picture of a pool as `prospect` has it. Returns 0, -EINVAL or -ENOMEM. */
static int
view_foresee(const struct weir_pool *pool, const struct weir_prospect *prospect,
	struct weir_snapshot *view)
{
	struct weir_config config = pool->config;
	struct pool_policy *policy;
	int rc;

	view_remove(view, prospect->removed);
	view_add(view, prospect->added,
		prospect->added < WEIR_WORKERS_MAX ? config.weights[prospect->added] : 0);
	if (!prospect->change)
		return 0;
	config = config_after(pool, prospect->change);
	rc = policy_prepare(pool, &config, &policy, NULL);
	if (rc < 0)
		return rc;
	view->route[0].strategy = policy->route[0].strategy;
	policy_discard(policy);
	weights_put(view, config.weights);
	return 0;
}

int
weir_pool_owners(
	const struct weir_pool *pool, const struct weir_prospect *prospect, weir_worker_id *owners)
{
	struct weir_snapshot *view = malloc(sizeof(*view));
	int rc;

	if (!view)
		return -ENOMEM;
	*view = *pool_snapshot_view(pool);
	rc = view_foresee(pool, prospect, view);
	if (rc == 0)
		rc = owners_find(view, owners);
	free(view);
	return rc;
}
