/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * round-robin: routable[index mod n]. Balances counts, not work. Reads the weights and nothing
 * else; by itself it keeps no order of flows.
 *
 * Where weights differ, a worker stands in the list as often as it weighs: slots[index mod total],
 * so that weights 2, 1, 1 give a, a, b, c. Source: the weighted list of actor-ts' documentation.
 * Equal weights are a plain rotation, whatever they are.
 */
#include "registry.h"

#include <assert.h>
#include <stdlib.h>

#include "fastmod.h"

#define SLOTS_MAX (WEIR_WORKERS_MAX * WEIR_WEIGHT_MAX)
static_assert(WEIR_WORKERS_MAX - 1 <= UINT8_MAX, "a position fits a byte");
static_assert(SLOTS_MAX <= FASTMOD_WIDE_MAX, "an index has a remainder by slots");

struct round_robin_table {
	struct fastmod_wide n_slots; /* divisor 0: equal weights, no slots */
	uint8_t position[];	     /* slot → position of its worker */
};

/* The sum of the weights; 0 if they are all equal. */
static uint32_t
slots_needed(const struct weir_snapshot *snapshot)
{
	uint32_t n_slots = 0;
	bool differ = false;

	for (uint32_t i = 0; i < snapshot->n_routable; i++) {
		n_slots += snapshot->weight[i];
		differ |= snapshot->weight[i] != snapshot->weight[0];
	}
	return differ ? n_slots : 0;
}

static void *
round_robin_prepare(const struct weir_strategy *strategy, const struct weir_snapshot *snapshot)
{
	const uint32_t n_slots = slots_needed(snapshot);
	struct round_robin_table *table = calloc(1, sizeof(*table) + n_slots);
	uint32_t slot = 0;

	(void)strategy;
	if (!table || n_slots == 0)
		return table;
	table->n_slots = fastmod_wide_make(n_slots);
	for (uint32_t i = 0; i < snapshot->n_routable; i++) {
		for (uint32_t j = 0; j < snapshot->weight[i]; j++)
			table->position[slot++] = (uint8_t)i;
	}
	return table;
}

static void
pick_by_weight(const struct weir_pick_context *ctx, uint32_t n_picks, uint16_t *out)
{
	const struct round_robin_table *table = ctx->table;
	const uint32_t n_slots = table->n_slots.by.divisor;
	const uint32_t stride = fastmod(table->n_slots.by, ctx->stride);
	uint32_t slot = fastmod_wide(&table->n_slots, ctx->index);

	for (uint32_t i = 0; i < n_picks; i++) {
		out[i] = table->position[slot];
		slot += stride;
		slot = slot >= n_slots ? slot - n_slots : slot;
	}
}

static void
round_robin_pick_burst(struct weir_pick_context *ctx, const struct weir_meta *meta,
	uint32_t n_picks, uint16_t *out)
{
	const struct round_robin_table *table = ctx->table;
	uint32_t rotation = ctx->rotation;

	(void)meta;
	if (table->n_slots.by.divisor > 0) {
		pick_by_weight(ctx, n_picks, out);
		return;
	}
	for (uint32_t i = 0; i < n_picks; i++) {
		out[i] = (uint16_t)rotation;
		rotation = weir_pick_rotate(ctx, rotation);
	}
}

const struct weir_strategy strategy_round_robin = {
	.name = "round-robin",
	.help = "each worker in turn, as often as it weighs: balances packets, not work",
	.flags = WEIR_STRATEGY_READS_WEIGHT,
	.prepare = round_robin_prepare,
	.release = free,
	.pick_burst = round_robin_pick_burst,
};
