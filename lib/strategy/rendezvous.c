/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rendezvous: the worker with the highest score for the packet's bucket owns it. A worker that
 * leaves moves only its own buckets; one that comes takes only what it will own. Reads the bucket
 * and the weights. It owns flows, so it keeps their order by itself while the pool stays the same.
 *
 * The owner is a function of the bucket and the snapshot, so a table of 65,536 positions, made
 * when the snapshot is, equals the direct computation.
 *
 * With weights the score s becomes -weight / ln(u), u = (s + 1/2) / 2^32: then a worker owns its
 * weight's share. It grows with s, so equal weights leave every owner where it is without them.
 * Sources: Thaler, Ravishankar, "Using name-based mappings to increase hit rates" (1998);
 * Schindelhauer, Schomaker, "Weighted distributed hash tables" (2005), the logarithmic method.
 */
#include "registry.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct rendezvous_table {
	uint8_t position[WEIR_BUCKETS]; /* bucket → position of its owner */
};
static_assert(WEIR_WORKERS_MAX - 1 <= UINT8_MAX, "a position fits a byte");
static_assert((WEIR_WORKERS_MAX & (WEIR_WORKERS_MAX - 1)) == 0, "owner_find masks a position");

/* What workers bring into their scores, by position. */
struct contenders {
	uint32_t term[WEIR_WORKERS_MAX];     /* of their ids, as mixed() takes it */
	double per_weight[WEIR_WORKERS_MAX]; /* 1 / weight */
	uint32_t n;
	bool weights_differ;
};

#define FNV_BASIS UINT32_C(2166136261)
#define SCORE_FACTOR UINT32_C(1540483477)

static inline uint32_t
fnv_add(uint32_t hash, char byte)
{
	return (hash ^ (uint8_t)byte) * UINT32_C(16777619);
}

uint32_t
weir_fnv1a(const char *text)
{
	uint32_t hash = FNV_BASIS;

	for (; *text; text++)
		hash = fnv_add(hash, *text);
	return hash;
}

static inline uint32_t
term_of(uint32_t id_fnv)
{
	return id_fnv * UINT32_C(2654435761);
}

/* The score but for its last step, the multiplication by SCORE_FACTOR. */
static inline uint32_t
mixed(uint32_t key_fnv, uint32_t term)
{
	const uint32_t x = key_fnv ^ term;

	return x ^ x >> 13;
}

uint32_t
weir_rendezvous_score(uint32_t key_fnv, uint32_t id_fnv)
{
	return mixed(key_fnv, term_of(id_fnv)) * SCORE_FACTOR;
}

static void
contenders_fill(struct contenders *contenders, const struct weir_snapshot *snapshot)
{
	char name[24];

	contenders->n = snapshot->n_routable;
	contenders->weights_differ = false;
	for (uint32_t i = 0; i < snapshot->n_routable; i++) {
		snprintf(name, sizeof(name), "worker-%u", snapshot->routable[i]);
		contenders->term[i] = term_of(weir_fnv1a(name));
		contenders->per_weight[i] = 1.0 / snapshot->weight[i];
		contenders->weights_differ |= snapshot->weight[i] != snapshot->weight[0];
	}
}

/*
 * The position with the highest score; the first in pool order wins a tie, and a score of 0 can
 * win. Score (above) and position (below) compete as one number: no branch to mispredict.
 */
static uint32_t
owner_find(uint32_t key_fnv, const struct contenders *contenders)
{
	uint64_t best = 0;

	for (uint32_t i = 0; i < contenders->n; i++) {
		/* The factor in the upper half: the product there is the score modulo 2^32. */
		const uint64_t score =
			mixed(key_fnv, contenders->term[i]) * ((uint64_t)SCORE_FACTOR << 32);
		const uint64_t rival = score + (WEIR_WORKERS_MAX - 1 - i);

		best = rival > best ? rival : best;
	}
	return WEIR_WORKERS_MAX - 1 - (uint32_t)(best & (WEIR_WORKERS_MAX - 1));
}

/* 1 - u of a score, exactly. */
static inline double
miss_of(uint32_t key_fnv, uint32_t term)
{
	return 1.0 - ((mixed(key_fnv, term) * SCORE_FACTOR) + 0.5) * 0x1p-32;
}

static double
cost_of(uint32_t key_fnv, const struct contenders *contenders, uint32_t position)
{
	const double u = 1.0 - miss_of(key_fnv, contenders->term[position]);

	return -log(u) * contenders->per_weight[position];
}

/*
 * The same with weights: the least cost, -ln(u) / weight. Few logarithms are taken: -ln(u) is at
 * least 1 - u, so that who costs too much by that alone cannot win. The worker with the least such
 * bound is asked first, as it is mostly the winner. The first in pool order wins a tie.
 */
static uint32_t
weighted_owner_find(uint32_t key_fnv, const struct contenders *contenders)
{
	double bound[WEIR_WORKERS_MAX];
	double least = INFINITY;
	uint32_t best = 0;

	for (uint32_t i = 0; i < contenders->n; i++) {
		bound[i] = miss_of(key_fnv, contenders->term[i]) * contenders->per_weight[i];
		least = bound[i] < least ? bound[i] : least;
	}
	for (uint32_t i = 0; bound[best] > least; i++)
		best = i;
	least = cost_of(key_fnv, contenders, best);
	for (uint32_t i = 0; i < contenders->n; i++) {
		double cost;

		if (bound[i] > least)
			continue;
		cost = cost_of(key_fnv, contenders, i);
		if (cost > least || (cost == least && i > best))
			continue;
		best = i;
		least = cost;
	}
	return best;
}

/* The hash of "flow-B" for every bucket B: it goes on from that of B without its last digit. */
static uint32_t *
bucket_fnvs_create(void)
{
	const uint32_t flow_fnv = weir_fnv1a("flow-");
	uint32_t *fnv = malloc(WEIR_BUCKETS * sizeof(*fnv));

	for (uint32_t bucket = 0; fnv && bucket < WEIR_BUCKETS; bucket++)
		fnv[bucket] = fnv_add(
			bucket < 10 ? flow_fnv : fnv[bucket / 10], (char)('0' + bucket % 10));
	return fnv;
}

static void
table_fill(struct rendezvous_table *table, const uint32_t *bucket_fnv,
	const struct weir_snapshot *snapshot)
{
	struct contenders contenders;

	contenders_fill(&contenders, snapshot);
	for (uint32_t bucket = 0; bucket < WEIR_BUCKETS; bucket++) {
		const uint32_t owner =
			contenders.weights_differ
				? weighted_owner_find(bucket_fnv[bucket], &contenders)
				: owner_find(bucket_fnv[bucket], &contenders);

		table->position[bucket] = (uint8_t)owner;
	}
}

static void *
rendezvous_prepare(const struct weir_strategy *strategy, const struct weir_snapshot *snapshot)
{
	struct rendezvous_table *table = calloc(1, sizeof(*table));
	uint32_t *bucket_fnv = table ? bucket_fnvs_create() : NULL;

	(void)strategy;
	if (!bucket_fnv) {
		free(table);
		return NULL;
	}
	if (snapshot->n_routable > 0)
		table_fill(table, bucket_fnv, snapshot);
	free(bucket_fnv);
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
	.flags = WEIR_STRATEGY_OWNS_FLOWS | WEIR_STRATEGY_READS_META | WEIR_STRATEGY_READS_WEIGHT,
	.prepare = rendezvous_prepare,
	.release = free,
	.pick_burst = rendezvous_pick_burst,
};
