/* SPDX-License-Identifier: BSD-3-Clause */
/* XXL-JOB's ring as its source has it: the golden vectors of its own address list. */
#include "test.h"

#include "source/ring_source.h"

static const char *const three[] = { "192.168.0.1:1111", "192.168.0.2:2222", "192.168.0.3:3333" };

static void
ring_make(struct ring *ring, const char *const *addresses, uint32_t n)
{
	assert_int_equal(ring_source_init(ring, addresses, n), 0);
}

static uint32_t
owner_of(const struct ring *ring, uint32_t job)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", job);
	return ring_source_owner(ring, text);
}

static void
x5_three_addresses_make_three_hundred_different_points(void **state)
{
	struct ring ring;

	(void)state;
	ring_make(&ring, three, 3);
	assert_int_equal(ring_n_distinct(&ring), 300);
	ring_fini(&ring);
}

static void
x5_jobs_1000_to_1011_go_where_the_source_sends_them(void **state)
{
	static const uint32_t octets[] = { 1, 2, 1, 1, 2, 2, 3, 1, 1, 1, 2, 3 };
	struct ring ring;

	(void)state;
	ring_make(&ring, three, 3);
	for (uint32_t i = 0; i < ARRAY_LENGTH(octets); i++)
		assert_int_equal(owner_of(&ring, 1000 + i) + 1, octets[i]);
	ring_fini(&ring);
}

static void
x5_a_hundred_jobs_spread_37_32_31(void **state)
{
	uint32_t jobs[3] = { 0 };
	struct ring ring;

	(void)state;
	ring_make(&ring, three, 3);
	for (uint32_t job = 1000; job < 1100; job++)
		jobs[owner_of(&ring, job)]++;
	assert_int_equal(jobs[0], 37);
	assert_int_equal(jobs[1], 32);
	assert_int_equal(jobs[2], 31);
	ring_fini(&ring);
}

static void
x5_jobs_past_the_last_point_wrap_to_the_first(void **state)
{
	static const uint32_t jobs[] = { 4483, 4876, 21270 };
	struct ring ring;
	char text[16];

	(void)state;
	ring_make(&ring, three, 3);
	for (size_t i = 0; i < ARRAY_LENGTH(jobs); i++) {
		snprintf(text, sizeof(text), "%u", jobs[i]);
		assert_true(ring_hash(text) > ring.entry[ring.n - 1] >> 32);
		assert_int_equal(owner_of(&ring, jobs[i]), 1);
	}
	ring_fini(&ring);
}

static void
x5_dropping_the_third_moves_exactly_its_6833_of_20000_jobs(void **state)
{
	struct ring before;
	struct ring after;
	uint32_t moved = 0;

	(void)state;
	ring_make(&before, three, 3);
	ring_make(&after, three, 2);
	for (uint32_t job = 0; job < 20000; job++) {
		const uint32_t owner = owner_of(&before, job);

		if (owner != 2)
			assert_int_equal(owner_of(&after, job), owner);
		moved += owner == 2;
	}
	assert_int_equal(moved, 6833);
	ring_fini(&before);
	ring_fini(&after);
}

/* Node 34 of host-184 and node 38 of host-292 are one point; job 6056 is in the arc before it. */
static void
x5_of_equal_points_the_later_address_of_the_list_overwrites(void **state)
{
	static const char *const up[] = { "host-184", "host-292" };
	static const char *const down[] = { "host-292", "host-184" };
	struct ring ring;

	(void)state;
	assert_int_equal(ring_hash("SHARD-host-184-NODE-34"), 1808593311);
	assert_int_equal(ring_hash("SHARD-host-292-NODE-38"), 1808593311);
	ring_make(&ring, up, 2);
	assert_int_equal(ring_n_distinct(&ring), 199);
	assert_int_equal(owner_of(&ring, 6056), 1);
	ring_fini(&ring);
	ring_make(&ring, down, 2);
	assert_int_equal(owner_of(&ring, 6056), 1);
	ring_fini(&ring);
}

static void
x5_any_text_of_any_length_is_an_address(void **state)
{
	static char endless[5000];
	const char *const addresses[] = { "", "\xc3\xa9", endless };
	uint32_t jobs[3] = { 0 };
	struct ring ring;

	(void)state;
	memset(endless, 'x', sizeof(endless) - 1);
	ring_make(&ring, addresses, 3);
	assert_int_equal(ring_n_distinct(&ring), 300);
	for (uint32_t job = 0; job < 1000; job++)
		jobs[owner_of(&ring, job)]++;
	for (size_t i = 0; i < 3; i++)
		assert_true(jobs[i] > 0);
	ring_fini(&ring);
}

static void
x0_a_list_without_addresses_is_refused(void **state)
{
	struct ring ring;

	(void)state;
	assert_int_equal(ring_source_init(&ring, three, 0), -EINVAL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x5_three_addresses_make_three_hundred_different_points),
		cmocka_unit_test(x5_jobs_1000_to_1011_go_where_the_source_sends_them),
		cmocka_unit_test(x5_a_hundred_jobs_spread_37_32_31),
		cmocka_unit_test(x5_jobs_past_the_last_point_wrap_to_the_first),
		cmocka_unit_test(x5_dropping_the_third_moves_exactly_its_6833_of_20000_jobs),
		cmocka_unit_test(x5_of_equal_points_the_later_address_of_the_list_overwrites),
		cmocka_unit_test(x5_any_text_of_any_length_is_an_address),
		cmocka_unit_test(x0_a_list_without_addresses_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
