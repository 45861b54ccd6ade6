/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * least-recent: each worker in turn, a newcomer behind everyone. Of the defects in its source, XB5
 * (losers of a race work on an orphan map) and XB6 (a read changes a shared map) can't be had:
 * there is no map, and each state has one writer.
 */
#include "test.h"

#include "class_model.h"
#include "pick.h"
#include "rig.h"

enum { A, B, C, D };

static const weir_worker_id abc[] = { A, B, C };
static const weir_worker_id acd[] = { A, C, D };

static void
x7_seven_picks_of_three_go_a_b_c_a_b_c_a(void **state)
{
	const struct weir_config config = rig_config("least-recent", 3);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_routes(rig, A, B, C, A, B, C, A);
	rig_destroy(rig);
}

static void
x7_after_b_left_and_d_came_picks_go_c_a_d_c_a_d(void **state)
{
	struct pick *pick = pick_create("least-recent", 3);

	(void)state;
	assert_class_picks(pick, 0, A, B, C, A, B, C, A);
	pick_change_pool(pick, acd, 3);
	assert_class_picks(pick, 0, C, A, D, C, A, D);
	pick_destroy(pick);
}

static void
x7_a_real_pool_does_the_same(void **state)
{
	const struct weir_config config = rig_config("least-recent", 4);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_int_equal(weir_pool_remove(rig->pool, D), 0);
	assert_routes(rig, A, B, C, A, B, C, A);
	assert_int_equal(weir_pool_remove(rig->pool, B), 0);
	assert_int_equal(weir_pool_add(rig->pool, D), 0);
	assert_int_equal(weir_pool_set_state(rig->pool, D, WEIR_WORKER_READY), 0);
	assert_routes_singly(rig, C, A, D);
	assert_routes(rig, C, A, D);
	rig_destroy(rig);
}

static void
x7_first_pick_of_every_class_is_the_first_worker(void **state)
{
	static const weir_worker_id ids[] = { 9, 200, 3 };
	struct pick *pick = pick_create_for("least-recent", ids, 3);

	(void)state;
	for (uint32_t class_id = 0; class_id < WEIR_CLASSES_MAX; class_id++)
		assert_class_picks(pick, (uint8_t)class_id, 9, 200, 3, 9);
	pick_destroy(pick);
}

static void
x7_another_order_of_the_same_pool_moves_nobody(void **state)
{
	static const weir_worker_id cab[] = { C, A, B };
	struct pick *pick = pick_create_for("least-recent", abc, 3);

	(void)state;
	assert_class_picks(pick, 0, A);
	pick_change_pool(pick, cab, 3);
	assert_class_picks(pick, 0, B, C, A, B);
	pick_destroy(pick);
}

static void
several_newcomers_wait_behind_everyone_in_pool_order(void **state)
{
	static const weir_worker_id some[] = { 8, 9 };
	static const weir_worker_id more[] = { 7, 8, 6, 9, 5 };
	struct pick *pick = pick_create_for("least-recent", some, 2);

	(void)state;
	assert_class_picks(pick, 0, 8);
	pick_change_pool(pick, more, 5);
	assert_class_picks(pick, 0, 9, 8, 7, 6, 5, 9);
	pick_destroy(pick);
}

static void
nobody_of_the_old_pool_is_left(void **state)
{
	static const weir_worker_id others[] = { 17, 255 };
	struct pick *pick = pick_create_for("least-recent", abc, 3);

	(void)state;
	assert_class_picks(pick, 0, A, B);
	pick_change_pool(pick, others, 2);
	assert_class_picks(pick, 0, 17, 255, 17);
	pick_destroy(pick);
}

static void
classes_take_turns_of_their_own(void **state)
{
	struct pick *pick = pick_create("least-recent", 3);

	(void)state;
	assert_class_picks(pick, 0, A, B);
	assert_class_picks(pick, 63, A);
	assert_class_picks(pick, 0, C);
	assert_class_picks(pick, 63, B, C, A);
	assert_class_picks(pick, 0, A);
	pick_destroy(pick);
}

