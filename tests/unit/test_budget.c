/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/decide: the budget (N15): who may take more, who waits, and who goes first. */
#include "test.h"

#include "dispatcher.h"
#include "order_rig.h"

static struct rig *
budget_rig(const char *strategy, uint32_t n_workers, uint32_t budget_pkts, enum weir_order order)
{
	struct weir_config config = rig_config(strategy, n_workers);

	config.order = order;
	config.budget_pkts = budget_pkts;
	return rig_create(&config, 4096);
}

/* N15: outstanding (1, 2) of 2 each: the first takes it; (2, 2): nobody does. */
static void
packet_goes_to_whom_has_budget_left_or_waits(void **state)
{
	static const uint32_t depths[] = { 1, 2 };
	struct rig *rig = budget_rig("shallowest", 2, 2, WEIR_ORDER_NONE);

	(void)state;
	rig_set_depths(rig, depths);
	assert_routes(rig, 0);
	assert_routes(rig, HELD);
	assert_int_equal(order_held(rig), 1);
	rig_destroy(rig);
}

/* N15: a worker that finishes takes the oldest, before any newer packet. */
static void
worker_that_finishes_takes_the_oldest_that_waits(void **state)
{
	static const uint32_t depths[] = { 2, 2 };
	struct rig *rig = budget_rig("shallowest", 2, 2, WEIR_ORDER_NONE);

	(void)state;
	rig_set_depths(rig, depths);
	assert_routes(rig, HELD, HELD);
	rig_work(rig, 1, 1);
	/* In one call: the oldest goes to worker 1, and the newer one queues. */
	assert_routes(rig, HELD);
	assert_int_equal(order_held(rig), 2);
	assert_int_equal(rig_depth(rig, 1), 2);
	rig_work(rig, 1, 2);
	rig_harvest(rig);
	assert_int_equal(rig->dispatcher[0].ended[rig->dispatcher[0].n_ended - 1]->id, 4);
	rig_destroy(rig);
}

/* N15, NB13: round-robin asks each worker's budget, too. */
static void
round_robin_fills_every_budget_and_then_waits(void **state)
{
	struct rig *rig = budget_rig("round-robin", 2, 1, WEIR_ORDER_NONE);

	(void)state;
	assert_routes(rig, 0, 1, HELD);
	rig_work(rig, 0, 1);
	rig_harvest(rig);
	assert_int_equal(order_held(rig), 0);
	assert_int_equal(rig_depth(rig, 0), 1);
	assert_int_equal(rig_depth(rig, 1), 1);
	rig_destroy(rig);
}

/* NB13: a worker at its budget is passed over while another has some left. */
static void
pick_at_its_budget_goes_to_the_next_in_rotation_that_has_some(void **state)
{
	struct rig *rig = budget_rig("first", 4, 2, WEIR_ORDER_NONE);

	(void)state;
	assert_routes(rig, 0, 0, 1, 1, 2);
	rig_work(rig, 0, 1);
	assert_routes(rig, 0, 2, 3, 3, HELD);
	rig_destroy(rig);
	rig = budget_rig("last", 3, 1, WEIR_ORDER_NONE);
	/* From the pick on, round the end. */
	assert_routes(rig, 2, 0, 1, HELD);
	rig_destroy(rig);
}

static void
packets_that_wait_have_not_been_asked_for(void **state)
{
	struct rig *rig = budget_rig("round-robin", 3, 1, WEIR_ORDER_NONE);

	(void)state;
	assert_routes(rig, 0, 1, 2, HELD, HELD);
	assert_int_equal(order_index(rig), 3);
	assert_routes(rig, HELD);
	assert_int_equal(order_index(rig), 3);
	rig_work(rig, 2, 1);
	rig_harvest(rig);
	assert_int_equal(order_index(rig), 4);
	rig_destroy(rig);
}

static void
packets_of_a_bucket_that_is_out_go_past_the_budget(void **state)
{
	struct rig *rig = budget_rig("shallowest", 2, 2, WEIR_ORDER_FLOW);

	(void)state;
	assert_goes(rig, { 7, 0 }, { 7, 0 }, { 7, 0 }, { 8, 1 });
	assert_goes(rig, { 7, 0 }, { 9, 1 }, { 10, HELD }, { 7, 0 });
	assert_goes(rig, { 8, 1 });
	assert_int_equal(rig_depth(rig, 0), 5);
	/* Worker 0 is still past its budget. */
	order_bring_home(rig, 0, 3);
	assert_int_equal(order_held(rig), 1);
	order_bring_home(rig, 0, 1);
	assert_int_equal(order_held(rig), 0);
	assert_int_equal(rig_depth(rig, 0), 2);
	rig_destroy(rig);
}

static void
packets_of_one_bucket_wait_and_go_together(void **state)
{
	struct rig *rig = budget_rig("shallowest", 1, 2, WEIR_ORDER_FLOW);

	(void)state;
	assert_goes(rig, { 7, 0 }, { 8, 0 }, { 9, HELD }, { 9, HELD }, { 7, 0 });
	assert_goes(rig, { 9, HELD }, { 10, HELD });
	order_bring_home(rig, 0, 2);
	/* 9 has its turn, and what follows it goes along; 10 has none. */
	assert_int_equal(order_held(rig), 1);
	assert_int_equal(rig_depth(rig, 0), 4);
	rig_check_pins(rig);
	rig_destroy(rig);
}

