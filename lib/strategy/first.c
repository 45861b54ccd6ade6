/* SPDX-License-Identifier: BSD-3-Clause */
/* first: everything to the first routable worker. The others stand by. */
#include "registry.h"

static void
first_pick_burst(struct weir_pick_context *ctx, const struct weir_meta *meta, uint32_t n_picks,
	uint16_t *out)
{
	(void)ctx;
	(void)meta;
	for (uint32_t i = 0; i < n_picks; i++)
		out[i] = 0;
}

const struct weir_strategy strategy_first = {
	.name = "first",
	.help = "the first routable worker; the others stand by",
	.pick_burst = first_pick_burst,
};
