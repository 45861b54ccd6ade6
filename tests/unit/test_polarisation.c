/* SPDX-License-Identifier: BSD-3-Clause */
/* The polarisation alarm: rings for what the hash cannot spread, and for nothing else. */
#include "test.h"

#include <weir/weir.h>

static struct weir_polarisation
judge(const struct weir_bucket_use *now, uint32_t n_workers)
{
	static const struct weir_bucket_use nothing;

	return weir_polarisation_judge(&nothing, now, n_workers);
}

static struct weir_bucket_use
use_even(uint64_t packets_each)
{
	struct weir_bucket_use use = { 0 };

	for (uint32_t i = 0; i < WEIR_BUCKET_GROUPS; i++)
		use.all[i] = packets_each;
	return use;
}

static void
an_even_spread_has_eight_bits_and_rings_nothing(void **state)
{
	const struct weir_bucket_use use = use_even(1000);
	const struct weir_polarisation window = judge(&use, 4);

	(void)state;
	assert_int_equal(window.packets, 256000);
	assert_true(window.entropy_bits > 7.9999 && window.entropy_bits < 8.0001);
	assert_true(window.top_share == 1.0 / 256);
	assert_false(window.alarm);
}

static void
fragments_in_one_group_ring(void **state)
{
	struct weir_bucket_use use = use_even(1);
	struct weir_polarisation window;

	(void)state;
	use.all[77] = 2000;
	use.fallback[77] = 2000;
	window = judge(&use, 4);
	assert_int_equal(window.top_group, 77);
	assert_true(window.alarm);
	assert_true(window.entropy_bits < 2);
}

static void
one_large_flow_with_ports_does_not_ring(void **state)
{
	struct weir_bucket_use use = use_even(1);

	(void)state;
	use.all[77] = 2000;
	use.fallback[77] = 999;
	assert_false(judge(&use, 4).alarm);
	use.fallback[77] = 1000;
	assert_true(judge(&use, 4).alarm);
}

static void
a_group_may_have_a_workers_share_and_no_more(void **state)
{
	struct weir_bucket_use use = { 0 };

	(void)state;
	use.all[0] = 1000;
	use.fallback[0] = 1000;
	use.all[1] = 3000;
	use.fallback[1] = 0;
	/* Group 1 is the largest, and it has ports. */
	assert_false(judge(&use, 4).alarm);
	use.fallback[1] = 3000;
	assert_true(judge(&use, 4).alarm);
	assert_true(judge(&use, 2).alarm);
	assert_false(judge(&use, 1).alarm);
	use.all[0] = 3000;
	assert_false(judge(&use, 2).alarm);
}

static void
few_packets_prove_nothing(void **state)
{
	struct weir_bucket_use use = { 0 };

	(void)state;
	assert_false(judge(&use, 4).alarm);
	use.all[9] = use.fallback[9] = WEIR_POLARISATION_PKTS_MIN - 1;
	assert_false(judge(&use, 4).alarm);
	use.all[9] = use.fallback[9] = WEIR_POLARISATION_PKTS_MIN;
	assert_true(judge(&use, 4).alarm);
	assert_true(judge(&use, 4).entropy_bits == 0);
}

static void
only_the_window_counts(void **state)
{
	struct weir_bucket_use before = use_even(5);
	struct weir_bucket_use now = use_even(2005);

	(void)state;
	before.all[3] = before.fallback[3] = UINT64_MAX - 10; /* wraps in the window */
	now.all[3] = now.fallback[3] = 1989;
	assert_int_equal(weir_polarisation_judge(&before, &now, 4).packets, 256 * 2000);
	assert_false(weir_polarisation_judge(&before, &now, 4).alarm);
}

static void
groups_are_256_neighbouring_buckets(void **state)
{
	(void)state;
	assert_int_equal(weir_bucket_group(0), 0);
	assert_int_equal(weir_bucket_group(255), 0);
	assert_int_equal(weir_bucket_group(256), 1);
	assert_int_equal(weir_bucket_group(65535), WEIR_BUCKET_GROUPS - 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_even_spread_has_eight_bits_and_rings_nothing),
		cmocka_unit_test(fragments_in_one_group_ring),
		cmocka_unit_test(one_large_flow_with_ports_does_not_ring),
		cmocka_unit_test(a_group_may_have_a_workers_share_and_no_more),
		cmocka_unit_test(few_packets_prove_nothing),
		cmocka_unit_test(only_the_window_counts),
		cmocka_unit_test(groups_are_256_neighbouring_buckets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
