/* SPDX-License-Identifier: BSD-3-Clause */
/* first (X1): the first routable worker, the others stand by. */
#include "test.h"

#include "rig.h"

static void
x1_everything_goes_to_the_first_worker_whatever_its_depth(void **state)
{
	const struct weir_config config = rig_config("first", 4);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_routes(rig, 0, 0, 0, 0);
	assert_routes_singly(rig, 0, 0, 0, 0);
	assert_int_equal(rig_depth(rig, 0), 8);
	rig_destroy(rig);
}

static void
x1_the_next_in_pool_order_takes_over_when_it_stops(void **state)
{
	const struct weir_config config = rig_config("first", 4);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_int_equal(weir_pool_set_state(rig->pool, 0, WEIR_WORKER_STOPPED), 0);
	assert_routes(rig, 1, 1);
	assert_int_equal(weir_pool_set_state(rig->pool, 1, WEIR_WORKER_DRAINING), 0);
	assert_routes(rig, 2, 2);
	assert_int_equal(weir_pool_remove(rig->pool, 2), 0);
	assert_routes(rig, 3, 3);
	rig_destroy(rig);
}

/* X1: a, whatever is added behind it and whatever the key; b from the first packet without a. */
static void
x1_the_vector_of_the_source(void **state)
{
	const struct weir_config config = rig_config("first", 4);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_int_equal(weir_pool_remove(rig->pool, 3), 0);
	for (rig->bucket = 0; rig->bucket < 3; rig->bucket++)
		assert_routes_singly(rig, 0);
	assert_int_equal(weir_pool_add(rig->pool, 3), 0);
	assert_int_equal(weir_pool_set_state(rig->pool, 3, WEIR_WORKER_READY), 0);
	assert_routes(rig, 0);
	assert_int_equal(weir_pool_remove(rig->pool, 0), 0);
	assert_routes(rig, 1);
	for (weir_worker_id id = 1; id < 3; id++)
		assert_int_equal(weir_pool_remove(rig->pool, id), 0);
	assert_routes(rig, 3);
	rig_destroy(rig);
}

static void
a_worker_that_comes_back_stands_last(void **state)
{
	const struct weir_config config = rig_config("first", 2);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_int_equal(weir_pool_remove(rig->pool, 0), 0);
	assert_int_equal(weir_pool_add(rig->pool, 0), 0);
	assert_int_equal(weir_pool_set_state(rig->pool, 0, WEIR_WORKER_READY), 0);
	assert_routes(rig, 1, 1);
	rig_destroy(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x1_everything_goes_to_the_first_worker_whatever_its_depth),
		cmocka_unit_test(x1_the_next_in_pool_order_takes_over_when_it_stops),
		cmocka_unit_test(x1_the_vector_of_the_source),
		cmocka_unit_test(a_worker_that_comes_back_stands_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
