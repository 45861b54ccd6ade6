/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/lane: the claim lane's two ends, step by step, without a pool; hostile heads. */
#include "test.h"

#include "claim_lane.h"
#include "lane_bench.h"

/* A claim lane: a lane's two ends, the head that they share, and what the dispatcher knows. */
struct bench {
	struct lane_bench ends;
	struct claim_head head;
	struct claim_lane claim;
	void *taken;
};

static struct bench *
bench_create(uint32_t capacity, bool with_metadata)
{
	const struct lane_geometry geometry = claim_geometry_make(capacity, with_metadata);
	struct bench *bench = aligned_alloc(64, round_up(sizeof(*bench), 64));

	assert_non_null(bench);
	memset(bench, 0, sizeof(*bench));
	lane_bench_open(&bench->ends, geometry);
	bench->ends.worker.lane[0].claim = &bench->head;
	bench->taken = calloc(1, claim_taken_bytes(&geometry));
	bench->claim = claim_lane_make(&geometry, capacity, &bench->head, bench->taken);
	claim_view(&bench->claim, &bench->ends.producer);
	return bench;
}

static void
bench_destroy(struct bench *bench)
{
	lane_bench_close(&bench->ends);
	free(bench->taken);
	free(bench);
}

/* Starts the lane at sequence number `seq`, a multiple of twice the slots, with nothing evicted. */
static void
bench_start_at(struct bench *bench, uint64_t seq)
{
	assert_int_equal(seq % (2 * bench->ends.producer.n_slots), 0);
	atomic_store(&bench->head.seq, seq);
	bench->claim.head = seq;
	bench->ends.producer.tail = (uint32_t)seq;
	claim_view(&bench->claim, &bench->ends.producer);
}

static void
bench_lend(struct bench *bench, uint32_t id)
{
	const struct weir_meta meta = { .time_ns = id, .length = id + 1, .port = (uint8_t)id };
	void *const packet = lane_bench_packet(id);
	void *const data = lane_bench_data(id);
	struct lane_post post;

	assert_true(lane_room(&bench->ends.producer) > 0);
	lane_stage(&bench->ends.producer, 0, &packet, &data, &meta, 1, &post);
	claim_publish_metadata(&post);
	lane_publish(&post);
}

static void
bench_lend_some(struct bench *bench, uint32_t first, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		bench_lend(bench, first + i);
}

/* Evicts the oldest, which must be packet number `id`. */
static void
bench_evict(struct bench *bench, uint32_t id)
{
	void *packet = NULL;

	assert_true(claim_can_evict(&bench->claim, &bench->ends.producer));
	assert_true(claim_evict(&bench->claim, &bench->ends.producer, &packet));
	assert_ptr_equal(packet, lane_bench_packet(id));
}

static void
bench_learn(struct bench *bench)
{
	claim_learn(&bench->claim, &bench->ends.producer);
	claim_view(&bench->claim, &bench->ends.producer);
}

static void
assert_packet(const struct weir_packet *packet, uint32_t id)
{
	assert_ptr_equal(packet->data, lane_bench_data(id));
	assert_int_equal(packet->meta.time_ns, id);
	assert_int_equal(packet->meta.length, id + 1);
	assert_int_equal(packet->meta.port, (uint8_t)id);
}

static void
assert_view(const struct bench *bench, uint32_t room, uint32_t queued, uint32_t in_process)
{
	assert_int_equal(lane_room(&bench->ends.producer), room);
	assert_int_equal(claim_queued(&bench->claim, &bench->ends.producer), queued);
	assert_int_equal(bench->ends.producer.in_process, in_process);
	assert_int_equal(
		bench->ends.producer.tail - bench->ends.producer.completed, queued + in_process);
}

