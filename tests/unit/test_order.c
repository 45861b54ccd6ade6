/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Order flow under random traffic: workers that stall, pause and serve unevenly, pools that change,
 * workers that die; every strategy, policy, depth mode and chunk, one to three dispatchers, holds
 * of any size. The rig checks the books and asks the order oracle after every step.
 *
 * WEIR_ORDER_PACKETS says over how many packets, 10,000,000 where it is not set.
 */
#include "test.h"

#include <inttypes.h>

#include "dispatcher.h"
#include "order_rig.h"

#define PACKETS_PER_RUN 20000
#define BUCKETS_MAX 300
#define CLASSES 4

/* What the test knows of a worker. */
enum worker_state { READY, DRAINING, ABSENT, STARTING, DEAD };

struct run {
	struct rig *rig;
	struct test_random *random;
	uint32_t packets_left;
	uint32_t offered_max; /* packets of one step */
	uint32_t steps_per_change;
	enum worker_state state[WEIR_WORKERS_MAX];
	uint32_t speed[WEIR_WORKERS_MAX]; /* most packets of one visit */
	uint32_t pause[WEIR_WORKERS_MAX]; /* steps for which it completes nothing */
	uint32_t n_deaths;
	bool waits; /* with a budget, deadlines, admissions and retries */
	uint64_t now_ns;
};

/* What came of runs: proof that they met what they are meant to meet. */
struct totals {
	uint64_t packets;
	uint64_t returned;
	uint64_t moves;
	uint64_t inversions;
	uint64_t rejected;
	uint64_t steps_with_held;
	uint64_t dropped[WEIR_REASON_COUNT];
	uint64_t deaths;
	uint64_t retries;
};

static uint32_t
below(struct run *run, uint32_t n)
{
	return test_random_below(run->random, n);
}

static bool
one_in(struct run *run, uint32_t n)
{
	return below(run, n) == 0;
}

static void
step_dispatch(struct run *run)
{
	const uint32_t d = below(run, run->rig->config.n_dispatchers);
	uint32_t n = below(run, run->offered_max + 1);

	if (run->rig->dispatcher[d].n_refused > 0) {
		/* Back-pressure: most callers hold, as rx cores do; some keep what was refused. */
		if (one_in(run, 32))
			rig_abandon(run->rig, d);
		else if (one_in(run, 2))
			rig_hold(run->rig, d);
		else
			rig_retry(run->rig, d);
		return;
	}
	n = n < run->packets_left ? n : run->packets_left;
	run->packets_left -= n;
	rig_dispatch_from(run->rig, d, n);
}

static void
step_serve(struct run *run, weir_worker_id id)
{
	struct rig_worker *worker = &run->rig->worker[id];
	uint32_t left = worker->n_taken - worker->completed;

	if (run->pause[id] > 0) {
		run->pause[id]--;
		return;
	}
	if (left == 0)
		left = rig_take(run->rig, id, 1 + below(run, run->speed[id]));
	if (left > 0)
		rig_complete(run->rig, id, one_in(run, 2) ? left : below(run, left + 1),
			weir_verdict_consumed());
}

/* One step on the way back: removed, starting, ready. */
static void
worker_return(struct run *run, weir_worker_id id)
{
	struct weir_pool *pool = run->rig->pool;

	if (run->state[id] == ABSENT) {
		assert_int_equal(weir_pool_add(pool, id), 0);
		run->state[id] = STARTING;
	} else if (run->state[id] == STARTING) {
		assert_int_equal(weir_pool_set_state(pool, id, WEIR_WORKER_READY), 0);
		run->state[id] = READY;
	} else {
		order_remove(run->rig, id);
		run->state[id] = ABSENT;
	}
}

