/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/decide with order flow: what must wait, for how long, and in which order it goes on. */
#include "test.h"

#include "dispatch.h"
#include "order_rig.h"

static struct rig *
rig_of(const char *strategy, uint32_t n_workers, uint32_t lane_size, const char *overflow)
{
	struct weir_config config = order_config(strategy, n_workers);

	config.lane_size = lane_size;
	config.overflow = overflow;
	return rig_create(&config, 1024);
}

/* Two workers in rotation; bucket 7 has two packets out at worker 0, which takes no more. */
static struct rig *
rig_with_7_out_at_worker_0(enum weir_worker_state worker_0)
{
	struct rig *rig = order_rig("round-robin", 2, 1024);

	assert_goes(rig, { 7, 0 }, { 7, 0 });
	assert_int_equal(weir_pool_set_state(rig->pool, 0, worker_0), 0);
	return rig;
}

static void
held_buckets_arrivals_join_the_tail_and_other_buckets_go_on(void **state)
{
	struct rig *rig = rig_with_7_out_at_worker_0(WEIR_WORKER_DRAINING);

	(void)state;
	assert_goes(rig, { 7, HELD }, { 8, 1 }, { 7, HELD }, { 9, 1 });
	assert_int_equal(order_held(rig), 2);
	assert_goes(rig, { 10, 1 }, { 7, HELD });
	assert_int_equal(order_held(rig), 3);
	assert_int_equal(rig_counters(rig, 0).held, 3);
	assert_int_equal(rig_counters(rig, 0).rejected, 0);
	assert_int_equal(rig_counters(rig, 0).received, 8);
	assert_int_equal(order_index(rig), 4);
	rig_destroy(rig);
}

static void
bucket_of_a_draining_worker_waits_until_it_is_harvested_then_moves_in_order(void **state)
{
	static const enum weir_worker_state states[] = { WEIR_WORKER_DRAINING,
		WEIR_WORKER_STOPPED };

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(states); i++) {
		struct rig *rig = rig_with_7_out_at_worker_0(states[i]);

		assert_goes(rig, { 7, HELD });
		assert_goes(rig, { 7, HELD }, { 7, HELD });
		order_bring_home(rig, 0, 1);
		assert_int_equal(order_held(rig), 3);
		assert_int_equal(order_moves(rig), 0);
		/* The last one comes home: in the same call those that waited go, with one pick. */
		order_bring_home(rig, 0, 1);
		assert_int_equal(order_held(rig), 0);
		assert_int_equal(rig_depth(rig, 1), 3);
		assert_int_equal(order_moves(rig), 1);
		assert_int_equal(order_index(rig), 2);
		assert_goes(rig, { 7, 1 });
		order_bring_home(rig, 1, 4);
		for (uint32_t p = 0; p < 6; p++)
			assert_int_equal(rig->dispatcher[0].ended[p]->id, p);
		rig_destroy(rig);
	}
}

static void
bucket_of_a_removed_worker_waits_until_it_is_harvested_then_moves(void **state)
{
	struct rig *rig = order_rig("round-robin", 2, 64);

	(void)state;
	assert_goes(rig, { 7, 0 });
	order_remove(rig, 0);
	assert_goes(rig, { 7, HELD }, { 8, 1 });
	order_bring_home(rig, 0, 1);
	assert_int_equal(order_held(rig), 0);
	assert_goes(rig, { 7, 1 });
	rig_destroy(rig);
}

static void
bucket_of_a_worker_that_comes_back_goes_on_there_at_once(void **state)
{
	struct rig *rig = order_rig("round-robin", 2, 64);

	(void)state;
	assert_goes(rig, { 7, 0 });
	order_remove(rig, 0);
	assert_goes(rig, { 7, HELD });
	/* Starting is not enough. */
	assert_int_equal(weir_pool_add(rig->pool, 0), 0);
	assert_goes(rig, { 7, HELD });
	assert_int_equal(weir_pool_set_state(rig->pool, 0, WEIR_WORKER_READY), 0);
	rig_harvest(rig);
	assert_int_equal(order_held(rig), 0);
	assert_int_equal(rig_depth(rig, 0), 3);
	assert_int_equal(order_index(rig), 1);
	assert_goes(rig, { 7, 0 });
	rig_destroy(rig);
}

