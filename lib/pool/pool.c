/* SPDX-License-Identifier: BSD-3-Clause */
/* Creation and destruction of a pool. Everything is allocated here and nowhere later. */
#include "pool.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

void
pool_config_detach(struct weir_pool *pool)
{
	struct weir_config *config = &pool->config;

	const struct weir_strategy_route *route = &pool->policy->route[0];

	config->strategy = route->strategy->name;
	config->fallback = route->fallback ? route->fallback->name : NULL;
	config->overflow = pool->policy->class_of[0].policy->name;
	config->strategies = NULL;
	config->n_strategies = 0;
	config->classes = NULL;
}

struct weir_pool *
weir_pool_create(const struct weir_config *config, struct weir_config_error *error)
{
	struct weir_pool *pool;
	int rc = weir_config_check(config, error);

	if (rc < 0)
		goto fail;
	rc = -ENOMEM;
	pool = aligned_alloc(CACHE_LINE_BYTES, sizeof(*pool));
	if (!pool)
		goto fail;
	*pool = (struct weir_pool) {
		.config = *config,
	};
	if (pool->config.n_members == 0)
		pool->config.n_members = config->n_workers;
	pool->policy = policy_create(&pool->config);
	if (!pool->policy)
		goto free_pool;
	pool_config_detach(pool);
	rc = pool_memory_init(pool);
	if (rc < 0)
		goto free_policy;
	rc = pool_snapshot_init(pool);
	if (rc < 0)
		goto free_memory;
	return pool;

free_memory:
	pool_memory_fini(pool);
free_policy:
	/* Without a pool the tag stays the caller's. */
	pool->policy->tag_release = NULL;
	policy_unuse(pool->policy);
free_pool:
	free(pool);
fail:
	errno = -rc;
	return NULL;
}

void
weir_pool_destroy(struct weir_pool *pool)
{
	if (!pool)
		return;
	pool_snapshot_fini(pool);
	policy_unuse(pool->policy);
	pool_memory_fini(pool);
	free(pool);
}

const struct weir_config *
weir_pool_config(const struct weir_pool *pool)
{
	return &pool->config;
}

bool
weir_pool_fans_out(const struct weir_pool *pool)
{
	return policy_fans_out(pool->policy);
}

struct weir_worker *
weir_pool_worker(struct weir_pool *pool, weir_worker_id id)
{
	if (id >= pool->config.n_workers) {
		errno = EINVAL;
		return NULL;
	}
	return &pool->workers[id];
}

void
weir_pool_worker_activity(
	const struct weir_pool *pool, weir_worker_id id, struct weir_worker_activity *activity)
{
	const struct activity *counted = pool_activity(pool, id);

	/* Completed first: a reader then never sees more completed than taken. */
	activity->completed = counter_read(&counted->completed);
	activity->taken = counter_read(&counted->taken);
	activity->busy_cycles = counter_read(&counted->busy_cycles);
	activity->busy_since = counter_read(&counted->busy_since);
}

/*
 * Edge E5, release side: what control did before the worker may rely on; without it the worker
 * could be told to run in lanes that are not yet what they shall be.
 */
void
weir_pool_command(struct weir_pool *pool, weir_worker_id id, enum weir_worker_command command)
{
	assert(id < pool->config.n_workers && (unsigned int)command <= WEIR_COMMAND_STOP);
	atomic_store_explicit(
		&pool_worker_header(pool, id)->command, command, memory_order_release);
}

static bool
state_is_reportable(uint32_t state)
{
	return state >= WEIR_WORKER_READY && state <= WEIR_WORKER_STOPPED;
}

struct weir_worker_pulse
weir_pool_worker_pulse(const struct weir_pool *pool, weir_worker_id id)
{
	const uint64_t pulse = pulse_read(pool_progress(pool, id));
	const uint32_t state = pulse_state(pulse);

	return (struct weir_worker_pulse) {
		.beats = pulse_beats(pulse),
		.state = state_is_reportable(state) ? (enum weir_worker_state)state
						    : WEIR_WORKER_STARTING,
	};
}