/* A ready worker drains, leaves, or dies if three are left. */
static void
worker_leave(struct run *run, weir_worker_id id)
{
	if (one_in(run, 2)) {
		assert_int_equal(weir_pool_set_state(run->rig->pool, id, WEIR_WORKER_DRAINING), 0);
		run->state[id] = DRAINING;
	} else if (run->rig->config.n_workers - run->n_deaths > 3 && one_in(run, 8)) {
		order_kill(run->rig, id);
		run->state[id] = DEAD;
		run->n_deaths++;
	} else {
		order_remove(run->rig, id);
		run->state[id] = ABSENT;
	}
}

static void
step_change_pool(struct run *run)
{
	const weir_worker_id id = (weir_worker_id)below(run, run->rig->config.n_workers);

	if (run->state[id] == READY && one_in(run, run->steps_per_change))
		worker_leave(run, id);
	else if (run->state[id] != READY && run->state[id] != DEAD && one_in(run, 4))
		worker_return(run, id);
}

/* A worker completes all it has while the dispatcher is in a call, and knows nothing of it yet. */
static void
worker_completes_meanwhile(struct rig *rig)
{
	const uint32_t n_ended = rig->dispatcher[0].n_ended;

	rig_work(rig, (weir_worker_id)(n_ended % rig->config.n_workers), UINT32_MAX);
}

static void
step(struct run *run)
{
	const uint32_t n_workers = run->rig->config.n_workers;

	if (run->waits)
		rig_time(run->rig, run->now_ns += below(run, 20));
	if (one_in(run, 4))
		run->rig->on_finish = worker_completes_meanwhile;
	step_dispatch(run);
	for (uint32_t id = 0; id < n_workers; id++) {
		if (run->state[id] != DEAD && one_in(run, 2))
			step_serve(run, (weir_worker_id)id);
	}
	if (one_in(run, 4))
		rig_harvest(run->rig);
	if (one_in(run, 30))
		run->pause[below(run, n_workers)] = 1 + below(run, 60);
	step_change_pool(run);
}

/* The shape of one run: pool, lanes, hold, traffic; strategy, policy, chunk and mode are set. */
static void
config_draw(struct weir_config *config, struct test_random *random)
{
	config->n_workers = test_random_between(random, 2, 8);
	config->n_dispatchers = test_random_between(random, 1, 3);
	config->lane_size = test_random_between(random, 1, 100);
	config->burst = test_random_between(random, 1, 64);
	config->hold_size = test_random_below(random, 2) ? test_random_below(random, 30)
							 : test_random_between(random, 100, 2000);
	config->lend_metadata = test_random_below(random, 2);
	config->seed = test_random_next(random);
	if (config->order == WEIR_ORDER_FLOW && test_random_below(random, 4) == 0)
		config->sticky_ns = test_random_between(random, 1, 3000);
}

/* A class's own strategy, or NULL: it has none. */
static const char *
strategy_draw(struct test_random *random)
{
	const unsigned int index = test_random_below(random, 40);
	const struct weir_strategy *strategy = weir_strategy_at(index);

	if (!strategy || (strategy->flags & WEIR_STRATEGY_ALL_TARGETS))
		return NULL;
	return strategy->name;
}

/* Whether a strategy of the pool, or of a class, owns flows. */
static bool
config_owns_flows(const struct weir_config *config)
{
	uint32_t flags = weir_strategy_find(config->strategy)->flags;

	for (uint32_t i = 0; i < config->n_classes; i++) {
		if (config->classes[i].strategy)
			flags |= weir_strategy_find(config->classes[i].strategy)->flags;
	}
	return flags & WEIR_STRATEGY_OWNS_FLOWS;
}

