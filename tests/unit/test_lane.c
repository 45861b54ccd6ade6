/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/lane: slots and phases, capacity, take and complete, without a pool. */
#include "test.h"

#include "lane_bench.h"

#define N_SLOTS_MAX 65536

static struct lane_bench *
bench_create(uint32_t capacity, bool with_metadata)
{
	struct lane_bench *bench = aligned_alloc(64, round_up(sizeof(*bench), 64));

	assert_non_null(bench);
	memset(bench, 0, sizeof(*bench));
	lane_bench_open(bench, lane_geometry_make(capacity, with_metadata));
	bench->producer.capacity = capacity;
	return bench;
}

static void
bench_destroy(struct lane_bench *bench)
{
	lane_bench_close(bench);
	free(bench);
}

/* Starts both ends at sequence number `seq`, as if that many packets had passed. */
static void
bench_start_at(struct lane_bench *bench, uint32_t seq)
{
	const uint32_t n_slots = bench->producer.n_slots;

	bench->producer.tail = seq;
	bench->producer.harvested = seq;
	bench->producer.completed = seq;
	bench->worker.lane[0].head = seq;
	bench->worker.lane[0].completed = seq;
	/* Each slot was last stored in the lap before the one that stores it next. */
	for (uint32_t i = 0; i < n_slots; i++)
		bench->slots[(seq + i) & (n_slots - 1)] = lane_phase(seq + i - n_slots, n_slots);
}

static void
bench_lend(struct lane_bench *bench, uint32_t id)
{
	const struct weir_meta meta = { .time_ns = id, .length = id + 1 };

	void *const packet = lane_bench_packet(id);
	void *const data = lane_bench_data(id);
	struct lane_post post;

	lane_stage(&bench->producer, 0, &packet, &data, &meta, 1, &post);
	lane_publish_metadata(&post);
	lane_publish(&post);
}

/* Takes one packet and gives it back; harvests it. */
static void
bench_pass_one(struct lane_bench *bench, uint32_t id)
{
	const struct weir_verdict verdict = { .kind = WEIR_VERDICT_TX, .length = id };
	struct lane_producer *producer = &bench->producer;
	struct weir_packet packet;

	assert_int_equal(weir_take(&bench->worker, &packet, 1), 1);
	assert_ptr_equal(packet.data, lane_bench_data(id));
	weir_complete(&bench->worker, &verdict, 1);
	producer->completed = progress_completed(progress_read(&bench->progress, 0));
	assert_int_equal(producer->completed, producer->harvested + 1);
	assert_ptr_equal(producer->packets[producer->harvested & (producer->n_slots - 1)],
		lane_bench_packet(id));
	assert_int_equal(
		producer->verdicts[producer->harvested & (producer->n_slots - 1)].length, id);
	producer->harvested++;
}

static void
geometry_has_the_next_power_of_two_of_slots(void **state)
{
	static const struct {
		uint32_t capacity;
		uint32_t n_slots;
	} cases[] = { { 1, 1 }, { 2, 2 }, { 3, 4 }, { 4, 4 }, { 5, 8 }, { 512, 512 }, { 513, 1024 },
		{ 32769, 65536 }, { 65535, 65536 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++)
		assert_int_equal(
			lane_geometry_make(cases[i].capacity, true).n_slots, cases[i].n_slots);
}

static void
geometry_has_room_for_all_slots_and_staggers_lanes_by_a_line(void **state)
{
	(void)state;
	for (uint32_t capacity = 1; capacity <= WEIR_LANE_SIZE_MAX; capacity = capacity * 2 + 1) {
		const struct lane_geometry g = lane_geometry_make(capacity, true);

		assert_true(g.slots_bytes >= g.n_slots * sizeof(lane_slot) + CACHE_LINE_BYTES);
		assert_true(g.metadata_bytes >=
			    g.n_slots * sizeof(struct weir_meta) + CACHE_LINE_BYTES);
		assert_true(g.verdicts_bytes >=
			    g.n_slots * sizeof(struct weir_verdict) + CACHE_LINE_BYTES);
		assert_true(g.packets_bytes >= g.n_slots * sizeof(void *) + CACHE_LINE_BYTES);
		assert_int_equal(g.slots_bytes % CACHE_LINE_BYTES, 0);
		assert_int_equal(g.metadata_bytes % CACHE_LINE_BYTES, 0);
		assert_int_equal(g.verdicts_bytes % CACHE_LINE_BYTES, 0);
		assert_int_equal(g.packets_bytes % CACHE_LINE_BYTES, 0);
	}
	assert_int_equal(lane_geometry_make(512, false).metadata_bytes, 0);
}

static void
phase_is_one_in_the_first_lap_and_flips_with_each(void **state)
{
	(void)state;
	for (uint32_t seq = 0; seq < 64; seq++)
		assert_int_equal(lane_phase(seq, 8), (seq / 8) % 2 == 0);
	/* The sequence number's wrap is no seam: 2^32 is an even number of laps. */
	assert_int_equal(lane_phase(UINT32_MAX, 8), 0);
	assert_int_equal(lane_phase(UINT32_MAX, 65536), 0);
}

static void
zeroed_lane_is_empty(void **state)
{
	struct lane_bench *bench = bench_create(3, true);
	struct weir_packet packets[4];

	(void)state;
	assert_int_equal(weir_take(&bench->worker, packets, 4), 0);
	assert_int_equal(lane_occupied(&bench->producer), 0);
	assert_int_equal(lane_room(&bench->producer), 3);
	bench_destroy(bench);
}

static void
m3_capacity_3_fits_exactly_3(void **state)
{
	struct lane_bench *bench = bench_create(3, true);

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(lane_room(&bench->producer), 3 - i);
		bench_lend(bench, i);
	}
	assert_int_equal(lane_room(&bench->producer), 0);
	assert_int_equal(lane_occupied(&bench->producer), 3);
	bench_destroy(bench);
}

