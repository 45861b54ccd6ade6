/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The mirror: the dispatcher's own arrays of depth and room, by position in the snapshot, so that
 * a strategy scans memory that no other core writes.
 */
#include "dispatch.h"

/* What the message index is taken modulo of: with every worker stopped, losses rotate too. */
static uint32_t
rotation_divisor(const struct weir_snapshot *snapshot)
{
	if (snapshot->n_routable > 0)
		return snapshot->n_routable;
	return snapshot->n_members > 0 ? snapshot->n_members : 1;
}

/* Kept out of line: nearly every burst finds the snapshot that it knows. */
static __attribute__((noinline)) void
mirror_adopt(struct weir_dispatcher *dispatcher, const struct weir_snapshot *snapshot)
{
	struct weir_pick_context *pick = &dispatcher->pick;
	const struct pool_policy *policy = pool_snapshot_of(snapshot)->policy;
	const uint32_t divisor = rotation_divisor(snapshot);

	dispatcher->snapshot = snapshot;
	if (policy != dispatcher->policy)
		policy_adopt(dispatcher, policy);
	dispatcher->hold_news.all = true;
	dispatcher->rotation_by = fastmod_make(divisor);
	pick->table = snapshot->route[0].table;
	pick->routable = snapshot->routable;
	pick->version = snapshot->version;
	pick->n_routable = snapshot->n_routable;
	pick->rotation = (uint32_t)(pick->index % divisor);
	pick->rotation_stride = dispatcher->chunk % divisor;
	routes_adopt(dispatcher);
	orders_adopt(dispatcher, snapshot);
	for (uint32_t i = 0; i < snapshot->n_routable; i++)
		mirror_restore(dispatcher, snapshot->routable[i]);
	pool_snapshot_report(dispatcher->pool, dispatcher->id, snapshot->version);
}

void
mirror_sync(struct weir_dispatcher *dispatcher)
{
	const struct weir_snapshot *snapshot = pool_snapshot_load(dispatcher->pool);

	if (unlikely(snapshot != dispatcher->snapshot))
		mirror_adopt(dispatcher, snapshot);
}

void *
weir_refresh(struct weir_dispatcher *dispatcher, const struct weir_dispatcher *like)
{
	dispatcher->is_refreshed = true;
	if (!like)
		mirror_sync(dispatcher);
	else if (unlikely(like->snapshot != dispatcher->snapshot))
		mirror_adopt(dispatcher, like->snapshot);
	return dispatcher->policy->tag;
}

uint64_t
weir_message_index(const struct weir_dispatcher *dispatcher)
{
	return dispatcher->pick.index;
}

void
weir_message_index_set(struct weir_dispatcher *dispatcher, uint64_t index)
{
	dispatcher->pick.index = index;
	dispatcher->pick.rotation = (uint32_t)(index % dispatcher->rotation_by.divisor);
}