/* What makes packets wait, end while they wait, or go elsewhere. */
static void
waiting_draw(struct weir_config *config, struct weir_class *classes, struct test_random *random)
{
	if (test_random_below(random, 4) > 0)
		config->budget_pkts = test_random_between(
			random, 1, config->lane_size < 12 ? config->lane_size : 12);
	if (test_random_below(random, 2))
		config->hold_timeout_ns = test_random_between(random, 1, 500);
	for (uint32_t i = 0; i < CLASSES - 1; i++)
		classes[i] = (struct weir_class) {
			.admission = (enum weir_admission)test_random_below(
				random, WEIR_ADMISSION_COUNT),
			.retries = test_random_below(random, 4),
			.strategy = strategy_draw(random),
		};
	/* Class 1 always does as others do, so that lanes fill. */
	classes[0].admission = WEIR_ADMIT_SERIAL;
	config->classes = classes;
	config->n_classes = CLASSES - 1;
	if (config_owns_flows(config))
		config->chunk = 1;
	config->lend_metadata = true;
}

static void
run_prepare(struct run *run, const struct weir_config *config)
{
	uint32_t service = 0;

	run->rig = rig_create(config, PACKETS_PER_RUN);
	run->rig->n_buckets = 1 + below(run, BUCKETS_MAX);
	run->rig->n_classes = run->waits ? CLASSES : 0;
	/* What waits for its owner may find another one when the pool changes. */
	run->rig->waits_apart = config->budget_pkts > 0 && config_owns_flows(config);
	run->packets_left = PACKETS_PER_RUN;
	for (uint32_t id = 0; id < config->n_workers; id++) {
		run->speed[id] = 1 + below(run, 32);
		service += run->speed[id];
	}
	/* From light load to overload: a step serves about a sixth of the sum of speeds. */
	run->offered_max = 1 + service / 6 * test_random_between(run->random, 2, 6) / 2;
	if (run->offered_max > config->burst)
		run->offered_max = config->burst;
	/* A table takes long to prepare. */
	run->steps_per_change = weir_strategy_find(config->strategy)->prepare ? 2000 : 30;
	/* In every second run the lanes' numbers wrap before long. */
	if (one_in(run, 2))
		order_start_at(run->rig, (uint32_t)-256 * (1 + below(run, 8)));
}

static void
run_count(const struct run *run, struct totals *totals)
{
	const struct weir_ledger ledger = rig_ledger(run->rig);

	for (uint32_t i = 0; i < run->rig->config.n_dispatchers; i++) {
		const struct rig_dispatcher *d = &run->rig->dispatcher[i];
		const struct weir_dispatcher_counters counters = rig_counters(run->rig, i);

		totals->packets += d->n_packets;
		totals->returned += d->order.n_ended;
		totals->inversions += d->order.n_inversions;
		totals->moves += counters.moves;
		totals->rejected += counters.rejected;
		totals->retries += counters.retries;
		assert_int_equal(counters.received, d->n_packets - d->n_abandoned);
		assert_int_equal(counters.received, d->n_ended);
		/* Moves are those that the oracle has seen; the dead and the covered are not, and
		 * the evicted do not come back from a worker. */
		if (run->rig->config.order != WEIR_ORDER_FLOW)
			continue;
		assert_true(counters.moves >= d->order.n_moves);
		if (run->n_deaths == 0 && !run->waits &&
			counters.dropped[WEIR_REASON_OVERFLOW_DROP_HEAD] == 0)
			assert_int_equal(counters.moves, d->order.n_moves);
	}
	for (uint32_t reason = 0; reason < WEIR_REASON_COUNT; reason++)
		totals->dropped[reason] += ledger.dropped[reason];
	assert_int_equal(ledger.in_lanes, 0);
	assert_int_equal(ledger.held, 0);
	totals->deaths += run->n_deaths;
}

static void
run_random(const struct weir_config *shape, bool waits, struct test_random *random,
	struct totals *totals)
{
	struct weir_config config = *shape;
	struct weir_class classes[CLASSES - 1];
	struct run run = { .random = random, .waits = waits };

