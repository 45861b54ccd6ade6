/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * p2c: two different workers drawn at random, the one with less depth wins, the first drawn if they
 * tie. Reads depths: two mirror entries a pick whatever the size of the pool, one with a single
 * worker. By itself it keeps no order of flows. The draw is a function of (seed, index).
 *
 * Source: Mitzenmacher, "The power of two choices in randomized load balancing" (2001); Azar,
 * Broder, Karlin, Upfal, "Balanced allocations" (1999).
 */
#include "registry.h"

#include "rng.h"

/* The winner of two. One draw serves both: its upper half the first, its lower half the second. */
static inline uint32_t
winner_of_two(const struct weir_pick_context *ctx, uint64_t draw)
{
	const uint32_t first = rng_below(draw, ctx->n_routable);
	uint32_t second = rng_below(draw << 32, ctx->n_routable - 1);

	/* The others in order, without the first: so the two always differ. */
	second += second >= first;
	return ctx->depth[second] < ctx->depth[first] ? second : first;
}

static void
p2c_pick_burst(struct weir_pick_context *ctx, const struct weir_meta *meta, uint32_t n_picks,
	uint16_t *out)
{
	const bool alone = ctx->n_routable == 1;
	uint64_t index = ctx->index;

	(void)meta;
	for (uint32_t i = 0; i < n_picks; i++) {
		const uint32_t winner = alone ? 0 : winner_of_two(ctx, rng_at(ctx->seed, index));

		out[i] = (uint16_t)winner;
		weir_pick_count(ctx, winner);
		index += ctx->stride;
	}
	ctx->depth_visits += alone ? n_picks : 2 * n_picks;
}

const struct weir_strategy strategy_p2c = {
	.name = "p2c",
	.help = "of two workers drawn at random the one with less outstanding",
	.flags = WEIR_STRATEGY_READS_DEPTH,
	.pick_burst = p2c_pick_burst,
};
