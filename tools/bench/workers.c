/* SPDX-License-Identifier: BSD-3-Clause */
#include "workers.h"

#include "worker.h"

void
workers_init(struct bench_workers *workers, struct weir_pool *pool)
{
	*workers = (struct bench_workers) { .n = weir_pool_config(pool)->n_workers };
	for (uint32_t i = 0; i < workers->n; i++)
		workers->worker[i] = weir_pool_worker(pool, (weir_worker_id)i);
	for (uint32_t i = 0; i < WEIR_BURST_MAX; i++)
		workers->verdicts[i] = weir_verdict_consumed();
}

static uint32_t
worker_finish(struct bench_workers *workers, uint32_t id, uint32_t max)
{
	const uint32_t n = weir_take(workers->worker[id], workers->packets, max);

	if (n > 0)
		weir_complete(workers->worker[id], workers->verdicts, n);
	return n;
}

/* Everything; the packets met are what the lane's head has passed since. */
static uint32_t
worker_drain(struct bench_workers *workers, uint32_t id)
{
	const uint32_t before = workers->seen[id];

	while (worker_finish(workers, id, WEIR_BURST_MAX) > 0)
		;
	workers->seen[id] = workers->worker[id]->lane[0].head;
	return workers->seen[id] - before;
}

/* All but the `keep` newest: looks ahead in the lane to know how many there are. */
static uint32_t
worker_trim(struct bench_workers *workers, uint32_t id, uint32_t keep)
{
	const struct lane_consumer *lane = &workers->worker[id]->lane[0];
	const uint32_t before = workers->seen[id];
	uint64_t data;

	while (lane_peek(lane, workers->seen[id], &data))
		workers->seen[id]++;
	while (workers->seen[id] - lane->completed > keep) {
		const uint32_t excess = workers->seen[id] - lane->completed - keep;

		worker_finish(workers, id, excess < WEIR_BURST_MAX ? excess : WEIR_BURST_MAX);
	}
	return workers->seen[id] - before;
}

uint32_t
workers_sweep(struct bench_workers *workers, uint32_t keep)
{
	uint32_t met = 0;

	for (uint32_t id = 0; id < workers->n; id++)
		met += keep > 0 ? worker_trim(workers, id, keep) : worker_drain(workers, id);
	return met;
}