static void
geometry_has_verdicts_for_two_capacities_and_a_burst(void **state)
{
	(void)state;
	for (uint32_t capacity = 1; capacity <= WEIR_LANE_SIZE_MAX; capacity = capacity * 2 + 1) {
		const struct lane_geometry plain = lane_geometry_make(capacity, true);
		const struct lane_geometry g = claim_geometry_make(capacity, true);

		assert_int_equal(g.n_slots, plain.n_slots);
		assert_int_equal(g.slots_bytes, plain.slots_bytes);
		assert_int_equal(g.packets_bytes, plain.packets_bytes);
		assert_true(g.n_verdicts >= 2 * capacity + WEIR_BURST_MAX);
		assert_int_equal(g.n_verdicts & (g.n_verdicts - 1), 0);
		assert_true(g.verdicts_bytes >= g.n_verdicts * sizeof(struct weir_verdict));
		assert_true(claim_taken_bytes(&g) >=
			    g.n_verdicts * (sizeof(void *) + sizeof(uint32_t)));
		assert_int_equal(claim_taken_bytes(&g) % CACHE_LINE_BYTES, 0);
	}
}

static void
m3_capacity_counts_what_is_queued_only(void **state)
{
	struct weir_packet packets[4];
	struct bench *bench = bench_create(3, true);

	(void)state;
	assert_view(bench, 3, 0, 0);
	bench_lend_some(bench, 0, 3);
	assert_view(bench, 0, 3, 0);
	assert_int_equal(weir_take(&bench->ends.worker, packets, 2), 2);
	/* Not learnt yet. */
	assert_view(bench, 0, 3, 0);
	bench_learn(bench);
	assert_view(bench, 2, 1, 2);
	bench_lend_some(bench, 3, 2);
	assert_view(bench, 0, 3, 2);
	bench_destroy(bench);
}

static void
packets_are_taken_in_order_with_their_metadata(void **state)
{
	struct weir_packet packets[8];
	struct bench *bench = bench_create(8, true);

	(void)state;
	bench_lend_some(bench, 0, 5);
	assert_int_equal(weir_take(&bench->ends.worker, packets, 8), 5);
	for (uint32_t i = 0; i < 5; i++)
		assert_packet(&packets[i], i);
	assert_int_equal(bench->ends.worker.lane[0].head, 5);
	/* Nothing while they are not completed. */
	bench_lend(bench, 5);
	assert_int_equal(weir_take(&bench->ends.worker, packets, 8), 0);
	bench_destroy(bench);
}

static void
lane_without_metadata_lends_zeroes(void **state)
{
	const struct weir_meta none = { 0 };
	struct weir_packet packet;
	struct bench *bench = bench_create(2, false);

	(void)state;
	bench_lend(bench, 7);
	memset(&packet, 0xff, sizeof(packet));
	assert_int_equal(weir_take(&bench->ends.worker, &packet, 1), 1);
	assert_ptr_equal(packet.data, (void *)(uintptr_t)(7 * 16));
	assert_memory_equal(&packet.meta, &none, sizeof(none));
	bench_destroy(bench);
}

