/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/decide: budgets, deadlines, admission and retries of classes, and of copies for all workers.
 */
#include "test.h"

#include "dispatcher.h"
#include "order_rig.h"

/* A pool whose class 1 is as given. */
static struct rig *
waits_rig(struct weir_config config, struct weir_class class)
{
	struct rig *rig;

	config.classes = &class;
	config.n_classes = 1;
	rig = rig_create(&config, 1024);
	rig->class_id = 1;
	return rig;
}

static struct weir_config
waits_config(uint32_t n_workers, uint32_t lane_size, uint32_t budget_pkts)
{
	struct weir_config config = rig_config("shallowest", n_workers);

	config.lane_size = lane_size;
	config.budget_pkts = budget_pkts;
	config.hold_size = 64;
	return config;
}

static uint32_t
class_depth(const struct rig *rig, weir_worker_id id)
{
	return rig->dispatcher[0].dispatcher->class_books.depth[weir_class_slot(1, id)];
}

/* N15 on the path of classes, and with either order. */
static void
class_with_a_strategy_keeps_to_the_budget(void **state)
{
	(void)state;
	for (int order = WEIR_ORDER_NONE; order <= WEIR_ORDER_FLOW; order++) {
		struct weir_config config = waits_config(2, 64, 1);
		struct rig *rig;

		config.order = (enum weir_order)order;
		rig = waits_rig(config, (struct weir_class) { .strategy = "round-robin" });
		assert_routes(rig, 0, 1, HELD);
		assert_int_equal(rig->dispatcher[0].dispatcher->part[ROUTE_PARTS].index, 2);
		/* One of another class stands behind it. */
		rig->class_id = 0;
		assert_routes(rig, HELD);
		order_bring_home(rig, 1, 1);
		assert_int_equal(order_held(rig), 1);
		assert_int_equal(rig_depth(rig, 1), 1);
		assert_int_equal(rig->dispatcher[0].dispatcher->part[ROUTE_PARTS].index, 3);
		order_bring_home(rig, 1, 1);
		assert_int_equal(rig->dispatcher[0].ended[1]->id, 2);
		assert_int_equal(order_held(rig), 0);
		rig_destroy(rig);
	}
}

/* Who waits for its owner lets others go to whom it does not wait for, and the other way round. */
static void
owners_wait_for_theirs_and_others_for_anybody(void **state)
{
	struct rig *rig =
		waits_rig(waits_config(2, 64, 1), (struct weir_class) { .strategy = "rendezvous" });
	weir_worker_id owner;

	(void)state;
	rig->bucket = 7;
	assert_int_equal(rig_dispatch(rig, 1), 1);
	owner = rig_last(rig, 1)->charged;
	assert_routes(rig, HELD);
	rig->class_id = 0;
	assert_routes(rig, !owner, HELD, HELD);
	assert_int_equal(order_held(rig), 3);
	order_bring_home(rig, !owner, 1);
	assert_int_equal(order_held(rig), 2);
	assert_int_equal(rig_depth(rig, !owner), 1);
	/* The owner's packet is older than the one that waits for anybody. */
	order_bring_home(rig, owner, 1);
	assert_int_equal(order_held(rig), 1);
	order_bring_home(rig, owner, 1);
	assert_int_equal(rig->dispatcher[0].ended[2]->id, 1);
	assert_int_equal(order_held(rig), 0);
	rig_destroy(rig);
}

static void
x13_class_with_a_strategy_is_retried(void **state)
{
	struct rig *rig = waits_rig(
		waits_config(3, 1, 0), (struct weir_class) { .strategy = "first", .retries = 1 });

	(void)state;
	assert_routes(rig, 0, 1, 0);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_RETRY_EXHAUSTED), 1);
	assert_int_equal(rig_counters(rig, 0).retries, 2);
	assert_int_equal(rig_depth(rig, 2), 0);
	rig_destroy(rig);
}

static void
x12_class_with_a_strategy_discards_later_ones(void **state)
{
	struct rig *rig =
		waits_rig(waits_config(2, 64, 0), (struct weir_class) { .strategy = "round-robin",
							  .admission = WEIR_ADMIT_DISCARD_LATER });

	(void)state;
	assert_routes(rig, 0, 1, 0, 1);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_BUSY_DISCARD), 2);
	order_bring_home(rig, 1, 1);
	assert_routes(rig, 0, 1);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_BUSY_DISCARD), 3);
	rig_destroy(rig);
}

