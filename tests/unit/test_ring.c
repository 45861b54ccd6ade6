/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ring: golden points and shares, the table, how little moves, and that packets cost no hash: MD5's
 * start is wrapped by the linker (--wrap, see meson.build) and counted.
 */
#include "test.h"

#include <nettle/md5.h>

#include "pick.h"
#include "rig.h"
#include "source/ring_source.h"

/* Workers whose points 84 and 87 are equal, and a bucket in the arc that ends there. */
#define TIE_LOW 79
#define TIE_HIGH 122
#define TIE_BUCKET 1502

/* Hashes begun, since it was last set to 0. */
static uint64_t n_hashes;

void __real_nettle_md5_init(struct md5_ctx *md5);
void __wrap_nettle_md5_init(struct md5_ctx *md5);
void
__wrap_nettle_md5_init(struct md5_ctx *md5)
{
	n_hashes++;
	__real_nettle_md5_init(md5);
}

/* The worker that owns `bucket`. */
static weir_worker_id
owner_of(struct pick *pick, uint32_t bucket)
{
	pick->meta[0].bucket = (uint16_t)bucket;
	return pick->snapshot.routable[pick_at(pick, 0)];
}

static void
owners_fill(weir_worker_id *owners, const weir_worker_id *ids, uint32_t n)
{
	struct pick *pick = pick_create_for("ring", ids, n);

	for (uint32_t bucket = 0; bucket < WEIR_BUCKETS; bucket++)
		owners[bucket] = owner_of(pick, bucket);
	pick_destroy(pick);
}

static void
ids_shuffle(weir_worker_id *ids, uint32_t n, struct test_random *random)
{
	for (uint32_t i = n - 1; i > 0; i--) {
		const uint32_t other = test_random_below(random, i + 1);
		const weir_worker_id id = ids[i];

		ids[i] = ids[other];
		ids[other] = id;
	}
}

static void
x5_golden_hashes_are_bit_exact(void **state)
{
	(void)state;
	assert_int_equal(ring_hash("1"), 943901380);
	assert_int_equal(ring_hash("42"), 3905343649);
	assert_int_equal(ring_hash("1000"), 1891284905);
	assert_int_equal(ring_hash("SHARD-192.168.0.1:1111-NODE-0"), 3705298196);
	assert_int_equal(ring_hash("SHARD-worker-0-NODE-0"), 2147090760);
	assert_int_equal(ring_hash("SHARD-worker-0-NODE-99"), 845641782);
}

static void
x5_the_points_of_an_address_are_the_hashes_of_its_hundred_nodes(void **state)
{
	struct ring ring;
	char text[64];

	(void)state;
	assert_int_equal(ring_init(&ring, 1), 0);
	ring_add_address(&ring, "worker-0", 7);
	assert_int_equal(ring.n, 100);
	for (uint32_t i = 0; i < ring.n; i++) {
		snprintf(text, sizeof(text), "SHARD-worker-0-NODE-%u", i);
		assert_int_equal(ring.entry[i] >> 32, ring_hash(text));
		assert_int_equal((uint32_t)ring.entry[i], 7);
	}
	ring_fini(&ring);
}

static void
x5_a_point_belongs_to_itself_and_past_the_last_comes_the_first(void **state)
{
	struct ring ring;

	(void)state;
	assert_int_equal(ring_init(&ring, 1), 0);
	ring_add_point(&ring, 300, 3);
	ring_add_point(&ring, 100, 1);
	ring_add_point(&ring, 200, 2);
	ring_add_point(&ring, 50, 0);
	ring_sort(&ring);
	assert_int_equal(ring_owner(&ring, 0), 0);
	assert_int_equal(ring_owner(&ring, 50), 0);
	assert_int_equal(ring_owner(&ring, 51), 1);
	assert_int_equal(ring_owner(&ring, 100), 1);
	assert_int_equal(ring_owner(&ring, 101), 2);
	assert_int_equal(ring_owner(&ring, 200), 2);
	assert_int_equal(ring_owner(&ring, 300), 3);
	assert_int_equal(ring_owner(&ring, 301), 0);
	assert_int_equal(ring_owner(&ring, UINT32_MAX), 0);
	ring_fini(&ring);
}

