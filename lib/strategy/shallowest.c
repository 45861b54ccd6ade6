/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shallowest: the routable worker with the least depth. The scan starts at index mod n and takes
 * strictly less only, so that ties rotate.
 *
 * The early exit is exact. Within a burst depths only grow, so no depth can be below `floor`, the
 * minimum that the last complete scan of this burst proved (0 at its start): a worker at the floor
 * is a minimum, and as the first one met it is the one that the whole scan would have picked.
 */
#include "registry.h"

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

static void
shallowest_pick_burst(struct weir_pick_context *ctx, const struct weir_meta *meta, uint32_t n_picks,
	uint16_t *out)
{
	uint32_t rotation = ctx->rotation;
	uint32_t floor = 0;
	uint64_t visits = 0;

	(void)meta;
	for (uint32_t i = 0; i < n_picks; i++) {
		const struct scan scan = scan_from(ctx, rotation, floor);

		/* A scan that ended above the floor was complete: it proves a new one. */
		if (scan.depth > floor)
			floor = scan.depth;
		visits += scan.visits;
		out[i] = (uint16_t)scan.best;
		weir_pick_count(ctx, scan.best);
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
