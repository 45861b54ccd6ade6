/* SPDX-License-Identifier: BSD-3-Clause */
/* round-robin: routable[index mod n], and what else A2 says of the message index. */
#include "test.h"

#include "pick.h"
#include "rig.h"

static void
a3_six_packets_over_three_workers_go_a_b_c_a_b_c(void **state)
{
	const struct weir_config config = rig_config("round-robin", 3);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_routes(rig, 0, 1, 2, 0, 1, 2);
	rig_destroy(rig);
}

static void
a3_a_burst_goes_as_its_packets_would_singly(void **state)
{
	const struct weir_config config = rig_config("round-robin", 3);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_routes_singly(rig, 0, 1, 2, 0);
	assert_routes(rig, 1, 2, 0, 1);
	assert_routes_singly(rig, 2, 0, 1);
	rig_destroy(rig);
}

static void
a3_nine_packets_are_exactly_three_each(void **state)
{
	const struct weir_config config = rig_config("round-robin", 3);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_int_equal(rig_dispatch(rig, 9), 9);
	for (weir_worker_id id = 0; id < 3; id++)
		assert_int_equal(rig_depth(rig, id), 3);
	rig_destroy(rig);
}

static void
a3_removing_the_middle_worker_leaves_three_each_on_the_others(void **state)
{
	const struct weir_config config = rig_config("round-robin", 3);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_routes(rig, 0, 1, 2);
	assert_int_equal(weir_pool_remove(rig->pool, 1), 0);
	/* Index 3 of two: the second one. */
	assert_routes(rig, 2, 0, 2, 0, 2, 0);
	assert_int_equal(rig_depth(rig, 0), 1 + 3);
	assert_int_equal(rig_depth(rig, 1), 1);
	assert_int_equal(rig_depth(rig, 2), 1 + 3);
	rig_drain(rig);
	assert_int_equal(rig_ledger(rig).completed, 9);
	rig_destroy(rig);
}

static void
neighbour_of_a_stopped_worker_gets_no_double_share(void **state)
{
	const struct weir_config config = rig_config("round-robin", 4);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_int_equal(weir_pool_set_state(rig->pool, 1, WEIR_WORKER_STOPPED), 0);
	assert_int_equal(rig_dispatch(rig, 30), 30);
	assert_int_equal(rig_depth(rig, 0), 10);
	assert_int_equal(rig_depth(rig, 1), 0);
	assert_int_equal(rig_depth(rig, 2), 10);
	assert_int_equal(rig_depth(rig, 3), 10);
	rig_destroy(rig);
}

static void
balances_packets_whatever_the_depth(void **state)
{
	static const uint32_t depth[] = { 9, 0, 4 };
	const struct weir_config config = rig_config("round-robin", 3);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	rig_set_depths(rig, depth);
	weir_message_index_set(rig->dispatcher[0].dispatcher, 0);
	assert_routes(rig, 0, 1, 2, 0, 1, 2);
	rig_destroy(rig);
}

static void
a1_single_worker_gets_every_packet(void **state)
{
	const struct weir_config config = rig_config("round-robin", 1);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_routes(rig, 0, 0);
	rig_destroy(rig);
}

static void
a2_death_of_a_worker_leaves_the_index_where_it_was(void **state)
{
	const struct weir_config config = rig_config("round-robin", 3);
	struct rig *rig = rig_create(&config, 64);
	struct weir_dispatcher *dispatcher = rig->dispatcher[0].dispatcher;

	(void)state;
	assert_int_equal(rig_dispatch(rig, 4), 4);
	assert_int_equal(weir_message_index(dispatcher), 4);
	assert_int_equal(weir_pool_set_state(rig->pool, 0, WEIR_WORKER_STOPPED), 0);
	assert_int_equal(weir_pool_remove(rig->pool, 0), 0);
	weir_harvest(dispatcher);
	assert_int_equal(weir_message_index(dispatcher), 4);
	/* Index 4 of [1, 2] is the first. */
	assert_routes(rig, 1);
	assert_int_equal(weir_message_index(dispatcher), 5);
	rig_destroy(rig);
}

static void
a2_index_counts_each_packet_once_whatever_the_burst(void **state)
{
	static const uint32_t bursts[] = { 1, 0, 32, 7, 0, 31 };
	const struct weir_config config = rig_config("round-robin", 5);
	struct rig *rig = rig_create(&config, 128);
	uint64_t expected = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(bursts); i++) {
		assert_int_equal(rig_dispatch(rig, bursts[i]), bursts[i]);
		expected += bursts[i];
		assert_int_equal(weir_message_index(rig->dispatcher[0].dispatcher), expected);
		assert_int_equal(rig_counters(rig, 0).routed, expected);
	}
	rig_destroy(rig);
}

