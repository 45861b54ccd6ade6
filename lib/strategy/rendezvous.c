/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rendezvous: the worker with the highest score for the packet's bucket owns it. A worker that
 * leaves moves only its own buckets; one that comes takes 1/(n+1) of each other's.
 *
 * The owner is a function of the bucket and the snapshot, so a table of 65,536 positions, made
 * when the snapshot is, equals the direct computation.
 */
#include "registry.h"

#include <stdio.h>
#include <stdlib.h>

struct rendezvous_table {
	uint8_t position[WEIR_BUCKETS]; /* bucket → position of its owner */
};
static_assert(WEIR_WORKERS_MAX - 1 <= UINT8_MAX, "a position fits a byte");

uint32_t
weir_fnv1a(const char *text)
{
	uint32_t hash = UINT32_C(2166136261);

	for (; *text; text++)
		hash = (hash ^ (uint8_t)*text) * UINT32_C(16777619);
	return hash;
}

uint32_t
weir_rendezvous_score(uint32_t key_fnv, uint32_t id_fnv)
{
	uint32_t x = key_fnv ^ id_fnv * UINT32_C(2654435761);

	x ^= x >> 13;
	return x * UINT32_C(1540483477);
}

static uint32_t
name_fnv(const char *kind, uint32_t number)
{
	char name[24];

	snprintf(name, sizeof(name), "%s-%u", kind, number);
	return weir_fnv1a(name);
}

/* First in pool order wins a tie; a score of 0 can win. */
static uint32_t
owner_find(uint32_t key_fnv, const uint32_t *id_fnv, uint32_t n)
{
	uint32_t best = 0;
	uint32_t best_score = weir_rendezvous_score(key_fnv, id_fnv[0]);

	for (uint32_t i = 1; i < n; i++) {
		const uint32_t score = weir_rendezvous_score(key_fnv, id_fnv[i]);

		if (score > best_score) {
			best = i;
			best_score = score;
		}
	}
	return best;
}

static void *
rendezvous_prepare(const struct weir_strategy *strategy, const struct weir_snapshot *snapshot)
{
	struct rendezvous_table *table = calloc(1, sizeof(*table));
	uint32_t id_fnv[WEIR_WORKERS_MAX];

	(void)strategy;
	if (!table)
		return NULL;
	if (snapshot->n_routable == 0)
		return table;
	for (uint32_t i = 0; i < snapshot->n_routable; i++)
		id_fnv[i] = name_fnv("worker", snapshot->routable[i]);
	for (uint32_t bucket = 0; bucket < WEIR_BUCKETS; bucket++)
		table->position[bucket] =
			(uint8_t)owner_find(name_fnv("flow", bucket), id_fnv, snapshot->n_routable);
	return table;
}

static void
rendezvous_pick_burst(struct weir_pick_context *ctx, const struct weir_meta *meta, uint32_t n_picks,
	uint16_t *out)
{
	const struct rendezvous_table *table = ctx->table;

	for (uint32_t i = 0; i < n_picks; i++)
		out[i] = table->position[meta[i * ctx->stride].bucket];
}

const struct weir_strategy strategy_rendezvous = {
	.name = "rendezvous",
	.help = "the worker that owns the flow (highest random weight); least disruption",
	.flags = WEIR_STRATEGY_OWNS_FLOWS | WEIR_STRATEGY_READS_META,
	.prepare = rendezvous_prepare,
	.release = free,
	.pick_burst = rendezvous_pick_burst,
};
