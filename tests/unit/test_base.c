/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/base: remainders, random numbers, sequence numbers, sets, counters and memory areas. */
#include "test.h"

#include "area.h"
#include "bitset.h"
#include "cacheline.h"
#include "counter.h"
#include "fastmod.h"
#include "seq.h"

static void
fastmod_equals_the_remainder_at_the_edges(void **state)
{
	static const uint32_t values[] = { 0, 1, 2, 255, 256, 65535, 65536, INT32_MAX,
		UINT32_MAX - 1, UINT32_MAX };

	(void)state;
	for (uint32_t divisor = 1; divisor <= 1024; divisor++) {
		const struct fastmod by = fastmod_make(divisor);

		assert_int_equal(by.divisor, divisor);
		for (size_t i = 0; i < ARRAY_LENGTH(values); i++)
			assert_int_equal(fastmod(by, values[i]), values[i] % divisor);
	}
}

static void
fastmod_equals_the_remainder_for_a_million_random_pairs(void **state)
{
	struct test_random random = test_random_start(__func__);

	(void)state;
	for (uint32_t i = 0; i < 1000000; i++) {
		const uint32_t value = (uint32_t)test_random_next(&random);
		const uint32_t shift = test_random_below(&random, 32);
		const uint32_t divisor = ((uint32_t)test_random_next(&random) >> shift) | 1;

		if (fastmod(fastmod_make(divisor), value) != value % divisor)
			fail_msg("%u mod %u", value, divisor);
	}
}

static void
fastmod_wide_equals_the_remainder_of_64_bits(void **state)
{
	static const uint64_t values[] = { 0, 1, UINT32_MAX, UINT64_C(1) << 32,
		(UINT64_C(1) << 32) + 1, INT64_MAX, UINT64_MAX - 1, UINT64_MAX };
	struct test_random random = test_random_start(__func__);

	(void)state;
	for (uint32_t divisor = 1; divisor <= FASTMOD_WIDE_MAX; divisor++) {
		const struct fastmod_wide wide = fastmod_wide_make(divisor);
		const uint64_t value = test_random_next(&random);

		for (size_t i = 0; i < ARRAY_LENGTH(values); i++)
			assert_int_equal(fastmod_wide(&wide, values[i]), values[i] % divisor);
		assert_int_equal(fastmod_wide(&wide, value), value % divisor);
	}
}

static void
rng_draws_the_published_splitmix64_sequence(void **state)
{
	/* The first outputs from seed 1234567. */
	static const uint64_t expected[] = { UINT64_C(6457827717110365317),
		UINT64_C(3203168211198807973), UINT64_C(9817491932198370423),
		UINT64_C(4593380528125082431), UINT64_C(16408922859458223821) };

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(expected); i++)
		assert_true(rng_at(1234567, i) == expected[i]);
}

static void
rng_below_maps_the_whole_range_evenly(void **state)
{
	(void)state;
	assert_int_equal(rng_below(0, 256), 0);
	assert_int_equal(rng_below(UINT64_MAX, 256), 255);
	assert_int_equal(rng_below(UINT64_MAX, 1), 0);
	for (uint32_t i = 0; i < 256; i++)
		assert_int_equal(rng_below((uint64_t)i << 56, 256), i);
}

static void
seq_distance_wraps(void **state)
{
	(void)state;
	assert_int_equal(seq_distance(5, 5), 0);
	assert_int_equal(seq_distance(5, 7), 2);
	assert_int_equal(seq_distance(UINT32_MAX, 1), 2);
}

static void
seq_within_holds_for_both_ends_and_across_the_wrap(void **state)
{
	(void)state;
	assert_true(seq_within(10, 10, 20));
	assert_true(seq_within(10, 20, 20));
	assert_false(seq_within(10, 21, 20));
	assert_false(seq_within(10, 9, 20));
	assert_true(seq_within(7, 7, 7));
	assert_false(seq_within(7, 8, 7));
	assert_true(seq_within(UINT32_MAX - 1, 3, 5));
	assert_false(seq_within(UINT32_MAX - 1, 6, 5));
	assert_false(seq_within(UINT32_MAX - 1, UINT32_MAX - 2, 5));
}

