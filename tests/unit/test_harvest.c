/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/decide: how packets come home, what is believed of a worker, and what reading it costs. */
#include "test.h"

#include "dispatcher.h"
#include "rig.h"

static uint64_t
line_reads(const struct rig *rig, uint32_t dispatcher)
{
	return rig_counters(rig, dispatcher).line_reads;
}

/* Line reads of one harvest by `dispatcher`. */
static uint64_t
line_reads_of_a_pass(struct rig *rig, uint32_t dispatcher)
{
	const uint64_t before = line_reads(rig, dispatcher);

	weir_harvest(rig->dispatcher[dispatcher].dispatcher);
	return line_reads(rig, dispatcher) - before;
}

static void
packets_come_home_in_the_order_in_which_they_were_lent(void **state)
{
	const struct weir_config config = rig_config("first", 1);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_int_equal(rig_dispatch(rig, 10), 10);
	assert_int_equal(rig_harvest(rig), 0);
	assert_int_equal(rig_work(rig, 0, 7), 7);
	assert_int_equal(rig_harvest(rig), 7);
	for (uint32_t i = 0; i < 7; i++) {
		assert_int_equal(rig->dispatcher[0].ended[i]->id, i);
		assert_int_equal(rig->dispatcher[0].ended[i]->from, 0);
	}
	assert_int_equal(rig->dispatcher[0].n_finish_calls, 1);
	rig_destroy(rig);
}

static void
run_that_wraps_comes_home_in_two_pieces_in_order(void **state)
{
	struct weir_config config = rig_config("first", 1);
	struct rig *rig;

	(void)state;
	config.lane_size = 8;
	rig = rig_create(&config, 64);
	assert_int_equal(rig_dispatch(rig, 6), 6);
	rig_drain(rig);
	assert_int_equal(rig_dispatch(rig, 8), 8);
	assert_int_equal(rig_work(rig, 0, 8), 8);
	rig->dispatcher[0].n_finish_calls = 0;
	assert_int_equal(rig_harvest(rig), 8);
	assert_int_equal(rig->dispatcher[0].n_finish_calls, 2);
	for (uint32_t i = 0; i < 14; i++)
		assert_int_equal(rig->dispatcher[0].ended[i]->id, i);
	rig_destroy(rig);
}

static void
more_than_a_burst_comes_home_in_one_harvest(void **state)
{
	struct weir_config config = rig_config("first", 1);
	struct rig *rig;

	(void)state;
	config.lane_size = 1024;
	rig = rig_create(&config, 1024);
	for (uint32_t i = 0; i < 25; i++)
		assert_int_equal(rig_dispatch(rig, 32), 32);
	assert_int_equal(rig_work(rig, 0, 800), 800);
	assert_int_equal(rig_harvest(rig), 800);
	rig_destroy(rig);
}

static void
verdicts_are_counted_by_kind_and_reach_finish_unchanged(void **state)
{
	const struct weir_verdict tx = {
		.kind = WEIR_VERDICT_TX, .target = 7, .data_offset = -14, .length = 99
	};
	const struct weir_config config = rig_config("first", 1);
	struct rig *rig = rig_create(&config, 64);
	const struct rig_packet *packets;

	(void)state;
	assert_int_equal(rig_dispatch(rig, 6), 6);
	assert_int_equal(rig_take(rig, 0, 6), 6);
	rig_complete(rig, 0, 1, tx);
	rig_complete(rig, 0, 2, weir_verdict_consumed());
	rig_complete(rig, 0, 3, weir_verdict_drop(WEIR_REASON_HANDLER_DROP));
	assert_int_equal(rig_harvest(rig), 6);
	packets = rig->dispatcher[0].packets;
	assert_memory_equal(&packets[0].verdict, &tx, sizeof(tx));
	assert_int_equal(packets[1].verdict.kind, WEIR_VERDICT_CONSUMED);
	assert_int_equal(packets[3].verdict.kind, WEIR_VERDICT_DROP);
	assert_int_equal(packets[3].verdict.target, WEIR_REASON_HANDLER_DROP);
	assert_int_equal(rig_counters(rig, 0).returned_tx, 1);
	assert_int_equal(rig_counters(rig, 0).consumed, 2);
	assert_int_equal(rig_counters(rig, 0).dropped[WEIR_REASON_HANDLER_DROP], 3);
	assert_int_equal(rig_worker_counters(rig, 0, 0).dropped[WEIR_REASON_HANDLER_DROP], 3);
	assert_int_equal(rig_ledger(rig).completed, 3);
	rig_destroy(rig);
}

