/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The whole pipeline under random traffic, random workers and random changes of the pool: every
 * strategy with every policy, depth mode, chunk and order. The rig checks the books after every
 * step, and asks the order oracle where order is flow.
 */
#include "test.h"

#include "dispatcher.h"
#include "rig.h"

#define N_STEPS 1200
#define PACKETS_MAX (N_STEPS * 32)

/* A random run: the rig, and what the test itself knows of the pool. */
struct run {
	struct rig *rig;
	struct test_random *random;
	uint64_t now_ns;
	bool member[WEIR_WORKERS_MAX];
	bool ready[WEIR_WORKERS_MAX];
	/* Lane tails at the time that a worker ceased to be ready. */
	uint32_t tail[WEIR_DISPATCHERS_MAX][WEIR_WORKERS_MAX];
};

static uint32_t
below(struct run *run, uint32_t n)
{
	return test_random_below(run->random, n);
}

static uint32_t
lane_tail(const struct run *run, uint32_t dispatcher, weir_worker_id id)
{
	return run->rig->dispatcher[dispatcher].dispatcher->lane[id].tail;
}

/* No packet has gone to a worker since it ceased to be ready. */
static void
assert_only_ready_workers_got_packets(const struct run *run)
{
	for (uint32_t d = 0; d < run->rig->config.n_dispatchers; d++) {
		for (uint32_t w = 0; w < run->rig->config.n_workers; w++) {
			if (!run->ready[w])
				assert_int_equal(
					lane_tail(run, d, (weir_worker_id)w), run->tail[d][w]);
		}
	}
}

/* A verdict of any kind, some of them out of range. */
static struct weir_verdict
random_verdict(struct run *run)
{
	switch (below(run, 4)) {
	case 0:
		return (struct weir_verdict) { .kind = WEIR_VERDICT_TX, .target = 1 };
	case 1:
		return weir_verdict_drop((uint8_t)below(run, WEIR_REASON_COUNT + 2));
	case 2:
		return (struct weir_verdict) { .kind = (uint8_t)below(run, 256) };
	default:
		return weir_verdict_consumed();
	}
}

static void
step_work(struct run *run)
{
	const weir_worker_id id = (weir_worker_id)below(run, run->rig->config.n_workers);
	struct rig_worker *worker = &run->rig->worker[id];
	uint32_t left = worker->n_taken - worker->completed;

	if (left == 0)
		left = rig_take(run->rig, id, 1 + below(run, 32));
	if (left > 0)
		rig_complete(run->rig, id, below(run, left + 1), random_verdict(run));
}

static void
step_dispatch(struct run *run)
{
	const uint32_t d = below(run, run->rig->config.n_dispatchers);

	if (run->rig->dispatcher[d].n_refused == 0)
		rig_dispatch_from(run->rig, d, below(run, run->rig->config.burst + 1));
	else if (below(run, 2))
		rig_retry(run->rig, d);
	else if (below(run, 4))
		rig_hold(run->rig, d);
	else
		rig_abandon(run->rig, d);
}

static void
worker_ceases(struct run *run, weir_worker_id id)
{
	run->ready[id] = false;
	for (uint32_t d = 0; d < run->rig->config.n_dispatchers; d++)
		run->tail[d][id] = lane_tail(run, d, id);
}

static void
step_change_pool(struct run *run)
{
	const weir_worker_id id = (weir_worker_id)below(run, run->rig->config.n_workers);
	struct weir_pool *pool = run->rig->pool;

	if (!run->member[id]) {
		assert_int_equal(weir_pool_add(pool, id), 0);
		run->member[id] = true;
	} else if (!run->ready[id]) {
		/* Starting, draining or stopped: the first becomes ready, the others go. */
		if (weir_pool_set_state(pool, id, WEIR_WORKER_READY) == 0) {
			run->ready[id] = true;
		} else {
			assert_int_equal(weir_pool_remove(pool, id), 0);
			run->member[id] = false;
		}
	} else if (below(run, 2)) {
		assert_int_equal(
			weir_pool_set_state(pool, id,
				below(run, 2) ? WEIR_WORKER_DRAINING : WEIR_WORKER_STOPPED),
			0);
		worker_ceases(run, id);
	} else {
		assert_int_equal(weir_pool_remove(pool, id), 0);
		run->member[id] = false;
		worker_ceases(run, id);
	}
}

static void
step(struct run *run)
{
	if (run->rig->config.n_classes > 0)
		rig_time(run->rig, run->now_ns += below(run, 20));
	switch (below(run, 8)) {
	case 0:
	case 1:
	case 2:
		step_dispatch(run);
		break;
	case 3:
		rig_harvest(run->rig);
		break;
	default:
		step_work(run);
		break;
	}
	assert_only_ready_workers_got_packets(run);
	if (below(run, 40) == 0)
		step_change_pool(run);
}

