/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Urgent dispatchers (M12): what a worker takes first, what each priority has of its own, and what
 * the two share. A priority has lanes of its own and so a capacity of its own: the source's shared
 * bound, where an urgent arrival evicts another, is not what is built.
 */
#include "test.h"

#include <weir/weir.h>

#include "dispatcher.h"
#include "order_rig.h"
#include "rig.h"

/* The dispatchers of a rig of two. */
#define NORMAL 0
#define URGENT 1

#define RANDOM_RUNS 24
#define RANDOM_PACKETS 6000

static struct rig *
urgent_rig(uint32_t n_workers, uint32_t lane_size)
{
	struct weir_config config = rig_config("shallowest", n_workers);

	config.n_dispatchers = 2;
	config.n_urgent = 1;
	config.lane_size = lane_size;
	return rig_create(&config, 4096);
}

/* The dispatcher that made the packet a worker has. */
static uint32_t
dispatcher_of(const struct rig *rig, const struct weir_packet *packet)
{
	const char *data = (const char *)packet->data;

	for (uint32_t i = 0; i < rig->config.n_dispatchers; i++) {
		const char *begin = (const char *)rig->dispatcher[i].packets;

		if (data >= begin && data < begin + rig->max_packets * sizeof(struct rig_packet))
			return i;
	}
	fail_msg("no dispatcher made this packet");
	return 0;
}

/* Takes as worker 0: `n` packets of that dispatcher, numbers `first` on; gives them back. */
static void
assert_takes(struct rig *rig, uint32_t max, uint32_t dispatcher, uint32_t first, uint32_t n)
{
	assert_int_equal(rig_take(rig, 0, max), n);
	for (uint32_t i = 0; i < n; i++) {
		const struct weir_packet *packet = &rig->worker[0].taken[i];

		assert_int_equal(dispatcher_of(rig, packet), dispatcher);
		assert_int_equal(*(const uint64_t *)(const void *)packet->data, first + i);
	}
	rig_complete(rig, 0, n, weir_verdict_consumed());
}

static void
m12_urgent_packets_are_taken_before_those_queued_earlier(void **state)
{
	struct rig *rig = urgent_rig(1, 64);

	(void)state;
	assert_int_equal(rig_dispatch_from(rig, NORMAL, 5), 5);
	assert_int_equal(rig_dispatch_from(rig, URGENT, 3), 3);
	assert_takes(rig, 32, URGENT, 0, 3);
	assert_takes(rig, 32, NORMAL, 0, 5);
	assert_int_equal(rig_take(rig, 0, 32), 0);
	rig_destroy(rig);
}

static void
m12_packets_of_one_priority_are_taken_in_their_order(void **state)
{
	struct rig *rig = urgent_rig(1, 64);

	(void)state;
	rig_dispatch_from(rig, NORMAL, 4);
	rig_dispatch_from(rig, URGENT, 2);
	rig_dispatch_from(rig, URGENT, 2);
	assert_takes(rig, 3, URGENT, 0, 3);
	assert_takes(rig, 3, URGENT, 3, 1);
	assert_takes(rig, 3, NORMAL, 0, 3);
	rig_dispatch_from(rig, URGENT, 1);
	assert_takes(rig, 3, URGENT, 4, 1);
	assert_takes(rig, 3, NORMAL, 3, 1);
	rig_destroy(rig);
}

static void
m12_what_a_worker_has_begun_it_finishes_first(void **state)
{
	struct rig *rig = urgent_rig(1, 64);

	(void)state;
	rig_dispatch_from(rig, NORMAL, 4);
	assert_int_equal(rig_take(rig, 0, 3), 3);
	rig_dispatch_from(rig, URGENT, 1);
	assert_int_equal(weir_take(rig->worker[0].worker, rig->worker[0].taken, 32), 0);
	rig_complete(rig, 0, 3, weir_verdict_consumed());
	assert_takes(rig, 32, URGENT, 0, 1);
	assert_takes(rig, 32, NORMAL, 3, 1);
	rig_destroy(rig);
}

