/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/overflow: the hold by itself, and what the dispatcher does with it. */
#include "test.h"

#include "hold.h"
#include "rig.h"

static void *
handle_of(uint32_t id)
{
	return (void *)(uintptr_t)(id + 1);
}

static void *
data_of(uint32_t id)
{
	return (void *)(uintptr_t)(id + 1000001);
}

/* Pushes packets `first` .. first + n - 1. */
static uint32_t
push(struct hold *hold, uint32_t first, uint32_t n)
{
	void *packets[WEIR_BURST_MAX];
	void *data[WEIR_BURST_MAX];
	struct weir_meta meta[WEIR_BURST_MAX];
	const struct weir_burst burst = { .packets = packets, .data = data, .meta = meta, .n = n };

	for (uint32_t i = 0; i < n; i++) {
		packets[i] = handle_of(first + i);
		data[i] = data_of(first + i);
		meta[i] = (struct weir_meta) { .length = first + i };
	}
	return hold_push(hold, &burst, (weir_worker_id)first, 1000 + first);
}

static void
assert_front(const struct weir_burst *front, uint32_t first, uint32_t n)
{
	assert_int_equal(front->n, n);
	assert_null(front->workers);
	for (uint32_t i = 0; i < n; i++) {
		assert_ptr_equal(front->packets[i], handle_of(first + i));
		assert_ptr_equal(front->data[i], data_of(first + i));
		assert_int_equal(front->meta[i].length, first + i);
	}
}

static void
hold_gives_back_in_order_what_was_put_in(void **state)
{
	struct hold hold;
	struct weir_burst front;

	(void)state;
	assert_int_equal(hold_init(&hold, 8), 0);
	assert_int_equal(hold_count(&hold), 0);
	assert_int_equal(push(&hold, 0, 5), 5);
	assert_int_equal(hold_count(&hold), 5);
	front = hold_run(&hold, 0, 3);
	assert_front(&front, 0, 3);
	/* A look takes nothing out. */
	assert_int_equal(hold_count(&hold), 5);
	hold_pop(&hold, 2);
	front = hold_run(&hold, 0, 32);
	assert_front(&front, 2, 3);
	hold_fini(&hold);
}

static void
hold_takes_exactly_its_capacity(void **state)
{
	static const uint32_t capacities[] = { 1, 2, 3, 7, 8, 100 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(capacities); i++) {
		struct hold hold;

		assert_int_equal(hold_init(&hold, capacities[i]), 0);
		assert_int_equal(push(&hold, 0, 128), capacities[i]);
		assert_int_equal(push(&hold, 200, 1), 0);
		hold_pop(&hold, 1);
		assert_int_equal(push(&hold, 300, 128), 1);
		hold_fini(&hold);
	}
}

static void
hold_of_no_capacity_takes_nothing(void **state)
{
	struct hold hold;

	(void)state;
	assert_int_equal(hold_init(&hold, 0), 0);
	assert_int_equal(push(&hold, 0, 5), 0);
	assert_int_equal(hold_count(&hold), 0);
	assert_int_equal(hold_run(&hold, 0, 32).n, 0);
	hold_fini(&hold);
}

static void
hold_keeps_the_target_and_the_deadline_of_each_entry(void **state)
{
	struct hold hold;

	(void)state;
	assert_int_equal(hold_init(&hold, 4), 0);
	push(&hold, 0, 3);
	hold_pop(&hold, 3);
	/* Two pushes, the second of which wraps. */
	push(&hold, 10, 1);
	push(&hold, 20, 2);
	assert_int_equal(hold.target[hold_index(&hold, 0)], 10);
	assert_int_equal(hold.deadline_ns[hold_index(&hold, 0)], 1010);
	for (uint32_t i = 1; i < 3; i++) {
		assert_int_equal(hold.target[hold_index(&hold, i)], 20);
		assert_int_equal(hold.deadline_ns[hold_index(&hold, i)], 1020);
	}
	hold_fini(&hold);
}

