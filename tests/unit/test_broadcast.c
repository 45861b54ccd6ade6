/* SPDX-License-Identifier: BSD-3-Clause */
/* broadcast: every routable worker gets each packet. */
#include "test.h"

#include "rig.h"

static void
a5_each_worker_gets_each_packet_once(void **state)
{
	const struct weir_config config = rig_config("broadcast", 3);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_int_equal(rig_dispatch(rig, 1), 1);
	for (weir_worker_id id = 0; id < 3; id++)
		assert_int_equal(rig_depth(rig, id), 1);
	assert_int_equal(rig_dispatch(rig, 9), 9);
	for (weir_worker_id id = 0; id < 3; id++)
		assert_int_equal(rig_depth(rig, id), 10);
	assert_int_equal(rig_counters(rig, 0).copies, 20);
	/* The rig checks what each sees, and that each ends once. */
	rig_drain(rig);
	assert_int_equal(rig_ledger(rig).completed, 30);
	assert_int_equal(rig->dispatcher[0].n_copies, 20);
	rig_destroy(rig);
}

static void
a2_the_index_counts_each_packet_once(void **state)
{
	const struct weir_config config = rig_config("broadcast", 3);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_int_equal(rig_dispatch(rig, 5), 5);
	assert_int_equal(weir_message_index(rig->dispatcher[0].dispatcher), 5);
	rig_destroy(rig);
}

static void
the_only_worker_gets_the_packet_itself(void **state)
{
	const struct weir_config config = rig_config("broadcast", 2);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_int_equal(weir_pool_set_state(rig->pool, 0, WEIR_WORKER_DRAINING), 0);
	assert_routes(rig, 1, 1);
	assert_int_equal(rig_counters(rig, 0).copies, 0);
	rig_destroy(rig);
}

static void
the_copies_are_not_numbered(void **state)
{
	const struct weir_config config = rig_config("broadcast", 3);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_int_equal(rig_dispatch(rig, 1), 1);
	for (weir_worker_id id = 0; id < 3; id++) {
		assert_int_equal(rig_take(rig, id, 1), 1);
		assert_int_equal(rig->worker[id].taken[0].meta.shard_index, 0);
		assert_int_equal(rig->worker[id].taken[0].meta.shard_last, 0);
	}
	rig_destroy(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a5_each_worker_gets_each_packet_once),
		cmocka_unit_test(a2_the_index_counts_each_packet_once),
		cmocka_unit_test(the_only_worker_gets_the_packet_itself),
		cmocka_unit_test(the_copies_are_not_numbered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