static void
verdict_out_of_range_is_dropped_as_bad_verdict(void **state)
{
	static const struct weir_verdict bad[] = {
		{ .kind = WEIR_VERDICT_SENT },
		{ .kind = 4 },
		{ .kind = 255 },
		{ .kind = WEIR_VERDICT_DROP, .target = WEIR_REASON_COUNT },
		{ .kind = WEIR_VERDICT_DROP, .target = 255 },
	};
	const struct weir_config config = rig_config("first", 1);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
		assert_int_equal(rig_dispatch(rig, 1), 1);
		assert_int_equal(rig_take(rig, 0, 1), 1);
		rig_complete(rig, 0, 1, bad[i]);
		assert_int_equal(rig_harvest(rig), 1);
		assert_int_equal(rig_last(rig, 1)->verdict.kind, WEIR_VERDICT_DROP);
		assert_int_equal(rig_last(rig, 1)->verdict.target, WEIR_REASON_BAD_VERDICT);
		assert_int_equal(rig_counters(rig, 0).dropped[WEIR_REASON_BAD_VERDICT], i + 1);
	}
	assert_int_equal(
		rig_worker_counters(rig, 0, 0).dropped[WEIR_REASON_BAD_VERDICT], ARRAY_LENGTH(bad));
	rig_destroy(rig);
}

static void
every_reason_is_a_good_verdict(void **state)
{
	const struct weir_config config = rig_config("first", 1);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	for (uint8_t reason = 0; reason < WEIR_REASON_COUNT; reason++) {
		assert_int_equal(rig_dispatch(rig, 1), 1);
		assert_int_equal(rig_take(rig, 0, 1), 1);
		rig_complete(rig, 0, 1, weir_verdict_drop(reason));
		assert_int_equal(rig_harvest(rig), 1);
		assert_int_equal(rig_counters(rig, 0).dropped[reason], 1);
	}
	rig_destroy(rig);
}

/* Words that no honest worker writes: none moves a packet. */
static void
progress_out_of_range_is_not_believed(void **state)
{
	const struct weir_config config = rig_config("first", 1);
	struct rig *rig = rig_create(&config, 64);
	struct progress *progress = rig->worker[0].worker->progress;
	static const uint32_t wrong[] = { 1, 10, 8 + 1, 100, INT32_MAX, UINT32_MAX };

	(void)state;
	/* Two of eight packets are home: from 2 to 8 could be true. */
	assert_int_equal(rig_dispatch(rig, 8), 8);
	assert_int_equal(rig_work(rig, 0, 2), 2);
	assert_int_equal(rig_harvest(rig), 2);
	for (size_t i = 0; i < ARRAY_LENGTH(wrong); i++) {
		progress_publish(progress, 0, progress_pack(wrong[i], 0));
		assert_int_equal(rig_harvest(rig), 0);
		assert_int_equal(weir_in_lanes(rig->dispatcher[0].dispatcher), 6);
	}
	progress_publish(progress, 0, progress_pack(2, 0));
	rig_destroy(rig);
}

static void
in_process_beyond_what_is_lent_makes_no_negative_depth(void **state)
{
	struct weir_config config = rig_config("shallowest", 2);
	struct rig *rig;

	(void)state;
	config.depth_mode = WEIR_DEPTH_QUEUED;
	rig = rig_create(&config, 64);
	assert_int_equal(rig_dispatch(rig, 4), 4);
	progress_publish(rig->worker[0].worker->progress, 0, progress_pack(0, UINT16_MAX));
	weir_message_index_set(rig->dispatcher[0].dispatcher, 0);
	/* Depth 0 against 2: worker 0 is the shallower until it ties. */
	assert_routes(rig, 0, 0);
	rig_destroy(rig);
}