static void
front_that_wraps_comes_in_two_pieces(void **state)
{
	struct hold hold;
	struct weir_burst front;

	(void)state;
	assert_int_equal(hold_init(&hold, 8), 0);
	assert_int_equal(push(&hold, 0, 6), 6);
	hold_pop(&hold, 5);
	assert_int_equal(push(&hold, 6, 6), 6);
	front = hold_run(&hold, 0, 32);
	assert_front(&front, 5, 3);
	hold_pop(&hold, 3);
	front = hold_run(&hold, 0, 32);
	assert_front(&front, 8, 4);
	hold_fini(&hold);
}

static void
hold_counters_wrap_at_2_to_the_32(void **state)
{
	struct hold hold;
	struct weir_burst front;

	(void)state;
	assert_int_equal(hold_init(&hold, 8), 0);
	hold.head = UINT32_MAX - 1;
	hold.tail = UINT32_MAX - 1;
	assert_int_equal(push(&hold, 0, 9), 8);
	assert_int_equal(hold_count(&hold), 8);
	front = hold_run(&hold, 0, 32);
	assert_front(&front, 0, 2);
	hold_pop(&hold, 2);
	front = hold_run(&hold, 0, 32);
	assert_front(&front, 2, 6);
	hold_fini(&hold);
}

/* At every place of the ring: the second, third and sixth of six stay. */
static void
entries_that_stay_close_ranks_where_the_line_begins(void **state)
{
	static const uint32_t stay[] = { 1, 2, 5 };

	(void)state;
	for (uint32_t start = UINT32_MAX - 8; start != 8; start++) {
		struct hold hold;

		assert_int_equal(hold_init(&hold, 8), 0);
		hold.head = start;
		hold.tail = start;
		assert_int_equal(push(&hold, 0, 6), 6);
		for (uint32_t i = 0; i < 3; i++)
			hold_move(&hold, stay[i], i);
		hold_keep(&hold, 3);
		assert_int_equal(hold_count(&hold), 3);
		assert_int_equal(hold.head, start);
		for (uint32_t i = 0; i < 3; i++) {
			const struct weir_burst one = hold_run(&hold, i, 1);

			assert_front(&one, stay[i], 1);
		}
		hold_fini(&hold);
	}
}

static void
zeroed_hold_may_be_finished(void **state)
{
	struct hold hold = { 0 };

	(void)state;
	hold_fini(&hold);
	assert_null(hold.packets);
}

static void
pop_two(void *context)
{
	hold_pop(context, 2);
}

static void
popping_more_than_is_held_is_asserted(void **state)
{
	struct hold hold;

	(void)state;
	test_needs_assertions();
	assert_int_equal(hold_init(&hold, 8), 0);
	assert_int_equal(push(&hold, 0, 1), 1);
	assert_true(test_aborts(pop_two, &hold));
	hold_fini(&hold);
}

/* A pool of one worker whose lane of `lane_size` refuses what does not fit. */
static struct rig *
refusing_rig(uint32_t lane_size, uint32_t hold_size)
{
	struct weir_config config = rig_config("first", 1);

	config.overflow = "reject";
	config.lane_size = lane_size;
	config.hold_size = hold_size;
	return rig_create(&config, 4096);
}

static void
held_packets_are_lent_before_anything_newer(void **state)
{
	struct rig *rig = refusing_rig(4, 64);

	(void)state;
	assert_int_equal(rig_dispatch(rig, 10), 4);
	rig_hold(rig, 0);
	assert_int_equal(weir_held(rig->dispatcher[0].dispatcher), 6);
	/* Nothing newer is taken over while packets are held, though there is room soon. */
	assert_int_equal(rig_dispatch(rig, 3), 0);
	assert_int_equal(rig_work(rig, 0, 2), 2);
	assert_int_equal(rig_retry(rig, 0), 0);
	assert_int_equal(weir_held(rig->dispatcher[0].dispatcher), 4);
	/* The rig asserts that they come back in the order of their ids. */
	for (uint32_t i = 0; i < 8; i++) {
		rig_work(rig, 0, 4);
		rig_retry(rig, 0);
	}
	assert_int_equal(rig->dispatcher[0].n_refused, 0);
	rig_drain(rig);
	assert_int_equal(rig_ledger(rig).completed, 13);
	rig_destroy(rig);
}

