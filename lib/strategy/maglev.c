/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * maglev: each worker fills the table's entries in an order of its own, taking turns with the
 * others, until none is left: shares that differ by one turn, and few entries that move when the
 * pool changes. Source: Eisenbud et al., "Maglev: a fast and reliable software network load
 * balancer" (NSDI 2016), section 3.4.
 *
 * The table has 65,537 entries, the paper's smaller size: a prime, more than 100 times the largest
 * pool, and the same for every pool (a size that followed the pool would move nearly every bucket
 * with each change). Entry B mod 65,537 is bucket B's, so each bucket has one to itself and the
 * last entry has none; the bucket, not the flow, is the unit that moves.
 *
 * Turns are proportional to weights: the heaviest workers have a turn in every round, one of a
 * third of their weight in every third. Workers take turns in the order of their ids, so that the
 * pool's order changes no owner.
 */
#include <stdlib.h>
#include <string.h>

#include "registry.h"
#include "siphash.h"

#define N_ENTRIES 65537
#define ENTRY_FREE UINT16_MAX
static_assert(N_ENTRIES >= WEIR_BUCKETS, "an entry for each bucket");
static_assert(N_ENTRIES >= 100 * WEIR_WORKERS_MAX, "shares within a hundredth");

struct maglev_table {
	uint8_t position[WEIR_BUCKETS]; /* bucket → position of its owner */
};
static_assert(WEIR_WORKERS_MAX - 1 <= UINT8_MAX, "a position fits a byte");

/* A worker on its way through the entries. */
struct walker {
	uint32_t entry; /* the next it would like */
	uint32_t skip;
	uint32_t weight;
	uint32_t credit; /* of `heaviest`, which a turn costs */
	uint16_t position;
};

/* What `prepare` works in. */
struct turns {
	struct walker walker[WEIR_WORKERS_MAX]; /* by id, those that are routable */
	uint32_t n;
	uint32_t heaviest;
	uint32_t n_taken;
	uint16_t owner[N_ENTRIES]; /* entry → position, or ENTRY_FREE */
};

/*
 * Two independent hashes of a worker's id: SipHash-1-3 under two keys. The keys are public and
 * fixed, so that every dispatcher everywhere makes the same table: the words "offset" and "skip".
 */
static uint64_t
id_hash(weir_worker_id id, uint64_t key)
{
	const uint64_t keys[] = { key, UINT64_C(0x76656c67616d) };

	return siphash_end(siphash_add(siphash_start(keys), id), 1);
}

static struct walker
walker_make(const struct weir_snapshot *snapshot, uint16_t position)
{
	const weir_worker_id id = snapshot->routable[position];

	return (struct walker) {
		.entry = (uint32_t)(id_hash(id, UINT64_C(0x74657366666f)) % N_ENTRIES),
		.skip = (uint32_t)(id_hash(id, UINT64_C(0x70696b73)) % (N_ENTRIES - 1)) + 1,
		.weight = snapshot->weight[position],
		.position = position,
	};
}

static void
turns_init(struct turns *turns, const struct weir_snapshot *snapshot)
{
	memset(turns->owner, 0xff, sizeof(turns->owner));
	for (uint32_t id = 0; id < WEIR_WORKERS_MAX; id++) {
		const uint16_t position = snapshot->position[id];

		if (position == WEIR_WORKER_NONE)
			continue;
		turns->walker[turns->n++] = walker_make(snapshot, position);
		if (snapshot->weight[position] > turns->heaviest)
			turns->heaviest = snapshot->weight[position];
	}
}

/* Takes the next entry of the worker's order that is free. There must be one. */
static void
turn_take(struct turns *turns, struct walker *walker)
{
	uint32_t entry = walker->entry;

	while (turns->owner[entry] != ENTRY_FREE)
		entry = (entry + walker->skip) % N_ENTRIES;
	turns->owner[entry] = walker->position;
	turns->n_taken++;
	walker->entry = entry;
}

static void
turns_run(struct turns *turns)
{
	for (uint32_t i = 0; turns->n_taken < N_ENTRIES; i = i + 1 < turns->n ? i + 1 : 0) {
		struct walker *walker = &turns->walker[i];

		walker->credit += walker->weight;
		if (walker->credit < turns->heaviest)
			continue;
		walker->credit -= turns->heaviest;
		turn_take(turns, walker);
	}
}

static void *
maglev_prepare(const struct weir_strategy *strategy, const struct weir_snapshot *snapshot)
{
	struct maglev_table *table = calloc(1, sizeof(*table));
	struct turns *turns = calloc(1, sizeof(*turns));

	(void)strategy;
	if (!table || !turns) {
		free(turns);
		free(table);
		return NULL;
	}
	if (snapshot->n_routable > 0) {
		turns_init(turns, snapshot);
		turns_run(turns);
		for (uint32_t bucket = 0; bucket < WEIR_BUCKETS; bucket++)
			table->position[bucket] = (uint8_t)turns->owner[bucket];
	}
	free(turns);
	return table;
}

static void
maglev_pick_burst(struct weir_pick_context *ctx, const struct weir_meta *meta, uint32_t n_picks,
	uint16_t *out)
{
	const struct maglev_table *table = ctx->table;

	for (uint32_t i = 0; i < n_picks; i++)
		out[i] = table->position[meta[i * ctx->stride].bucket];
}

const struct weir_strategy strategy_maglev = {
	.name = "maglev",
	.help = "the worker that owns the flow (Maglev's table); evenest shares, weighted",
	.flags = WEIR_STRATEGY_OWNS_FLOWS | WEIR_STRATEGY_READS_META | WEIR_STRATEGY_READS_WEIGHT,
	.prepare = maglev_prepare,
	.release = free,
	.pick_burst = maglev_pick_burst,
};