static void
idle_bucket_of_a_removed_worker_does_not_wait(void **state)
{
	struct rig *rig = order_rig("round-robin", 2, 64);

	(void)state;
	assert_goes(rig, { 7, 0 }, { 8, 1 }, { 9, 0 });
	order_bring_home(rig, 0, 1);
	order_remove(rig, 0);
	assert_goes(rig, { 7, 1 }, { 9, HELD });
	rig_destroy(rig);
}

static void
each_held_bucket_goes_when_its_own_last_packet_is_home(void **state)
{
	struct rig *rig = order_rig("round-robin", 2, 64);

	(void)state;
	assert_goes(rig, { 7, 0 }, { 7, 0 });
	assert_goes(rig, { 1, 1 }, { 8, 0 });
	order_remove(rig, 0);
	assert_goes(rig, { 8, HELD }, { 7, HELD }, { 8, HELD }, { 7, HELD });
	order_bring_home(rig, 0, 2);
	/* Those of 7 have overtaken those of 8, which keep their order. */
	assert_int_equal(order_held(rig), 2);
	assert_int_equal(rig_depth(rig, 1), 3);
	order_bring_home(rig, 0, 1);
	assert_int_equal(order_held(rig), 0);
	assert_int_equal(rig_depth(rig, 1), 5);
	rig_destroy(rig);
}

static void
full_hold_ends_what_must_wait_as_held_overflow(void **state)
{
	static const uint32_t sizes[] = { 0, 1, 3 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
		struct weir_config config = order_config("round-robin", 2);
		struct rig *rig;

		config.hold_size = sizes[i];
		rig = rig_create(&config, 64);
		assert_goes(rig, { 7, 0 });
		order_remove(rig, 0);
		/* Four wait or end, those of other buckets go on. */
		assert_goes(rig, { 7, HELD }, { 8, 1 }, { 7, HELD }, { 7, HELD }, { 7, HELD },
			{ 9, 1 });
		assert_int_equal(order_held(rig), sizes[i]);
		assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_HELD_OVERFLOW], 4 - sizes[i]);
		assert_int_equal(
			rig_worker_counters(rig, 0, 0).dropped[WEIR_REASON_HELD_OVERFLOW], 0);
		assert_int_equal(rig->dispatcher[0].n_ended, 4 - sizes[i]);
		assert_int_equal(rig_counters(rig, 0).rejected, 0);
		/* The oldest are kept. */
		order_bring_home(rig, 0, 1);
		assert_int_equal(order_held(rig), 0);
		assert_int_equal(rig_depth(rig, 1), 2 + sizes[i]);
		rig_destroy(rig);
	}
}

static void
full_hold_ends_what_waits_for_a_stopped_worker_under_reject_too(void **state)
{
	struct weir_config config = order_config("round-robin", 2);
	struct rig *rig;

	(void)state;
	config.overflow = "reject";
	config.hold_size = 2;
	rig = rig_create(&config, 64);
	assert_goes(rig, { 7, 0 });
	order_remove(rig, 0);
	/* The port goes on: what is of other buckets is not its matter. */
	assert_goes(rig, { 7, HELD }, { 8, 1 }, { 7, HELD }, { 7, HELD }, { 9, 1 });
	assert_int_equal(order_held(rig), 2);
	assert_true(weir_accepts(rig->dispatcher[0].dispatcher));
	assert_int_equal(rig_counters(rig, 0).rejected, 0);
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_HELD_OVERFLOW], 1);
	order_bring_home(rig, 0, 1);
	assert_int_equal(order_held(rig), 0);
	rig_destroy(rig);
}

