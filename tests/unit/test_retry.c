/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/decide: retries (X13): a packet whose lane is full tries others, as many as its class says.
 */
#include "test.h"

#include "dispatcher.h"
#include "order_rig.h"

/* Workers with lanes of one; packets are of class 1, which may retry. */
static struct rig *
retry_rig(const char *strategy, uint32_t n_workers, uint32_t retries, const char *overflow,
	enum weir_order order)
{
	const struct weir_class classes[] = { { .retries = retries } };
	struct weir_config config = rig_config(strategy, n_workers);
	struct rig *rig;

	config.order = order;
	config.lane_size = 1;
	config.overflow = overflow;
	config.classes = classes;
	config.n_classes = 1;
	rig = rig_create(&config, 1024);
	rig->class_id = 1;
	return rig;
}

/* X13: two retries and nobody has room: three attempts, and that is that. */
static void
packet_that_nobody_has_room_for_ends_after_its_retries(void **state)
{
	struct rig *rig = retry_rig("round-robin", 5, 2, "drop-new", WEIR_ORDER_NONE);

	(void)state;
	assert_int_equal(rig_dispatch(rig, 5), 5);
	assert_int_equal(rig_counters(rig, 0).retries, 0);
	assert_int_equal(rig_dispatch(rig, 1), 1);
	assert_int_equal(rig_counters(rig, 0).retries, 2);
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_RETRY_EXHAUSTED], 1);
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_OVERFLOW_DROP_NEW], 0);
	/* Charged to the worker that was picked. */
	assert_int_equal(rig_last(rig, 1)->charged, 0);
	assert_int_equal(rig_worker_counters(rig, 0, 0).dropped[WEIR_REASON_RETRY_EXHAUSTED], 1);
	rig_destroy(rig);
}

static void
under_reject_the_packet_is_refused_after_its_retries(void **state)
{
	struct rig *rig = retry_rig("round-robin", 5, 2, "reject", WEIR_ORDER_NONE);

	(void)state;
	assert_int_equal(rig_dispatch(rig, 5), 5);
	assert_int_equal(rig_dispatch(rig, 2), 0);
	assert_int_equal(rig_counters(rig, 0).retries, 2);
	assert_int_equal(order_index(rig), 5);
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_RETRY_EXHAUSTED], 0);
	rig_work(rig, 2, 1);
	/* Asked again: picked is 0, 1 is full, 2 has room. */
	assert_int_equal(rig_retry(rig, 0), 1);
	assert_int_equal(rig_last(rig, 2)->charged, 2);
	rig_destroy(rig);
}

static void
packet_goes_to_the_next_worker_in_rotation_that_has_room(void **state)
{
	struct rig *rig = retry_rig("first", 4, 3, "drop-new", WEIR_ORDER_NONE);

	(void)state;
	assert_routes(rig, 0, 1, 2, 3);
	assert_int_equal(rig_counters(rig, 0).retries, 1 + 2 + 3);
	rig_work(rig, 2, 1);
	assert_routes(rig, 2);
	rig_destroy(rig);
	/* Round the end. */
	rig = retry_rig("last", 3, 1, "drop-new", WEIR_ORDER_NONE);
	assert_routes(rig, 2, 0);
	rig_destroy(rig);
}

static void
worker_0_finishes(struct rig *rig)
{
	rig_work(rig, 0, 1);
}

/* What finishes after the harvest pass is found: progress is read before a lane counts as full. */
static void
worker_that_has_just_finished_is_found(void **state)
{
	struct rig *rig = retry_rig("last", 3, 1, "drop-new", WEIR_ORDER_FLOW);

	(void)state;
	assert_goes(rig, { 1, 2 }, { 2, 0 });
	rig->class_id = 0;
	order_remove(rig, 2);
	assert_goes(rig, { 3, 1 });
	order_add(rig, 2);
	rig->class_id = 1;
	rig_work(rig, 1, 1);
	rig->on_finish = worker_0_finishes;
	assert_goes(rig, { 4, 0 });
	rig_destroy(rig);
}

static void
each_other_worker_is_tried_at_most_once(void **state)
{
	struct rig *rig = retry_rig("round-robin", 3, 200, "drop-new", WEIR_ORDER_NONE);

	(void)state;
	assert_int_equal(rig_dispatch(rig, 3), 3);
	assert_int_equal(rig_dispatch(rig, 1), 1);
	assert_int_equal(rig_counters(rig, 0).retries, 2);
	rig_destroy(rig);
}

static void
packets_without_retries_overflow_as_ever(void **state)
{
	struct rig *rig = retry_rig("first", 3, 2, "drop-new", WEIR_ORDER_NONE);

	(void)state;
	rig->class_id = 0;
	assert_routes(rig, 0, 0);
	assert_int_equal(rig_counters(rig, 0).retries, 0);
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_OVERFLOW_DROP_NEW], 1);
	/* Nor do those of a class that is no class. */
	rig->class_id = 255;
	assert_routes(rig, 0);
	assert_int_equal(rig_counters(rig, 0).retries, 0);
	rig_destroy(rig);
}