/* Wraps the index at 2^32 and 2^64: every packet goes to some worker, in turn. */
static void
a2_index_wraps_and_never_leaves_the_pool(void **state)
{
	static const uint64_t starts[] = { UINT64_MAX - 1, (UINT64_C(1) << 32) - 2 };

	(void)state;
	for (size_t s = 0; s < ARRAY_LENGTH(starts); s++) {
		for (uint32_t n = 1; n <= WEIR_WORKERS_MAX; n = n < 8 ? n + 1 : n * 2 - 1) {
			const struct weir_config config = rig_config("round-robin", n);
			struct rig *rig = rig_create(&config, 64);
			struct weir_dispatcher *dispatcher = rig->dispatcher[0].dispatcher;

			weir_message_index_set(dispatcher, starts[s]);
			for (uint32_t i = 0; i < 4; i++)
				assert_int_equal(rig_dispatch(rig, 1), 1);
			assert_int_equal(rig_dispatch(rig, 32), 32);
			assert_true(weir_message_index(dispatcher) == starts[s] + 36);
			assert_true(rig_last(rig, 36)->charged == starts[s] % n);
			for (uint32_t i = 0; i < 36; i++)
				assert_true(rig_last(rig, 36)[i].charged < n);
			rig_destroy(rig);
		}
	}
}

static void
a2_index_wraps_at_2_to_the_32_without_a_seam(void **state)
{
	const struct weir_config config = rig_config("round-robin", 3);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	/* 2^32 - 2 mod 3 = 2. */
	weir_message_index_set(rig->dispatcher[0].dispatcher, (UINT64_C(1) << 32) - 2);
	assert_routes(rig, 2, 0, 1, 2);
	assert_routes_singly(rig, 0, 1, 2);
	rig_destroy(rig);
}

static void
chunk_sends_runs_and_counts_every_packet(void **state)
{
	struct weir_config config = rig_config("round-robin", 3);
	struct rig *rig;

	(void)state;
	config.chunk = 4;
	rig = rig_create(&config, 64);
	/* Picks for indices 0, 4 and 8. */
	assert_routes(rig, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2);
	/* The chunk ended with its burst: index 10. */
	assert_int_equal(weir_message_index(rig->dispatcher[0].dispatcher), 10);
	assert_routes(rig, 1, 1, 1, 1, 2);
	rig_destroy(rig);
}

static void
chunk_moves_the_rotation_on_by_its_length(void **state)
{
	struct weir_config config = rig_config("round-robin", 3);
	struct rig *rig;

	(void)state;
	config.chunk = 5;
	rig = rig_create(&config, 64);
	/* Picks for indices 0, 5 and 10. */
	assert_routes(rig, 0, 0, 0, 0, 0, 2, 2, 2, 2, 2, 1, 1);
	rig_destroy(rig);
}

/* XB1, XB2: one dispatcher, one index, so no slot is doubled or skipped. */
static void
x3_three_workers_get_a_million_each_of_any_three_million_packets(void **state)
{
	static const uint64_t starts[] = { 0, 1, 42, 999999, 1000001, UINT64_C(1) << 40 };

	(void)state;
	for (size_t s = 0; s < ARRAY_LENGTH(starts); s++) {
		struct pick *pick = pick_create("round-robin", 3);
		uint32_t share[3] = { 0 };
		uint32_t n_out_of_turn = 0;

		pick_set_index(pick, starts[s]);
		for (uint32_t done = 0; done < 3000000; done += 250) {
			pick_burst(pick, 250);
			for (uint32_t i = 0; i < 250; i++) {
				share[pick->out[i]]++;
				n_out_of_turn += pick->out[i] != (starts[s] + done + i) % 3;
			}
		}
		assert_int_equal(n_out_of_turn, 0);
		for (uint32_t position = 0; position < 3; position++)
			assert_in_range(share[position], 999999, 1000001);
		pick_destroy(pick);
	}
}

/* The list that weights stand for, written out, at any index. */
static uint16_t
slot_expected(const uint16_t *weights, uint32_t n, uint64_t index)
{
	uint64_t total = 0;
	uint64_t slot;
	uint32_t i = 0;

	for (uint32_t w = 0; w < n; w++)
		total += weights[w];
	for (slot = index % total; slot >= weights[i]; i++)
		slot -= weights[i];
	return (uint16_t)i;
}

static void
a12_weights_2_1_1_go_a_a_b_c_a_a_b_c(void **state)
{
	struct weir_config config = rig_config("round-robin", 3);
	struct rig *rig;

	(void)state;
	config.weights[0] = 2;
	rig = rig_create(&config, 64);
	assert_routes(rig, 0, 0, 1, 2, 0, 0, 1, 2);
	assert_routes_singly(rig, 0, 0, 1, 2, 0);
	assert_routes(rig, 0, 1, 2, 0, 0);
	rig_destroy(rig);
}

static void
a12_equal_weights_are_a_plain_rotation(void **state)
{
	struct weir_config config = rig_config("round-robin", 3);
	struct rig *rig;

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		config.weights[i] = 5;
	rig = rig_create(&config, 64);
	assert_routes(rig, 0, 1, 2, 0, 1, 2);
	assert_routes_singly(rig, 0, 1, 2, 0, 1, 2);
	rig_destroy(rig);
}