static void
hold_drop_clears_the_counts_of_held_packets(void **state)
{
	struct rig *rig = rig_with_7_out_at_worker_0(WEIR_WORKER_DRAINING);

	(void)state;
	assert_goes(rig, { 7, HELD }, { 7, HELD }, { 7, HELD });
	assert_int_equal(
		weir_hold_drop(rig->dispatcher[0].dispatcher, WEIR_REASON_DRAIN_TIMEOUT), 3);
	rig->dispatcher[0].n_hold_dropped = 3;
	rig_check(rig);
	rig_check_pins(rig);
	/* The bucket is as it was before them: out, then free. */
	assert_goes(rig, { 7, HELD });
	order_bring_home(rig, 0, 2);
	assert_int_equal(order_held(rig), 0);
	assert_goes(rig, { 7, 1 });
	rig_destroy(rig);
}

static void
held_packets_are_lost_with_the_last_worker_and_their_bucket_starts_afresh(void **state)
{
	struct rig *rig = rig_with_7_out_at_worker_0(WEIR_WORKER_DRAINING);

	(void)state;
	assert_goes(rig, { 7, HELD }, { 7, HELD });
	order_remove(rig, 1);
	rig_harvest(rig);
	assert_int_equal(order_held(rig), 0);
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_DEAD_WORKER], 2);
	rig_check_pins(rig);
	order_add(rig, 1);
	assert_goes(rig, { 7, HELD });
	order_bring_home(rig, 0, 2);
	assert_goes(rig, { 7, 1 });
	rig_destroy(rig);
}

static void
one_bucket_may_hold_as_many_packets_as_the_largest_hold(void **state)
{
	uint32_t left = 65535;
	struct weir_config config = order_config("first", 2);
	const struct pin *pin;
	struct rig *rig;

	(void)state;
	config.burst = 256;
	config.hold_size = 65535;
	config.lane_size = 65535;
	rig = rig_create(&config, 66000);
	pin = &rig->dispatcher[0].dispatcher->pins[7];
	rig->bucket = 7;
	assert_int_equal(rig_dispatch(rig, 1), 1);
	order_remove(rig, 0);
	for (uint32_t i = 0; i < 256; i++)
		assert_int_equal(rig_dispatch(rig, 256), 256);
	assert_int_equal(order_held(rig), 65535);
	assert_int_equal(pin->held, 65535);
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_HELD_OVERFLOW], 1);
	order_bring_home(rig, 0, 1);
	/* They are free at once, but go in passes of a bounded length, each in a loop. */
	while (left > HOLD_PASS_PKTS) {
		left -= HOLD_PASS_PKTS;
		assert_int_equal(order_held(rig), left);
		rig_harvest(rig);
	}
	assert_int_equal(pin->held, 0);
	assert_int_equal(rig_depth(rig, 1), 65535);
	rig_destroy(rig);
}

/*
 * Buckets 1 and 2 wait for workers 0 and 1, mixed at random; the hold begins at slot `start` of its
 * ring. Then those of 1 become free, later those of 2.
 */
