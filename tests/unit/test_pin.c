/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/flow: the window test of the pin, by itself and at every place where numbers wrap. */
#include "test.h"

#include "pin.h"

/* Where lanes stand: at the start, around the half of the numbers, and around their wrap. */
static const uint32_t starts[] = { 0, 1, 2, 1000, 0x7ffffffe, 0x7fffffff, 0x80000000u, 0x80000001u,
	0xfffffffcu, 0xfffffffdu, 0xfffffffeu, 0xffffffffu };

static const uint32_t lengths[] = { 0, 1, 2, 3, 5, 512, 65534, 65535 };

static void
stamps_from_harvested_plus_one_to_tail_are_out(void **state)
{
	(void)state;
	for (size_t s = 0; s < ARRAY_LENGTH(starts); s++) {
		for (size_t l = 0; l < ARRAY_LENGTH(lengths); l++) {
			const uint32_t harvested = starts[s];
			const uint32_t tail = harvested + lengths[l];

			for (uint32_t ahead = 1; ahead <= lengths[l]; ahead++)
				assert_true(pin_stamp_is_out(harvested + ahead, harvested, tail));
		}
	}
}

static void
stamps_up_to_harvested_and_beyond_the_tail_are_not_out(void **state)
{
	(void)state;
	for (size_t s = 0; s < ARRAY_LENGTH(starts); s++) {
		for (size_t l = 0; l < ARRAY_LENGTH(lengths); l++) {
			const uint32_t harvested = starts[s];
			const uint32_t tail = harvested + lengths[l];

			for (uint32_t i = 0; i < 70000; i++) {
				assert_false(pin_stamp_is_out(harvested - i, harvested, tail));
				assert_false(pin_stamp_is_out(tail + 1 + i, harvested, tail));
			}
		}
	}
}

/* Half the numbers behind: a plain comparison of differences takes these for coming ones. */
static void
stamp_of_long_ago_is_not_out(void **state)
{
	static const uint32_t ages[] = { 0x7ffffffe, 0x7fffffff, 0x80000000u, 0x80000001u,
		0x80000000u + 65535, 0xc0000000u, 0xffff0000u - 1 };

	(void)state;
	for (size_t s = 0; s < ARRAY_LENGTH(starts); s++) {
		for (size_t a = 0; a < ARRAY_LENGTH(ages); a++) {
			for (size_t l = 0; l < ARRAY_LENGTH(lengths); l++)
				assert_false(pin_stamp_is_out(
					starts[s] - ages[a], starts[s], starts[s] + lengths[l]));
		}
	}
}

/* Against numbers that do not wrap, up to an age of 2^32 - 65,535 packets. */
static void
window_agrees_with_numbers_that_do_not_wrap(void **state)
{
	struct test_random random = test_random_start(__func__);

	(void)state;
	for (uint32_t i = 0; i < 1000000; i++) {
		const uint64_t harvested =
			(UINT64_C(1) << 33) + (test_random_next(&random) & UINT32_MAX);
		const uint64_t tail = harvested + test_random_below(&random, 65536);
		const uint64_t age =
			test_random_next(&random) >> test_random_between(&random, 32, 63);
		const uint64_t stamp = tail - (age < UINT32_MAX - 65535 ? age : UINT32_MAX - 65535);

		assert_int_equal(
			pin_stamp_is_out((uint32_t)stamp, (uint32_t)harvested, (uint32_t)tail),
			stamp > harvested);
	}
}

/*
 * The limit: after exactly 2^32 packets of one lane a stamp looks out again. The bucket then
 * follows its old worker once more, which costs balance and never order.
 */
static void
stamp_of_2_to_the_32_packets_ago_looks_out_again(void **state)
{
	const uint64_t harvested = (UINT64_C(1) << 32) + 10;

	(void)state;
	assert_true(pin_stamp_is_out(
		(uint32_t)(harvested + 1 - (UINT64_C(1) << 32)), (uint32_t)harvested, 20));
}

static void
pin_that_was_never_set_is_not_out_of_a_fresh_lane(void **state)
{
	const struct pin pin = { 0 };

	(void)state;
	for (uint32_t tail = 0; tail <= 65535; tail++)
		assert_false(pin_stamp_is_out(pin.stamp, 0, tail));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stamps_from_harvested_plus_one_to_tail_are_out),
		cmocka_unit_test(stamps_up_to_harvested_and_beyond_the_tail_are_not_out),
		cmocka_unit_test(stamp_of_long_ago_is_not_out),
		cmocka_unit_test(window_agrees_with_numbers_that_do_not_wrap),
		cmocka_unit_test(stamp_of_2_to_the_32_packets_ago_looks_out_again),
		cmocka_unit_test(pin_that_was_never_set_is_not_out_of_a_fresh_lane),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
