/* SPDX-License-Identifier: BSD-3-Clause */
/* rendezvous: golden hashes and scores, the table, and how little moves when the pool changes. */
#include "test.h"

#include <math.h>

#include "pick.h"
#include "rig.h"

static uint32_t
fnv_of(const char *kind, uint32_t number)
{
	char name[32];

	snprintf(name, sizeof(name), "%s-%u", kind, number);
	return weir_fnv1a(name);
}

/* The owner of "flow-KEY" among workers "worker-ID", computed directly: highest, first wins. */
static weir_worker_id
owner_of(uint32_t key, const weir_worker_id *ids, uint32_t n)
{
	weir_worker_id owner = ids[0];
	int64_t best = -1;

	for (uint32_t i = 0; i < n; i++) {
		const int64_t score =
			weir_rendezvous_score(fnv_of("flow", key), fnv_of("worker", ids[i]));

		if (score > best) {
			best = score;
			owner = ids[i];
		}
	}
	return owner;
}

static void
c5_fnv1a_golden_values_are_bit_exact(void **state)
{
	(void)state;
	assert_int_equal(weir_fnv1a(""), 0x811c9dc5);
	assert_int_equal(weir_fnv1a("a"), 0xe40c292c);
	assert_int_equal(weir_fnv1a("foobar"), 0xbf9cf968);
	assert_int_equal(weir_fnv1a("order-42"), 0x572446f4);
}

static void
fnv1a_takes_bytes_as_unsigned(void **state)
{
	/* (basis ^ 0xff) * prime, modulo 2^32. */
	const uint32_t expected = (UINT32_C(2166136261) ^ 0xff) * UINT32_C(16777619);

	(void)state;
	assert_int_equal(weir_fnv1a("\xff"), expected);
}

static void
c5_order_42_goes_to_node_d_with_the_golden_scores(void **state)
{
	static const struct {
		const char *node;
		uint32_t score;
	} rows[] = { { "node-a", 3612496217u }, { "node-b", 2871431684u },
		{ "node-c", 2955129198u }, { "node-d", 3998873283u } };
	const uint32_t key = weir_fnv1a("order-42");
	size_t best = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		assert_int_equal(
			weir_rendezvous_score(key, weir_fnv1a(rows[i].node)), rows[i].score);
		if (rows[i].score > rows[best].score)
			best = i;
	}
	assert_string_equal(rows[best].node, "node-d");
}

/* Least and greatest load of 40,000 keys over n workers, in thousandths of the mean, rounded. */
static void
assert_spread(uint32_t n, uint32_t least, uint32_t greatest)
{
	weir_worker_id ids[16];
	uint32_t load[16] = { 0 };
	uint32_t min = UINT32_MAX;
	uint32_t max = 0;

	pick_ids_fill(ids, n);
	for (uint32_t key = 0; key < 40000; key++)
		load[owner_of(key, ids, n)]++;
	for (uint32_t i = 0; i < n; i++) {
		min = load[i] < min ? load[i] : min;
		max = load[i] > max ? load[i] : max;
	}
	assert_int_equal((min * n * 1000 + 20000) / 40000, least);
	assert_int_equal((max * n * 1000 + 20000) / 40000, greatest);
}

static void
c5_forty_thousand_keys_spread_as_stated(void **state)
{
	(void)state;
	assert_spread(4, 984, 1008);
	assert_spread(8, 978, 1020);
	assert_spread(16, 944, 1032);
}

static void
c5_removing_the_last_of_eight_moves_exactly_its_2535_of_20000_keys(void **state)
{
	weir_worker_id ids[8];
	uint32_t moved = 0;

	(void)state;
	pick_ids_fill(ids, 8);
	for (uint32_t key = 0; key < 20000; key++) {
		const weir_worker_id before = owner_of(key, ids, 8);
		const weir_worker_id after = owner_of(key, ids, 7);

		if (before != 7)
			assert_int_equal(after, before);
		moved += after != before;
	}
	assert_int_equal(moved, 2535);
}