static void
pass_over_a_long_hold(
	uint32_t hold_size, uint32_t burst, uint32_t start, struct test_random *random)
{
	struct weir_config config = order_config("first", 3);
	uint32_t n_of_1 = 0;
	struct rig *rig;

	config.hold_size = hold_size;
	config.burst = burst;
	config.lane_size = 1000;
	rig = rig_create(&config, 1024);
	rig->dispatcher[0].dispatcher->hold.head = start;
	rig->dispatcher[0].dispatcher->hold.tail = start;
	assert_goes(rig, { 1, 0 });
	order_remove(rig, 0);
	assert_goes(rig, { 2, 1 });
	order_remove(rig, 1);
	for (uint32_t i = 0; i < hold_size; i++) {
		const uint16_t bucket = 1 + (uint16_t)test_random_below(random, 2);

		n_of_1 += bucket == 1;
		assert_goes(rig, { bucket, HELD });
	}
	assert_int_equal(order_held(rig), hold_size);
	/* The rig's oracle sees any that overtakes another of its bucket. */
	order_bring_home(rig, 0, 1);
	assert_int_equal(order_held(rig), hold_size - n_of_1);
	assert_int_equal(rig_depth(rig, 2), n_of_1);
	assert_int_equal(dispatch_buckets(rig, 2), 1);
	order_bring_home(rig, 2, n_of_1);
	order_bring_home(rig, 1, 1);
	assert_int_equal(order_held(rig), 0);
	rig_drain(rig);
	assert_int_equal(rig->dispatcher[0].order.n_ended + rig->dispatcher[0].n_held_overflow,
		rig->dispatcher[0].n_packets);
	rig_destroy(rig);
}

static void
pass_over_more_than_a_burst_keeps_the_order_at_every_place_of_the_ring(void **state)
{
	static const uint32_t bursts[] = { 1, 7, 32, 64, 256 };
	/* Rings that are exactly full, and not. */
	static const uint32_t sizes[] = { 64, 63, 50 };
	struct test_random random = test_random_start(__func__);

	(void)state;
	for (size_t b = 0; b < ARRAY_LENGTH(bursts); b++) {
		for (size_t s = 0; s < ARRAY_LENGTH(sizes); s++) {
			for (uint32_t start = 0; start < 64; start += 7)
				pass_over_a_long_hold(sizes[s], bursts[b], start, &random);
			pass_over_a_long_hold(sizes[s], bursts[b], UINT32_MAX - 20, &random);
		}
	}
}

static void
pass_under_reject_ends_at_the_first_refusal_and_keeps_the_order(void **state)
{
	struct rig *rig = rig_of("first", 3, 2, "reject");

	(void)state;
	/* Bucket 7 waits for worker 0; worker 1 is full with 8 and 9. */
	assert_goes(rig, { 7, 0 });
	order_remove(rig, 0);
	assert_goes(rig, { 8, 1 }, { 9, 1 });
	assert_int_equal(dispatch_buckets(rig, 7, 8, 7, 10), 1);
	rig_hold(rig, 0);
	assert_int_equal(order_held(rig), 4);
	assert_int_equal(order_index(rig), 3);
	/* One slot: 8 asks again and goes; 7 keeps its place; 10 is refused. */
	order_bring_home(rig, 1, 1);
	assert_int_equal(order_held(rig), 3);
	assert_int_equal(order_index(rig), 4);
	/* 10 goes at once, though it is behind those of 7. */
	order_bring_home(rig, 1, 1);
	assert_int_equal(order_held(rig), 2);
	assert_int_equal(order_index(rig), 5);
	/* One of 7 finds no room: both wait on, in order. */
	order_bring_home(rig, 0, 1);
	assert_int_equal(order_held(rig), 2);
	order_bring_home(rig, 1, 1);
	assert_int_equal(order_held(rig), 1);
	rig_destroy(rig);
}

/* Bursts of two. The first of the pass ends at bucket 8; the second would find room for 9. */
static void
refusal_in_the_first_burst_of_a_pass_stops_the_ones_behind(void **state)
{
	struct weir_config config = order_config("round-robin", 3);
	struct rig *rig;

	(void)state;
	config.lane_size = 3;
	config.burst = 2;
	config.overflow = "reject";
	rig = rig_create(&config, 64);
	assert_goes(rig, { 7, 0 }, { 8, 1 });
	assert_goes(rig, { 9, 2 }, { 8, 1 });
	assert_goes(rig, { 8, 1 });
	order_remove(rig, 0);
	assert_int_equal(dispatch_buckets(rig, 7, 8), 1);
	rig_hold(rig, 0);
	assert_int_equal(dispatch_buckets(rig, 9, 7), 0);
	rig_hold(rig, 0);
	assert_int_equal(order_held(rig), 4);
	/* 7 is free and index 3 of two is worker 2's; 8 is refused. */
	order_bring_home(rig, 0, 1);
	assert_int_equal(order_held(rig), 3);
	assert_int_equal(rig_depth(rig, 2), 2);
	/* 8, 9 and 7 in their turn; there is no room for the last. */
	order_bring_home(rig, 1, 1);
	assert_int_equal(order_held(rig), 1);
	assert_int_equal(rig_depth(rig, 1), 3);
	assert_int_equal(rig_depth(rig, 2), 3);
	rig_destroy(rig);
}

