/* SPDX-License-Identifier: BSD-3-Clause */
/* p2c: two draws, the shallower one wins. Draws are repeatable; own picks count at once. */
#include "test.h"

#include "pick.h"
#include "rig.h"

/* Deals `n_packets` of `strategy` to `n` workers that work on none; returns the deepest. */
static uint32_t
deepest_of(const char *strategy, uint32_t n, uint32_t n_packets, uint64_t seed)
{
	struct pick *pick = pick_create(strategy, n);
	uint32_t *load = calloc(n, sizeof(*load));
	uint32_t deepest = 0;

	assert_non_null(load);
	pick->context.seed = seed;
	for (uint32_t done = 0; done < n_packets; done += 32) {
		pick_burst(pick, 32);
		for (uint32_t i = 0; i < 32; i++) {
			const uint32_t depth = ++load[pick->out[i]];

			deepest = depth > deepest ? depth : deepest;
		}
	}
	free(load);
	pick_destroy(pick);
	return deepest;
}

static void
of_two_workers_the_one_with_less_depth_always_wins(void **state)
{
	static const uint32_t left[] = { 3, 4 };
	static const uint32_t right[] = { 9, 0 };
	struct pick *pick = pick_create("p2c", 2);

	(void)state;
	pick_freeze(pick, left);
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(pick_at(pick, i), 0);
	pick_freeze(pick, right);
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(pick_at(pick, i), 1);
	pick_destroy(pick);
}

static void
the_deepest_of_all_is_never_picked(void **state)
{
	static const uint32_t depth[] = { 5, 2, 9, 2, 7 };
	struct pick *pick = pick_create("p2c", 5);

	(void)state;
	pick_freeze(pick, depth);
	for (uint32_t i = 0; i < 10000; i++)
		assert_int_not_equal(pick_at(pick, i), 2);
	pick_destroy(pick);
}

/*
 * Frozen depths: of the six pairs of four workers, worker 0 wins three, 1 two, 2 one, 3 none. Of
 * 60,000 picks that is 30,000, 20,000, 10,000; the standard deviation is at most 123.
 */
static void
shares_at_frozen_depths_are_those_of_the_pairs(void **state)
{
	static const uint32_t depth[] = { 1, 2, 3, 4 };
	struct pick *pick = pick_create("p2c", 4);
	uint32_t share[4] = { 0 };

	(void)state;
	pick_freeze(pick, depth);
	for (uint32_t i = 0; i < 60000; i++)
		share[pick_at(pick, i)]++;
	assert_in_range(share[0], 29400, 30600);
	assert_in_range(share[1], 19400, 20600);
	assert_in_range(share[2], 9400, 10600);
	assert_int_equal(share[3], 0);
	pick_destroy(pick);
}

/* If the second won ties, or the two were not different, shares would not be even. */
static void
equal_depths_are_dealt_evenly(void **state)
{
	static const uint32_t depth[] = { 6, 6, 6, 6, 6 };
	struct pick *pick = pick_create("p2c", 5);
	uint32_t share[5] = { 0 };

	(void)state;
	pick_freeze(pick, depth);
	for (uint32_t i = 0; i < 50000; i++)
		share[pick_at(pick, i)]++;
	for (uint32_t i = 0; i < 5; i++)
		assert_in_range(share[i], 9600, 10400); /* standard deviation: 89 */
	pick_destroy(pick);
}

/* The first drawn is what `random` draws of the same seed and index. */
static void
a_tie_goes_to_the_first_drawn(void **state)
{
	static const uint32_t depth[7] = { 0 };
	struct pick *pick = pick_create("p2c", 7);
	struct pick *random = pick_create("random", 7);

	(void)state;
	pick_freeze(pick, depth);
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(pick_at(pick, i), pick_at(random, i));
	pick_destroy(pick);
	pick_destroy(random);
}

