/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/overflow: the policies, as packets meet them at a full lane. */
#include "test.h"

#include <weir/overflow.h>

#include "rig.h"

static struct rig *
rig_with_policy(const char *overflow, uint32_t n_workers, uint32_t lane_size)
{
	struct weir_config config = rig_config("first", n_workers);

	config.overflow = overflow;
	config.lane_size = lane_size;
	return rig_create(&config, 1024);
}

static void
every_policy_has_a_name_a_help_and_one_way_to_end(void **state)
{
	uint32_t n = 0;

	(void)state;
	for (const struct weir_overflow_policy *p; (p = weir_overflow_at(n)); n++) {
		assert_ptr_equal(weir_overflow_find(p->name), p);
		assert_true(strlen(p->help) > 0);
		/* A policy that refuses drops nothing. */
		if (!p->refuses)
			assert_non_null(weir_reason_name(p->reason));
		for (uint32_t other = 0; other < n; other++)
			assert_string_not_equal(weir_overflow_at(other)->name, p->name);
	}
	assert_int_equal(n, 3);
	assert_null(weir_overflow_at(n));
	assert_string_equal(weir_overflow_at(0)->name, "drop-new");
}

static void
unknown_policy_is_not_found(void **state)
{
	(void)state;
	errno = 0;
	assert_null(weir_overflow_find("drop-all"));
	assert_int_equal(errno, EINVAL);
	assert_null(weir_overflow_find("drop"));
	assert_null(weir_overflow_find(""));
}

static void
m3_exactly_capacity_packets_fit_through_the_pipeline(void **state)
{
	static const uint32_t capacities[] = { 1, 2, 3, 4, 7, 31, 32 };

	(void)state;
	for (unsigned int p = 0; weir_overflow_at(p); p++) {
		for (size_t i = 0; i < ARRAY_LENGTH(capacities); i++) {
			struct rig *rig =
				rig_with_policy(weir_overflow_at(p)->name, 1, capacities[i]);

			rig_dispatch(rig, 32);
			assert_int_equal(rig_depth(rig, 0), capacities[i]);
			assert_int_equal(rig_ledger(rig).in_lanes, capacities[i]);
			rig_destroy(rig);
		}
	}
}

static void
capacity_counts_packets_in_process_and_completed_until_they_are_harvested(void **state)
{
	struct rig *rig = rig_with_policy("reject", 1, 3);

	(void)state;
	assert_int_equal(rig_dispatch(rig, 3), 3);
	assert_int_equal(rig_take(rig, 0, 3), 3);
	assert_int_equal(rig_dispatch(rig, 1), 0);
	rig_complete(rig, 0, 2, weir_verdict_consumed());
	/* The next dispatch harvests first: two slots are free. */
	assert_int_equal(rig_retry(rig, 0), 1);
	assert_int_equal(rig_dispatch(rig, 2), 1);
	rig_destroy(rig);
}

static void
m5_drop_new_drops_the_arrivals_and_keeps_the_queue(void **state)
{
	struct rig *rig = rig_with_policy("drop-new", 1, 2);

	(void)state;
	assert_int_equal(rig_dispatch(rig, 4), 4);
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_OVERFLOW_DROP_NEW], 2);
	assert_int_equal(rig_worker_counters(rig, 0, 0).dropped[WEIR_REASON_OVERFLOW_DROP_NEW], 2);
	assert_int_equal(rig_counters(rig, 0).rejected, 0);
	/* c and d came back before the dispatch returned; a and b survive in order. */
	assert_int_equal(rig->dispatcher[0].n_ended, 2);
	assert_int_equal(rig->dispatcher[0].ended[0]->id, 2);
	assert_int_equal(rig->dispatcher[0].ended[1]->id, 3);
	assert_int_equal(rig_work(rig, 0, 4), 2);
	assert_int_equal(rig_harvest(rig), 2);
	assert_int_equal(rig->dispatcher[0].ended[2]->id, 0);
	assert_int_equal(rig->dispatcher[0].ended[3]->id, 1);
	rig_destroy(rig);
}

static void
m5_packets_behind_a_drop_go_on(void **state)
{
	struct weir_config config = rig_config("round-robin", 2);
	struct rig *rig;

	(void)state;
	config.lane_size = 3;
	rig = rig_create(&config, 64);
	assert_int_equal(rig_dispatch(rig, 6), 6);
	assert_int_equal(rig_work(rig, 1, 3), 3);
	/* Worker 0 stays full: every second packet is dropped, the others are lent. */
	assert_routes(rig, 0, 1, 0, 1, 0, 1);
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_OVERFLOW_DROP_NEW], 3);
	assert_int_equal(rig_depth(rig, 1), 3);
	rig_destroy(rig);
}

