/* SPDX-License-Identifier: BSD-3-Clause */
/* The source's ROUND, LEAST_FREQUENTLY_USED and LEAST_RECENTLY_USED, to the letter. */
#include "test.h"

#include "pick.h"
#include "source/state_source.h"

#define MS UINT64_C(1000000)

/* Random numbers that a test has set. */
struct script {
	const uint32_t *number;
	uint32_t n;
	uint32_t next;
	uint32_t asked_below; /* the last time */
};

static uint32_t
script_below(void *context, uint32_t n)
{
	struct script *script = context;

	assert_true(script->next < script->n);
	script->asked_below = n;
	return script->number[script->next++];
}

#define SCRIPT(...)                                                                 \
	(struct script)                                                             \
	{                                                                           \
		.number = (const uint32_t[]) { __VA_ARGS__ },                       \
		.n = sizeof((const uint32_t[]) { __VA_ARGS__ }) / sizeof(uint32_t), \
	}

static void *
source_create(size_t bytes)
{
	void *source = calloc(1, bytes);

	assert_non_null(source);
	return source;
}

static struct round_source *
round_create(struct script *script)
{
	struct round_source *source = source_create(sizeof(*source));

	source->random = (struct source_random) { script_below, script };
	source->period.period_ns = SOURCE_PERIOD_NS;
	return source;
}

static struct frequent_source *
frequent_create(struct script *script)
{
	struct frequent_source *source = source_create(sizeof(*source));

	source->random = (struct source_random) { script_below, script };
	source->period.period_ns = SOURCE_PERIOD_NS;
	return source;
}

static struct recent_source *
recent_create(void)
{
	struct recent_source *source = source_create(sizeof(*source));

	source->period.period_ns = SOURCE_PERIOD_NS;
	return source;
}

static void
x3_a_counter_begins_at_the_random_number_itself(void **state)
{
	struct script script = SCRIPT(42);
	struct round_source *source = round_create(&script);
	static const uint32_t expected[] = { 0, 1, 2, 0 };

	(void)state;
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(round_source_pick(source, 0, 3, 0), expected[i]);
	assert_int_equal(script.asked_below, 100);
	assert_int_equal(source->of[0].counter, 45);
	free(source);
}

static void
x3_the_largest_value_used_is_1000001_and_then_it_is_drawn_anew(void **state)
{
	struct script script = SCRIPT(0, 7);
	struct round_source *source = round_create(&script);

	(void)state;
	round_source_pick(source, 0, 3, 0);
	source->of[0].counter = 1000000;
	assert_int_equal(round_source_pick(source, 0, 3, 0), 1000001 % 3);
	assert_int_equal(source->of[0].counter, 1000001);
	assert_int_equal(round_source_pick(source, 0, 3, 0), 7 % 3);
	assert_int_equal(source->of[0].counter, 7);
	assert_int_equal(round_source_pick(source, 0, 3, 0), 8 % 3);
	free(source);
}

static void
x3_two_keys_have_phases_of_their_own(void **state)
{
	struct script script = SCRIPT(42, 11);
	struct round_source *source = round_create(&script);

	(void)state;
	assert_int_equal(round_source_pick(source, 0, 3, 0), 0);
	assert_int_equal(round_source_pick(source, 1, 3, 0), 2);
	assert_int_equal(round_source_pick(source, 0, 3, 0), 1);
	assert_int_equal(round_source_pick(source, 1, 3, 0), 0);
	free(source);
}

static void
x0b_one_key_wipes_all_after_a_day_and_a_millisecond(void **state)
{
	struct script script = SCRIPT(42, 11, 60, 61);
	struct round_source *source = round_create(&script);

	(void)state;
	assert_int_equal(round_source_pick(source, 0, 100, 0), 42);
	assert_int_equal(round_source_pick(source, 1, 100, 0), 11);
	assert_int_equal(round_source_pick(source, 0, 100, 86400000 * MS), 43);
	assert_int_equal(round_source_pick(source, 1, 100, 86400001 * MS), 60);
	assert_int_equal(round_source_pick(source, 0, 100, 86400001 * MS), 61);
	assert_int_equal(round_source_pick(source, 1, 100, 86400001 * MS), 61);
	free(source);
}

static const weir_worker_id three[] = { 0, 1, 2 };
static const weir_worker_id two[] = { 0, 2 };

static void
x6_counts_2_0_1_are_levelled_by_1_1_2(void **state)
{
	struct script script = SCRIPT(2, 0, 1);
	struct frequent_source *source = frequent_create(&script);
	uint32_t n_picked[3] = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		n_picked[frequent_source_pick(source, 0, three, 3, 0)]++;
	assert_int_equal(script.asked_below, 3);
	assert_int_equal(n_picked[0], 0);
	assert_int_equal(n_picked[1], 2);
	assert_int_equal(n_picked[2], 1);
	for (uint32_t id = 0; id < 3; id++)
		assert_int_equal(source->of[0].count[id], 2);
	free(source);
}

static void
x6_who_leaves_and_returns_is_new(void **state)
{
	struct script script = SCRIPT(0, 0, 0, 2);
	struct frequent_source *source = frequent_create(&script);

	(void)state;
	for (uint32_t i = 0; i < 30; i++)
		frequent_source_pick(source, 0, three, 3, 0);
	assert_int_equal(frequent_source_pick(source, 0, two, 2, 0), 0);
	/* At 2 while the others are at 10: all that comes is its own. */
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(frequent_source_pick(source, 0, three, 3, 0), 1);
	assert_int_equal(frequent_source_pick(source, 0, three, 3, 0), 1);
	assert_int_equal(frequent_source_pick(source, 0, three, 3, 0), 2);
	assert_int_equal(script.next, 4);
	free(source);
}

