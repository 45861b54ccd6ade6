/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lib/decide: when the hold is looked at. Not while nothing has happened that could free a packet
 * in it, and never too late: beside a twin that looks at it in every loop.
 */
#include "test.h"

#include "dispatcher.h"
#include "order_rig.h"

#define N_WORKERS 4
#define TWIN_PACKETS 3000
#define TWIN_RUNS 96

static struct weir_dispatcher *
dispatcher_of(const struct rig *rig)
{
	return rig->dispatcher[0].dispatcher;
}

static uint64_t
passes(const struct rig *rig)
{
	return dispatcher_of(rig)->n_hold_passes;
}

static void
no_pass_is_made_while_only_other_workers_finish(void **state)
{
	struct rig *rig = order_rig("round-robin", 3, 1024);
	uint64_t before;

	(void)state;
	assert_goes(rig, { 7, 0 }, { 8, 1 }, { 9, 2 });
	order_remove(rig, 0);
	assert_goes(rig, { 7, HELD }, { 7, HELD });
	before = passes(rig);
	order_bring_home(rig, 1, 1);
	order_bring_home(rig, 2, 1);
	for (uint32_t i = 0; i < 50; i++) {
		assert_int_equal(dispatch_buckets(rig, 7, 8, 9, 10, 11), 5);
		rig_work(rig, 1, UINT32_MAX);
		rig_work(rig, 2, UINT32_MAX);
	}
	rig_harvest(rig);
	assert_int_equal(passes(rig), before);
	assert_int_equal(order_held(rig), 52);
	order_bring_home(rig, 0, 1);
	assert_int_equal(passes(rig), before + 1);
	assert_int_equal(order_held(rig), 0);
	/* Nothing is held: nothing is looked at. */
	rig_work(rig, 1, UINT32_MAX);
	rig_harvest(rig);
	assert_int_equal(passes(rig), before + 1);
	rig_destroy(rig);
}

static void
each_worker_waited_for_makes_one_pass_due(void **state)
{
	struct rig *rig = order_rig("round-robin", 4, 1024);
	uint64_t before;

	(void)state;
	assert_goes(rig, { 7, 0 }, { 8, 1 }, { 9, 2 }, { 10, 3 });
	order_remove(rig, 0);
	order_remove(rig, 2);
	assert_goes(rig, { 7, HELD }, { 9, HELD });
	before = passes(rig);
	order_bring_home(rig, 1, 1);
	assert_int_equal(passes(rig), before);
	order_bring_home(rig, 0, 1);
	assert_int_equal(passes(rig), before + 1);
	assert_int_equal(order_held(rig), 1);
	/* What stayed in that pass is still waited for, what went is not. */
	rig_harvest(rig);
	assert_int_equal(passes(rig), before + 1);
	order_bring_home(rig, 2, 1);
	assert_int_equal(passes(rig), before + 2);
	assert_int_equal(order_held(rig), 0);
	rig_destroy(rig);
}

static void
another_pool_makes_a_pass_due(void **state)
{
	struct rig *rig = order_rig("round-robin", 3, 64);
	uint64_t before;

	(void)state;
	assert_goes(rig, { 7, 0 });
	order_remove(rig, 0);
	assert_goes(rig, { 7, HELD });
	before = passes(rig);
	order_remove(rig, 2);
	rig_harvest(rig);
	assert_int_equal(passes(rig), before + 1);
	order_add(rig, 0);
	rig_harvest(rig);
	assert_int_equal(passes(rig), before + 2);
	assert_int_equal(order_held(rig), 0);
	rig_destroy(rig);
}

/* The worker has left long before: the reclaim is all that happens. */
static void
reclaim_makes_a_pass_due(void **state)
{
	struct rig *rig = order_rig("round-robin", 2, 64);

	(void)state;
	assert_goes(rig, { 7, 0 });
	order_remove(rig, 0);
	assert_goes(rig, { 7, HELD });
	rig_harvest(rig);
	assert_int_equal(order_held(rig), 1);
	assert_int_equal(
		weir_reclaim(dispatcher_of(rig), 0, WEIR_REASON_DEAD_WORKER, WEIR_RECLAIM_GONE), 1);
	rig->worker[0].worker->lane[0].head = dispatcher_of(rig)->lane[0].tail;
	rig_harvest(rig);
	assert_int_equal(order_held(rig), 0);
	assert_int_equal(rig_depth(rig, 1), 1);
	rig_destroy(rig);
}

