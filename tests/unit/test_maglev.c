/* SPDX-License-Identifier: BSD-3-Clause */
/* maglev: even and weighted shares, how little moves, and no dependence on the pool's order. */
#include "test.h"

#include "pick.h"
#include "rig.h"

/* Owners of all buckets, by id, of a pool that may have weights. */
struct owners {
	weir_worker_id of[WEIR_BUCKETS];
	uint32_t load[WEIR_WORKERS_MAX];
};

static struct owners *
owners_make(const weir_worker_id *ids, const uint16_t *weights, uint32_t n)
{
	const struct weir_strategy *strategy = weir_strategy_find("maglev");
	struct pick *pick = pick_create_for("maglev", ids, n);
	struct owners *owners = calloc(1, sizeof(*owners));

	assert_non_null(owners);
	if (weights) {
		memcpy(pick->snapshot.weight, weights, n * sizeof(*weights));
		strategy->release((void *)(uintptr_t)pick->context.table);
		pick->context.table = strategy->prepare(strategy, &pick->snapshot);
		assert_non_null(pick->context.table);
		pick->snapshot.route[0].table = pick->context.table;
	}
	for (uint32_t bucket = 0; bucket < WEIR_BUCKETS; bucket++) {
		pick->meta[0].bucket = (uint16_t)bucket;
		owners->of[bucket] = ids[pick_at(pick, 0)];
		owners->load[owners->of[bucket]]++;
	}
	pick_destroy(pick);
	return owners;
}

/*
 * The paper's algorithm, entry by entry as it is printed there, with workers in the order of ids:
 * permutations written out, and an array of places in them.
 */
static void
paper_fill(uint16_t *entry, const uint32_t *offset, const uint32_t *skip, uint32_t n, uint32_t m)
{
	uint32_t next[8] = { 0 };
	uint32_t n_filled = 0;

	memset(entry, 0xff, m * sizeof(*entry));
	for (;;) {
		for (uint32_t i = 0; i < n; i++) {
			uint64_t c;

			do
				c = (offset[i] + (uint64_t)next[i]++ * skip[i]) % m;
			while (entry[c] != UINT16_MAX);
			entry[c] = (uint16_t)i;
			if (++n_filled == m)
				return;
		}
	}
}

static void
the_table_of_five_is_what_the_papers_algorithm_makes(void **state)
{
	/* Of ids 0 .. 4: SipHash-1-3 computed by other means. */
	static const uint32_t offset[] = { 47013, 15342, 16577, 5740, 27731 };
	static const uint32_t skip[] = { 36165, 24964, 531, 13845, 43848 };
	uint16_t *entry = calloc(65537, sizeof(*entry));
	weir_worker_id ids[5];
	struct owners *owners;

	(void)state;
	assert_non_null(entry);
	pick_ids_fill(ids, 5);
	owners = owners_make(ids, NULL, 5);
	paper_fill(entry, offset, skip, 5, 65537);
	for (uint32_t bucket = 0; bucket < WEIR_BUCKETS; bucket++)
		assert_int_equal(owners->of[bucket], entry[bucket]);
	free(owners);
	free(entry);
}

static void
shares_differ_by_at_most_the_turn_and_the_entry_that_is_left(void **state)
{
	static const uint32_t sizes[] = { 1, 2, 3, 4, 8, 16, 64, 255, 256 };

	(void)state;
	for (size_t s = 0; s < ARRAY_LENGTH(sizes); s++) {
		const uint32_t n = sizes[s];
		weir_worker_id ids[WEIR_WORKERS_MAX];
		struct owners *owners;

		pick_ids_fill(ids, n);
		owners = owners_make(ids, NULL, n);
		/* 65,537 entries by turns, of which the last is no bucket's. */
		for (uint32_t i = 0; i < n; i++)
			assert_in_range(owners->load[i], 65537 / n - 1, 65537 / n + 1);
		free(owners);
	}
}

static void
shares_are_as_the_weights(void **state)
{
	static const uint16_t weights[] = { 1, 2, 3, 100, 50, 4 };
	weir_worker_id ids[6];
	struct owners *owners;

	(void)state;
	pick_ids_fill(ids, 6);
	owners = owners_make(ids, weights, 6);
	for (uint32_t i = 0; i < 6; i++)
		assert_in_range(owners->load[i], 65537 * weights[i] / 160 - 2,
			65537 * weights[i] / 160 + 2);
	free(owners);
}

