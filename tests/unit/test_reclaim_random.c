/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lib/decide: workers go, drain, pause and come back at random under random traffic, with either
 * kind of lane, every strategy, and one to three dispatchers. The rig asserts after every step that
 * each packet is in one place, and the order; here it is asserted what is lost, and what is done
 * twice.
 */
#include "test.h"

#include "dispatcher.h"
#include "order_rig.h"

#define N_RUNS 80
#define N_STEPS 400
#define PACKETS_MAX 8192

enum worker_life {
	LIFE_RUNS,
	LIFE_PAUSED,
	LIFE_DRAINS,
	LIFE_GONE,
};

/* What was met, over all runs. */
struct met {
	uint64_t packets;
	uint64_t consumed;
	uint64_t kills;
	uint64_t drained;
	uint64_t restarts;
	uint64_t reclaimed; /* packets that came to a worker after another one was gone */
	uint64_t redelivered;
	uint64_t in_process; /* packets that ended as crash_inflight */
	uint64_t steps_with_reclaim;
};

struct run {
	struct rig *rig;
	struct test_random *random;
	enum worker_life life[8];
	uint64_t now_ns;
	bool is_lossless;
	bool redelivers;
	struct met *met;
};

static const struct weir_strategy *
strategy_draw(struct test_random *random, bool to_all)
{
	const struct weir_strategy *strategy;
	unsigned int n = 0;

	while (weir_strategy_at(n))
		n++;
	/* Tables of every snapshot take their time: seldom those. */
	do
		strategy = weir_strategy_at(test_random_below(random, n));
	while (((strategy->flags & WEIR_STRATEGY_ALL_TARGETS) != 0) != to_all ||
		(strategy->prepare && test_random_below(random, 8) > 0));
	return strategy;
}

/* Classes of which one has a strategy of its own, and one, at times, an admission. */
static void
classes_draw(struct run *run, struct weir_config *config, struct weir_class *classes)
{
	classes[0] = (struct weir_class) { 0 };
	classes[1] = (struct weir_class) { .strategy = strategy_draw(run->random, false)->name };
	classes[1].fallback =
		weir_strategy_find(classes[1].strategy)->flags & WEIR_STRATEGY_FINDS_NONE
			? "round-robin"
			: NULL;
	if (!run->is_lossless && test_random_below(run->random, 2) == 0)
		classes[0].admission = WEIR_ADMIT_COVER_EARLY;
	if (test_random_below(run->random, 2) == 0) {
		config->classes = classes;
		config->n_classes = 2;
	}
}

static struct weir_config
config_draw(struct run *run, bool to_all, struct weir_class *classes)
{
	static const char *const policies[] = { "drop-new", "drop-head", "reject" };
	struct test_random *random = run->random;
	const struct weir_strategy *strategy = strategy_draw(random, to_all);
	struct weir_config config = order_config(strategy->name, test_random_between(random, 2, 5));

	config.fallback = rig_fallback(strategy);
	config.n_dispatchers = test_random_between(random, 1, 3);
	config.depth_mode = WEIR_DEPTH_QUEUED;
	/* Long ones are not reclaimed in one step. */
	config.lane_size =
		test_random_below(random, 3) == 0 ? 1500 : test_random_between(random, 1, 60);
	config.burst = test_random_between(random, 1, 32);
	config.hold_size =
		test_random_below(random, 2) == 0 ? PACKETS_MAX : test_random_below(random, 64);
	config.overflow = policies[test_random_below(random, 3)];
	config.seed = test_random_next(random);
	if (test_random_below(random, 4) == 0)
		config.budget_pkts = test_random_between(random, 1, config.lane_size);
	if (!run->is_lossless && test_random_below(random, 4) == 0)
		config.hold_timeout_ns = 300;
	if (test_random_below(random, 4) == 0)
		config.order = WEIR_ORDER_NONE;
	if (run->is_lossless) {
		config.overflow = "reject";
		config.hold_size = PACKETS_MAX;
	}
	if (!to_all)
		classes_draw(run, &config, classes);
	rig_settle_policies(&config, classes);
	return config;
}

static weir_worker_id
worker_draw(struct run *run)
{
	return (weir_worker_id)test_random_below(run->random, run->rig->config.n_workers);
}

