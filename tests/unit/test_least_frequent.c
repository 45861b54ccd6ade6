/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * least-frequent: the fewest packets of the class first, nobody has to catch up. Of the defects in
 * its source, XB5 (losers of a race work on an orphan map) can't be had: there is no map, and each
 * state has one writer.
 */
#include "test.h"

#include "class_model.h"
#include "pick.h"
#include "rig.h"

/* What a test sees of a sequence of picks. */
struct share {
	uint32_t n_pkts[WEIR_WORKERS_MAX];
	weir_worker_id last;
	uint32_t run; /* how often the last one was picked in a row */
	uint32_t longest_run;
};

static void
share_count(struct share *share, struct pick *pick, uint32_t n_pkts)
{
	while (n_pkts > 0) {
		const uint32_t n = n_pkts < WEIR_BURST_MAX ? n_pkts : WEIR_BURST_MAX;

		pick_burst(pick, n);
		for (uint32_t i = 0; i < n; i++) {
			const weir_worker_id worker = pick->snapshot.routable[pick->out[i]];

			share->run = worker == share->last ? share->run + 1 : 1;
			share->last = worker;
			share->n_pkts[worker]++;
			if (share->run > share->longest_run)
				share->longest_run = share->run;
		}
		n_pkts -= n;
	}
}

/* Counts go round their 16 bits fifty times. */
static void
x6_three_workers_get_a_third_each_of_ten_million_packets(void **state)
{
	struct pick *pick = pick_create("least-frequent", 3);
	struct share share = { .last = WEIR_WORKER_NONE };

	(void)state;
	share_count(&share, pick, 10 * 1000 * 1000);
	for (uint32_t id = 0; id < 3; id++)
		assert_in_range(share.n_pkts[id], 3333332, 3333334);
	assert_in_range(share.longest_run, 1, 2);
	pick_destroy(pick);
}

static void
x6_xb8_a_fourth_worker_gets_a_quarter_at_once_and_no_more(void **state)
{
	static const weir_worker_id four[] = { 0, 1, 2, 3 };
	/* Just begun, far along, before and after the counts wrap. */
	static const uint32_t before[] = { 2, 15000, 3 * 65535, 3 * 65536 + 1, 3000001 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(before); i++) {
		struct pick *pick = pick_create("least-frequent", 3);
		struct share warm_up = { .last = WEIR_WORKER_NONE };
		struct share share = { .last = WEIR_WORKER_NONE };

		share_count(&warm_up, pick, before[i]);
		pick_change_pool(pick, four, 4);
		share_count(&share, pick, 4000);
		for (uint32_t id = 0; id < 4; id++)
			assert_in_range(share.n_pkts[id], 996, 1004);
		assert_in_range(share.longest_run, 1, 8);
		pick_destroy(pick);
	}
}

static void
xb8_who_left_and_returns_has_nothing_to_catch_up(void **state)
{
	static const weir_worker_id two[] = { 0, 2 };
	static const weir_worker_id three[] = { 0, 1, 2 };
	struct pick *pick = pick_create("least-frequent", 3);
	struct share away = { .last = WEIR_WORKER_NONE };
	struct share back = { .last = WEIR_WORKER_NONE };

	(void)state;
	share_count(&away, pick, 300);
	pick_change_pool(pick, two, 2);
	share_count(&away, pick, 40000);
	assert_int_equal(away.n_pkts[1], 100);
	pick_change_pool(pick, three, 3);
	share_count(&back, pick, 3000);
	for (uint32_t id = 0; id < 3; id++)
		assert_in_range(back.n_pkts[id], 999, 1001);
	assert_in_range(back.longest_run, 1, 2);
	pick_destroy(pick);
}

static void
x6_a_newcomer_stands_behind_the_others_with_the_least_count(void **state)
{
	static const weir_worker_id ids[] = { 3, 0, 1, 2 };
	struct pick *pick = pick_create("least-frequent", 3);

	(void)state;
	/* Counts 1, 0, 0 and then 0 for the newcomer. */
	assert_class_picks(pick, 0, 0);
	pick_change_pool(pick, ids, 4);
	assert_class_picks(pick, 0, 1, 2, 3, 0, 1, 2, 3, 0);
	pick_destroy(pick);
}

static void
x6_ties_go_in_pool_order_at_first(void **state)
{
	static const weir_worker_id ids[] = { 9, 200, 3 };
	struct pick *pick = pick_create_for("least-frequent", ids, 3);

	(void)state;
	for (uint32_t class_id = 0; class_id < WEIR_CLASSES_MAX; class_id++)
		assert_class_picks(pick, (uint8_t)class_id, 9, 200, 3, 9);
	pick_destroy(pick);
}

