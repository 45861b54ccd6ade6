/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lib/decide with order flow: the less common ways in which held packets become free: a change of
 * owner, in the middle of a pass, by a reclaim, and when nothing comes home any more.
 */
#include "test.h"

#include "order_rig.h"

static struct rig *
rig_of(const char *strategy, uint32_t n_workers, uint32_t lane_size, const char *overflow)
{
	struct weir_config config = order_config(strategy, n_workers);

	config.lane_size = lane_size;
	config.overflow = overflow;
	return rig_create(&config, 1024);
}

/* The owner of a bucket among the workers whose bits are set in `members`, in ascending order. */
static weir_worker_id
owner_of(uint16_t bucket, uint32_t members)
{
	weir_worker_id owner = WEIR_WORKER_NONE;
	uint32_t best = 0;
	char name[24];

	for (weir_worker_id id = 0; id < 32; id++) {
		uint32_t score;

		if (!(members >> id & 1))
			continue;
		snprintf(name, sizeof(name), "flow-%u", bucket);
		score = weir_fnv1a(name);
		snprintf(name, sizeof(name), "worker-%u", id);
		score = weir_rendezvous_score(score, weir_fnv1a(name));
		if (owner == WEIR_WORKER_NONE || score > best) {
			owner = id;
			best = score;
		}
	}
	return owner;
}

/* The `number`-th bucket that one worker owns among some members, and another among others. */
static uint16_t
bucket_owned(uint32_t number, uint32_t members_1, weir_worker_id owner_1, uint32_t members_2,
	weir_worker_id owner_2)
{
	for (uint32_t bucket = 0; bucket < WEIR_BUCKETS; bucket++) {
		if (owner_of((uint16_t)bucket, members_1) == owner_1 &&
			owner_of((uint16_t)bucket, members_2) == owner_2 && number-- == 0)
			return (uint16_t)bucket;
	}
	fail_msg("no such bucket");
	return 0;
}

static void
owned_bucket_waits_at_a_routable_old_owner_then_goes_to_the_new_one(void **state)
{
	const uint16_t moves = bucket_owned(0, 0x3, 0, 0x7, 2);
	const uint16_t stays = bucket_owned(0, 0x3, 0, 0x7, 0);
	struct rig *rig = rig_of("rendezvous", 3, 512, "drop-new");

	(void)state;
	order_remove(rig, 2);
	assert_goes(rig, { moves, 0 }, { stays, 0 }, { moves, 0 });
	order_add(rig, 2);
	assert_goes(rig, { moves, HELD }, { stays, 0 }, { moves, HELD });
	order_bring_home(rig, 0, 2);
	assert_int_equal(order_held(rig), 2);
	assert_goes(rig, { moves, HELD });
	/* Its third packet there was the last of this bucket. */
	order_bring_home(rig, 0, 1);
	assert_int_equal(order_held(rig), 0);
	assert_int_equal(rig_depth(rig, 2), 3);
	assert_int_equal(order_moves(rig), 1);
	assert_goes(rig, { moves, 2 }, { stays, 0 });
	/* Every packet asks its owner, once. */
	assert_int_equal(order_index(rig), 9);
	rig_destroy(rig);
}

static void
owned_bucket_of_a_removed_owner_waits_until_it_is_harvested(void **state)
{
	const uint16_t bucket = bucket_owned(0, 0x7, 2, 0x3, 1);
	struct rig *rig = rig_of("rendezvous", 3, 512, "drop-new");

	(void)state;
	assert_goes(rig, { bucket, 2 });
	order_remove(rig, 2);
	assert_goes(rig, { bucket, HELD }, { bucket, HELD });
	order_bring_home(rig, 2, 1);
	assert_int_equal(order_held(rig), 0);
	assert_goes(rig, { bucket, 1 });
	assert_int_equal(order_moves(rig), 1);
	rig_destroy(rig);
}

