/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ring: consistent hashing with 100 virtual nodes per worker, as XXL-JOB's route CONSISTENT_HASH.
 * Worker 7 is the address "worker-7"; a bucket's key is its number in decimal digits, hashed by MD5
 * as XXL-JOB hashes a job id. The owner is the first point that is not below the key's. Where
 * points of two workers are equal the lower id wins, whatever the pool's order.
 *
 * All hashes are made when the snapshot is, into a table of 65,536 positions: none per packet.
 */
#include <stdio.h>
#include <stdlib.h>

#include "registry.h"
#include "ring_points.h"

struct ring_table {
	uint8_t position[WEIR_BUCKETS]; /* bucket → position of its owner */
};
static_assert(WEIR_WORKERS_MAX - 1 <= UINT8_MAX, "a position fits a byte");

static void
workers_add(struct ring *ring, const struct weir_snapshot *snapshot)
{
	char address[24];

	for (uint32_t i = 0; i < snapshot->n_routable; i++) {
		snprintf(address, sizeof(address), "worker-%u", snapshot->routable[i]);
		ring_add_address(ring, address, snapshot->routable[i]);
	}
	ring_sort(ring);
}

static void
table_fill(struct ring_table *table, const struct ring *ring, const struct weir_snapshot *snapshot)
{
	char key[16];

	for (uint32_t bucket = 0; bucket < WEIR_BUCKETS; bucket++) {
		snprintf(key, sizeof(key), "%u", bucket);
		table->position[bucket] =
			(uint8_t)snapshot->position[ring_owner(ring, ring_hash(key))];
	}
}

static void *
ring_prepare(const struct weir_strategy *strategy, const struct weir_snapshot *snapshot)
{
	struct ring_table *table = calloc(1, sizeof(*table));
	struct ring ring;

	(void)strategy;
	if (!table || snapshot->n_routable == 0)
		return table;
	if (ring_init(&ring, snapshot->n_routable) < 0) {
		free(table);
		return NULL;
	}
	workers_add(&ring, snapshot);
	table_fill(table, &ring, snapshot);
	ring_fini(&ring);
	return table;
}

static void
ring_pick_burst(struct weir_pick_context *ctx, const struct weir_meta *meta, uint32_t n_picks,
	uint16_t *out)
{
	const struct ring_table *table = ctx->table;

	for (uint32_t i = 0; i < n_picks; i++)
		out[i] = table->position[meta[i * ctx->stride].bucket];
}

const struct weir_strategy strategy_ring = {
	.name = "ring",
	.help = "the worker that owns the flow (MD5 ring, 100 points each, as XXL-JOB)",
	.flags = WEIR_STRATEGY_OWNS_FLOWS | WEIR_STRATEGY_READS_META,
	.prepare = ring_prepare,
	.release = free,
	.pick_burst = ring_pick_burst,
};
