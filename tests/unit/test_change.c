/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/pool, lib/decide: strategies, classes and weights change while packets are out. */
#include <errno.h>

#include "test.h"

#include "dispatcher.h"
#include "order_rig.h"

#define RANDOM_STEPS 2000

/* Makes a change and tells the rig. */
static int
change_make(struct rig *rig, const struct weir_change *change)
{
	struct weir_config config = rig->config;
	const int rc = weir_pool_change(rig->pool, change, NULL);

	if (rc < 0)
		return rc;
	config.strategy = change->strategy ? change->strategy : config.strategy;
	config.overflow = change->overflow ? change->overflow : config.overflow;
	config.classes = change->classes;
	config.n_classes = change->n_classes;
	rig->config = config;
	rig->config.classes = NULL;
	rig_classes_learn(rig, &config);
	return 0;
}

static int
strategy_change(struct rig *rig, const char *strategy)
{
	return change_make(rig, &(struct weir_change) { .strategy = strategy });
}

/* A rig of `n` workers, order none. */
static struct rig *
change_rig(const char *strategy, uint32_t n_workers)
{
	const struct weir_config config = rig_config(strategy, n_workers);
	struct rig *rig = rig_create(&config, 256);

	/* Rules that come and go ask no strategy. */
	rig->asks_not_all = true;
	return rig;
}

static void
a_changed_strategy_counts_from_the_next_burst_and_keeps_the_index(void **state)
{
	const struct weir_class round_robin = { .strategy = "round-robin" };
	struct rig *rig = change_rig("round-robin", 3);

	(void)state;
	assert_routes(rig, 0, 1);
	assert_int_equal(strategy_change(rig, "first"), 0);
	assert_routes(rig, 0, 0);
	assert_int_equal(strategy_change(rig, "round-robin"), 0);
	/* Four packets were routed: 4 mod 3. */
	assert_routes(rig, 1, 2, 0);
	/* So do new routes begin, for dispatchers must not all begin with the same worker. */
	assert_int_equal(
		change_make(rig, &(struct weir_change) { .classes = &round_robin, .n_classes = 1 }),
		0);
	rig->class_id = 1;
	assert_routes(rig, 1, 2);
	assert_string_equal(weir_pool_config(rig->pool)->strategy, "round-robin");
	rig_destroy(rig);
}

static void
flows_that_are_out_follow_their_pins_through_a_change(void **state)
{
	struct rig *rig = order_rig("first", 3, 64);
	static const uint16_t bucket = 7;

	(void)state;
	rig_dispatch_buckets(rig, 0, &bucket, 1);
	assert_int_equal(strategy_change(rig, "last"), 0);
	assert_goes(rig, { 7, 0 }, { 8, 2 });
	order_bring_home(rig, 0, 2);
	assert_goes(rig, { 7, 2 });
	rig_destroy(rig);
}

/* An owner of flows has packets wait that are out elsewhere, where others let them follow. */
static void
a_new_owner_gets_a_flow_once_it_has_come_home(void **state)
{
	static weir_worker_id owners[WEIR_BUCKETS];
	const struct weir_change owned = { .strategy = "rendezvous" };
	const struct weir_prospect prospect = { &owned, WEIR_WORKER_NONE, WEIR_WORKER_NONE };
	struct rig *rig = order_rig("first", 3, 64);
	uint16_t bucket = 0;

	(void)state;
	assert_int_equal(weir_pool_owners(rig->pool, &prospect, owners), 0);
	while (owners[bucket] == 0)
		bucket++;
	rig_dispatch_buckets(rig, 0, &bucket, 1);
	assert_int_equal(strategy_change(rig, "rendezvous"), 0);
	rig_dispatch_buckets(rig, 0, &bucket, 1);
	assert_int_equal(order_held(rig), 1);
	order_bring_home(rig, 0, 1);
	assert_int_equal(rig_depth(rig, owners[bucket]), 1);
	rig_destroy(rig);
}

static void
what_waits_under_a_policy_that_refuses_does_not_once_that_is_gone(void **state)
{
	struct weir_config config = rig_config("first", 1);
	struct rig *rig;

	(void)state;
	config.lane_size = 1;
	config.overflow = "reject";
	rig = rig_create(&config, 64);
	assert_int_equal(rig_dispatch(rig, 2), 1);
	rig_hold(rig, 0);
	assert_false(weir_accepts(rig->dispatcher[0].dispatcher));
	assert_int_equal(change_make(rig, &(struct weir_change) { .overflow = "drop-new" }), 0);
	rig_harvest(rig);
	assert_true(weir_accepts(rig->dispatcher[0].dispatcher));
	rig_destroy(rig);
}

