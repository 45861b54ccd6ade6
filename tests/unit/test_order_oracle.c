/* SPDX-License-Identifier: BSD-3-Clause */
/* The order oracle itself: an oracle that cannot fail proves nothing. */
#include "test.h"

#include "order_oracle.h"

static struct order_oracle
oracle_make(void)
{
	struct order_oracle oracle;

	assert_int_equal(order_oracle_init(&oracle), 0);
	return oracle;
}

static void
packets_in_order_are_no_inversion_whoever_had_them(void **state)
{
	struct order_oracle oracle = oracle_make();
	char words[256];

	(void)state;
	for (uint64_t number = 1; number <= 100; number++)
		order_oracle_end(&oracle, 7, number, (uint16_t)(number % 3));
	assert_int_equal(oracle.n_ended, 100);
	assert_int_equal(oracle.n_inversions, 0);
	order_oracle_say(&oracle, words, sizeof(words));
	assert_string_equal(words, "0 inversions in 100 packets");
	order_oracle_fini(&oracle);
}

static void
gaps_are_no_inversion(void **state)
{
	struct order_oracle oracle = oracle_make();

	(void)state;
	order_oracle_end(&oracle, 7, 5, 0);
	order_oracle_end(&oracle, 7, 900, 0);
	assert_int_equal(oracle.n_inversions, 0);
	order_oracle_fini(&oracle);
}

static void
every_packet_that_comes_after_a_newer_one_is_an_inversion(void **state)
{
	struct order_oracle oracle = oracle_make();
	char words[256];

	(void)state;
	order_oracle_end(&oracle, 7, 1, 0);
	order_oracle_end(&oracle, 7, 5, 1);
	order_oracle_end(&oracle, 7, 3, 2);
	/* Newer than 3, but the newest so far is 5. */
	order_oracle_end(&oracle, 7, 4, 2);
	order_oracle_end(&oracle, 7, 6, 2);
	assert_int_equal(oracle.n_inversions, 2);
	order_oracle_say(&oracle, words, sizeof(words));
	assert_string_equal(words,
		"2 inversions in 5 packets; the first, in bucket 7: packet 3 came back from worker "
		"2 after packet 5 from worker 1");
	order_oracle_fini(&oracle);
}

static void
packet_that_comes_back_twice_is_an_inversion(void **state)
{
	struct order_oracle oracle = oracle_make();

	(void)state;
	order_oracle_end(&oracle, 7, 4, 0);
	order_oracle_end(&oracle, 7, 4, 0);
	assert_int_equal(oracle.n_inversions, 1);
	order_oracle_fini(&oracle);
}

static void
keys_have_no_order_between_them(void **state)
{
	struct order_oracle oracle = oracle_make();

	(void)state;
	for (uint32_t key = 0; key < ORDER_KEYS; key++)
		order_oracle_end(&oracle, (uint16_t)key, ORDER_KEYS - key, 0);
	assert_int_equal(oracle.n_inversions, 0);
	for (uint32_t key = 0; key < ORDER_KEYS; key++)
		order_oracle_end(&oracle, (uint16_t)key, 1 + ORDER_KEYS / 2, 0);
	/* The half of the keys whose first packet was a later one. */
	assert_int_equal(oracle.n_inversions, ORDER_KEYS / 2);
	order_oracle_fini(&oracle);
}

static void
moves_are_changes_of_worker_within_a_key(void **state)
{
	static const uint16_t workers[] = { 0, 0, 3, 3, 0, 1 };
	struct order_oracle oracle = oracle_make();

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(workers); i++) {
		order_oracle_end(&oracle, 7, i + 1, workers[i]);
		order_oracle_end(&oracle, 8, i + 1, 5);
	}
	assert_int_equal(oracle.n_moves, 3);
	order_oracle_fini(&oracle);
}

static void
words_are_cut_not_overrun(void **state)
{
	struct order_oracle oracle = oracle_make();
	char words[64];

	(void)state;
	order_oracle_end(&oracle, 7, 2, 0);
	order_oracle_end(&oracle, 7, 1, 0);
	for (size_t size = 0; size < sizeof(words); size++) {
		memset(words, '#', sizeof(words));
		order_oracle_say(&oracle, words, size);
		assert_int_equal(words[size], '#');
		if (size > 0)
			assert_true(strlen(words) < size);
	}
	order_oracle_fini(&oracle);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_in_order_are_no_inversion_whoever_had_them),
		cmocka_unit_test(gaps_are_no_inversion),
		cmocka_unit_test(every_packet_that_comes_after_a_newer_one_is_an_inversion),
		cmocka_unit_test(packet_that_comes_back_twice_is_an_inversion),
		cmocka_unit_test(keys_have_no_order_between_them),
		cmocka_unit_test(moves_are_changes_of_worker_within_a_key),
		cmocka_unit_test(words_are_cut_not_overrun),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