static void
a10_drops_do_not_make_the_strategy_pick_again(void **state)
{
	struct weir_config config = rig_config("shallowest", 1);
	struct rig *rig;

	(void)state;
	config.lane_size = 2;
	rig = rig_create(&config, 64);
	assert_int_equal(rig_dispatch(rig, 32), 32);
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_OVERFLOW_DROP_NEW], 30);
	assert_int_equal(rig_counters(rig, 0).depth_visits, 32);
	rig_destroy(rig);
}

static void
m6_reject_takes_two_of_five_and_drops_nothing(void **state)
{
	struct rig *rig = rig_with_policy("reject", 1, 2);

	(void)state;
	assert_int_equal(rig_dispatch(rig, 5), 2);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(rig_last(rig, 3)[i].owner, RIG_CALLER);
	assert_int_equal(rig_counters(rig, 0).rejected, 3);
	assert_int_equal(rig_counters(rig, 0).received, 2);
	assert_int_equal(rig->dispatcher[0].n_ended, 0);
	for (unsigned int reason = 0; reason < WEIR_REASON_COUNT; reason++)
		assert_int_equal(rig_counters(rig, 0).dropped[reason], 0);
	rig_destroy(rig);
}

static void
m6_first_refusal_ends_the_dispatch_though_others_have_room(void **state)
{
	struct weir_config config = rig_config("round-robin", 2);
	struct rig *rig;

	(void)state;
	config.overflow = "reject";
	config.lane_size = 3;
	rig = rig_create(&config, 64);
	assert_int_equal(rig_dispatch(rig, 6), 6);
	assert_int_equal(rig_work(rig, 1, 3), 3);
	/* Worker 0 is full and comes first: worker 1's room does not matter. */
	assert_int_equal(rig_dispatch(rig, 4), 0);
	assert_int_equal(rig_depth(rig, 1), 0);
	rig_destroy(rig);
}

static void
m6_refused_packet_does_not_move_the_index_and_is_offered_to_the_same_worker(void **state)
{
	struct weir_config config = rig_config("round-robin", 3);
	struct rig *rig;

	(void)state;
	config.overflow = "reject";
	config.lane_size = 2;
	rig = rig_create(&config, 64);
	/* Worker 1 keeps two packets, the others none. */
	assert_int_equal(rig_dispatch(rig, 6), 6);
	rig_work(rig, 0, 2);
	rig_work(rig, 2, 2);
	assert_int_equal(rig_dispatch(rig, 4), 1);
	assert_int_equal(weir_message_index(rig->dispatcher[0].dispatcher), 7);
	assert_int_equal(rig_retry(rig, 0), 0);
	assert_int_equal(weir_message_index(rig->dispatcher[0].dispatcher), 7);
	assert_int_equal(rig_work(rig, 1, 1), 1);
	assert_int_equal(rig_retry(rig, 0), 3);
	assert_int_equal(rig_last(rig, 3)[0].charged, 1);
	assert_int_equal(rig_last(rig, 3)[1].charged, 2);
	assert_int_equal(rig_last(rig, 3)[2].charged, 0);
	rig_destroy(rig);
}

static void
a10_saturated_pool_refuses_all_and_loses_nothing_under_reject(void **state)
{
	struct weir_config config = rig_config("shallowest", 4);
	struct weir_ledger ledger;
	struct rig *rig;

	(void)state;
	config.overflow = "reject";
	config.lane_size = 8;
	rig = rig_create(&config, 1024);
	assert_int_equal(rig_dispatch(rig, 32), 32);
	for (uint32_t i = 0; i < 10; i++) {
		assert_int_equal(rig_dispatch(rig, 32), 0);
		rig_abandon(rig, 0);
	}
	assert_int_equal(rig_counters(rig, 0).rejected, 320);
	ledger = rig_ledger(rig);
	assert_int_equal(weir_ledger_dropped(&ledger), 0);
	assert_int_equal(ledger.in_lanes, 32);
	rig_destroy(rig);
}

/* Worker 0 empties its lane just after the pass has read it. */
static void
worker_0_completes_all(struct rig *rig)
{
	rig_work(rig, 0, UINT32_MAX);
}

/*
 * Two workers; worker 0 holds `lane_size` packets and will complete them all while worker 1's one
 * packet is harvested, which is after worker 0's progress was read.
 */
static struct rig *
rig_that_empties_worker_0(
	const char *strategy, const char *overflow, uint32_t lane_size, uint32_t chunk)
{
	struct weir_config config = rig_config(strategy, 2);
	struct rig *rig;

	config.chunk = chunk;
	config.overflow = overflow;
	config.lane_size = lane_size;
	rig = rig_create(&config, 256);
	while (rig_depth(rig, 0) < lane_size || rig_depth(rig, 1) < lane_size)
		rig_dispatch(rig, 1);
	assert_int_equal(rig_work(rig, 1, 1), 1);
	rig->on_finish = worker_0_completes_all;
	return rig;
}

