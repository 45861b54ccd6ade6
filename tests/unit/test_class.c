/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/decide: what is done with the packets of a class: dropped, diverted, policed, refused. */
#include "test.h"

#include "dispatcher.h"
#include "order_rig.h"

/* A rig of `n` workers whose classes 1 .. n_classes are those given. */
static struct rig *
class_rig(struct weir_config config, const struct weir_class *classes, uint32_t n_classes)
{
	config.classes = classes;
	config.n_classes = n_classes;
	return rig_create(&config, 1024);
}

static uint32_t
dispatch_class(struct rig *rig, uint8_t class_id, uint32_t n)
{
	rig->class_id = class_id;
	return rig_dispatch(rig, n);
}

static void
dropped_and_diverted_packets_move_no_index_and_need_no_worker(void **state)
{
	const struct weir_class classes[] = { { .action = WEIR_ACTION_DROP },
		{ .action = WEIR_ACTION_DIVERT, .divert_port = 9 } };
	struct rig *rig = class_rig(rig_config("round-robin", 3), classes, 2);

	(void)state;
	assert_int_equal(dispatch_class(rig, 1, 4), 4);
	assert_int_equal(dispatch_class(rig, 2, 3), 3);
	rig->class_id = 0;
	assert_routes(rig, 0, 1);
	for (weir_worker_id id = 0; id < 3; id++)
		assert_int_equal(weir_pool_remove(rig->pool, id), 0);
	assert_int_equal(dispatch_class(rig, 1, 1), 1);
	assert_int_equal(dispatch_class(rig, 2, 1), 1);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_RULE_DROP), 5);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_NO_ROUTE), 0);
	/* The rig checks port and length of each. */
	assert_int_equal(rig_counters(rig, 0).returned_tx, 4);
	assert_int_equal(rig_counters(rig, 0).routed, 2);
	rig_destroy(rig);
}

static void
a_refusal_leaves_what_stands_behind_it_with_the_caller_whatever_its_class(void **state)
{
	const struct weir_class classes[] = { { .action = WEIR_ACTION_DROP } };
	struct weir_config config = rig_config("first", 2);
	struct rig *rig;

	(void)state;
	config.lane_size = 1;
	config.overflow = "reject";
	rig = class_rig(config, classes, 1);
	assert_int_equal(rig_dispatch(rig, 2), 1);
	rig_hold(rig, 0);
	assert_int_equal(dispatch_class(rig, 1, 2), 0);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_RULE_DROP), 0);
	/* In the hold they wait behind what was refused before them. */
	rig_hold(rig, 0);
	rig_harvest(rig);
	assert_int_equal(weir_held(rig->dispatcher[0].dispatcher), 3);
	rig_work(rig, 0, 1);
	rig_harvest(rig);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_RULE_DROP), 2);
	rig_destroy(rig);
}

static void
dropped_and_diverted_packets_touch_no_pin(void **state)
{
	const struct weir_class classes[] = { { .action = WEIR_ACTION_DROP },
		{ .action = WEIR_ACTION_DIVERT } };
	struct rig *rig = class_rig(order_config("round-robin", 2), classes, 2);
	static const uint16_t bucket = 7;

	(void)state;
	for (uint8_t class_id = 1; class_id <= 2; class_id++) {
		rig->class_id = class_id;
		assert_int_equal(rig_dispatch_buckets(rig, 0, &bucket, 1), 1);
		assert_int_equal(order_pin(rig, 7), WEIR_WORKER_NONE);
	}
	rig->class_id = 0;
	assert_goes(rig, { 7, 0 });
	rig->class_id = 1;
	assert_goes(rig, { 7, WEIR_WORKER_NONE });
	assert_int_equal(order_pin(rig, 7), 0);
	rig_destroy(rig);
}

static void
classes_that_nobody_configured_are_class_0(void **state)
{
	const struct weir_class classes[] = { { .action = WEIR_ACTION_DROP } };
	struct rig *rig = class_rig(rig_config("round-robin", 2), classes, 1);
	static const uint8_t unknown[] = { 2, 63, 64, 255 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(unknown); i++)
		assert_int_equal(dispatch_class(rig, unknown[i], 1), 1);
	assert_int_equal(rig_depth(rig, 0), 2);
	assert_int_equal(rig_depth(rig, 1), 2);
	assert_int_equal(weir_message_index(rig->dispatcher[0].dispatcher), 4);
	rig_destroy(rig);
}

static void
n18_policer_lets_through_what_its_bucket_has(void **state)
{
	const struct weir_class classes[] = { { .police_pps = 2000, .police_burst = 1 } };
	struct rig *rig = class_rig(rig_config("round-robin", 2), classes, 1);
	struct weir_dispatcher *d = rig->dispatcher[0].dispatcher;
	static const uint64_t ticks[] = { 5, 6, 9 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(ticks); i++) {
		weir_time_set(d, ticks[i] * 1000000);
		assert_int_equal(dispatch_class(rig, 1, 2), 2);
		assert_int_equal(rig_dropped(rig, WEIR_REASON_RATE_LIMITED), i + 1);
	}
	assert_int_equal(rig_counters(rig, 0).lent, 3);
	rig_destroy(rig);
}