static void
weights_change_without_the_strategy(void **state)
{
	struct rig *rig = change_rig("round-robin", 2);
	const uint16_t weights[WEIR_WORKERS_MAX] = { 3, 1 };

	(void)state;
	assert_routes(rig, 0, 1, 0, 1);
	assert_int_equal(change_make(rig, &(struct weir_change) { .weights = weights }), 0);
	assert_int_equal(weir_pool_config(rig->pool)->weights[0], 3);
	rig_dispatch(rig, 8);
	assert_int_equal(rig_depth(rig, 0), 8);
	assert_int_equal(rig_depth(rig, 1), 4);
	rig_destroy(rig);
}

static void
classes_come_and_go(void **state)
{
	const struct weir_class classes[] = { { .action = WEIR_ACTION_DROP },
		{ .strategy = "last" } };
	struct rig *rig = change_rig("first", 3);

	(void)state;
	rig->class_id = 2;
	assert_routes(rig, 0);
	assert_int_equal(
		change_make(rig, &(struct weir_change) { .classes = classes, .n_classes = 2 }), 0);
	assert_routes(rig, 2);
	rig->class_id = 1;
	assert_int_equal(rig_dispatch(rig, 3), 3);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_RULE_DROP), 3);
	assert_int_equal(change_make(rig, &(struct weir_change) { 0 }), 0);
	assert_routes(rig, 0);
	rig_destroy(rig);
}

/* What is lent before classes are counted is not counted when it comes home. */
static void
counting_of_classes_begins_and_ends_with_packets_out(void **state)
{
	const struct weir_class classes[] = { { .admission = WEIR_ADMIT_DISCARD_LATER } };
	struct rig *rig = change_rig("first", 2);
	const struct weir_change discard = { .classes = classes, .n_classes = 1 };

	(void)state;
	rig->class_id = 1;
	assert_int_equal(rig_dispatch(rig, 5), 5);
	assert_int_equal(change_make(rig, &discard), 0);
	/* The five were never counted: one more is let in, and the next is not. */
	assert_int_equal(rig_dispatch(rig, 2), 2);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_BUSY_DISCARD), 1);
	rig_work(rig, 0, 5);
	rig_harvest(rig);
	for (uint32_t class_id = 0; class_id < WEIR_CLASSES_MAX; class_id++)
		assert_int_equal(
			rig->dispatcher[0]
				.dispatcher->class_books.depth[weir_class_slot(class_id, 0)],
			class_id == 1);
	assert_int_equal(rig_dispatch(rig, 1), 1);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_BUSY_DISCARD), 2);
	assert_int_equal(change_make(rig, &(struct weir_change) { 0 }), 0);
	assert_int_equal(rig_dispatch(rig, 2), 2);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_BUSY_DISCARD), 2);
	assert_int_equal(change_make(rig, &discard), 0);
	assert_int_equal(rig_dispatch(rig, 1), 1);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_BUSY_DISCARD), 2);
	rig_destroy(rig);
}

/* busyover: a claim that is held when claiming ends would keep a worker from all others. */
static void
claims_are_given_back_when_nobody_claims_any_more(void **state)
{
	struct weir_config config = rig_config("busyover", 1);
	struct rig *rig;

	(void)state;
	config.n_dispatchers = 2;
	rig = rig_create(&config, 64);
	assert_int_equal(rig_dispatch_from(rig, 0, 1), 1);
	assert_int_equal(rig_dispatch_from(rig, 1, 1), 1);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_ALL_BUSY), 1);
	assert_int_equal(strategy_change(rig, "first"), 0);
	rig_harvest(rig);
	rig_work(rig, 0, 1);
	rig_harvest(rig);
	assert_int_equal(strategy_change(rig, "busyover"), 0);
	assert_int_equal(rig_dispatch_from(rig, 1, 1), 1);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_ALL_BUSY), 1);
	rig_destroy(rig);
}

/* A change that is refused leaves everything as it was. */
static void
assert_refused(struct rig *rig, const struct weir_change *change, const char *field)
{
	const struct weir_config *now = weir_pool_config(rig->pool);
	const char *strategy = now->strategy;
	const uint64_t version = rig->dispatcher[0].dispatcher->snapshot->version;
	struct weir_config_error error;

	assert_int_equal(weir_pool_change(rig->pool, change, &error), -EINVAL);
	assert_string_equal(error.field, field);
	assert_true(error.allowed[0] != '\0');
	assert_ptr_equal(now->strategy, strategy);
	rig_harvest(rig);
	assert_int_equal(rig->dispatcher[0].dispatcher->snapshot->version, version);
}

static void
tag_count(void *tag)
{
	++*(int *)tag;
}

