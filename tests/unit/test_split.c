/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/decide: a burst in two parts by class, for urgent packets and the others. */
#include "test.h"

#include <weir/weir.h>

#define RANDOM_BURSTS 2000

/* A burst whose packet i has handle i + 1, data 1000 + i and metadata that says i. */
struct whole {
	void *packets[WEIR_BURST_MAX];
	void *data[WEIR_BURST_MAX];
	struct weir_meta meta[WEIR_BURST_MAX];
	struct weir_burst burst;
};

static struct weir_split split;

static void
whole_fill(struct whole *whole, const uint8_t *classes, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		whole->packets[i] = (void *)((uintptr_t)i + 1);
		whole->data[i] = (void *)((uintptr_t)i + 1000);
		whole->meta[i] = (struct weir_meta) { .time_ns = i, .class_id = classes[i] };
	}
	whole->burst = (struct weir_burst) {
		.packets = whole->packets,
		.data = whole->data,
		.meta = whole->meta,
		.n = n,
	};
}

/* Asserts that the part is packets `number[0 .. n - 1]` of a burst, with all that belongs to them.
 */
static void
assert_part(const struct weir_burst *part, const uint32_t *number, uint32_t n)
{
	assert_int_equal(part->n, n);
	assert_null(part->workers);
	for (uint32_t i = 0; i < n; i++) {
		assert_ptr_equal(part->packets[i], (void *)((uintptr_t)number[i] + 1));
		assert_ptr_equal(part->data[i], (void *)((uintptr_t)number[i] + 1000));
		assert_int_equal(part->meta[i].time_ns, number[i]);
	}
}

static void
m12_a_split_keeps_the_order_within_each_part(void **state)
{
	static const uint8_t classes[] = { 3, 0, 2, 3, 1, 2, 0 };
	struct whole whole;

	(void)state;
	whole_fill(&whole, classes, ARRAY_LENGTH(classes));
	weir_burst_split(&whole.burst, 1u << 2 | 1u << 3, &split);
	assert_part(&split.chosen, (const uint32_t[]) { 0, 2, 3, 5 }, 4);
	assert_part(&split.rest, (const uint32_t[]) { 1, 4, 6 }, 3);
}

static void
m12_classes_that_are_none_are_never_chosen(void **state)
{
	static const uint8_t classes[] = { 63, 64, 65, 127, 128, 255, 0 };
	struct whole whole;

	(void)state;
	whole_fill(&whole, classes, ARRAY_LENGTH(classes));
	weir_burst_split(&whole.burst, ~UINT64_C(1), &split);
	assert_part(&split.chosen, (const uint32_t[]) { 0 }, 1);
	assert_part(&split.rest, (const uint32_t[]) { 1, 2, 3, 4, 5, 6 }, 6);
}

static void
a_burst_of_one_kind_is_not_copied(void **state)
{
	static const uint8_t classes[] = { 1, 1 };
	struct whole whole;

	(void)state;
	whole_fill(&whole, classes, ARRAY_LENGTH(classes));
	weir_burst_split(&whole.burst, 1u << 1, &split);
	assert_ptr_equal(split.chosen.packets, whole.packets);
	assert_ptr_equal(split.chosen.meta, whole.meta);
	assert_part(&split.chosen, (const uint32_t[]) { 0, 1 }, 2);
	assert_int_equal(split.rest.n, 0);
	weir_burst_split(&whole.burst, 1u << 2, &split);
	assert_ptr_equal(split.rest.packets, whole.packets);
	assert_part(&split.rest, (const uint32_t[]) { 0, 1 }, 2);
	assert_int_equal(split.chosen.n, 0);
}

static void
an_empty_burst_has_two_empty_parts(void **state)
{
	const struct weir_burst none = { 0 };

	(void)state;
	weir_burst_split(&none, UINT64_MAX, &split);
	assert_int_equal(split.chosen.n, 0);
	assert_int_equal(split.rest.n, 0);
}

static void
without_data_the_handles_are_the_data(void **state)
{
	static const uint8_t classes[] = { 1, 0 };
	struct whole whole;

	(void)state;
	whole_fill(&whole, classes, ARRAY_LENGTH(classes));
	whole.burst.data = NULL;
	weir_burst_split(&whole.burst, 1u << 1, &split);
	assert_ptr_equal(split.chosen.data[0], whole.packets[0]);
	assert_ptr_equal(split.rest.data[0], whole.packets[1]);
	weir_burst_split(&whole.burst, 0, &split);
	assert_ptr_equal(split.rest.data[1], whole.packets[1]);
}

/* The numbers of the packets that belong to each part. */
struct parts {
	uint32_t n_chosen;
	uint32_t n_rest;
	uint32_t chosen[WEIR_BURST_MAX];
	uint32_t rest[WEIR_BURST_MAX];
};

static struct parts
parts_expected(const uint8_t *class_of, uint32_t n, uint64_t classes)
{
	struct parts parts = { 0 };

	for (uint32_t i = 0; i < n; i++) {
		if (class_of[i] < 64 && (classes >> class_of[i] & 1))
			parts.chosen[parts.n_chosen++] = i;
		else
			parts.rest[parts.n_rest++] = i;
	}
	return parts;
}

static void
every_packet_of_random_bursts_is_in_the_part_of_its_class(void **state)
{
	struct test_random random = test_random_start(__func__);

	(void)state;
	for (uint32_t round = 0; round < RANDOM_BURSTS; round++) {
		const uint64_t classes = test_random_next(&random) & test_random_next(&random);
		const uint32_t n = test_random_below(&random, WEIR_BURST_MAX + 1);
		uint8_t class_of[WEIR_BURST_MAX];
		struct whole whole;
		struct parts parts;

		for (uint32_t i = 0; i < n; i++)
			class_of[i] = (uint8_t)test_random_below(&random, 80);
		parts = parts_expected(class_of, n, classes);
		whole_fill(&whole, class_of, n);
		weir_burst_split(&whole.burst, classes, &split);
		assert_part(&split.chosen, parts.chosen, parts.n_chosen);
		assert_part(&split.rest, parts.rest, parts.n_rest);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(m12_a_split_keeps_the_order_within_each_part),
		cmocka_unit_test(m12_classes_that_are_none_are_never_chosen),
		cmocka_unit_test(a_burst_of_one_kind_is_not_copied),
		cmocka_unit_test(an_empty_burst_has_two_empty_parts),
		cmocka_unit_test(without_data_the_handles_are_the_data),
		cmocka_unit_test(every_packet_of_random_bursts_is_in_the_part_of_its_class),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
