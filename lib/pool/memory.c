/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where lanes and worker areas lie. Each worker has one page-aligned block in the lane area (which
 * it only reads) and one in the worker area (which it alone writes), so that both can be mapped
 * into a process of its own. Behind the header of its page-aligned block a worker's data starts at
 * a cache line of its own choice: otherwise the current slots of all lanes would fall into one
 * cache set.
 */
#include <errno.h>

#include "pool.h"

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
	return round_up(sizeof(struct worker_header) + PAGE_BYTES +
				pool->config.n_dispatchers * lane_bytes(pool),
		PAGE_BYTES);
}

static size_t
worker_block_bytes(const struct weir_pool *pool)
{
	const size_t head_bytes = pool->policy->claim_lanes ? sizeof(struct claim_head) : 0;

	return round_up(
		sizeof(struct worker_own) + PAGE_BYTES + sizeof(struct worker_lines) +
			pool->config.n_dispatchers * (pool->geometry.verdicts_bytes + head_bytes),
		PAGE_BYTES);
}

struct worker_header *
pool_worker_header(const struct weir_pool *pool, weir_worker_id worker)
{
	return (struct worker_header *)(void *)((char *)pool->lane_area.memory +
						worker * lane_block_bytes(pool));
}

static struct worker_own *
worker_own(const struct weir_pool *pool, weir_worker_id worker)
{
	return (struct worker_own *)(void *)((char *)pool->worker_area.memory +
					     worker * worker_block_bytes(pool));
}

static char *
lane_memory(const struct weir_pool *pool, uint32_t dispatcher, weir_worker_id worker)
{
	return (char *)(pool_worker_header(pool, worker) + 1) + stagger_bytes(worker) +
	       dispatcher * lane_bytes(pool);
}

static struct worker_lines *
worker_lines(const struct weir_pool *pool, weir_worker_id worker)
{
	return (struct worker_lines *)(void *)((char *)(worker_own(pool, worker) + 1) +
					       stagger_bytes(worker));
}