static void
a_change_that_is_refused_changes_nothing_and_takes_no_tag(void **state)
{
	const struct weir_class covering[] = { { .admission = WEIR_ADMIT_COVER_EARLY } };
	const struct weir_class unknown[] = { { .strategy = "fastest" } };
	uint16_t weights[WEIR_WORKERS_MAX] = { WEIR_WEIGHT_MAX + 1 };
	struct rig *rig = change_rig("first", 2);
	int n_released = 0;

	(void)state;
	assert_refused(rig,
		&(struct weir_change) {
			.strategy = "fastest", .tag = &n_released, .tag_release = tag_count },
		"strategy");
	assert_refused(rig, &(struct weir_change) { .overflow = "drop-head" }, "overflow");
	assert_refused(rig, &(struct weir_change) { .weights = weights }, "weights[0]");
	assert_refused(
		rig, &(struct weir_change) { .classes = covering, .n_classes = 1 }, "classes");
	assert_refused(rig, &(struct weir_change) { .classes = unknown, .n_classes = 1 },
		"classes[0].strategy");
	assert_int_equal(n_released, 0);
	rig_destroy(rig);
}

static void
a_tag_is_given_back_once_no_dispatcher_goes_by_it(void **state)
{
	struct weir_config config = rig_config("first", 2);
	struct weir_dispatcher *dispatcher;
	struct rig *rig;
	int first = 0;
	int second = 0;

	(void)state;
	config.tag = &first;
	config.tag_release = tag_count;
	rig = rig_create(&config, 64);
	dispatcher = rig->dispatcher[0].dispatcher;
	assert_ptr_equal(weir_refresh(dispatcher, NULL), &first);
	assert_int_equal(change_make(rig, &(struct weir_change) { .tag = &second,
						  .tag_release = tag_count }),
		0);
	/* It says itself when it goes on: until then it goes by the first. */
	rig_harvest(rig);
	assert_int_equal(weir_pool_set_flags(rig->pool, 1, WEIR_WORKER_PAUSED), 0);
	assert_int_equal(first, 0);
	assert_ptr_equal(weir_refresh(dispatcher, NULL), &second);
	assert_int_equal(weir_pool_set_flags(rig->pool, 1, 0), 0);
	assert_int_equal(first, 1);
	assert_int_equal(second, 0);
	weir_refresh(dispatcher, NULL);
	rig_destroy(rig);
	assert_int_equal(first, 1);
	assert_int_equal(second, 1);
}

static void
dispatchers_of_one_thread_adopt_the_same_snapshot(void **state)
{
	struct weir_config config = rig_config("first", 2);
	struct weir_dispatcher *a;
	struct weir_dispatcher *b;
	struct rig *rig;

	(void)state;
	config.n_dispatchers = 2;
	rig = rig_create(&config, 64);
	a = rig->dispatcher[0].dispatcher;
	b = rig->dispatcher[1].dispatcher;
	weir_refresh(a, NULL);
	assert_int_equal(strategy_change(rig, "last"), 0);
	weir_refresh(b, a);
	assert_ptr_equal(b->snapshot, a->snapshot);
	rig_dispatch_from(rig, 1, 1);
	assert_int_equal(rig_depth(rig, 0), 1);
	weir_refresh(a, NULL);
	weir_refresh(b, a);
	rig_dispatch_from(rig, 1, 1);
	assert_int_equal(rig_depth(rig, 1), 1);
	rig_destroy(rig);
}

static uint32_t
owners_moved(const weir_worker_id *a, const weir_worker_id *b)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < WEIR_BUCKETS; i++)
		n += a[i] != b[i];
	return n;
}

static void
owners_tell_what_a_change_moves_before_it_is_made(void **state)
{
	static weir_worker_id now[WEIR_BUCKETS];
	static weir_worker_id then[WEIR_BUCKETS];
	const struct weir_change maglev = { .strategy = "maglev" };
	struct weir_prospect prospect = { .added = WEIR_WORKER_NONE, .removed = WEIR_WORKER_NONE };
	struct rig *rig = change_rig("rendezvous", 4);

	(void)state;
	assert_int_equal(weir_pool_owners(rig->pool, &prospect, now), 0);
	prospect.removed = 2;
	assert_int_equal(weir_pool_owners(rig->pool, &prospect, then), 0);
	/* Those of worker 2 move, and no others. */
	for (uint32_t i = 0; i < WEIR_BUCKETS; i++) {
		assert_int_not_equal(then[i], 2);
		assert_true(then[i] == now[i] || now[i] == 2);
	}
	assert_int_equal(weir_pool_remove(rig->pool, 2), 0);
	prospect.removed = WEIR_WORKER_NONE;
	assert_int_equal(weir_pool_owners(rig->pool, &prospect, now), 0);
	assert_int_equal(owners_moved(now, then), 0);
	prospect.change = &maglev;
	assert_int_equal(weir_pool_owners(rig->pool, &prospect, then), 0);
	assert_true(owners_moved(now, then) > WEIR_BUCKETS / 2);
	assert_int_equal(strategy_change(rig, "maglev"), 0);
	prospect.change = NULL;
	assert_int_equal(weir_pool_owners(rig->pool, &prospect, now), 0);
	assert_int_equal(owners_moved(now, then), 0);
	/* Dispatchers go by the same owners. */
	rig->bucket = 4711;
	assert_routes(rig, now[4711]);
	assert_int_equal(strategy_change(rig, "shallowest"), 0);
	assert_int_equal(weir_pool_owners(rig->pool, &prospect, now), -ENOTSUP);
	rig_destroy(rig);
}

