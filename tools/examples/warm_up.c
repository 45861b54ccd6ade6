/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A strategy to copy from: the first 100 packets warm up worker 0, what follows goes round.
 *   cc -O2 -shared -fPIC warm_up.c $(pkg-config --cflags weir) -o warm_up.so
 *   weir ... -- --strategy custom:warm_up.so
 */
#include <weir/plugin.h>

enum { WARM_UP_PKTS = 100 };

static void
warm_up_pick_burst(struct weir_pick_context *ctx, const struct weir_meta *meta, uint32_t n_picks,
	uint16_t *out)
{
	uint32_t rotation = ctx->rotation;
	uint64_t index = ctx->index;

	(void)meta;
	for (uint32_t i = 0; i < n_picks; i++) {
		out[i] = index < WARM_UP_PKTS ? 0 : (uint16_t)rotation;
		rotation = weir_pick_rotate(ctx, rotation);
		index += ctx->stride;
	}
}

static const struct weir_strategy warm_up = {
	.name = "warm-up",
	.help = "the first worker for 100 packets, then each in turn",
	.pick_burst = warm_up_pick_burst,
};

WEIR_STRATEGY_PLUGIN(warm_up);
