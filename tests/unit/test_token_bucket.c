/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/base/token_bucket.h: exact at every rate, and nothing by a clock that nobody told. */
#include "test.h"

#include "token_bucket.h"

#define MS UINT64_C(1000000)

static bool
take_at(struct token_bucket *bucket, uint64_t now_ns)
{
	token_bucket_fill(bucket, now_ns);
	return token_bucket_take(bucket);
}

/* At most 1, 2 per 1 ms. */
static void
n18_the_sources_vector(void **state)
{
	struct token_bucket bucket = token_bucket_make(2000, 1);

	(void)state;
	assert_true(take_at(&bucket, 5 * MS));
	assert_false(take_at(&bucket, 5 * MS));
	assert_true(take_at(&bucket, 6 * MS));
	assert_false(take_at(&bucket, 6 * MS));
	/* Three idle ticks: still one token. */
	assert_true(take_at(&bucket, 9 * MS));
	assert_false(take_at(&bucket, 9 * MS));
}

static void
it_starts_full_and_fills_nothing_while_the_time_is_not_known(void **state)
{
	struct token_bucket bucket = token_bucket_make(1000000000, 3);

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		assert_true(take_at(&bucket, 0));
	assert_false(take_at(&bucket, 0));
	/* The first time that is told is where it begins to count. */
	assert_false(take_at(&bucket, 1000 * MS));
	assert_true(take_at(&bucket, 1000 * MS + 1));
}

static void
nothing_is_lost_however_often_it_is_filled(void **state)
{
	struct token_bucket bucket = token_bucket_make(3, 1000);
	uint32_t taken = 0;

	(void)state;
	while (token_bucket_take(&bucket))
		;
	token_bucket_fill(&bucket, 1);
	/* Ten seconds in steps that are far shorter than a token takes. */
	for (uint64_t now_ns = 1; now_ns <= 10 * 1000 * MS + 1; now_ns += 12500)
		taken += take_at(&bucket, now_ns);
	taken += take_at(&bucket, 10 * 1000 * MS + 1);
	assert_int_equal(taken, 30);
}

static void
it_is_full_after_the_longest_time_at_the_highest_rate(void **state)
{
	struct token_bucket bucket = token_bucket_make(1000000000, INT32_MAX);

	(void)state;
	token_bucket_fill(&bucket, 1);
	assert_true(token_bucket_take(&bucket));
	token_bucket_fill(&bucket, UINT64_MAX);
	assert_int_equal(bucket.credit, bucket.credit_max);
	assert_int_equal(bucket.credit_max, INT32_MAX * TOKEN_CREDIT);
}

static void
what_is_given_back_does_not_go_beyond_the_brim(void **state)
{
	struct token_bucket bucket = token_bucket_make(1, 2);

	(void)state;
	assert_true(token_bucket_take(&bucket));
	token_bucket_return(&bucket);
	token_bucket_return(&bucket);
	assert_true(token_bucket_take(&bucket));
	assert_true(token_bucket_take(&bucket));
	assert_false(token_bucket_take(&bucket));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(n18_the_sources_vector),
		cmocka_unit_test(it_starts_full_and_fills_nothing_while_the_time_is_not_known),
		cmocka_unit_test(nothing_is_lost_however_often_it_is_filled),
		cmocka_unit_test(it_is_full_after_the_longest_time_at_the_highest_rate),
		cmocka_unit_test(what_is_given_back_does_not_go_beyond_the_brim),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
