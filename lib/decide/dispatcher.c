/* SPDX-License-Identifier: BSD-3-Clause */
/* Creation of a dispatcher, and copies of its counters. Cold. */
#include "admission.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "rng.h"

/* Lanes, tallies and handles in one area: nothing of a dispatcher is allocated later. */
static int
lanes_init(struct weir_dispatcher *dispatcher)
{
	struct weir_pool *pool = dispatcher->pool;
	const uint32_t n = pool->config.n_workers;
	const size_t lanes_bytes = n * sizeof(struct lane_producer);
	const size_t tally_bytes = n * sizeof(struct worker_tally);
	const size_t handles_bytes = n * pool->geometry.packets_bytes;
	char *memory;

	if (area_allocate(&dispatcher->lane_area, lanes_bytes + tally_bytes + handles_bytes) < 0)
		return -ENOMEM;
	memory = dispatcher->lane_area.memory;
	dispatcher->lane = (struct lane_producer *)memory;
	dispatcher->worker_tally = (struct worker_tally *)(memory + lanes_bytes);
	memory += lanes_bytes + tally_bytes;
	for (uint32_t i = 0; i < n; i++) {
		const weir_worker_id id = (weir_worker_id)i;

		dispatcher->lane[i] =
			pool_lane_producer(pool, dispatcher->id, id, (void **)(void *)memory);
		dispatcher->worker_tally[i].depth_alarm =
			weir_alarm_make(pool->config.depth_alarm_pkts);
		dispatcher->progress[i] = pool_progress(pool, id);
		memory += pool->geometry.packets_bytes;
	}
	return 0;
}

static int
pins_init(struct weir_dispatcher *dispatcher)
{
	const size_t pin_bytes = WEIR_BUCKETS * sizeof(struct pin);
	const size_t time_bytes = dispatcher->sticky_ns > 0 ? WEIR_BUCKETS * sizeof(uint64_t) : 0;

	if (dispatcher->pool->config.order == WEIR_ORDER_NONE)
		return 0;
	/* Some policy to come may mix owners. */
	if (area_allocate(&dispatcher->pin_area, pin_bytes + time_bytes + WEIR_BUCKETS) < 0)
		return -ENOMEM;
	dispatcher->pins = dispatcher->pin_area.memory;
	if (time_bytes > 0)
		dispatcher->last_ns = (uint64_t *)(dispatcher->pins + WEIR_BUCKETS);
	dispatcher->met_memory = (uint8_t *)dispatcher->pin_area.memory + pin_bytes + time_bytes;
	return 0;
}

/* Dispatchers start their rotations apart, so that independent round-robins do not clump. */
static void
pick_init(struct weir_dispatcher *dispatcher)
{
	const struct weir_config *config = &dispatcher->pool->config;

	dispatcher->pick = (struct weir_pick_context) {
		.depth = dispatcher->depth,
		.room = dispatcher->room,
		.stride = config->chunk,
		.index = (uint64_t)dispatcher->id * config->n_workers / config->n_dispatchers,
		.seed = rng_at(config->seed, dispatcher->id),
		.dispatcher_id = dispatcher->id,
	};
}

static void
dispatcher_init(struct weir_dispatcher *dispatcher, struct weir_pool *pool, uint32_t id)
{
	const struct weir_config *config = &pool->config;

	*dispatcher = (struct weir_dispatcher) {
		.pool = pool,
		.id = id,
		.n_workers = config->n_workers,
		.n_dispatchers = config->n_dispatchers,
		.burst = config->burst,
		.chunk = config->chunk,
		.counts_in_process = config->depth_mode == WEIR_DEPTH_OUTSTANDING,
		.has_budget = config->budget_pkts > 0,
		.budget = config->budget_pkts > 0 ? config->budget_pkts : UINT32_MAX,
		.hold_timeout_ns = config->hold_timeout_ns,
		.state_period = { .period_ns = config->state_period_ns },
		.data_base = (uintptr_t)config->data_base,
		.sticky_ns = config->sticky_ns,
		.tails = config->n_dispatchers > 1 ? pool_tails(pool, id)->tail : NULL,
		.reclaim = { .worker = WEIR_WORKER_NONE },
	};
	pick_init(dispatcher);
}

/*
 * The hold proper takes what the configuration says. Its front has room for all that lanes can
 * have, as far as pins can count it; without metadata nothing can come there.
 */
static int
holds_init(struct weir_dispatcher *dispatcher)
{
	const struct weir_config *config = &dispatcher->pool->config;
	const uint64_t lent = (uint64_t)config->n_workers * (config->lane_size + WEIR_BURST_MAX);
	const uint32_t most = lent < UINT16_MAX ? (uint32_t)lent : UINT16_MAX;

	if (hold_init(&dispatcher->hold, config->hold_size) < 0 ||
		hold_init(&dispatcher->front, config->lend_metadata ? most : 0) < 0)
		return -ENOMEM;
	return 0;
}