static uint32_t
owners_count(const struct weir_config *config)
{
	uint32_t n = (weir_strategy_find(config->strategy)->flags & WEIR_STRATEGY_OWNS_FLOWS) != 0;

	for (uint32_t i = 0; i < config->n_classes; i++)
		n += config->classes[i].strategy &&
		     (weir_strategy_find(config->classes[i].strategy)->flags &
			     WEIR_STRATEGY_OWNS_FLOWS);
	return n;
}

/* What makes packets wait, and end while they wait. */
static void
waiting_draw(struct weir_config *config, struct test_random *random)
{
	if (test_random_below(random, 3) > 0)
		config->budget_pkts = test_random_between(random, 1, config->lane_size);
	if (test_random_below(random, 2))
		config->hold_timeout_ns = test_random_between(random, 1, 500);
	config->state_period_ns = test_random_below(random, 1000);
	/* Some class may cover early. */
	config->lend_metadata = true;
}

static void
run_random(struct weir_config *config, struct test_random *random)
{
	struct run run = { .random = random };

	config->n_workers = test_random_between(random, 1, 8);
	config->n_dispatchers = test_random_between(random, 1, 3);
	config->lane_size = test_random_between(random, 1, 40);
	config->burst = test_random_between(random, 1, 32);
	config->hold_size = test_random_below(random, 80);
	config->lend_metadata = test_random_below(random, 2);
	if (config->n_classes > 0)
		waiting_draw(config, random);
	rig_settle_policies(config, (struct weir_class *)(uintptr_t)config->classes);
	run.rig = rig_create(config, PACKETS_MAX);
	run.rig->draws_classes = config->n_classes > 0;
	run.rig->copies_move = true;
	/* Who waits for an owner at its budget may find another one when the pool changes. */
	run.rig->waits_apart = config->budget_pkts > 0 && owners_count(config) > 0;
	/* Few buckets, so that packets follow pins; or one for each packet. */
	run.rig->n_buckets = test_random_below(random, 3) * 20;
	for (uint32_t i = 0; i < config->n_workers; i++) {
		run.member[i] = true;
		run.ready[i] = true;
	}
	for (uint32_t i = 0; i < N_STEPS; i++)
		step(&run);
	/* The rig's end brings all home and checks that each packet ended once. */
	rig_destroy(run.rig);
}

static void
ledger_is_exact_for_every_strategy_policy_depth_mode_chunk_and_order(void **state)
{
	static const enum weir_depth_mode modes[] = { WEIR_DEPTH_OUTSTANDING, WEIR_DEPTH_QUEUED };
	static const enum weir_order orders[] = { WEIR_ORDER_NONE, WEIR_ORDER_FLOW };
	static const uint32_t chunks[] = { 1, 8 };
	struct test_random random = test_random_start(__func__);

	(void)state;
	for (unsigned int s = 0; weir_strategy_at(s); s++) {
		for (unsigned int p = 0; weir_overflow_at(p); p++) {
			for (uint32_t variant = 0; variant < 8; variant++) {
				struct weir_config config =
					rig_config(weir_strategy_at(s)->name, 1);

				config.overflow = weir_overflow_at(p)->name;
				config.depth_mode = modes[variant & 1];
				config.chunk = chunks[variant >> 1 & 1];
				config.order = orders[variant >> 2];
				if (weir_config_check(&config, NULL) == 0)
					run_random(&config, &random);
			}
		}
	}
}

static uint32_t
strategies_count(void)
{
	uint32_t n = 0;

	while (weir_strategy_at(n))
		n++;
	return n;
}

static uint32_t
policies_count(void)
{
	uint32_t n = 0;

	while (weir_overflow_at(n))
		n++;
	return n;
}

/* Any strategy, policy, depth mode and order. */
static struct weir_config
config_draw(struct test_random *random)
{
	struct weir_config config = rig_config(
		weir_strategy_at(test_random_below(random, strategies_count()))->name, 1);

	config.overflow = weir_overflow_at(test_random_below(random, policies_count()))->name;
	config.depth_mode = (enum weir_depth_mode)test_random_below(random, 2);
	config.order = (enum weir_order)test_random_below(random, 2);
	if (config.order == WEIR_ORDER_FLOW)
		config.sticky_ns = test_random_below(random, 1000);
	return config;
}

/* All of the above drawn at random, chunk included. */
static void
ledger_is_exact_for_random_configurations(void **state)
{
	struct test_random random = test_random_start(__func__);

	(void)state;
	for (uint32_t i = 0; i < 30; i++) {
		struct weir_config config = config_draw(&random);

		config.chunk = test_random_between(&random, 1, 256);
		if (weir_config_check(&config, NULL) < 0)
			config.chunk = 1;
		run_random(&config, &random);
	}
}

