/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Membership and state → snapshot. A change copies the current snapshot, edits the copy, lets the
 * strategy prepare its table and publishes it with one store (edge E1). An old snapshot is freed
 * once every dispatcher has reported a newer one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pool.h"

#define FLAGS_ALL ((uint32_t)(WEIR_WORKER_PAUSED | WEIR_WORKER_LOST | WEIR_WORKER_STUCK))

static struct pool_snapshot *
snapshot_current(const struct weir_pool *pool)
{
	/* Only the control thread stores it, and it is the control thread that reads here. */
	return atomic_load_explicit(&pool->current, memory_order_relaxed);
}

static void
table_release(const struct weir_strategy *strategy, const void *table)
{
	if (table)
		strategy->release((void *)(uintptr_t)table);
}

static void
tables_release(struct weir_snapshot *view)
{
	for (uint32_t i = 0; i < view->n_routes; i++) {
		struct weir_strategy_route *route = &view->route[i];

		table_release(route->strategy, route->table);
		table_release(route->fallback, route->fallback_table);
	}
}

static void
snapshot_free(struct pool_snapshot *snapshot)
{
	tables_release(&snapshot->view);
	policy_unuse(snapshot->policy);
	free(snapshot);
}

static bool
worker_is_routable(const struct weir_pool *pool, weir_worker_id id)
{
	return pool->state[id] == WEIR_WORKER_READY && pool->flags[id] == 0;
}

/* Whether a member that is not routable will be. */
static bool
worker_is_awaited(const struct weir_pool *pool, weir_worker_id id)
{
	if (pool->state[id] == WEIR_WORKER_STOPPED || pool->state[id] == WEIR_WORKER_DEAD)
		return pool->order[id].order == LANE_RECLAIM && pool->order[id].how.awaited;
	return pool->state[id] == WEIR_WORKER_STARTING ||
	       (pool->state[id] == WEIR_WORKER_READY && pool->flags[id] != 0);
}

/* Fills the dense list of routable workers and its inverse from members and states. */
static void
snapshot_index(const struct weir_pool *pool, struct pool_snapshot *snapshot)
{
	struct weir_snapshot *view = &snapshot->view;

	view->n_routable = 0;
	for (uint32_t i = 0; i < WEIR_WORKERS_MAX; i++)
		view->position[i] = WEIR_WORKER_NONE;
	for (uint32_t i = 0; i < view->n_members; i++) {
		const weir_worker_id id = view->member[i];

		snapshot->is_awaited |= worker_is_awaited(pool, id);
		if (!worker_is_routable(pool, id))
			continue;
		view->position[id] = (uint16_t)view->n_routable;
		view->weight[view->n_routable] =
			pool->config.weights[id] > 0 ? pool->config.weights[id] : 1;
		view->routable[view->n_routable++] = id;
	}
}

static int
table_prepare(
	const struct weir_strategy *strategy, const struct weir_snapshot *view, const void **table)
{
	if (!strategy || !strategy->prepare)
		return 0;
	*table = strategy->prepare(strategy, view);
	return *table ? 0 : -ENOMEM;
}

static int
snapshot_prepare(struct weir_snapshot *view)
{
	for (uint32_t i = 0; i < view->n_routes; i++) {
		view->route[i].table = NULL;
		view->route[i].fallback_table = NULL;
	}
	for (uint32_t i = 0; i < view->n_routes; i++) {
		struct weir_strategy_route *route = &view->route[i];

		if (table_prepare(route->strategy, view, &route->table) == 0 &&
			table_prepare(route->fallback, view, &route->fallback_table) == 0)
			continue;
		tables_release(view);
		return -ENOMEM;
	}
	return 0;
}

/* Edge E1, the way back, acquire side: what a dispatcher read of older snapshots it has read. */
static uint64_t
snapshot_oldest_in_use(const struct weir_pool *pool)
{
	uint64_t oldest = snapshot_current(pool)->view.version;

	for (uint32_t i = 0; i < pool->config.n_dispatchers; i++) {
		const uint64_t seen =
			atomic_load_explicit(&pool->seen[i].version, memory_order_acquire);

		if (pool->dispatcher_exists[i] && seen < oldest)
			oldest = seen;
	}
	return oldest;
}

static void
snapshot_free_unused(struct weir_pool *pool)
{
	const uint64_t oldest = snapshot_oldest_in_use(pool);
	struct pool_snapshot **link = &pool->retired;

	while (*link) {
		struct pool_snapshot *snapshot = *link;

		if (snapshot->view.version >= oldest) {
			link = &snapshot->older;
			continue;
		}
		*link = snapshot->older;
		snapshot_free(snapshot);
	}
}