/* Asserts that the strategy's table gives every bucket to its owner among `ids`. */
static void
assert_table(const weir_worker_id *ids, uint32_t n)
{
	struct pick *pick = pick_create_for("rendezvous", ids, n);

	for (uint32_t bucket = 0; bucket < WEIR_BUCKETS; bucket++) {
		pick->meta[0].bucket = (uint16_t)bucket;
		if (ids[pick_at(pick, 0)] != owner_of(bucket, ids, n))
			fail_msg("bucket %u of %u workers", bucket, n);
	}
	pick_destroy(pick);
}

static void
c5_table_equals_the_direct_computation_for_all_buckets(void **state)
{
	static const weir_worker_id some[] = { 9, 3, 255, 17, 0 };
	weir_worker_id ids[16];

	(void)state;
	pick_ids_fill(ids, 16);
	assert_table(ids, 1);
	assert_table(ids, 3);
	assert_table(ids, 16);
	assert_table(some, ARRAY_LENGTH(some));
}

static void
c5_the_order_of_the_workers_changes_no_owner(void **state)
{
	static const weir_worker_id up[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	static const weir_worker_id down[] = { 7, 6, 5, 4, 3, 2, 1, 0 };

	(void)state;
	for (uint32_t bucket = 0; bucket < WEIR_BUCKETS; bucket++)
		assert_int_equal(owner_of(bucket, up, 8), owner_of(bucket, down, 8));
	assert_table(down, 8);
}

static void
c5_a_tie_goes_to_the_first_in_pool_order(void **state)
{
	/* The same worker twice: all its scores tie. */
	static const weir_worker_id twins[] = { 5, 5 };
	struct pick *pick = pick_create_for("rendezvous", twins, 2);

	(void)state;
	for (uint32_t bucket = 0; bucket < WEIR_BUCKETS; bucket++) {
		pick->meta[0].bucket = (uint16_t)bucket;
		assert_int_equal(pick_at(pick, 0), 0);
	}
	pick_destroy(pick);
}

static void
c5_the_same_key_five_times_goes_to_one_worker(void **state)
{
	const struct weir_config config = rig_config("rendezvous", 7);
	struct rig *rig = rig_create(&config, 512);
	weir_worker_id ids[7];

	(void)state;
	pick_ids_fill(ids, 7);
	for (int bucket = 0; bucket < 64; bucket++) {
		const weir_worker_id owner = owner_of((uint32_t)bucket, ids, 7);

		rig->bucket = bucket;
		assert_routes(rig, owner, owner, owner);
		assert_routes_singly(rig, owner, owner);
	}
	rig_destroy(rig);
}

/* Routes one packet of each of `n` buckets, spread over all of them, and keeps its worker. */
static void
owners_ask(struct rig *rig, weir_worker_id *owners, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		rig->bucket = (int)(i * 8);
		assert_int_equal(rig_dispatch(rig, 1), 1);
		owners[i] = rig_last(rig, 1)->charged;
		rig_work(rig, owners[i], 1);
	}
}

#define N_ASKED (WEIR_BUCKETS / 8)

static void
c5_removing_a_worker_moves_only_its_own_keys(void **state)
{
	const struct weir_config config = rig_config("rendezvous", 5);
	struct rig *rig = rig_create(&config, 2 * N_ASKED);
	weir_worker_id before[N_ASKED];
	weir_worker_id after[N_ASKED];
	uint32_t moved = 0;

	(void)state;
	owners_ask(rig, before, N_ASKED);
	assert_int_equal(weir_pool_remove(rig->pool, 2), 0);
	owners_ask(rig, after, N_ASKED);
	for (uint32_t i = 0; i < N_ASKED; i++) {
		assert_int_not_equal(after[i], 2);
		if (before[i] != 2)
			assert_int_equal(after[i], before[i]);
		else
			moved++;
	}
	/* A fifth, within a tenth of it. */
	assert_in_range(moved, N_ASKED / 5 * 9 / 10, N_ASKED / 5 * 11 / 10);
	rig_destroy(rig);
}

