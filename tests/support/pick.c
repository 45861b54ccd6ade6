/* SPDX-License-Identifier: BSD-3-Clause */
#include "pick.h"

#include "test.h"

void
pick_ids_fill(weir_worker_id *ids, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		ids[i] = (weir_worker_id)i;
}

static void
pick_set_snapshot(struct pick *pick, const weir_worker_id *ids, const uint16_t *weights, uint32_t n)
{
	struct weir_snapshot *snapshot = &pick->snapshot;

	*snapshot = (struct weir_snapshot) {
		.version = snapshot->version + 1,
		.n_members = n,
		.n_routable = n,
		.n_routes = 1,
		.route = { { .strategy = pick->strategy } },
	};
	for (uint32_t i = 0; i < WEIR_WORKERS_MAX; i++)
		snapshot->position[i] = WEIR_WORKER_NONE;
	for (uint32_t i = 0; i < n; i++) {
		snapshot->member[i] = ids[i];
		snapshot->routable[i] = ids[i];
		snapshot->position[ids[i]] = (uint16_t)i;
		snapshot->weight[i] = weights ? weights[i] : 1;
	}
	if (pick->strategy->prepare) {
		snapshot->route[0].table = pick->strategy->prepare(pick->strategy, snapshot);
		assert_non_null(snapshot->route[0].table);
	}
}

static void
pick_set_context(struct pick *pick, uint32_t n)
{
	pick->context = (struct weir_pick_context) {
		.table = pick->snapshot.route[0].table,
		.depth = pick->depth,
		.room = pick->room,
		.routable = pick->snapshot.routable,
		.version = 1,
		.n_routable = n,
		.seed = 42,
	};
	if (pick->strategy->flags & WEIR_STRATEGY_READS_CLASS_DEPTH)
		pick->context.class_depth = pick->class_depth;
	if (pick->strategy->state_bytes > 0) {
		pick->context.state = calloc(1, pick->strategy->state_bytes);
		assert_non_null(pick->context.state);
	}
	pick_set_stride(pick, 1);
	for (uint32_t i = 0; i < WEIR_WORKERS_MAX; i++)
		pick->room[i] = WEIR_LANE_SIZE_MAX;
	for (uint32_t i = 0; i < WEIR_BURST_MAX; i++)
		pick->meta[i].bucket = (uint16_t)(i * 40503);
}

/* `weights` may be NULL: all 1. */
static struct pick *
pick_make(const struct weir_strategy *strategy, const weir_worker_id *ids, const uint16_t *weights,
	uint32_t n)
{
	struct pick *pick = calloc(1, sizeof(*pick));

	assert_non_null(pick);
	assert_non_null(strategy);
	pick->strategy = strategy;
	pick_set_snapshot(pick, ids, weights, n);
	pick_set_context(pick, n);
	return pick;
}

struct pick *
pick_create_of(const struct weir_strategy *strategy, const weir_worker_id *ids, uint32_t n)
{
	return pick_make(strategy, ids, NULL, n);
}

struct pick *
pick_create_weighted(
	const char *name, const weir_worker_id *ids, const uint16_t *weights, uint32_t n)
{
	return pick_make(weir_strategy_find(name), ids, weights, n);
}

struct pick *
pick_create_for(const char *name, const weir_worker_id *ids, uint32_t n)
{
	return pick_create_weighted(name, ids, NULL, n);
}

struct pick *
pick_create(const char *name, uint32_t n)
{
	weir_worker_id ids[WEIR_WORKERS_MAX];

	pick_ids_fill(ids, n);
	return pick_create_for(name, ids, n);
}

void
pick_destroy(struct pick *pick)
{
	if (pick->strategy->release)
		pick->strategy->release((void *)(uintptr_t)pick->snapshot.route[0].table);
	free(pick->context.state);
	free(pick);
}

void
pick_change_pool(struct pick *pick, const weir_worker_id *ids, uint32_t n)
{
	struct weir_pick_context *context = &pick->context;

	if (pick->strategy->release)
		pick->strategy->release((void *)(uintptr_t)pick->snapshot.route[0].table);
	pick_set_snapshot(pick, ids, NULL, n);
	context->table = pick->snapshot.route[0].table;
	context->version = pick->snapshot.version;
	context->n_routable = n;
	pick_set_stride(pick, context->stride);
	pick_set_index(pick, context->index);
}

void
pick_set_index(struct pick *pick, uint64_t index)
{
	pick->context.index = index;
	pick->context.rotation = (uint32_t)(index % pick->context.n_routable);
}

void
pick_set_stride(struct pick *pick, uint32_t stride)
{
	pick->context.stride = stride;
	pick->context.rotation_stride = stride % pick->context.n_routable;
}

void
pick_freeze(struct pick *pick, const uint32_t *depth)
{
	for (uint32_t i = 0; i < pick->context.n_routable; i++) {
		pick->depth[i] = depth[i];
		pick->room[i] = 0;
	}
}

void
pick_share(struct pick *pick, uint32_t dispatcher_id, weir_claim *claims)
{
	pick->context.dispatcher_id = dispatcher_id;
	pick->context.claims = claims;
}

void
pick_burst(struct pick *pick, uint32_t n)
{
	struct weir_pick_context *context = &pick->context;
	const bool finds_none = pick->strategy->flags & WEIR_STRATEGY_FINDS_NONE;

	pick->strategy->pick_burst(context, pick->meta, n, pick->out);
	for (uint32_t i = 0; i < n; i++)
		assert_true(pick->out[i] < context->n_routable ||
			    (finds_none && pick->out[i] == WEIR_PICK_NONE));
	pick_set_index(pick, context->index + (uint64_t)n * context->stride);
}

uint16_t
pick_at(struct pick *pick, uint64_t index)
{
	pick_set_index(pick, index);
	pick_burst(pick, 1);
	return pick->out[0];
}

void
pick_withdraw(struct pick *pick, uint32_t n, uint32_t n_kept)
{
	struct weir_pick_context *context = &pick->context;

	pick->strategy->withdraw_picks(context, n_kept);
	pick_set_index(pick, context->index - (uint64_t)(n - n_kept) * context->stride);
}

weir_worker_id
pick_for_class(struct pick *pick, uint8_t class_id)
{
	pick->meta[0].class_id = class_id;
	pick_burst(pick, 1);
	return pick->snapshot.routable[pick->out[0]];
}

void
pick_assert_class(struct pick *pick, uint8_t class_id, const weir_worker_id *expected, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(pick_for_class(pick, class_id), expected[i]);
}

void
pick_assert(struct pick *pick, uint64_t index, const uint16_t *expected, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(pick_at(pick, index + i), expected[i]);
}