/* Strict priority, as documented: no guard against starvation. */
static void
m12_urgent_packets_that_keep_coming_starve_the_others(void **state)
{
	struct rig *rig = urgent_rig(1, 64);

	(void)state;
	rig_dispatch_from(rig, NORMAL, 1);
	rig_dispatch_from(rig, URGENT, 1);
	for (uint32_t i = 0; i < 200; i++) {
		rig_dispatch_from(rig, URGENT, 1);
		assert_takes(rig, 1, URGENT, i, 1);
	}
	assert_takes(rig, 1, URGENT, 200, 1);
	assert_takes(rig, 1, NORMAL, 0, 1);
	rig_destroy(rig);
}

static uint64_t
dropped_new(const struct rig *rig, uint32_t dispatcher)
{
	return rig_counters(rig, dispatcher).dropped[WEIR_REASON_OVERFLOW_DROP_NEW];
}

static void
m12_a_full_lane_of_one_priority_costs_the_other_nothing(void **state)
{
	struct rig *rig = urgent_rig(1, 2);

	(void)state;
	rig_dispatch_from(rig, NORMAL, 3);
	assert_int_equal(dropped_new(rig, NORMAL), 1);
	rig_dispatch_from(rig, URGENT, 2);
	assert_int_equal(dropped_new(rig, URGENT), 0);
	rig_dispatch_from(rig, URGENT, 1);
	assert_int_equal(dropped_new(rig, URGENT), 1);
	assert_takes(rig, 32, URGENT, 0, 2);
	rig_dispatch_from(rig, NORMAL, 1);
	assert_int_equal(dropped_new(rig, NORMAL), 2);
	assert_takes(rig, 32, NORMAL, 0, 2);
	rig_destroy(rig);
}

/* Under a policy that refuses, each priority waits for itself. */
static void
m12_a_refusal_stops_its_own_priority_only(void **state)
{
	struct weir_config config = rig_config("shallowest", 1);
	struct rig *rig;

	(void)state;
	config.n_dispatchers = 2;
	config.n_urgent = 1;
	config.lane_size = 2;
	config.overflow = "reject";
	rig = rig_create(&config, 64);
	assert_int_equal(rig_dispatch_from(rig, NORMAL, 3), 2);
	rig_hold(rig, NORMAL);
	assert_false(weir_accepts(rig->dispatcher[NORMAL].dispatcher));
	assert_true(weir_accepts(rig->dispatcher[URGENT].dispatcher));
	assert_int_equal(rig_dispatch_from(rig, URGENT, 2), 2);
	assert_takes(rig, 32, URGENT, 0, 2);
	assert_takes(rig, 32, NORMAL, 0, 2);
	rig_harvest(rig);
	assert_true(weir_accepts(rig->dispatcher[NORMAL].dispatcher));
	assert_takes(rig, 32, NORMAL, 2, 1);
	rig_destroy(rig);
}