static void
c5_adding_a_worker_moves_a_sixth_of_the_keys_all_to_it(void **state)
{
	const struct weir_config config = rig_config("rendezvous", 6);
	struct rig *rig = rig_create(&config, 2 * N_ASKED);
	weir_worker_id before[N_ASKED];
	weir_worker_id after[N_ASKED];
	uint32_t moved = 0;

	(void)state;
	assert_int_equal(weir_pool_remove(rig->pool, 5), 0);
	owners_ask(rig, before, N_ASKED);
	assert_int_equal(weir_pool_add(rig->pool, 5), 0);
	assert_int_equal(weir_pool_set_state(rig->pool, 5, WEIR_WORKER_READY), 0);
	owners_ask(rig, after, N_ASKED);
	for (uint32_t i = 0; i < N_ASKED; i++) {
		if (after[i] == before[i])
			continue;
		assert_int_equal(after[i], 5);
		moved++;
	}
	assert_in_range(moved, N_ASKED / 6 * 9 / 10, N_ASKED / 6 * 11 / 10);
	rig_destroy(rig);
}

static void
c5_a_stopped_owner_is_passed_over_and_its_keys_alone_move(void **state)
{
	const struct weir_config config = rig_config("rendezvous", 3);
	struct rig *rig = rig_create(&config, 2 * N_ASKED);
	weir_worker_id before[N_ASKED];
	weir_worker_id after[N_ASKED];

	(void)state;
	owners_ask(rig, before, N_ASKED);
	assert_int_equal(weir_pool_set_state(rig->pool, 0, WEIR_WORKER_STOPPED), 0);
	owners_ask(rig, after, N_ASKED);
	for (uint32_t i = 0; i < N_ASKED; i++) {
		assert_int_not_equal(after[i], 0);
		if (before[i] != 0)
			assert_int_equal(after[i], before[i]);
	}
	rig_destroy(rig);
}

static void
c5_packets_that_have_no_flow_share_one_owner_and_are_told_apart(void **state)
{
	const struct weir_flow_config flow = weir_flow_config_default();
	const struct weir_config config = rig_config("rendezvous", 4);
	struct rig *rig = rig_create(&config, 64);
	struct weir_meta meta = { 0 };
	struct weir_meta other = { 0 };
	uint8_t frame[13] = { 0xde, 0xad };

	(void)state;
	weir_flow_classify(&flow, frame, 0, &meta);
	assert_int_equal(meta.flow_reason, WEIR_FLOW_TRUNCATED_MAC);
	weir_flow_classify(&flow, frame, sizeof(frame), &other);
	assert_int_equal(other.flow_reason, WEIR_FLOW_TRUNCATED_MAC);
	assert_int_equal(meta.bucket, other.bucket);
	rig->bucket = meta.bucket;
	assert_int_equal(rig_dispatch(rig, 8), 8);
	for (uint32_t i = 1; i < 8; i++)
		assert_int_equal(rig_last(rig, 8)[i].charged, rig_last(rig, 8)[0].charged);
	rig_destroy(rig);
}

/* The owner of every bucket among workers of these weights. */
static weir_worker_id *
weighted_owners(const weir_worker_id *ids, const uint16_t *weights, uint32_t n)
{
	struct pick *pick = pick_create_weighted("rendezvous", ids, weights, n);
	weir_worker_id *owners = calloc(WEIR_BUCKETS, sizeof(*owners));

	assert_non_null(owners);
	for (uint32_t bucket = 0; bucket < WEIR_BUCKETS; bucket++) {
		pick->meta[0].bucket = (uint16_t)bucket;
		owners[bucket] = ids[pick_at(pick, 0)];
	}
	pick_destroy(pick);
	return owners;
}

/* The owner by definition: the highest -weight / ln(u) of all. */
static weir_worker_id
weighted_owner_of(uint32_t key, const weir_worker_id *ids, const uint16_t *weights, uint32_t n)
{
	const uint32_t key_fnv = fnv_of("flow", key);
	weir_worker_id owner = WEIR_WORKER_NONE;
	double best = 0;

	for (uint32_t i = 0; i < n; i++) {
		const uint32_t score = weir_rendezvous_score(key_fnv, fnv_of("worker", ids[i]));
		const double weighted = -weights[i] / log((score + 0.5) / 4294967296.0);

		if (weighted > best) {
			best = weighted;
			owner = ids[i];
		}
	}
	return owner;
}

