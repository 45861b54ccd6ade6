/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/decide: what the time does: deadlines of what is held (N16), periods of state (X0b). */
#include "test.h"

#include "dispatcher.h"
#include "order_rig.h"

#define TIMEOUT_NS 1000
#define START_NS 5000

/* One worker with a lane of `lane_size` that refuses, and a clock that shows START_NS. */
static struct rig *
rig_with_timeout(uint32_t lane_size, uint64_t timeout_ns)
{
	struct weir_config config = rig_config("first", 1);
	struct rig *rig;

	config.overflow = "reject";
	config.lane_size = lane_size;
	config.hold_timeout_ns = timeout_ns;
	rig = rig_create(&config, 4096);
	rig_time(rig, START_NS);
	return rig;
}

/* Fills the lane and holds `n` packets behind it. */
static void
hold(struct rig *rig, uint32_t n)
{
	while (rig_dispatch(rig, 1) == 1)
		;
	rig_abandon(rig, 0);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(rig_dispatch(rig, 1), 0);
		rig_hold(rig, 0);
	}
}

static uint64_t
timeouts(const struct rig *rig)
{
	return rig_ledger(rig).dropped[WEIR_REASON_HOLD_TIMEOUT];
}

/* N16: one nanosecond before its deadline a packet still goes, at its deadline it does not. */
static void
packet_goes_before_its_deadline_and_never_at_it(void **state)
{
	(void)state;
	for (uint32_t late = 0; late < 2; late++) {
		struct rig *rig = rig_with_timeout(1, TIMEOUT_NS);

		hold(rig, 1);
		rig_work(rig, 0, 1);
		rig_time(rig, START_NS + TIMEOUT_NS - 1 + late);
		rig_harvest(rig);
		assert_int_equal(order_held(rig), 0);
		assert_int_equal(timeouts(rig), late);
		assert_int_equal(rig_depth(rig, 0), 1 - late);
		rig_destroy(rig);
	}
}

/* N16: what has not expired goes in its order. */
static void
survivors_keep_their_order(void **state)
{
	struct rig *rig = rig_with_timeout(2, TIMEOUT_NS);

	(void)state;
	hold(rig, 2);
	rig_time(rig, START_NS + 10);
	hold(rig, 0);
	for (uint32_t i = 0; i < 3; i++) {
		rig_time(rig, START_NS + 10 + i);
		assert_int_equal(rig_dispatch(rig, 1), 0);
		rig_hold(rig, 0);
	}
	rig_time(rig, START_NS + TIMEOUT_NS);
	rig_harvest(rig);
	assert_int_equal(timeouts(rig), 2);
	assert_int_equal(order_held(rig), 3);
	rig_time(rig, START_NS + 10 + TIMEOUT_NS);
	rig_harvest(rig);
	assert_int_equal(timeouts(rig), 3);
	/* The rig asserts the order in which these come back. */
	rig_drain(rig);
	assert_int_equal(timeouts(rig), 3);
	assert_int_equal(rig_ledger(rig).completed, 4);
	rig_destroy(rig);
}

static void
entry_in_the_middle_ends_in_the_next_pass(void **state)
{
	struct rig *rig = rig_with_timeout(1, TIMEOUT_NS);
	struct hold *held = &rig->dispatcher[0].dispatcher->hold;

	(void)state;
	hold(rig, 4);
	held->deadline_ns[hold_index(held, 1)] = START_NS + 1;
	held->deadline_ns[hold_index(held, 2)] = START_NS + 2;
	rig_time(rig, START_NS + 1);
	rig_work(rig, 0, 1);
	rig_harvest(rig);
	/* The first went, the second ended, the third and the fourth wait on. */
	assert_int_equal(rig_depth(rig, 0), 1);
	assert_int_equal(timeouts(rig), 1);
	assert_int_equal(order_held(rig), 2);
	rig_destroy(rig);
}