static void
a12_a_worker_that_leaves_takes_its_slots_along(void **state)
{
	struct weir_config config = rig_config("round-robin", 3);
	struct rig *rig;

	(void)state;
	config.weights[1] = 3;
	rig = rig_create(&config, 64);
	assert_routes(rig, 0, 1, 1, 1, 2);
	assert_int_equal(weir_pool_set_state(rig->pool, 0, WEIR_WORKER_STOPPED), 0);
	/* Index 5 of [1, 1, 1, 2]. */
	assert_routes(rig, 1, 1, 2, 1, 1, 1, 2);
	assert_int_equal(weir_pool_set_state(rig->pool, 1, WEIR_WORKER_STOPPED), 0);
	assert_routes(rig, 2, 2);
	rig_destroy(rig);
}

static void
a12_weighted_picks_are_a_function_of_the_index_up_to_its_wrap(void **state)
{
	static const weir_worker_id ids[] = { 0, 1, 2, 3, 4 };
	static const uint16_t weights[] = { 7, 1, 100, 13, 2 };
	struct test_random random = test_random_start(__func__);
	struct pick *pick = pick_create_weighted("round-robin", ids, weights, 5);

	(void)state;
	for (uint32_t i = 0; i < 100000; i++) {
		const uint64_t index =
			i < 1000 ? UINT64_C(0x1fffffe00) + i : test_random_next(&random);

		assert_int_equal(pick_at(pick, index), slot_expected(weights, 5, index));
	}
	assert_int_equal(pick_at(pick, UINT64_MAX), slot_expected(weights, 5, UINT64_MAX));
	pick_destroy(pick);
}

static void
a12_the_largest_pool_of_the_largest_weights_is_exact(void **state)
{
	weir_worker_id ids[WEIR_WORKERS_MAX];
	uint16_t weights[WEIR_WORKERS_MAX];
	struct pick *pick;

	(void)state;
	for (uint32_t i = 0; i < WEIR_WORKERS_MAX; i++) {
		ids[i] = (weir_worker_id)i;
		weights[i] = WEIR_WEIGHT_MAX;
	}
	weights[200]--;
	pick = pick_create_weighted("round-robin", ids, weights, WEIR_WORKERS_MAX);
	for (uint64_t index = UINT64_MAX - 60000; index < UINT64_MAX; index++)
		assert_int_equal(
			pick_at(pick, index), slot_expected(weights, WEIR_WORKERS_MAX, index));
	pick_destroy(pick);
}

static void
a12_a_chunk_moves_the_slot_on_by_its_packets(void **state)
{
	static const weir_worker_id ids[] = { 0, 1, 2 };
	static const uint16_t weights[] = { 2, 1, 1 };
	struct pick *pick = pick_create_weighted("round-robin", ids, weights, 3);

	(void)state;
	for (uint32_t stride = 1; stride <= WEIR_BURST_MAX; stride++) {
		const uint32_t n = WEIR_BURST_MAX / stride;

		pick_set_index(pick, 1000 + stride);
		pick_set_stride(pick, stride);
		pick_burst(pick, n);
		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(pick->out[i],
				slot_expected(weights, 3, 1000 + stride + i * stride));
	}
	pick_destroy(pick);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a3_six_packets_over_three_workers_go_a_b_c_a_b_c),
		cmocka_unit_test(a3_a_burst_goes_as_its_packets_would_singly),
		cmocka_unit_test(a3_nine_packets_are_exactly_three_each),
		cmocka_unit_test(a3_removing_the_middle_worker_leaves_three_each_on_the_others),
		cmocka_unit_test(neighbour_of_a_stopped_worker_gets_no_double_share),
		cmocka_unit_test(balances_packets_whatever_the_depth),
		cmocka_unit_test(a1_single_worker_gets_every_packet),
		cmocka_unit_test(a2_death_of_a_worker_leaves_the_index_where_it_was),
		cmocka_unit_test(a2_index_counts_each_packet_once_whatever_the_burst),
		cmocka_unit_test(a2_index_wraps_and_never_leaves_the_pool),
		cmocka_unit_test(a2_index_wraps_at_2_to_the_32_without_a_seam),
		cmocka_unit_test(chunk_sends_runs_and_counts_every_packet),
		cmocka_unit_test(chunk_moves_the_rotation_on_by_its_length),
		cmocka_unit_test(x3_three_workers_get_a_million_each_of_any_three_million_packets),
		cmocka_unit_test(a12_weights_2_1_1_go_a_a_b_c_a_a_b_c),
		cmocka_unit_test(a12_equal_weights_are_a_plain_rotation),
		cmocka_unit_test(a12_a_worker_that_leaves_takes_its_slots_along),
		cmocka_unit_test(a12_weighted_picks_are_a_function_of_the_index_up_to_its_wrap),
		cmocka_unit_test(a12_the_largest_pool_of_the_largest_weights_is_exact),
		cmocka_unit_test(a12_a_chunk_moves_the_slot_on_by_its_packets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
