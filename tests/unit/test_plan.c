/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/decide with order flow: who asks the strategy, who follows a pin, and what is taken back. */
#include "test.h"

#include "dispatcher.h"
#include "order_rig.h"

static void
idle_bucket_asks_the_strategy(void **state)
{
	struct rig *rig = order_rig("round-robin", 3, 64);

	(void)state;
	assert_goes(rig, { 7, 0 });
	order_bring_home(rig, 0, 1);
	assert_goes(rig, { 7, 1 });
	order_bring_home(rig, 1, 1);
	assert_goes(rig, { 7, 2 });
	assert_int_equal(order_index(rig), 3);
	assert_int_equal(order_moves(rig), 2);
	rig_destroy(rig);
}

static void
bucket_with_packets_out_follows_its_pin(void **state)
{
	struct rig *rig = order_rig("round-robin", 3, 64);

	(void)state;
	assert_goes(rig, { 7, 0 });
	assert_goes(rig, { 7, 0 });
	assert_goes(rig, { 7, 0 }, { 7, 0 }, { 7, 0 });
	assert_int_equal(order_index(rig), 1);
	assert_int_equal(order_moves(rig), 0);
	rig_destroy(rig);
}

static void
two_packets_of_one_bucket_in_one_burst_ask_once_and_go_together(void **state)
{
	struct rig *rig = order_rig("round-robin", 3, 64);

	(void)state;
	assert_goes(rig, { 7, 0 }, { 7, 0 }, { 8, 1 });
	assert_int_equal(order_index(rig), 2);
	rig_destroy(rig);
}

static void
buckets_of_a_burst_that_interleave_ask_once_each(void **state)
{
	struct rig *rig = order_rig("round-robin", 4, 64);

	(void)state;
	assert_goes(rig, { 7, 0 }, { 8, 1 }, { 7, 0 }, { 9, 2 }, { 8, 1 }, { 7, 0 }, { 9, 2 });
	assert_int_equal(order_index(rig), 3);
	rig_destroy(rig);
}

static void
a2_pinned_packets_do_not_advance_the_message_index(void **state)
{
	struct rig *rig = order_rig("round-robin", 3, 64);
	struct weir_dispatcher_counters counters;

	(void)state;
	assert_goes(rig, { 7, 0 });
	assert_goes(rig, { 7, 0 }, { 7, 0 }, { 7, 0 }, { 7, 0 });
	assert_goes(rig, { 8, 1 });
	assert_goes(rig, { 7, 0 }, { 9, 2 }, { 8, 1 });
	counters = rig_counters(rig, 0);
	assert_int_equal(order_index(rig), 3);
	assert_int_equal(counters.routed, 3);
	assert_int_equal(counters.received, 9);
	assert_int_equal(counters.lent, 9);
	rig_destroy(rig);
}

static void
bucket_moves_after_its_last_packet_is_harvested_and_not_before(void **state)
{
	struct rig *rig = order_rig("round-robin", 2, 64);

	(void)state;
	assert_goes(rig, { 7, 0 }, { 7, 0 });
	order_bring_home(rig, 0, 1);
	assert_true(order_is_out(rig, 7));
	assert_goes(rig, { 7, 0 });
	order_bring_home(rig, 0, 1);
	assert_goes(rig, { 7, 0 });
	assert_int_equal(order_moves(rig), 0);
	order_bring_home(rig, 0, 2);
	assert_false(order_is_out(rig, 7));
	assert_goes(rig, { 7, 1 });
	assert_int_equal(order_moves(rig), 1);
	rig_destroy(rig);
}

static void
packets_of_other_buckets_behind_the_last_one_do_not_keep_it(void **state)
{
	struct rig *rig = order_rig("round-robin", 2, 64);

	(void)state;
	assert_goes(rig, { 7, 0 }, { 8, 1 }, { 9, 0 });
	order_bring_home(rig, 0, 1);
	/* 9 is still out at worker 0. Index 3 is worker 1's. */
	assert_goes(rig, { 7, 1 }, { 9, 0 });
	rig_destroy(rig);
}

