/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/pool/health.c: lost, stuck and slow, told apart (X11). */
#include "test.h"

#include <weir/health.h>
#include <weir/pool.h>

#define MS UINT64_C(1000000)
#define PERIOD (10 * MS)
#define TICK (5 * MS)

static const struct weir_health_limits ten_ms = { .period_ns = PERIOD };

/* A worker that beats and works all the time up to `from`; the last beat is at that moment. */
static struct weir_health
healthy_until(struct weir_health_reading *reading, uint64_t from)
{
	struct weir_health health;

	*reading = (struct weir_health_reading) { .now_ns = from, .beats = 7, .cpu_ns = from };
	health = weir_health_make(reading);
	assert_int_equal(weir_health_judge(&health, &ten_ms, reading), 0);
	return health;
}

/* X11: P = 10 ms, last beat at t0: routable at t0 + 29.9 ms, out by t0 + 40 ms. */
static void
a_worker_is_lost_between_three_and_four_periods_after_its_last_beat(void **state)
{
	const uint64_t t0 = 12345 * MS;
	struct weir_health_reading reading;
	struct weir_health health = healthy_until(&reading, t0);
	uint64_t lost_at = 0;

	(void)state;
	reading.now_ns = reading.cpu_ns = t0 + 29900000;
	assert_int_equal(weir_health_judge(&health, &ten_ms, &reading), 0);
	for (uint64_t now = t0 + 30 * MS; now <= t0 + 40 * MS && lost_at == 0; now += TICK) {
		reading.now_ns = reading.cpu_ns = now;
		if (weir_health_judge(&health, &ten_ms, &reading) == WEIR_WORKER_LOST)
			lost_at = now;
	}
	assert_true(lost_at >= t0 + 30 * MS && lost_at <= t0 + 40 * MS);
}

/* X11: it beats again: back with the next look, which is within a period. */
static void
a_lost_worker_is_back_when_it_beats(void **state)
{
	struct weir_health_reading reading;
	struct weir_health health = healthy_until(&reading, 0);

	(void)state;
	reading.now_ns = reading.cpu_ns = 100 * MS;
	assert_int_equal(weir_health_judge(&health, &ten_ms, &reading), WEIR_WORKER_LOST);
	/* No CPU, no beat: it is as lost as before. */
	reading.now_ns = 500 * MS;
	assert_int_equal(weir_health_judge(&health, &ten_ms, &reading), WEIR_WORKER_LOST);
	reading.now_ns += TICK;
	reading.beats++;
	assert_int_equal(weir_health_judge(&health, &ten_ms, &reading), 0);
	/* And its time begins anew. */
	reading.now_ns += 29 * MS;
	reading.cpu_ns += 29 * MS;
	assert_int_equal(weir_health_judge(&health, &ten_ms, &reading), 0);
}

static void
a_worker_that_gets_no_cpu_is_not_lost(void **state)
{
	struct weir_health_reading reading;
	struct weir_health health = healthy_until(&reading, 0);

	(void)state;
	/* The rest of the time slice in which it beat: less than a period. */
	reading.cpu_ns += PERIOD - 1;
	for (uint64_t now = 0; now < 10000 * MS; now += TICK) {
		reading.now_ns = now;
		assert_int_equal(weir_health_judge(&health, &ten_ms, &reading), 0);
	}
	reading.cpu_ns++;
	assert_int_equal(weir_health_judge(&health, &ten_ms, &reading), WEIR_WORKER_LOST);
}

static void
a_halted_worker_is_lost_though_it_uses_no_cpu(void **state)
{
	struct weir_health_reading reading;
	struct weir_health health = healthy_until(&reading, 0);

	(void)state;
	reading.is_halted = true;
	reading.now_ns = 3 * PERIOD - 1;
	assert_int_equal(weir_health_judge(&health, &ten_ms, &reading), 0);
	reading.now_ns = 3 * PERIOD;
	assert_int_equal(weir_health_judge(&health, &ten_ms, &reading), WEIR_WORKER_LOST);
	/* It runs again, but has not yet beaten. */
	reading.is_halted = false;
	assert_int_equal(weir_health_judge(&health, &ten_ms, &reading), WEIR_WORKER_LOST);
	reading.beats++;
	assert_int_equal(weir_health_judge(&health, &ten_ms, &reading), 0);
}

