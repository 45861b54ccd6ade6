/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/decide with order flow: how long a bucket stays at its worker when nothing of it is out. */
#include "test.h"

#include "order_rig.h"

/* A packet of `bucket` that arrives at `time_ns` goes to `worker` and is brought home. */
static void
assert_visit(struct rig *rig, uint64_t time_ns, uint16_t bucket, weir_worker_id worker)
{
	rig->time_ns = time_ns;
	assert_goes(rig, { bucket, worker });
	order_bring_home(rig, worker, 1);
}

static struct rig *
sticky_rig(uint64_t sticky_ns, uint32_t n_workers)
{
	struct weir_config config = order_config("round-robin", n_workers);

	config.sticky_ns = sticky_ns;
	config.lane_size = 2;
	return rig_create(&config, 64);
}

static void
sticky_bucket_stays_until_it_was_silent_that_long(void **state)
{
	struct rig *rig = sticky_rig(100, 3);

	(void)state;
	/* Bucket 7's first packet has nothing to stick to, however early it comes. */
	assert_visit(rig, 50, 6, 0);
	assert_visit(rig, 50, 7, 1);
	assert_visit(rig, 50, 7, 1);
	assert_visit(rig, 149, 7, 1);
	assert_visit(rig, 248, 7, 1);
	assert_int_equal(order_index(rig), 2);
	assert_int_equal(order_moves(rig), 0);
	/* Silent for exactly 100. */
	assert_visit(rig, 348, 7, 2);
	assert_int_equal(order_index(rig), 3);
	assert_int_equal(order_moves(rig), 1);
	assert_visit(rig, 447, 7, 2);
	rig_destroy(rig);
}

static void
sticky_bucket_with_packets_out_stays_however_silent(void **state)
{
	struct rig *rig = sticky_rig(100, 2);

	(void)state;
	rig->time_ns = 1000;
	assert_goes(rig, { 7, 0 });
	rig->time_ns = 5000;
	assert_goes(rig, { 7, 0 });
	order_bring_home(rig, 0, 2);
	assert_visit(rig, 5099, 7, 0);
	assert_visit(rig, 5199, 7, 1);
	rig_destroy(rig);
}

static void
worker_that_is_not_routable_breaks_stickiness(void **state)
{
	struct rig *rig = sticky_rig(100, 3);

	(void)state;
	assert_visit(rig, 1000, 7, 0);
	assert_int_equal(weir_pool_set_state(rig->pool, 0, WEIR_WORKER_DRAINING), 0);
	/* Index 1 of the two that are left. */
	assert_visit(rig, 1001, 7, 2);
	assert_visit(rig, 1002, 7, 2);
	assert_int_equal(order_moves(rig), 1);
	rig_destroy(rig);
}

static void
time_that_goes_back_does_not_let_a_sticky_bucket_go(void **state)
{
	struct rig *rig = sticky_rig(100, 2);

	(void)state;
	assert_visit(rig, 1000, 7, 0);
	assert_visit(rig, 900, 7, 0);
	/* The silence is counted from the latest time seen. */
	assert_visit(rig, 1099, 7, 0);
	assert_visit(rig, 1199, 7, 1);
	rig_destroy(rig);
}

/* By its own time the last packet would let the bucket go, but one before it is not lent yet. */
static void
sticky_bucket_stays_together_within_a_burst(void **state)
{
	struct weir_config config = order_config("round-robin", 2);
	struct rig *rig;

	(void)state;
	config.sticky_ns = 10;
	rig = rig_create(&config, 64);
	/* The rig's packets arrive a nanosecond apart. */
	assert_goes(rig, { 7, 0 });
	order_bring_home(rig, 0, 1);
	assert_goes(rig, { 7, 0 }, { 8, 1 }, { 8, 1 }, { 8, 1 }, { 8, 1 }, { 8, 1 }, { 8, 1 },
		{ 8, 1 }, { 8, 1 }, { 8, 1 }, { 7, 0 }, { 7, 0 });
	assert_int_equal(order_index(rig), 2);
	rig_destroy(rig);
}

static void
sticky_bucket_is_silent_while_its_packets_are_dropped(void **state)
{
	struct rig *rig = sticky_rig(100, 2);

	(void)state;
	assert_visit(rig, 1000, 7, 0);
	/* Others fill both lanes. */
	assert_goes(rig, { 1, 1 }, { 2, 0 }, { 3, 1 }, { 4, 0 });
	rig->time_ns = 1099;
	assert_goes(rig, { 7, 0 });
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_OVERFLOW_DROP_NEW], 1);
	rig_drain(rig);
	/* 100 since the last packet that was lent: index 5 is worker 1's. */
	assert_visit(rig, 1100, 7, 1);
	rig_destroy(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sticky_bucket_stays_until_it_was_silent_that_long),
		cmocka_unit_test(sticky_bucket_with_packets_out_stays_however_silent),
		cmocka_unit_test(worker_that_is_not_routable_breaks_stickiness),
		cmocka_unit_test(time_that_goes_back_does_not_let_a_sticky_bucket_go),
		cmocka_unit_test(sticky_bucket_stays_together_within_a_burst),
		cmocka_unit_test(sticky_bucket_is_silent_while_its_packets_are_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
