/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/decide: the alarm of a worker's depth, rung by its dispatcher (M2); whom a drop was for. */
#include "test.h"

#include "dispatcher.h"
#include "rig.h"

static struct rig *
alarm_rig(uint32_t threshold, uint32_t max_packets)
{
	struct weir_config config = rig_config("first", 1);

	config.lane_size = 4096;
	config.depth_alarm_pkts = threshold;
	return rig_create(&config, max_packets);
}

static void
lend_and_look(struct rig *rig, uint32_t n)
{
	assert_int_equal(rig_dispatch(rig, n), n);
	rig_harvest(rig);
}

static void
assert_alarms(const struct rig *rig, uint64_t alarms, uint64_t level)
{
	const struct weir_worker_counters counters = rig_worker_counters(rig, 0, 0);

	assert_int_equal(counters.depth_alarms, alarms);
	assert_int_equal(counters.depth_alarm_level, level);
}

/* M2: threshold 100, fill to 401 without draining → alarms at 100, 200, 400 exactly. */
static void
depth_rings_at_the_threshold_and_its_doubles_exactly(void **state)
{
	struct rig *rig = alarm_rig(100, 401);

	(void)state;
	for (uint32_t depth = 1; depth <= 401; depth++) {
		const uint64_t alarms = (depth >= 100) + (depth >= 200) + (depth >= 400);

		lend_and_look(rig, 1);
		assert_alarms(rig, alarms, alarms ? 50u << alarms : 0);
	}
	assert_int_equal(rig_worker_counters(rig, 0, 0).max_depth, 401);
	rig_destroy(rig);
}

/* M2: likewise in bursts, between whose ends thresholds lie. */
static void
depth_that_leaps_rings_for_each_threshold(void **state)
{
	struct rig *rig = alarm_rig(3, 64);

	(void)state;
	lend_and_look(rig, 32);
	assert_alarms(rig, 4, 24);
	lend_and_look(rig, 15);
	assert_alarms(rig, 4, 24);
	lend_and_look(rig, 1);
	assert_alarms(rig, 5, 48);
	rig_destroy(rig);
}

/* M2: 1,000 below the threshold → 0. */
static void
depth_below_the_threshold_never_rings(void **state)
{
	struct rig *rig = alarm_rig(1001, 1000);

	(void)state;
	for (uint32_t i = 0; i < 1000 / 20; i++)
		lend_and_look(rig, 20);
	assert_alarms(rig, 0, 0);
	assert_int_equal(rig_worker_counters(rig, 0, 0).max_depth, 1000);
	rig_destroy(rig);
}

static void
depth_alarm_of_zero_is_off(void **state)
{
	struct rig *rig = alarm_rig(0, 320);

	(void)state;
	for (uint32_t i = 0; i < 10; i++)
		lend_and_look(rig, 32);
	assert_alarms(rig, 0, 0);
	assert_int_equal(rig_worker_counters(rig, 0, 0).max_depth, 320);
	rig_destroy(rig);
}

/* M2: below half of the threshold it is armed anew, below peaks of earlier times too. */
static void
depth_alarm_is_armed_anew_below_half(void **state)
{
	struct rig *rig = alarm_rig(10, 256);

	(void)state;
	lend_and_look(rig, 30);
	assert_alarms(rig, 2, 20);
	rig_work(rig, 0, 25);
	rig_harvest(rig);
	lend_and_look(rig, 20);
	assert_alarms(rig, 2, 20);
	rig_work(rig, 0, 21);
	rig_harvest(rig);
	assert_int_equal(rig_depth(rig, 0), 4);
	lend_and_look(rig, 5);
	assert_alarms(rig, 2, 20);
	lend_and_look(rig, 1);
	assert_alarms(rig, 3, 10);
	assert_int_equal(rig_worker_counters(rig, 0, 0).max_depth, 30);
	rig_destroy(rig);
}

/* A depth between two looks counts: what was lent is the peak even if it is home by now. */
static void
depth_rings_though_all_is_home_when_it_is_looked_at(void **state)
{
	struct rig *rig = alarm_rig(10, 64);

	(void)state;
	for (uint32_t i = 1; i <= 3; i++) {
		assert_int_equal(rig_dispatch(rig, 10), 10);
		rig_work(rig, 0, 10);
		rig_harvest(rig);
		assert_alarms(rig, i, 10);
	}
	rig_destroy(rig);
}

/* Against a model that is told every depth, one by one. */
static void
depth_alarms_are_those_of_a_model(void **state)
{
	struct test_random random = test_random_start("depth alarms");
	const uint32_t threshold = test_random_between(&random, 1, 40);
	struct rig *rig = alarm_rig(threshold, 40000);
	uint64_t next = threshold;
	uint64_t alarms = 0;
	uint32_t depth = 0;

	(void)state;
	for (uint32_t i = 0; i < 2000; i++) {
		const uint32_t n = test_random_below(&random, 20);
		const bool rises = test_random_below(&random, 200) < 120 && depth + n < 1000;

		if (rises) {
			assert_int_equal(rig_dispatch(rig, n), n);
			for (uint32_t k = 0; k < n; k++)
				if (++depth == next) {
					alarms++;
					next *= 2;
				}
		} else {
			depth -= rig_work(rig, 0, 3 * n);
		}
		rig_harvest(rig);
		if (2 * depth < threshold)
			next = threshold;
		assert_int_equal(rig_worker_counters(rig, 0, 0).depth_alarms, alarms);
	}
	assert_true(alarms > 0);
	rig_destroy(rig);
}

/* M10: a drop names the worker that it is charged to, though it never had the packet. */
static void
drop_without_a_lend_names_the_intended_worker(void **state)
{
	struct weir_config config = rig_config("last", 3);
	struct rig *rig;

	(void)state;
	config.lane_size = 4;
	rig = rig_create(&config, 16);
	assert_int_equal(rig_dispatch(rig, 6), 6);
	for (uint32_t i = 0; i < 2; i++) {
		const struct rig_packet *packet = rig->dispatcher[0].ended[i];

		assert_int_equal(packet->verdict.kind, WEIR_VERDICT_DROP);
		assert_int_equal(packet->verdict.target, WEIR_REASON_OVERFLOW_DROP_NEW);
		assert_int_equal(packet->from, WEIR_WORKER_NONE);
		assert_int_equal(packet->verdict.intended, 2);
	}
	rig_destroy(rig);
}

static void
drop_for_nobody_names_nobody(void **state)
{
	const struct weir_config config = rig_config("shallowest", 1);
	struct rig *rig = rig_create(&config, 4);

	(void)state;
	assert_int_equal(weir_pool_remove(rig->pool, 0), 0);
	assert_int_equal(rig_dispatch(rig, 1), 1);
	assert_int_equal(rig->dispatcher[0].ended[0]->verdict.target, WEIR_REASON_NO_ROUTE);
	assert_int_equal(rig->dispatcher[0].ended[0]->verdict.intended, WEIR_WORKER_NONE);
	rig_destroy(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(depth_rings_at_the_threshold_and_its_doubles_exactly),
		cmocka_unit_test(depth_that_leaps_rings_for_each_threshold),
		cmocka_unit_test(depth_below_the_threshold_never_rings),
		cmocka_unit_test(depth_alarm_of_zero_is_off),
		cmocka_unit_test(depth_alarm_is_armed_anew_below_half),
		cmocka_unit_test(depth_rings_though_all_is_home_when_it_is_looked_at),
		cmocka_unit_test(depth_alarms_are_those_of_a_model),
		cmocka_unit_test(drop_without_a_lend_names_the_intended_worker),
		cmocka_unit_test(drop_for_nobody_names_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
