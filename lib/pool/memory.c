/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where lanes and worker areas lie. Each worker has one page-aligned block in the lane area (which
 * it only reads) and one in the worker area (which it alone writes), so that both can be mapped
 * into a process of its own. Inside its page-aligned block a worker's data starts at a cache line
 * of its own choice: otherwise the current slots of all lanes would fall into one cache set.
 */
#include <errno.h>

#include "pool.h"

#define PAGE_BYTES ((size_t)4096)
#define COVERS_BYTES (WEIR_CLASSES_MAX * sizeof(lane_cover_seq))
#define CLAIMS_BYTES ((size_t)WEIR_CLASSES_MAX * WEIR_WORKERS_MAX * sizeof(weir_claim))

static size_t
stagger_bytes(weir_worker_id worker)
{
	return (size_t)worker * CACHE_LINE_BYTES % PAGE_BYTES;
}

static size_t
lane_bytes(const struct weir_pool *pool)
{
	return pool->geometry.slots_bytes + pool->geometry.metadata_bytes +
	       pool->geometry.covers_bytes;
}

static size_t
lane_block_bytes(const struct weir_pool *pool)
{
	return round_up(PAGE_BYTES + pool->config.n_dispatchers * lane_bytes(pool), PAGE_BYTES);
}

static size_t
worker_block_bytes(const struct weir_pool *pool)
{
	const size_t head_bytes = pool->policy->claim_lanes ? sizeof(struct claim_head) : 0;

	return round_up(
		PAGE_BYTES + sizeof(struct progress) +
			pool->config.n_dispatchers * (pool->geometry.verdicts_bytes + head_bytes),
		PAGE_BYTES);
}

static char *
lane_memory(const struct weir_pool *pool, uint32_t dispatcher, weir_worker_id worker)
{
	return (char *)pool->lane_area.memory + worker * lane_block_bytes(pool) +
	       stagger_bytes(worker) + dispatcher * lane_bytes(pool);
}

static char *
worker_memory(const struct weir_pool *pool, weir_worker_id worker)
{
	return (char *)pool->worker_area.memory + worker * worker_block_bytes(pool) +
	       stagger_bytes(worker);
}

static struct weir_verdict *
verdicts_memory(const struct weir_pool *pool, uint32_t dispatcher, weir_worker_id worker)
{
	return (struct weir_verdict *)(worker_memory(pool, worker) + sizeof(struct progress) +
				       dispatcher * pool->geometry.verdicts_bytes);
}

static struct weir_meta *
metadata_memory(const struct weir_pool *pool, uint32_t dispatcher, weir_worker_id worker)
{
	if (!pool->config.lend_metadata)
		return NULL;
	return (struct weir_meta *)(lane_memory(pool, dispatcher, worker) +
				    pool->geometry.slots_bytes);
}

lane_cover_seq *
pool_lane_cover(const struct weir_pool *pool, uint32_t dispatcher, weir_worker_id worker)
{
	if (pool->geometry.covers_bytes == 0)
		return NULL;
	return (lane_cover_seq *)(lane_memory(pool, dispatcher, worker) +
				  pool->geometry.slots_bytes + pool->geometry.metadata_bytes);
}

struct claim_head *
pool_claim_head(const struct weir_pool *pool, uint32_t dispatcher, weir_worker_id worker)
{
	struct claim_head *heads;

	if (!pool->policy->claim_lanes)
		return NULL;
	/* Behind the verdicts of all dispatchers. */
	heads = (struct claim_head *)(void *)verdicts_memory(
		pool, pool->config.n_dispatchers, worker);
	return &heads[dispatcher];
}

struct progress *
pool_progress(const struct weir_pool *pool, weir_worker_id worker)
{
	return (struct progress *)worker_memory(pool, worker);
}

struct tail_array *
pool_tails(const struct weir_pool *pool, uint32_t dispatcher)
{
	return (struct tail_array *)pool->tail_area.memory + dispatcher;
}