	config_draw(&config, random);
	if (waits)
		waiting_draw(&config, classes, random);
	rig_settle_policies(&config, NULL);
	run_prepare(&run, &config);
	while (run.packets_left > 0) {
		step(&run);
		for (uint32_t i = 0; i < config.n_dispatchers; i++)
			totals->steps_with_held += weir_held(run.rig->dispatcher[i].dispatcher) > 0;
	}
	rig_drain(run.rig);
	run_count(&run, totals);
	rig_destroy(run.rig);
}

/* Runs of one strategy: with every policy, depth mode and chunk that it allows. */
static struct totals
strategy_run(const struct weir_strategy *strategy, enum weir_order order, bool waits,
	uint64_t packets, struct test_random *random)
{
	struct totals totals = { 0 };
	uint32_t n_policies = 0;

	while (weir_overflow_at(n_policies))
		n_policies++;
	for (uint32_t round = 0; totals.packets < packets; round++) {
		struct weir_config config = rig_config(strategy->name, 1);

		config.order = order;
		config.fallback = rig_fallback(strategy);
		config.overflow = weir_overflow_at(round % n_policies)->name;
		config.depth_mode = (enum weir_depth_mode)(round / n_policies % 2);
		config.chunk =
			round / n_policies / 2 % 2 && !(strategy->flags & WEIR_STRATEGY_OWNS_FLOWS)
				? 8
				: 1;
		run_random(&config, waits, random, &totals);
	}
	return totals;
}

static uint64_t
packets_wanted(void)
{
	const char *wanted = getenv("WEIR_ORDER_PACKETS");

	return wanted ? strtoull(wanted, NULL, 0) : 10000000;
}

/* Strategies that give a bucket to another worker whenever it asks, not only when the pool changes.
 */
static bool
strategy_moves(const struct weir_strategy *strategy)
{
	static const char *const movers[] = { "random", "round-robin", "shallowest" };

	for (size_t i = 0; i < ARRAY_LENGTH(movers); i++) {
		if (strcmp(strategy->name, movers[i]) == 0)
			return true;
	}
	return false;
}

static void
totals_print(const char *name, const struct totals *totals)
{
	print_message("%s: %" PRIu64 " packets, %" PRIu64 " came back, %" PRIu64 " moves, %" PRIu64
		      " inversions, %" PRIu64 " rejected, %" PRIu64 " dropped, %" PRIu64
		      " evicted, %" PRIu64 " held_overflow, %" PRIu64 " deaths\n",
		name, totals->packets, totals->returned, totals->moves, totals->inversions,
		totals->rejected, totals->dropped[WEIR_REASON_OVERFLOW_DROP_NEW],
		totals->dropped[WEIR_REASON_OVERFLOW_DROP_HEAD],
		totals->dropped[WEIR_REASON_HELD_OVERFLOW], totals->deaths);
}

static void
totals_add(struct totals *totals, const struct totals *more)
{
	totals->moves += more->moves;
	totals->inversions += more->inversions;
	totals->rejected += more->rejected;
	totals->steps_with_held += more->steps_with_held;
	totals->deaths += more->deaths;
	totals->retries += more->retries;
	for (uint32_t reason = 0; reason < WEIR_REASON_COUNT; reason++)
		totals->dropped[reason] += more->dropped[reason];
}

