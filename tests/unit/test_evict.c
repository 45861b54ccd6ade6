/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lib/decide with claim lanes: what evictions leave of pins, holds and other dispatchers' view of a
 * backlog; reclaim; and workers that write what they like.
 */
#include "test.h"

#include "dispatcher.h"
#include "order_rig.h"

/* E7: what one dispatcher evicted is no backlog that another one sees for ever. */
static void
evicted_packets_are_no_backlog_to_other_dispatchers(void **state)
{
	struct weir_config config = rig_drop_head_config("first", 1, 4);
	struct rig *rig;

	(void)state;
	config.n_dispatchers = 2;
	rig = rig_create(&config, 2048);
	for (uint32_t i = 0; i < 50; i++)
		assert_int_equal(rig_dispatch_from(rig, 0, 32), 32);
	rig_harvest(rig);
	assert_int_equal(rig->dispatcher[1].dispatcher->lane[0].others, 4);
	assert_int_equal(rig_take(rig, 0, 3), 3);
	assert_int_equal(rig_dispatch_from(rig, 0, 32), 32);
	rig_harvest(rig);
	assert_int_equal(rig->dispatcher[1].dispatcher->lane[0].others, 7);
	rig_complete(rig, 0, 3, weir_verdict_consumed());
	rig_work(rig, 0, UINT32_MAX);
	rig_harvest(rig);
	assert_int_equal(rig->dispatcher[1].dispatcher->lane[0].others, 0);
	rig_destroy(rig);
}

static void
each_dispatcher_evicts_its_own_packets_only(void **state)
{
	struct weir_config config = rig_drop_head_config("first", 1, 3);
	struct rig *rig;

	(void)state;
	config.n_dispatchers = 3;
	rig = rig_create(&config, 256);
	for (uint32_t d = 0; d < 3; d++)
		assert_int_equal(rig_dispatch_from(rig, d, 3), 3);
	assert_int_equal(rig_dispatch_from(rig, 1, 5), 5);
	for (uint32_t d = 0; d < 3; d++)
		assert_int_equal(rig_counters(rig, d).dropped[WEIR_REASON_OVERFLOW_DROP_HEAD],
			d == 1 ? 5 : 0);
	assert_int_equal(rig_depth(rig, 0), 9);
	rig_destroy(rig);
}

/* A bucket all of whose packets were evicted is free to move; the queued ones' are not. */
static void
bucket_is_out_until_its_last_packet_is_home_or_evicted(void **state)
{
	struct weir_config config = order_config("round-robin", 2);
	struct rig *rig;

	(void)state;
	config.overflow = "drop-head";
	config.lane_size = 2;
	rig = rig_create(&config, 256);
	assert_goes(rig, { 1, 0 }, { 2, 1 });
	assert_goes(rig, { 1, 0 }, { 1, 0 });
	/* The first of bucket 1 is gone, two are queued. */
	assert_int_equal(rig_dropped(rig, WEIR_REASON_OVERFLOW_DROP_HEAD), 1);
	assert_true(order_is_out(rig, 1));
	weir_message_index_set(rig->dispatcher[0].dispatcher, 0);
	assert_goes(rig, { 3, 0 });
	assert_true(order_is_out(rig, 1));
	weir_message_index_set(rig->dispatcher[0].dispatcher, 0);
	assert_goes(rig, { 4, 0 });
	assert_int_equal(rig_dropped(rig, WEIR_REASON_OVERFLOW_DROP_HEAD), 3);
	assert_false(order_is_out(rig, 1));
	assert_true(order_is_out(rig, 3));
	/* It moves: index 1 is worker 1's. */
	assert_goes(rig, { 1, 1 });
	assert_int_equal(order_moves(rig), 1);
	rig_destroy(rig);
}

