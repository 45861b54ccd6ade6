/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A strategy to copy from, with a table: each worker has as many slots in a list as its weight
 * says, and packets take the slots in turn.
 *   cc -O2 -shared -fPIC weighted.c $(pkg-config --cflags weir) -o weighted.so
 *   weir ... -- --strategy custom:weighted.so
 */
#include <stdlib.h>

#include <weir/plugin.h>

/* Of one snapshot: made once by the control thread, then only read. */
struct weighted {
	uint32_t n_slots;
	uint16_t slot[]; /* positions */
};

static void *
weighted_prepare(const struct weir_strategy *strategy, const struct weir_snapshot *snapshot)
{
	struct weighted *weighted;
	uint32_t n_slots = 0;

	(void)strategy;
	for (uint32_t i = 0; i < snapshot->n_routable; i++)
		n_slots += snapshot->weight[i];
	weighted = malloc(sizeof(*weighted) + n_slots * sizeof(weighted->slot[0]));
	if (!weighted)
		return NULL;
	weighted->n_slots = 0;
	for (uint32_t i = 0; i < snapshot->n_routable; i++)
		for (uint32_t w = 0; w < snapshot->weight[i]; w++)
			weighted->slot[weighted->n_slots++] = (uint16_t)i;
	return weighted;
}

static void
weighted_pick_burst(struct weir_pick_context *ctx, const struct weir_meta *meta, uint32_t n_picks,
	uint16_t *out)
{
	const struct weighted *weighted = ctx->table;
	const uint32_t n_slots = weighted->n_slots;
	/* Two divisions for the burst, none for a packet. */
	const uint32_t step = ctx->stride % n_slots;
	uint32_t at = (uint32_t)(ctx->index % n_slots);

	(void)meta;
	for (uint32_t i = 0; i < n_picks; i++) {
		out[i] = weighted->slot[at];
		at += step;
		if (at >= n_slots)
			at -= n_slots;
	}
}

static const struct weir_strategy weighted = {
	.name = "weighted",
	.help = "each worker in turn, as many packets as its weight says",
	.flags = WEIR_STRATEGY_READS_WEIGHT,
	.prepare = weighted_prepare,
	.release = free,
	.pick_burst = weighted_pick_burst,
};

WEIR_STRATEGY_PLUGIN(weighted);