static void
dispatcher_free(struct weir_dispatcher *dispatcher)
{
	hold_fini(&dispatcher->hold);
	hold_fini(&dispatcher->front);
	class_books_fini(dispatcher);
	area_free(&dispatcher->pin_area);
	area_free(&dispatcher->claim_area);
	area_free(&dispatcher->lane_area);
	free(dispatcher);
}

struct weir_dispatcher *
weir_dispatcher_create(struct weir_pool *pool, uint32_t id, weir_finish_fn finish, void *context)
{
	struct weir_dispatcher *dispatcher;

	if (id >= pool->config.n_dispatchers || !finish) {
		errno = EINVAL;
		return NULL;
	}
	if (pool->dispatcher_created[id]) {
		errno = EEXIST;
		return NULL;
	}
	dispatcher = aligned_alloc(CACHE_LINE_BYTES, sizeof(*dispatcher));
	if (!dispatcher)
		return NULL;
	dispatcher_init(dispatcher, pool, id);
	dispatcher->finish = finish;
	dispatcher->finish_context = context;
	if (lanes_init(dispatcher) < 0 || claims_init(dispatcher) < 0 ||
		pins_init(dispatcher) < 0 || class_books_init(dispatcher) < 0 ||
		holds_init(dispatcher) < 0) {
		dispatcher_free(dispatcher);
		errno = ENOMEM;
		return NULL;
	}
	mirror_sync(dispatcher);
	pool->dispatcher_exists[id] = true;
	pool->dispatcher_created[id] = true;
	return dispatcher;
}

void
weir_copy_set(struct weir_dispatcher *dispatcher, weir_copy_fn copy)
{
	dispatcher->copy = copy;
	/* Who never copies does not even look whether packets want to be copied. */
	dispatcher->may_differ = copy || dispatcher->is_classed;
}

void
weir_dispatcher_destroy(struct weir_dispatcher *dispatcher)
{
	if (!dispatcher)
		return;
	assert(weir_in_lanes(dispatcher) == 0 && weir_held(dispatcher) == 0);
	pool_dispatcher_leave(dispatcher->pool, dispatcher->id);
	dispatcher_free(dispatcher);
}

uint32_t
weir_in_lanes(const struct weir_dispatcher *dispatcher)
{
	/* Ended first: a reader on another core then seldom sees more ended than lent; never below
	 * 0. */
	const uint64_t ended = counter_read(&dispatcher->tally.ended);
	const uint64_t lent = counter_read(&dispatcher->tally.lent);

	return lent > ended ? (uint32_t)(lent - ended) : 0;
}

void
weir_dispatcher_counters(
	const struct weir_dispatcher *dispatcher, struct weir_dispatcher_counters *counters)
{
	const struct dispatcher_tally *tally = &dispatcher->tally;

	*counters = (struct weir_dispatcher_counters) {
		.received = counter_read(&tally->received),
		.copies = counter_read(&tally->copies),
		.rejected = counter_read(&tally->rejected),
		.routed = counter_read(&tally->routed),
		.lent = counter_read(&tally->lent),
		.returned_tx = counter_read(&tally->returned_tx),
		.consumed = counter_read(&tally->consumed),
		.held = counter_read(&tally->held),
		.moves = counter_read(&tally->moves),
		.retries = counter_read(&tally->retries),
		.depth_visits = counter_read(&tally->depth_visits),
		.line_reads = counter_read(&tally->line_reads),
		.bursts = counter_read(&tally->bursts),
	};
	for (unsigned int i = 0; i < WEIR_REASON_COUNT; i++)
		counters->dropped[i] = counter_read(&tally->dropped[i]);
}

int
weir_dispatcher_worker_counters(const struct weir_dispatcher *dispatcher, weir_worker_id id,
	struct weir_worker_counters *counters)
{
	const struct worker_tally *tally;

	if (id >= dispatcher->n_workers)
		return -EINVAL;
	tally = &dispatcher->worker_tally[id];
	*counters = (struct weir_worker_counters) {
		.lent = counter_read(&tally->lent),
		.harvested = counter_read(&tally->harvested),
		.depth = (uint32_t)counter_read(&tally->depth),
		.max_depth = (uint32_t)counter_read(&tally->max_depth),
		.depth_alarms = counter_read(&tally->depth_alarms),
		.depth_alarm_level = counter_read(&tally->depth_alarm_level),
	};
	for (unsigned int i = 0; i < WEIR_REASON_COUNT; i++)
		counters->dropped[i] = counter_read(&tally->dropped[i]);
	return 0;
}

void
weir_ledger_add(struct weir_ledger *ledger, const struct weir_dispatcher *dispatcher)
{
	const struct dispatcher_tally *tally = &dispatcher->tally;

	ledger->in_lanes += weir_in_lanes(dispatcher);
	ledger->received += counter_read(&tally->received);
	ledger->copies += counter_read(&tally->copies);
	ledger->completed += counter_read(&tally->returned_tx) + counter_read(&tally->consumed);
	ledger->held += counter_read(&tally->held);
	for (unsigned int i = 0; i < WEIR_REASON_COUNT; i++)
		ledger->dropped[i] += counter_read(&tally->dropped[i]);
}