static void
bucket_in_process_is_out_though_all_behind_it_were_evicted(void **state)
{
	struct weir_config config = order_config("first", 2);
	struct rig *rig;

	(void)state;
	config.overflow = "drop-head";
	config.lane_size = 2;
	rig = rig_create(&config, 256);
	assert_goes(rig, { 1, 0 });
	assert_int_equal(rig_take(rig, 0, 1), 1);
	for (uint16_t bucket = 10; bucket < 40; bucket++)
		assert_int_equal(dispatch_buckets(rig, bucket), 1);
	assert_true(order_is_out(rig, 1));
	order_bring_home(rig, 0, 1);
	assert_false(order_is_out(rig, 1));
	assert_false(order_is_out(rig, 10));
	assert_true(order_is_out(rig, 39));
	rig_destroy(rig);
}

/* What is held for another owner's packets goes on once these are evicted. */
static void
held_packet_goes_on_when_the_last_one_out_of_its_bucket_is_evicted(void **state)
{
	struct weir_config config = order_config("rendezvous", 2);
	struct rig *rig;
	uint16_t bucket = 0;

	(void)state;
	config.overflow = "drop-head";
	config.lane_size = 1;
	rig = rig_create(&config, 256);
	/* A bucket that leaves worker 0 when worker 1 comes back, and one that does not. */
	order_remove(rig, 1);
	for (uint16_t b = 0; b < 64; b++) {
		struct rig *probe = order_rig("rendezvous", 2, 64);

		dispatch_buckets(probe, b);
		if (rig_last(probe, 1)->charged == 1)
			bucket = b;
		rig_destroy(probe);
	}
	assert_goes(rig, { bucket, 0 });
	order_add(rig, 1);
	assert_goes(rig, { bucket, HELD });
	assert_int_equal(order_held(rig), 1);
	/* A bucket of worker 0's takes the place of the first. */
	for (uint16_t b = 0; rig_dropped(rig, WEIR_REASON_OVERFLOW_DROP_HEAD) == 0; b++) {
		if (b != bucket)
			dispatch_buckets(rig, b);
	}
	rig_harvest(rig);
	assert_int_equal(order_held(rig), 0);
	assert_int_equal(order_pin(rig, bucket), 1);
	rig_destroy(rig);
}

/* Everything that the worker can write. */
static void
hostile_write(struct rig *rig, struct test_random *random)
{
	const weir_worker_id id = (weir_worker_id)test_random_below(random, rig->config.n_workers);
	struct claim_head *head = pool_claim_head(rig->pool, 0, id);
	struct progress *progress = pool_progress(rig->pool, id);
	struct weir_worker *worker = rig->worker[id].worker;
	const uint64_t near = atomic_load(&head->seq) + test_random_below(random, 40) - 20;

	switch (test_random_below(random, 6)) {
	case 0:
		atomic_store(&head->seq, test_random_next(random));
		break;
	case 1:
		atomic_store(&head->seq, near);
		break;
	case 2:
		progress_publish(progress, 0, test_random_next(random));
		break;
	case 3:
		progress_publish(
			progress, 0, worker->lane[0].completed++ + test_random_below(random, 3));
		break;
	case 4:
		atomic_store(&head->seq, rig->dispatcher[0].dispatcher->claim[id].head);
		break;
	default:
		worker->lane[0].verdicts[test_random_below(random, 256)].kind =
			(uint8_t)test_random_next(random);
		break;
	}
}

/*
 * A worker that writes anything into its head, its progress and its verdicts: every packet ends
 * once, the bounds and the ledger hold, and a reclaim brings all of them back.
 */
static void
hostile_worker_cannot_break_the_books(void **state)
{
	struct test_random random = test_random_start(__func__);

	(void)state;
	for (uint32_t round = 0; round < 200; round++) {
		struct weir_config config =
			rig_drop_head_config("round-robin", 2, test_random_between(&random, 1, 20));
		struct rig *rig;

		config.order = (enum weir_order)(round & 1);
		rig = rig_create(&config, 4096);
		rig->is_hostile = true;
		for (uint32_t step = 0; step < 100; step++) {
			rig_dispatch(rig, test_random_below(&random, 33));
			hostile_write(rig, &random);
		}
		for (weir_worker_id id = 0; id < 2; id++)
			order_kill(rig, id);
		assert_int_equal(rig_ledger(rig).in_lanes, 0);
		rig_destroy(rig);
	}
}