static void
lane_of_no_capacity_has_no_room_even_when_packets_are_in_it(void **state)
{
	struct lane_bench *bench = bench_create(3, true);

	(void)state;
	bench_lend(bench, 0);
	bench->producer.capacity = 0;
	assert_int_equal(lane_room(&bench->producer), 0);
	bench_destroy(bench);
}

static void
packets_come_in_the_order_in_which_they_were_lent(void **state)
{
	struct lane_bench *bench = bench_create(8, true);
	struct weir_packet packets[8];

	(void)state;
	for (uint32_t i = 0; i < 8; i++)
		bench_lend(bench, i);
	assert_int_equal(weir_take(&bench->worker, packets, 8), 8);
	for (uint32_t i = 0; i < 8; i++) {
		assert_ptr_equal(packets[i].data, (void *)((uintptr_t)i * 16));
		assert_int_equal(packets[i].meta.time_ns, i);
		assert_int_equal(packets[i].meta.length, i + 1);
	}
	bench_destroy(bench);
}

static void
lane_without_metadata_lends_zeroes(void **state)
{
	const struct weir_meta none = { 0 };
	struct lane_bench *bench = bench_create(8, false);
	struct weir_packet packet;

	(void)state;
	bench_lend(bench, 7);
	memset(&packet, 0xff, sizeof(packet));
	assert_int_equal(weir_take(&bench->worker, &packet, 1), 1);
	assert_ptr_equal(packet.data, (void *)(uintptr_t)(7 * 16));
	assert_memory_equal(&packet.meta, &none, sizeof(none));
	bench_destroy(bench);
}

static void
slot_keeps_63_bits_of_the_data(void **state)
{
	struct lane_bench *bench = bench_create(1, false);
	const struct weir_meta meta = { 0 };
	const uint64_t highest = UINT64_MAX >> 1;
	void *const packet = NULL;
	void *const pointer = (void *)(uintptr_t)highest;
	struct lane_post post;
	uint64_t data;

	(void)state;
	lane_stage(&bench->producer, 0, &packet, &pointer, &meta, 1, &post);
	lane_publish_metadata(&post);
	lane_publish(&post);
	assert_true(lane_peek(&bench->worker.lane[0], 0, &data));
	assert_true(data == highest);
	bench_destroy(bench);
}

static void
take_gives_no_more_than_max(void **state)
{
	struct lane_bench *bench = bench_create(8, true);
	struct weir_packet packets[8];
	struct weir_verdict verdicts[8] = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 5; i++)
		bench_lend(bench, i);
	assert_int_equal(weir_take(&bench->worker, packets, 3), 3);
	weir_complete(&bench->worker, verdicts, 3);
	assert_int_equal(weir_take(&bench->worker, packets, 3), 2);
	bench_destroy(bench);
}

static void
nothing_is_taken_while_an_earlier_take_is_open(void **state)
{
	struct lane_bench *bench = bench_create(8, true);
	struct weir_packet packets[8];
	struct weir_verdict verdicts[8] = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 5; i++)
		bench_lend(bench, i);
	assert_int_equal(weir_take(&bench->worker, packets, 2), 2);
	assert_int_equal(weir_take(&bench->worker, packets, 2), 0);
	weir_complete(&bench->worker, verdicts, 1);
	assert_int_equal(weir_take(&bench->worker, packets, 2), 0);
	weir_complete(&bench->worker, verdicts, 1);
	assert_int_equal(weir_take(&bench->worker, packets, 2), 2);
	bench_destroy(bench);
}

