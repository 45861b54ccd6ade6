/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lib/overflow: drop-head as the pipeline carries it out: what is evicted and what stays, the books
 * and the depth. The rig checks after every step that no lane has more queued than its capacity
 * (M7).
 */
#include "test.h"

#include "dispatcher.h"
#include "rig.h"

/* The worker takes everything: these ids, in order. */
static void
assert_taken(struct rig *rig, weir_worker_id id, const uint32_t *ids, uint32_t n)
{
	assert_int_equal(rig_take(rig, id, WEIR_BURST_MAX), n);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(*(const uint64_t *)(void *)rig->worker[id].taken[i].data, ids[i]);
}

#define assert_takes(rig, id, ...)                                \
	assert_taken(rig, id, (const uint32_t[]) { __VA_ARGS__ }, \
		sizeof((const uint32_t[]) { __VA_ARGS__ }) / sizeof(uint32_t))

/* These packets have ended, in order, the last ones. */
static void
assert_ended(const struct rig *rig, uint32_t from, const uint32_t *ids, uint32_t n)
{
	const struct rig_dispatcher *d = &rig->dispatcher[0];

	assert_int_equal(d->n_ended, from + n);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(d->ended[from + i]->id, ids[i]);
		assert_int_equal(d->ended[from + i]->verdict.kind, WEIR_VERDICT_DROP);
		assert_int_equal(
			d->ended[from + i]->verdict.target, WEIR_REASON_OVERFLOW_DROP_HEAD);
		assert_int_equal(d->ended[from + i]->from, WEIR_WORKER_NONE);
	}
}

#define assert_evicted(rig, from, ...)                              \
	assert_ended(rig, from, (const uint32_t[]) { __VA_ARGS__ }, \
		sizeof((const uint32_t[]) { __VA_ARGS__ }) / sizeof(uint32_t))

static void
m4_capacity_3_of_five_in_one_burst_the_last_three_stay(void **state)
{
	struct rig *rig = rig_drop_head("first", 1, 3);

	(void)state;
	assert_int_equal(rig_dispatch(rig, 5), 5);
	assert_evicted(rig, 0, 0, 1);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_OVERFLOW_DROP_HEAD), 2);
	assert_int_equal(rig_worker_counters(rig, 0, 0).dropped[WEIR_REASON_OVERFLOW_DROP_HEAD], 2);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_OVERFLOW_DROP_NEW), 0);
	assert_takes(rig, 0, 2, 3, 4);
	rig_destroy(rig);
}

static void
m4_capacity_3_of_five_one_by_one_the_last_three_stay(void **state)
{
	struct rig *rig = rig_drop_head("first", 1, 3);

	(void)state;
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(rig_dispatch(rig, 1), 1);
	assert_evicted(rig, 0, 0, 1);
	assert_int_equal(rig_depth(rig, 0), 3);
	assert_takes(rig, 0, 2, 3, 4);
	rig_complete(rig, 0, 3, weir_verdict_consumed());
	assert_int_equal(rig_harvest(rig), 3);
	assert_int_equal(rig_ledger(rig).received, 5);
	assert_int_equal(rig_ledger(rig).completed, 3);
	assert_int_equal(rig_worker_counters(rig, 0, 0).lent, 5);
	assert_int_equal(rig_worker_counters(rig, 0, 0).harvested, 3);
	rig_destroy(rig);
}

/* Lanes shorter than a burst: packets are evicted that the same burst has lent. */
static void
m4_a_burst_longer_than_the_lane_leaves_its_newest(void **state)
{
	static const uint32_t capacities[] = { 1, 2, 3, 4, 5, 7, 8, 31, 32, 33 };
	static const uint32_t chunks[] = { 1, 8 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(capacities); i++) {
		for (size_t c = 0; c < ARRAY_LENGTH(chunks); c++) {
			struct weir_config config = rig_drop_head_config("first", 1, capacities[i]);
			struct rig *rig;

			config.burst = 200;
			config.chunk = chunks[c];
			rig = rig_create(&config, 1024);
			for (uint32_t n = 200; n <= 600; n += 200) {
				assert_int_equal(rig_dispatch(rig, 200), 200);
				assert_int_equal(rig_dropped(rig, WEIR_REASON_OVERFLOW_DROP_HEAD),
					n - capacities[i]);
			}
			assert_int_equal(rig_take(rig, 0, WEIR_BURST_MAX), capacities[i]);
			for (uint32_t k = 0; k < capacities[i]; k++)
				assert_int_equal(*(uint64_t *)(void *)rig->worker[0].taken[k].data,
					600 - capacities[i] + k);
			rig_destroy(rig);
		}
	}
}

static void
m7_full_lane_of_a_paused_worker_keeps_its_bound_and_the_newest(void **state)
{
	struct rig *rig = rig_drop_head("first", 1, 3);

	(void)state;
	assert_int_equal(rig_dispatch(rig, 3), 3);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_OVERFLOW_DROP_HEAD), 0);
	/* The worker does not run. */
	assert_int_equal(rig_dispatch(rig, 3), 3);
	assert_int_equal(rig_depth(rig, 0), 3);
	assert_evicted(rig, 0, 0, 1, 2);
	assert_takes(rig, 0, 3, 4, 5);
	rig_destroy(rig);
}