static bool
goes_to_all(const char *name)
{
	return weir_strategy_find(name)->flags & WEIR_STRATEGY_ALL_TARGETS;
}

/* Classes of all kinds: where to, whether to all, at which rate, and what if there is no room. */
static void
classes_draw(struct weir_config *config, struct weir_class *classes, uint32_t n_strategies,
	uint32_t n_policies, struct test_random *random)
{
	config->classes = classes;
	config->n_classes = test_random_between(random, 1, 8);
	for (uint32_t i = 0; i < config->n_classes; i++) {
		const bool has_own = test_random_below(random, 3) > 0;
		const bool is_policed = test_random_below(random, 3) == 0;

		classes[i] = (struct weir_class) {
			.action = test_random_below(random, 4) > 0
					  ? WEIR_ACTION_ROUTE
					  : (enum weir_action)test_random_below(random, 3),
			.divert_port = (uint8_t)test_random_next(random),
			.overflow = weir_overflow_at(test_random_below(random, n_policies))->name,
			.admission = (enum weir_admission)test_random_below(
				random, WEIR_ADMISSION_COUNT),
			.police_pps = is_policed ? 1000 : 0,
			.police_burst = is_policed ? test_random_between(random, 1, 50) : 0,
		};
		if (has_own)
			classes[i].strategy =
				weir_strategy_at(test_random_below(random, n_strategies))->name;
		if (!goes_to_all(has_own ? classes[i].strategy : config->strategy))
			classes[i].retries = test_random_below(random, 4);
	}
}

/*
 * Any strategy, policy, action, policer, admission and retries for any class, budgets and
 * deadlines, and a pool that changes.
 */
static void
ledger_is_exact_for_random_classes(void **state)
{
	struct test_random random = test_random_start(__func__);

	(void)state;
	for (uint32_t i = 0; i < 60; i++) {
		struct weir_class classes[8];
		struct weir_config config = config_draw(&random);

		config.chunk =
			test_random_below(&random, 2) ? test_random_between(&random, 2, 40) : 1;
		classes_draw(&config, classes, strategies_count(), policies_count(), &random);
		if (weir_config_check(&config, NULL) < 0)
			config.chunk = 1;
		run_random(&config, &random);
	}
}

/* What A6 and A10 say of the next `n` packets, from the depths that the workers really have. */
static void
model_route(const struct rig *rig, uint64_t index, uint32_t n, weir_worker_id *expected)
{
	const uint32_t n_workers = rig->config.n_workers;
	uint32_t depth[8];
	uint32_t room[8];

	for (uint32_t i = 0; i < n_workers; i++) {
		const struct rig_worker *worker = &rig->worker[i];

		depth[i] = rig_depth(rig, (weir_worker_id)i);
		room[i] = rig->config.lane_size - depth[i];
		if (rig->config.depth_mode == WEIR_DEPTH_QUEUED)
			depth[i] -= worker->n_taken - worker->completed;
	}
	for (uint32_t p = 0; p < n; p++) {
		uint32_t best = (uint32_t)((index + p) % n_workers);

		for (uint32_t step = 1; step < n_workers; step++) {
			const uint32_t at = (uint32_t)((index + p + step) % n_workers);

			if (depth[at] < depth[best])
				best = at;
		}
		expected[p] = (weir_worker_id)best;
		if (room[best] > 0) {
			room[best]--;
			depth[best]++;
		}
	}
}

static void
a6_pipeline_routes_by_the_depths_that_workers_have(void **state)
{
	struct test_random random = test_random_start(__func__);

	(void)state;
	for (uint32_t i = 0; i < 40; i++) {
		struct weir_config config =
			rig_config("shallowest", test_random_between(&random, 1, 8));
		struct run run = { .random = &random };

		config.lane_size = test_random_between(&random, 1, 40);
		config.depth_mode = (enum weir_depth_mode)(i % 2);
		run.rig = rig_create(&config, PACKETS_MAX);
		for (uint32_t steps = 0; steps < N_STEPS; steps++) {
			weir_worker_id expected[32];
			const uint32_t n = below(&run, 33);

			if (below(&run, 4)) {
				step_work(&run);
				continue;
			}
			model_route(run.rig, weir_message_index(run.rig->dispatcher[0].dispatcher),
				n, expected);
			rig_assert_routes(run.rig, expected, n);
		}
		rig_destroy(run.rig);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			ledger_is_exact_for_every_strategy_policy_depth_mode_chunk_and_order),
		cmocka_unit_test(ledger_is_exact_for_random_configurations),
		cmocka_unit_test(ledger_is_exact_for_random_classes),
		cmocka_unit_test(a6_pipeline_routes_by_the_depths_that_workers_have),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
