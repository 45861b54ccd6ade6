/* SPDX-License-Identifier: BSD-3-Clause */
/* random (A4, and X4, which asks the same): uniform over the routable workers, repeatable by its
 * seed. */
#include "test.h"

#include "pick.h"
#include "rig.h"

#define N_PACKETS 40000

/* Sends N_PACKETS through a pool of `n` workers of `seed` and keeps each one's worker. */
static weir_worker_id *
sequence_of(uint32_t n, uint64_t seed, uint32_t burst)
{
	weir_worker_id *sequence = calloc(N_PACKETS, sizeof(*sequence));
	struct weir_config config = rig_config("random", n);
	struct rig *rig;

	assert_non_null(sequence);
	config.seed = seed;
	rig = rig_create(&config, N_PACKETS);
	for (uint32_t done = 0; done < N_PACKETS; done += burst) {
		assert_int_equal(rig_dispatch(rig, burst), burst);
		for (uint32_t i = 0; i < burst; i++)
			sequence[done + i] = rig_last(rig, burst)[i].charged;
		for (uint32_t id = 0; id < n; id++)
			rig_work(rig, (weir_worker_id)id, UINT32_MAX);
	}
	rig_destroy(rig);
	return sequence;
}

static void
a4_each_of_four_workers_gets_its_quarter_within_3_percent(void **state)
{
	weir_worker_id *sequence = sequence_of(4, 42, 32);
	uint32_t share[4] = { 0 };
	uint32_t sum = 0;

	(void)state;
	for (uint32_t i = 0; i < N_PACKETS; i++)
		share[sequence[i]]++;
	for (uint32_t w = 0; w < 4; w++) {
		assert_in_range(share[w], 9700, 10300);
		sum += share[w];
	}
	assert_int_equal(sum, N_PACKETS);
	free(sequence);
}

static void
a4_the_same_seed_gives_the_same_sequence_whatever_the_bursts(void **state)
{
	weir_worker_id *first = sequence_of(4, 42, 32);
	weir_worker_id *again = sequence_of(4, 42, 32);
	weir_worker_id *singly = sequence_of(4, 42, 1);

	(void)state;
	assert_memory_equal(first, again, N_PACKETS * sizeof(*first));
	assert_memory_equal(first, singly, N_PACKETS * sizeof(*first));
	free(first);
	free(again);
	free(singly);
}

static void
another_seed_gives_another_sequence(void **state)
{
	weir_worker_id *first = sequence_of(4, 42, 32);
	weir_worker_id *other = sequence_of(4, 43, 32);
	uint32_t equal = 0;

	(void)state;
	for (uint32_t i = 0; i < N_PACKETS; i++)
		equal += first[i] == other[i];
	/* Independent sequences agree on a quarter: 10,000, with a standard deviation of 87. */
	assert_in_range(equal, 9600, 10400);
	free(first);
	free(other);
}

/* X4: nothing is shared between dispatchers, the source of random numbers included. */
static void
x4_dispatchers_draw_differently_from_one_seed(void **state)
{
	struct weir_config config = rig_config("random", 4);
	struct rig *rig;
	uint32_t equal = 0;

	(void)state;
	config.n_dispatchers = 2;
	rig = rig_create(&config, 256);
	weir_message_index_set(rig->dispatcher[1].dispatcher, 0);
	for (uint32_t i = 0; i < 8; i++) {
		rig_dispatch_from(rig, 0, 32);
		rig_dispatch_from(rig, 1, 32);
	}
	for (uint32_t i = 0; i < 256; i++)
		equal += rig->dispatcher[0].packets[i].charged ==
			 rig->dispatcher[1].packets[i].charged;
	/* Expected 64, with a standard deviation of 7; all 256 if the draws were the same. */
	assert_in_range(equal, 29, 99);
	rig_destroy(rig);
}

static void
a4_nothing_is_routed_without_workers(void **state)
{
	const struct weir_config config = rig_config("random", 1);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_int_equal(weir_pool_remove(rig->pool, 0), 0);
	assert_routes(rig, WEIR_WORKER_NONE, WEIR_WORKER_NONE);
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_NO_ROUTE], 2);
	assert_int_equal(rig_ledger(rig).in_lanes, 0);
	rig_destroy(rig);
}

static void
draw_depends_on_the_index_alone(void **state)
{
	struct pick *pick = pick_create("random", 100);
	uint16_t forwards[64];

	(void)state;
	for (uint32_t i = 0; i < 64; i++)
		forwards[i] = pick_at(pick, i);
	for (uint32_t i = 64; i > 0; i--)
		assert_int_equal(pick_at(pick, i - 1), forwards[i - 1]);
	pick_destroy(pick);
}

static void
a2_draws_at_the_wrap_stay_in_the_pool(void **state)
{
	static const uint64_t starts[] = { UINT64_MAX - 1, (UINT64_C(1) << 32) - 2 };

	(void)state;
	for (uint32_t n = 1; n <= 256; n = n * 2 + 1) {
		struct pick *pick = pick_create("random", n);

		for (size_t i = 0; i < ARRAY_LENGTH(starts); i++) {
			pick_set_index(pick, starts[i]);
			pick_burst(pick, 256); /* asserts that each is below n */
		}
		pick_destroy(pick);
	}
}

static void
every_worker_of_a_large_pool_is_drawn(void **state)
{
	struct pick *pick = pick_create("random", 256);
	uint32_t share[256] = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 100; i++) {
		pick_burst(pick, 256);
		for (uint32_t j = 0; j < 256; j++)
			share[pick->out[j]]++;
	}
	/* Expected 100 each, with a standard deviation of 10; the seed is fixed. */
	for (uint32_t i = 0; i < 256; i++)
		assert_in_range(share[i], 60, 140);
	pick_destroy(pick);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a4_each_of_four_workers_gets_its_quarter_within_3_percent),
		cmocka_unit_test(a4_the_same_seed_gives_the_same_sequence_whatever_the_bursts),
		cmocka_unit_test(another_seed_gives_another_sequence),
		cmocka_unit_test(x4_dispatchers_draw_differently_from_one_seed),
		cmocka_unit_test(a4_nothing_is_routed_without_workers),
		cmocka_unit_test(draw_depends_on_the_index_alone),
		cmocka_unit_test(a2_draws_at_the_wrap_stay_in_the_pool),
		cmocka_unit_test(every_worker_of_a_large_pool_is_drawn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