static void
a_worker_of_weight_one_among_the_heaviest_has_its_two_or_three_buckets(void **state)
{
	weir_worker_id ids[WEIR_WORKERS_MAX];
	uint16_t weights[WEIR_WORKERS_MAX];
	struct owners *owners;

	(void)state;
	pick_ids_fill(ids, WEIR_WORKERS_MAX);
	for (uint32_t i = 0; i < WEIR_WORKERS_MAX; i++)
		weights[i] = i == 77 ? 1 : WEIR_WEIGHT_MAX;
	owners = owners_make(ids, weights, WEIR_WORKERS_MAX);
	assert_in_range(owners->load[77], 1, 3);
	free(owners);
}

static void
equal_weights_are_no_weights(void **state)
{
	static const uint16_t weights[] = { 7, 7, 7, 7, 7 };
	weir_worker_id ids[5];
	struct owners *weighted;
	struct owners *plain;

	(void)state;
	pick_ids_fill(ids, 5);
	weighted = owners_make(ids, weights, 5);
	plain = owners_make(ids, NULL, 5);
	assert_memory_equal(weighted, plain, sizeof(*plain));
	free(weighted);
	free(plain);
}

static void
permuting_the_pool_changes_no_owner(void **state)
{
	static const weir_worker_id up[] = { 3, 17, 40, 255 };
	static const weir_worker_id mixed[] = { 40, 255, 3, 17 };
	static const uint16_t up_weights[] = { 1, 9, 3, 4 };
	static const uint16_t mixed_weights[] = { 3, 4, 1, 9 };
	struct owners *one = owners_make(up, up_weights, 4);
	struct owners *other = owners_make(mixed, mixed_weights, 4);

	(void)state;
	assert_memory_equal(one, other, sizeof(*one));
	free(one);
	free(other);
}

/* Buckets that move though their owner stays, when `gone` of n leaves. */
static uint32_t
moved_beyond(uint32_t n, uint32_t gone)
{
	weir_worker_id ids[WEIR_WORKERS_MAX];
	struct owners *before;
	struct owners *after;
	uint32_t moved = 0;

	pick_ids_fill(ids, n);
	before = owners_make(ids, NULL, n);
	ids[gone] = ids[n - 1];
	after = owners_make(ids, NULL, n - 1);
	assert_int_equal(after->load[gone], 0);
	for (uint32_t bucket = 0; bucket < WEIR_BUCKETS; bucket++)
		moved += before->of[bucket] != gone && after->of[bucket] != before->of[bucket];
	free(before);
	free(after);
	return moved;
}

static void
few_buckets_move_beyond_those_of_the_worker_that_leaves(void **state)
{
	static const uint32_t sizes[] = { 2, 4, 8, 16, 64, 256 };

	(void)state;
	/* With two the other gets all; else below 1 % of all buckets, whoever leaves. */
	assert_int_equal(moved_beyond(2, 0), 0);
	for (size_t s = 1; s < ARRAY_LENGTH(sizes); s++) {
		const uint32_t n = sizes[s];

		for (uint32_t gone = 0; gone < n; gone += 1 + n / 8)
			assert_in_range(moved_beyond(n, gone), 1, WEIR_BUCKETS / 100);
	}
}

static void
weights_of_the_pool_reach_the_table(void **state)
{
	struct weir_config config = rig_config("maglev", 3);
	uint32_t packets[3] = { 0 };
	struct rig *rig;

	(void)state;
	config.weights[1] = 8;
	rig = rig_create(&config, 4000);
	for (uint32_t i = 0; i < 2000; i++) {
		/* Spread over all buckets. */
		rig->bucket = (int)(i * 32);
		assert_int_equal(rig_dispatch(rig, 1), 1);
		packets[rig_last(rig, 1)->charged]++;
		rig_work(rig, rig_last(rig, 1)->charged, 1);
	}
	assert_in_range(packets[0], 150, 250);
	assert_in_range(packets[1], 1500, 1700);
	assert_in_range(packets[2], 150, 250);
	rig_destroy(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table_of_five_is_what_the_papers_algorithm_makes),
		cmocka_unit_test(shares_differ_by_at_most_the_turn_and_the_entry_that_is_left),
		cmocka_unit_test(shares_are_as_the_weights),
		cmocka_unit_test(
			a_worker_of_weight_one_among_the_heaviest_has_its_two_or_three_buckets),
		cmocka_unit_test(equal_weights_are_no_weights),
		cmocka_unit_test(permuting_the_pool_changes_no_owner),
		cmocka_unit_test(few_buckets_move_beyond_those_of_the_worker_that_leaves),
		cmocka_unit_test(weights_of_the_pool_reach_the_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
