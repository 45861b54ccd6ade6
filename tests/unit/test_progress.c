/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/lane: progress words, and what a worker publishes in them. */
#include "test.h"

#include "progress.h"
#include "rig.h"
#include "worker.h"

static void
word_keeps_both_numbers_whole(void **state)
{
	static const uint32_t completed[] = { 0, 1, 65536, INT32_MAX, UINT32_MAX };
	static const uint32_t in_process[] = { 0, 1, 255, 256, UINT16_MAX };

	(void)state;
	for (size_t c = 0; c < ARRAY_LENGTH(completed); c++) {
		for (size_t p = 0; p < ARRAY_LENGTH(in_process); p++) {
			const uint64_t word = progress_pack(completed[c], in_process[p]);

			assert_int_equal(progress_completed(word), completed[c]);
			assert_int_equal(progress_in_process(word), in_process[p]);
		}
	}
}

static void
every_dispatcher_has_a_word_of_its_own_seven_to_a_line(void **state)
{
	struct progress progress = { 0 };

	(void)state;
	for (uint32_t i = 0; i < WEIR_DISPATCHERS_MAX; i++) {
		const uintptr_t at = (uintptr_t)progress_word(&progress, i);

		assert_int_equal(progress_line_of(i), i / 7);
		assert_true(at >= (uintptr_t)&progress.line[i / 7]);
		assert_true(at < (uintptr_t)&progress.line[i / 7].pulse);
		progress_publish(&progress, i, progress_pack(1000 + i, i));
	}
	for (uint32_t i = 0; i < WEIR_DISPATCHERS_MAX; i++)
		assert_true(progress_read(&progress, i) == progress_pack(1000 + i, i));
	assert_int_equal(progress.line[0].pulse, 0);
	assert_int_equal(progress.line[1].pulse, 0);
}

static uint64_t
published_word(const struct rig *rig, uint32_t dispatcher)
{
	return progress_read(rig->worker[0].worker->progress, dispatcher);
}

static void
take_publishes_in_process_in_mode_queued(void **state)
{
	struct weir_config config = rig_config("first", 1);
	struct rig *rig;

	(void)state;
	config.depth_mode = WEIR_DEPTH_QUEUED;
	rig = rig_create(&config, 32);
	rig_dispatch(rig, 5);
	rig_take(rig, 0, 3);
	assert_true(published_word(rig, 0) == progress_pack(0, 3));
	rig_complete(rig, 0, 1, weir_verdict_consumed());
	assert_true(published_word(rig, 0) == progress_pack(1, 2));
	rig_complete(rig, 0, 2, weir_verdict_consumed());
	assert_true(published_word(rig, 0) == progress_pack(3, 0));
	rig_destroy(rig);
}

static void
take_publishes_nothing_in_mode_outstanding(void **state)
{
	const struct weir_config config = rig_config("first", 1);
	struct rig *rig = rig_create(&config, 32);

	(void)state;
	rig_dispatch(rig, 5);
	rig_take(rig, 0, 3);
	assert_true(published_word(rig, 0) == 0);
	rig_complete(rig, 0, 1, weir_verdict_consumed());
	assert_true(published_word(rig, 0) == progress_pack(1, 0));
	rig_destroy(rig);
}

static void
progress_goes_to_the_dispatcher_whose_packets_they_were(void **state)
{
	struct weir_config config = rig_config("first", 1);
	struct rig *rig;

	(void)state;
	config.n_dispatchers = WEIR_DISPATCHERS_MAX;
	rig = rig_create(&config, 32);
	for (uint32_t i = 0; i < config.n_dispatchers; i++)
		rig_dispatch_from(rig, i, i + 1);
	for (uint32_t i = 0; i < config.n_dispatchers; i++) {
		assert_int_equal(rig_take(rig, 0, 32), i + 1);
		rig_complete(rig, 0, i + 1, weir_verdict_consumed());
		for (uint32_t other = 0; other < config.n_dispatchers; other++)
			assert_true(published_word(rig, other) ==
				    progress_pack(other <= i ? other + 1 : 0, 0));
	}
	rig_destroy(rig);
}

static void
take_visits_the_lanes_of_all_dispatchers_in_turn(void **state)
{
	static const uint64_t expected[][3] = { { 1, 0, 0 }, { 1, 1, 0 }, { 1, 1, 1 }, { 2, 1, 1 },
		{ 2, 2, 1 }, { 2, 2, 2 } };
	struct weir_config config = rig_config("first", 1);
	struct rig *rig;

	(void)state;
	config.n_dispatchers = 3;
	rig = rig_create(&config, 32);
	for (uint32_t i = 0; i < 3; i++)
		rig_dispatch_from(rig, i, 8);
	for (size_t step = 0; step < ARRAY_LENGTH(expected); step++) {
		assert_int_equal(rig_work(rig, 0, 1), 1);
		for (uint32_t i = 0; i < 3; i++)
			assert_int_equal(published_word(rig, i), expected[step][i]);
	}
	rig_destroy(rig);
}

static void
take_passes_over_empty_lanes(void **state)
{
	struct weir_config config = rig_config("first", 1);
	struct rig *rig;

	(void)state;
	config.n_dispatchers = 3;
	rig = rig_create(&config, 32);
	for (uint32_t i = 0; i < 4; i++) {
		rig_dispatch_from(rig, 2, 1);
		assert_int_equal(rig_work(rig, 0, 32), 1);
	}
	assert_int_equal(published_word(rig, 2), 4);
	rig_destroy(rig);
}

static void
activity_counts_what_was_taken_and_completed(void **state)
{
	const struct weir_config config = rig_config("first", 2);
	struct rig *rig = rig_create(&config, 32);
	struct weir_worker_activity activity;

	(void)state;
	assert_int_equal(weir_worker_get_id(rig->worker[0].worker), 0);
	assert_int_equal(weir_worker_get_id(rig->worker[1].worker), 1);
	rig_dispatch(rig, 5);
	rig_take(rig, 0, 4);
	rig_complete(rig, 0, 3, weir_verdict_consumed());
	weir_pool_worker_activity(rig->pool, 0, &activity);
	assert_int_equal(activity.taken, 4);
	assert_int_equal(activity.completed, 3);
	weir_pool_worker_activity(rig->pool, 1, &activity);
	assert_int_equal(activity.taken, 0);
	assert_int_equal(activity.completed, 0);
	rig_destroy(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(word_keeps_both_numbers_whole),
		cmocka_unit_test(every_dispatcher_has_a_word_of_its_own_seven_to_a_line),
		cmocka_unit_test(take_publishes_in_process_in_mode_queued),
		cmocka_unit_test(take_publishes_nothing_in_mode_outstanding),
		cmocka_unit_test(progress_goes_to_the_dispatcher_whose_packets_they_were),
		cmocka_unit_test(take_visits_the_lanes_of_all_dispatchers_in_turn),
		cmocka_unit_test(take_passes_over_empty_lanes),
		cmocka_unit_test(activity_counts_what_was_taken_and_completed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