static void
harvest_retries_the_hold(void **state)
{
	struct rig *rig = refusing_rig(4, 64);

	(void)state;
	assert_int_equal(rig_dispatch(rig, 10), 4);
	rig_hold(rig, 0);
	assert_int_equal(rig_work(rig, 0, 3), 3);
	assert_int_equal(rig_harvest(rig), 3);
	assert_int_equal(weir_held(rig->dispatcher[0].dispatcher), 3);
	assert_int_equal(rig_depth(rig, 0), 4);
	rig_destroy(rig);
}

static void
held_packets_are_received_at_once_and_routed_when_they_are_lent(void **state)
{
	struct rig *rig = refusing_rig(4, 64);

	(void)state;
	assert_int_equal(rig_dispatch(rig, 10), 4);
	assert_int_equal(rig_counters(rig, 0).received, 4);
	assert_int_equal(rig_counters(rig, 0).rejected, 6);
	rig_hold(rig, 0);
	assert_int_equal(rig_counters(rig, 0).received, 10);
	assert_int_equal(rig_counters(rig, 0).held, 6);
	assert_int_equal(rig_counters(rig, 0).routed, 4);
	assert_int_equal(weir_message_index(rig->dispatcher[0].dispatcher), 4);
	assert_int_equal(rig_work(rig, 0, 1), 1);
	rig_harvest(rig);
	assert_int_equal(rig_counters(rig, 0).routed, 5);
	assert_int_equal(weir_message_index(rig->dispatcher[0].dispatcher), 5);
	rig_destroy(rig);
}

static void
what_does_not_fit_into_the_hold_ends_as_held_overflow(void **state)
{
	struct rig *rig = refusing_rig(4, 5);

	(void)state;
	assert_int_equal(rig_dispatch(rig, 12), 4);
	rig_hold(rig, 0);
	assert_int_equal(weir_held(rig->dispatcher[0].dispatcher), 5);
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_HELD_OVERFLOW], 3);
	/* The newest ones are dropped, charged to nobody. */
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(rig_last(rig, 3)[i].owner, RIG_ENDED);
		assert_int_equal(rig_last(rig, 3)[i].from, WEIR_WORKER_NONE);
		assert_int_equal(rig_last(rig, 3)[i].verdict.target, WEIR_REASON_HELD_OVERFLOW);
	}
	rig_destroy(rig);
}

static void
pool_without_a_hold_drops_what_it_is_asked_to_hold(void **state)
{
	struct rig *rig = refusing_rig(4, 0);

	(void)state;
	assert_int_equal(rig_dispatch(rig, 12), 4);
	rig_hold(rig, 0);
	assert_int_equal(weir_held(rig->dispatcher[0].dispatcher), 0);
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_HELD_OVERFLOW], 8);
	rig_destroy(rig);
}