static void
worker_kill(struct run *run, weir_worker_id id, enum weir_worker_state state)
{
	const bool redispatch = run->is_lossless || test_random_below(run->random, 2) == 0;
	const struct weir_departure how = {
		.state = state,
		.redispatch = redispatch,
		.redeliver = redispatch && run->redelivers,
		.awaited = run->is_lossless || test_random_below(run->random, 2) == 0,
		.queued_reason = WEIR_REASON_DEAD_WORKER,
		.in_process_reason = WEIR_REASON_CRASH_INFLIGHT,
	};

	rig_kill(run->rig, id, &how);
	run->life[id] = LIFE_GONE;
	run->met->kills++;
}

/* One that drains is done when it says so, and then it has nothing. */
static void
worker_end_drain(struct run *run, weir_worker_id id)
{
	struct rig_worker *worker = &run->rig->worker[id];

	if (worker->n_taken != worker->completed || !weir_worker_is_drained(worker->worker))
		return;
	assert_int_equal(rig_depth(run->rig, id), 0);
	worker_kill(run, id, WEIR_WORKER_STOPPED);
	run->met->drained++;
}

/* Whether somebody is left besides `id`: where all drain, nobody is waited for. */
static bool
may_drain(const struct run *run, weir_worker_id id)
{
	for (weir_worker_id other = 0; other < run->rig->config.n_workers; other++) {
		if (other != id && run->life[other] != LIFE_DRAINS)
			return true;
	}
	return !run->is_lossless;
}

/* The worker's life goes on. */
static void
worker_step(struct run *run, weir_worker_id id)
{
	struct rig *rig = run->rig;
	const uint32_t draw = test_random_below(run->random, 4);

	if (run->life[id] == LIFE_GONE) {
		if (!weir_pool_worker_is_reclaimed(rig->pool, id))
			return;
		rig_restart(rig, id);
		run->life[id] = LIFE_RUNS;
		run->met->restarts++;
	} else if (draw == 0) {
		worker_kill(run, id, WEIR_WORKER_DEAD);
		rig->worker[id].is_paused = false;
	} else if (run->life[id] == LIFE_PAUSED) {
		rig_resume(rig, id);
		run->life[id] = LIFE_RUNS;
	} else if (run->life[id] == LIFE_DRAINS) {
		worker_end_drain(run, id);
	} else if (draw == 1) {
		rig_pause(rig, id);
		run->life[id] = LIFE_PAUSED;
	} else if (draw == 2 && may_drain(run, id)) {
		assert_int_equal(weir_pool_set_state(rig->pool, id, WEIR_WORKER_DRAINING), 0);
		run->life[id] = LIFE_DRAINS;
	}
}

/* Takes, or completes a part of what it has. */
static void
worker_work(struct run *run, weir_worker_id id)
{
	struct rig_worker *worker = &run->rig->worker[id];
	const uint32_t n_left = worker->n_taken - worker->completed;

	if (n_left > 0)
		rig_complete(run->rig, id, test_random_between(run->random, 1, n_left),
			weir_verdict_consumed());
	else
		rig_take(run->rig, id, test_random_between(run->random, 1, 8));
}

static void
dispatch_step(struct run *run)
{
	struct rig *rig = run->rig;
	const uint32_t id = test_random_below(run->random, rig->config.n_dispatchers);
	struct rig_dispatcher *d = &rig->dispatcher[id];
	const uint32_t n = test_random_between(run->random, 1, rig->config.burst);

	if (d->n_refused > 0) {
		if (test_random_below(run->random, 2) == 0)
			rig_hold(rig, id);
		else
			rig_retry(rig, id);
	} else if (d->n_packets + n <= rig->max_packets / 4) {
		rig_dispatch_from(rig, id, n);
	} else {
		weir_harvest(d->dispatcher);
	}
	run->met->steps_with_reclaim += !bitset_is_empty(&d->dispatcher->reclaim.pending);
	rig_check(rig);
}

/* Everybody comes back, and all ends. */
static void
run_end(struct run *run)
{
	struct rig *rig = run->rig;

	for (uint32_t i = 0; i < rig->config.n_dispatchers; i++) {
		if (rig->dispatcher[i].n_refused > 0)
			rig_hold(rig, i);
	}
	for (weir_worker_id id = 0; id < rig->config.n_workers; id++) {
		if (run->life[id] == LIFE_PAUSED)
			rig_resume(rig, id);
		if (run->life[id] == LIFE_DRAINS)
			worker_kill(run, id, WEIR_WORKER_DEAD);
		while (run->life[id] == LIFE_GONE) {
			rig_harvest(rig);
			worker_step(run, id);
		}
	}
	rig_drain(rig);
}