static void
weighted_table_equals_the_direct_computation_for_all_buckets(void **state)
{
	struct test_random random = test_random_start(__func__);
	static const uint32_t sizes[] = { 2, 5, 16, 64 };
	uint16_t weights[64];
	weir_worker_id ids[64];

	(void)state;
	for (size_t s = 0; s < ARRAY_LENGTH(sizes); s++) {
		const uint32_t n = sizes[s];
		weir_worker_id *owners;

		for (uint32_t i = 0; i < n; i++) {
			ids[i] = (weir_worker_id)(i * 37 % 256);
			weights[i] = (uint16_t)test_random_between(&random, 1, WEIR_WEIGHT_MAX);
		}
		weights[1] = weights[0] % WEIR_WEIGHT_MAX + 1;
		owners = weighted_owners(ids, weights, n);
		for (uint32_t key = 0; key < WEIR_BUCKETS; key++)
			assert_int_equal(owners[key], weighted_owner_of(key, ids, weights, n));
		free(owners);
	}
}

static void
c5_equal_weights_of_any_size_leave_the_table_bit_exact(void **state)
{
	static const uint16_t weights[] = { 7, 7, 7, 7, 7, 7, 7, 7 };
	weir_worker_id ids[8];
	weir_worker_id *owners;

	(void)state;
	pick_ids_fill(ids, 8);
	owners = weighted_owners(ids, weights, 8);
	for (uint32_t key = 0; key < WEIR_BUCKETS; key++)
		assert_int_equal(owners[key], owner_of(key, ids, 8));
	free(owners);
}

/* The load of each worker is its weight's share, within 3 %: four standard deviations of the
 * least share here. */
static void
loads_are_the_shares_of_the_weights_within_3_percent(void **state)
{
	static const uint16_t rows[][4] = { { 2, 1, 1, 2 }, { 1, 2, 3, 4 }, { 5, 1, 1, 3 } };
	static const weir_worker_id ids[] = { 0, 1, 2, 3 };

	(void)state;
	for (size_t row = 0; row < ARRAY_LENGTH(rows); row++) {
		weir_worker_id *owners = weighted_owners(ids, rows[row], 4);
		double load[4] = { 0 };
		double total = 0;

		for (uint32_t i = 0; i < 4; i++)
			total += rows[row][i];
		for (uint32_t key = 0; key < WEIR_BUCKETS; key++)
			load[owners[key]] += total / WEIR_BUCKETS;
		for (uint32_t i = 0; i < 4; i++)
			assert_true(fabs(load[i] / rows[row][i] - 1) < 0.03);
		free(owners);
	}
}

static void
with_weights_too_removing_a_worker_moves_only_its_own_keys(void **state)
{
	static const weir_worker_id ids[] = { 0, 1, 2, 3, 4, 5 };
	static const uint16_t weights[] = { 3, 3, 9, 3, 3, 3 };
	weir_worker_id *before = weighted_owners(ids, weights, 6);

	(void)state;
	/* Without worker 2 all weights are equal: that changes how the table is made. */
	for (uint32_t gone = 0; gone < 6; gone++) {
		weir_worker_id left[5];
		uint16_t left_weights[5];
		weir_worker_id *after;

		for (uint32_t i = 0; i < 5; i++) {
			left[i] = ids[i < gone ? i : i + 1];
			left_weights[i] = weights[left[i]];
		}
		after = weighted_owners(left, left_weights, 5);
		for (uint32_t key = 0; key < WEIR_BUCKETS; key++) {
			assert_int_not_equal(after[key], gone);
			if (before[key] != gone)
				assert_int_equal(after[key], before[key]);
		}
		free(after);
	}
	free(before);
}