/* Whoever comes new queues behind what waits, though it finds a worker with budget left. */
static void
nothing_new_passes_what_waits(void **state)
{
	struct rig *rig = budget_rig("shallowest", 2, 1, WEIR_ORDER_FLOW);
	struct weir_dispatcher *d = rig->dispatcher[0].dispatcher;

	(void)state;
	assert_goes(rig, { 1, 0 }, { 2, 1 }, { 3, HELD });
	/* As if worker 0 had finished and the hold had not been looked at since. */
	rig_work(rig, 0, 1);
	harvest_worker(d, 0);
	d->hold_news = (struct hold_news) { 0 };
	assert_goes(rig, { 4, HELD }, { 2, 1 });
	d->hold_news.all = true;
	rig_harvest(rig);
	assert_int_equal(order_pin(rig, 3), 0);
	assert_int_equal(order_pin(rig, 4), WEIR_WORKER_NONE);
	rig_destroy(rig);
}

/* However much waits, a pass looks at what may go, not at all of it. */
static void
pass_ends_at_the_first_that_stays(void **state)
{
	struct rig *rig = budget_rig("shallowest", 2, 1, WEIR_ORDER_FLOW);
	struct weir_dispatcher *d = rig->dispatcher[0].dispatcher;
	uint64_t visits;

	(void)state;
	for (uint32_t i = 0; i < 20; i++)
		assert_int_equal(rig_dispatch(rig, 32), 32);
	assert_int_equal(order_held(rig), 638);
	visits = d->pick.depth_visits;
	for (uint32_t i = 0; i < 10; i++)
		order_bring_home(rig, (weir_worker_id)(i % 2), 1);
	assert_int_equal(order_held(rig), 628);
	assert_true(d->pick.depth_visits - visits <= (uint64_t)10 * 32 * 2);
	for (uint32_t i = 0; i < rig->dispatcher[0].n_ended; i++)
		assert_int_equal(rig->dispatcher[0].ended[i]->id, i);
	rig_check_pins(rig);
	rig_destroy(rig);
}

/* Two buckets of each of two owners. */
struct owned {
	uint16_t bucket[2][2];
};

static struct owned
owned_find(const struct rig *rig)
{
	const struct weir_dispatcher *d = rig->dispatcher[0].dispatcher;
	const struct weir_strategy *strategy = d->snapshot->route[0].strategy;
	struct weir_pick_context pick = d->pick;
	struct owned owned = { 0 };
	uint32_t n[2] = { 0 };

	for (uint32_t bucket = 0; n[0] < 2 || n[1] < 2; bucket++) {
		const struct weir_meta meta = { .bucket = (uint16_t)bucket };
		uint16_t owner;

		strategy->pick_burst(&pick, &meta, 1, &owner);
		if (n[owner] < 2)
			owned.bucket[owner][n[owner]++] = (uint16_t)bucket;
	}
	return owned;
}

static void
packets_of_an_owner_without_budget_wait_for_it_and_block_nobody_else(void **state)
{
	static const enum weir_order orders[] = { WEIR_ORDER_NONE, WEIR_ORDER_FLOW };

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(orders); i++) {
		struct rig *rig = budget_rig("rendezvous", 2, 1, orders[i]);
		const struct owned owned = owned_find(rig);
		const uint16_t a = owned.bucket[0][0];
		const uint16_t b = owned.bucket[0][1];
		const uint16_t c = owned.bucket[1][0];

		assert_goes(rig, { a, 0 }, { b, HELD }, { c, 1 });
		assert_goes(rig, { b, HELD }, { owned.bucket[1][1], HELD });
		order_bring_home(rig, 0, 1);
		assert_int_equal(order_held(rig), 2);
		assert_int_equal(rig_depth(rig, 0), 1);
		order_bring_home(rig, 1, 1);
		assert_int_equal(rig_depth(rig, 1), 1);
		rig_destroy(rig);
	}
}

static void
under_reject_what_waits_is_held_and_nothing_more_is_accepted(void **state)
{
	struct weir_config config = rig_config("shallowest", 1);
	struct rig *rig;

	(void)state;
	config.overflow = "reject";
	config.budget_pkts = 1;
	config.hold_size = 2;
	rig = rig_create(&config, 64);
	/* One is lent, two wait, the fourth finds the hold full. */
	assert_int_equal(rig_dispatch(rig, 4), 3);
	assert_int_equal(order_held(rig), 2);
	assert_false(weir_accepts(rig->dispatcher[0].dispatcher));
	rig_work(rig, 0, 1);
	assert_int_equal(rig_retry(rig, 0), 0);
	rig_work(rig, 0, 1);
	rig_harvest(rig);
	assert_int_equal(rig_retry(rig, 0), 1);
	rig_drain(rig);
	assert_int_equal(rig_ledger(rig).completed, 4);
	rig_destroy(rig);
}

