/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/decide with order flow: what drops and refusals leave of pins, mirror and message index. */
#include "test.h"

#include "dispatcher.h"
#include "order_rig.h"

/* Two workers with two slots each; both lanes full, then worker 1's empty. Index 4 is worker 0's.
 */
static struct rig *
rig_with_worker_0_full(const char *overflow, uint32_t chunk)
{
	struct weir_config config = order_config("round-robin", 2);
	struct rig *rig;

	config.lane_size = 2;
	config.overflow = overflow;
	config.chunk = chunk;
	rig = rig_create(&config, 64);
	for (uint16_t bucket = 1; bucket <= 4; bucket++)
		assert_int_equal(dispatch_buckets(rig, bucket), 1);
	order_bring_home(rig, 1, 2);
	return rig;
}

static void
drop_new_of_a_picked_packet_leaves_no_pin(void **state)
{
	struct rig *rig = rig_with_worker_0_full("drop-new", 1);

	(void)state;
	/* One pick for both; the second is dropped with the first. */
	assert_goes(rig, { 9, 0 }, { 9, 0 });
	assert_int_equal(rig_worker_counters(rig, 0, 0).dropped[WEIR_REASON_OVERFLOW_DROP_NEW], 2);
	assert_int_equal(order_index(rig), 5);
	assert_int_equal(order_pin(rig, 9), WEIR_WORKER_NONE);
	assert_false(order_is_out(rig, 9));
	/* So it asks again: index 5 is worker 1's. */
	assert_goes(rig, { 9, 1 });
	assert_int_equal(order_moves(rig), 0);
	rig_destroy(rig);
}

static void
drop_new_of_a_picked_packet_leaves_an_old_pin_as_it_was(void **state)
{
	struct rig *rig = rig_with_worker_0_full("drop-new", 1);

	(void)state;
	assert_int_equal(order_pin(rig, 2), 1);
	assert_goes(rig, { 2, 0 });
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_OVERFLOW_DROP_NEW], 1);
	assert_int_equal(order_pin(rig, 2), 1);
	assert_false(order_is_out(rig, 2));
	assert_goes(rig, { 2, 1 });
	assert_int_equal(order_moves(rig), 0);
	rig_destroy(rig);
}

static void
dropped_follower_leaves_the_pin_of_those_before_it(void **state)
{
	struct rig *rig = rig_with_worker_0_full("drop-new", 1);

	(void)state;
	assert_goes(rig, { 3, 0 }, { 5, 0 }, { 6, 1 }, { 3, 0 });
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_OVERFLOW_DROP_NEW], 3);
	assert_true(order_is_out(rig, 3));
	order_bring_home(rig, 0, 1);
	assert_goes(rig, { 3, 0 });
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_OVERFLOW_DROP_NEW], 3);
	rig_destroy(rig);
}

/* The first of the pick finds the last slot, the second none: it was lent, so the pin stands. */
static void
pick_that_was_lent_in_part_leaves_its_pin(void **state)
{
	struct weir_config config = order_config("first", 2);
	struct rig *rig;

	(void)state;
	config.lane_size = 1;
	rig = rig_create(&config, 64);
	assert_goes(rig, { 7, 0 }, { 7, 0 });
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_OVERFLOW_DROP_NEW], 1);
	assert_true(order_is_out(rig, 7));
	assert_int_equal(order_pin(rig, 7), 0);
	assert_int_equal(order_index(rig), 1);
	rig_destroy(rig);
}

static void
drop_ends_the_chunk_and_the_bucket_asks_again(void **state)
{
	struct weir_config config = order_config("round-robin", 2);
	struct rig *rig;

	(void)state;
	config.chunk = 4;
	config.lane_size = 2;
	rig = rig_create(&config, 64);
	/* One pick for three buckets; the third finds worker 0 full. Index 3 is worker 1's. */
	assert_goes(rig, { 1, 0 }, { 2, 0 }, { 3, 0 }, { 3, 1 });
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_OVERFLOW_DROP_NEW], 1);
	assert_int_equal(order_index(rig), 4);
	assert_int_equal(order_pin(rig, 3), 1);
	rig_destroy(rig);
}

/* What a refusal must leave as it was. */
struct before {
	uint64_t index;
	struct weir_dispatcher_counters counters;
	uint32_t depth[WEIR_WORKERS_MAX];
	uint32_t room[WEIR_WORKERS_MAX];
	struct pin pins[16];
	bool out[16];
};

static struct before
before_take(const struct rig *rig)
{
	const struct weir_dispatcher *d = rig->dispatcher[0].dispatcher;
	struct before before = { .index = order_index(rig), .counters = rig_counters(rig, 0) };

	memcpy(before.depth, d->depth, sizeof(before.depth));
	memcpy(before.room, d->room, sizeof(before.room));
	memcpy(before.pins, d->pins, sizeof(before.pins));
	for (uint16_t bucket = 0; bucket < ARRAY_LENGTH(before.out); bucket++)
		before.out[bucket] = order_is_out(rig, bucket);
	return before;
}

