/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/pool/restart_budget.c: so many restarts in any window (A16). */
#include "test.h"

#include <weir/health.h>

#define SECOND UINT64_C(1000000000)

/* A16: budget 10/60 s: deaths 1 to 10 are repaired, the 11th inside the window is not. */
static void
the_eleventh_death_in_the_window_is_not_repaired(void **state)
{
	struct weir_restart_budget budget = weir_restart_budget_make(10, 60 * SECOND);

	(void)state;
	for (uint64_t i = 0; i < 10; i++) {
		assert_int_equal(weir_restart_budget_used(&budget, i * SECOND), i);
		assert_true(weir_restart_budget_take(&budget, i * SECOND));
	}
	assert_false(weir_restart_budget_take(&budget, 10 * SECOND));
	assert_int_equal(weir_restart_budget_used(&budget, 10 * SECOND), 10);
}

/* A16: one that is older than the window frees exactly one; what is refused takes up nothing. */
static void
one_older_than_the_window_frees_exactly_one(void **state)
{
	struct weir_restart_budget budget = weir_restart_budget_make(10, 60 * SECOND);

	(void)state;
	for (uint64_t i = 0; i < 10; i++)
		assert_true(weir_restart_budget_take(&budget, i * SECOND));
	for (uint32_t i = 0; i < 20; i++)
		assert_false(weir_restart_budget_take(&budget, 60 * SECOND));
	assert_true(weir_restart_budget_take(&budget, 60 * SECOND + 1));
	assert_false(weir_restart_budget_take(&budget, 60 * SECOND + 1));
	assert_false(weir_restart_budget_take(&budget, 61 * SECOND));
	assert_true(weir_restart_budget_take(&budget, 61 * SECOND + 1));
	assert_false(weir_restart_budget_take(&budget, 61 * SECOND + 1));
}

/* A16: budget 0: never. */
static void
a_budget_of_none_never_restarts(void **state)
{
	struct weir_restart_budget budget = weir_restart_budget_make(0, 60 * SECOND);

	(void)state;
	for (uint64_t i = 0; i < 1000; i++)
		assert_false(weir_restart_budget_take(&budget, i * 100 * SECOND));
	assert_int_equal(weir_restart_budget_used(&budget, 0), 0);
}

/* A16, against a list of all restarts: no window ever holds more than n, and none is refused that
 * would fit. */
static void
no_window_holds_more_and_none_is_refused_that_fits(void **state)
{
	struct test_random random = test_random_start("restart budget");
	static uint64_t at[4000];

	(void)state;
	for (uint32_t round = 0; round < 20; round++) {
		const uint32_t n = test_random_between(&random, 1, WEIR_RESTARTS_MAX);
		const uint64_t window = test_random_between(&random, 1, 200);
		struct weir_restart_budget budget = weir_restart_budget_make(n, window);
		uint64_t now = 0;
		uint32_t n_taken = 0;

		for (uint32_t i = 0; i < ARRAY_LENGTH(at); i++) {
			uint32_t inside = 0;

			now += test_random_below(&random, 5);
			for (uint32_t j = 0; j < n_taken; j++)
				inside += now - at[j] <= window;
			assert_int_equal(weir_restart_budget_used(&budget, now), inside);
			assert_int_equal(weir_restart_budget_take(&budget, now), inside < n);
			if (inside < n)
				at[n_taken++] = now;
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_eleventh_death_in_the_window_is_not_repaired),
		cmocka_unit_test(one_older_than_the_window_frees_exactly_one),
		cmocka_unit_test(a_budget_of_none_never_restarts),
		cmocka_unit_test(no_window_holds_more_and_none_is_refused_that_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