static void
dispatchers_hold_for_themselves(void **state)
{
	struct weir_config config = order_config("round-robin", 2);
	static const uint16_t bucket = 7;
	struct rig *rig;

	(void)state;
	config.n_dispatchers = 2;
	rig = rig_create(&config, 64);
	assert_goes(rig, { 7, 0 });
	order_remove(rig, 0);
	/* The second has nothing of this bucket out. */
	assert_int_equal(rig_dispatch_buckets(rig, 1, &bucket, 1), 1);
	assert_int_equal(rig->dispatcher[1].packets[0].charged, 1);
	assert_goes(rig, { 7, HELD });
	assert_int_equal(weir_held(rig->dispatcher[1].dispatcher), 0);
	rig_destroy(rig);
}

static void
held_buckets_take_part_in_chunks_when_they_go(void **state)
{
	struct weir_config config = order_config("round-robin", 3);
	struct rig *rig;

	(void)state;
	config.chunk = 8;
	rig = rig_create(&config, 64);
	assert_goes(rig, { 1, 0 }, { 2, 0 }, { 3, 0 });
	order_remove(rig, 0);
	assert_goes(rig, { 1, HELD }, { 2, HELD }, { 3, HELD }, { 2, HELD });
	/* Index 3 of the two that are left is worker 2's: one pick for three buckets. */
	order_bring_home(rig, 0, 3);
	assert_int_equal(rig_depth(rig, 2), 4);
	assert_int_equal(order_index(rig), 6);
	assert_int_equal(order_moves(rig), 3);
	rig_destroy(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(held_buckets_arrivals_join_the_tail_and_other_buckets_go_on),
		cmocka_unit_test(
			bucket_of_a_draining_worker_waits_until_it_is_harvested_then_moves_in_order),
		cmocka_unit_test(bucket_of_a_removed_worker_waits_until_it_is_harvested_then_moves),
		cmocka_unit_test(bucket_of_a_worker_that_comes_back_goes_on_there_at_once),
		cmocka_unit_test(idle_bucket_of_a_removed_worker_does_not_wait),
		cmocka_unit_test(each_held_bucket_goes_when_its_own_last_packet_is_home),
		cmocka_unit_test(full_hold_ends_what_must_wait_as_held_overflow),
		cmocka_unit_test(full_hold_ends_what_waits_for_a_stopped_worker_under_reject_too),
		cmocka_unit_test(hold_drop_clears_the_counts_of_held_packets),
		cmocka_unit_test(
			held_packets_are_lost_with_the_last_worker_and_their_bucket_starts_afresh),
		cmocka_unit_test(one_bucket_may_hold_as_many_packets_as_the_largest_hold),
		cmocka_unit_test(
			pass_over_more_than_a_burst_keeps_the_order_at_every_place_of_the_ring),
		cmocka_unit_test(pass_under_reject_ends_at_the_first_refusal_and_keeps_the_order),
		cmocka_unit_test(refusal_in_the_first_burst_of_a_pass_stops_the_ones_behind),
		cmocka_unit_test(dispatchers_hold_for_themselves),
		cmocka_unit_test(held_buckets_take_part_in_chunks_when_they_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