static void
xb10_of_equal_points_the_lowest_rank_wins_in_whatever_order_they_came(void **state)
{
	static const uint32_t ranks[][3] = { { 4, 5, 9 }, { 9, 5, 4 }, { 5, 4, 9 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(ranks); i++) {
		struct ring ring;

		assert_int_equal(ring_init(&ring, 1), 0);
		for (uint32_t at = 0; at < 3; at++)
			ring_add_point(&ring, UINT32_MAX, ranks[i][at]);
		ring_add_point(&ring, 10, 1);
		ring_sort(&ring);
		assert_int_equal(ring_owner(&ring, 11), 4);
		assert_int_equal(ring_n_distinct(&ring), 2);
		ring_fini(&ring);
	}
}

/* Least and greatest arc of n workers, in thousandths of the mean, rounded: exact arcs. */
static void
assert_arcs(uint32_t n, uint32_t least, uint32_t greatest)
{
	uint64_t arc[16] = { 0 };
	uint64_t min = UINT64_MAX;
	uint64_t max = 0;
	char address[24];
	struct ring ring;

	assert_int_equal(ring_init(&ring, n), 0);
	for (uint32_t i = 0; i < n; i++) {
		snprintf(address, sizeof(address), "worker-%u", i);
		ring_add_address(&ring, address, i);
	}
	ring_sort(&ring);
	for (uint32_t i = 0; i < ring.n; i++) {
		const uint64_t before = ring.entry[i > 0 ? i - 1 : ring.n - 1];

		/* Modulo 2^32: the first arc begins at the last point. */
		arc[(uint32_t)ring.entry[i]] += (ring.entry[i] - before) >> 32 & UINT32_MAX;
	}
	for (uint32_t i = 0; i < n; i++) {
		min = arc[i] < min ? arc[i] : min;
		max = arc[i] > max ? arc[i] : max;
	}
	assert_int_equal((min * n * 1000 + (UINT64_C(1) << 31)) >> 32, least);
	assert_int_equal((max * n * 1000 + (UINT64_C(1) << 31)) >> 32, greatest);
	ring_fini(&ring);
}

static void
x5_arcs_share_the_ring_as_stated(void **state)
{
	(void)state;
	assert_arcs(2, 975, 1025);
	assert_arcs(4, 824, 1234);
	assert_arcs(8, 852, 1131);
	assert_arcs(16, 897, 1162);
}

/* The table against the source's ring of addresses "worker-ID" and jobs of the buckets' numbers. */
static void
assert_table(const weir_worker_id *ids, uint32_t n)
{
	struct pick *pick = pick_create_for("ring", ids, n);
	char names[WEIR_WORKERS_MAX][24];
	const char *addresses[WEIR_WORKERS_MAX];
	struct ring ring;
	char job[16];

	for (uint32_t i = 0; i < n; i++) {
		snprintf(names[i], sizeof(names[i]), "worker-%u", ids[i]);
		addresses[i] = names[i];
	}
	assert_int_equal(ring_source_init(&ring, addresses, n), 0);
	for (uint32_t bucket = 0; bucket < WEIR_BUCKETS; bucket++) {
		snprintf(job, sizeof(job), "%u", bucket);
		if (owner_of(pick, bucket) != ids[ring_source_owner(&ring, job)])
			fail_msg("bucket %u of %u workers", bucket, n);
	}
	ring_fini(&ring);
	pick_destroy(pick);
}

static void
x5_a_bucket_has_the_owner_that_the_source_gives_the_job_of_its_number(void **state)
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
xb10_the_lower_id_owns_a_point_of_two_workers_whatever_the_pools_order(void **state)
{
	static const weir_worker_id orders[][2] = { { TIE_LOW, TIE_HIGH }, { TIE_HIGH, TIE_LOW } };

	(void)state;
	assert_int_equal(ring_hash("SHARD-worker-79-NODE-84"), 4051357093);
	assert_int_equal(ring_hash("SHARD-worker-122-NODE-87"), 4051357093);
	for (size_t i = 0; i < ARRAY_LENGTH(orders); i++) {
		struct pick *pick = pick_create_for("ring", orders[i], 2);

		assert_int_equal(owner_of(pick, TIE_BUCKET), TIE_LOW);
		pick_destroy(pick);
	}
}

static void
xb10_permuting_the_pool_changes_no_owner(void **state)
{
	struct test_random random = test_random_start(__func__);
	weir_worker_id *owners = calloc(2 * WEIR_BUCKETS, sizeof(*owners));
	weir_worker_id ids[WEIR_WORKERS_MAX];

	(void)state;
	assert_non_null(owners);
	pick_ids_fill(ids, WEIR_WORKERS_MAX);
	owners_fill(owners, ids, WEIR_WORKERS_MAX);
	for (uint32_t round = 0; round < 4; round++) {
		ids_shuffle(ids, WEIR_WORKERS_MAX, &random);
		owners_fill(owners + WEIR_BUCKETS, ids, WEIR_WORKERS_MAX);
		assert_memory_equal(owners, owners + WEIR_BUCKETS, WEIR_BUCKETS * sizeof(*owners));
	}
	free(owners);
}

static void
x5_removing_a_worker_moves_only_its_own_buckets(void **state)
{
	weir_worker_id *before = calloc(2 * WEIR_BUCKETS, sizeof(*before));
	weir_worker_id *after;
	weir_worker_id ids[8];

	(void)state;
	assert_non_null(before);
	after = before + WEIR_BUCKETS;
	pick_ids_fill(ids, 8);
	owners_fill(before, ids, 8);
	for (uint32_t gone = 0; gone < 8; gone++) {
		uint32_t moved = 0;

		pick_ids_fill(ids, 8);
		ids[gone] = 7;
		owners_fill(after, ids, 7);
		for (uint32_t bucket = 0; bucket < WEIR_BUCKETS; bucket++) {
			assert_int_not_equal(after[bucket], gone);
			assert_true(before[bucket] == gone || after[bucket] == before[bucket]);
			moved += after[bucket] != before[bucket];
		}
		assert_true(moved > WEIR_BUCKETS / 16);
	}
	free(before);
}

static void
x5_a_key_keeps_its_worker_over_a_million_packets(void **state)
{
	struct pick *pick = pick_create("ring", 5);
	const uint16_t owner = pick_at(pick, 0);

	(void)state;
	for (uint32_t i = 0; i < WEIR_BURST_MAX; i++)
		pick->meta[i].bucket = pick->meta[0].bucket;
	for (uint32_t burst = 0; burst < 1000000 / WEIR_BURST_MAX + 1; burst++) {
		pick_burst(pick, WEIR_BURST_MAX);
		for (uint32_t i = 0; i < WEIR_BURST_MAX; i++)
			assert_int_equal(pick->out[i], owner);
	}
	pick_destroy(pick);
}

static void
xb9_a_snapshot_costs_a_hash_for_each_point_and_bucket_and_a_packet_none(void **state)
{
	const struct weir_config config = rig_config("ring", 5);
	struct rig *rig;

	(void)state;
	n_hashes = 0;
	rig = rig_create(&config, 10000);
	assert_int_equal(n_hashes, WEIR_BUCKETS + 5 * 100);
	n_hashes = 0;
	for (uint32_t burst = 0; burst < 300; burst++) {
		assert_int_equal(rig_dispatch(rig, 32), 32);
		for (weir_worker_id id = 0; id < 5; id++)
			rig_work(rig, id, 32);
	}
	assert_int_equal(n_hashes, 0);
	assert_int_equal(weir_pool_remove(rig->pool, 2), 0);
	assert_int_equal(n_hashes, WEIR_BUCKETS + 4 * 100);
	n_hashes = 0;
	assert_int_equal(rig_dispatch(rig, 32), 32);
	assert_int_equal(n_hashes, 0);
	rig_destroy(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x5_golden_hashes_are_bit_exact),
		cmocka_unit_test(x5_the_points_of_an_address_are_the_hashes_of_its_hundred_nodes),
		cmocka_unit_test(x5_a_point_belongs_to_itself_and_past_the_last_comes_the_first),
		cmocka_unit_test(
			xb10_of_equal_points_the_lowest_rank_wins_in_whatever_order_they_came),
		cmocka_unit_test(x5_arcs_share_the_ring_as_stated),
		cmocka_unit_test(
			x5_a_bucket_has_the_owner_that_the_source_gives_the_job_of_its_number),
		cmocka_unit_test(
			xb10_the_lower_id_owns_a_point_of_two_workers_whatever_the_pools_order),
		cmocka_unit_test(xb10_permuting_the_pool_changes_no_owner),
		cmocka_unit_test(x5_removing_a_worker_moves_only_its_own_buckets),
		cmocka_unit_test(x5_a_key_keeps_its_worker_over_a_million_packets),
		cmocka_unit_test(
			xb9_a_snapshot_costs_a_hash_for_each_point_and_bucket_and_a_packet_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