static void
m4_oldest_are_evicted_and_the_newest_stay(void **state)
{
	struct weir_packet packets[4];
	struct bench *bench = bench_create(3, true);

	(void)state;
	bench_lend_some(bench, 0, 3);
	bench_evict(bench, 0);
	assert_view(bench, 1, 2, 0);
	bench_lend(bench, 3);
	bench_evict(bench, 1);
	bench_lend(bench, 4);
	assert_view(bench, 0, 3, 0);
	assert_int_equal(bench->claim.evicted, 2);
	assert_int_equal(weir_take(&bench->ends.worker, packets, 4), 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_packet(&packets[i], 2 + i);
	bench_destroy(bench);
}

static void
m4_eviction_that_comes_after_the_take_evicts_nothing(void **state)
{
	struct weir_packet packets[2];
	void *packet = NULL;
	struct bench *bench = bench_create(3, true);

	(void)state;
	bench_lend_some(bench, 0, 3);
	assert_int_equal(weir_take(&bench->ends.worker, packets, 1), 1);
	assert_false(claim_evict(&bench->claim, &bench->ends.producer, &packet));
	assert_null(packet);
	assert_int_equal(bench->claim.evicted, 0);
	assert_view(bench, 0, 3, 0);
	bench_learn(bench);
	assert_view(bench, 1, 2, 1);
	assert_ptr_equal(bench->claim.taken_packets[0], lane_bench_packet(0));
	bench_evict(bench, 1);
	bench_destroy(bench);
}

/* The copy is made, then the dispatcher evicts and lends into the same slots, then the claim. */
static void
take_leaves_out_what_was_evicted_since_it_was_copied(void **state)
{
	struct weir_packet packets[4];
	struct bench *bench = bench_create(4, true);
	const struct lane_consumer *consumer = &bench->ends.worker.lane[0];

	(void)state;
	bench_lend_some(bench, 0, 4);
	assert_int_equal(claim_copy(consumer, 0, packets, 4), 4);
	bench_evict(bench, 0);
	bench_evict(bench, 1);
	bench_lend_some(bench, 4, 2);
	assert_int_equal(claim_take_copied(consumer, 0, 4), 2);
	/* The copies of the others are right, and the newest stay queued. */
	assert_packet(&packets[2], 2);
	assert_packet(&packets[3], 3);
	assert_int_equal(atomic_load(&bench->head.seq), 4);
	bench_learn(bench);
	assert_view(bench, 2, 2, 2);
	assert_ptr_equal(bench->claim.taken_packets[0], lane_bench_packet(2));
	assert_ptr_equal(bench->claim.taken_packets[1], lane_bench_packet(3));
	assert_int_equal(bench->claim.taken_seqs[0], 2);
	bench_destroy(bench);
}

static void
take_gets_nothing_of_a_copy_that_was_evicted_whole(void **state)
{
	struct weir_packet packets[4];
	struct bench *bench = bench_create(2, true);
	const struct lane_consumer *consumer = &bench->ends.worker.lane[0];

	(void)state;
	bench_lend_some(bench, 0, 2);
	assert_int_equal(claim_copy(consumer, 0, packets, 2), 2);
	for (uint32_t i = 0; i < 5; i++) {
		bench_evict(bench, i);
		bench_lend(bench, 2 + i);
	}
	assert_int_equal(claim_take_copied(consumer, 0, 2), 2);
	assert_int_equal(atomic_load(&bench->head.seq), 5);
	/* The next take finds the two that are left. */
	assert_int_equal(claim_take(&bench->ends.worker.lane[0], packets, 4), 2);
	assert_packet(&packets[0], 5);
	assert_packet(&packets[1], 6);
	bench_destroy(bench);
}

static void
take_is_a_burst_at_most(void **state)
{
	struct weir_packet packets[WEIR_BURST_MAX + 10];
	struct bench *bench = bench_create(400, false);

	(void)state;
	bench_lend_some(bench, 0, 400);
	assert_int_equal(claim_take(&bench->ends.worker.lane[0], packets, WEIR_BURST_MAX + 10),
		WEIR_BURST_MAX);
	bench_destroy(bench);
}

static void
verdicts_are_numbered_by_what_was_taken(void **state)
{
	struct weir_verdict verdicts[2] = { { .length = 100 }, { .length = 101 } };
	struct weir_packet packets[4];
	struct bench *bench = bench_create(2, true);

	(void)state;
	bench_lend_some(bench, 0, 2);
	bench_evict(bench, 0);
	bench_lend(bench, 2);
	assert_int_equal(weir_take(&bench->ends.worker, packets, 4), 2);
	weir_complete(&bench->ends.worker, verdicts, 2);
	assert_int_equal(progress_completed(progress_read(&bench->ends.progress, 0)), 2);
	assert_int_equal(bench->ends.verdicts[0].length, 100);
	assert_int_equal(bench->ends.verdicts[1].length, 101);
	bench_destroy(bench);
}

/* The worker runs several times before the dispatcher looks: no verdict may be written over. */
static void
verdicts_of_all_that_can_be_taken_between_two_looks_have_room(void **state)
{
	struct weir_packet packets[WEIR_BURST_MAX];
	struct bench *bench = bench_create(3, false);
	uint32_t id = 0;

	(void)state;
	/* Takes are learnt, but what is completed is not harvested: hostile, or a race for ever. */
	for (uint32_t round = 0; round < 1000 && lane_room(&bench->ends.producer) > 0; round++) {
		while (lane_room(&bench->ends.producer) > 0)
			bench_lend(bench, id++);
		assert_int_equal(claim_take(&bench->ends.worker.lane[0], packets, 3),
			claim_queued(&bench->claim, &bench->ends.producer));
		bench_learn(bench);
	}
	/* Full for good, at the size of the list; every handle is still in it. */
	assert_int_equal(lane_room(&bench->ends.producer), 0);
	assert_int_equal(id, bench->claim.n_taken_slots);
	for (uint32_t i = 0; i < id; i++)
		assert_ptr_equal(bench->claim.taken_packets[i], lane_bench_packet(i));
	bench_destroy(bench);
}

static void
pins_are_out_until_taken_ones_are_home_and_queued_ones_are_evicted(void **state)
{
	struct weir_packet packets[1];
	struct bench *bench = bench_create(2, true);

	(void)state;
	bench_lend_some(bench, 0, 2);
	bench_evict(bench, 0);
	/* Nothing is taken: what was evicted is settled. Stamps are the tail after the packet. */
	assert_int_equal(bench->ends.producer.harvested, 1);
	assert_int_equal(weir_take(&bench->ends.worker, packets, 1), 1);
	bench_learn(bench);
	bench_lend_some(bench, 2, 2);
	bench_evict(bench, 2);
	/* Packet 1 is in process: all from there on counts as out, what was evicted too. */
	assert_int_equal(bench->ends.producer.harvested, 1);
	assert_int_equal(lane_room(&bench->ends.producer), 1);
	bench->claim.harvested++;
	claim_view(&bench->claim, &bench->ends.producer);
	assert_int_equal(bench->ends.producer.harvested, 3);
	bench_destroy(bench);
}

static void
head_that_goes_back_or_beyond_the_tail_is_not_believed(void **state)
{
	static const uint64_t heads[] = { 1, 0, 6, 7, UINT64_MAX, UINT64_C(1) << 32,
		2 + (UINT64_C(1) << 32), 2 + (UINT64_C(1) << 63) };

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(heads); i++) {
		struct bench *bench = bench_create(4, true);
		void *packet = NULL;

		/* Head 2, tail 5. */
		bench_lend_some(bench, 0, 4);
		bench_evict(bench, 0);
		bench_evict(bench, 1);
		bench_lend(bench, 4);
		atomic_store(&bench->head.seq, heads[i]);
		bench_learn(bench);
		assert_view(bench, 1, 3, 0);
		assert_int_equal(bench->claim.taken, 0);
		assert_false(claim_evict(&bench->claim, &bench->ends.producer, &packet));
		assert_null(packet);
		/* A head in range again is. */
		atomic_store(&bench->head.seq, 5);
		bench_learn(bench);
		assert_view(bench, 4, 0, 3);
		bench_destroy(bench);
	}
}