static void
bitset_keeps_each_id_apart(void **state)
{
	(void)state;
	for (uint32_t id = 0; id < 64 * BITSET_WORDS; id++) {
		struct bitset set = { 0 };

		bitset_add(&set, id);
		for (uint32_t other = 0; other < 64 * BITSET_WORDS; other++)
			assert_int_equal(bitset_has(&set, other), other == id);
		bitset_remove(&set, id);
		assert_false(bitset_has(&set, id));
	}
}

static void
bitset_pops_ids_in_ascending_order(void **state)
{
	static const uint32_t ids[] = { 0, 1, 63, 64, 100, 127, 128, 191, 192, 255 };
	struct bitset set = { 0 };
	size_t found = 0;

	(void)state;
	for (size_t i = ARRAY_LENGTH(ids); i > 0; i--)
		bitset_add(&set, ids[i - 1]);
	for (uint32_t w = 0; w < BITSET_WORDS; w++) {
		uint64_t bits = set.word[w];

		while (bits)
			assert_int_equal(bitset_pop(&bits, w), ids[found++]);
	}
	assert_int_equal(found, ARRAY_LENGTH(ids));
}

static void
bitset_adds_another_set(void **state)
{
	struct bitset set = { 0 };
	struct bitset other = { 0 };

	(void)state;
	bitset_add(&set, 3);
	bitset_add(&other, 3);
	bitset_add(&other, 200);
	bitset_add_all(&set, &other);
	assert_true(bitset_has(&set, 3));
	assert_true(bitset_has(&set, 200));
	assert_false(bitset_has(&set, 4));
}

static void
counter_adds_and_sets(void **state)
{
	struct counter counter = { 0 };

	(void)state;
	counter_add(&counter, 5);
	counter_add(&counter, UINT64_C(1) << 40);
	assert_true(counter_read(&counter) == (UINT64_C(1) << 40) + 5);
	counter_set(&counter, 7);
	assert_int_equal(counter_read(&counter), 7);
}

static void
round_up_gives_the_next_multiple(void **state)
{
	(void)state;
	assert_int_equal(round_up(0, 64), 0);
	assert_int_equal(round_up(1, 64), 64);
	assert_int_equal(round_up(64, 64), 64);
	assert_int_equal(round_up(65, 64), 128);
}

static void
area_is_zeroed_aligned_and_at_least_as_long_as_asked(void **state)
{
	static const size_t sizes[] = { 1, 4096, 4097, ((size_t)2 << 20) + 1 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
		struct area area;
		unsigned char *bytes;

		assert_int_equal(area_allocate(&area, sizes[i]), 0);
		assert_true(area.bytes >= sizes[i]);
		assert_int_equal((uintptr_t)area.memory % 4096, 0);
		bytes = area.memory;
		for (size_t at = 0; at < area.bytes; at++) {
			if (bytes[at] != 0)
				fail_msg("byte %zu is not zero", at);
		}
		memset(bytes, 0xff, area.bytes);
		area_free(&area);
		assert_null(area.memory);
		assert_int_equal(area.bytes, 0);
	}
}

static void
area_too_large_is_refused_and_empty(void **state)
{
	struct area area;

	(void)state;
	assert_int_equal(area_allocate(&area, SIZE_MAX / 2), -ENOMEM);
	assert_null(area.memory);
	area_free(&area);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fastmod_equals_the_remainder_at_the_edges),
		cmocka_unit_test(fastmod_equals_the_remainder_for_a_million_random_pairs),
		cmocka_unit_test(fastmod_wide_equals_the_remainder_of_64_bits),
		cmocka_unit_test(rng_draws_the_published_splitmix64_sequence),
		cmocka_unit_test(rng_below_maps_the_whole_range_evenly),
		cmocka_unit_test(seq_distance_wraps),
		cmocka_unit_test(seq_within_holds_for_both_ends_and_across_the_wrap),
		cmocka_unit_test(bitset_keeps_each_id_apart),
		cmocka_unit_test(bitset_pops_ids_in_ascending_order),
		cmocka_unit_test(bitset_adds_another_set),
		cmocka_unit_test(counter_adds_and_sets),
		cmocka_unit_test(round_up_gives_the_next_multiple),
		cmocka_unit_test(area_is_zeroed_aligned_and_at_least_as_long_as_asked),
		cmocka_unit_test(area_too_large_is_refused_and_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