/* N16: no room to wait: the policy decides. */
static void
under_drop_new_a_full_hold_is_held_overflow(void **state)
{
	struct weir_config config = rig_config("shallowest", 1);
	struct rig *rig;

	(void)state;
	config.budget_pkts = 1;
	config.hold_size = 2;
	rig = rig_create(&config, 64);
	assert_int_equal(rig_dispatch(rig, 5), 5);
	assert_int_equal(order_held(rig), 2);
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_HELD_OVERFLOW], 2);
	rig_destroy(rig);
	/* No hold at all: nothing waits, so nothing may be kept waiting either. */
	config.hold_size = 0;
	rig = rig_create(&config, 64);
	assert_int_equal(rig_dispatch(rig, 2), 2);
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_HELD_OVERFLOW], 1);
	rig_work(rig, 0, 1);
	assert_routes(rig, 0);
	rig_destroy(rig);
}

static void
worker_that_joins_takes_what_waits(void **state)
{
	struct rig *rig = budget_rig("shallowest", 2, 1, WEIR_ORDER_NONE);

	(void)state;
	order_remove(rig, 1);
	assert_routes(rig, 0, HELD, HELD);
	order_add(rig, 1);
	rig_harvest(rig);
	assert_int_equal(rig_depth(rig, 1), 1);
	assert_int_equal(order_held(rig), 1);
	rig_destroy(rig);
}

static void
each_dispatcher_has_a_budget_of_its_own(void **state)
{
	struct weir_config config = rig_config("shallowest", 1);
	struct rig *rig;

	(void)state;
	config.n_dispatchers = 2;
	config.budget_pkts = 2;
	rig = rig_create(&config, 64);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(rig_dispatch_from(rig, i, 5), 5);
	assert_int_equal(rig_depth(rig, 0), 4);
	rig_destroy(rig);
}

static void
budget_larger_than_a_lane_is_refused(void **state)
{
	struct weir_config config = rig_config("shallowest", 1);
	struct weir_config_error error;

	(void)state;
	config.lane_size = 8;
	config.budget_pkts = 8;
	assert_int_equal(weir_config_check(&config, &error), 0);
	config.budget_pkts = 9;
	assert_int_equal(weir_config_check(&config, &error), -EINVAL);
	assert_string_equal(error.field, "budget_pkts");
}

/* N15 for every strategy, with bursts and chunks: never more than the budget, nothing lost. */
static void
no_strategy_gives_a_worker_more_than_its_budget(void **state)
{
	struct test_random random = test_random_start(__func__);

	(void)state;
	for (unsigned int s = 0; weir_strategy_at(s); s++) {
		const struct weir_strategy *strategy = weir_strategy_at(s);
		struct weir_config config = rig_config(strategy->name, 5);
		struct rig *rig;

		if (strategy->flags & WEIR_STRATEGY_ALL_TARGETS)
			continue;
		config.fallback = rig_fallback(strategy);
		config.budget_pkts = test_random_between(&random, 1, 6);
		config.chunk = strategy->flags & WEIR_STRATEGY_OWNS_FLOWS ? 1 : 1 + s % 3;
		rig = rig_create(&config, 4096);
		for (uint32_t i = 0; i < 100; i++) {
			rig_dispatch(rig, test_random_below(&random, 33));
			for (uint32_t id = 0; id < 5; id++) {
				assert_true(
					rig_depth(rig, (weir_worker_id)id) <= config.budget_pkts);
				rig_work(rig, (weir_worker_id)id, test_random_below(&random, 9));
			}
		}
		rig_drain(rig);
		assert_int_equal(rig_ledger(rig).completed +
					 rig_ledger(rig).dropped[WEIR_REASON_HELD_OVERFLOW],
			rig->dispatcher[0].n_packets);
		rig_destroy(rig);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packet_goes_to_whom_has_budget_left_or_waits),
		cmocka_unit_test(worker_that_finishes_takes_the_oldest_that_waits),
		cmocka_unit_test(round_robin_fills_every_budget_and_then_waits),
		cmocka_unit_test(pick_at_its_budget_goes_to_the_next_in_rotation_that_has_some),
		cmocka_unit_test(packets_that_wait_have_not_been_asked_for),
		cmocka_unit_test(packets_of_a_bucket_that_is_out_go_past_the_budget),
		cmocka_unit_test(packets_of_one_bucket_wait_and_go_together),
		cmocka_unit_test(nothing_new_passes_what_waits),
		cmocka_unit_test(pass_ends_at_the_first_that_stays),
		cmocka_unit_test(
			packets_of_an_owner_without_budget_wait_for_it_and_block_nobody_else),
		cmocka_unit_test(under_reject_what_waits_is_held_and_nothing_more_is_accepted),
		cmocka_unit_test(under_drop_new_a_full_hold_is_held_overflow),
		cmocka_unit_test(worker_that_joins_takes_what_waits),
		cmocka_unit_test(each_dispatcher_has_a_budget_of_its_own),
		cmocka_unit_test(budget_larger_than_a_lane_is_refused),
		cmocka_unit_test(no_strategy_gives_a_worker_more_than_its_budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