/* One worker with one slot, taken: what is refused is given to the hold. */
static void
refused_packets_make_a_pass_due_when_given_to_the_hold_and_when_a_worker_finishes(void **state)
{
	struct weir_config config = rig_config("first", 1);
	struct rig *rig;
	uint64_t before;

	(void)state;
	config.lane_size = 1;
	config.overflow = "reject";
	rig = rig_create(&config, 64);
	assert_int_equal(rig_dispatch(rig, 3), 1);
	before = passes(rig);
	rig_hold(rig, 0);
	rig_harvest(rig);
	assert_int_equal(passes(rig), before + 1);
	for (uint32_t i = 0; i < 10; i++)
		rig_harvest(rig);
	assert_int_equal(passes(rig), before + 1);
	assert_int_equal(order_held(rig), 2);
	order_bring_home(rig, 0, 1);
	assert_int_equal(order_held(rig), 1);
	order_bring_home(rig, 0, 1);
	assert_int_equal(order_held(rig), 0);
	rig_destroy(rig);
}

/*
 * Only the queued count: worker 0 is full and works on all it has, so it is the shallowest, until
 * worker 1 begins to work on what it has. Nobody finishes anything.
 */
static void
refused_packet_goes_when_another_worker_becomes_shallower(void **state)
{
	struct weir_config config = rig_config("shallowest", 2);
	struct rig *rig;
	uint64_t before;

	(void)state;
	config.lane_size = 2;
	config.overflow = "reject";
	config.depth_mode = WEIR_DEPTH_QUEUED;
	rig = rig_create(&config, 64);
	assert_routes_singly(rig, 0, 1, 0);
	assert_int_equal(rig_take(rig, 0, 2), 2);
	assert_int_equal(rig_dispatch(rig, 1), 0);
	rig_hold(rig, 0);
	rig_harvest(rig);
	before = passes(rig);
	rig_harvest(rig);
	assert_int_equal(passes(rig), before);
	assert_int_equal(order_held(rig), 1);
	assert_int_equal(rig_take(rig, 1, 1), 1);
	rig_harvest(rig);
	assert_int_equal(order_held(rig), 0);
	assert_int_equal(rig_depth(rig, 1), 2);
	rig_destroy(rig);
}

/* The worker, of the first `n`, that owns the bucket. */
static weir_worker_id
owner_of(uint32_t bucket, uint32_t n)
{
	weir_worker_id owner = 0;
	uint32_t best = 0;
	char name[24];

	for (uint32_t id = 0; id < n; id++) {
		uint32_t key, score;

		snprintf(name, sizeof(name), "flow-%u", bucket);
		key = weir_fnv1a(name);
		snprintf(name, sizeof(name), "worker-%u", id);
		score = weir_rendezvous_score(key, weir_fnv1a(name));
		if (id > 0 && score <= best)
			continue;
		owner = (weir_worker_id)id;
		best = score;
	}
	return owner;
}

/* A bucket that `before` owns of two workers, and `after` of three. */
static uint16_t
bucket_owned(weir_worker_id before, weir_worker_id after)
{
	uint16_t bucket = 0;

	while (owner_of(bucket, 2) != before || owner_of(bucket, 3) != after)
		bucket++;
	return bucket;
}

static void
worker_0_completes(struct rig *rig)
{
	rig_work(rig, 0, UINT32_MAX);
}

/*
 * Bucket x waits for worker 0, which has given it back when the lane, full, is read again in the
 * same burst: after the plan, before x goes into the hold for good. Nothing happens afterwards.
 */