/* A worker that claims without end and completes nothing gets no more than the list can keep. */
static void
worker_that_claims_without_end_is_given_nothing_more(void **state)
{
	struct rig *rig = rig_drop_head("first", 1, 4);
	struct claim_head *head = pool_claim_head(rig->pool, 0, 0);
	const struct claim_lane *claim = &rig->dispatcher[0].dispatcher->claim[0];

	(void)state;
	for (uint32_t i = 0; i < 1000; i++) {
		rig_dispatch(rig, 4);
		atomic_store(&head->seq, (uint64_t)rig->dispatcher[0].dispatcher->lane[0].tail);
	}
	assert_int_equal(claim_in_process(claim), claim->n_taken_slots);
	assert_true(rig_dropped(rig, WEIR_REASON_OVERFLOW_DROP_NEW) > 0);
	assert_int_equal(order_kill(rig, 0), claim->n_taken_slots);
	rig_destroy(rig);
}

static void
reclaim_brings_back_what_was_taken_and_what_is_queued(void **state)
{
	struct rig *rig = rig_drop_head("first", 1, 4);
	const struct rig_dispatcher *d = &rig->dispatcher[0];

	(void)state;
	assert_int_equal(rig_dispatch(rig, 4), 4);
	assert_int_equal(rig_take(rig, 0, 3), 3);
	assert_int_equal(rig_dispatch(rig, 5), 5);
	/* 0 .. 2 are in process, 5 .. 8 queued; 3 and 4 were evicted. */
	assert_int_equal(d->n_ended, 2);
	rig_complete(rig, 0, 1, weir_verdict_consumed());
	assert_int_equal(order_kill(rig, 0), 6);
	assert_int_equal(d->n_ended, 9);
	for (uint32_t i = 0; i < 6; i++) {
		static const uint32_t ids[] = { 1, 2, 5, 6, 7, 8 };

		assert_int_equal(d->ended[3 + i]->id, ids[i]);
		assert_int_equal(d->ended[3 + i]->verdict.target, WEIR_REASON_DEAD_WORKER);
	}
	assert_int_equal(rig_ledger(rig).in_lanes, 0);
	assert_int_equal(rig_worker_counters(rig, 0, 0).lent, 9);
	rig_destroy(rig);
}

static void
written_off_packets_never_come_back_and_the_worker_gets_no_more(void **state)
{
	struct rig *rig = rig_drop_head("first", 1, 4);

	(void)state;
	assert_int_equal(rig_dispatch(rig, 4), 4);
	assert_int_equal(rig_take(rig, 0, 2), 2);
	assert_int_equal(weir_reclaim(rig->dispatcher[0].dispatcher, 0, WEIR_REASON_DRAIN_TIMEOUT,
				 WEIR_RECLAIM_WRITE_OFF),
		4);
	rig->dispatcher[0].n_written_off = 4;
	rig_check(rig);
	rig_complete(rig, 0, 2, weir_verdict_consumed());
	assert_int_equal(rig_take(rig, 0, 4), 0);
	assert_int_equal(rig_harvest(rig), 0);
	assert_int_equal(rig->dispatcher[0].n_ended, 0);
	for (uint32_t i = 0; i < 4; i++)
		rig->dispatcher[0].packets[i].owner = RIG_ENDED;
	rig_destroy(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(evicted_packets_are_no_backlog_to_other_dispatchers),
		cmocka_unit_test(each_dispatcher_evicts_its_own_packets_only),
		cmocka_unit_test(bucket_is_out_until_its_last_packet_is_home_or_evicted),
		cmocka_unit_test(bucket_in_process_is_out_though_all_behind_it_were_evicted),
		cmocka_unit_test(
			held_packet_goes_on_when_the_last_one_out_of_its_bucket_is_evicted),
		cmocka_unit_test(hostile_worker_cannot_break_the_books),
		cmocka_unit_test(worker_that_claims_without_end_is_given_nothing_more),
		cmocka_unit_test(reclaim_brings_back_what_was_taken_and_what_is_queued),
		cmocka_unit_test(written_off_packets_never_come_back_and_the_worker_gets_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