static void
assert_as_before(const struct rig *rig, const struct before *before)
{
	const struct before now = before_take(rig);

	assert_int_equal(now.index, before->index);
	assert_int_equal(now.counters.routed, before->counters.routed);
	assert_int_equal(now.counters.lent, before->counters.lent);
	assert_int_equal(now.counters.moves, before->counters.moves);
	assert_memory_equal(now.depth, before->depth, sizeof(now.depth));
	assert_memory_equal(now.room, before->room, sizeof(now.room));
	assert_memory_equal(now.out, before->out, sizeof(now.out));
	for (size_t i = 0; i < ARRAY_LENGTH(now.pins); i++) {
		assert_int_equal(now.pins[i].worker, before->pins[i].worker);
		assert_int_equal(now.pins[i].held, before->pins[i].held);
		assert_int_equal(now.pins[i].flags, before->pins[i].flags);
		/* A stamp that is not out says nothing. */
		if (now.out[i])
			assert_int_equal(now.pins[i].stamp, before->pins[i].stamp);
	}
}

static void
refusal_leaves_pins_mirror_and_index_as_they_were(void **state)
{
	static const uint32_t chunks[] = { 1, 3 };

	(void)state;
	for (size_t c = 0; c < ARRAY_LENGTH(chunks); c++) {
		struct weir_config config = order_config("shallowest", 2);
		struct before before;
		struct rig *rig;

		config.lane_size = 2;
		config.overflow = "reject";
		config.chunk = chunks[c];
		rig = rig_create(&config, 64);
		assert_goes(rig, { 9, 0 });
		order_bring_home(rig, 0, 1);
		for (uint16_t bucket = 1; bucket <= 4; bucket++)
			assert_int_equal(dispatch_buckets(rig, bucket), 1);
		before = before_take(rig);
		/* New, known and idle, new again, out: all full. */
		assert_int_equal(dispatch_buckets(rig, 10, 9, 10, 1, 11), 0);
		assert_as_before(rig, &before);
		assert_int_equal(rig_retry(rig, 0), 0);
		assert_as_before(rig, &before);
		rig_destroy(rig);
	}
}

static void
refusal_takes_back_what_is_behind_it_and_nothing_else(void **state)
{
	struct rig *rig = rig_with_worker_0_full("reject", 1);

	(void)state;
	weir_message_index_set(rig->dispatcher[0].dispatcher, 5);
	/* 9 goes to worker 1, 8 is refused at worker 0; 9 and 2 behind it stay with the caller. */
	assert_int_equal(dispatch_buckets(rig, 9, 8, 9, 2), 1);
	assert_int_equal(order_index(rig), 6);
	assert_true(order_is_out(rig, 9));
	assert_int_equal(order_pin(rig, 9), 1);
	assert_int_equal(order_pin(rig, 8), WEIR_WORKER_NONE);
	assert_int_equal(order_pin(rig, 2), 1);
	assert_false(order_is_out(rig, 2));
	/* The refused one is offered to the same worker again; 9 follows; worker 1 is full for 2.
	 */
	assert_int_equal(rig_retry(rig, 0), 0);
	order_bring_home(rig, 0, 2);
	assert_int_equal(rig_retry(rig, 0), 2);
	assert_int_equal(rig_last(rig, 3)[0].charged, 0);
	assert_int_equal(rig_last(rig, 3)[1].charged, 1);
	assert_int_equal(order_index(rig), 7);
	rig_destroy(rig);
}

static void
refused_follower_ends_the_dispatch_though_others_have_room(void **state)
{
	struct rig *rig = rig_with_worker_0_full("reject", 1);

	(void)state;
	assert_int_equal(dispatch_buckets(rig, 3, 2), 0);
	assert_int_equal(order_index(rig), 4);
	order_bring_home(rig, 0, 1);
	assert_int_equal(rig_retry(rig, 0), 1);
	assert_int_equal(rig_last(rig, 2)->charged, 0);
	rig_destroy(rig);
}

/* The pool was idle when the burst began; its first packet is out when its last is planned again.
 */
static void
packet_behind_a_drop_follows_one_lent_in_the_same_burst(void **state)
{
	struct weir_config config = order_config("round-robin", 3);
	struct rig *rig;

	(void)state;
	config.chunk = 8;
	config.lane_size = 1;
	rig = rig_create(&config, 64);
	assert_goes(rig, { 7, 0 }, { 8, 0 }, { 7, 0 });
	assert_int_equal(rig_depth(rig, 0), 1);
	assert_int_equal(rig_depth(rig, 2), 0);
	rig_destroy(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packet_behind_a_drop_follows_one_lent_in_the_same_burst),
		cmocka_unit_test(drop_new_of_a_picked_packet_leaves_no_pin),
		cmocka_unit_test(drop_new_of_a_picked_packet_leaves_an_old_pin_as_it_was),
		cmocka_unit_test(dropped_follower_leaves_the_pin_of_those_before_it),
		cmocka_unit_test(pick_that_was_lent_in_part_leaves_its_pin),
		cmocka_unit_test(drop_ends_the_chunk_and_the_bucket_asks_again),
		cmocka_unit_test(refusal_leaves_pins_mirror_and_index_as_they_were),
		cmocka_unit_test(refusal_takes_back_what_is_behind_it_and_nothing_else),
		cmocka_unit_test(refused_follower_ends_the_dispatch_though_others_have_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