/* XB8's second half, which the strategy does not have. */
static void
x6_a_count_above_a_million_begins_again(void **state)
{
	struct script script = SCRIPT(0, 0, 0, 1);
	struct frequent_source *source = frequent_create(&script);

	(void)state;
	frequent_source_pick(source, 0, three, 3, 0);
	source->of[0].count[0] = 1000000;
	source->of[0].count[1] = 1000000;
	source->of[0].count[2] = 1000000;
	assert_int_equal(frequent_source_pick(source, 0, three, 3, 0), 0);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(frequent_source_pick(source, 0, three, 3, 0), 0);
	assert_int_equal(source->of[0].count[0], 101);
	free(source);
}

static void
x0b_counts_of_all_keys_are_wiped_together(void **state)
{
	struct script script = SCRIPT(0, 0, 0, 0, 1, 1);
	struct frequent_source *source = frequent_create(&script);

	(void)state;
	assert_int_equal(frequent_source_pick(source, 0, two, 2, 5), 0);
	assert_int_equal(frequent_source_pick(source, 1, two, 2, 5), 0);
	assert_int_equal(frequent_source_pick(source, 0, two, 2, SOURCE_PERIOD_NS + 5), 2);
	assert_int_equal(script.next, 4);
	/* Key 1's call: 1 and 1 for its addresses... */
	script.next = 4;
	assert_int_equal(frequent_source_pick(source, 1, two, 2, SOURCE_PERIOD_NS + 6), 0);
	assert_int_equal(source->of[1].count[0], 2);
	/* ... and nothing is left of key 0's. */
	assert_false(source->of[0].known[0]);
	assert_false(source->of[0].known[2]);
	free(source);
}

static void
x7_turns_before_and_after_b_left_and_d_came(void **state)
{
	static const weir_worker_id acd[] = { 0, 2, 3 };
	static const weir_worker_id before[] = { 0, 1, 2, 0, 1, 2, 0 };
	static const weir_worker_id after[] = { 2, 0, 3, 2, 0, 3 };
	struct recent_source *source = recent_create();

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(before); i++)
		assert_int_equal(recent_source_pick(source, 0, three, 3, 0), before[i]);
	assert_int_equal(recent_source_pick(source, 1, three, 3, 0), 0);
	for (size_t i = 0; i < ARRAY_LENGTH(after); i++)
		assert_int_equal(recent_source_pick(source, 0, acd, 3, 0), after[i]);
	free(source);
}

static void
x0b_after_a_day_the_first_address_comes_first_again(void **state)
{
	struct recent_source *source = recent_create();

	(void)state;
	assert_int_equal(recent_source_pick(source, 0, three, 3, 0), 0);
	assert_int_equal(recent_source_pick(source, 0, three, 3, SOURCE_PERIOD_NS), 1);
	assert_int_equal(recent_source_pick(source, 1, three, 3, SOURCE_PERIOD_NS + 1), 0);
	assert_int_equal(recent_source_pick(source, 0, three, 3, SOURCE_PERIOD_NS + 1), 0);
	free(source);
}

/* The source's order is ours, whatever joins and leaves. */
static void
x7_least_recent_is_the_source_while_the_pool_changes(void **state)
{
	struct test_random random = test_random_start(__func__);
	struct recent_source *source = recent_create();
	struct pick *pick = pick_create("least-recent", 256);

	(void)state;
	for (uint32_t i = 0; i < 300; i++) {
		weir_worker_id ids[WEIR_WORKERS_MAX];
		uint32_t n = 0;

		for (uint32_t id = 0; id < WEIR_WORKERS_MAX; id++) {
			if (test_random_below(&random, 4))
				ids[n++] = (weir_worker_id)id;
		}
		pick_change_pool(pick, ids, n);
		for (uint32_t p = test_random_below(&random, 30); p > 0; p--) {
			const uint8_t key = (uint8_t)test_random_below(&random, WEIR_CLASSES_MAX);

			assert_int_equal(pick_for_class(pick, key),
				recent_source_pick(source, key, ids, n, 0));
		}
	}
	pick_destroy(pick);
	free(source);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x3_a_counter_begins_at_the_random_number_itself),
		cmocka_unit_test(x3_the_largest_value_used_is_1000001_and_then_it_is_drawn_anew),
		cmocka_unit_test(x3_two_keys_have_phases_of_their_own),
		cmocka_unit_test(x0b_one_key_wipes_all_after_a_day_and_a_millisecond),
		cmocka_unit_test(x6_counts_2_0_1_are_levelled_by_1_1_2),
		cmocka_unit_test(x6_who_leaves_and_returns_is_new),
		cmocka_unit_test(x6_a_count_above_a_million_begins_again),
		cmocka_unit_test(x0b_counts_of_all_keys_are_wiped_together),
		cmocka_unit_test(x7_turns_before_and_after_b_left_and_d_came),
		cmocka_unit_test(x0b_after_a_day_the_first_address_comes_first_again),
		cmocka_unit_test(x7_least_recent_is_the_source_while_the_pool_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