static void
x12_each_worker_admits_its_copy_by_itself(void **state)
{
	struct rig *rig =
		waits_rig(waits_config(3, 64, 0), (struct weir_class) { .strategy = "broadcast",
							  .admission = WEIR_ADMIT_DISCARD_LATER });

	(void)state;
	assert_int_equal(rig_dispatch(rig, 1), 1);
	order_bring_home(rig, 1, 1);
	assert_int_equal(rig_dispatch(rig, 1), 1);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_BUSY_DISCARD), 2);
	assert_int_equal(rig_worker_counters(rig, 0, 0).dropped[WEIR_REASON_BUSY_DISCARD], 1);
	assert_int_equal(rig_worker_counters(rig, 0, 2).dropped[WEIR_REASON_BUSY_DISCARD], 1);
	/* Nobody lets it in: the packet itself ends. */
	assert_int_equal(rig_dispatch(rig, 1), 1);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_BUSY_DISCARD), 5);
	for (weir_worker_id id = 0; id < 3; id++)
		assert_int_equal(class_depth(rig, id), 1);
	rig_drain(rig);
	for (weir_worker_id id = 0; id < 3; id++)
		assert_int_equal(class_depth(rig, id), 0);
	rig_destroy(rig);
}

static void
x12_a_newer_copy_covers_those_queued_at_its_worker(void **state)
{
	struct rig *rig = waits_rig(
		waits_config(2, 64, 0), (struct weir_class) { .strategy = "shard-broadcast",
						.admission = WEIR_ADMIT_COVER_EARLY });

	(void)state;
	assert_int_equal(rig_dispatch(rig, 1), 1);
	assert_int_equal(rig_work(rig, 0, 8), 1);
	assert_int_equal(rig_dispatch(rig, 2), 2);
	rig_drain(rig);
	/* Worker 0: the second of three; worker 1: the first two. */
	assert_int_equal(rig_dropped(rig, WEIR_REASON_COVERED), 3);
	rig_destroy(rig);
}

/* A copy that waited for its worker is asked again when there is room. */
static void
x12_a_held_copy_is_admitted_when_it_goes(void **state)
{
	struct weir_config config = waits_config(2, 1, 0);
	struct rig *rig;

	(void)state;
	config.overflow = "reject";
	rig = waits_rig(config, (struct weir_class) { .strategy = "broadcast",
					.admission = WEIR_ADMIT_DISCARD_LATER });
	rig->class_id = 0;
	assert_routes(rig, 0, 1);
	rig->class_id = 1;
	assert_int_equal(rig_dispatch(rig, 2), 2);
	assert_int_equal(weir_held(rig->dispatcher[0].dispatcher), 4);
	order_bring_home(rig, 0, 1);
	assert_int_equal(class_depth(rig, 0), 1);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_BUSY_DISCARD), 1);
	assert_int_equal(weir_held(rig->dispatcher[0].dispatcher), 2);
	rig_destroy(rig);
}

static void
no_budget_holds_a_copy_back_and_it_takes_up_budget(void **state)
{
	struct rig *rig =
		waits_rig(waits_config(2, 64, 2), (struct weir_class) { .strategy = "broadcast" });

	(void)state;
	assert_int_equal(rig_dispatch(rig, 3), 3);
	assert_int_equal(rig_depth(rig, 0), 3);
	assert_int_equal(rig_depth(rig, 1), 3);
	rig->class_id = 0;
	assert_routes(rig, HELD);
	order_bring_home(rig, 1, 1);
	assert_int_equal(order_held(rig), 1);
	order_bring_home(rig, 1, 1);
	assert_int_equal(order_held(rig), 0);
	assert_int_equal(rig_depth(rig, 1), 2);
	rig_destroy(rig);
}