/*
 * Edge E1, release side: without it a dispatcher could read the snapshot's memory as it was before
 * it was filled.
 */
static void
snapshot_publish(struct weir_pool *pool, struct pool_snapshot *next)
{
	struct pool_snapshot *old = snapshot_current(pool);

	atomic_store_explicit(&pool->current, next, memory_order_release);
	if (old) {
		old->older = pool->retired;
		pool->retired = old;
		snapshot_free_unused(pool);
	}
}

int
snapshot_replace(struct weir_pool *pool, const struct weir_snapshot *edited)
{
	struct pool_snapshot *next = calloc(1, sizeof(*next));

	if (!next)
		return -ENOMEM;
	next->view = *edited;
	next->view.version++;
	next->view.n_routes = pool->policy->n_routes;
	memcpy(next->view.route, pool->policy->route, sizeof(next->view.route));
	memcpy(next->order, pool->order, sizeof(next->order));
	snapshot_index(pool, next);
	if (snapshot_prepare(&next->view) < 0) {
		free(next);
		return -ENOMEM;
	}
	next->policy = policy_use(pool->policy);
	snapshot_publish(pool, next);
	return 0;
}

int
pool_snapshot_init(struct weir_pool *pool)
{
	struct weir_snapshot first = {
		.n_members = pool->config.n_members,
		.seed = pool->config.seed,
	};

	for (uint32_t i = 0; i < first.n_members; i++) {
		first.member[i] = (weir_worker_id)i;
		pool->state[i] = WEIR_WORKER_READY;
	}
	return snapshot_replace(pool, &first);
}

void
pool_snapshot_fini(struct weir_pool *pool)
{
	struct pool_snapshot *next;

	for (struct pool_snapshot *old = pool->retired; old; old = next) {
		next = old->older;
		snapshot_free(old);
	}
	pool->retired = NULL;
	snapshot_free(snapshot_current(pool));
	atomic_store_explicit(&pool->current, NULL, memory_order_relaxed);
}

/* Where `id` stands among the members; n_members if it is none. */
static uint32_t
member_find(const struct weir_snapshot *view, weir_worker_id id)
{
	uint32_t i = 0;

	while (i < view->n_members && view->member[i] != id)
		i++;
	return i;
}

/* What control knows of a worker, to be put back if a change cannot be published. */
struct worker_record {
	enum weir_worker_state state;
	uint32_t flags;
	struct worker_order order;
};

static struct worker_record
record_read(const struct weir_pool *pool, weir_worker_id id)
{
	return (struct worker_record) { pool->state[id], pool->flags[id], pool->order[id] };
}

static void
record_write(struct weir_pool *pool, weir_worker_id id, const struct worker_record *record)
{
	pool->state[id] = record->state;
	pool->flags[id] = record->flags;
	pool->order[id] = record->order;
}

/* Publishes `edited` with worker `id` as `record` says; on failure all is as it was. */
static int
worker_change(struct weir_pool *pool, const struct weir_snapshot *edited, weir_worker_id id,
	const struct worker_record *record)
{
	const struct worker_record before = record_read(pool, id);

	record_write(pool, id, record);
	if (snapshot_replace(pool, edited) == 0)
		return 0;
	record_write(pool, id, &before);
	return -ENOMEM;
}

int
weir_pool_set_state(struct weir_pool *pool, weir_worker_id id, enum weir_worker_state state)
{
	const struct weir_snapshot *view = &snapshot_current(pool)->view;
	struct worker_record record;

	if ((unsigned int)state >= WEIR_WORKER_STATE_COUNT)
		return -EINVAL;
	if (member_find(view, id) == view->n_members)
		return -ENOENT;
	if (state < pool->state[id])
		return -EINVAL;
	if (state == pool->state[id])
		return 0;
	record = record_read(pool, id);
	record.state = state;
	if (state == WEIR_WORKER_DRAINING)
		record.order.order = LANE_END;
	if (worker_change(pool, view, id, &record) < 0)
		return -ENOMEM;
	if (state == WEIR_WORKER_DRAINING)
		pool_lanes_end_absent(pool, id);
	return 0;
}

int
weir_pool_set_flags(struct weir_pool *pool, weir_worker_id id, uint32_t flags)
{
	const struct weir_snapshot *view = &snapshot_current(pool)->view;
	struct worker_record record;

	if (flags & ~FLAGS_ALL)
		return -EINVAL;
	if (member_find(view, id) == view->n_members)
		return -ENOENT;
	if (flags == pool->flags[id])
		return 0;
	record = record_read(pool, id);
	record.flags = flags;
	return worker_change(pool, view, id, &record);
}

