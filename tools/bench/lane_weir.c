/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Weir's own lanes without the deciding: stage, publish, and a harvest by progress words. The lanes
 * lie where a pool puts them, and the workers use weir_take and weir_complete.
 */
#include <stdlib.h>

#include <weir/pool.h>

#include "bitset.h"
#include "lane_kind.h"
#include "pool.h"
#include "workers.h"

struct lane_weir {
	struct lane_producer lane[WEIR_WORKERS_MAX];
	struct claim_lane claim[WEIR_WORKERS_MAX]; /* of claim lanes */
	struct progress *progress[WEIR_WORKERS_MAX];
	struct bitset outstanding;
	struct lane_turn turn;
	uint32_t chunk;
	bool answers;
	bool claims;
	uint32_t answer_sum; /* so that answers are read for something */
	struct home home;
	struct weir_pool *pool;
	struct area handles;
	struct area taken;			    /* of claim lanes */
	CACHE_ALIGNED struct bench_workers workers; /* the other thread's */
};

static void
lanes_attach(struct lane_weir *lanes)
{
	char *handles = lanes->handles.memory;

	for (uint32_t id = 0; id < lanes->turn.n_workers; id++) {
		lanes->lane[id] = pool_lane_producer(
			lanes->pool, 0, (weir_worker_id)id, (void **)(void *)handles);
		lanes->progress[id] = pool_progress(lanes->pool, (weir_worker_id)id);
		handles += lanes->pool->geometry.packets_bytes;
	}
}

static int
claims_attach(struct lane_weir *lanes, uint32_t lane_size)
{
	const struct lane_geometry *geometry = &lanes->pool->geometry;
	const size_t bytes = claim_taken_bytes(geometry);

	if (area_allocate(&lanes->taken, lanes->turn.n_workers * bytes) < 0)
		return -1;
	for (uint32_t id = 0; id < lanes->turn.n_workers; id++) {
		lanes->claim[id] = claim_lane_make(geometry, lane_size,
			pool_claim_head(lanes->pool, 0, (weir_worker_id)id),
			(char *)lanes->taken.memory + id * bytes);
		claim_view(&lanes->claim[id], &lanes->lane[id]);
	}
	return 0;
}

static void
lane_weir_destroy(void *state)
{
	struct lane_weir *lanes = state;

	area_free(&lanes->taken);
	area_free(&lanes->handles);
	home_fini(&lanes->home);
	weir_pool_destroy(lanes->pool);
	free(lanes);
}

static void *
lane_weir_create(const struct lane_setup *setup)
{
	struct lane_weir *lanes = aligned_alloc(CACHE_LINE_BYTES, sizeof(*lanes));
	struct weir_config config = weir_config_default();

	if (!lanes)
		return NULL;
	*lanes = (struct lane_weir) {
		.turn = { .n_workers = setup->n_workers },
		.chunk = setup->chunk,
		.answers = setup->answers,
		.claims = setup->claims,
	};
	config.n_workers = setup->n_workers;
	config.lane_size = setup->lane_size;
	config.lend_metadata = setup->metadata;
	config.overflow = setup->claims ? "drop-head" : "drop-new";
	lanes->pool = weir_pool_create(&config, NULL);
	if (!lanes->pool || home_init(&lanes->home, setup->n_workers * setup->lane_size) < 0 ||
		area_allocate(&lanes->handles,
			setup->n_workers * lanes->pool->geometry.packets_bytes) < 0) {
		lane_weir_destroy(lanes);
		return NULL;
	}
	lanes_attach(lanes);
	if (lanes->claims && claims_attach(lanes, setup->lane_size) < 0) {
		lane_weir_destroy(lanes);
		return NULL;
	}
	workers_init(&lanes->workers, lanes->pool);
	return lanes;
}

