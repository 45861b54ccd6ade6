/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/stats/alarm.c: alarms whose threshold doubles (M2). */
#include "test.h"

#include <weir/alarm.h>

/* Raises one by one and notes the values at which the alarm rings. Returns how often. */
static uint32_t
rise_singly(struct weir_alarm *alarm, uint64_t from, uint64_t to, uint64_t *values, uint32_t max)
{
	uint32_t n = 0;

	for (uint64_t value = from; value <= to; value++) {
		const uint32_t rings = weir_alarm_rise(alarm, value);

		for (uint32_t i = 0; i < rings; i++) {
			assert_true(n < max);
			values[n++] = value;
		}
	}
	return n;
}

/* M2: threshold 100, fill to 401 → alarms at 100, 200 and 400 exactly. */
static void
alarm_rings_at_the_threshold_and_its_doubles_exactly(void **state)
{
	struct weir_alarm alarm = weir_alarm_make(100);
	uint64_t values[8];

	(void)state;
	assert_int_equal(rise_singly(&alarm, 0, 401, values, 8), 3);
	assert_int_equal(values[0], 100);
	assert_int_equal(values[1], 200);
	assert_int_equal(values[2], 400);
	assert_int_equal(alarm.count, 3);
	assert_int_equal(alarm.level, 400);
	assert_int_equal(alarm.threshold, 800);
}

/* M2: first threshold 10,000: 1,000 → 0, 10,001 → 1, 40,001 → 3 alarms. */
static void
vectors_of_the_mailbox_hold(void **state)
{
	static const struct {
		uint64_t value;
		uint32_t rings;
	} vectors[] = { { 0, 0 }, { 1000, 0 }, { 9999, 0 }, { 10000, 1 }, { 10001, 1 },
		{ 19999, 1 }, { 20000, 2 }, { 40001, 3 }, { 80000, 4 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(vectors); i++) {
		struct weir_alarm alarm = weir_alarm_make(10000);
		uint64_t values[8];

		assert_int_equal(
			rise_singly(&alarm, 0, vectors[i].value, values, 8), vectors[i].rings);
		assert_int_equal(weir_alarm_rings(10000, vectors[i].value), vectors[i].rings);
	}
}

/* M2: whoever looks seldom misses none. */
static void
alarm_rings_for_each_threshold_that_was_passed_at_once(void **state)
{
	struct weir_alarm alarm = weir_alarm_make(100);

	(void)state;
	assert_int_equal(weir_alarm_rise(&alarm, 99), 0);
	assert_int_equal(weir_alarm_rise(&alarm, 401), 3);
	assert_int_equal(alarm.level, 400);
	assert_int_equal(weir_alarm_rise(&alarm, 799), 0);
	assert_int_equal(weir_alarm_rise(&alarm, 3200), 3);
	assert_int_equal(alarm.count, 6);
}

/* M2: armed anew below half of the first threshold, and not at it. */
static void
alarm_is_armed_anew_below_half_of_the_first_threshold(void **state)
{
	struct weir_alarm alarm = weir_alarm_make(100);

	(void)state;
	assert_int_equal(weir_alarm_rise(&alarm, 250), 2);
	weir_alarm_fall(&alarm, 50);
	assert_int_equal(weir_alarm_rise(&alarm, 399), 0);
	weir_alarm_fall(&alarm, 49);
	assert_int_equal(weir_alarm_rise(&alarm, 99), 0);
	assert_int_equal(weir_alarm_rise(&alarm, 100), 1);
	assert_int_equal(alarm.level, 100);
	assert_int_equal(alarm.count, 3);
}

static void
half_of_an_odd_threshold_is_no_number(void **state)
{
	struct weir_alarm alarm = weir_alarm_make(5);

	(void)state;
	assert_int_equal(weir_alarm_rise(&alarm, 5), 1);
	weir_alarm_fall(&alarm, 3);
	assert_int_equal(weir_alarm_rise(&alarm, 9), 0);
	weir_alarm_fall(&alarm, 2);
	assert_int_equal(weir_alarm_rise(&alarm, 9), 1);
}

static void
threshold_of_one_rings_at_powers_of_two(void **state)
{
	struct weir_alarm alarm = weir_alarm_make(1);

	(void)state;
	assert_int_equal(weir_alarm_rise(&alarm, 0), 0);
	assert_int_equal(weir_alarm_rise(&alarm, 1), 1);
	assert_int_equal(weir_alarm_rise(&alarm, 1000), 9);
	weir_alarm_fall(&alarm, 0);
	assert_int_equal(weir_alarm_rise(&alarm, 1), 1);
}

static void
threshold_of_zero_never_rings(void **state)
{
	struct weir_alarm alarm = weir_alarm_make(0);

	(void)state;
	assert_int_equal(weir_alarm_rise(&alarm, UINT64_MAX), 0);
	weir_alarm_fall(&alarm, 0);
	assert_int_equal(weir_alarm_rise(&alarm, UINT64_MAX), 0);
	assert_int_equal(weir_alarm_rings(0, UINT64_MAX), 0);
}

/* M2: alarms are O(log n), up to the last number there is. */
static void
largest_values_end(void **state)
{
	(void)state;
	assert_int_equal(weir_alarm_rings(1, UINT64_MAX), 64);
	assert_int_equal(weir_alarm_rings(UINT64_MAX / 2 + 1, UINT64_MAX), 1);
	assert_int_equal(weir_alarm_rings(UINT64_MAX - 1, UINT64_MAX), 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alarm_rings_at_the_threshold_and_its_doubles_exactly),
		cmocka_unit_test(vectors_of_the_mailbox_hold),
		cmocka_unit_test(alarm_rings_for_each_threshold_that_was_passed_at_once),
		cmocka_unit_test(alarm_is_armed_anew_below_half_of_the_first_threshold),
		cmocka_unit_test(half_of_an_odd_threshold_is_no_number),
		cmocka_unit_test(threshold_of_one_rings_at_powers_of_two),
		cmocka_unit_test(threshold_of_zero_never_rings),
		cmocka_unit_test(largest_values_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