/* Stalled with packets in hand, it keeps these; what is queued behind them is renewed for ever. */
static void
m7_worker_that_stalls_with_packets_in_hand_keeps_them(void **state)
{
	struct rig *rig = rig_drop_head("first", 1, 3);

	(void)state;
	assert_int_equal(rig_dispatch(rig, 3), 3);
	assert_takes(rig, 0, 0, 1, 2);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(rig_dispatch(rig, 32), 32);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_OVERFLOW_DROP_HEAD), 3200 - 3);
	assert_int_equal(rig_depth(rig, 0), 6);
	assert_int_equal(rig_ledger(rig).in_lanes, 6);
	/* Its packets come home as ever, in order, before those that it takes next. */
	rig_complete(rig, 0, 3, weir_verdict_consumed());
	assert_takes(rig, 0, 3200, 3201, 3202);
	rig_complete(rig, 0, 3, weir_verdict_consumed());
	assert_int_equal(rig_harvest(rig), 6);
	rig_destroy(rig);
}

static void
a10_full_pool_spreads_its_evictions_evenly(void **state)
{
	static const char *const strategies[] = { "shallowest", "round-robin" };

	(void)state;
	for (size_t s = 0; s < ARRAY_LENGTH(strategies); s++) {
		struct rig *rig = rig_drop_head(strategies[s], 4, 8);

		assert_int_equal(rig_dispatch(rig, 32), 32);
		for (uint32_t i = 0; i < 400 / 20; i++)
			assert_int_equal(rig_dispatch(rig, 20), 20);
		for (weir_worker_id id = 0; id < 4; id++) {
			assert_int_equal(rig_depth(rig, id), 8);
			assert_int_equal(rig_worker_counters(rig, 0, id)
						 .dropped[WEIR_REASON_OVERFLOW_DROP_HEAD],
				100);
		}
		assert_int_equal(rig_dropped(rig, WEIR_REASON_OVERFLOW_DROP_NEW), 0);
		rig_destroy(rig);
	}
}

static void
worker_0_takes_two(struct rig *rig)
{
	assert_int_equal(rig_take(rig, 0, 2), 2);
}

/*
 * Worker 0 takes packets after the pass has read its head: the eviction finds that out, and there
 * is room without one.
 */
static void
m4_nothing_is_counted_when_the_worker_took_what_would_have_been_evicted(void **state)
{
	struct rig *rig = rig_drop_head("round-robin", 2, 3);

	(void)state;
	assert_int_equal(rig_dispatch(rig, 6), 6);
	assert_int_equal(rig_work(rig, 1, 1), 1);
	rig->on_finish = worker_0_takes_two;
	weir_message_index_set(rig->dispatcher[0].dispatcher, 0);
	assert_int_equal(rig_dispatch(rig, 1), 1);
	assert_null(rig->on_finish);
	assert_int_equal(rig_last(rig, 1)->charged, 0);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_OVERFLOW_DROP_HEAD), 0);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_OVERFLOW_DROP_NEW), 0);
	assert_int_equal(rig_depth(rig, 0), 4);
	rig_destroy(rig);
}

/* Any other policy on claim lanes: what it does is its own. */
static void
a_class_that_evicts_makes_claim_lanes_and_changes_no_other_policy(void **state)
{
	static const char *const policies[] = { "drop-new", "reject" };
	const struct weir_class classes[] = { { .overflow = "drop-head" } };

	(void)state;
	for (size_t p = 0; p < ARRAY_LENGTH(policies); p++) {
		struct weir_config config = rig_config("first", 1);
		struct rig *rig;

		config.overflow = policies[p];
		config.classes = classes;
		config.n_classes = 1;
		config.lane_size = 3;
		rig = rig_create(&config, 64);
		assert_non_null(rig->dispatcher[0].dispatcher->claim);
		rig_dispatch(rig, 5);
		assert_int_equal(rig_dropped(rig, WEIR_REASON_OVERFLOW_DROP_NEW), p == 0 ? 2 : 0);
		assert_int_equal(rig_counters(rig, 0).rejected, p == 0 ? 0 : 2);
		assert_int_equal(rig_dropped(rig, WEIR_REASON_OVERFLOW_DROP_HEAD), 0);
		assert_takes(rig, 0, 0, 1, 2);
		rig_destroy(rig);
	}
}

static void
pools_in_which_nothing_evicts_have_plain_lanes(void **state)
{
	static const char *const policies[] = { "drop-new", "reject" };

	(void)state;
	for (size_t p = 0; p < ARRAY_LENGTH(policies); p++) {
		struct weir_config config = rig_config("first", 1);
		struct rig *rig;

		config.overflow = policies[p];
		rig = rig_create(&config, 64);
		assert_null(rig->dispatcher[0].dispatcher->claim);
		assert_null(pool_claim_head(rig->pool, 0, 0));
		rig_destroy(rig);
	}
}

