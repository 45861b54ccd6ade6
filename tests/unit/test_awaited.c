/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lib/decide: waiting for workers. Where nobody is routable, but somebody will be, packets wait;
 * and whoever waits for a worker, not for room, stops no port.
 */
#include "test.h"

#include "dispatcher.h"
#include "order_rig.h"

static const char *const policies[] = { "drop-new", "drop-head", "reject" };

static struct weir_dispatcher *
dispatcher_of(const struct rig *rig)
{
	return rig->dispatcher[0].dispatcher;
}

/* One worker, which is paused. */
static struct rig *
paused_rig(const char *policy, enum weir_order order, uint32_t hold_size)
{
	struct weir_config config = rig_config("round-robin", 1);
	struct rig *rig;

	config.order = order;
	config.overflow = policy;
	config.hold_size = hold_size;
	rig = rig_create(&config, 1024);
	rig->n_buckets = 4;
	rig_pause(rig, 0);
	return rig;
}

static void
packets_wait_while_the_only_worker_is_paused_whatever_the_policy(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(policies); i++) {
		for (int order = WEIR_ORDER_NONE; order <= WEIR_ORDER_FLOW; order++) {
			struct rig *rig = paused_rig(policies[i], (enum weir_order)order, 40);

			assert_int_equal(rig_dispatch(rig, 32), 32);
			assert_int_equal(order_held(rig), 32);
			/* Bounded by the hold; the port is not stopped. */
			assert_int_equal(rig_dispatch(rig, 32), 32);
			assert_int_equal(order_held(rig), 40);
			assert_true(weir_accepts(dispatcher_of(rig)));
			assert_int_equal(rig_dropped(rig, WEIR_REASON_HELD_OVERFLOW), 24);
			assert_int_equal(order_index(rig), 0);
			rig_resume(rig, 0);
			rig_harvest(rig);
			assert_int_equal(order_held(rig), 0);
			assert_int_equal(rig_depth(rig, 0), 40);
			rig_destroy(rig);
		}
	}
}

static void
packets_wait_for_a_worker_that_starts_and_none_when_all_have_stopped(void **state)
{
	struct rig *rig = order_rig("round-robin", 1, 64);

	(void)state;
	order_remove(rig, 0);
	assert_int_equal(rig_dispatch(rig, 1), 1);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_NO_ROUTE), 1);
	assert_int_equal(weir_pool_add(rig->pool, 0), 0);
	assert_int_equal(rig_dispatch(rig, 2), 2);
	assert_int_equal(order_held(rig), 2);
	assert_int_equal(weir_pool_set_state(rig->pool, 0, WEIR_WORKER_READY), 0);
	rig_harvest(rig);
	assert_int_equal(rig_depth(rig, 0), 2);
	/* One that drains does not come back. */
	assert_int_equal(weir_pool_set_state(rig->pool, 0, WEIR_WORKER_DRAINING), 0);
	assert_int_equal(rig_dispatch(rig, 3), 3);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_DEAD_WORKER), 3);
	rig_destroy(rig);
}

static void
packets_wait_for_the_next_incarnation_only_if_there_is_to_be_one(void **state)
{
	(void)state;
	for (int awaited = 0; awaited < 2; awaited++) {
		const struct weir_departure how = {
			.state = WEIR_WORKER_DEAD,
			.redispatch = true,
			.awaited = awaited,
			.queued_reason = WEIR_REASON_DEAD_WORKER,
			.in_process_reason = WEIR_REASON_CRASH_INFLIGHT,
		};
		struct rig *rig = order_rig("round-robin", 1, 64);

		assert_int_equal(rig_dispatch(rig, 4), 4);
		rig_kill(rig, 0, &how);
		assert_int_equal(rig_dispatch(rig, 2), 2);
		assert_int_equal(order_held(rig), awaited ? 6 : 0);
		assert_int_equal(rig_dropped(rig, WEIR_REASON_DEAD_WORKER), awaited ? 0 : 6);
		rig_restart(rig, 0);
		rig_drain(rig);
		assert_int_equal(rig_counters(rig, 0).consumed, awaited ? 6 : 0);
		rig_destroy(rig);
	}
}