static void
claim_harvest(struct lane_weir *lanes, uint32_t id)
{
	struct lane_producer *lane = &lanes->lane[id];
	struct claim_lane *claim = &lanes->claim[id];
	const uint32_t completed = progress_completed(progress_read(lanes->progress[id], 0));
	const uint32_t mask = claim->n_taken_slots - 1;

	claim_learn(claim, lane);
	for (; claim->harvested != completed; claim->harvested++) {
		if (lanes->answers)
			lanes->answer_sum += lane->verdicts[claim->harvested & mask].kind;
		lanes->home.packets[lanes->home.n++] =
			claim->taken_packets[claim->harvested & mask];
	}
	claim_view(claim, lane);
	if (lane->tail == lane->completed)
		bitset_remove(&lanes->outstanding, id);
}

static void
lane_harvest(struct lane_weir *lanes, uint32_t id)
{
	struct lane_producer *lane = &lanes->lane[id];
	const uint32_t mask = lane->n_slots - 1;

	lane->completed = progress_completed(progress_read(lanes->progress[id], 0));
	for (; lane->harvested != lane->completed; lane->harvested++) {
		if (lanes->answers)
			lanes->answer_sum += lane->verdicts[lane->harvested & mask].kind;
		lanes->home.packets[lanes->home.n++] = lane->packets[lane->harvested & mask];
	}
	if (lane_occupied(lane) == 0)
		bitset_remove(&lanes->outstanding, id);
}

/* As in the library: all lines that will be read are fetched before the first one is. */
static void
lanes_harvest(struct lane_weir *lanes)
{
	for (uint32_t w = 0; w < BITSET_WORDS; w++) {
		uint64_t bits = lanes->outstanding.word[w];

		while (bits) {
			const uint32_t id = bitset_pop(&bits, w);
			const struct lane_producer *lane = &lanes->lane[id];

			prefetch_read(lanes->progress[id]);
			if (lanes->claims)
				claim_prefetch(&lanes->claim[id], lane);
			else if (lanes->answers)
				prefetch_read(
					&lane->verdicts[lane->harvested & (lane->n_slots - 1)]);
		}
	}
	for (uint32_t w = 0; w < BITSET_WORDS; w++) {
		uint64_t bits = lanes->outstanding.word[w];

		while (bits) {
			const uint32_t id = bitset_pop(&bits, w);

			if (lanes->claims)
				claim_harvest(lanes, id);
			else
				lane_harvest(lanes, id);
		}
	}
}

static void
lane_weir_burst(void *state, const struct weir_burst *burst)
{
	struct lane_weir *lanes = state;
	struct lane_post posts[WEIR_BURST_MAX];

	lanes_harvest(lanes);
	for (uint32_t i = 0; i < burst->n;) {
		const uint32_t id = lane_turn_next(&lanes->turn);
		const uint32_t end = i + lanes->chunk < burst->n ? i + lanes->chunk : burst->n;

		bitset_add(&lanes->outstanding, id);
		lane_stage(&lanes->lane[id], 0, &burst->packets[i], &burst->packets[i],
			&burst->meta[i], end - i, &posts[i]);
		i = end;
	}
	for (uint32_t i = 0; lanes->claims && i < burst->n; i++)
		claim_publish_metadata(&posts[i]);
	for (uint32_t i = 0; !lanes->claims && i < burst->n; i++)
		lane_publish_metadata(&posts[i]);
	for (uint32_t i = 0; i < burst->n; i++)
		lane_publish(&posts[i]);
}

static uint32_t
lane_weir_sweep(void *state, uint32_t keep)
{
	struct lane_weir *lanes = state;

	return workers_sweep(&lanes->workers, keep);
}

static struct home *
lane_weir_home(void *state)
{
	struct lane_weir *lanes = state;

	return &lanes->home;
}

const struct lane_kind lane_kind_weir = {
	.subject = {
		.burst = lane_weir_burst,
		.sweep = lane_weir_sweep,
		.home = lane_weir_home,
	},
	.create = lane_weir_create,
	.destroy = lane_weir_destroy,
};