static void
workers_that_share_a_cpu_have_so_many_times_longer(void **state)
{
	const struct weir_health_limits shared = { .period_ns = PERIOD, .n_sharers = 16 };
	struct weir_health_reading reading;
	struct weir_health health = healthy_until(&reading, 0);

	(void)state;
	reading.cpu_ns += 20 * MS;
	reading.now_ns = 16 * 3 * PERIOD - 1;
	assert_int_equal(weir_health_judge(&health, &shared, &reading), 0);
	reading.now_ns++;
	assert_int_equal(weir_health_judge(&health, &shared, &reading), WEIR_WORKER_LOST);
}

/*
 * Sixteen on one CPU that get it by turns of any length, and beat when they have it: nobody is ever
 * lost, however late the looks come.
 */
static void
sixteen_that_take_turns_on_a_cpu_are_never_lost(void **state)
{
	const struct weir_health_limits shared = { .period_ns = PERIOD, .n_sharers = 16 };
	struct test_random random = test_random_start("health by turns");
	struct weir_health_reading reading[16];
	struct weir_health health[16];
	uint64_t last_beat[16] = { 0 };
	uint64_t now = 0;
	uint64_t next_look = 0;

	(void)state;
	for (uint32_t i = 0; i < 16; i++)
		health[i] = healthy_until(&reading[i], 0);
	while (now < 100000 * MS) {
		const uint32_t runs = test_random_below(&random, 16);
		const uint64_t turn = 1 + test_random_below(&random, 4 * PERIOD);

		/* In steps of a burst: between two it beats if half a period has passed. */
		for (uint64_t used = 0; used < turn; used += MS) {
			now += MS;
			reading[runs].cpu_ns += MS;
			if (now - last_beat[runs] >= PERIOD / 2) {
				reading[runs].beats++;
				last_beat[runs] = now;
			}
		}
		if (now < next_look)
			continue;
		next_look = now + test_random_below(&random, 10 * TICK);
		for (uint32_t i = 0; i < 16; i++) {
			reading[i].now_ns = now;
			assert_int_equal(weir_health_judge(&health[i], &shared, &reading[i]), 0);
		}
	}
}

static void
a_worker_with_packets_that_finishes_none_is_stuck(void **state)
{
	const struct weir_health_limits limits = { .stuck_ns = 1000 * MS };
	struct weir_health_reading reading;
	struct weir_health health = healthy_until(&reading, 0);

	(void)state;
	reading.depth = 1;
	reading.now_ns = 1000 * MS - 1;
	assert_int_equal(weir_health_judge(&health, &limits, &reading), 0);
	reading.now_ns++;
	assert_int_equal(weir_health_judge(&health, &limits, &reading), WEIR_WORKER_STUCK);
	/* One is finished, there are others: its time begins anew. */
	reading.finished = 1;
	assert_int_equal(weir_health_judge(&health, &limits, &reading), 0);
	reading.now_ns += 1000 * MS - 1;
	assert_int_equal(weir_health_judge(&health, &limits, &reading), 0);
}

static void
an_idle_worker_is_never_stuck(void **state)
{
	const struct weir_health_limits limits = { .stuck_ns = 1000 * MS };
	struct weir_health_reading reading;
	struct weir_health health = healthy_until(&reading, 0);

	(void)state;
	reading.now_ns = 3600 * 1000 * MS;
	assert_int_equal(weir_health_judge(&health, &limits, &reading), 0);
	/* What comes after an hour has its own time. */
	reading.depth = 5;
	reading.now_ns += 999 * MS;
	assert_int_equal(weir_health_judge(&health, &limits, &reading), 0);
	reading.now_ns += MS;
	assert_int_equal(weir_health_judge(&health, &limits, &reading), WEIR_WORKER_STUCK);
}