/* Any of these may follow any other; none sends copies, which the rig would have to know of. */
static const struct weir_class random_classes[] = {
	{ .strategy = "shallowest" },
	{ .strategy = "rendezvous" },
	{ .admission = WEIR_ADMIT_DISCARD_LATER },
	{ .strategy = "busyover", .fallback = "first" },
	{ .action = WEIR_ACTION_DROP },
	{ .strategy = "least-recent", .overflow = "reject" },
	{ .police_pps = 1000 },
	{ .action = WEIR_ACTION_DIVERT, .divert_port = 3 },
	{ .retries = 2 },
};

static void
random_change(struct rig *rig, struct test_random *random)
{
	static const char *const strategies[] = { "shallowest", "round-robin", "rendezvous", "p2c",
		"least-frequent", "maglev", "ring", "random" };
	static const char *const policies[] = { "drop-new", "reject" };
	struct weir_class classes[4];
	const uint32_t n = test_random_below(random, ARRAY_LENGTH(classes) + 1);

	for (uint32_t i = 0; i < n; i++)
		classes[i] =
			random_classes[test_random_below(random, ARRAY_LENGTH(random_classes))];
	assert_int_equal(
		change_make(rig,
			&(struct weir_change) {
				.strategy = strategies[test_random_below(
					random, ARRAY_LENGTH(strategies))],
				.overflow =
					policies[test_random_below(random, ARRAY_LENGTH(policies))],
				.classes = classes,
				.n_classes = n,
			}),
		0);
}

static void
random_step(struct rig *rig, struct test_random *random)
{
	const uint32_t dispatcher = test_random_below(random, rig->config.n_dispatchers);

	switch (test_random_below(random, 8)) {
	case 0:
		random_change(rig, random);
		break;
	case 1:
	case 2:
		if (rig->dispatcher[dispatcher].n_refused > 0)
			rig_hold(rig, dispatcher);
		else
			rig_dispatch_from(rig, dispatcher, test_random_below(random, 33));
		break;
	default:
		rig_work(rig, (weir_worker_id)test_random_below(random, rig->config.n_workers),
			test_random_below(random, 24));
		rig_harvest(rig);
	}
}

/* The rig checks the books and the order of every bucket at each step. */
static void
random_changes_keep_books_and_order(void **state)
{
	struct test_random random = test_random_start("change");

	(void)state;
	for (uint32_t run = 0; run < 12; run++) {
		struct weir_config config = order_config("shallowest", 5);
		struct rig *rig;

		config.order = run % 3 == 0 ? WEIR_ORDER_NONE : WEIR_ORDER_FLOW;
		config.n_dispatchers = 1 + run % 2;
		config.lane_size = 24;
		rig = rig_create(&config, RANDOM_STEPS * 33);
		rig->n_buckets = 64;
		rig->n_classes = 5;
		rig->asks_not_all = true;
		rig->waits_apart = true;
		for (uint32_t step = 0; step < RANDOM_STEPS; step++)
			random_step(rig, &random);
		rig_drain(rig);
		rig_destroy(rig);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_changed_strategy_counts_from_the_next_burst_and_keeps_the_index),
		cmocka_unit_test(flows_that_are_out_follow_their_pins_through_a_change),
		cmocka_unit_test(a_new_owner_gets_a_flow_once_it_has_come_home),
		cmocka_unit_test(what_waits_under_a_policy_that_refuses_does_not_once_that_is_gone),
		cmocka_unit_test(weights_change_without_the_strategy),
		cmocka_unit_test(classes_come_and_go),
		cmocka_unit_test(counting_of_classes_begins_and_ends_with_packets_out),
		cmocka_unit_test(claims_are_given_back_when_nobody_claims_any_more),
		cmocka_unit_test(a_change_that_is_refused_changes_nothing_and_takes_no_tag),
		cmocka_unit_test(a_tag_is_given_back_once_no_dispatcher_goes_by_it),
		cmocka_unit_test(dispatchers_of_one_thread_adopt_the_same_snapshot),
		cmocka_unit_test(owners_tell_what_a_change_moves_before_it_is_made),
		cmocka_unit_test(random_changes_keep_books_and_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
