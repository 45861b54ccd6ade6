/* SPDX-License-Identifier: BSD-3-Clause */
/* busyover: the first worker that has nothing of the packet's class, or none; and its claims. */
#include "test.h"

#include "pick.h"

#define NONE WEIR_PICK_NONE

/* A strategy by itself, with packets of `class_id` of which worker i has `depth[i]`. */
static struct pick *
busyover_create(uint32_t n, uint8_t class_id, const uint32_t *depth)
{
	struct pick *pick = pick_create("busyover", n);

	for (uint32_t i = 0; i < n; i++)
		pick->class_depth[weir_class_slot(class_id, (weir_worker_id)i)] = depth[i];
	for (uint32_t i = 0; i < WEIR_BURST_MAX; i++)
		pick->meta[i].class_id = class_id;
	return pick;
}

static uint32_t
holder_of(struct pick *pick, uint32_t class_id, weir_worker_id worker)
{
	return atomic_load(&pick->claims[weir_class_slot(class_id, worker)]);
}

/* Asserts what a single packet is given at these depths of its class. */
#define assert_pick_at(expected, ...)                                                  \
	do {                                                                           \
		const uint32_t depths[] = { __VA_ARGS__ };                             \
		struct pick *alone = busyover_create(ARRAY_LENGTH(depths), 5, depths); \
                                                                                       \
		assert_int_equal(pick_at(alone, 0), expected);                         \
		pick_destroy(alone);                                                   \
	} while (0)

static void
x9_the_first_idle_worker_in_order_is_picked(void **state)
{
	(void)state;
	assert_pick_at(1, 3, 0, 0);
	assert_pick_at(0, 0, 0, 0);
	assert_pick_at(0, 0, 9, 9);
	assert_pick_at(2, 1, 1, 0);
	assert_pick_at(0, 0);
}

static void
x9_with_all_busy_there_is_none_and_the_reason_is_all_busy(void **state)
{
	const struct weir_strategy *strategy = weir_strategy_find("busyover");

	(void)state;
	assert_pick_at(NONE, 1, 2, 3);
	assert_pick_at(NONE, 1);
	assert_true(strategy->flags & WEIR_STRATEGY_FINDS_NONE);
	assert_int_equal(strategy->none_reason, WEIR_REASON_ALL_BUSY);
}

static void
x9_busy_with_another_class_is_idle(void **state)
{
	static const uint32_t depth[] = { 2, 0 };
	struct pick *pick = busyover_create(2, 1, depth);

	(void)state;
	pick->meta[0].class_id = 2;
	assert_int_equal(pick_at(pick, 0), 0);
	pick->meta[0].class_id = 1;
	assert_int_equal(pick_at(pick, 0), 1);
	pick_destroy(pick);
}

static void
x9_neither_the_index_nor_other_depth_nor_a_full_lane_matters(void **state)
{
	static const uint32_t busy[] = { 0, 0, 0 };
	static const uint32_t depth[] = { 900, 0, 0 };
	struct pick *pick = busyover_create(3, 0, busy);

	(void)state;
	pick_freeze(pick, depth);
	pick_set_index(pick, 1);
	assert_int_equal(pick_at(pick, 1), 0);
	pick_destroy(pick);
}

static void
own_picks_of_a_burst_make_busy_each_class_by_itself(void **state)
{
	static const uint32_t depth[] = { 0, 1, 0 };
	static const uint8_t classes[] = { 4, 6, 4, 4, 6, 6, 6 };
	static const uint16_t expected[] = { 0, 0, 2, NONE, 1, 2, NONE };
	struct pick *pick = busyover_create(3, 4, depth);

	(void)state;
	for (uint32_t i = 0; i < ARRAY_LENGTH(classes); i++)
		pick->meta[i].class_id = classes[i];
	pick_burst(pick, ARRAY_LENGTH(classes));
	assert_memory_equal(pick->out, expected, sizeof(expected));
	assert_int_equal(pick->class_depth[weir_class_slot(4, 1)], 1);
	assert_int_equal(pick->class_depth[weir_class_slot(6, 1)], 1);
	pick_destroy(pick);
}

static void
classes_go_by_the_workers_id_not_by_its_position(void **state)
{
	static const weir_worker_id ids[] = { 7, 2, 255 };
	struct pick *pick = pick_create_for("busyover", ids, 3);

	(void)state;
	pick->class_depth[weir_class_slot(0, 7)] = 1;
	pick->class_depth[weir_class_slot(0, 1)] = 1;
	pick_burst(pick, 3);
	assert_int_equal(pick->out[0], 1);
	assert_int_equal(pick->out[1], 2);
	assert_int_equal(pick->out[2], NONE);
	pick_destroy(pick);
}