static void
own_picks_of_a_burst_count(void **state)
{
	struct pick *pick = pick_create("p2c", 2);

	(void)state;
	pick_burst(pick, 32);
	/* With two workers it is exact: each pick goes to the shallower. */
	assert_int_equal(pick->depth[0], 16);
	assert_int_equal(pick->depth[1], 16);
	pick_destroy(pick);
}

static void
a_chunk_counts_as_its_packets(void **state)
{
	struct pick *pick = pick_create("p2c", 2);

	(void)state;
	pick_set_stride(pick, 8);
	pick_burst(pick, 5);
	assert_int_equal(pick->depth[0] + pick->depth[1], 40);
	assert_int_equal(pick->depth[pick->out[0]], 24);
	pick_destroy(pick);
}

static void
a_pick_looks_at_two_workers_whatever_their_number(void **state)
{
	(void)state;
	for (uint32_t n = 1; n <= WEIR_WORKERS_MAX; n *= 2) {
		struct pick *pick = pick_create("p2c", n);

		pick_burst(pick, 100);
		assert_int_equal(pick->context.depth_visits, n == 1 ? 100 : 200);
		pick_destroy(pick);
	}
}

static void
draw_depends_on_seed_and_index_alone(void **state)
{
	static const uint32_t depth[100] = { 0 };
	struct pick *pick = pick_create("p2c", 100);
	uint16_t forwards[64];
	uint32_t equal = 0;

	(void)state;
	pick_freeze(pick, depth);
	for (uint32_t i = 0; i < 64; i++)
		forwards[i] = pick_at(pick, i);
	for (uint32_t i = 64; i > 0; i--)
		assert_int_equal(pick_at(pick, i - 1), forwards[i - 1]);
	pick->context.seed++;
	for (uint32_t i = 0; i < 64; i++)
		equal += pick_at(pick, i) == forwards[i];
	assert_in_range(equal, 0, 8); /* expected: less than one */
	pick_destroy(pick);
}

/*
 * 25,600 packets over 256 workers, 100 each: a random deal's deepest has some 128, that of two
 * choices ln ln 256 / ln 2 + O(1) more than the mean, three to five. Fixed seeds.
 */
static void
the_deepest_worker_is_far_below_that_of_a_random_deal(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		const uint32_t random = deepest_of("random", 256, 25600, seed);
		const uint32_t p2c = deepest_of("p2c", 256, 25600, seed);

		assert_in_range(random, 120, 140);
		assert_in_range(p2c, 101, 105);
	}
}

static void
in_a_pool_a_stalled_worker_gets_no_more_than_the_others_leave(void **state)
{
	const struct weir_config config = rig_config("p2c", 4);
	struct rig *rig = rig_create(&config, 4096);

	(void)state;
	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(rig_dispatch(rig, 4), 4);
		for (weir_worker_id id = 1; id < 4; id++)
			rig_work(rig, id, UINT32_MAX);
	}
	/* Worker 0 never works: it is picked only while no deeper than what it is drawn with. */
	assert_in_range(rig_depth(rig, 0), 1, 4);
	rig_destroy(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_two_workers_the_one_with_less_depth_always_wins),
		cmocka_unit_test(the_deepest_of_all_is_never_picked),
		cmocka_unit_test(shares_at_frozen_depths_are_those_of_the_pairs),
		cmocka_unit_test(equal_depths_are_dealt_evenly),
		cmocka_unit_test(a_tie_goes_to_the_first_drawn),
		cmocka_unit_test(own_picks_of_a_burst_count),
		cmocka_unit_test(a_chunk_counts_as_its_packets),
		cmocka_unit_test(a_pick_looks_at_two_workers_whatever_their_number),
		cmocka_unit_test(draw_depends_on_seed_and_index_alone),
		cmocka_unit_test(the_deepest_worker_is_far_below_that_of_a_random_deal),
		cmocka_unit_test(in_a_pool_a_stalled_worker_gets_no_more_than_the_others_leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