static void
harvest_returns_the_packets_of_all_workers(void **state)
{
	const struct weir_config config = rig_config("round-robin", 200);
	struct rig *rig = rig_create(&config, 1024);

	(void)state;
	for (uint32_t i = 0; i < 25; i++)
		assert_int_equal(rig_dispatch(rig, 32), 32);
	for (uint32_t id = 0; id < 200; id++)
		assert_int_equal(rig_work(rig, (weir_worker_id)id, 3), 3);
	assert_int_equal(rig_harvest(rig), 600);
	rig_destroy(rig);
}

static void
worker_counters_follow_its_packets(void **state)
{
	const struct weir_config config = rig_config("first", 2);
	struct rig *rig = rig_create(&config, 128);
	struct weir_worker_counters counters;

	(void)state;
	assert_int_equal(rig_dispatch(rig, 20), 20);
	assert_int_equal(rig_work(rig, 0, 5), 5);
	rig_harvest(rig);
	counters = rig_worker_counters(rig, 0, 0);
	assert_int_equal(counters.lent, 20);
	assert_int_equal(counters.harvested, 5);
	assert_int_equal(counters.depth, 15);
	assert_int_equal(counters.max_depth, 20);
	rig_drain(rig);
	counters = rig_worker_counters(rig, 0, 0);
	assert_int_equal(counters.lent, 20);
	assert_int_equal(counters.harvested, 20);
	assert_int_equal(counters.depth, 0);
	assert_int_equal(counters.max_depth, 20);
	counters = rig_worker_counters(rig, 0, 1);
	assert_int_equal(counters.lent, 0);
	assert_int_equal(counters.max_depth, 0);
	rig_destroy(rig);
}

static void
one_dispatcher_reads_no_line_of_workers_that_hold_nothing_of_its_own(void **state)
{
	const struct weir_config config = rig_config("first", 256);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_int_equal(line_reads_of_a_pass(rig, 0), 0);
	assert_int_equal(rig_dispatch(rig, 8), 8);
	assert_int_equal(line_reads(rig, 0), 0);
	/* One worker holds packets: its line is read in each pass until it is empty. */
	assert_int_equal(line_reads_of_a_pass(rig, 0), 1);
	assert_int_equal(line_reads_of_a_pass(rig, 0), 1);
	rig_work(rig, 0, 8);
	assert_int_equal(line_reads_of_a_pass(rig, 0), 1);
	assert_int_equal(line_reads_of_a_pass(rig, 0), 0);
	rig_destroy(rig);
}

static void
one_dispatcher_reads_each_other_worker_once_per_loop(void **state)
{
	static const uint32_t sizes[] = { 1, 4, 64, 65, 256 };

	(void)state;
	for (size_t s = 0; s < ARRAY_LENGTH(sizes); s++) {
		const uint32_t n = sizes[s];
		const struct weir_config config = rig_config("round-robin", n);
		struct rig *rig = rig_create(&config, 2048);
		uint64_t before;

		for (uint32_t i = 0; i < 3 * n; i++)
			assert_int_equal(rig_dispatch(rig, 1), 1);
		before = line_reads(rig, 0);
		assert_int_equal(rig_dispatch(rig, 32), 32);
		assert_int_equal(line_reads(rig, 0) - before, n);
		assert_int_equal(line_reads_of_a_pass(rig, 0), n);
		rig_destroy(rig);
	}
}

static void
worker_that_left_the_pool_is_read_until_its_packets_are_home(void **state)
{
	const struct weir_config config = rig_config("first", 2);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_int_equal(rig_dispatch(rig, 3), 3);
	assert_int_equal(weir_pool_remove(rig->pool, 0), 0);
	assert_int_equal(line_reads_of_a_pass(rig, 0), 1);
	assert_int_equal(rig_work(rig, 0, 3), 3);
	assert_int_equal(rig_harvest(rig), 3);
	assert_int_equal(line_reads_of_a_pass(rig, 0), 0);
	rig_destroy(rig);
}