static void
what_comes_home_in_the_burst_that_holds_makes_a_pass_due(void **state)
{
	const uint16_t x = bucket_owned(0, 2);
	const uint16_t y = bucket_owned(0, 0);
	const uint16_t z = bucket_owned(1, 1);
	struct weir_config config = order_config("rendezvous", 3);
	struct rig *rig;

	(void)state;
	config.lane_size = 1;
	rig = rig_create(&config, 64);
	order_remove(rig, 2);
	assert_goes(rig, { x, 0 }, { z, 1 });
	order_add(rig, 2);
	assert_int_equal(rig_work(rig, 1, 1), 1);
	/* z comes home in the harvest, which has read worker 0 by then. */
	rig->on_finish = worker_0_completes;
	assert_goes(rig, { y, 0 }, { x, HELD });
	rig_harvest(rig);
	assert_int_equal(order_held(rig), 0);
	assert_int_equal(rig_depth(rig, 2), 1);
	rig_destroy(rig);
}

/* ---- beside a twin ---- */

struct twins {
	struct rig *rig[2]; /* the second one looks at its hold in every loop */
	struct test_random *random;
	bool absent[N_WORKERS];
	uint64_t n_steps_held;
};

/* Before every call that may look at the hold. */
static void
second_looks_always(struct twins *twins)
{
	for (uint32_t d = 0; d < twins->rig[1]->config.n_dispatchers; d++)
		twins->rig[1]->dispatcher[d].dispatcher->hold_news.all = true;
}

/* The same packets are where they are with the other. */
static void
twins_compare(const struct twins *twins)
{
	for (uint32_t i = 0; i < twins->rig[0]->config.n_dispatchers; i++) {
		const struct rig_dispatcher *a = &twins->rig[0]->dispatcher[i];
		const struct rig_dispatcher *b = &twins->rig[1]->dispatcher[i];

		assert_int_equal(weir_held(a->dispatcher), weir_held(b->dispatcher));
		assert_int_equal(a->n_refused, b->n_refused);
		for (uint32_t w = 0; w < N_WORKERS; w++)
			assert_int_equal(a->dispatcher->lane[w].tail, b->dispatcher->lane[w].tail);
		assert_int_equal(a->n_ended, b->n_ended);
		for (uint32_t p = a->n_ended < 64 ? 0 : a->n_ended - 64; p < a->n_ended; p++)
			assert_int_equal(a->ended[p]->id, b->ended[p]->id);
	}
}

static void
step_dispatch(struct twins *twins, uint32_t d, uint32_t n, uint32_t choice)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct rig *rig = twins->rig[i];

		if (rig->dispatcher[d].n_refused == 0)
			rig_dispatch_from(rig, d, n);
		else if (choice == 0)
			rig_hold(rig, d);
		else
			rig_retry(rig, d);
	}
}

/* Takes if the worker has nothing in its hands, else gives some of it back. */
static void
step_serve(struct twins *twins, weir_worker_id id, uint32_t n)
{
	for (uint32_t i = 0; i < 2; i++) {
		const struct rig_worker *worker = &twins->rig[i]->worker[id];
		const uint32_t left = worker->n_taken - worker->completed;

		if (left == 0)
			rig_take(twins->rig[i], id, n);
		else
			rig_complete(
				twins->rig[i], id, n < left ? n : left, weir_verdict_consumed());
	}
}

static void
step_change_pool(struct twins *twins, weir_worker_id id)
{
	for (uint32_t i = 0; i < 2; i++) {
		if (twins->absent[id])
			order_add(twins->rig[i], id);
		else
			order_remove(twins->rig[i], id);
	}
	twins->absent[id] = !twins->absent[id];
}