static void
a_worker_that_gains_weight_gains_keys_and_no_other_does(void **state)
{
	static const weir_worker_id ids[] = { 0, 1, 2, 3 };
	static const uint16_t light[] = { 1, 1, 1, 1 };
	static const uint16_t heavy[] = { 1, 1, 2, 1 };
	weir_worker_id *before = weighted_owners(ids, light, 4);
	weir_worker_id *after = weighted_owners(ids, heavy, 4);
	uint32_t moved = 0;

	(void)state;
	for (uint32_t key = 0; key < WEIR_BUCKETS; key++) {
		if (after[key] == before[key])
			continue;
		assert_int_equal(after[key], 2);
		moved++;
	}
	/* From a quarter to two fifths, within 5 % of what that is. */
	assert_in_range(
		moved, WEIR_BUCKETS * 15 / 100 * 95 / 100, WEIR_BUCKETS * 15 / 100 * 105 / 100);
	free(before);
	free(after);
}

static void
with_weights_a_tie_goes_to_the_first_in_pool_order(void **state)
{
	static const weir_worker_id twins[] = { 5, 5, 6 };
	static const uint16_t weights[] = { 2, 2, 1 };
	struct pick *pick = pick_create_weighted("rendezvous", twins, weights, 3);

	(void)state;
	for (uint32_t bucket = 0; bucket < WEIR_BUCKETS; bucket++) {
		pick->meta[0].bucket = (uint16_t)bucket;
		assert_int_not_equal(pick_at(pick, 0), 1);
	}
	pick_destroy(pick);
}

static void
a_pool_is_weighted_as_its_configuration_says(void **state)
{
	static const weir_worker_id ids[] = { 0, 1, 2, 3 };
	static const uint16_t weights[] = { 1, 5, 1, 2 };
	struct weir_config config = rig_config("rendezvous", 4);
	weir_worker_id owners[64];
	struct rig *rig;

	(void)state;
	memcpy(config.weights, weights, sizeof(weights));
	config.weights[0] = 0; /* stands for 1 */
	rig = rig_create(&config, 128);
	owners_ask(rig, owners, ARRAY_LENGTH(owners));
	for (uint32_t i = 0; i < ARRAY_LENGTH(owners); i++)
		assert_int_equal(owners[i], weighted_owner_of(i * 8, ids, weights, 4));
	rig_destroy(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(c5_fnv1a_golden_values_are_bit_exact),
		cmocka_unit_test(fnv1a_takes_bytes_as_unsigned),
		cmocka_unit_test(c5_order_42_goes_to_node_d_with_the_golden_scores),
		cmocka_unit_test(c5_forty_thousand_keys_spread_as_stated),
		cmocka_unit_test(
			c5_removing_the_last_of_eight_moves_exactly_its_2535_of_20000_keys),
		cmocka_unit_test(c5_table_equals_the_direct_computation_for_all_buckets),
		cmocka_unit_test(c5_the_order_of_the_workers_changes_no_owner),
		cmocka_unit_test(c5_a_tie_goes_to_the_first_in_pool_order),
		cmocka_unit_test(c5_the_same_key_five_times_goes_to_one_worker),
		cmocka_unit_test(c5_removing_a_worker_moves_only_its_own_keys),
		cmocka_unit_test(c5_adding_a_worker_moves_a_sixth_of_the_keys_all_to_it),
		cmocka_unit_test(c5_a_stopped_owner_is_passed_over_and_its_keys_alone_move),
		cmocka_unit_test(c5_packets_that_have_no_flow_share_one_owner_and_are_told_apart),
		cmocka_unit_test(weighted_table_equals_the_direct_computation_for_all_buckets),
		cmocka_unit_test(c5_equal_weights_of_any_size_leave_the_table_bit_exact),
		cmocka_unit_test(loads_are_the_shares_of_the_weights_within_3_percent),
		cmocka_unit_test(with_weights_too_removing_a_worker_moves_only_its_own_keys),
		cmocka_unit_test(a_worker_that_gains_weight_gains_keys_and_no_other_does),
		cmocka_unit_test(with_weights_a_tie_goes_to_the_first_in_pool_order),
		cmocka_unit_test(a_pool_is_weighted_as_its_configuration_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