static void
packets_for_all_workers_wait_too_and_dropped_ones_do_not(void **state)
{
	const struct weir_class classes[] = { { .action = WEIR_ACTION_DROP } };
	struct weir_config config = order_config("round-robin", 2);
	struct rig *rig;

	(void)state;
	config.classes = classes;
	config.n_classes = 1;
	rig = rig_create(&config, 64);
	rig_copies_allow(rig, 64);
	rig_pause(rig, 0);
	rig_pause(rig, 1);
	rig->flags = WEIR_META_TO_ALL;
	assert_int_equal(rig_dispatch(rig, 1), 1);
	rig->flags = 0;
	rig->class_id = 1;
	assert_int_equal(rig_dispatch(rig, 1), 1);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_RULE_DROP), 1);
	assert_int_equal(order_held(rig), 1);
	rig_resume(rig, 0);
	rig_resume(rig, 1);
	rig_harvest(rig);
	assert_int_equal(rig_depth(rig, 0), 1);
	assert_int_equal(rig_depth(rig, 1), 1);
	rig_destroy(rig);
}

static void
one_paused_worker_stops_no_port_under_reject(void **state)
{
	struct weir_config config = order_config("round-robin", 2);
	struct rig *rig;

	(void)state;
	config.overflow = "reject";
	rig = rig_create(&config, 1024);
	assert_goes(rig, { 7, 0 }, { 8, 1 });
	rig_pause(rig, 0);
	for (uint32_t i = 0; i < 20; i++) {
		assert_goes(rig, { 7, HELD }, { 8, 1 }, { 7, HELD });
		assert_true(weir_accepts(dispatcher_of(rig)));
	}
	assert_int_equal(order_held(rig), 40);
	rig_resume(rig, 0);
	rig_harvest(rig);
	assert_int_equal(order_held(rig), 0);
	assert_int_equal(rig_depth(rig, 0), 41);
	rig_destroy(rig);
}

/* What was refused for want of room, and then waits for a worker; and the other way round. */
static void
what_a_held_packet_waits_for_may_change(void **state)
{
	struct weir_config config = order_config("round-robin", 2);
	struct rig *rig;

	(void)state;
	config.overflow = "reject";
	config.lane_size = 2;
	rig = rig_create(&config, 1024);
	assert_goes(rig, { 7, 0 }, { 8, 1 }, { 7, 0 });
	assert_int_equal(dispatch_buckets(rig, 7), 0);
	rig_hold(rig, 0);
	assert_false(weir_accepts(dispatcher_of(rig)));
	rig_pause(rig, 0);
	rig_harvest(rig);
	assert_true(weir_accepts(dispatcher_of(rig)));
	assert_goes(rig, { 8, 1 });
	/* Worker 0 is back, and as full as it was. */
	rig_resume(rig, 0);
	rig_harvest(rig);
	assert_false(weir_accepts(dispatcher_of(rig)));
	order_bring_home(rig, 0, 1);
	assert_true(weir_accepts(dispatcher_of(rig)));
	assert_int_equal(order_held(rig), 0);
	rig_destroy(rig);
}

/* Budget is room: who waits for that stops the port, and who waits for a worker does not. */
static void
want_of_budget_stops_the_port_under_reject(void **state)
{
	struct weir_config config = order_config("round-robin", 2);
	struct rig *rig;

	(void)state;
	config.overflow = "reject";
	config.budget_pkts = 1;
	rig = rig_create(&config, 1024);
	assert_goes(rig, { 7, 0 }, { 8, 1 });
	rig_pause(rig, 0);
	assert_goes(rig, { 7, HELD });
	assert_true(weir_accepts(dispatcher_of(rig)));
	assert_goes(rig, { 9, HELD });
	assert_false(weir_accepts(dispatcher_of(rig)));
	order_bring_home(rig, 1, 1);
	assert_true(weir_accepts(dispatcher_of(rig)));
	assert_int_equal(order_held(rig), 1);
	rig_resume(rig, 0);
	rig_destroy(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_wait_while_the_only_worker_is_paused_whatever_the_policy),
		cmocka_unit_test(
			packets_wait_for_a_worker_that_starts_and_none_when_all_have_stopped),
		cmocka_unit_test(packets_wait_for_the_next_incarnation_only_if_there_is_to_be_one),
		cmocka_unit_test(packets_for_all_workers_wait_too_and_dropped_ones_do_not),
		cmocka_unit_test(one_paused_worker_stops_no_port_under_reject),
		cmocka_unit_test(what_a_held_packet_waits_for_may_change),
		cmocka_unit_test(want_of_budget_stops_the_port_under_reject),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