static void
twins_step(struct twins *twins)
{
	struct test_random *random = twins->random;
	const struct weir_config *config = &twins->rig[0]->config;
	const uint32_t d = test_random_below(random, config->n_dispatchers);

	second_looks_always(twins);
	step_dispatch(twins, d, test_random_below(random, config->burst + 1),
		test_random_below(random, 2));
	/* Worker 0 stands still for long, now and then. */
	for (uint32_t id = 0; id < N_WORKERS; id++) {
		if (test_random_below(random, id == 0 ? 16 : 2) == 0)
			step_serve(twins, (weir_worker_id)id, 1 + test_random_below(random, 6));
	}
	if (test_random_below(random, 40) == 0)
		step_change_pool(twins, (weir_worker_id)test_random_below(random, N_WORKERS));
	second_looks_always(twins);
	rig_harvest(twins->rig[0]);
	rig_harvest(twins->rig[1]);
	twins_compare(twins);
	twins->n_steps_held += weir_held(dispatcher_of(twins->rig[0])) > 0;
}

static void
config_draw(struct weir_config *config, struct test_random *random, uint32_t run)
{
	static const char *const strategies[] = { "shallowest", "round-robin", "rendezvous" };

	*config = order_config(strategies[run % ARRAY_LENGTH(strategies)], N_WORKERS);
	config->order = run % 4 == 0 ? WEIR_ORDER_NONE : WEIR_ORDER_FLOW;
	config->overflow = weir_overflow_at(run / 4 % 2)->name;
	config->depth_mode = (enum weir_depth_mode)(run / 8 % 2);
	config->n_dispatchers = 1 + run / 16 % 2;
	config->lane_size = test_random_between(random, 1, 20);
	config->burst = test_random_between(random, 1, 32);
	config->hold_size = test_random_between(random, 1, 300);
	if (run % 3 != 2 && test_random_below(random, 3) == 0)
		config->chunk = test_random_between(random, 2, 8);
	if (config->order == WEIR_ORDER_FLOW && test_random_below(random, 4) == 0)
		config->sticky_ns = test_random_between(random, 1, 300);
}

static void
twins_run(struct test_random *random, uint32_t run, uint64_t *n_passes, uint64_t *n_steps_held)
{
	struct twins twins = { .random = random };
	struct weir_config config;

	config_draw(&config, random, run);
	for (uint32_t i = 0; i < 2; i++) {
		twins.rig[i] = rig_create(&config, TWIN_PACKETS + WEIR_BURST_MAX);
		twins.rig[i]->n_buckets = 1 + run % 40;
	}
	for (uint32_t step = 0;
		step < 400 && twins.rig[0]->dispatcher[0].n_packets < TWIN_PACKETS &&
		twins.rig[0]->dispatcher[config.n_dispatchers - 1].n_packets < TWIN_PACKETS;
		step++)
		twins_step(&twins);
	*n_steps_held += twins.n_steps_held;
	for (uint32_t i = 0; i < 2; i++) {
		n_passes[i] += passes(twins.rig[i]);
		rig_drain(twins.rig[i]);
		rig_destroy(twins.rig[i]);
	}
}

static void
packets_go_when_they_would_if_the_hold_were_looked_at_in_every_loop(void **state)
{
	struct test_random random = test_random_start(__func__);
	uint64_t n_passes[2] = { 0 };
	uint64_t n_steps_held = 0;

	(void)state;
	for (uint32_t run = 0; run < TWIN_RUNS; run++)
		twins_run(&random, run, n_passes, &n_steps_held);
	print_message("%llu passes, %llu of the twin, %llu steps with packets held\n",
		(unsigned long long)n_passes[0], (unsigned long long)n_passes[1],
		(unsigned long long)n_steps_held);
	assert_true(n_steps_held > 1000);
	assert_true(n_passes[0] < n_passes[1] / 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_pass_is_made_while_only_other_workers_finish),
		cmocka_unit_test(each_worker_waited_for_makes_one_pass_due),
		cmocka_unit_test(another_pool_makes_a_pass_due),
		cmocka_unit_test(reclaim_makes_a_pass_due),
		cmocka_unit_test(
			refused_packets_make_a_pass_due_when_given_to_the_hold_and_when_a_worker_finishes),
		cmocka_unit_test(refused_packet_goes_when_another_worker_becomes_shallower),
		cmocka_unit_test(what_comes_home_in_the_burst_that_holds_makes_a_pass_due),
		cmocka_unit_test(
			packets_go_when_they_would_if_the_hold_were_looked_at_in_every_loop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