static void
nothing_to_evict_drops_the_arrival(void **state)
{
	struct rig *rig = rig_drop_head("first", 1, 3);

	(void)state;
	assert_int_equal(rig_dispatch(rig, 3), 3);
	assert_int_equal(weir_reclaim(rig->dispatcher[0].dispatcher, 0, WEIR_REASON_DEAD_WORKER,
				 WEIR_RECLAIM_GONE),
		3);
	/* Still routable, its lane is closed and empty. */
	assert_int_equal(rig_dispatch(rig, 2), 2);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_OVERFLOW_DROP_NEW), 2);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_OVERFLOW_DROP_HEAD), 0);
	rig_destroy(rig);
}

static void
depth_counts_queued_and_in_process_and_evictions_leave_it(void **state)
{
	static const enum weir_depth_mode modes[] = { WEIR_DEPTH_OUTSTANDING, WEIR_DEPTH_QUEUED };

	(void)state;
	for (size_t m = 0; m < ARRAY_LENGTH(modes); m++) {
		struct weir_config config = rig_drop_head_config("first", 1, 4);
		struct rig *rig;

		config.depth_mode = modes[m];
		rig = rig_create(&config, 256);
		assert_int_equal(rig_dispatch(rig, 4), 4);
		assert_int_equal(rig_take(rig, 0, 2), 2);
		assert_int_equal(rig_dispatch(rig, 30), 30);
		rig_harvest(rig);
		assert_int_equal(rig_worker_counters(rig, 0, 0).depth,
			modes[m] == WEIR_DEPTH_QUEUED ? 4 : 6);
		rig_destroy(rig);
	}
}

/* A lane as the specification has it: a queue that gives up its oldest. */
struct model {
	uint32_t ids[64];
	uint32_t n;
	uint32_t capacity;
	uint64_t evicted;
};

static void
model_pop(struct model *model, uint32_t n)
{
	memmove(model->ids, &model->ids[n], (model->n - n) * sizeof(model->ids[0]));
	model->n -= n;
}

static void
model_push(struct model *model, uint32_t id)
{
	if (model->n == model->capacity) {
		model_pop(model, 1);
		model->evicted++;
	}
	model->ids[model->n++] = id;
}

/* M7: any mix of arrivals, takes, completions and harvests, against the model. */
static void
m7_random_walk_takes_what_the_model_takes(void **state)
{
	struct test_random random = test_random_start(__func__);

	(void)state;
	for (uint32_t round = 0; round < 60; round++) {
		struct model model = { .capacity = test_random_between(&random, 1, 40) };
		struct weir_config config = rig_drop_head_config("first", 1, model.capacity);
		uint32_t id = 0;
		struct rig *rig;

		config.chunk = 1 + (round & 1) * 3;
		config.depth_mode = (enum weir_depth_mode)(round >> 1 & 1);
		config.lend_metadata = round >> 2 & 1;
		rig = rig_create(&config, 20000);
		for (uint32_t step = 0; step < 500; step++) {
			struct rig_worker *w = &rig->worker[0];
			uint32_t n = test_random_below(&random, 33);

			assert_int_equal(rig_dispatch(rig, n), n);
			for (; n > 0; n--)
				model_push(&model, id++);
			if (test_random_below(&random, 3) == 0)
				continue;
			if (w->completed < w->n_taken) {
				rig_complete(rig, 0,
					test_random_below(&random, w->n_taken - w->completed + 1),
					weir_verdict_consumed());
				continue;
			}
			n = rig_take(rig, 0, test_random_between(&random, 1, 40));
			for (uint32_t i = 0; i < n; i++)
				assert_int_equal(
					*(uint64_t *)(void *)w->taken[i].data, model.ids[i]);
			model_pop(&model, n);
		}
		assert_int_equal(rig_dropped(rig, WEIR_REASON_OVERFLOW_DROP_HEAD), model.evicted);
		assert_int_equal(rig_dropped(rig, WEIR_REASON_OVERFLOW_DROP_NEW), 0);
		assert_true(model.evicted > 0);
		rig_destroy(rig);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(m4_capacity_3_of_five_in_one_burst_the_last_three_stay),
		cmocka_unit_test(m4_capacity_3_of_five_one_by_one_the_last_three_stay),
		cmocka_unit_test(m4_a_burst_longer_than_the_lane_leaves_its_newest),
		cmocka_unit_test(m7_full_lane_of_a_paused_worker_keeps_its_bound_and_the_newest),
		cmocka_unit_test(m7_worker_that_stalls_with_packets_in_hand_keeps_them),
		cmocka_unit_test(a10_full_pool_spreads_its_evictions_evenly),
		cmocka_unit_test(
			m4_nothing_is_counted_when_the_worker_took_what_would_have_been_evicted),
		cmocka_unit_test(a_class_that_evicts_makes_claim_lanes_and_changes_no_other_policy),
		cmocka_unit_test(pools_in_which_nothing_evicts_have_plain_lanes),
		cmocka_unit_test(nothing_to_evict_drops_the_arrival),
		cmocka_unit_test(depth_counts_queued_and_in_process_and_evictions_leave_it),
		cmocka_unit_test(m7_random_walk_takes_what_the_model_takes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