static void
owned_bucket_whose_owner_comes_back_goes_on_there_at_once(void **state)
{
	const uint16_t bucket = bucket_owned(0, 0x7, 2, 0x3, 1);
	struct rig *rig = rig_of("rendezvous", 3, 512, "drop-new");

	(void)state;
	assert_goes(rig, { bucket, 2 });
	order_remove(rig, 2);
	assert_goes(rig, { bucket, HELD });
	order_add(rig, 2);
	assert_goes(rig, { bucket, 2 });
	assert_int_equal(order_held(rig), 0);
	assert_int_equal(rig_depth(rig, 2), 3);
	assert_int_equal(order_moves(rig), 0);
	rig_destroy(rig);
}

/*
 * The one way in which a held bucket becomes free in the middle of a pass. Lanes of one slot;
 * worker 0 has a packet of bucket `late`, worker 1 one of `other`; then worker 1 is replaced by
 * worker 2, which owns `late` now, and worker 0 owns `other`. Both buckets wait. Worker 0 gives
 * its packet back while worker 1's is harvested, so that the dispatcher finds out only when
 * `other`, set free, meets worker 0's full lane.
 */
struct late_release {
	struct rig *rig;
	uint16_t late;
	uint16_t other;
};

static void
worker_0_completes_all(struct rig *rig)
{
	rig_work(rig, 0, UINT32_MAX);
}

static struct late_release
late_release_make(uint32_t burst)
{
	struct weir_config config = order_config("rendezvous", 3);
	struct late_release made = {
		.late = bucket_owned(0, 0x3, 0, 0x5, 2),
		.other = bucket_owned(0, 0x3, 1, 0x5, 0),
	};

	config.lane_size = 1;
	config.burst = burst;
	made.rig = rig_create(&config, 64);
	order_remove(made.rig, 2);
	assert_goes(made.rig, { made.late, 0 }, { made.other, 1 });
	order_remove(made.rig, 1);
	order_add(made.rig, 2);
	assert_goes(made.rig, { made.late, HELD }, { made.other, HELD });
	return made;
}

/* Worker 1 completes; worker 0 does while worker 1's packet is harvested. */
static void
late_release_begin(const struct late_release *made)
{
	assert_int_equal(rig_work(made->rig, 1, 1), 1);
	made->rig->on_finish = worker_0_completes_all;
}

static void
bucket_that_becomes_free_in_mid_pass_stays_behind_its_held_ones(void **state)
{
	const struct late_release made = late_release_make(2);
	struct rig *rig = made.rig;

	(void)state;
	/* In the hold's second burst, where it would be seen as free. */
	assert_goes(rig, { made.late, HELD });
	late_release_begin(&made);
	rig_harvest(rig);
	assert_null(rig->on_finish);
	assert_int_equal(rig_depth(rig, 0), 1);
	assert_int_equal(rig_depth(rig, 2), 0);
	assert_int_equal(order_held(rig), 2);
	rig_destroy(rig);
}

static void
arrival_joins_its_held_ones_though_the_pin_is_free(void **state)
{
	const struct late_release made = late_release_make(2);
	struct rig *rig = made.rig;

	(void)state;
	late_release_begin(&made);
	assert_goes(rig, { made.late, HELD });
	assert_null(rig->on_finish);
	assert_false(order_is_out(rig, made.late));
	rig_destroy(rig);
}

static void
what_a_full_lane_gave_back_in_mid_burst_frees_the_held_at_the_next_harvest(void **state)
{
	const struct late_release made = late_release_make(2);
	struct rig *rig = made.rig;

	(void)state;
	late_release_begin(&made);
	rig_harvest(rig);
	assert_int_equal(order_held(rig), 1);
	/* Nothing more comes home: worker 0 keeps what it has just got. */
	assert_int_equal(rig_harvest(rig), 0);
	assert_int_equal(order_held(rig), 0);
	/* The lane of one slot takes one of the two. */
	assert_int_equal(rig_depth(rig, 2), 1);
	rig_destroy(rig);
}