static void
sequence_numbers_wrap_at_2_to_the_32_and_the_head_goes_on(void **state)
{
	static const uint32_t capacities[] = { 1, 2, 3, 7 };

	(void)state;
	for (size_t c = 0; c < ARRAY_LENGTH(capacities); c++) {
		const uint32_t capacity = capacities[c];
		struct bench *bench = bench_create(capacity, true);
		uint32_t id = 0;

		bench_start_at(bench, (UINT64_C(1) << 32) - 16);
		for (uint32_t i = 0; i < 40; i++) {
			struct weir_packet packets[8];

			bench_lend_some(bench, id, capacity);
			bench_evict(bench, id);
			bench_lend(bench, id + capacity);
			assert_int_equal(
				claim_take(&bench->ends.worker.lane[0], packets, 8), capacity);
			for (uint32_t k = 0; k < capacity; k++)
				assert_packet(&packets[k], id + 1 + k);
			bench_learn(bench);
			assert_view(bench, capacity, 0, capacity);
			bench->claim.harvested = bench->claim.taken;
			claim_view(&bench->claim, &bench->ends.producer);
			assert_view(bench, capacity, 0, 0);
			id += capacity + 1;
		}
		assert_true(atomic_load(&bench->head.seq) > UINT32_MAX);
		bench_destroy(bench);
	}
}