/* Passes of `n_dispatchers` over `n_workers` read so many lines, whatever is lent. */
static void
assert_lines_with_several(uint32_t n_dispatchers, uint32_t n_workers, uint32_t lines)
{
	struct weir_config config = rig_config("round-robin", n_workers);
	struct rig *rig;

	config.n_dispatchers = n_dispatchers;
	config.lane_size = 4;
	rig = rig_create(&config, 64);
	assert_int_equal(line_reads_of_a_pass(rig, 0), lines);
	assert_int_equal(rig_dispatch(rig, 8), 8);
	assert_int_equal(line_reads_of_a_pass(rig, 0), lines);
	assert_int_equal(line_reads_of_a_pass(rig, n_dispatchers - 1), lines);
	rig_destroy(rig);
}

static void
several_dispatchers_read_each_routable_worker_and_each_others_tails(void **state)
{
	(void)state;
	/* A line per worker, and a line of tails per sixteen workers and other dispatcher. */
	assert_lines_with_several(2, 4, 4 + 1);
	assert_lines_with_several(2, 16, 16 + 1);
	assert_lines_with_several(2, 17, 17 + 2);
	assert_lines_with_several(2, 256, 256 + 16);
	assert_lines_with_several(7, 4, 4 + 6);
	/* From eight dispatchers on, progress takes two lines a worker. */
	assert_lines_with_several(8, 4, 2 * 4 + 7);
	assert_lines_with_several(14, 64, 2 * 64 + 13 * 4);
}

static void
several_dispatchers_pass_over_workers_that_are_not_routable(void **state)
{
	struct weir_config config = rig_config("first", 4);
	struct rig *rig;

	(void)state;
	config.n_dispatchers = 2;
	rig = rig_create(&config, 64);
	assert_int_equal(rig_dispatch(rig, 2), 2);
	assert_int_equal(weir_pool_set_state(rig->pool, 0, WEIR_WORKER_STOPPED), 0);
	assert_int_equal(weir_pool_set_state(rig->pool, 1, WEIR_WORKER_STOPPED), 0);
	/* Worker 0 holds packets of dispatcher 0 only. */
	assert_int_equal(line_reads_of_a_pass(rig, 0), 3 + 1);
	assert_int_equal(line_reads_of_a_pass(rig, 1), 2 + 1);
	rig_destroy(rig);
}

/* Depth of worker `id` in the mirror of `dispatcher` after a pass. */
static uint32_t
mirror_depth(struct rig *rig, uint32_t dispatcher, weir_worker_id id)
{
	const struct weir_dispatcher *d = rig->dispatcher[dispatcher].dispatcher;

	weir_harvest(rig->dispatcher[dispatcher].dispatcher);
	return d->depth[d->snapshot->position[id]];
}

static void
every_dispatcher_knows_the_whole_backlog(void **state)
{
	struct weir_config config = rig_config("first", 2);
	struct rig *rig;

	(void)state;
	config.n_dispatchers = 14;
	rig = rig_create(&config, 64);
	for (uint32_t i = 0; i < 14; i++)
		assert_int_equal(rig_dispatch_from(rig, i, i + 1), i + 1);
	for (uint32_t i = 0; i < 14; i++) {
		assert_int_equal(mirror_depth(rig, i, 0), 105);
		assert_int_equal(mirror_depth(rig, i, 1), 0);
	}
	/* Lanes are taken in turn: those of dispatchers 0 to 2, 6 packets. */
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(rig_take(rig, 0, 32), i + 1);
		rig_complete(rig, 0, i + 1, weir_verdict_consumed());
	}
	for (uint32_t i = 0; i < 14; i++)
		assert_int_equal(mirror_depth(rig, i, 0), 99);
	rig_destroy(rig);
}

/* A tail that was published late must not read as a backlog of four thousand million. */
static void
completion_that_is_ahead_of_the_published_tail_counts_as_nothing(void **state)
{
	struct weir_config config = rig_config("first", 1);
	struct rig *rig;

	(void)state;
	config.n_dispatchers = 2;
	rig = rig_create(&config, 64);
	assert_int_equal(rig_dispatch_from(rig, 1, 3), 3);
	assert_int_equal(rig_work(rig, 0, 3), 3);
	atomic_store(&pool_tails(rig->pool, 1)->tail[0], 2);
	assert_int_equal(mirror_depth(rig, 0, 0), 0);
	atomic_store(&pool_tails(rig->pool, 1)->tail[0], 3);
	rig_destroy(rig);
}