static void
nothing_expires_without_a_timeout_or_without_the_time(void **state)
{
	struct rig *rig = rig_with_timeout(1, 0);
	struct weir_config config = rig->config;

	(void)state;
	hold(rig, 3);
	rig_time(rig, UINT64_MAX);
	rig_harvest(rig);
	assert_int_equal(order_held(rig), 3);
	rig_destroy(rig);
	config.hold_timeout_ns = 1;
	rig = rig_create(&config, 64);
	hold(rig, 3);
	rig_harvest(rig);
	assert_int_equal(order_held(rig), 3);
	rig_destroy(rig);
}

static void
what_was_held_before_the_time_was_told_waits_from_then_on(void **state)
{
	struct weir_config config = rig_config("first", 1);
	struct rig *rig;

	(void)state;
	config.overflow = "reject";
	config.lane_size = 1;
	config.hold_timeout_ns = TIMEOUT_NS;
	rig = rig_create(&config, 64);
	hold(rig, 2);
	rig_time(rig, START_NS);
	rig_time(rig, START_NS + TIMEOUT_NS - 1);
	rig_harvest(rig);
	assert_int_equal(order_held(rig), 2);
	rig_time(rig, START_NS + TIMEOUT_NS);
	rig_harvest(rig);
	assert_int_equal(timeouts(rig), 2);
	rig_destroy(rig);
}

/* What waits for the order of its flow does not wait for ever either. */
static void
packets_held_behind_an_unroutable_worker_expire_and_their_bucket_goes_on(void **state)
{
	struct weir_config config = order_config("round-robin", 2);
	struct rig *rig;

	(void)state;
	config.hold_timeout_ns = TIMEOUT_NS;
	rig = rig_create(&config, 64);
	rig_time(rig, START_NS);
	assert_goes(rig, { 7, 0 });
	assert_int_equal(weir_pool_set_state(rig->pool, 0, WEIR_WORKER_DRAINING), 0);
	assert_goes(rig, { 7, HELD }, { 7, HELD });
	rig_time(rig, START_NS + 1);
	assert_goes(rig, { 7, HELD });
	rig_time(rig, START_NS + TIMEOUT_NS);
	rig_harvest(rig);
	assert_int_equal(order_held(rig), 1);
	assert_int_equal(timeouts(rig), 2);
	assert_int_equal(rig->dispatcher[0].dispatcher->pins[7].held, 1);
	order_bring_home(rig, 0, 1);
	assert_int_equal(order_held(rig), 0);
	assert_goes(rig, { 7, 1 });
	rig_destroy(rig);
}

static void
what_is_held_for_a_worker_expires_and_is_charged_to_it(void **state)
{
	struct rig *rig = rig_with_timeout(1, TIMEOUT_NS);

	(void)state;
	hold(rig, 2);
	rig->dispatcher[0].dispatcher->hold.target[1] = 0;
	rig_time(rig, START_NS + TIMEOUT_NS);
	rig_harvest(rig);
	assert_int_equal(timeouts(rig), 2);
	assert_int_equal(rig_worker_counters(rig, 0, 0).dropped[WEIR_REASON_HOLD_TIMEOUT], 1);
	rig_destroy(rig);
}

/* One call ends a bounded number; those left over are late as well and never go. */
static void
many_that_expire_at_once_end_a_burst_at_a_time(void **state)
{
	struct rig *rig = rig_with_timeout(1, TIMEOUT_NS);
	const uint32_t n = WEIR_BURST_MAX + 100;

	(void)state;
	hold(rig, n);
	rig->dispatcher[0].dispatcher->hold_news = (struct hold_news) { 0 };
	rig_time(rig, START_NS + TIMEOUT_NS);
	rig_harvest(rig);
	assert_int_equal(timeouts(rig), WEIR_BURST_MAX);
	rig_work(rig, 0, 1);
	rig_harvest(rig);
	assert_int_equal(timeouts(rig), n);
	assert_int_equal(rig_depth(rig, 0), 0);
	rig_destroy(rig);
}