/* A head of an earlier lap of 32 bits is another one: a sleeping worker claims nothing with it. */
static void
head_of_2_to_the_32_packets_ago_claims_nothing(void **state)
{
	struct weir_packet packets[2];
	struct bench *bench = bench_create(2, true);
	const struct lane_consumer *consumer = &bench->ends.worker.lane[0];

	(void)state;
	bench_lend_some(bench, 0, 2);
	assert_int_equal(claim_copy(consumer, 0, packets, 2), 2);
	bench_start_at(bench, UINT64_C(1) << 32);
	bench_lend_some(bench, 8, 2);
	assert_int_equal(claim_take_copied(consumer, 0, 2), 2);
	assert_int_equal(atomic_load(&bench->head.seq), UINT64_C(1) << 32);
	bench_destroy(bench);
}

static void
nothing_is_evicted_once_a_pin_window_would_wrap(void **state)
{
	struct weir_packet packets[1];
	struct bench *bench = bench_create(2, true);

	(void)state;
	bench_lend_some(bench, 0, 2);
	assert_int_equal(weir_take(&bench->ends.worker, packets, 1), 1);
	bench_learn(bench);
	/* As if so many had been evicted behind the packet in process. */
	bench_start_at(bench, CLAIM_GAP_MAX - 4);
	for (uint32_t i = 0; i < 4; i++) {
		bench_lend(bench, i);
		bench_evict(bench, i);
	}
	bench_lend_some(bench, 4, 2);
	assert_int_equal(
		bench->ends.producer.tail - bench->ends.producer.harvested, CLAIM_GAP_MAX + 2);
	assert_view(bench, 0, 2, 1);
	assert_false(claim_can_evict(&bench->claim, &bench->ends.producer));
	/* Once that one is home, as ever. */
	bench->claim.harvested++;
	claim_view(&bench->claim, &bench->ends.producer);
	bench_evict(bench, 4);
	bench_destroy(bench);
}

static void
closed_lane_is_empty_takes_nothing_and_gives_nothing(void **state)
{
	struct weir_packet packets[4];
	struct bench *bench = bench_create(4, true);

	(void)state;
	bench_lend_some(bench, 0, 4);
	assert_int_equal(weir_take(&bench->ends.worker, packets, 1), 1);
	bench_learn(bench);
	claim_close(&bench->claim, &bench->ends.producer);
	claim_view(&bench->claim, &bench->ends.producer);
	assert_view(bench, 0, 0, 0);
	assert_false(claim_can_evict(&bench->claim, &bench->ends.producer));
	assert_int_equal(claim_take(&bench->ends.worker.lane[0], packets, 4), 0);
	bench_destroy(bench);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(geometry_has_verdicts_for_two_capacities_and_a_burst),
		cmocka_unit_test(m3_capacity_counts_what_is_queued_only),
		cmocka_unit_test(packets_are_taken_in_order_with_their_metadata),
		cmocka_unit_test(lane_without_metadata_lends_zeroes),
		cmocka_unit_test(m4_oldest_are_evicted_and_the_newest_stay),
		cmocka_unit_test(m4_eviction_that_comes_after_the_take_evicts_nothing),
		cmocka_unit_test(take_leaves_out_what_was_evicted_since_it_was_copied),
		cmocka_unit_test(take_gets_nothing_of_a_copy_that_was_evicted_whole),
		cmocka_unit_test(take_is_a_burst_at_most),
		cmocka_unit_test(verdicts_are_numbered_by_what_was_taken),
		cmocka_unit_test(verdicts_of_all_that_can_be_taken_between_two_looks_have_room),
		cmocka_unit_test(
			pins_are_out_until_taken_ones_are_home_and_queued_ones_are_evicted),
		cmocka_unit_test(head_that_goes_back_or_beyond_the_tail_is_not_believed),
		cmocka_unit_test(sequence_numbers_wrap_at_2_to_the_32_and_the_head_goes_on),
		cmocka_unit_test(head_of_2_to_the_32_packets_ago_claims_nothing),
		cmocka_unit_test(nothing_is_evicted_once_a_pin_window_would_wrap),
		cmocka_unit_test(closed_lane_is_empty_takes_nothing_and_gives_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