static void
no_packet_overtakes_another_of_its_bucket_and_buckets_move(void **state)
{
	struct test_random random = test_random_start(__func__);
	/* Of strategies that keep a bucket where it is while the pool does not change. */
	struct totals keepers = { 0 };
	struct totals all = { 0 };
	unsigned int n_strategies = 0;

	(void)state;
	while (weir_strategy_at(n_strategies))
		n_strategies++;
	for (unsigned int s = 0; s < n_strategies; s++) {
		const struct weir_strategy *strategy = weir_strategy_at(s);
		struct totals totals;

		/* Copies are concurrent with the packets behind. */
		if (strategy->flags & WEIR_STRATEGY_ALL_TARGETS)
			continue;
		totals = strategy_run(strategy, WEIR_ORDER_FLOW, false,
			packets_wanted() / n_strategies + 1, &random);

		totals_print(strategy->name, &totals);
		assert_int_equal(totals.inversions, 0);
		assert_true(totals.returned > totals.packets / 4);
		/* A bucket moved with every fiftieth packet at least. */
		if (strategy_moves(strategy))
			assert_true(totals.moves > totals.returned / 50);
		else
			totals_add(&keepers, &totals);
		totals_add(&all, &totals);
	}
	assert_true(keepers.moves > 0);
	assert_true(all.rejected > 0);
	assert_true(all.steps_with_held > 0);
	assert_true(all.dropped[WEIR_REASON_OVERFLOW_DROP_NEW] > 0);
	assert_true(all.dropped[WEIR_REASON_OVERFLOW_DROP_HEAD] > 0);
	assert_true(all.dropped[WEIR_REASON_HELD_OVERFLOW] > 0);
	assert_true(all.deaths > 0);
}

/* The same traffic without pins: an oracle that finds nothing here would find nothing above. */
static void
oracle_finds_inversions_where_order_is_none(void **state)
{
	struct test_random random = test_random_start(__func__);
	struct totals keepers = { 0 };

	(void)state;
	for (unsigned int s = 0; weir_strategy_at(s); s++) {
		const struct weir_strategy *strategy = weir_strategy_at(s);
		struct totals totals;

		if (strategy->flags & WEIR_STRATEGY_ALL_TARGETS)
			continue;
		totals = strategy_run(
			strategy, WEIR_ORDER_NONE, false, 16 * PACKETS_PER_RUN, &random);

		totals_print(strategy->name, &totals);
		assert_int_equal(totals.moves, 0);
		if (strategy_moves(strategy))
			assert_true(totals.inversions > totals.returned / 50);
		else
			totals_add(&keepers, &totals);
	}
	/* Those invert by changes of the pool only. */
	assert_true(keepers.inversions > 0);
}

/*
 * N15, N16, X12, X13 together, under the same traffic: each packet ends once, in order (XB15). The
 * rig asserts that; here only that all of it was met.
 */
static void
waiting_admission_and_retries_lose_nothing_and_keep_the_order(void **state)
{
	static const enum weir_reason reasons[] = { WEIR_REASON_HOLD_TIMEOUT,
		WEIR_REASON_BUSY_DISCARD, WEIR_REASON_COVERED, WEIR_REASON_RETRY_EXHAUSTED };
	struct test_random random = test_random_start(__func__);
	unsigned int n_strategies = 0;

	(void)state;
	while (weir_strategy_at(n_strategies))
		n_strategies++;
	for (int order = WEIR_ORDER_NONE; order <= WEIR_ORDER_FLOW; order++) {
		struct totals all = { 0 };

		for (unsigned int s = 0; s < n_strategies; s++) {
			struct totals totals;

			if (weir_strategy_at(s)->flags & WEIR_STRATEGY_ALL_TARGETS)
				continue;
			totals = strategy_run(weir_strategy_at(s), (enum weir_order)order, true,
				packets_wanted() / 20 / n_strategies + 8 * PACKETS_PER_RUN,
				&random);
			totals_print(weir_strategy_at(s)->name, &totals);
			assert_true(order == WEIR_ORDER_NONE || totals.inversions == 0);
			assert_true(totals.returned > totals.packets / 10);
			totals_add(&all, &totals);
		}
		assert_true(all.retries > 0);
		for (size_t i = 0; i < ARRAY_LENGTH(reasons); i++)
			assert_true(all.dropped[reasons[i]] > 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(oracle_finds_inversions_where_order_is_none),
		cmocka_unit_test(no_packet_overtakes_another_of_its_bucket_and_buckets_move),
		cmocka_unit_test(waiting_admission_and_retries_lose_nothing_and_keep_the_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
