/* SPDX-License-Identifier: BSD-3-Clause */
/* What every row of the registry must say of itself. How they pick is test_strategy_contract.c's.
 */
#include "test.h"

#include <weir/stats.h>
#include <weir/strategy.h>

static void
names_are_unique_lower_case_and_found(void **state)
{
	(void)state;
	assert_non_null(weir_strategy_at(0));
	for (unsigned int i = 0; weir_strategy_at(i); i++) {
		const char *name = weir_strategy_at(i)->name;

		assert_true(strlen(name) > 0);
		assert_int_equal(
			strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-"), strlen(name));
		assert_ptr_equal(weir_strategy_find(name), weir_strategy_at(i));
		for (unsigned int other = 0; other < i; other++)
			assert_string_not_equal(weir_strategy_at(other)->name, name);
	}
}

static void
help_is_one_line(void **state)
{
	(void)state;
	for (unsigned int i = 0; weir_strategy_at(i); i++) {
		const char *help = weir_strategy_at(i)->help;

		assert_in_range(strlen(help), 1, 80);
		assert_null(strchr(help, '\n'));
	}
}

static void
unknown_name_is_not_found(void **state)
{
	(void)state;
	errno = 0;
	assert_null(weir_strategy_find("no-such-strategy"));
	assert_int_equal(errno, EINVAL);
	assert_null(weir_strategy_find(""));
	assert_null(weir_strategy_at(UINT32_MAX));
}

static void
flags_are_known_ones(void **state)
{
	const uint32_t known =
		WEIR_STRATEGY_READS_DEPTH | WEIR_STRATEGY_OWNS_FLOWS | WEIR_STRATEGY_READS_META |
		WEIR_STRATEGY_ALL_TARGETS | WEIR_STRATEGY_SHARDS | WEIR_STRATEGY_READS_WEIGHT |
		WEIR_STRATEGY_READS_CLASS_DEPTH | WEIR_STRATEGY_CLAIMS | WEIR_STRATEGY_FINDS_NONE;

	(void)state;
	for (unsigned int i = 0; weir_strategy_at(i); i++) {
		const uint32_t flags = weir_strategy_at(i)->flags;

		assert_int_equal(flags & ~known, 0);
		/* Who owns flows must look at them, who counts classes at those; who shards has
		 * several targets; a claim stands for packets of a class. */
		if (flags & (WEIR_STRATEGY_OWNS_FLOWS | WEIR_STRATEGY_READS_CLASS_DEPTH))
			assert_true(flags & WEIR_STRATEGY_READS_META);
		if (flags & WEIR_STRATEGY_SHARDS)
			assert_true(flags & WEIR_STRATEGY_ALL_TARGETS);
		if (flags & WEIR_STRATEGY_CLAIMS)
			assert_true(flags & WEIR_STRATEGY_READS_CLASS_DEPTH);
	}
}

static void
who_may_find_none_says_why(void **state)
{
	(void)state;
	for (unsigned int i = 0; weir_strategy_at(i); i++) {
		const struct weir_strategy *strategy = weir_strategy_at(i);

		assert_true(strategy->none_reason < WEIR_REASON_COUNT);
		if (strategy->flags & WEIR_STRATEGY_FINDS_NONE)
			assert_int_not_equal(strategy->none_reason, 0);
		assert_null(strategy->instance);
	}
}

static void
prepare_and_release_come_together(void **state)
{
	(void)state;
	for (unsigned int i = 0; weir_strategy_at(i); i++) {
		const struct weir_strategy *strategy = weir_strategy_at(i);

		assert_int_equal(strategy->prepare != NULL, strategy->release != NULL);
		/* Where all are targets there is nothing to pick, nor to take back. */
		assert_int_equal(strategy->pick_burst == NULL,
			(strategy->flags & WEIR_STRATEGY_ALL_TARGETS) != 0);
		if (!strategy->pick_burst)
			assert_null(strategy->withdraw_picks);
	}
}

static void
a_table_is_made_of_an_empty_pool_too(void **state)
{
	(void)state;
	for (unsigned int i = 0; weir_strategy_at(i); i++) {
		const struct weir_strategy *strategy = weir_strategy_at(i);
		const struct weir_snapshot empty = {
			.version = 1, .n_routes = 1, .route = { { .strategy = strategy } }
		};
		void *table;

		if (!strategy->prepare)
			continue;
		table = strategy->prepare(strategy, &empty);
		assert_non_null(table);
		strategy->release(table);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_unique_lower_case_and_found),
		cmocka_unit_test(help_is_one_line),
		cmocka_unit_test(unknown_name_is_not_found),
		cmocka_unit_test(flags_are_known_ones),
		cmocka_unit_test(who_may_find_none_says_why),
		cmocka_unit_test(prepare_and_release_come_together),
		cmocka_unit_test(a_table_is_made_of_an_empty_pool_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
