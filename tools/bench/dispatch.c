/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `weir-bench dispatch`: the whole of weir_dispatch (harvest, decide, lend) for every registered
 * strategy, flow tags ready, order none. Idle: the workers complete as fast as they can, and each
 * burst begins once they have. Backlogged: each worker stands still on the same number of packets
 * while a burst is dispatched, and completes the rest before the next one.
 *
 * `weir-bench order`: the same of `shallowest` with order flow beside order none, by flows.
 */
#include <errno.h>
#include <stdlib.h>

#include <weir/weir.h>

#include "pair.h"
#include "workers.h"

/* Expected packets per worker in the warm-up of a backlog: random choices, too, reach everyone. */
#define BACKLOG_FILLS 4

struct dispatch {
	struct weir_pool *pool;
	struct weir_dispatcher *dispatcher;
	struct home home;
	CACHE_ALIGNED struct bench_workers workers; /* the other thread's */
};

struct situation {
	const char *name;
	bool backlogged;
	uint32_t flows;
};

static const struct situation situations[] = {
	{ "idle", false, FEED_FLOWS_DEFAULT },
	{ "backlog", true, FEED_FLOWS_DEFAULT },
};

#define N_SITUATIONS (sizeof(situations) / sizeof(situations[0]))

/* What a transmitting caller does at least: takes the handles over. */
static void
packets_come_home(void *context, void *const *packets, const struct weir_verdict *verdicts,
	uint32_t n, weir_worker_id worker)
{
	struct home *home = context;

	(void)verdicts;
	(void)worker;
	for (uint32_t i = 0; i < n; i++)
		home->packets[home->n + i] = packets[i];
	home->n += n;
}

static void
dispatch_burst(void *state, const struct weir_burst *burst)
{
	struct dispatch *dispatch = state;

	weir_dispatch(dispatch->dispatcher, burst);
}

static uint32_t
dispatch_sweep(void *state, uint32_t keep)
{
	struct dispatch *dispatch = state;

	return workers_sweep(&dispatch->workers, keep);
}

static struct home *
dispatch_home(void *state)
{
	struct dispatch *dispatch = state;

	return &dispatch->home;
}

static const struct pair_subject dispatch_subject = {
	.burst = dispatch_burst,
	.sweep = dispatch_sweep,
	.home = dispatch_home,
};

static void
dispatch_destroy(struct dispatch *dispatch)
{
	weir_dispatcher_destroy(dispatch->dispatcher);
	home_fini(&dispatch->home);
	weir_pool_destroy(dispatch->pool);
	free(dispatch);
}

static struct dispatch *
dispatch_create(const struct weir_config *config)
{
	struct dispatch *dispatch = aligned_alloc(CACHE_LINE_BYTES, sizeof(*dispatch));

	if (!dispatch)
		return NULL;
	*dispatch = (struct dispatch) { .pool = weir_pool_create(config, NULL) };
	if (!dispatch->pool ||
		home_init(&dispatch->home, config->n_workers * config->lane_size) < 0)
		goto destroy;
	dispatch->dispatcher =
		weir_dispatcher_create(dispatch->pool, 0, packets_come_home, &dispatch->home);
	if (!dispatch->dispatcher)
		goto destroy;
	workers_init(&dispatch->workers, dispatch->pool);
	return dispatch;

destroy:
	dispatch_destroy(dispatch);
	return NULL;
}

static int
dispatch_open_with(struct bench_case *test, const struct bench *bench, const char *strategy,
	enum weir_order order)
{
	struct weir_config config = weir_config_default();

	config.n_workers = test->workers;
	config.lane_size = bench->options.lane_size;
	config.burst = bench->options.burst;
	config.chunk = test->chunk;
	config.strategy = strategy;
	/* So that a strategy that may find no worker drops nothing of the backlog. */
	if (weir_strategy_find(strategy)->flags & WEIR_STRATEGY_FINDS_NONE)
		config.fallback = "round-robin";
	config.order = order;
	config.seed = bench->options.seed;
	test->state = dispatch_create(&config);
	return test->state ? 0 : -ENOMEM;
}

static int
dispatch_open(struct bench_case *test, const struct bench *bench)
{
	return dispatch_open_with(test, bench, test->subject, WEIR_ORDER_NONE);
}

static void
dispatch_close(struct bench_case *test)
{
	dispatch_destroy(test->state);
}

static uint64_t
warm_packets(const struct bench_case *test, const struct bench_options *options)
{
	const uint64_t lap = (uint64_t)test->workers * options->lane_size;
	const uint64_t fill = (uint64_t)test->workers * options->backlog * BACKLOG_FILLS;

	return lap > fill ? lap : fill;
}

/* Nothing was dropped, nothing is left. */
static int
ledger_check(const struct dispatch *dispatch)
{
	struct weir_ledger ledger = { 0 };

	weir_ledger_add(&ledger, dispatch->dispatcher);
	if (weir_ledger_gap(&ledger) != 0 || weir_ledger_dropped(&ledger) != 0)
		return -EBADMSG;
	return ledger.in_lanes == 0 && ledger.completed == ledger.received ? 0 : -EBADMSG;
}

/* Exact counts of the timed bursts. */
static void
counts_report(const struct weir_dispatcher_counters *before,
	const struct weir_dispatcher_counters *after, double *figures)
{
	const double bursts = (double)(after->bursts - before->bursts);

	figures[2] = (double)(after->depth_visits - before->depth_visits) / bursts;
	figures[3] = (double)(after->line_reads - before->line_reads) / bursts;
}

