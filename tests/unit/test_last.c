/* SPDX-License-Identifier: BSD-3-Clause */
/* last (X2): the last routable worker, the newest in pool order. */
#include "test.h"

#include "rig.h"

static void
x2_everything_goes_to_the_last_worker_whatever_its_depth(void **state)
{
	const struct weir_config config = rig_config("last", 4);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_routes(rig, 3, 3, 3, 3);
	assert_routes_singly(rig, 3, 3, 3, 3);
	assert_int_equal(rig_depth(rig, 3), 8);
	rig_destroy(rig);
}

static void
x2_the_one_before_it_takes_over_when_it_stops(void **state)
{
	const struct weir_config config = rig_config("last", 4);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_int_equal(weir_pool_set_state(rig->pool, 3, WEIR_WORKER_STOPPED), 0);
	assert_routes(rig, 2, 2);
	assert_int_equal(weir_pool_set_state(rig->pool, 2, WEIR_WORKER_DRAINING), 0);
	assert_routes(rig, 1, 1);
	assert_int_equal(weir_pool_remove(rig->pool, 1), 0);
	assert_routes(rig, 0, 0);
	rig_destroy(rig);
}

static void
x2_the_newest_worker_takes_over_once_it_is_ready(void **state)
{
	const struct weir_config config = rig_config("last", 3);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_int_equal(weir_pool_remove(rig->pool, 0), 0);
	assert_int_equal(weir_pool_add(rig->pool, 0), 0);
	assert_routes(rig, 2, 2);
	assert_int_equal(weir_pool_set_state(rig->pool, 0, WEIR_WORKER_READY), 0);
	assert_routes(rig, 0, 0);
	rig_destroy(rig);
}

/* X2: c, whatever the key; d from the first packet after it was added; alone, it is both ends. */
static void
x2_the_vector_of_the_source(void **state)
{
	const struct weir_config config = rig_config("last", 4);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_int_equal(weir_pool_remove(rig->pool, 3), 0);
	for (rig->bucket = 0; rig->bucket < 3; rig->bucket++)
		assert_routes_singly(rig, 2);
	assert_int_equal(weir_pool_add(rig->pool, 3), 0);
	assert_int_equal(weir_pool_set_state(rig->pool, 3, WEIR_WORKER_READY), 0);
	assert_routes(rig, 3);
	for (weir_worker_id id = 1; id < 4; id++)
		assert_int_equal(weir_pool_remove(rig->pool, id), 0);
	assert_routes(rig, 0);
	rig_destroy(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x2_everything_goes_to_the_last_worker_whatever_its_depth),
		cmocka_unit_test(x2_the_one_before_it_takes_over_when_it_stops),
		cmocka_unit_test(x2_the_newest_worker_takes_over_once_it_is_ready),
		cmocka_unit_test(x2_the_vector_of_the_source),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