static void
xb18_a_class_out_of_range_counts_for_none(void **state)
{
	struct pick *pick = pick_create("least-recent", 3);

	(void)state;
	assert_class_picks(pick, 0, A);
	assert_class_picks(pick, 64, B);
	assert_class_picks(pick, 255, C);
	assert_class_picks(pick, 0, A);
	assert_class_picks(pick, 63, A);
	pick_destroy(pick);
}

static void
xb18_state_has_one_size_whatever_is_routed(void **state)
{
	const struct weir_strategy *strategy = weir_strategy_find("least-recent");

	(void)state;
	assert_in_range(strategy->state_bytes, 64 * 256 * 2 * sizeof(uint16_t), 72 * 1024);
}

static void
x0b_a_new_epoch_begins_every_class_afresh_at_its_next_use(void **state)
{
	struct pick *pick = pick_create("least-recent", 3);

	(void)state;
	assert_class_picks(pick, 1, A, B);
	assert_class_picks(pick, 2, A);
	pick->context.epoch++;
	assert_class_picks(pick, 1, A, B);
	pick->context.epoch += 5;
	assert_class_picks(pick, 2, A, B, C);
	assert_class_picks(pick, 1, A);
	pick_destroy(pick);
}

static void
withdrawn_picks_are_picked_again(void **state)
{
	struct pick *pick = pick_create("least-recent", 3);

	(void)state;
	pick_burst(pick, 5);
	pick_withdraw(pick, 5, 2);
	assert_class_picks(pick, 0, C, A);
	pick_burst(pick, 256);
	pick_withdraw(pick, 256, 0);
	assert_class_picks(pick, 0, B);
	pick_withdraw(pick, 1, 1);
	assert_class_picks(pick, 0, C);
	pick_destroy(pick);
}

static void
a_chunk_is_one_turn(void **state)
{
	struct weir_config config = rig_config("least-recent", 3);
	struct rig *rig;

	(void)state;
	config.chunk = 4;
	rig = rig_create(&config, 64);
	assert_routes(rig, A, A, A, A, B, B, B, B, C, C);
	assert_routes(rig, A, A, A, A, B);
	rig_destroy(rig);
}

static void
xb7_picks_equal_a_model_while_the_pool_changes_at_random(void **state)
{
	struct test_random random = test_random_start(__func__);

	(void)state;
	class_model_compare("least-recent", false, 4000, &random);
}

/* XB1, XB2, XB4. */
static void
xb4_each_dispatcher_takes_turns_of_its_own(void **state)
{
	struct weir_config config = rig_config("least-recent", 3);
	struct rig *rig;

	(void)state;
	config.n_dispatchers = 2;
	rig = rig_create(&config, 64);
	rig_dispatch_from(rig, 0, 2);
	rig_dispatch_from(rig, 1, 1);
	rig_dispatch_from(rig, 0, 1);
	rig_dispatch_from(rig, 1, 2);
	for (uint32_t d = 0; d < 2; d++) {
		for (uint32_t i = 0; i < 3; i++)
			assert_int_equal(rig->dispatcher[d].packets[i].charged, i);
	}
	rig_destroy(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x7_seven_picks_of_three_go_a_b_c_a_b_c_a),
		cmocka_unit_test(x7_after_b_left_and_d_came_picks_go_c_a_d_c_a_d),
		cmocka_unit_test(x7_a_real_pool_does_the_same),
		cmocka_unit_test(x7_first_pick_of_every_class_is_the_first_worker),
		cmocka_unit_test(x7_another_order_of_the_same_pool_moves_nobody),
		cmocka_unit_test(several_newcomers_wait_behind_everyone_in_pool_order),
		cmocka_unit_test(nobody_of_the_old_pool_is_left),
		cmocka_unit_test(classes_take_turns_of_their_own),
		cmocka_unit_test(xb18_a_class_out_of_range_counts_for_none),
		cmocka_unit_test(xb18_state_has_one_size_whatever_is_routed),
		cmocka_unit_test(x0b_a_new_epoch_begins_every_class_afresh_at_its_next_use),
		cmocka_unit_test(withdrawn_picks_are_picked_again),
		cmocka_unit_test(a_chunk_is_one_turn),
		cmocka_unit_test(xb7_picks_equal_a_model_while_the_pool_changes_at_random),
		cmocka_unit_test(xb4_each_dispatcher_takes_turns_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