static void
hold_drop_ends_everything_held_for_the_reason_given(void **state)
{
	struct rig *rig = refusing_rig(4, 1024);
	const uint32_t n = 500;

	(void)state;
	assert_int_equal(rig_dispatch(rig, 4), 4);
	for (uint32_t i = 0; i < n; i += 25) {
		assert_int_equal(rig_dispatch(rig, 25), 0);
		rig_hold(rig, 0);
	}
	assert_int_equal(
		weir_hold_drop(rig->dispatcher[0].dispatcher, WEIR_REASON_DRAIN_TIMEOUT), n);
	rig->dispatcher[0].n_hold_dropped = n;
	assert_int_equal(weir_held(rig->dispatcher[0].dispatcher), 0);
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_DRAIN_TIMEOUT], n);
	assert_int_equal(rig->dispatcher[0].n_ended, n);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(rig->dispatcher[0].ended[i]->id, 4 + i);
	rig_check(rig);
	assert_int_equal(
		weir_hold_drop(rig->dispatcher[0].dispatcher, WEIR_REASON_DRAIN_TIMEOUT), 0);
	rig_destroy(rig);
}

static void
held_packets_are_lost_when_every_worker_stops(void **state)
{
	struct rig *rig = refusing_rig(4, 64);

	(void)state;
	assert_int_equal(rig_dispatch(rig, 10), 4);
	rig_hold(rig, 0);
	assert_int_equal(weir_pool_set_state(rig->pool, 0, WEIR_WORKER_STOPPED), 0);
	rig_harvest(rig);
	assert_int_equal(weir_held(rig->dispatcher[0].dispatcher), 0);
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_DEAD_WORKER], 6);
	rig_destroy(rig);
}

/* A hold longer than a burst, and one that wraps, go through the pipeline in order. */
static void
long_hold_is_dispatched_in_order_through_many_wraps(void **state)
{
	struct test_random random = test_random_start(__func__);
	struct rig *rig = refusing_rig(40, 100);

	(void)state;
	for (uint32_t i = 0; i < 400; i++) {
		if (weir_held(rig->dispatcher[0].dispatcher) < 60) {
			rig_dispatch(rig, test_random_below(&random, 11));
			rig_hold(rig, 0);
		}
		rig_work(rig, 0, test_random_below(&random, 10));
	}
	rig_drain(rig);
	assert_int_equal(rig_ledger(rig).completed, rig->dispatcher[0].n_packets);
	rig_destroy(rig);
}

static void
hold_33(void *context)
{
	static void *packets[33];
	static struct weir_meta meta[33];
	const struct weir_burst burst = { .packets = packets, .meta = meta, .n = 33 };

	weir_hold(context, &burst);
}

static void
holding_more_than_a_burst_is_asserted(void **state)
{
	struct rig *rig = refusing_rig(4, 64);

	(void)state;
	test_needs_assertions();
	assert_true(test_aborts(hold_33, rig->dispatcher[0].dispatcher));
	rig_destroy(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hold_gives_back_in_order_what_was_put_in),
		cmocka_unit_test(hold_takes_exactly_its_capacity),
		cmocka_unit_test(hold_of_no_capacity_takes_nothing),
		cmocka_unit_test(hold_keeps_the_target_and_the_deadline_of_each_entry),
		cmocka_unit_test(front_that_wraps_comes_in_two_pieces),
		cmocka_unit_test(hold_counters_wrap_at_2_to_the_32),
		cmocka_unit_test(entries_that_stay_close_ranks_where_the_line_begins),
		cmocka_unit_test(zeroed_hold_may_be_finished),
		cmocka_unit_test(popping_more_than_is_held_is_asserted),
		cmocka_unit_test(held_packets_are_lent_before_anything_newer),
		cmocka_unit_test(harvest_retries_the_hold),
		cmocka_unit_test(held_packets_are_received_at_once_and_routed_when_they_are_lent),
		cmocka_unit_test(what_does_not_fit_into_the_hold_ends_as_held_overflow),
		cmocka_unit_test(pool_without_a_hold_drops_what_it_is_asked_to_hold),
		cmocka_unit_test(hold_drop_ends_everything_held_for_the_reason_given),
		cmocka_unit_test(held_packets_are_lost_when_every_worker_stops),
		cmocka_unit_test(long_hold_is_dispatched_in_order_through_many_wraps),
		cmocka_unit_test(holding_more_than_a_burst_is_asserted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