static void
in_process_that_is_ahead_of_the_published_tail_counts_as_nothing(void **state)
{
	struct weir_config config = rig_config("first", 1);
	struct rig *rig;

	(void)state;
	config.n_dispatchers = 2;
	config.depth_mode = WEIR_DEPTH_QUEUED;
	rig = rig_create(&config, 64);
	assert_int_equal(rig_dispatch_from(rig, 1, 3), 3);
	assert_int_equal(rig_take(rig, 0, 3), 3);
	atomic_store(&pool_tails(rig->pool, 1)->tail[0], 2);
	assert_int_equal(mirror_depth(rig, 0, 0), 0);
	atomic_store(&pool_tails(rig->pool, 1)->tail[0], 3);
	rig_destroy(rig);
}

static void
reclaim_of_a_dead_worker_brings_every_packet_back(void **state)
{
	const struct weir_config config = rig_config("round-robin", 2);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_int_equal(rig_dispatch(rig, 20), 20);
	/* Of its ten, worker 0 has completed four and is working on three. */
	assert_int_equal(rig_take(rig, 0, 7), 7);
	rig_complete(rig, 0, 4, weir_verdict_consumed());
	assert_int_equal(weir_pool_remove(rig->pool, 0), 0);
	assert_int_equal(weir_reclaim(rig->dispatcher[0].dispatcher, 0, WEIR_REASON_DEAD_WORKER,
				 WEIR_RECLAIM_GONE),
		6);
	rig_check(rig);
	assert_int_equal(rig->dispatcher[0].n_ended, 10);
	for (uint32_t i = 0; i < 10; i++) {
		const struct rig_packet *packet = rig->dispatcher[0].ended[i];

		assert_int_equal(packet->id, 2 * i);
		assert_int_equal(
			packet->verdict.kind, i < 4 ? WEIR_VERDICT_CONSUMED : WEIR_VERDICT_DROP);
	}
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_DEAD_WORKER], 6);
	assert_int_equal(rig_ledger(rig).in_lanes, 10);
	assert_int_equal(rig_worker_counters(rig, 0, 0).dropped[WEIR_REASON_DEAD_WORKER], 6);
	assert_int_equal(rig_worker_counters(rig, 0, 0).lent, 10);
	assert_int_equal(rig_worker_counters(rig, 0, 0).harvested, 4);
	assert_int_equal(rig_worker_counters(rig, 0, 0).depth, 0);
	/* A second reclaim finds nothing. */
	assert_int_equal(weir_reclaim(rig->dispatcher[0].dispatcher, 0, WEIR_REASON_DEAD_WORKER,
				 WEIR_RECLAIM_GONE),
		0);
	rig_work(rig, 1, 10);
	rig_harvest(rig);
	rig->worker[0].n_taken = 0;
	rig->worker[0].completed = 0;
	rig_destroy(rig);
}

static void
written_off_packets_never_come_back_though_the_worker_completes_them(void **state)
{
	const struct weir_config config = rig_config("first", 2);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_int_equal(rig_dispatch(rig, 10), 10);
	assert_int_equal(rig_take(rig, 0, 10), 10);
	assert_int_equal(weir_pool_remove(rig->pool, 0), 0);
	assert_int_equal(weir_reclaim(rig->dispatcher[0].dispatcher, 0, WEIR_REASON_DRAIN_TIMEOUT,
				 WEIR_RECLAIM_WRITE_OFF),
		10);
	rig->dispatcher[0].n_written_off = 10;
	rig_check(rig);
	assert_int_equal(rig->dispatcher[0].n_ended, 0);
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_DRAIN_TIMEOUT], 10);
	rig_complete(rig, 0, 4, weir_verdict_consumed());
	assert_int_equal(rig_harvest(rig), 0);
	rig_complete(rig, 0, 6, weir_verdict_consumed());
	assert_int_equal(rig_harvest(rig), 0);
	assert_int_equal(rig->dispatcher[0].n_ended, 0);
	assert_int_equal(weir_in_lanes(rig->dispatcher[0].dispatcher), 0);
	for (uint32_t i = 0; i < 10; i++)
		rig->dispatcher[0].packets[i].owner = RIG_ENDED;
	rig_destroy(rig);
}

