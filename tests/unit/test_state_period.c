/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * state_period: when state begins afresh, by a fake clock. Of the defects in its source, the torn
 * read of XB3 can't be had: a period belongs to one dispatcher, as the state does.
 */
#include "test.h"

#include "state_period.h"

#define MS UINT64_C(1000000)
#define DAY_NS (UINT64_C(86400000) * MS)

static void
x0b_first_call_arms_and_the_state_lasts_a_day_and_no_millisecond_longer(void **state)
{
	struct state_period period = { .period_ns = DAY_NS };

	(void)state;
	assert_false(period_passed(&period, 0));
	assert_false(period_passed(&period, 1));
	assert_false(period_passed(&period, DAY_NS));
	assert_true(period_passed(&period, DAY_NS + MS));
}

static void
x0b_a_period_begins_when_the_call_comes_that_ends_the_last_one(void **state)
{
	const uint64_t late = 3 * DAY_NS + 5;
	struct state_period period = { .period_ns = DAY_NS };

	(void)state;
	assert_false(period_passed(&period, 7));
	assert_false(period_passed(&period, 7 + DAY_NS));
	assert_true(period_passed(&period, late));
	assert_false(period_passed(&period, late + DAY_NS));
	assert_true(period_passed(&period, late + DAY_NS + 1));
}

static void
xb3_a_passed_period_ends_once_however_often_it_is_asked(void **state)
{
	struct test_random random = test_random_start(__func__);
	struct state_period period[2] = { { .period_ns = 1000 }, { .period_ns = 1000 } };
	uint64_t begun[2] = { 0, 0 };
	uint64_t now = 0;
	uint32_t n_ends = 0;

	(void)state;
	/* Two dispatchers ask at the same times, in any order. */
	assert_false(period_passed(&period[0], 0));
	assert_false(period_passed(&period[1], 0));
	for (uint32_t i = 0; i < 20000; i++) {
		const uint32_t d = test_random_below(&random, 2);
		const bool expected = now > begun[d] + 1000;

		assert_int_equal(period_passed(&period[d], now), expected);
		assert_false(period_passed(&period[d], now));
		if (expected)
			begun[d] = now;
		n_ends += expected;
		now += test_random_below(&random, 3) ? 0 : test_random_below(&random, 500);
	}
	assert_true(n_ends > 1000);
}

static void
no_period_never_ends(void **state)
{
	struct state_period period = { 0 };

	(void)state;
	assert_false(period_passed(&period, 0));
	assert_false(period_passed(&period, DAY_NS));
	assert_false(period_passed(&period, UINT64_MAX));
}

static void
a_clock_that_goes_back_or_is_near_its_end_ends_nothing(void **state)
{
	struct state_period period = { .period_ns = DAY_NS };
	struct state_period last = { .period_ns = UINT64_MAX };

	(void)state;
	assert_false(period_passed(&period, UINT64_MAX - 5));
	assert_false(period_passed(&period, UINT64_MAX / 2));
	assert_false(period_passed(&period, 3));
	assert_false(period_passed(&period, UINT64_MAX));
	assert_false(period_passed(&last, 0));
	assert_false(period_passed(&last, UINT64_MAX));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			x0b_first_call_arms_and_the_state_lasts_a_day_and_no_millisecond_longer),
		cmocka_unit_test(x0b_a_period_begins_when_the_call_comes_that_ends_the_last_one),
		cmocka_unit_test(xb3_a_passed_period_ends_once_however_often_it_is_asked),
		cmocka_unit_test(no_period_never_ends),
		cmocka_unit_test(a_clock_that_goes_back_or_is_near_its_end_ends_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
