/* SPDX-License-Identifier: BSD-3-Clause */
#include "trial.h"

#include <errno.h>
#include <stdlib.h>

#include <weir/plugin.h>

#include "child.h"
#include "rng.h"

#define TRIAL_SEED 1
#define TRIAL_BURSTS 64 /* per pool */
#define DEPTH_BELOW 1024
#define WEIGHT_BELOW 8
#define UNTOUCHED 0xabcd /* no position */

/* All that a strategy may be given. Depths and rooms beyond the pool are there, and nobody's. */
struct trial {
	const struct weir_strategy *strategy;
	char *reason;
	size_t n_bytes;
	uint64_t draws;
	struct weir_snapshot snapshot;
	struct weir_pick_context context;
	struct weir_meta meta[WEIR_BURST_MAX];
	uint16_t out[WEIR_BURST_MAX + 1];
	uint32_t depth[WEIR_WORKERS_MAX];
	uint32_t room[WEIR_WORKERS_MAX];
	uint32_t class_depth[WEIR_CLASSES_MAX * WEIR_WORKERS_MAX];
	weir_claim claims[WEIR_CLASSES_MAX * WEIR_WORKERS_MAX];
};

static uint32_t
draw_below(struct trial *trial, uint32_t n)
{
	return rng_below(rng_at(TRIAL_SEED, trial->draws++), n);
}

/* Every second worker is a member, so that ids and positions differ where they can. */
static void
snapshot_fill(struct trial *trial, uint32_t n)
{
	struct weir_snapshot *snapshot = &trial->snapshot;

	snapshot->version++;
	snapshot->n_members = n;
	snapshot->n_routable = n;
	snapshot->n_routes = 1;
	snapshot->seed = TRIAL_SEED;
	snapshot->route[0].strategy = trial->strategy;
	for (uint32_t i = 0; i < WEIR_WORKERS_MAX; i++)
		snapshot->position[i] = WEIR_WORKER_NONE;
	for (uint32_t i = 0; i < n; i++) {
		const weir_worker_id id =
			(weir_worker_id)(n <= WEIR_WORKERS_MAX / 2 ? 2 * i + 1 : i);

		snapshot->member[i] = id;
		snapshot->routable[i] = id;
		snapshot->position[id] = (uint16_t)i;
		snapshot->weight[i] = (uint16_t)(1 + draw_below(trial, WEIGHT_BELOW));
	}
}

static void
packets_fill(struct trial *trial)
{
	for (uint32_t i = 0; i < WEIR_BURST_MAX; i++) {
		const uint64_t hash = rng_at(TRIAL_SEED, trial->draws++);

		trial->meta[i] = (struct weir_meta) {
			.time_ns = trial->draws * 1000,
			.hash = hash,
			.length = 60 + draw_below(trial, 1455),
			.bucket = (uint16_t)(hash >> 48),
			.port = (uint8_t)draw_below(trial, 2),
			.class_id = (uint8_t)draw_below(trial, WEIR_CLASSES_MAX),
		};
	}
}

/* A burst's context: index and stride vary, everything that follows from them holds. */
static void
context_fill(struct trial *trial, uint32_t n, uint32_t stride, uint64_t index)
{
	const uint32_t flags = trial->strategy->flags;
	struct weir_pick_context *context = &trial->context;

	context->depth = trial->depth;
	context->room = trial->room;
	context->n_routable = n;
	context->stride = stride;
	context->rotation = (uint32_t)(index % n);
	context->rotation_stride = stride % n;
	context->index = index;
	context->seed = TRIAL_SEED;
	context->routable = trial->snapshot.routable;
	context->version = trial->snapshot.version;
	context->now_ns = index * 1000;
	context->class_depth = flags & WEIR_STRATEGY_READS_CLASS_DEPTH ? trial->class_depth : NULL;
	context->claims = flags & WEIR_STRATEGY_CLAIMS ? trial->claims : NULL;
	for (uint32_t i = 0; i < n; i++) {
		trial->depth[i] = draw_below(trial, 2) * draw_below(trial, DEPTH_BELOW);
		trial->room[i] = draw_below(trial, DEPTH_BELOW);
	}
}

static int
answers_check(const struct trial *trial, uint32_t n_picks)
{
	const bool may_be_none = trial->strategy->flags & WEIR_STRATEGY_FINDS_NONE;
	const uint32_t n = trial->context.n_routable;

	for (uint32_t i = 0; i < n_picks; i++) {
		if (trial->out[i] < n || (may_be_none && trial->out[i] == WEIR_PICK_NONE))
			continue;
		if (trial->out[i] == WEIR_PICK_NONE)
			return reason_set(trial->reason, trial->n_bytes, EINVAL,
				"picked no worker of %u, without FINDS_NONE", n);
		return reason_set(trial->reason, trial->n_bytes, EINVAL,
			"picked position %u of %u workers", trial->out[i], n);
	}
	if (trial->out[n_picks] != UNTOUCHED)
		return reason_set(trial->reason, trial->n_bytes, EINVAL,
			"wrote more answers than it was asked for");
	return 0;
}

static int
burst_try(struct trial *trial, uint32_t n, uint64_t index)
{
	const uint32_t stride = draw_below(trial, 2) ? 1 : 1 + draw_below(trial, WEIR_BURST_MAX);
	const uint32_t n_picks = 1 + draw_below(trial, WEIR_BURST_MAX / stride);
	int rc;

	context_fill(trial, n, stride, index);
	for (uint32_t i = 0; i <= WEIR_BURST_MAX; i++)
		trial->out[i] = UNTOUCHED;
	trial->strategy->pick_burst(&trial->context, trial->meta, n_picks, trial->out);
	rc = answers_check(trial, n_picks);
	if (rc == 0 && trial->strategy->withdraw_picks && draw_below(trial, 2))
		trial->strategy->withdraw_picks(&trial->context, draw_below(trial, n_picks + 1));
	return rc;
}

static int
pool_try(struct trial *trial, uint32_t n)
{
	const struct weir_strategy *strategy = trial->strategy;
	void *table = NULL;
	int rc = 0;

	snapshot_fill(trial, n);
	packets_fill(trial);
	if (strategy->prepare) {
		table = strategy->prepare(strategy, &trial->snapshot);
		if (!table)
			return reason_set(trial->reason, trial->n_bytes, EINVAL,
				"prepares no table for %u workers", n);
	}
	trial->context.table = table;
	/* Small indices, where strategies begin, and some beyond 32 bits. */
	for (uint64_t i = 0; rc == 0 && strategy->pick_burst && i < TRIAL_BURSTS; i++)
		rc = burst_try(trial, n, i % 2 ? i * 7 : i << 34);
	if (strategy->release)
		strategy->release(table);
	return rc;
}

int
strategy_try(const struct weir_strategy *strategy, char *reason, size_t n_bytes)
{
	static const uint32_t sizes[] = { 1, 3, WEIR_WORKERS_MAX };
	struct trial *trial = calloc(1, sizeof(*trial));
	void *state = strategy->state_bytes > 0 ? calloc(1, strategy->state_bytes) : NULL;
	int rc = 0;

	if (!trial || (strategy->state_bytes > 0 && !state))
		rc = reason_set(reason, n_bytes, ENOMEM, "no memory for the trial");
	for (size_t i = 0; rc == 0 && i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		trial->strategy = strategy;
		trial->reason = reason;
		trial->n_bytes = n_bytes;
		trial->context.state = state;
		rc = pool_try(trial, sizes[i]);
	}
	free(state);
	free(trial);
	return rc;
}