static void
verdicts_land_beside_their_packets_when_completed_in_parts(void **state)
{
	struct lane_bench *bench = bench_create(8, true);
	struct weir_packet packets[8];
	struct weir_verdict verdicts[8];

	(void)state;
	bench_start_at(bench, 6); /* so that the run wraps */
	for (uint32_t i = 0; i < 7; i++) {
		verdicts[i] = (struct weir_verdict) { .length = 100 + i };
		bench_lend(bench, i);
	}
	assert_int_equal(weir_take(&bench->worker, packets, 8), 7);
	weir_complete(&bench->worker, verdicts, 3);
	assert_int_equal(progress_completed(progress_read(&bench->progress, 0)), 9);
	weir_complete(&bench->worker, &verdicts[3], 4);
	assert_int_equal(progress_completed(progress_read(&bench->progress, 0)), 13);
	for (uint32_t i = 0; i < 7; i++)
		assert_int_equal(bench->verdicts[(6 + i) & 7].length, 100 + i);
	bench_destroy(bench);
}

static void
full_and_empty_lanes_are_told_apart_through_many_laps(void **state)
{
	static const uint32_t capacities[] = { 1, 2, 3, 4, 7, 8 };

	(void)state;
	for (size_t c = 0; c < ARRAY_LENGTH(capacities); c++) {
		struct lane_bench *bench = bench_create(capacities[c], true);
		struct weir_packet packet;
		uint32_t id = 0;

		for (uint32_t lap = 0; lap < 100; lap++) {
			const uint32_t first = id;

			while (lane_room(&bench->producer) > 0)
				bench_lend(bench, id++);
			assert_int_equal(id - first, capacities[c]);
			for (uint32_t i = first; i < id; i++)
				bench_pass_one(bench, i);
			assert_int_equal(weir_take(&bench->worker, &packet, 1), 0);
		}
		bench_destroy(bench);
	}
}

static void
a2_sequence_numbers_wrap_at_2_to_the_32(void **state)
{
	static const uint32_t capacities[] = { 1, 2, 3, 7, 65535 };

	(void)state;
	for (size_t c = 0; c < ARRAY_LENGTH(capacities); c++) {
		struct lane_bench *bench = bench_create(capacities[c], true);
		struct weir_packet packet;

		bench_start_at(bench, UINT32_MAX - 9);
		for (uint32_t id = 0; id < 20; id++) {
			assert_int_equal(weir_take(&bench->worker, &packet, 1), 0);
			assert_int_equal(lane_occupied(&bench->producer), 0);
			assert_int_equal(lane_room(&bench->producer), capacities[c]);
			bench_lend(bench, id);
			assert_int_equal(lane_occupied(&bench->producer), 1);
			bench_pass_one(bench, id);
		}
		bench_destroy(bench);
	}
}

static void
full_lane_wraps_at_2_to_the_32(void **state)
{
	struct lane_bench *bench = bench_create(7, true);

	(void)state;
	bench_start_at(bench, UINT32_MAX - 2);
	for (uint32_t i = 0; i < 7; i++)
		bench_lend(bench, i);
	assert_int_equal(lane_occupied(&bench->producer), 7);
	assert_int_equal(lane_room(&bench->producer), 0);
	for (uint32_t i = 0; i < 7; i++)
		bench_pass_one(bench, i);
	assert_int_equal(lane_room(&bench->producer), 7);
	bench_destroy(bench);
}

static void
complete_more(void *context)
{
	const struct weir_verdict verdicts[3] = { 0 };

	weir_complete(context, verdicts, 3);
}

static void
completing_more_than_was_taken_is_asserted(void **state)
{
	struct lane_bench *bench = bench_create(8, true);
	struct weir_packet packets[2];

	(void)state;
	test_needs_assertions();
	for (uint32_t i = 0; i < 4; i++)
		bench_lend(bench, i);
	assert_int_equal(weir_take(&bench->worker, packets, 2), 2);
	assert_true(test_aborts(complete_more, &bench->worker));
	bench_destroy(bench);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(geometry_has_the_next_power_of_two_of_slots),
		cmocka_unit_test(geometry_has_room_for_all_slots_and_staggers_lanes_by_a_line),
		cmocka_unit_test(phase_is_one_in_the_first_lap_and_flips_with_each),
		cmocka_unit_test(zeroed_lane_is_empty),
		cmocka_unit_test(m3_capacity_3_fits_exactly_3),
		cmocka_unit_test(lane_of_no_capacity_has_no_room_even_when_packets_are_in_it),
		cmocka_unit_test(packets_come_in_the_order_in_which_they_were_lent),
		cmocka_unit_test(lane_without_metadata_lends_zeroes),
		cmocka_unit_test(slot_keeps_63_bits_of_the_data),
		cmocka_unit_test(take_gives_no_more_than_max),
		cmocka_unit_test(nothing_is_taken_while_an_earlier_take_is_open),
		cmocka_unit_test(verdicts_land_beside_their_packets_when_completed_in_parts),
		cmocka_unit_test(full_and_empty_lanes_are_told_apart_through_many_laps),
		cmocka_unit_test(a2_sequence_numbers_wrap_at_2_to_the_32),
		cmocka_unit_test(full_lane_wraps_at_2_to_the_32),
		cmocka_unit_test(completing_more_than_was_taken_is_asserted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