static void
full_lane_is_read_again_before_it_is_believed(void **state)
{
	(void)state;
	for (unsigned int p = 0; weir_overflow_at(p); p++) {
		struct rig *rig =
			rig_that_empties_worker_0("round-robin", weir_overflow_at(p)->name, 3, 1);
		const uint64_t before = rig_counters(rig, 0).line_reads;

		weir_message_index_set(rig->dispatcher[0].dispatcher, 0);
		assert_int_equal(rig_dispatch(rig, 1), 1);
		assert_null(rig->on_finish);
		assert_int_equal(rig_last(rig, 1)->charged, 0);
		assert_int_equal(rig_depth(rig, 0), 1);
		assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_OVERFLOW_DROP_NEW], 0);
		assert_int_equal(rig_counters(rig, 0).rejected, 0);
		/* Both workers' lines in the pass, and worker 0's once more; a claim lane has two:
		 * progress and head. */
		assert_int_equal(rig_counters(rig, 0).line_reads - before,
			weir_overflow_at(p)->evicts ? 6 : 3);
		rig_destroy(rig);
	}
}

static void
lane_that_stays_full_is_read_again_once_per_burst_only(void **state)
{
	struct rig *rig = rig_with_policy("drop-new", 2, 2);
	uint64_t before;

	(void)state;
	assert_int_equal(rig_dispatch(rig, 2), 2);
	before = rig_counters(rig, 0).line_reads;
	assert_int_equal(rig_dispatch(rig, 20), 20);
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_OVERFLOW_DROP_NEW], 20);
	assert_int_equal(rig_counters(rig, 0).line_reads - before, 2);
	rig_destroy(rig);
}

/* The rig compares the mirror with the lanes after every dispatch. */
static void
mirror_is_exact_after_a_lane_was_read_again(void **state)
{
	(void)state;
	for (unsigned int p = 0; weir_overflow_at(p); p++) {
		struct rig *rig =
			rig_that_empties_worker_0("shallowest", weir_overflow_at(p)->name, 4, 1);

		rig_dispatch(rig, 20);
		assert_null(rig->on_finish);
		rig_destroy(rig);
	}
}

/* The lane that was read again in mid-chunk is full again: the next pick must know. */
static void
mirror_is_exact_for_the_pick_behind_a_broken_chunk(void **state)
{
	struct rig *rig = rig_that_empties_worker_0("shallowest", "drop-new", 4, 8);

	(void)state;
	weir_message_index_set(rig->dispatcher[0].dispatcher, 0);
	/*
	 * Depths are 4 and 3. Worker 1 takes one packet and drops one; worker 0, which is empty by
	 * now, takes four and drops one; then both are full and take turns at dropping.
	 */
	assert_routes(rig, 1, 1, 0, 0, 0, 0, 0, 1, 0, 1);
	assert_null(rig->on_finish);
	rig_destroy(rig);
}

static void
mirror_is_exact_for_the_burst_behind_a_hold(void **state)
{
	struct rig *rig = rig_that_empties_worker_0("shallowest", "reject", 4, 1);

	(void)state;
	/* Worker 1 has a slot for one of six; the others go to the hold. */
	rig->on_finish = NULL;
	assert_int_equal(rig_dispatch(rig, 6), 1);
	rig_hold(rig, 0);
	/* Now worker 0's four slots become free in mid-call, and one of worker 1's. */
	assert_int_equal(rig_work(rig, 1, 1), 1);
	rig->on_finish = worker_0_completes_all;
	assert_int_equal(rig_dispatch(rig, 0), 0);
	assert_null(rig->on_finish);
	rig_destroy(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_policy_has_a_name_a_help_and_one_way_to_end),
		cmocka_unit_test(unknown_policy_is_not_found),
		cmocka_unit_test(m3_exactly_capacity_packets_fit_through_the_pipeline),
		cmocka_unit_test(
			capacity_counts_packets_in_process_and_completed_until_they_are_harvested),
		cmocka_unit_test(m5_drop_new_drops_the_arrivals_and_keeps_the_queue),
		cmocka_unit_test(m5_packets_behind_a_drop_go_on),
		cmocka_unit_test(a10_drops_do_not_make_the_strategy_pick_again),
		cmocka_unit_test(m6_reject_takes_two_of_five_and_drops_nothing),
		cmocka_unit_test(m6_first_refusal_ends_the_dispatch_though_others_have_room),
		cmocka_unit_test(
			m6_refused_packet_does_not_move_the_index_and_is_offered_to_the_same_worker),
		cmocka_unit_test(a10_saturated_pool_refuses_all_and_loses_nothing_under_reject),
		cmocka_unit_test(full_lane_is_read_again_before_it_is_believed),
		cmocka_unit_test(lane_that_stays_full_is_read_again_once_per_burst_only),
		cmocka_unit_test(mirror_is_exact_after_a_lane_was_read_again),
		cmocka_unit_test(mirror_is_exact_for_the_pick_behind_a_broken_chunk),
		cmocka_unit_test(mirror_is_exact_for_the_burst_behind_a_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
