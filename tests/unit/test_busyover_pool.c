/* SPDX-License-Identifier: BSD-3-Clause */
/* busyover and failover in a pool: what becomes of packets that find nobody, and of claims. */
#include "test.h"

#include "dispatcher.h"
#include "order_rig.h"

static uint32_t
claim_of(const struct rig *rig, uint32_t class_id, weir_worker_id id)
{
	return atomic_load(&pool_claims(rig->pool)[weir_class_slot(class_id, id)]);
}

static struct rig *
busyover_rig(const char *fallback, uint32_t n_workers, uint32_t n_dispatchers, uint32_t lane_size)
{
	struct weir_config config = rig_config("busyover", n_workers);

	config.fallback = fallback;
	config.n_dispatchers = n_dispatchers;
	config.lane_size = lane_size;
	return rig_create(&config, 16384);
}

static void
x9_with_all_busy_and_no_fallback_packets_end_as_all_busy(void **state)
{
	struct rig *rig = busyover_rig(NULL, 3, 1, 64);

	(void)state;
	assert_routes(rig, 0, 1, 2, WEIR_WORKER_NONE, WEIR_WORKER_NONE);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_ALL_BUSY), 2);
	/* Of another class nobody has anything. */
	rig->class_id = 3;
	assert_routes(rig, 0);
	rig->class_id = 0;
	order_bring_home(rig, 1, 1);
	assert_routes(rig, 1, WEIR_WORKER_NONE);
	rig_drain(rig);
	assert_int_equal(rig_ledger(rig).completed, 5);
	assert_int_equal(rig_ledger(rig).received, 5 + rig_dropped(rig, WEIR_REASON_ALL_BUSY));
	rig_destroy(rig);
}

static void
x9_with_all_busy_the_fallback_deals(void **state)
{
	struct rig *rig = busyover_rig("round-robin", 3, 1, 64);

	(void)state;
	assert_routes(rig, 0, 1, 2, 0, 1);
	assert_routes(rig, 2, 0, 1);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_ALL_BUSY), 0);
	/* Worker 1 has nothing left, and is first; then the rotation goes on. */
	order_bring_home(rig, 1, 3);
	assert_routes(rig, 1, 2);
	rig_destroy(rig);
}

static void
x8_failover_with_nobody_routable_has_no_route(void **state)
{
	struct rig *rig = rig_create(
		&(struct weir_config) {
			.n_workers = 2,
			.n_dispatchers = 1,
			.lane_size = 64,
			.burst = 32,
			.chunk = 1,
			.strategy = "failover",
			.overflow = "drop-new",
		},
		64);

	(void)state;
	assert_routes(rig, 0, 0);
	assert_int_equal(weir_pool_set_state(rig->pool, 0, WEIR_WORKER_DRAINING), 0);
	assert_routes(rig, 1);
	assert_int_equal(weir_pool_set_state(rig->pool, 1, WEIR_WORKER_DRAINING), 0);
	assert_routes(rig, WEIR_WORKER_NONE, WEIR_WORKER_NONE);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_NO_ROUTE), 2);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_DEAD_WORKER), 0);
	rig_destroy(rig);
}

/* XB12 with two dispatchers as they are: neither gives a worker packets that the other claims. */
static void
xb12_a_worker_is_claimed_until_its_last_packet_is_home(void **state)
{
	struct rig *rig = busyover_rig(NULL, 2, 2, 64);

	(void)state;
	assert_int_equal(rig_dispatch_from(rig, 0, 1), 1);
	assert_int_equal(rig_dispatch_from(rig, 1, 2), 2);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_ALL_BUSY), 1);
	assert_int_equal(claim_of(rig, 0, 0), 1);
	assert_int_equal(claim_of(rig, 0, 1), 2);
	/* Done, and yet not home: for the other one it is claimed. */
	rig_work(rig, 0, 1);
	assert_int_equal(rig_dispatch_from(rig, 1, 1), 1);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_ALL_BUSY), 2);
	rig_harvest(rig);
	assert_int_equal(claim_of(rig, 0, 0), 0);
	assert_int_equal(rig_dispatch_from(rig, 1, 1), 1);
	assert_int_equal(claim_of(rig, 0, 0), 2);
	rig_destroy(rig);
}