static int
dispatch_measure(struct dispatch *dispatch, struct pair *pair, uint64_t warm, double *figures)
{
	struct weir_dispatcher_counters before, after;
	struct pair_timing timing;
	int rc;

	rc = pair_warm(pair, warm);
	if (rc < 0)
		return rc;
	weir_dispatcher_counters(dispatch->dispatcher, &before);
	rc = pair_measure(pair, &timing);
	if (rc < 0)
		return rc;
	weir_dispatcher_counters(dispatch->dispatcher, &after);
	figures[0] = timing.returned;
	figures[1] = timing.drained;
	counts_report(&before, &after, figures);
	return 0;
}

static int
dispatch_round(struct bench_case *test, const struct bench *bench, double *figures)
{
	const struct situation *situation = test->variant;
	struct dispatch *dispatch = test->state;
	struct pair pair;
	int rc, stopped;

	feed_set_flows(bench->feed, situation->flows);
	rc = pair_start(&pair, bench, &dispatch_subject, dispatch,
		situation->backlogged ? bench->options.backlog : 0);
	if (rc < 0)
		return rc;
	rc = dispatch_measure(dispatch, &pair, warm_packets(test, &bench->options), figures);
	stopped = pair_stop(&pair, test);
	figures[4] = (double)pair.preempted;
	if (rc < 0 || stopped < 0)
		return rc < 0 ? rc : stopped;
	return ledger_check(dispatch);
}

static const struct bench_case_ops dispatch_ops = {
	.open = dispatch_open,
	.round = dispatch_round,
	.close = dispatch_close,
};

/* All strategies for one row group; owners of flows take no chunk. */
static void
dispatch_plan_group(const struct bench_options *options, struct bench_plan *plan,
	const struct situation *situation, uint32_t workers, uint32_t chunk)
{
	const struct weir_strategy *strategy;

	for (unsigned int i = 0; (strategy = weir_strategy_at(i)); i++) {
		if (strategy->flags & WEIR_STRATEGY_ALL_TARGETS)
			continue; /* nobody copies packets here */
		if (chunk > 1 && (strategy->flags & WEIR_STRATEGY_OWNS_FLOWS))
			continue;
		plan_add(plan, options,
			&(const struct bench_case) {
				.subject = strategy->name,
				.situation = situation->name,
				.workers = workers,
				.chunk = chunk,
				.ops = &dispatch_ops,
				.variant = situation,
			});
	}
}

static void
dispatch_plan(const struct bench_options *options, struct bench_plan *plan)
{
	for (size_t s = 0; s < N_SITUATIONS; s++) {
		for (uint32_t i = 0; i < options->n_workers; i++) {
			dispatch_plan_group(options, plan, &situations[s], options->workers[i], 1);
			if (options->chunk > 1)
				dispatch_plan_group(options, plan, &situations[s],
					options->workers[i], options->chunk);
		}
	}
}

static const struct bench_figure dispatch_figures[] = {
	{ "cycles_per_packet", "cycles/packet", 1 },
	{ "cycles_drained_per_packet", "..stores drained", 1 },
	{ "depth_visits_per_burst", "visits/burst", 1 },
	{ "line_reads_per_burst", "lines/burst", 1 },
	{ "preempted_per_round", "preempted", 0 },
	{ 0 },
};

const struct bench_command command_dispatch = {
	.name = "dispatch",
	.help = "weir_dispatch (harvest, decide, lend) for every strategy, idle and backlogged",
	.figures = dispatch_figures,
	.baseline = "round-robin",
	.proof = "every packet that was lent came home, and no other",
	.plan = dispatch_plan,
};

/* ---- order ---- */

static const struct situation order_situations[] = {
	{ "idle, 1000 flows", false, 1000 },
	{ "idle, 10000 flows", false, 10000 },
	{ "idle, 65000 flows", false, 65000 },
	{ "backlog, 1000 flows", true, 1000 },
	{ "backlog, 10000 flows", true, 10000 },
	{ "backlog, 65000 flows", true, 65000 },
};

#define N_ORDER_SITUATIONS (sizeof(order_situations) / sizeof(order_situations[0]))

static int
order_none_open(struct bench_case *test, const struct bench *bench)
{
	return dispatch_open_with(test, bench, "shallowest", WEIR_ORDER_NONE);
}

static int
order_flow_open(struct bench_case *test, const struct bench *bench)
{
	return dispatch_open_with(test, bench, "shallowest", WEIR_ORDER_FLOW);
}

static const struct bench_case_ops order_none_ops = {
	.open = order_none_open,
	.round = dispatch_round,
	.close = dispatch_close,
};

static const struct bench_case_ops order_flow_ops = {
	.open = order_flow_open,
	.round = dispatch_round,
	.close = dispatch_close,
};

static void
order_plan(const struct bench_options *options, struct bench_plan *plan)
{
	for (size_t s = 0; s < N_ORDER_SITUATIONS; s++) {
		for (uint32_t i = 0; i < options->n_workers; i++) {
			struct bench_case test = {
				.subject = "none",
				.situation = order_situations[s].name,
				.workers = options->workers[i],
				.chunk = 1,
				.ops = &order_none_ops,
				.variant = &order_situations[s],
			};

			plan_add(plan, options, &test);
			test.subject = "flow";
			test.ops = &order_flow_ops;
			plan_add(plan, options, &test);
		}
	}
}

const struct bench_command command_order = {
	.name = "order",
	.help = "weir_dispatch (shallowest) with order flow beside order none, by number of flows",
	.figures = dispatch_figures,
	.baseline = "none",
	.proof = "every packet lent came home, and the ledger balanced",
	.plan = order_plan,
};