static void
worker_0_completes_all(struct rig *rig)
{
	rig_work(rig, 0, UINT32_MAX);
}

/* Worker 0 gives the packet back after its progress was read: the dispatcher has yet to see it. */
static void
packet_that_is_completed_and_not_yet_harvested_is_out(void **state)
{
	struct rig *rig = order_rig("round-robin", 2, 64);

	(void)state;
	assert_goes(rig, { 7, 0 }, { 8, 1 });
	assert_int_equal(rig_work(rig, 1, 1), 1);
	rig->on_finish = worker_0_completes_all;
	assert_goes(rig, { 9, 0 }, { 7, 0 });
	assert_null(rig->on_finish);
	/* Index 3 is worker 1's; 7 is out with its second packet. */
	assert_goes(rig, { 10, 1 }, { 7, 0 });
	rig_destroy(rig);
}

static void
idle_flows_leave_a_stalled_worker_and_its_packets_out_stay(void **state)
{
	struct rig *rig = order_rig("shallowest", 2, 256);

	(void)state;
	for (uint16_t bucket = 100; bucket < 116; bucket++)
		assert_int_equal(dispatch_buckets(rig, bucket), 1);
	assert_int_equal(rig_depth(rig, 0), 8);
	rig_drain(rig);
	/* Worker 0 has eight packets of bucket 1 and completes none of them. */
	assert_goes(rig, { 1, 0 }, { 1, 0 }, { 1, 0 }, { 1, 0 }, { 1, 0 }, { 1, 0 }, { 1, 0 },
		{ 1, 0 });
	for (uint16_t bucket = 100; bucket < 116; bucket++) {
		assert_goes(rig, { bucket, 1 });
		order_bring_home(rig, 1, 1);
	}
	assert_int_equal(order_moves(rig), 8);
	assert_goes(rig, { 1, 0 });
	assert_int_equal(rig_depth(rig, 0), 9);
	rig_destroy(rig);
}

static void
colliding_flows_share_a_pin(void **state)
{
	struct rig *rig = order_rig("round-robin", 3, 64);
	const struct rig_packet *packets;

	(void)state;
	assert_goes(rig, { 7, 0 });
	assert_goes(rig, { 7, 0 }, { 7, 0 });
	packets = rig_last(rig, 3);
	assert_int_not_equal(packets[0].meta.hash, packets[1].meta.hash);
	assert_int_not_equal(packets[1].meta.hash, packets[2].meta.hash);
	rig_destroy(rig);
}

/* The busiest moment of bucket and worker 0 that there is: both are the last of their kind. */
static void
first_and_last_bucket_and_worker_are_pinned_as_any(void **state)
{
	struct rig *rig = order_rig("last", 256, 64);

	(void)state;
	assert_goes(rig, { 0, 255 }, { 65535, 255 }, { 0, 255 }, { 65535, 255 });
	assert_int_equal(order_index(rig), 2);
	order_remove(rig, 255);
	assert_goes(rig, { 0, HELD }, { 1, 254 }, { 65535, HELD });
	rig_destroy(rig);
}

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

/* A packet of `bucket` that arrives at `time_ns` goes to `worker` and is brought home. */
static void
assert_visit(struct rig *rig, uint64_t time_ns, uint16_t bucket, weir_worker_id worker)
{
	rig->time_ns = time_ns;
	assert_goes(rig, { bucket, worker });
	order_bring_home(rig, worker, 1);
}

static struct rig *
sticky_rig(uint64_t sticky_ns, uint32_t n_workers)
{
	struct weir_config config = order_config("round-robin", n_workers);

	config.sticky_ns = sticky_ns;
	config.lane_size = 2;
	return rig_create(&config, 64);
}