static void
time_of_a_dispatcher_never_steps_back(void **state)
{
	struct rig *rig = rig_with_timeout(1, TIMEOUT_NS);
	struct weir_dispatcher *d = rig->dispatcher[0].dispatcher;

	(void)state;
	assert_int_equal(d->now_ns, START_NS);
	weir_time_set(d, START_NS - 1);
	assert_int_equal(d->now_ns, START_NS);
	assert_int_equal(d->pick.now_ns, START_NS);
	weir_time_set(d, START_NS + 1);
	assert_int_equal(d->now_ns, START_NS + 1);
	assert_int_equal(d->pick.now_ns, START_NS + 1);
	rig_destroy(rig);
}

static void
timeout_that_no_time_can_be_added_to_is_refused(void **state)
{
	struct weir_config config = rig_config("first", 1);
	struct weir_config_error error;

	(void)state;
	config.hold_timeout_ns = INT64_MAX;
	assert_int_equal(weir_config_check(&config, &error), 0);
	config.hold_timeout_ns++;
	assert_int_equal(weir_config_check(&config, &error), -EINVAL);
	assert_string_equal(error.field, "hold_timeout_ns");
}

/* X0b: arms at the first look, keeps at exactly a period, begins afresh strictly later, lazily. */
static void
state_begins_afresh_strictly_later_than_a_period(void **state)
{
	const uint64_t day_ns = UINT64_C(86400000) * 1000000;
	const uint64_t ms_ns = 1000000;
	struct weir_config config = rig_config("first", 1);
	struct rig *rig;
	struct weir_dispatcher *d;

	(void)state;
	config.state_period_ns = day_ns;
	rig = rig_create(&config, 64);
	d = rig->dispatcher[0].dispatcher;
	/* Nobody tells the time: nothing is ever old. */
	rig_dispatch(rig, 1);
	assert_int_equal(d->pick.epoch, 0);
	rig_time(rig, START_NS);
	rig_dispatch(rig, 1);
	rig_time(rig, START_NS + day_ns);
	rig_dispatch(rig, 1);
	assert_int_equal(d->pick.epoch, 0);
	rig_time(rig, START_NS + day_ns + ms_ns);
	/* Not by the clock alone: at the next use. */
	assert_int_equal(d->pick.epoch, 0);
	rig_dispatch(rig, 1);
	assert_int_equal(d->pick.epoch, 1);
	/* The next period begins where the state did. */
	rig_time(rig, START_NS + 2 * day_ns + ms_ns);
	rig_dispatch(rig, 1);
	assert_int_equal(d->pick.epoch, 1);
	rig_time(rig, START_NS + 2 * day_ns + ms_ns + 1);
	rig_dispatch(rig, 1);
	assert_int_equal(d->pick.epoch, 2);
	rig_destroy(rig);
}

static void
state_without_a_period_lasts(void **state)
{
	struct rig *rig = rig_with_timeout(4, 0);

	(void)state;
	rig_dispatch(rig, 1);
	rig_time(rig, UINT64_MAX);
	rig_dispatch(rig, 1);
	assert_int_equal(rig->dispatcher[0].dispatcher->pick.epoch, 0);
	rig_destroy(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packet_goes_before_its_deadline_and_never_at_it),
		cmocka_unit_test(survivors_keep_their_order),
		cmocka_unit_test(entry_in_the_middle_ends_in_the_next_pass),
		cmocka_unit_test(nothing_expires_without_a_timeout_or_without_the_time),
		cmocka_unit_test(what_was_held_before_the_time_was_told_waits_from_then_on),
		cmocka_unit_test(
			packets_held_behind_an_unroutable_worker_expire_and_their_bucket_goes_on),
		cmocka_unit_test(what_is_held_for_a_worker_expires_and_is_charged_to_it),
		cmocka_unit_test(many_that_expire_at_once_end_a_burst_at_a_time),
		cmocka_unit_test(time_of_a_dispatcher_never_steps_back),
		cmocka_unit_test(timeout_that_no_time_can_be_added_to_is_refused),
		cmocka_unit_test(state_begins_afresh_strictly_later_than_a_period),
		cmocka_unit_test(state_without_a_period_lasts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
