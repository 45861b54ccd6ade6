/* SPDX-License-Identifier: BSD-3-Clause */
/* shard-broadcast: each routable worker gets each packet and is told which of how many it is. */
#include "test.h"

#include "rig.h"

static void
assert_shard(struct rig *rig, weir_worker_id id, uint8_t index, uint8_t last)
{
	assert_int_equal(rig_take(rig, id, 1), 1);
	assert_int_equal(rig->worker[id].taken[0].meta.shard_index, index);
	assert_int_equal(rig->worker[id].taken[0].meta.shard_last, last);
	rig_complete(rig, id, 1, weir_verdict_consumed());
}

static void
x10_copies_are_numbered_in_pool_order(void **state)
{
	const struct weir_config config = rig_config("shard-broadcast", 4);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_int_equal(rig_dispatch(rig, 2), 2);
	for (uint32_t packet = 0; packet < 2; packet++) {
		for (weir_worker_id id = 0; id < 4; id++)
			assert_shard(rig, id, (uint8_t)id, 3);
	}
	rig_destroy(rig);
}

static void
x10_256_workers_have_numbers_0_to_255(void **state)
{
	struct weir_config config = rig_config("shard-broadcast", 256);
	struct rig *rig = rig_create(&config, 40);

	(void)state;
	assert_int_equal(rig_dispatch(rig, 32), 32);
	for (uint32_t packet = 0; packet < 32; packet++) {
		for (uint32_t id = 0; id < 256; id++)
			assert_shard(rig, (weir_worker_id)id, (uint8_t)id, 255);
	}
	rig_destroy(rig);
}

static void
x10_numbers_are_of_the_routable_ones_in_one_snapshot(void **state)
{
	const struct weir_config config = rig_config("shard-broadcast", 4);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_int_equal(rig_dispatch(rig, 1), 1);
	assert_int_equal(weir_pool_remove(rig->pool, 1), 0);
	assert_int_equal(rig_dispatch(rig, 1), 1);
	for (weir_worker_id id = 0; id < 4; id++)
		assert_shard(rig, id, (uint8_t)id, 3);
	assert_shard(rig, 0, 0, 2);
	assert_shard(rig, 2, 1, 2);
	assert_shard(rig, 3, 2, 2);
	rig_destroy(rig);
}

/* Four workers whose lanes are full of one packet each; the next one's copies wait. */
static struct rig *
rig_with_held_shards(void)
{
	struct weir_config config = rig_config("shard-broadcast", 4);
	struct rig *rig;

	config.lane_size = 1;
	config.overflow = "reject";
	rig = rig_create(&config, 64);
	rig->copies_move = true;
	assert_int_equal(rig_dispatch(rig, 2), 2);
	assert_int_equal(weir_held(rig->dispatcher[0].dispatcher), 4);
	for (weir_worker_id id = 0; id < 4; id++)
		assert_shard(rig, id, (uint8_t)id, 3);
	return rig;
}

static void
x10_a_shard_whose_worker_left_goes_to_its_position_or_to_the_first(void **state)
{
	struct rig *rig = rig_with_held_shards();

	(void)state;
	/* Positions are now: 1 → 0, 3 → 1. Shard 0 is redone at 1, shard 2 there, too. */
	assert_int_equal(weir_pool_remove(rig->pool, 0), 0);
	assert_int_equal(weir_pool_remove(rig->pool, 2), 0);
	rig_harvest(rig);
	assert_shard(rig, 1, 0, 3);
	rig_harvest(rig);
	assert_shard(rig, 1, 1, 3);
	rig_harvest(rig);
	assert_shard(rig, 1, 2, 3);
	assert_shard(rig, 3, 3, 3);
	assert_int_equal(weir_held(rig->dispatcher[0].dispatcher), 0);
	rig_destroy(rig);
}

static void
x10_redo_of_3_of_4_after_a_shrink_to_2_goes_to_worker_0(void **state)
{
	struct rig *rig = rig_with_held_shards();

	(void)state;
	assert_int_equal(weir_pool_remove(rig->pool, 3), 0);
	assert_int_equal(weir_pool_remove(rig->pool, 2), 0);
	rig_harvest(rig);
	assert_shard(rig, 0, 0, 3);
	assert_shard(rig, 1, 1, 3);
	rig_harvest(rig);
	assert_shard(rig, 0, 2, 3);
	rig_harvest(rig);
	assert_shard(rig, 0, 3, 3);
	rig_destroy(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x10_copies_are_numbered_in_pool_order),
		cmocka_unit_test(x10_256_workers_have_numbers_0_to_255),
		cmocka_unit_test(x10_numbers_are_of_the_routable_ones_in_one_snapshot),
		cmocka_unit_test(
			x10_a_shard_whose_worker_left_goes_to_its_position_or_to_the_first),
		cmocka_unit_test(x10_redo_of_3_of_4_after_a_shrink_to_2_goes_to_worker_0),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