static void
sticky_bucket_stays_until_it_was_silent_that_long(void **state)
{
	struct rig *rig = sticky_rig(100, 3);

	(void)state;
	/* Bucket 7's first packet has nothing to stick to, however early it comes. */
	assert_visit(rig, 50, 6, 0);
	assert_visit(rig, 50, 7, 1);
	assert_visit(rig, 50, 7, 1);
	assert_visit(rig, 149, 7, 1);
	assert_visit(rig, 248, 7, 1);
	assert_int_equal(order_index(rig), 2);
	assert_int_equal(order_moves(rig), 0);
	/* Silent for exactly 100. */
	assert_visit(rig, 348, 7, 2);
	assert_int_equal(order_index(rig), 3);
	assert_int_equal(order_moves(rig), 1);
	assert_visit(rig, 447, 7, 2);
	rig_destroy(rig);
}

static void
sticky_bucket_with_packets_out_stays_however_silent(void **state)
{
	struct rig *rig = sticky_rig(100, 2);

	(void)state;
	rig->time_ns = 1000;
	assert_goes(rig, { 7, 0 });
	rig->time_ns = 5000;
	assert_goes(rig, { 7, 0 });
	order_bring_home(rig, 0, 2);
	assert_visit(rig, 5099, 7, 0);
	assert_visit(rig, 5199, 7, 1);
	rig_destroy(rig);
}

static void
worker_that_is_not_routable_breaks_stickiness(void **state)
{
	struct rig *rig = sticky_rig(100, 3);

	(void)state;
	assert_visit(rig, 1000, 7, 0);
	assert_int_equal(weir_pool_set_state(rig->pool, 0, WEIR_WORKER_DRAINING), 0);
	/* Index 1 of the two that are left. */
	assert_visit(rig, 1001, 7, 2);
	assert_visit(rig, 1002, 7, 2);
	assert_int_equal(order_moves(rig), 1);
	rig_destroy(rig);
}

static void
time_that_goes_back_lets_a_sticky_bucket_go(void **state)
{
	struct rig *rig = sticky_rig(100, 2);

	(void)state;
	assert_visit(rig, 1000, 7, 0);
	assert_visit(rig, 999, 7, 1);
	rig_destroy(rig);
}

/* By its own time the last packet would let the bucket go, but one before it is not lent yet. */
static void
sticky_bucket_stays_together_within_a_burst(void **state)
{
	struct weir_config config = order_config("round-robin", 2);
	struct rig *rig;

	(void)state;
	config.sticky_ns = 10;
	rig = rig_create(&config, 64);
	/* The rig's packets arrive a nanosecond apart. */
	assert_goes(rig, { 7, 0 });
	order_bring_home(rig, 0, 1);
	assert_goes(rig, { 7, 0 }, { 8, 1 }, { 8, 1 }, { 8, 1 }, { 8, 1 }, { 8, 1 }, { 8, 1 },
		{ 8, 1 }, { 8, 1 }, { 8, 1 }, { 7, 0 }, { 7, 0 });
	assert_int_equal(order_index(rig), 2);
	rig_destroy(rig);
}

static void
sticky_bucket_is_silent_while_its_packets_are_dropped(void **state)
{
	struct rig *rig = sticky_rig(100, 2);

	(void)state;
	assert_visit(rig, 1000, 7, 0);
	/* Others fill both lanes. */
	assert_goes(rig, { 1, 1 }, { 2, 0 }, { 3, 1 }, { 4, 0 });
	rig->time_ns = 1099;
	assert_goes(rig, { 7, 0 });
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_OVERFLOW_DROP_NEW], 1);
	rig_drain(rig);
	/* 100 since the last packet that was lent: index 5 is worker 1's. */
	assert_visit(rig, 1100, 7, 1);
	rig_destroy(rig);
}

static void
chunk_is_of_consecutive_packets_that_ask(void **state)
{
	struct weir_config config = order_config("round-robin", 3);
	struct rig *rig;

	(void)state;
	config.chunk = 4;
	rig = rig_create(&config, 64);
	assert_goes(rig, { 1, 0 }, { 2, 0 }, { 1, 0 }, { 3, 0 }, { 4, 0 }, { 5, 1 }, { 6, 1 },
		{ 2, 0 });
	assert_int_equal(order_index(rig), 6);
	/* A follower in between neither takes part nor ends it. Index 6 is worker 0's. */
	assert_goes(rig, { 7, 0 }, { 5, 1 }, { 8, 0 });
	assert_int_equal(order_index(rig), 8);
	rig_destroy(rig);
}