static void
held_bucket_goes_once_its_worker_is_reclaimed_though_nothing_else_comes_home(void **state)
{
	static const char *const policies[] = { "drop-new", "reject" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(policies); i++) {
		struct rig *rig = rig_of("round-robin", 2, 512, policies[i]);

		assert_goes(rig, { 7, 0 });
		assert_int_equal(weir_pool_set_state(rig->pool, 0, WEIR_WORKER_DRAINING), 0);
		assert_goes(rig, { 7, HELD }, { 7, HELD });
		/* By now the dispatcher knows that worker 0 drains. */
		assert_int_equal(weir_reclaim(rig->dispatcher[0].dispatcher, 0,
					 WEIR_REASON_DEAD_WORKER, WEIR_RECLAIM_GONE),
			1);
		assert_int_equal(rig_harvest(rig), 0);
		assert_int_equal(order_held(rig), 0);
		assert_int_equal(rig_depth(rig, 1), 2);
		order_bring_home(rig, 1, 2);
		rig_destroy(rig);
	}
}

static void
arrivals_of_a_dead_worker_are_held_until_it_is_reclaimed(void **state)
{
	struct rig *rig = order_rig("round-robin", 3, 64);

	(void)state;
	assert_goes(rig, { 7, 0 }, { 8, 1 }, { 7, 0 });
	order_remove(rig, 0);
	assert_goes(rig, { 7, HELD }, { 8, 1 });
	assert_int_equal(weir_reclaim(rig->dispatcher[0].dispatcher, 0, WEIR_REASON_DEAD_WORKER,
				 WEIR_RECLAIM_GONE),
		2);
	/* Index 2 of the two that are left is worker 1's. */
	assert_goes(rig, { 9, 2 }, { 7, 1 });
	assert_int_equal(order_held(rig), 0);
	order_bring_home(rig, 1, 4);
	order_bring_home(rig, 2, 1);
	rig_destroy(rig);
}

/* The caller harvests between the refusal and the hold: nobody is left to set the packets free. */
static void
what_is_held_after_the_last_packet_came_home_goes_at_the_next_harvest(void **state)
{
	static const enum weir_order orders[] = { WEIR_ORDER_NONE, WEIR_ORDER_FLOW };

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(orders); i++) {
		struct weir_config config = rig_config("first", 1);
		struct rig *rig;

		config.order = orders[i];
		config.overflow = "reject";
		config.lane_size = 2;
		rig = rig_create(&config, 64);
		assert_int_equal(rig_dispatch(rig, 4), 2);
		order_bring_home(rig, 0, 2);
		rig_hold(rig, 0);
		assert_int_equal(rig_harvest(rig), 0);
		assert_int_equal(order_held(rig), 0);
		assert_int_equal(rig_depth(rig, 0), 2);
		rig_destroy(rig);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			owned_bucket_waits_at_a_routable_old_owner_then_goes_to_the_new_one),
		cmocka_unit_test(owned_bucket_of_a_removed_owner_waits_until_it_is_harvested),
		cmocka_unit_test(owned_bucket_whose_owner_comes_back_goes_on_there_at_once),
		cmocka_unit_test(bucket_that_becomes_free_in_mid_pass_stays_behind_its_held_ones),
		cmocka_unit_test(arrival_joins_its_held_ones_though_the_pin_is_free),
		cmocka_unit_test(
			what_a_full_lane_gave_back_in_mid_burst_frees_the_held_at_the_next_harvest),
		cmocka_unit_test(
			held_bucket_goes_once_its_worker_is_reclaimed_though_nothing_else_comes_home),
		cmocka_unit_test(arrivals_of_a_dead_worker_are_held_until_it_is_reclaimed),
		cmocka_unit_test(
			what_is_held_after_the_last_packet_came_home_goes_at_the_next_harvest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