/* A chunk of packets is one pick: for the class of its first, counted once. */
static void
a_chunk_takes_one_idle_worker(void **state)
{
	static const uint32_t depth[] = { 0, 0 };
	struct pick *pick = busyover_create(2, 3, depth);

	(void)state;
	pick_set_stride(pick, 8);
	pick->meta[1].class_id = 9;
	pick_burst(pick, 3);
	assert_int_equal(pick->out[0], 0);
	assert_int_equal(pick->out[1], 1);
	assert_int_equal(pick->out[2], NONE);
	assert_int_equal(pick->class_depth[weir_class_slot(3, 0)], 1);
	assert_int_equal(pick->class_depth[weir_class_slot(9, 0)], 0);
	pick_destroy(pick);
}

static void
a_class_that_no_rule_has_is_that_of_no_rule(void **state)
{
	static const uint32_t depth[] = { 1, 0 };
	struct pick *pick = busyover_create(2, 0, depth);

	(void)state;
	pick->meta[0].class_id = WEIR_CLASSES_MAX;
	assert_int_equal(pick_at(pick, 0), 1);
	pick->meta[0].class_id = UINT8_MAX;
	assert_int_equal(pick_at(pick, 0), NONE);
	pick_destroy(pick);
}

static void
xb11_a_burst_looks_at_each_worker_once(void **state)
{
	uint32_t depth[64];
	struct pick *pick;

	(void)state;
	for (uint32_t i = 0; i < 64; i++)
		depth[i] = i < 40;
	pick = busyover_create(64, 1, depth);
	pick_burst(pick, 1);
	assert_int_equal(pick->context.depth_visits, 41);
	pick_burst(pick, 200);
	assert_int_equal(pick->context.depth_visits, 41 + 64);
	/* Dead workers are not in the list at all: with 63 of 64 dead one is looked at. */
	pick_destroy(pick);
	pick = pick_create_for("busyover", (const weir_worker_id[]) { 63 }, 1);
	pick_burst(pick, 200);
	assert_int_equal(pick->context.depth_visits, 1);
	pick_destroy(pick);
}

static void
xb12_an_idle_worker_is_picked_and_claimed_or_another_is(void **state)
{
	static const uint32_t depth[] = { 0, 4, 0, 0 };
	struct pick *pick = busyover_create(4, 2, depth);

	(void)state;
	pick_share(pick, 6, pick->claims);
	atomic_store(&pick->claims[weir_class_slot(2, 0)], 1);
	atomic_store(&pick->claims[weir_class_slot(2, 1)], 7);
	atomic_store(&pick->claims[weir_class_slot(2, 3)], 2);
	pick_burst(pick, 2);
	assert_int_equal(pick->out[0], 2);
	assert_int_equal(pick->out[1], NONE);
	assert_int_equal(holder_of(pick, 2, 0), 1);
	assert_int_equal(holder_of(pick, 2, 1), 7);
	assert_int_equal(holder_of(pick, 2, 2), 7);
	assert_int_equal(holder_of(pick, 2, 3), 2);
	pick_destroy(pick);
}

/* No packet of the class is out and nobody else can have taken it: to let it lie would block it. */
static void
xb12_a_claim_that_is_still_ours_is_used_again(void **state)
{
	static const uint32_t depth[] = { 0 };
	struct pick *pick = busyover_create(1, 0, depth);

	(void)state;
	pick_share(pick, 0, pick->claims);
	atomic_store(&pick->claims[0], 1);
	pick_burst(pick, 2);
	assert_int_equal(pick->out[0], 0);
	assert_int_equal(pick->out[1], NONE);
	assert_int_equal(holder_of(pick, 0, 0), 1);
	pick_destroy(pick);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x9_the_first_idle_worker_in_order_is_picked),
		cmocka_unit_test(x9_with_all_busy_there_is_none_and_the_reason_is_all_busy),
		cmocka_unit_test(x9_busy_with_another_class_is_idle),
		cmocka_unit_test(x9_neither_the_index_nor_other_depth_nor_a_full_lane_matters),
		cmocka_unit_test(own_picks_of_a_burst_make_busy_each_class_by_itself),
		cmocka_unit_test(classes_go_by_the_workers_id_not_by_its_position),
		cmocka_unit_test(a_chunk_takes_one_idle_worker),
		cmocka_unit_test(a_class_that_no_rule_has_is_that_of_no_rule),
		cmocka_unit_test(xb11_a_burst_looks_at_each_worker_once),
		cmocka_unit_test(xb12_an_idle_worker_is_picked_and_claimed_or_another_is),
		cmocka_unit_test(xb12_a_claim_that_is_still_ours_is_used_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
