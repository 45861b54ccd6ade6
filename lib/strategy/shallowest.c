/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shallowest: the routable worker with the least depth. The scan starts at index mod n and takes
 * strictly less only, so that ties rotate.
 *
 * The early exit is exact. Within a burst depths only grow, so no depth can be below `floor`, the
 * minimum that the last complete scan of this burst proved (0 at its start): a worker at the floor
 * is a minimum, and as the first one met it is the one that the whole scan would have picked.
 *
 * Where depths are uneven it is as good as random how far a scan must go. So the first pick that
 * does not find the floor where it starts notes who is there, and the picks after it go by that: no
 * branch depends on a depth. `visits` is what the scan would have looked at.
 */
#include "cacheline.h"
#include "registry.h"

/* Positions that a word holds: with more workers every pick scans. */
#define TIES_MAX 64

/* Workers per pick from which on a note would cost more than it saves. */
#define TIES_PER_PICK 4

struct scan {
	uint32_t best;	 /* position */
	uint32_t depth;	 /* of the best */
	uint32_t visits; /* mirror entries looked at */
};

/* Scans [from, to) until something at the floor is found. */
static inline void
scan_range(struct scan *scan, const uint32_t *depth, uint32_t from, uint32_t to, uint32_t floor)
{
	for (uint32_t position = from; position < to; position++) {
		scan->visits++;
		if (depth[position] >= scan->depth)
			continue;
		scan->best = position;
		scan->depth = depth[position];
		if (scan->depth <= floor)
			return;
	}
}

static inline struct scan
scan_from(const struct weir_pick_context *ctx, uint32_t start, uint32_t floor)
{
	struct scan scan = { .best = start, .depth = ctx->depth[start], .visits = 1 };

	if (scan.depth > floor)
		scan_range(&scan, ctx->depth, start + 1, ctx->n_routable, floor);
	if (scan.depth > floor)
		scan_range(&scan, ctx->depth, 0, start, floor);
	return scan;
}

/* What the picks of a burst have found out so far. */
struct level {
	uint32_t floor;
	bool notes;    /* notes are made */
	uint64_t ties; /* by position: who is at the floor; 0 = not noted */
};

/* Who is at `depth`, by position. */
static inline uint64_t
ties_find(const struct weir_pick_context *ctx, uint32_t depth)
{
	uint64_t ties = 0;

	for (uint32_t position = ctx->n_routable; position > 0; position--)
		ties = ties << 1 | (ctx->depth[position - 1] == depth);
	return ties;
}

static inline uint32_t
depth_min(const struct weir_pick_context *ctx)
{
	uint32_t least = UINT32_MAX;

	for (uint32_t position = 0; position < ctx->n_routable; position++)
		least = ctx->depth[position] < least ? ctx->depth[position] : least;
	return least;
}

/* How far from `start`, in rotation, the first one at the floor is. */
static inline uint32_t
level_distance(const struct weir_pick_context *ctx, const struct level *level, uint32_t start)
{
	return (uint32_t)__builtin_ctzll(
		level->ties >> start | level->ties << 1 << (ctx->n_routable - 1 - start));
}

/* Picks the one at that distance, which is deeper from here on unless it has no room. */
static inline uint32_t
level_take(
	const struct weir_pick_context *ctx, struct level *level, uint32_t start, uint32_t distance)
{
	const uint32_t sum = start + distance;
	const uint32_t position = sum < ctx->n_routable ? sum : sum - ctx->n_routable;

	if (likely(ctx->room[position] > 0))
		level->ties &= ~(UINT64_C(1) << position);
	return position;
}

/* Notes who is at the floor, and picks the first of them. */
static inline uint32_t
level_note(
	const struct weir_pick_context *ctx, struct level *level, uint32_t start, uint64_t *visits)
{
	const uint64_t all = ~UINT64_C(0) >> (TIES_MAX - ctx->n_routable);
	const uint32_t least = depth_min(ctx);
	uint32_t distance;

	level->ties = ties_find(ctx, least);
	distance = level_distance(ctx, level, start);
	*visits += least > level->floor ? ctx->n_routable : 1 + distance;
	level->floor = least;
	if (level->ties != all)
		return level_take(ctx, level, start, distance);
	/* The next pick finds the floor where it starts, without a note. */
	level->ties = 0;
	return start;
}

/* Picks by a scan. */
static inline uint32_t
level_scan(
	const struct weir_pick_context *ctx, struct level *level, uint32_t start, uint64_t *visits)
{
	const struct scan scan = scan_from(ctx, start, level->floor);

	/* A scan that ended above the floor was complete: it proves a new one. */
	level->floor = scan.depth > level->floor ? scan.depth : level->floor;
	*visits += scan.visits;
	return scan.best;
}

static inline uint32_t
level_pick(
	const struct weir_pick_context *ctx, struct level *level, uint32_t start, uint64_t *visits)
{
	if (level->ties != 0) {
		const uint32_t distance = level_distance(ctx, level, start);

		*visits += 1 + distance;
		return level_take(ctx, level, start, distance);
	}
	if (level->notes && ctx->depth[start] > level->floor)
		return level_note(ctx, level, start, visits);
	return level_scan(ctx, level, start, visits);
}

static void
shallowest_pick_burst(struct weir_pick_context *ctx, const struct weir_meta *meta, uint32_t n_picks,
	uint16_t *out)
{
	struct level level = {
		.notes = ctx->n_routable <= TIES_MAX && ctx->n_routable <= TIES_PER_PICK * n_picks,
	};
	uint32_t rotation = ctx->rotation;
	uint64_t visits = 0;

	(void)meta;
	for (uint32_t i = 0; i < n_picks; i++) {
		const uint32_t best = level_pick(ctx, &level, rotation, &visits);

		out[i] = (uint16_t)best;
		weir_pick_count(ctx, best);
		rotation = weir_pick_rotate(ctx, rotation);
	}
	ctx->depth_visits += visits;
}

const struct weir_strategy strategy_shallowest = {
	.name = "shallowest",
	.help = "the worker with the least outstanding packets; ties rotate",
	.flags = WEIR_STRATEGY_READS_DEPTH,
	.pick_burst = shallowest_pick_burst,
};