int
weir_pool_remove(struct weir_pool *pool, weir_worker_id id)
{
	struct weir_snapshot edited = snapshot_current(pool)->view;
	const uint32_t at = member_find(&edited, id);
	struct worker_record record;

	if (at == edited.n_members)
		return -ENOENT;
	edited.n_members--;
	for (uint32_t i = at; i < edited.n_members; i++)
		edited.member[i] = edited.member[i + 1];
	record = record_read(pool, id);
	if (record.state < WEIR_WORKER_STOPPED)
		record.state = WEIR_WORKER_STOPPED;
	return worker_change(pool, &edited, id, &record);
}

int
weir_pool_add(struct weir_pool *pool, weir_worker_id id)
{
	struct weir_snapshot edited = snapshot_current(pool)->view;
	struct worker_record record;

	if (id >= pool->config.n_workers)
		return -EINVAL;
	if (member_find(&edited, id) < edited.n_members)
		return -EEXIST;
	if (atomic_load_explicit(&pool->reclaimed[id], memory_order_relaxed) ||
		pool->order[id].order == LANE_RECLAIM)
		return -EBUSY;
	edited.member[edited.n_members++] = id;
	record = (struct worker_record) {
		.state = WEIR_WORKER_STARTING,
		.order = { .incarnation = pool->order[id].incarnation + 1 },
	};
	if (worker_change(pool, &edited, id, &record) < 0)
		return -ENOMEM;
	pool_incarnation_begin(pool, id, record.order.incarnation);
	return 0;
}

enum weir_worker_state
weir_pool_worker_state(const struct weir_pool *pool, weir_worker_id id, uint32_t *flags)
{
	if (flags)
		*flags = pool->flags[id];
	return pool->state[id];
}

uint32_t
weir_pool_worker_incarnation(const struct weir_pool *pool, weir_worker_id id)
{
	return pool->order[id].incarnation;
}

static bool
departure_is_valid(const struct weir_pool *pool, const struct weir_departure *how)
{
	return (how->state == WEIR_WORKER_STOPPED || how->state == WEIR_WORKER_DEAD) &&
	       (!how->redispatch || pool->config.lend_metadata) &&
	       (!how->redeliver || how->redispatch) &&
	       (unsigned int)how->queued_reason < WEIR_REASON_COUNT &&
	       (unsigned int)how->in_process_reason < WEIR_REASON_COUNT;
}

int
weir_pool_worker_gone(struct weir_pool *pool, weir_worker_id id, const struct weir_departure *how)
{
	struct worker_record record;

	if (id >= pool->config.n_workers)
		return -ENOENT;
	if (!departure_is_valid(pool, how))
		return -EINVAL;
	if (pool->order[id].order == LANE_RECLAIM)
		return -EALREADY;
	record = record_read(pool, id);
	record.state = how->state;
	record.order.order = LANE_RECLAIM;
	record.order.how = *how;
	return worker_change(pool, &snapshot_current(pool)->view, id, &record);
}

/* Edge E13, acquire side: after this nobody looks at the departed incarnation's memory. */
static bool
dispatcher_has_reclaimed(const struct weir_pool *pool, uint32_t dispatcher, weir_worker_id id)
{
	const uint64_t done =
		atomic_load_explicit(&pool->reclaim[dispatcher].done[id], memory_order_acquire);

	return !pool->dispatcher_exists[dispatcher] ||
	       (uint32_t)(done >> 32) == pool->order[id].incarnation + 1;
}

bool
weir_pool_worker_is_reclaimed(const struct weir_pool *pool, weir_worker_id id)
{
	if (pool->order[id].order != LANE_RECLAIM)
		return false;
	for (uint32_t i = 0; i < pool->config.n_dispatchers; i++) {
		if (!dispatcher_has_reclaimed(pool, i, id))
			return false;
	}
	return true;
}

int
weir_pool_worker_restart(struct weir_pool *pool, weir_worker_id id)
{
	struct weir_snapshot edited = snapshot_current(pool)->view;
	struct worker_record record;

	if (id >= pool->config.n_workers)
		return -ENOENT;
	if (!weir_pool_worker_is_reclaimed(pool, id) ||
		atomic_load_explicit(&pool->reclaimed[id], memory_order_relaxed))
		return -EBUSY;
	if (member_find(&edited, id) == edited.n_members)
		edited.member[edited.n_members++] = id;
	record = (struct worker_record) {
		.state = WEIR_WORKER_STARTING,
		.order = { .incarnation = pool->order[id].incarnation + 1 },
	};
	pool_worker_reset(pool, id, record.order.incarnation);
	return worker_change(pool, &edited, id, &record);
}
