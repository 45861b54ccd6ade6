/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `weir-bench owners`: how evenly the strategies that own flows share out all buckets, and how many
 * buckets move without need when a worker leaves. Exact counts: nothing is timed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weir/strategy.h>

#include "bench.h"

/* Workers that leave, one at a time, evenly spaced among all. */
#define LEAVERS_MAX 16
#define NOBODY UINT32_MAX

/* Between open and close: what was counted. */
struct owners {
	struct weir_snapshot snapshot;
	struct weir_meta meta[WEIR_BURST_MAX];
	weir_worker_id before[WEIR_BUCKETS];
	weir_worker_id after[WEIR_BUCKETS];
	uint64_t asked; /* buckets, over all pools */
	uint64_t owned; /* of these, by a worker of that pool */
	double figures[BENCH_FIGURES_MAX];
};

enum owners_figure {
	LOAD_MIN,
	LOAD_MAX,
	MOVED_MEAN,
	MOVED_MAX,
};

/* A pool of workers 0 .. n - 1 without `gone`. */
static void
snapshot_set(struct weir_snapshot *snapshot, uint32_t n, uint32_t gone)
{
	*snapshot = (struct weir_snapshot) { .version = 1 };
	for (uint32_t id = 0; id < WEIR_WORKERS_MAX; id++) {
		snapshot->position[id] = WEIR_WORKER_NONE;
		if (id >= n || id == gone)
			continue;
		snapshot->position[id] = (uint16_t)snapshot->n_routable;
		snapshot->weight[snapshot->n_routable] = 1;
		snapshot->member[snapshot->n_routable] = (weir_worker_id)id;
		snapshot->routable[snapshot->n_routable++] = (weir_worker_id)id;
	}
	snapshot->n_members = snapshot->n_routable;
}

/* Asks for WEIR_BURST_MAX buckets from `first` on. */
static void
burst_ask(struct owners *owners, const struct weir_strategy *strategy, const void *table,
	uint32_t first, weir_worker_id *owner_of)
{
	const uint32_t n = owners->snapshot.n_routable;
	struct weir_pick_context context = {
		.table = table,
		.n_routable = n,
		.stride = 1,
		.rotation_stride = 1 % n,
		.routable = owners->snapshot.routable,
		.version = owners->snapshot.version,
	};
	uint16_t out[WEIR_BURST_MAX];

	for (uint32_t i = 0; i < WEIR_BURST_MAX; i++)
		owners->meta[i].bucket = (uint16_t)(first + i);
	strategy->pick_burst(&context, owners->meta, WEIR_BURST_MAX, out);
	for (uint32_t i = 0; i < WEIR_BURST_MAX; i++) {
		owner_of[first + i] =
			out[i] < n ? owners->snapshot.routable[out[i]] : WEIR_WORKER_NONE;
		owners->owned += out[i] < n;
	}
	owners->asked += WEIR_BURST_MAX;
}

/* The owners of all buckets among workers 0 .. n - 1 without `gone`. */
static int
buckets_ask(struct owners *owners, const struct weir_strategy *strategy, uint32_t n, uint32_t gone,
	weir_worker_id *owner_of)
{
	void *table;

	snapshot_set(&owners->snapshot, n, gone);
	table = strategy->prepare(strategy, &owners->snapshot);
	if (!table)
		return -ENOMEM;
	for (uint32_t first = 0; first < WEIR_BUCKETS; first += WEIR_BURST_MAX)
		burst_ask(owners, strategy, table, first, owner_of);
	strategy->release(table);
	return 0;
}

static void
load_count(struct owners *owners, uint32_t n)
{
	uint32_t load[WEIR_WORKERS_MAX] = { 0 };
	uint32_t min = UINT32_MAX;
	uint32_t max = 0;

	for (uint32_t bucket = 0; bucket < WEIR_BUCKETS; bucket++) {
		if (owners->before[bucket] < n)
			load[owners->before[bucket]]++;
	}
	for (uint32_t i = 0; i < n; i++) {
		min = load[i] < min ? load[i] : min;
		max = load[i] > max ? load[i] : max;
	}
	owners->figures[LOAD_MIN] = (double)min * n / WEIR_BUCKETS;
	owners->figures[LOAD_MAX] = (double)max * n / WEIR_BUCKETS;
}