static void
chunk_of_8_counts_in_the_mirror_what_it_lent(void **state)
{
	struct weir_config config = order_config("shallowest", 3);
	struct rig *rig;

	(void)state;
	config.chunk = 8;
	rig = rig_create(&config, 512);
	/* The rig compares the mirror with the lanes after each; every second packet follows. */
	for (uint32_t n = 0; n <= 32; n += 4) {
		uint16_t buckets[32];

		for (uint32_t i = 0; i < n; i++)
			buckets[i] = (uint16_t)(i % 2 ? 3 : 100 * n + i);
		assert_int_equal(rig_dispatch_buckets(rig, 0, buckets, n), n);
	}
	rig_destroy(rig);
}

static void
pins_are_followed_in_both_depth_modes(void **state)
{
	static const struct {
		enum weir_depth_mode mode;
		weir_worker_id worker;
	} rows[] = { { WEIR_DEPTH_OUTSTANDING, 1 }, { WEIR_DEPTH_QUEUED, 0 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct weir_config config = order_config("shallowest", 2);
		struct rig *rig;

		config.depth_mode = rows[i].mode;
		rig = rig_create(&config, 64);
		assert_goes(rig, { 7, 0 }, { 7, 0 });
		/* Both in process: out, whatever counts as depth. */
		assert_int_equal(rig_take(rig, 0, 2), 2);
		assert_goes(rig, { 8, 1 });
		assert_goes(rig, { 9, rows[i].worker });
		assert_goes(rig, { 7, 0 });
		rig_destroy(rig);
	}
}

static void
dispatchers_have_pins_of_their_own(void **state)
{
	struct weir_config config = order_config("round-robin", 2);
	static const uint16_t bucket = 7;
	struct rig *rig;

	(void)state;
	config.n_dispatchers = 2;
	rig = rig_create(&config, 64);
	assert_goes(rig, { 7, 0 }, { 7, 0 });
	/* The second dispatcher's rotation starts at worker 1. */
	assert_int_equal(rig_dispatch_buckets(rig, 1, &bucket, 1), 1);
	assert_int_equal(rig->dispatcher[1].packets[0].charged, 1);
	assert_goes(rig, { 7, 0 });
	/* Worker 1 is done; worker 0 still has the first dispatcher's. */
	assert_int_equal(rig_work(rig, 1, 1), 1);
	assert_int_equal(rig_dispatch_buckets(rig, 1, &bucket, 1), 1);
	assert_int_equal(rig->dispatcher[1].packets[1].charged, 0);
	assert_int_equal(rig_counters(rig, 1).moves, 1);
	assert_int_equal(order_moves(rig), 0);
	rig_destroy(rig);
}

static void
reclaimed_bucket_asks_afresh(void **state)
{
	struct rig *rig = order_rig("round-robin", 2, 64);

	(void)state;
	assert_goes(rig, { 7, 0 }, { 7, 0 }, { 7, 0 });
	assert_int_equal(rig_take(rig, 0, 1), 1);
	assert_int_equal(order_kill(rig, 0), 3);
	assert_goes(rig, { 7, 1 });
	assert_int_equal(order_moves(rig), 1);
	order_bring_home(rig, 1, 1);
	rig_destroy(rig);
}

static void
bucket_whose_packets_were_written_off_asks_afresh(void **state)
{
	struct rig *rig = order_rig("round-robin", 2, 64);

	(void)state;
	assert_goes(rig, { 7, 0 }, { 7, 0 });
	assert_int_equal(weir_reclaim(rig->dispatcher[0].dispatcher, 0, WEIR_REASON_DEAD_WORKER,
				 WEIR_RECLAIM_WRITE_OFF),
		2);
	rig->dispatcher[0].n_written_off = 2;
	order_remove(rig, 0);
	assert_goes(rig, { 7, 1 });
	order_bring_home(rig, 1, 1);
	for (uint32_t i = 0; i < 2; i++)
		rig->dispatcher[0].packets[i].owner = RIG_ENDED;
	rig_destroy(rig);
}

static void
bucket_moves_and_follows_while_lane_numbers_wrap(void **state)
{
	struct weir_config config = order_config("round-robin", 2);
	struct rig *rig;

	(void)state;
	config.lane_size = 4;
	rig = rig_create(&config, 256);
	order_start_at(rig, (uint32_t)-16);
	for (uint32_t i = 0; i < 40; i++) {
		const weir_worker_id worker = i % 2;

		assert_goes(rig, { 7, worker });
		assert_goes(rig, { 7, worker }, { 7, worker });
		order_bring_home(rig, worker, 2);
		assert_goes(rig, { 7, worker });
		order_bring_home(rig, worker, 2);
		assert_int_equal(order_index(rig), i + 1);
	}
	assert_int_equal(order_moves(rig), 39);
	rig_destroy(rig);
}

static void
pinned_packets_count_in_the_mirror_before_any_pick_of_their_burst(void **state)
{
	struct rig *rig = order_rig("shallowest", 2, 64);

	(void)state;
	assert_goes(rig, { 1, 0 });
	assert_goes(rig, { 3, 1 }, { 3, 1 });
	weir_message_index_set(rig->dispatcher[0].dispatcher, 0);
	/* Worker 0 is the shallower now, and will not be once its two have come. */
	assert_goes(rig, { 2, 1 }, { 1, 0 }, { 1, 0 });
	rig_destroy(rig);
}

/* The same traffic and changes on both; `singly` gets each burst packet by packet. */
static void
compare_bursts(const struct weir_config *config, struct test_random *random)
{
	struct rig *burst = rig_create(config, 20000);
	struct rig *singly = rig_create(config, 20000);
	uint32_t n_workers = config->n_workers;

	burst->n_buckets = singly->n_buckets = 40;
	for (uint32_t round = 0; round < 300; round++) {
		const uint32_t n = test_random_below(random, config->burst + 1);
		const weir_worker_id id = (weir_worker_id)test_random_below(random, n_workers);
		const uint32_t done = test_random_below(random, 40);

		assert_int_equal(rig_dispatch(burst, n), n);
		/* Both harvest now, so that both pass over the hold as often. */
		rig_harvest(singly);
		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(rig_dispatch(singly, 1), 1);
		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(
				rig_last(burst, n)[i].charged, rig_last(singly, n)[i].charged);
		rig_work(burst, id, done);
		rig_work(singly, id, done);
		if (round == 150) {
			order_remove(burst, 0);
			order_remove(singly, 0);
		}
	}
	assert_int_equal(order_index(burst), order_index(singly));
	assert_int_equal(order_moves(burst), order_moves(singly));
	rig_destroy(burst);
	rig_destroy(singly);
}

/* Without overflow, and not of strategies that read depth: see the next test. */
static void
a11_bursts_go_as_their_packets_would_one_by_one_where_depth_is_not_read(void **state)
{
	struct test_random random = test_random_start(__func__);

	(void)state;
	for (unsigned int i = 0; weir_strategy_at(i); i++) {
		struct weir_config config = order_config(weir_strategy_at(i)->name, 4);

		if (weir_strategy_at(i)->flags & WEIR_STRATEGY_READS_DEPTH)
			continue;
		config.lane_size = 8192;
		config.hold_size = 8192;
		compare_bursts(&config, &random);
		config.sticky_ns = 50;
		compare_bursts(&config, &random);
	}
}

/* Who reads depth sees the followers of a burst first: equal where none follows. */
static void
a11_bursts_of_idle_buckets_go_as_their_packets_would_one_by_one(void **state)
{
	struct test_random random = test_random_start(__func__);

	(void)state;
	for (unsigned int i = 0; weir_strategy_at(i); i++) {
		const struct weir_config config = order_config(weir_strategy_at(i)->name, 5);
		struct rig *burst = rig_create(&config, 8192);
		struct rig *singly = rig_create(&config, 8192);

		for (uint32_t round = 0; round < 200; round++) {
			const uint32_t n = test_random_below(&random, config.burst + 1);

			/* Every bucket in turn, by id. */
			assert_int_equal(rig_dispatch(burst, n), n);
			for (uint32_t p = 0; p < n; p++) {
				assert_int_equal(rig_dispatch(singly, 1), 1);
				assert_int_equal(rig_last(burst, n)[p].charged,
					rig_last(singly, 1)->charged);
			}
			if (round % 8 == 7) {
				rig_drain(burst);
				rig_drain(singly);
			}
		}
		rig_destroy(burst);
		rig_destroy(singly);
	}
}

static void
order_none_has_no_pins(void **state)
{
	const struct weir_config config = rig_config("round-robin", 3);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_null(rig->dispatcher[0].dispatcher->pins);
	assert_goes(rig, { 7, 0 }, { 7, 1 }, { 7, 2 });
	assert_int_equal(order_moves(rig), 0);
	rig_destroy(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idle_bucket_asks_the_strategy),
		cmocka_unit_test(bucket_with_packets_out_follows_its_pin),
		cmocka_unit_test(two_packets_of_one_bucket_in_one_burst_ask_once_and_go_together),
		cmocka_unit_test(buckets_of_a_burst_that_interleave_ask_once_each),
		cmocka_unit_test(a2_pinned_packets_do_not_advance_the_message_index),
		cmocka_unit_test(bucket_moves_after_its_last_packet_is_harvested_and_not_before),
		cmocka_unit_test(packets_of_other_buckets_behind_the_last_one_do_not_keep_it),
		cmocka_unit_test(packet_that_is_completed_and_not_yet_harvested_is_out),
		cmocka_unit_test(idle_flows_leave_a_stalled_worker_and_its_packets_out_stay),
		cmocka_unit_test(colliding_flows_share_a_pin),
		cmocka_unit_test(first_and_last_bucket_and_worker_are_pinned_as_any),
		cmocka_unit_test(drop_new_of_a_picked_packet_leaves_no_pin),
		cmocka_unit_test(drop_new_of_a_picked_packet_leaves_an_old_pin_as_it_was),
		cmocka_unit_test(dropped_follower_leaves_the_pin_of_those_before_it),
		cmocka_unit_test(pick_that_was_lent_in_part_leaves_its_pin),
		cmocka_unit_test(drop_ends_the_chunk_and_the_bucket_asks_again),
		cmocka_unit_test(refusal_leaves_pins_mirror_and_index_as_they_were),
		cmocka_unit_test(refusal_takes_back_what_is_behind_it_and_nothing_else),
		cmocka_unit_test(refused_follower_ends_the_dispatch_though_others_have_room),
		cmocka_unit_test(sticky_bucket_stays_until_it_was_silent_that_long),
		cmocka_unit_test(sticky_bucket_with_packets_out_stays_however_silent),
		cmocka_unit_test(worker_that_is_not_routable_breaks_stickiness),
		cmocka_unit_test(time_that_goes_back_lets_a_sticky_bucket_go),
		cmocka_unit_test(sticky_bucket_stays_together_within_a_burst),
		cmocka_unit_test(sticky_bucket_is_silent_while_its_packets_are_dropped),
		cmocka_unit_test(chunk_is_of_consecutive_packets_that_ask),
		cmocka_unit_test(chunk_of_8_counts_in_the_mirror_what_it_lent),
		cmocka_unit_test(pins_are_followed_in_both_depth_modes),
		cmocka_unit_test(dispatchers_have_pins_of_their_own),
		cmocka_unit_test(reclaimed_bucket_asks_afresh),
		cmocka_unit_test(bucket_whose_packets_were_written_off_asks_afresh),
		cmocka_unit_test(bucket_moves_and_follows_while_lane_numbers_wrap),
		cmocka_unit_test(pinned_packets_count_in_the_mirror_before_any_pick_of_their_burst),
		cmocka_unit_test(
			a11_bursts_go_as_their_packets_would_one_by_one_where_depth_is_not_read),
		cmocka_unit_test(a11_bursts_of_idle_buckets_go_as_their_packets_would_one_by_one),
		cmocka_unit_test(order_none_has_no_pins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