static void
packet_of_a_bucket_that_is_out_stays_with_its_worker(void **state)
{
	struct rig *rig = retry_rig("first", 3, 2, "drop-new", WEIR_ORDER_FLOW);

	(void)state;
	assert_goes(rig, { 7, 0 });
	assert_goes(rig, { 7, 0 }, { 8, 1 });
	assert_int_equal(rig_counters(rig, 0).retries, 1);
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_OVERFLOW_DROP_NEW], 1);
	rig_destroy(rig);
}

static void
packets_of_a_bucket_follow_the_first_of_them_to_where_it_found_room(void **state)
{
	struct weir_class class = { .retries = 2 };
	struct weir_config config = order_config("first", 3);
	struct rig *rig;

	(void)state;
	config.lane_size = 3;
	config.classes = &class;
	config.n_classes = 1;
	rig = rig_create(&config, 64);
	rig->class_id = 1;
	assert_goes(rig, { 1, 0 }, { 1, 0 }, { 1, 0 });
	assert_goes(rig, { 2, 1 }, { 1, 0 }, { 2, 1 }, { 3, 1 }, { 2, 1 });
	/* 1 is out at worker 0, and 2 at worker 1: neither finds room nor may go elsewhere. */
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_OVERFLOW_DROP_NEW], 2);
	assert_int_equal(rig_counters(rig, 0).retries, 2);
	rig_destroy(rig);
}

/* X13: the owner comes first. The hashes give their ownership up, but only of buckets that have
 * nothing out. */
static void
packet_that_leaves_its_owner_holds_its_bucket_until_it_is_home(void **state)
{
	struct rig *rig = retry_rig("rendezvous", 2, 1, "drop-new", WEIR_ORDER_FLOW);
	const struct weir_snapshot *snapshot = rig->dispatcher[0].dispatcher->snapshot;
	struct weir_pick_context pick = rig->dispatcher[0].dispatcher->pick;
	uint16_t owned[2] = { 0 }; /* two buckets of worker 0 */
	uint32_t n = 0;

	(void)state;
	for (uint32_t bucket = 0; n < 2; bucket++) {
		const struct weir_meta meta = { .bucket = (uint16_t)bucket };
		uint16_t position;

		snapshot->route[0].strategy->pick_burst(&pick, &meta, 1, &position);
		if (position == 0)
			owned[n++] = (uint16_t)bucket;
	}
	assert_goes(rig, { owned[0], 0 }, { owned[1], 1 });
	assert_int_equal(rig_counters(rig, 0).retries, 1);
	order_bring_home(rig, 0, 1);
	/* Its owner has room again, but what left is out elsewhere. */
	assert_goes(rig, { owned[1], HELD });
	order_bring_home(rig, 1, 1);
	assert_int_equal(order_held(rig), 0);
	assert_int_equal(order_pin(rig, owned[1]), 0);
	rig_destroy(rig);
}

static void
bucket_that_sticks_does_not_retry(void **state)
{
	struct weir_class class = { .retries = 2 };
	struct weir_config config = order_config("first", 3);
	struct rig *rig;

	(void)state;
	config.lane_size = 1;
	config.sticky_ns = 1000;
	config.classes = &class;
	config.n_classes = 1;
	rig = rig_create(&config, 64);
	rig->class_id = 1;
	rig->time_ns = 100;
	assert_goes(rig, { 7, 0 });
	order_bring_home(rig, 0, 1);
	assert_goes(rig, { 8, 0 });
	/* 7 has nothing out, but was not silent long enough to leave. */
	assert_goes(rig, { 7, 0 }, { 9, 1 });
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_OVERFLOW_DROP_NEW], 1);
	rig_destroy(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packet_that_nobody_has_room_for_ends_after_its_retries),
		cmocka_unit_test(under_reject_the_packet_is_refused_after_its_retries),
		cmocka_unit_test(packet_goes_to_the_next_worker_in_rotation_that_has_room),
		cmocka_unit_test(worker_that_has_just_finished_is_found),
		cmocka_unit_test(each_other_worker_is_tried_at_most_once),
		cmocka_unit_test(packets_without_retries_overflow_as_ever),
		cmocka_unit_test(packet_of_a_bucket_that_is_out_stays_with_its_worker),
		cmocka_unit_test(
			packets_of_a_bucket_follow_the_first_of_them_to_where_it_found_room),
		cmocka_unit_test(packet_that_leaves_its_owner_holds_its_bucket_until_it_is_home),
		cmocka_unit_test(bucket_that_sticks_does_not_retry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