/* Percent of all buckets whose owner stayed, and that moved all the same. */
static double
moved_percent(const struct owners *owners, uint32_t gone)
{
	uint32_t moved = 0;

	for (uint32_t bucket = 0; bucket < WEIR_BUCKETS; bucket++)
		moved += owners->before[bucket] != gone &&
			 owners->before[bucket] != owners->after[bucket];
	return 100.0 * moved / WEIR_BUCKETS;
}

static int
owners_count(struct owners *owners, const struct weir_strategy *strategy, uint32_t n)
{
	const uint32_t n_leavers = n < LEAVERS_MAX ? n : LEAVERS_MAX;
	double sum = 0;

	if (buckets_ask(owners, strategy, n, NOBODY, owners->before) < 0)
		return -ENOMEM;
	load_count(owners, n);
	/* The last of one cannot leave. */
	for (uint32_t i = 0; n > 1 && i < n_leavers; i++) {
		const uint32_t gone = i * n / n_leavers;
		double percent;

		if (buckets_ask(owners, strategy, n, gone, owners->after) < 0)
			return -ENOMEM;
		percent = moved_percent(owners, gone);
		sum += percent;
		if (percent > owners->figures[MOVED_MAX])
			owners->figures[MOVED_MAX] = percent;
	}
	owners->figures[MOVED_MEAN] = sum / n_leavers;
	return 0;
}

static int
owners_open(struct bench_case *test, const struct bench *bench)
{
	struct owners *owners = calloc(1, sizeof(*owners));

	(void)bench;
	if (!owners)
		return -ENOMEM;
	if (owners_count(owners, test->variant, test->workers) < 0) {
		free(owners);
		return -ENOMEM;
	}
	test->state = owners;
	return 0;
}

/* Every round would count the same. */
static int
owners_round(struct bench_case *test, const struct bench *bench, double *figures)
{
	const struct owners *owners = test->state;

	(void)bench;
	memcpy(figures, owners->figures, sizeof(owners->figures));
	test->packets_in += owners->asked;
	test->packets_out += owners->owned;
	return owners->asked == owners->owned ? 0 : -EBADMSG;
}

static void
owners_close(struct bench_case *test)
{
	free(test->state);
}

static const struct bench_case_ops owners_ops = {
	.open = owners_open,
	.round = owners_round,
	.close = owners_close,
};

static void
owners_plan(const struct bench_options *options, struct bench_plan *plan)
{
	const struct weir_strategy *strategy;

	for (uint32_t i = 0; i < options->n_workers; i++) {
		for (unsigned int s = 0; (strategy = weir_strategy_at(s)); s++) {
			if (!(strategy->flags & WEIR_STRATEGY_OWNS_FLOWS) || !strategy->prepare)
				continue;
			plan_add(plan, options,
				&(const struct bench_case) {
					.subject = strategy->name,
					.situation = "leave",
					.workers = options->workers[i],
					.chunk = 1,
					.ops = &owners_ops,
					.variant = strategy,
				});
		}
	}
}

static const struct bench_figure owners_figures[] = {
	[LOAD_MIN] = { "load_min", "least load / mean", 3 },
	[LOAD_MAX] = { "load_max", "greatest load / mean", 3 },
	[MOVED_MEAN] = { "moved_beyond_mean_percent", "moved beyond, mean %", 2 },
	[MOVED_MAX] = { "moved_beyond_max_percent", "moved beyond, max %", 2 },
	{ 0 },
};

const struct bench_command command_owners = {
	.name = "owners",
	.help = "shares of buckets, and moves beyond need, of strategies that own flows; not timed",
	.figures = owners_figures,
	.proof = "every bucket had an owner, and after a worker had left, one of the others",
	.plan = owners_plan,
};
