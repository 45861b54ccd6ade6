/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * failover: everything to the routable worker of the lowest id; the next one takes over when it
 * dies, and it gets its place back when it is ready again: also if it was removed and added anew,
 * though in pool order it stands last then. With none routable packets end as `no_route`.
 * Source: XXL-JOB's FAILOVER, without its probes.
 *
 * The one state that it reads is the snapshot's table: health comes from there, so a pick costs the
 * same however many workers are dead. It owns no flows. By itself it keeps their order while the
 * worker stays the same; with order flow a flow that has packets out at the stand-in stays there
 * until they have come home, and fails back then.
 */
#include "registry.h"

#include <stdlib.h>

#include <weir/stats.h>

struct failover_table {
	uint16_t position; /* of the lowest id */
};

static void *
failover_prepare(const struct weir_strategy *strategy, const struct weir_snapshot *snapshot)
{
	struct failover_table *table = calloc(1, sizeof(*table));

	(void)strategy;
	for (uint32_t i = 1; table && i < snapshot->n_routable; i++) {
		if (snapshot->routable[i] < snapshot->routable[table->position])
			table->position = (uint16_t)i;
	}
	return table;
}

static void
failover_pick_burst(struct weir_pick_context *ctx, const struct weir_meta *meta, uint32_t n_picks,
	uint16_t *out)
{
	const struct failover_table *table = ctx->table;

	(void)meta;
	for (uint32_t i = 0; i < n_picks; i++)
		out[i] = table->position;
}

const struct weir_strategy strategy_failover = {
	.name = "failover",
	.help = "the routable worker of the lowest id, again as soon as it is back",
	.none_reason = WEIR_REASON_NO_ROUTE,
	.prepare = failover_prepare,
	.release = free,
	.pick_burst = failover_pick_burst,
};