static void
xb12_claims_of_picks_that_come_to_nothing_are_given_back(void **state)
{
	struct rig *rig = busyover_rig(NULL, 1, 2, 1);

	(void)state;
	assert_int_equal(rig_dispatch_from(rig, 0, 1), 1);
	rig->class_id = 5;
	assert_int_equal(rig_dispatch_from(rig, 1, 1), 1);
	/* A lane of its own has room: it was lent. */
	assert_int_equal(claim_of(rig, 5, 0), 2);
	assert_int_equal(rig_dispatch_from(rig, 0, 1), 1);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_ALL_BUSY), 1);
	rig->class_id = 6;
	assert_int_equal(rig_dispatch_from(rig, 0, 1), 1);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_OVERFLOW_DROP_NEW), 1);
	assert_int_equal(claim_of(rig, 6, 0), 0);
	rig_destroy(rig);
}

static void
xb12_claims_of_picks_that_are_refused_are_given_back(void **state)
{
	struct weir_config config = rig_config("busyover", 1);
	struct rig *rig;

	(void)state;
	config.n_dispatchers = 2;
	config.lane_size = 1;
	config.overflow = "reject";
	rig = rig_create(&config, 64);
	assert_int_equal(rig_dispatch_from(rig, 0, 1), 1);
	rig->class_id = 5;
	assert_int_equal(rig_dispatch_from(rig, 0, 1), 0);
	assert_int_equal(claim_of(rig, 5, 0), 0);
	rig_hold(rig, 0);
	assert_int_equal(claim_of(rig, 5, 0), 0);
	order_bring_home(rig, 0, 1);
	/* From the hold it went at once, and claimed. */
	assert_int_equal(claim_of(rig, 0, 0), 0);
	assert_int_equal(claim_of(rig, 5, 0), 1);
	rig_destroy(rig);
}

static void
xb12_claims_of_picks_that_wait_for_a_budget_are_given_back(void **state)
{
	struct weir_config config = rig_config("busyover", 1);
	struct rig *rig;

	(void)state;
	config.n_dispatchers = 2;
	config.budget_pkts = 1;
	config.hold_size = 8;
	rig = rig_create(&config, 64);
	assert_int_equal(rig_dispatch_from(rig, 0, 1), 1);
	rig->class_id = 5;
	assert_int_equal(rig_dispatch_from(rig, 0, 1), 1);
	assert_int_equal(weir_held(rig->dispatcher[0].dispatcher), 1);
	assert_int_equal(claim_of(rig, 5, 0), 0);
	rig_destroy(rig);
}

/* A claim stands exactly where its holder has packets, and nobody else has any of the class. */
static void
claims_check(const struct rig *rig, uint32_t n_classes)
{
	for (uint32_t class_id = 0; class_id < n_classes; class_id++) {
		for (weir_worker_id id = 0; id < rig->config.n_workers; id++) {
			const uint32_t slot = weir_class_slot(class_id, id);
			uint32_t holder = 0;

			for (uint32_t i = 0; i < rig->config.n_dispatchers; i++) {
				if (rig->dispatcher[i].dispatcher->class_books.depth[slot] == 0)
					continue;
				assert_int_equal(holder, 0);
				holder = i + 1;
			}
			assert_int_equal(claim_of(rig, class_id, id), holder);
		}
	}
}

static void
xb12_claims_are_exact_under_random_traffic(void **state)
{
	struct test_random random = test_random_start(__func__);
	struct rig *rig = busyover_rig(NULL, 5, 2, 2);

	(void)state;
	rig->n_classes = 4;
	for (uint32_t step = 0; step < 4000; step++) {
		rig_dispatch_from(
			rig, test_random_below(&random, 2), test_random_below(&random, 5));
		claims_check(rig, 4);
		rig_work(rig, (weir_worker_id)test_random_below(&random, 5),
			test_random_below(&random, 4));
		if (test_random_below(&random, 2))
			rig_harvest(rig);
		claims_check(rig, 4);
	}
	assert_true(rig_dropped(rig, WEIR_REASON_ALL_BUSY) > 0);
	assert_true(rig_dropped(rig, WEIR_REASON_OVERFLOW_DROP_NEW) > 0);
	rig_destroy(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x9_with_all_busy_and_no_fallback_packets_end_as_all_busy),
		cmocka_unit_test(x9_with_all_busy_the_fallback_deals),
		cmocka_unit_test(x8_failover_with_nobody_routable_has_no_route),
		cmocka_unit_test(xb12_a_worker_is_claimed_until_its_last_packet_is_home),
		cmocka_unit_test(xb12_claims_of_picks_that_come_to_nothing_are_given_back),
		cmocka_unit_test(xb12_claims_of_picks_that_are_refused_are_given_back),
		cmocka_unit_test(xb12_claims_of_picks_that_wait_for_a_budget_are_given_back),
		cmocka_unit_test(xb12_claims_are_exact_under_random_traffic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
