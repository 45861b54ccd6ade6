/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * random: uniform over the routable workers. The draw is a function of (seed, index), so that a
 * run can be repeated and a packet that was refused draws the same worker again.
 */
#include "registry.h"

#include "rng.h"

static void
random_pick_burst(struct weir_pick_context *ctx, const struct weir_meta *meta, uint32_t n_picks,
	uint16_t *out)
{
	uint64_t index = ctx->index;

	(void)meta;
	for (uint32_t i = 0; i < n_picks; i++) {
		out[i] = (uint16_t)rng_below(rng_at(ctx->seed, index), ctx->n_routable);
		index += ctx->stride;
	}
}

const struct weir_strategy strategy_random = {
	.name = "random",
	.help = "any worker, uniformly; --seed makes it repeatable",
	.pick_burst = random_pick_burst,
};