static void
n18_policer_starts_full_with_10_ms_and_fills_nothing_before_it_is_told_the_time(void **state)
{
	const struct weir_class classes[] = { { .police_pps = 1000 }, { .police_pps = 1 } };
	struct rig *rig = class_rig(rig_config("round-robin", 2), classes, 2);

	(void)state;
	assert_int_equal(dispatch_class(rig, 1, 32), 32);
	assert_int_equal(dispatch_class(rig, 1, 32), 32);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_RATE_LIMITED), 54);
	assert_int_equal(dispatch_class(rig, 2, 2), 2);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_RATE_LIMITED), 55);
	rig_destroy(rig);
}

/* A policed packet is in no depth, no pick and no index. */
static void
nb6_policed_packets_are_not_measured(void **state)
{
	const struct weir_class classes[] = { { .police_pps = 1, .police_burst = 1 } };
	struct rig *rig = class_rig(rig_config("shallowest", 2), classes, 1);

	(void)state;
	assert_int_equal(dispatch_class(rig, 1, 32), 32);
	assert_int_equal(rig_depth(rig, 0), 1);
	assert_int_equal(rig_depth(rig, 1), 0);
	assert_int_equal(rig_counters(rig, 0).routed, 1);
	rig_destroy(rig);
}

static void
tokens_of_refused_packets_return_and_what_is_held_is_policed_once(void **state)
{
	const struct weir_class classes[] = { { .police_pps = 1, .police_burst = 5 } };
	struct weir_config config = rig_config("first", 2);
	struct rig *rig;

	(void)state;
	config.lane_size = 2;
	config.overflow = "reject";
	rig = class_rig(config, classes, 1);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(
			i == 0 ? dispatch_class(rig, 1, 5) : rig_retry(rig, 0), i == 0 ? 2 : 0);
	rig_hold(rig, 0);
	assert_int_equal(weir_held(rig->dispatcher[0].dispatcher), 3);
	rig_drain(rig);
	assert_int_equal(rig_counters(rig, 0).lent, 5);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_RATE_LIMITED), 0);
	assert_int_equal(dispatch_class(rig, 1, 1), 1);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_RATE_LIMITED), 1);
	rig_destroy(rig);
}

static void
what_is_given_to_the_hold_past_the_policer_is_policed_there(void **state)
{
	const struct weir_class classes[] = { { .police_pps = 1, .police_burst = 2 } };
	struct weir_config config = rig_config("first", 1);
	struct rig *rig;

	(void)state;
	config.lane_size = 1;
	config.overflow = "reject";
	rig = class_rig(config, classes, 1);
	assert_int_equal(dispatch_class(rig, 0, 2), 1);
	rig_hold(rig, 0);
	assert_int_equal(dispatch_class(rig, 1, 5), 0);
	rig_hold(rig, 0);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_RATE_LIMITED), 3);
	assert_int_equal(weir_held(rig->dispatcher[0].dispatcher), 3);
	rig_destroy(rig);
}

static void
each_class_has_its_overflow_policy(void **state)
{
	const struct weir_class classes[] = { { .overflow = "drop-new" } };
	struct weir_config config = rig_config("first", 1);
	struct weir_dispatcher *d;
	struct rig *rig;

	(void)state;
	config.lane_size = 1;
	config.overflow = "reject";
	rig = class_rig(config, classes, 1);
	d = rig->dispatcher[0].dispatcher;
	assert_int_equal(dispatch_class(rig, 1, 3), 3);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_OVERFLOW_DROP_NEW), 2);
	assert_int_equal(dispatch_class(rig, 0, 2), 0);
	assert_true(weir_accepts(d));
	rig_hold(rig, 0);
	assert_false(weir_accepts(d));
	/* Nothing is taken past what was refused. */
	assert_int_equal(dispatch_class(rig, 1, 1), 0);
	rig_abandon(rig, 0);
	rig_drain(rig);
	assert_true(weir_accepts(d));
	rig_destroy(rig);
}

static void
held_packets_that_wait_for_a_worker_refuse_nobody_whatever_their_class(void **state)
{
	const struct weir_class classes[] = { { .overflow = "reject" } };
	struct rig *rig = class_rig(order_config("round-robin", 2), classes, 1);
	struct weir_dispatcher *d = rig->dispatcher[0].dispatcher;

	(void)state;
	assert_goes(rig, { 7, 0 });
	order_remove(rig, 0);
	assert_goes(rig, { 7, HELD }, { 8, 1 });
	assert_true(weir_accepts(d));
	rig->class_id = 1;
	assert_goes(rig, { 7, HELD }, { 9, 1 });
	assert_true(weir_accepts(d));
	order_bring_home(rig, 0, 1);
	assert_true(weir_accepts(d));
	rig_destroy(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dropped_and_diverted_packets_move_no_index_and_need_no_worker),
		cmocka_unit_test(
			a_refusal_leaves_what_stands_behind_it_with_the_caller_whatever_its_class),
		cmocka_unit_test(dropped_and_diverted_packets_touch_no_pin),
		cmocka_unit_test(classes_that_nobody_configured_are_class_0),
		cmocka_unit_test(n18_policer_lets_through_what_its_bucket_has),
		cmocka_unit_test(
			n18_policer_starts_full_with_10_ms_and_fills_nothing_before_it_is_told_the_time),
		cmocka_unit_test(nb6_policed_packets_are_not_measured),
		cmocka_unit_test(tokens_of_refused_packets_return_and_what_is_held_is_policed_once),
		cmocka_unit_test(what_is_given_to_the_hold_past_the_policer_is_policed_there),
		cmocka_unit_test(each_class_has_its_overflow_policy),
		cmocka_unit_test(
			held_packets_that_wait_for_a_worker_refuse_nobody_whatever_their_class),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