static void
x6_classes_are_counted_apart(void **state)
{
	struct pick *pick = pick_create("least-frequent", 3);

	(void)state;
	assert_class_picks(pick, 5, 0, 1);
	assert_class_picks(pick, 6, 0);
	assert_class_picks(pick, 5, 2, 0);
	assert_class_picks(pick, 6, 1, 2);
	pick_destroy(pick);
}

static void
xb18_a_class_out_of_range_counts_for_none(void **state)
{
	struct pick *pick = pick_create("least-frequent", 3);

	(void)state;
	assert_class_picks(pick, 0, 0);
	assert_class_picks(pick, 64, 1);
	assert_class_picks(pick, 255, 2);
	assert_class_picks(pick, 63, 0);
	pick_destroy(pick);
}

static void
xb18_state_has_one_size_whatever_is_routed(void **state)
{
	const struct weir_strategy *strategy = weir_strategy_find("least-frequent");

	(void)state;
	assert_in_range(strategy->state_bytes, 64 * 256 * 3 * sizeof(uint16_t), 104 * 1024);
}

static void
x0b_a_new_epoch_begins_every_class_afresh_at_its_next_use(void **state)
{
	struct pick *pick = pick_create("least-frequent", 3);

	(void)state;
	assert_class_picks(pick, 1, 0, 1);
	assert_class_picks(pick, 2, 0);
	pick->context.epoch++;
	assert_class_picks(pick, 1, 0, 1);
	pick->context.epoch += 5;
	assert_class_picks(pick, 2, 0, 1, 2);
	assert_class_picks(pick, 1, 0);
	pick_destroy(pick);
}

static void
withdrawn_picks_are_picked_again(void **state)
{
	struct pick *pick = pick_create("least-frequent", 3);

	(void)state;
	pick_burst(pick, 5);
	pick_withdraw(pick, 5, 2);
	assert_class_picks(pick, 0, 2, 0);
	pick_burst(pick, 256);
	pick_withdraw(pick, 256, 0);
	assert_class_picks(pick, 0, 1);
	pick_withdraw(pick, 1, 1);
	assert_class_picks(pick, 0, 2);
	pick_destroy(pick);
}

static void
a_pick_counts_for_the_packets_of_its_chunk(void **state)
{
	struct pick *pick = pick_create("least-frequent", 3);

	(void)state;
	pick_set_stride(pick, 4);
	assert_class_picks(pick, 0, 0);
	pick_set_stride(pick, 1);
	/* Counts 4, 0, 0: the others come first until they have as many. */
	assert_class_picks(pick, 0, 1, 2, 1, 2, 1, 2, 1, 2, 0, 1, 2, 0);
	pick_destroy(pick);
}

/* XB7, and XB8 once more: the model's counts have 64 bits. */
static void
xb7_picks_equal_a_model_while_the_pool_changes_at_random(void **state)
{
	struct test_random random = test_random_start(__func__);

	(void)state;
	class_model_compare("least-frequent", true, 4000, &random);
}

/* XB1, XB2, XB4: bursts of several dispatchers in turn, as the real pipeline asks. */
static void
xb4_each_dispatcher_counts_for_itself(void **state)
{
	struct test_random random = test_random_start(__func__);
	struct weir_config config = rig_config("least-frequent", 3);
	struct rig *rig;

	(void)state;
	config.n_dispatchers = 3;
	rig = rig_create(&config, 4096);
	for (uint32_t i = 0; i < 100; i++) {
		rig_dispatch_from(rig, test_random_below(&random, 3), 32);
		rig_drain(rig);
	}
	for (uint32_t d = 0; d < 3; d++) {
		const struct rig_dispatcher *dispatcher = &rig->dispatcher[d];

		for (uint32_t i = 0; i < dispatcher->n_packets; i++)
			assert_int_equal(dispatcher->packets[i].charged, i % 3);
	}
	rig_destroy(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x6_three_workers_get_a_third_each_of_ten_million_packets),
		cmocka_unit_test(x6_xb8_a_fourth_worker_gets_a_quarter_at_once_and_no_more),
		cmocka_unit_test(xb8_who_left_and_returns_has_nothing_to_catch_up),
		cmocka_unit_test(x6_a_newcomer_stands_behind_the_others_with_the_least_count),
		cmocka_unit_test(x6_ties_go_in_pool_order_at_first),
		cmocka_unit_test(x6_classes_are_counted_apart),
		cmocka_unit_test(xb18_a_class_out_of_range_counts_for_none),
		cmocka_unit_test(xb18_state_has_one_size_whatever_is_routed),
		cmocka_unit_test(x0b_a_new_epoch_begins_every_class_afresh_at_its_next_use),
		cmocka_unit_test(withdrawn_picks_are_picked_again),
		cmocka_unit_test(a_pick_counts_for_the_packets_of_its_chunk),
		cmocka_unit_test(xb7_picks_equal_a_model_while_the_pool_changes_at_random),
		cmocka_unit_test(xb4_each_dispatcher_counts_for_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