static struct weir_verdict *
verdicts_memory(const struct weir_pool *pool, uint32_t dispatcher, weir_worker_id worker)
{
	return (struct weir_verdict *)((char *)(worker_lines(pool, worker) + 1) +
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
	return &worker_lines(pool, worker)->progress;
}

struct activity *
pool_activity(const struct weir_pool *pool, weir_worker_id worker)
{
	return &worker_lines(pool, worker)->activity;
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

/* Bytes from `from` to `to`; 0 if there is no `to`. */
static uint64_t
offset_of(const void *from, const void *to)
{
	return to ? (uint64_t)((const char *)to - (const char *)from) : 0;
}

static struct worker_layout
worker_layout(const struct weir_pool *pool, weir_worker_id id)
{
	const struct weir_config *config = &pool->config;
	const struct worker_own *own = worker_own(pool, id);
	const void *slots = lane_memory(pool, 0, id);

	return (struct worker_layout) {
		.lanes_bytes = lane_block_bytes(pool),
		.own_bytes = worker_block_bytes(pool),
		.data_bytes = config->data_bytes,
		.slots_offset = offset_of(pool_worker_header(pool, id), slots),
		.lane_stride = lane_bytes(pool),
		.metadata_offset = offset_of(slots, metadata_memory(pool, 0, id)),
		.covers_offset = offset_of(slots, pool_lane_cover(pool, 0, id)),
		.progress_offset = offset_of(own, worker_lines(pool, id)),
		.verdicts_offset = offset_of(own, verdicts_memory(pool, 0, id)),
		.verdicts_stride = pool->geometry.verdicts_bytes,
		.heads_offset = offset_of(own, pool_claim_head(pool, 0, id)),
		.covering = pool->policy->covering,
		.n_slots = pool->geometry.n_slots,
		.n_verdicts = pool->geometry.n_verdicts,
		.n_dispatchers = config->n_dispatchers,
		.n_urgent = config->n_urgent,
		/* A process may die at any time: what it had begun must be known. */
		.publishes_in_process =
			config->depth_mode == WEIR_DEPTH_QUEUED || config->is_shared,
	};
}

/* Makes a lane whose dispatcher does not exist that of one that has lent nothing. */
static void
lane_clear(struct weir_pool *pool, uint32_t dispatcher, weir_worker_id id)
{
	struct claim_head *head = pool_claim_head(pool, dispatcher, id);
	lane_slot *slots = (lane_slot *)(void *)lane_memory(pool, dispatcher, id);

	for (uint32_t i = 0; i < pool->geometry.n_slots; i++)
		atomic_store_explicit(&slots[i], 0, memory_order_relaxed);
	if (head)
		atomic_store_explicit(&head->seq, 0, memory_order_relaxed);
}

/* Where the lane begins that a dispatcher has reclaimed, as the worker's progress word counts. */
static uint32_t
lane_begin(struct weir_pool *pool, uint32_t dispatcher, weir_worker_id id)
{
	if (!pool->dispatcher_exists[dispatcher]) {
		lane_clear(pool, dispatcher, id);
		return 0;
	}
	return (uint32_t)atomic_load_explicit(
		&pool->reclaim[dispatcher].done[id], memory_order_relaxed);
}

/* Atomically: others may be reading, to show it. */
static void
lines_write(struct worker_lines *lines, const uint32_t *begin, uint32_t n_dispatchers)
{
	for (uint32_t i = 0; i < n_dispatchers; i++)
		progress_publish(&lines->progress, i, progress_pack(begin[i], 0));
	pulse_publish(&lines->progress, pulse_pack(0, WEIR_WORKER_STARTING));
	counter_set(&lines->activity.taken, 0);
	counter_set(&lines->activity.completed, 0);
	counter_set(&lines->activity.busy_cycles, 0);
	counter_set(&lines->activity.busy_since, 0);
}

/* Writes both blocks as the incarnation shall find them, but for slots and heads of claim lanes. */
static void
blocks_write(struct weir_pool *pool, weir_worker_id id, uint32_t incarnation)
{
	struct worker_header *header = pool_worker_header(pool, id);

	header->magic = WORKER_LANES_MAGIC;
	header->version = WORKER_ABI_VERSION;
	header->header_bytes = sizeof(*header);
	header->layout = worker_layout(pool, id);
	header->id = id;
	*worker_own(pool, id) = (struct worker_own) {
		.magic = WORKER_OWN_MAGIC,
		.version = WORKER_ABI_VERSION,
		.id = id,
	};
	lines_write(worker_lines(pool, id), header->begin, pool->config.n_dispatchers);
	pool_incarnation_begin(pool, id, incarnation);
}

/* Where an incarnation begins in the lanes is in the header. */
static void
worker_init(struct weir_pool *pool, weir_worker_id id, uint32_t incarnation)
{
	struct worker_header *header = pool_worker_header(pool, id);

	blocks_write(pool, id, incarnation);
	pool->workers[id] = (struct weir_worker) { 0 };
	worker_open(
		&pool->workers[id], header, header, worker_own(pool, id), pool->config.data_base);
}

void
pool_worker_reset(struct weir_pool *pool, weir_worker_id id, uint32_t incarnation)
{
	struct worker_header *header = pool_worker_header(pool, id);

	for (uint32_t i = 0; i < pool->config.n_dispatchers; i++)
		header->begin[i] = lane_begin(pool, i, id);
	worker_init(pool, id, incarnation);
}

void
pool_incarnation_begin(struct weir_pool *pool, weir_worker_id id, uint32_t incarnation)
{
	struct worker_header *header = pool_worker_header(pool, id);

	/* In both halves: a process that attaches finds out that they belong together. */
	worker_own(pool, id)->incarnation = incarnation;
	atomic_store_explicit(&header->incarnation, incarnation, memory_order_relaxed);
	weir_pool_command(pool, id, WEIR_COMMAND_RUN);
}

/*
 * Edge E14, from control: a worker need not wait for a dispatcher that lends nothing. Its lane ends
 * where the worker is.
 */
static void
lane_end_absent(struct weir_pool *pool, uint32_t dispatcher, weir_worker_id id)
{
	const struct claim_head *head = pool_claim_head(pool, dispatcher, id);
	const uint64_t word = progress_read(pool_progress(pool, id), dispatcher);
	const uint32_t position =
		head ? (uint32_t)atomic_load_explicit(&head->seq, memory_order_acquire)
		     : progress_completed(word);

	lane_end(&pool_worker_header(pool, id)->lane[dispatcher], pool->order[id].incarnation,
		position);
}

void
pool_lanes_end_absent(struct weir_pool *pool, weir_worker_id id)
{
	for (uint32_t i = 0; i < pool->config.n_dispatchers; i++) {
		if (!pool->dispatcher_exists[i])
			lane_end_absent(pool, i, id);
	}
}

void
pool_dispatcher_leave(struct weir_pool *pool, uint32_t dispatcher)
{
	pool->dispatcher_exists[dispatcher] = false;
	for (uint32_t i = 0; i < pool->config.n_workers; i++) {
		if (pool->order[i].order == LANE_END)
			lane_end_absent(pool, dispatcher, (weir_worker_id)i);
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

/*
 * The workers' blocks: of shared pools one file for each, sealed such that no process can give the
 * pool less memory than it has, nor map lanes to write them.
 */
static int
blocks_init(struct weir_pool *pool)
{
	const uint32_t n = pool->config.n_workers;
	const size_t lanes_bytes = lane_block_bytes(pool);
	const size_t own_bytes = worker_block_bytes(pool);

	if (!pool->config.is_shared)
		return area_allocate(&pool->lane_area, n * lanes_bytes) < 0
			       ? -ENOMEM
			       : area_allocate(&pool->worker_area, n * own_bytes);
	if (area_map_files(&pool->lane_area, "weir lanes", lanes_bytes, n, true) < 0)
		return -ENOMEM;
	return area_map_files(&pool->worker_area, "weir worker", own_bytes, n, false);
}

int
weir_pool_worker_memory(
	const struct weir_pool *pool, weir_worker_id id, struct weir_worker_memory *memory)
{
	if (id >= pool->config.n_workers)
		return -ENOENT;
	if (!pool->config.is_shared)
		return -EINVAL;
	*memory = (struct weir_worker_memory) {
		.lanes_fd = pool->lane_area.fds[id],
		.lanes_bytes = lane_block_bytes(pool),
		.own_fd = pool->worker_area.fds[id],
		.own_bytes = worker_block_bytes(pool),
	};
	return 0;
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
	if (blocks_init(pool) < 0 ||
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
		worker_init(pool, (weir_worker_id)i, 0);
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