struct lane_producer
pool_lane_producer(
	struct weir_pool *pool, uint32_t dispatcher, weir_worker_id worker, void **packets)
{
	return (struct lane_producer) {
		.slots = (lane_slot *)lane_memory(pool, dispatcher, worker),
		.metadata = metadata_memory(pool, dispatcher, worker),
		.packets = packets,
		.verdicts = verdicts_memory(pool, dispatcher, worker),
		.n_slots = pool->geometry.n_slots,
		.capacity = pool->config.lane_size,
	};
}

static void
worker_init(struct weir_pool *pool, weir_worker_id id)
{
	struct weir_worker *worker = &pool->workers[id];

	worker->progress = pool_progress(pool, id);
	worker->n_dispatchers = pool->config.n_dispatchers;
	worker->n_urgent = pool->config.n_urgent;
	worker->next_urgent = pool->config.n_dispatchers - pool->config.n_urgent;
	worker->id = id;
	worker->covering = pool->policy->covering;
	worker->publishes_in_process = pool->config.depth_mode == WEIR_DEPTH_QUEUED;
	for (uint32_t i = 0; i < pool->config.n_dispatchers; i++)
		worker->lane[i] = (struct lane_consumer) {
			.slots = (lane_slot *)lane_memory(pool, i, id),
			.metadata = metadata_memory(pool, i, id),
			.verdicts = verdicts_memory(pool, i, id),
			.covers = pool_lane_cover(pool, i, id),
			.claim = pool_claim_head(pool, i, id),
			.n_slots = pool->geometry.n_slots,
			.n_verdicts = pool->geometry.n_verdicts,
		};
}

void
pool_worker_reset(struct weir_pool *pool, weir_worker_id id)
{
	struct weir_worker *worker = &pool->workers[id];

	*worker = (struct weir_worker) { 0 };
	worker_init(pool, id);
	for (uint32_t i = 0; i < pool->config.n_dispatchers; i++) {
		const uint64_t done =
			atomic_load_explicit(&pool->reclaim[i].done[id], memory_order_relaxed);

		worker->lane[i].head = (uint32_t)done;
		worker->lane[i].completed = (uint32_t)done;
		progress_publish(worker->progress, i, progress_pack((uint32_t)done, 0));
	}
}

/*
 * One dispatcher alone has nobody to claim a worker before. Among several any strategy may come to
 * claim; memory that nobody touches costs nothing.
 */
static int
claims_init(struct weir_pool *pool)
{
	return pool->config.n_dispatchers == 1 ? 0 : area_allocate(&pool->claim_area, CLAIMS_BYTES);
}

weir_claim *
pool_claims(const struct weir_pool *pool)
{
	return pool->claim_area.memory;
}

int
pool_memory_init(struct weir_pool *pool)
{
	const struct weir_config *config = &pool->config;

	pool->geometry = pool->policy->claim_lanes
				 ? claim_geometry_make(config->lane_size, config->lend_metadata)
				 : lane_geometry_make(config->lane_size, config->lend_metadata);
	if (pool->policy->covering != 0)
		pool->geometry.covers_bytes = round_up(COVERS_BYTES, CACHE_LINE_BYTES);
	if (area_allocate(&pool->lane_area, config->n_workers * lane_block_bytes(pool)) < 0 ||
		area_allocate(&pool->worker_area, config->n_workers * worker_block_bytes(pool)) <
			0 ||
		area_allocate(&pool->tail_area, config->n_dispatchers * sizeof(struct tail_array)) <
			0 ||
		area_allocate(&pool->workers_area, config->n_workers * sizeof(struct weir_worker)) <
			0 ||
		claims_init(pool) < 0) {
		pool_memory_fini(pool);
		return -ENOMEM;
	}
	pool->workers = pool->workers_area.memory;
	for (uint32_t i = 0; i < config->n_workers; i++)
		worker_init(pool, (weir_worker_id)i);
	return 0;
}

void
pool_memory_fini(struct weir_pool *pool)
{
	area_free(&pool->claim_area);
	area_free(&pool->workers_area);
	area_free(&pool->tail_area);
	area_free(&pool->worker_area);
	area_free(&pool->lane_area);
}