static void
neither_a_paused_nor_a_halted_worker_is_stuck(void **state)
{
	const struct weir_health_limits limits = { .period_ns = PERIOD, .stuck_ns = 1000 * MS };
	struct weir_health_reading reading;
	struct weir_health health = healthy_until(&reading, 0);

	(void)state;
	reading.depth = 5;
	reading.is_excused = true;
	reading.now_ns = 5000 * MS;
	assert_int_equal(weir_health_judge(&health, &limits, &reading), 0);
	reading.is_excused = false;
	reading.is_halted = true;
	reading.now_ns = 10000 * MS;
	assert_int_equal(weir_health_judge(&health, &limits, &reading), WEIR_WORKER_LOST);
	reading.is_halted = false;
	reading.now_ns += 999 * MS;
	assert_int_equal(weir_health_judge(&health, &limits, &reading), WEIR_WORKER_LOST);
	reading.now_ns += MS;
	assert_int_equal(weir_health_judge(&health, &limits, &reading),
		WEIR_WORKER_LOST | WEIR_WORKER_STUCK);
}

static void
nothing_is_judged_without_limits(void **state)
{
	const struct weir_health_limits none = { 0 };
	struct weir_health_reading reading;
	struct weir_health health = healthy_until(&reading, 0);

	(void)state;
	reading.now_ns = reading.cpu_ns = UINT64_C(1) << 60;
	reading.depth = 100;
	reading.is_halted = false;
	assert_int_equal(weir_health_judge(&health, &none, &reading), 0);
}

/* Shown only: X14, which would act upon what is slow, is not built. */
static void
slow_is_more_than_four_times_the_others_median(void **state)
{
	const uint64_t at_limit[] = { 100, 400, 100, 100 };
	const uint64_t above[] = { 100, 401, 100, 100 };
	const uint64_t all_slow[] = { 4000, 4010, 4000, 4100 };
	const uint64_t uneven[] = { 10, 500, 200 };

	(void)state;
	assert_false(weir_health_is_slow(at_limit, 4, 1));
	assert_true(weir_health_is_slow(above, 4, 1));
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(weir_health_is_slow(above, 4, i), i == 1);
		assert_false(weir_health_is_slow(all_slow, 4, i));
	}
	/* Of two others the slower one is the measure. */
	assert_false(weir_health_is_slow(uneven, 3, 1));
}

static void
nobody_is_slow_beside_fewer_than_two_others(void **state)
{
	const uint64_t two[] = { 1, 1000000 };
	const uint64_t idle[] = { 1, 1000000, 0, 0 };
	const uint64_t three[] = { 1, 1000000, 0, 1 };

	(void)state;
	assert_false(weir_health_is_slow(two, 2, 1));
	assert_false(weir_health_is_slow(idle, 4, 1));
	assert_true(weir_health_is_slow(three, 4, 1));
	/* One that had no packets is not slow. */
	assert_false(weir_health_is_slow(three, 4, 2));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_worker_is_lost_between_three_and_four_periods_after_its_last_beat),
		cmocka_unit_test(a_lost_worker_is_back_when_it_beats),
		cmocka_unit_test(a_worker_that_gets_no_cpu_is_not_lost),
		cmocka_unit_test(a_halted_worker_is_lost_though_it_uses_no_cpu),
		cmocka_unit_test(workers_that_share_a_cpu_have_so_many_times_longer),
		cmocka_unit_test(sixteen_that_take_turns_on_a_cpu_are_never_lost),
		cmocka_unit_test(a_worker_with_packets_that_finishes_none_is_stuck),
		cmocka_unit_test(an_idle_worker_is_never_stuck),
		cmocka_unit_test(neither_a_paused_nor_a_halted_worker_is_stuck),
		cmocka_unit_test(nothing_is_judged_without_limits),
		cmocka_unit_test(slow_is_more_than_four_times_the_others_median),
		cmocka_unit_test(nobody_is_slow_beside_fewer_than_two_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
