/* SPDX-License-Identifier: BSD-3-Clause */
/* round-robin: routable[index mod n]. Balances counts, not work. */
#include "registry.h"

static void
round_robin_pick_burst(struct weir_pick_context *ctx, const struct weir_meta *meta,
	uint32_t n_picks, uint16_t *out)
{
	uint32_t rotation = ctx->rotation;

	(void)meta;
	for (uint32_t i = 0; i < n_picks; i++) {
		out[i] = (uint16_t)rotation;
		rotation = weir_pick_rotate(ctx, rotation);
	}
}

const struct weir_strategy strategy_round_robin = {
	.name = "round-robin",
	.help = "each worker in turn: balances packets, not work",
	.pick_burst = round_robin_pick_burst,
};