/* What became of one packet. */
static void
packet_judge(struct run *run, const struct rig_packet *packet)
{
	const bool is_twice = packet->meta.flags & WEIR_META_REDELIVERED;

	assert_true(packet->n_taken <= (is_twice ? 2u : 1u));
	assert_true(run->redelivers || !is_twice);
	run->met->reclaimed += (packet->meta.flags & WEIR_META_RECLAIMED) != 0;
	run->met->redelivered += is_twice;
	if (!run->is_lossless || packet->verdict.kind != WEIR_VERDICT_DROP)
		return;
	/* Only what was in process with two workers that went. */
	assert_int_equal(packet->verdict.target, WEIR_REASON_CRASH_INFLIGHT);
	assert_true(!run->redelivers || packet->n_taken == 2);
}

static void
run_judge(struct run *run)
{
	for (uint32_t i = 0; i < run->rig->config.n_dispatchers; i++) {
		const struct rig_dispatcher *d = &run->rig->dispatcher[i];
		const struct weir_dispatcher_counters counters = rig_counters(run->rig, i);

		for (uint32_t k = 0; k < d->n_ended; k++)
			packet_judge(run, d->ended[k]);
		run->met->packets += d->n_packets;
		run->met->consumed += counters.consumed;
		run->met->in_process += counters.dropped[WEIR_REASON_CRASH_INFLIGHT];
	}
}

static void
run_make(struct test_random *random, bool is_lossless, bool to_all, struct met *met)
{
	struct run run = {
		.random = random,
		.is_lossless = is_lossless,
		.redelivers = test_random_below(random, 2) == 0,
		.met = met,
	};
	struct weir_class classes[2];
	const struct weir_config config = config_draw(&run, to_all, classes);

	run.rig = rig_create(&config, PACKETS_MAX);
	run.rig->n_buckets = test_random_between(random, 1, 60);
	run.rig->copies_move = to_all;
	run.rig->waits_apart = true;
	run.rig->n_classes = config.n_classes > 0 ? 3 : 0;
	for (uint32_t i = 0; i < N_STEPS; i++) {
		const uint32_t draw = test_random_below(random, 16);

		rig_time(run.rig, ++run.now_ns);
		if (draw == 0)
			worker_step(&run, worker_draw(&run));
		else if (draw < 8)
			dispatch_step(&run);
		else if (draw < (config.lane_size > 60 ? 10 : 16))
			worker_work(&run, worker_draw(&run));
	}
	run_end(&run);
	run_judge(&run);
	rig_destroy(run.rig);
}

static void
met_check(const struct met *met)
{
	print_message("%lu packets, %lu consumed, %lu kills, %lu drained, %lu restarts, "
		      "%lu reclaimed, %lu redelivered, %lu in process, %lu steps\n",
		met->packets, met->consumed, met->kills, met->drained, met->restarts,
		met->reclaimed, met->redelivered, met->in_process, met->steps_with_reclaim);
	assert_true(met->consumed > met->packets / 4);
	assert_true(met->drained > 0 && met->restarts > 0 && met->in_process > 0);
	assert_true(met->steps_with_reclaim > 0);
}

/* 4.2: conservation and order, whatever happens to workers. */
static void
every_packet_ends_once_and_in_order_whatever_becomes_of_workers(void **state)
{
	struct test_random random = test_random_start(__func__);
	struct met met = { 0 };

	(void)state;
	for (uint32_t i = 0; i < N_RUNS; i++)
		run_make(&random, false, false, &met);
	met_check(&met);
	assert_true(met.reclaimed > 0 && met.redelivered > 0);
}

static void
nothing_is_lost_where_all_is_redone_and_a_worker_comes_back(void **state)
{
	struct test_random random = test_random_start(__func__);
	struct met met = { 0 };

	(void)state;
	for (uint32_t i = 0; i < N_RUNS; i++)
		run_make(&random, true, false, &met);
	met_check(&met);
	assert_true(met.reclaimed > 0 && met.redelivered > 0);
}

static void
copies_for_all_workers_end_once_whatever_becomes_of_workers(void **state)
{
	struct test_random random = test_random_start(__func__);
	struct met met = { 0 };

	(void)state;
	for (uint32_t i = 0; i < N_RUNS; i++)
		run_make(&random, false, true, &met);
	met_check(&met);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_packet_ends_once_and_in_order_whatever_becomes_of_workers),
		cmocka_unit_test(nothing_is_lost_where_all_is_redone_and_a_worker_comes_back),
		cmocka_unit_test(copies_for_all_workers_end_once_whatever_becomes_of_workers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
