/* SPDX-License-Identifier: BSD-3-Clause */
/* last: everything to the last routable worker, the newest in pool order. */
#include "registry.h"

static void
last_pick_burst(struct weir_pick_context *ctx, const struct weir_meta *meta, uint32_t n_picks,
	uint16_t *out)
{
	(void)meta;
	for (uint32_t i = 0; i < n_picks; i++)
		out[i] = (uint16_t)(ctx->n_routable - 1);
}

const struct weir_strategy strategy_last = {
	.name = "last",
	.help = "the last routable worker, the newest in pool order",
	.pick_burst = last_pick_burst,
};