/* Depth is whole: each priority sees what a worker has of the other. */
static void
m12_each_priority_counts_what_a_worker_has_of_the_other(void **state)
{
	struct rig *rig = urgent_rig(2, 64);
	const struct rig_dispatcher *urgent = &rig->dispatcher[URGENT];
	const struct rig_dispatcher *normal = &rig->dispatcher[NORMAL];

	(void)state;
	rig_dispatch_from(rig, NORMAL, 6);
	rig_work(rig, 1, 3);
	rig_harvest(rig);
	rig_dispatch_from(rig, URGENT, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(urgent->packets[i].charged, 1);
	rig_dispatch_from(rig, URGENT, 2);
	rig_work(rig, 0, 4);
	rig_harvest(rig);
	rig_dispatch_from(rig, NORMAL, 1);
	assert_int_equal(normal->packets[6].charged, 0);
	rig_destroy(rig);
}

/* Two of each: both groups have a turn of their own, which the other one does not disturb. */
static void
m12_lanes_of_one_priority_are_visited_in_turn(void **state)
{
	struct weir_config config = rig_config("shallowest", 1);
	struct rig *rig;

	(void)state;
	config.n_dispatchers = 4;
	config.n_urgent = 2;
	rig = rig_create(&config, 64);
	for (uint32_t i = 0; i < 4; i++)
		rig_dispatch_from(rig, i, 3);
	assert_takes(rig, 1, 2, 0, 1);
	assert_takes(rig, 1, 3, 0, 1);
	assert_takes(rig, 2, 2, 1, 2);
	assert_takes(rig, 2, 3, 1, 2);
	assert_takes(rig, 1, 0, 0, 1);
	rig_dispatch_from(rig, 3, 2);
	rig_dispatch_from(rig, 2, 1);
	assert_takes(rig, 1, 2, 3, 1);
	assert_takes(rig, 1, 3, 3, 1);
	assert_takes(rig, 1, 3, 4, 1);
	assert_takes(rig, 1, 1, 0, 1);
	assert_takes(rig, 2, 0, 1, 2);
	assert_takes(rig, 2, 1, 1, 2);
	rig_destroy(rig);
}

/* The largest number of dispatchers: seven urgent ones on a progress line of their own. */
static void
m12_the_first_or_the_last_of_fourteen_stands_alone(void **state)
{
	struct weir_config config = rig_config("shallowest", 1);

	(void)state;
	config.n_dispatchers = 14;
	for (config.n_urgent = 1; config.n_urgent <= 13; config.n_urgent += 12) {
		struct rig *rig = rig_create(&config, 8);

		rig_dispatch_from(rig, 0, 1);
		rig_dispatch_from(rig, 13, 1);
		assert_takes(rig, 32, 13, 0, 1);
		assert_takes(rig, 32, 0, 0, 1);
		rig_destroy(rig);
	}
}

static void
all_dispatchers_urgent_is_refused(void **state)
{
	struct weir_config config = weir_config_default();
	struct weir_config_error error;

	(void)state;
	config.n_urgent = 1;
	assert_int_equal(weir_config_check(&config, &error), -EINVAL);
	assert_string_equal(error.field, "n_urgent");
	assert_string_equal(error.value, "1");
	assert_string_equal(error.allowed, "0 to 0: one dispatcher at least is not urgent");
	config.n_dispatchers = 14;
	config.n_urgent = 13;
	assert_int_equal(weir_config_check(&config, &error), 0);
	config.n_urgent = UINT32_MAX;
	assert_int_equal(weir_config_check(&config, &error), -EINVAL);
	assert_string_equal(error.value, "4294967295");
}

static void
urgent_classes_are_refused_where_nothing_can_be_urgent(void **state)
{
	struct weir_class classes[2] = { { 0 }, { .urgent = true } };
	struct weir_config config = weir_config_default();
	struct weir_config_error error;

	(void)state;
	config.classes = classes;
	config.n_classes = 2;
	assert_int_equal(weir_config_check(&config, &error), -EINVAL);
	assert_string_equal(error.field, "classes[1].urgent");
	assert_non_null(strstr(error.allowed, "n_urgent 0"));
	config.n_dispatchers = 2;
	config.n_urgent = 1;
	assert_int_equal(weir_config_check(&config, &error), 0);
	classes[1].action = WEIR_ACTION_DROP;
	assert_int_equal(weir_config_check(&config, &error), -EINVAL);
	assert_string_equal(error.field, "classes[1].urgent");
	assert_non_null(strstr(error.allowed, "dropped or diverted"));
}

/* Class 0, of what no rule matched, is never urgent. */
static void
m12_only_classes_that_say_so_are_urgent(void **state)
{
	struct weir_class classes[WEIR_CLASSES_MAX - 1] = { { 0 } };

	(void)state;
	assert_true(weir_classes_urgent(NULL, 0) == 0);
	assert_true(weir_classes_urgent(classes, WEIR_CLASSES_MAX - 1) == 0);
	classes[0].urgent = true;
	classes[62].urgent = true;
	assert_true(weir_classes_urgent(classes, WEIR_CLASSES_MAX - 1) ==
		    (UINT64_C(1) << 63 | UINT64_C(1) << 1));
	assert_true(weir_classes_urgent(classes, 62) == UINT64_C(1) << 1);
}

/* ---- random traffic ---- */

struct random_run {
	struct rig *rig;
	struct test_random *random;
	uint32_t n_urgent_first; /* takes of urgent packets past waiting others */
	uint32_t n_normal;	 /* takes of others */
};

/* Packets that wait in the lane of a dispatcher. */
static uint32_t
queued(const struct rig *rig, uint32_t dispatcher, weir_worker_id id)
{
	return rig->dispatcher[dispatcher].dispatcher->lane[id].tail -
	       rig->worker[id].worker->lane[dispatcher].head;
}

/* A worker takes and completes; nothing of the others while an urgent packet waits. */
static void
random_work(struct random_run *run, weir_worker_id id)
{
	struct rig *rig = run->rig;
	const uint32_t n_urgent = queued(rig, URGENT, id);
	const uint32_t n_normal = queued(rig, NORMAL, id);
	const uint32_t n = rig_take(rig, id, test_random_between(run->random, 1, 8));

	assert_int_equal(n == 0, n_urgent + n_normal == 0);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(dispatcher_of(rig, &rig->worker[id].taken[i]),
			n_urgent > 0 ? URGENT : NORMAL);
	run->n_urgent_first += n_urgent > 0 && n_normal > 0;
	run->n_normal += n > 0 && n_urgent == 0;
	rig_complete(rig, id, n, weir_verdict_consumed());
}

static void
random_dispatch(struct random_run *run, uint32_t dispatcher)
{
	struct rig *rig = run->rig;
	const uint32_t room = rig->max_packets - rig->dispatcher[dispatcher].n_packets;
	uint32_t n = test_random_below(run->random, 9);

	if (!weir_accepts(rig->dispatcher[dispatcher].dispatcher))
		return;
	n = n < room ? n : room;
	if (rig_dispatch_from(rig, dispatcher, n) < n)
		rig_hold(rig, dispatcher);
}

/* The rig checks conservation, the ledger and each dispatcher's order at every step. */
static void
m12_random_traffic_loses_nothing_and_keeps_the_order_of_each_priority(void **state)
{
	struct test_random random = test_random_start(__func__);
	uint64_t n_dropped = 0;
	uint64_t n_refused = 0;

	(void)state;
	for (uint32_t i = 0; i < RANDOM_RUNS; i++) {
		struct weir_config config = rig_config("shallowest", 1 + i % 3);
		struct random_run run = { .random = &random };

		config.n_dispatchers = 2;
		config.n_urgent = 1;
		config.lane_size = 5 + i % 4 * 7;
		config.order = i % 2 ? WEIR_ORDER_FLOW : WEIR_ORDER_NONE;
		config.overflow = i / 2 % 2 ? "reject" : "drop-new";
		config.depth_mode = i / 4 % 2 ? WEIR_DEPTH_QUEUED : WEIR_DEPTH_OUTSTANDING;
		run.rig = rig_create(&config, RANDOM_PACKETS);
		run.rig->n_buckets = 50;
		while (run.rig->dispatcher[NORMAL].n_packets < RANDOM_PACKETS) {
			random_dispatch(&run, NORMAL);
			random_dispatch(&run, test_random_below(&random, 2));
			random_work(
				&run, (weir_worker_id)test_random_below(&random, config.n_workers));
			rig_harvest(run.rig);
		}
		assert_true(run.n_urgent_first > 0);
		assert_true(run.n_normal > 0);
		n_dropped += dropped_new(run.rig, NORMAL) + dropped_new(run.rig, URGENT);
		n_refused += rig_counters(run.rig, NORMAL).rejected;
		rig_destroy(run.rig);
	}
	assert_true(n_dropped > 0);
	assert_true(n_refused > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(m12_urgent_packets_are_taken_before_those_queued_earlier),
		cmocka_unit_test(m12_packets_of_one_priority_are_taken_in_their_order),
		cmocka_unit_test(m12_what_a_worker_has_begun_it_finishes_first),
		cmocka_unit_test(m12_urgent_packets_that_keep_coming_starve_the_others),
		cmocka_unit_test(m12_a_full_lane_of_one_priority_costs_the_other_nothing),
		cmocka_unit_test(m12_a_refusal_stops_its_own_priority_only),
		cmocka_unit_test(m12_each_priority_counts_what_a_worker_has_of_the_other),
		cmocka_unit_test(m12_lanes_of_one_priority_are_visited_in_turn),
		cmocka_unit_test(m12_the_first_or_the_last_of_fourteen_stands_alone),
		cmocka_unit_test(all_dispatchers_urgent_is_refused),
		cmocka_unit_test(urgent_classes_are_refused_where_nothing_can_be_urgent),
		cmocka_unit_test(m12_only_classes_that_say_so_are_urgent),
		cmocka_unit_test(
			m12_random_traffic_loses_nothing_and_keeps_the_order_of_each_priority),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
