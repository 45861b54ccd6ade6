/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/decide: what is held for one worker and no other, and the dispatcher's time. */
#include "test.h"

#include "dispatcher.h"
#include "order_rig.h"

/* Three workers with lanes of two, all full; a hold of `hold_size`. */
static struct rig *
full_rig(enum weir_order order, uint32_t hold_size)
{
	struct weir_config config = rig_config("round-robin", 3);
	struct rig *rig;

	config.order = order;
	config.overflow = "reject";
	config.lane_size = 2;
	config.hold_size = hold_size;
	rig = rig_create(&config, 1024);
	rig->asks_not_all = true;
	assert_int_equal(rig_dispatch(rig, 6), 6);
	return rig;
}

/* Holds a new packet for `target`: whoever copies packets does so in the pipeline. */
static void
hold_for(struct rig *rig, weir_worker_id target)
{
	struct weir_dispatcher *d = rig->dispatcher[0].dispatcher;
	struct hold *hold = &d->hold;
	uint32_t newest;

	assert_int_equal(rig_dispatch(rig, 1), 0);
	rig_hold(rig, 0);
	newest = hold_index(hold, hold_count(hold) - 1);
	hold->target[newest] = target;
	if (d->pins)
		d->pins[hold->metadata[newest].bucket].held--;
	rig_check(rig);
}

/* The packet that came `back`-th last, and from whom. */
static const struct rig_packet *
ended(const struct rig *rig, uint32_t back)
{
	return rig->dispatcher[0].ended[rig->dispatcher[0].n_ended - back];
}

static void
what_is_held_for_a_worker_goes_to_it_and_no_other(void **state)
{
	struct rig *rig = full_rig(WEIR_ORDER_NONE, 64);

	(void)state;
	hold_for(rig, 1);
	/* Room elsewhere does not help. */
	rig_work(rig, 0, 2);
	rig_work(rig, 2, 2);
	rig_harvest(rig);
	assert_int_equal(order_held(rig), 1);
	rig_work(rig, 1, 1);
	rig_harvest(rig);
	assert_int_equal(order_held(rig), 0);
	assert_int_equal(rig_depth(rig, 1), 2);
	rig_drain(rig);
	assert_int_equal(ended(rig, 1)->id, 6);
	assert_int_equal(ended(rig, 1)->from, 1);
	/* The strategy was not asked for it. */
	assert_int_equal(order_index(rig), 6);
	rig_destroy(rig);
}

static void
entries_of_different_kinds_pass_each_other_but_none_of_its_own(void **state)
{
	struct rig *rig = full_rig(WEIR_ORDER_NONE, 8);

	(void)state;
	hold_for(rig, 0);		 /* 6 */
	hold_for(rig, WEIR_WORKER_NONE); /* 7: to worker 0, in turn */
	hold_for(rig, 2);		 /* 8 */
	hold_for(rig, 0);		 /* 9 */
	hold_for(rig, 2);		 /* 10 */
	rig_work(rig, 2, 2);
	rig_harvest(rig);
	/* Worker 0 is full: what is planned for it is refused, and what is for it waits. */
	assert_int_equal(order_held(rig), 3);
	rig_work(rig, 2, 2);
	assert_int_equal(rig_work(rig, 0, 2), 2);
	rig_harvest(rig);
	assert_int_equal(order_held(rig), 1);
	assert_int_equal(ended(rig, 2)->id, 8);
	assert_int_equal(ended(rig, 1)->id, 10);
	order_bring_home(rig, 1, 2);
	order_bring_home(rig, 0, 2);
	assert_int_equal(ended(rig, 2)->id, 6);
	assert_int_equal(ended(rig, 1)->id, 7);
	order_bring_home(rig, 0, 1);
	assert_int_equal(ended(rig, 1)->id, 9);
	rig_destroy(rig);
}

static void
what_is_held_for_a_worker_does_not_hold_its_bucket_back(void **state)
{
	struct weir_config config = order_config("shallowest", 2);
	struct rig *rig;

	(void)state;
	config.overflow = "drop-new";
	config.lane_size = 2;
	rig = rig_create(&config, 64);
	assert_goes(rig, { 7, 0 }, { 7, 0 }, { 8, 1 });
	assert_int_equal(weir_pool_set_state(rig->pool, 0, WEIR_WORKER_DRAINING), 0);
	assert_goes(rig, { 7, HELD });
	/* As if it were a copy for worker 1. */
	rig->dispatcher[0].dispatcher->hold.target[0] = 1;
	rig->dispatcher[0].dispatcher->pins[7].held = 0;
	rig_check(rig);
	order_bring_home(rig, 0, 2);
	assert_int_equal(order_held(rig), 0);
	assert_int_equal(rig_depth(rig, 1), 2);
	assert_int_equal(rig->dispatcher[0].dispatcher->pins[7].worker, 0);
	rig_check_pins(rig);
	rig_destroy(rig);
}

static void
what_is_held_for_a_worker_that_leaves_ends_as_dead_worker(void **state)
{
	struct rig *rig = full_rig(WEIR_ORDER_NONE, 64);

	(void)state;
	hold_for(rig, 1);
	hold_for(rig, 1);
	assert_int_equal(weir_pool_set_state(rig->pool, 1, WEIR_WORKER_DRAINING), 0);
	rig_harvest(rig);
	assert_int_equal(order_held(rig), 0);
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_DEAD_WORKER], 2);
	assert_int_equal(rig_worker_counters(rig, 0, 1).dropped[WEIR_REASON_DEAD_WORKER], 2);
	rig_destroy(rig);
}

static void
time_of_a_dispatcher_never_steps_back(void **state)
{
	struct rig *rig = full_rig(WEIR_ORDER_NONE, 0);
	struct weir_dispatcher *d = rig->dispatcher[0].dispatcher;

	(void)state;
	assert_int_equal(d->pick.now_ns, 0);
	weir_time_set(d, 1000);
	assert_int_equal(d->pick.now_ns, 1000);
	weir_time_set(d, 999);
	assert_int_equal(d->pick.now_ns, 1000);
	weir_time_set(d, 1001);
	assert_int_equal(d->pick.now_ns, 1001);
	rig_destroy(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_held_for_a_worker_goes_to_it_and_no_other),
		cmocka_unit_test(entries_of_different_kinds_pass_each_other_but_none_of_its_own),
		cmocka_unit_test(what_is_held_for_a_worker_does_not_hold_its_bucket_back),
		cmocka_unit_test(what_is_held_for_a_worker_that_leaves_ends_as_dead_worker),
		cmocka_unit_test(time_of_a_dispatcher_never_steps_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