static void
reclaimed_lane_takes_no_packets(void **state)
{
	const struct weir_config config = rig_config("first", 1);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_int_equal(rig_dispatch(rig, 2), 2);
	assert_int_equal(weir_reclaim(rig->dispatcher[0].dispatcher, 0, WEIR_REASON_DEAD_WORKER,
				 WEIR_RECLAIM_GONE),
		2);
	/* Still routable, it is full for good. */
	assert_int_equal(rig_dispatch(rig, 3), 3);
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_OVERFLOW_DROP_NEW], 3);
	assert_int_equal(rig_ledger(rig).in_lanes, 0);
	rig_destroy(rig);
}

static void
reclaim_wraps_and_keeps_the_books_of_several_dispatchers(void **state)
{
	struct weir_config config = rig_config("first", 1);
	struct rig *rig;

	(void)state;
	config.n_dispatchers = 2;
	config.lane_size = 4;
	rig = rig_create(&config, 64);
	assert_int_equal(rig_dispatch_from(rig, 0, 3), 3);
	rig_drain(rig);
	assert_int_equal(rig_dispatch_from(rig, 0, 4), 4);
	assert_int_equal(rig_dispatch_from(rig, 1, 2), 2);
	assert_int_equal(weir_reclaim(rig->dispatcher[0].dispatcher, 0, WEIR_REASON_DEAD_WORKER,
				 WEIR_RECLAIM_GONE),
		4);
	rig_harvest(rig);
	/* Later passes, which read every routable worker, must not lose the reclaimed ones. */
	assert_int_equal(rig_worker_counters(rig, 0, 0).lent, 7);
	assert_int_equal(rig_worker_counters(rig, 0, 0).harvested, 3);
	assert_int_equal(rig_ledger(rig).in_lanes, 2);
	assert_int_equal(weir_reclaim(rig->dispatcher[1].dispatcher, 0, WEIR_REASON_DEAD_WORKER,
				 WEIR_RECLAIM_GONE),
		2);
	rig_check(rig);
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_DEAD_WORKER], 6);
	rig_destroy(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_come_home_in_the_order_in_which_they_were_lent),
		cmocka_unit_test(run_that_wraps_comes_home_in_two_pieces_in_order),
		cmocka_unit_test(more_than_a_burst_comes_home_in_one_harvest),
		cmocka_unit_test(verdicts_are_counted_by_kind_and_reach_finish_unchanged),
		cmocka_unit_test(verdict_out_of_range_is_dropped_as_bad_verdict),
		cmocka_unit_test(every_reason_is_a_good_verdict),
		cmocka_unit_test(progress_out_of_range_is_not_believed),
		cmocka_unit_test(in_process_beyond_what_is_lent_makes_no_negative_depth),
		cmocka_unit_test(harvest_returns_the_packets_of_all_workers),
		cmocka_unit_test(worker_counters_follow_its_packets),
		cmocka_unit_test(
			one_dispatcher_reads_no_line_of_workers_that_hold_nothing_of_its_own),
		cmocka_unit_test(one_dispatcher_reads_each_other_worker_once_per_loop),
		cmocka_unit_test(worker_that_left_the_pool_is_read_until_its_packets_are_home),
		cmocka_unit_test(
			several_dispatchers_read_each_routable_worker_and_each_others_tails),
		cmocka_unit_test(several_dispatchers_pass_over_workers_that_are_not_routable),
		cmocka_unit_test(every_dispatcher_knows_the_whole_backlog),
		cmocka_unit_test(completion_that_is_ahead_of_the_published_tail_counts_as_nothing),
		cmocka_unit_test(in_process_that_is_ahead_of_the_published_tail_counts_as_nothing),
		cmocka_unit_test(reclaim_of_a_dead_worker_brings_every_packet_back),
		cmocka_unit_test(
			written_off_packets_never_come_back_though_the_worker_completes_them),
		cmocka_unit_test(reclaimed_lane_takes_no_packets),
		cmocka_unit_test(reclaim_wraps_and_keeps_the_books_of_several_dispatchers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