/* N16 */
static void
copies_that_wait_for_their_workers_have_a_deadline(void **state)
{
	struct weir_config config = waits_config(2, 1, 0);
	struct rig *rig;

	(void)state;
	config.overflow = "reject";
	config.hold_timeout_ns = 100;
	rig = waits_rig(config, (struct weir_class) { .strategy = "broadcast" });
	rig_time(rig, 10);
	assert_int_equal(rig_dispatch(rig, 2), 2);
	assert_int_equal(weir_held(rig->dispatcher[0].dispatcher), 2);
	rig_time(rig, 109);
	rig_harvest(rig);
	assert_false(weir_accepts(rig->dispatcher[0].dispatcher));
	rig_time(rig, 110);
	rig_harvest(rig);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_HOLD_TIMEOUT), 2);
	assert_true(weir_accepts(rig->dispatcher[0].dispatcher));
	rig_destroy(rig);
}

static void
x13_retries_of_what_goes_to_all_are_refused(void **state)
{
	struct weir_class class = { .strategy = "shard-broadcast", .retries = 2 };
	struct weir_config config = rig_config("first", 2);
	struct weir_config_error error;

	(void)state;
	config.classes = &class;
	config.n_classes = 1;
	assert_int_equal(weir_config_check(&config, &error), -EINVAL);
	assert_string_equal(error.field, "classes[0].retries");
	assert_string_equal(error.value, "2");
	class.strategy = NULL;
	assert_int_equal(weir_config_check(&config, &error), 0);
	config.strategy = "broadcast";
	assert_int_equal(weir_config_check(&config, &error), -EINVAL);
	class.retries = 0;
	assert_int_equal(weir_config_check(&config, &error), 0);
}

/* X12, X13 and N15 of one class at once. */
static void
budget_retry_and_admission_work_together(void **state)
{
	struct rig *rig = waits_rig(waits_config(3, 2, 1),
		(struct weir_class) {
			.strategy = "first", .retries = 2, .admission = WEIR_ADMIT_DISCARD_LATER });

	(void)state;
	/* The budget sends each to the next; what finds none left waits, and is not discarded. */
	assert_routes(rig, 0, 1, 2, HELD);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_BUSY_DISCARD), 0);
	order_bring_home(rig, 2, 1);
	assert_int_equal(order_held(rig), 0);
	assert_int_equal(rig_depth(rig, 2), 1);
	rig_drain(rig);
	assert_int_equal(rig_ledger(rig).completed, 4);
	rig_destroy(rig);
}

/* Who copies nothing does not look at the flag, whether packets are of classes or not. */
static void
without_a_copy_function_a_packet_for_all_is_like_any_other(void **state)
{
	struct rig *rig = waits_rig(
		waits_config(2, 64, 0), (struct weir_class) { .strategy = "round-robin" });

	(void)state;
	rig->flags = WEIR_META_TO_ALL;
	assert_routes(rig, 0, 1, 0);
	assert_int_equal(rig_ledger(rig).copies, 0);
	for (weir_worker_id id = 0; id < 2; id++)
		assert_int_equal(weir_pool_set_state(rig->pool, id, WEIR_WORKER_DRAINING), 0);
	assert_routes(rig, 1, 0);
	assert_int_equal(rig->dispatcher[0].dispatcher->part[ROUTE_PARTS].index, 5);
	rig_destroy(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(class_with_a_strategy_keeps_to_the_budget),
		cmocka_unit_test(owners_wait_for_theirs_and_others_for_anybody),
		cmocka_unit_test(x13_class_with_a_strategy_is_retried),
		cmocka_unit_test(x12_class_with_a_strategy_discards_later_ones),
		cmocka_unit_test(x12_each_worker_admits_its_copy_by_itself),
		cmocka_unit_test(x12_a_newer_copy_covers_those_queued_at_its_worker),
		cmocka_unit_test(x12_a_held_copy_is_admitted_when_it_goes),
		cmocka_unit_test(no_budget_holds_a_copy_back_and_it_takes_up_budget),
		cmocka_unit_test(copies_that_wait_for_their_workers_have_a_deadline),
		cmocka_unit_test(x13_retries_of_what_goes_to_all_are_refused),
		cmocka_unit_test(budget_retry_and_admission_work_together),
		cmocka_unit_test(without_a_copy_function_a_packet_for_all_is_like_any_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
