/* SPDX-License-Identifier: BSD-3-Clause */
/* weir_explain: says what weir_dispatch then does, and changes nothing. */
#include "test.h"

#include "dispatcher.h"
#include "order_rig.h"

#define RANDOM_PACKETS 3000
#define RANDOM_BUCKETS 24

static struct weir_explanation
explain(const struct rig *rig, uint16_t bucket, uint64_t time_ns)
{
	const struct weir_meta meta = {
		.bucket = bucket, .hash = (uint64_t)bucket << 48, .time_ns = time_ns
	};
	struct weir_explanation why;

	weir_explain(rig->dispatcher[0].dispatcher, &meta, &why);
	return why;
}

static void
idle_bucket_asks_for_the_next_message(void **state)
{
	struct rig *rig = order_rig("round-robin", 3, 64);
	struct weir_explanation why;

	(void)state;
	assert_goes(rig, { 7, 0 }, { 8, 1 });
	why = explain(rig, 9, 0);
	assert_int_equal(why.route, WEIR_ROUTE_ASKS);
	assert_int_equal(why.index, 2);
	assert_int_equal(why.pinned, WEIR_WORKER_NONE);
	assert_int_equal(why.bucket_out, 0);
	rig_destroy(rig);
}

static void
bucket_with_packets_out_is_pinned_and_tells_how_many(void **state)
{
	struct rig *rig = order_rig("round-robin", 3, 64);
	struct weir_explanation why;

	(void)state;
	assert_goes(rig, { 7, 0 }, { 8, 1 }, { 9, 2 }, { 10, 0 }, { 7, 0 }, { 11, 1 }, { 12, 2 },
		{ 13, 0 });
	why = explain(rig, 7, 0);
	assert_int_equal(why.route, WEIR_ROUTE_PINNED);
	assert_int_equal(why.pinned, 0);
	assert_int_equal(why.lane_out, 4);
	assert_int_equal(why.bucket_out, 3);
	order_bring_home(rig, 0, 3);
	why = explain(rig, 7, 0);
	assert_int_equal(why.route, WEIR_ROUTE_ASKS);
	assert_int_equal(why.pinned, 0);
	assert_int_equal(why.lane_out, 1);
	assert_int_equal(why.bucket_out, 0);
	rig_destroy(rig);
}

static void
depths_are_those_of_the_routable_workers_in_pool_order(void **state)
{
	struct rig *rig = order_rig("round-robin", 3, 64);
	struct weir_explanation why;

	(void)state;
	assert_goes(rig, { 7, 0 }, { 8, 1 }, { 9, 2 }, { 10, 0 });
	order_remove(rig, 1);
	rig_harvest(rig);
	why = explain(rig, 11, 0);
	assert_int_equal(why.n_routable, 2);
	assert_int_equal(why.worker[0], 0);
	assert_int_equal(why.worker[1], 2);
	assert_int_equal(why.depth[0], 2);
	assert_int_equal(why.depth[1], 1);
	assert_int_equal(why.room[0], rig->config.lane_size - 2);
	rig_destroy(rig);
}

static void
bucket_of_a_worker_that_left_is_held_and_so_is_what_follows(void **state)
{
	struct rig *rig = order_rig("round-robin", 2, 64);
	struct weir_explanation why;

	(void)state;
	assert_goes(rig, { 7, 0 });
	order_remove(rig, 0);
	rig_harvest(rig);
	why = explain(rig, 7, 0);
	assert_int_equal(why.route, WEIR_ROUTE_HELD_UNROUTABLE);
	assert_int_equal(why.pinned, 0);
	assert_int_equal(why.bucket_held, 0);
	assert_goes(rig, { 7, HELD });
	why = explain(rig, 7, 0);
	assert_int_equal(why.route, WEIR_ROUTE_HELD_BEHIND);
	assert_int_equal(why.bucket_held, 1);
	rig_destroy(rig);
}

static void
bucket_out_at_its_former_owner_is_held(void **state)
{
	struct rig *rig = order_rig("rendezvous", 4, 64);
	struct weir_explanation why;
	weir_worker_id owner;

	(void)state;
	assert_int_equal(dispatch_buckets(rig, 7), 1);
	owner = rig_last(rig, 1)->charged;
	assert_int_equal(explain(rig, 7, 0).route, WEIR_ROUTE_ASKS);
	order_remove(rig, owner);
	rig_harvest(rig);
	why = explain(rig, 7, 0);
	assert_int_equal(why.route, WEIR_ROUTE_HELD_OTHER_OWNER);
	assert_int_equal(why.pinned, owner);
	assert_int_equal(why.bucket_out, 1);
	order_bring_home(rig, owner, 1);
	assert_int_equal(explain(rig, 7, 0).route, WEIR_ROUTE_ASKS);
	rig_destroy(rig);
}

static void
sticky_bucket_sticks_until_it_was_silent_long_enough(void **state)
{
	struct weir_config config = order_config("round-robin", 3);
	struct rig *rig;

	(void)state;
	config.sticky_ns = 100;
	rig = rig_create(&config, 64);
	rig->time_ns = 1000;
	assert_goes(rig, { 7, 0 });
	order_bring_home(rig, 0, 1);
	assert_int_equal(explain(rig, 7, 1099).route, WEIR_ROUTE_STICKY);
	assert_int_equal(explain(rig, 7, 1099).pinned, 0);
	assert_int_equal(explain(rig, 7, 1100).route, WEIR_ROUTE_ASKS);
	assert_int_equal(explain(rig, 8, 1000).route, WEIR_ROUTE_ASKS);
	rig_destroy(rig);
}

static void
refusing_dispatcher_refuses_whatever_the_bucket(void **state)
{
	struct weir_config config = order_config("first", 2);
	struct rig *rig;

	(void)state;
	config.overflow = "reject";
	config.lane_size = 1;
	rig = rig_create(&config, 64);
	assert_int_equal(dispatch_buckets(rig, 7), 1);
	assert_int_equal(dispatch_buckets(rig, 8), 0);
	rig_hold(rig, 0);
	assert_int_equal(explain(rig, 9, 0).route, WEIR_ROUTE_REFUSED);
	rig_destroy(rig);
}

static void
pool_without_a_routable_worker_loses_the_packet(void **state)
{
	struct rig *rig = order_rig("round-robin", 1, 64);

	(void)state;
	order_remove(rig, 0);
	rig_harvest(rig);
	assert_int_equal(explain(rig, 7, 0).route, WEIR_ROUTE_LOST);
	assert_int_equal(explain(rig, 7, 0).n_routable, 0);
	rig_destroy(rig);
}

static void
without_order_every_packet_asks(void **state)
{
	struct weir_config config = rig_config("round-robin", 3);
	struct rig *rig = rig_create(&config, 64);
	struct weir_explanation why;

	(void)state;
	assert_int_equal(dispatch_buckets(rig, 7), 1);
	why = explain(rig, 7, 0);
	assert_int_equal(why.route, WEIR_ROUTE_ASKS);
	assert_int_equal(why.pinned, WEIR_WORKER_NONE);
	assert_int_equal(why.index, 1);
	rig_destroy(rig);
}

/* What happened must be what was explained. */
static void
assert_came_true(const struct rig *rig, const struct weir_explanation *why, uint64_t index_before)
{
	const struct rig_packet *packet = rig_last(rig, 1);
	const uint64_t asked = order_index(rig) - index_before;

	assert_int_equal(why->index, index_before);
	switch (why->route) {
	case WEIR_ROUTE_ASKS:
		assert_int_equal(asked, 1);
		break;
	case WEIR_ROUTE_PINNED:
	case WEIR_ROUTE_STICKY:
		assert_int_equal(asked, 0);
		assert_int_equal(packet->charged, why->pinned);
		break;
	case WEIR_ROUTE_HELD_BEHIND:
	case WEIR_ROUTE_HELD_UNROUTABLE:
	case WEIR_ROUTE_HELD_OTHER_OWNER:
		assert_int_equal(asked, 0);
		assert_int_equal(packet->charged, WEIR_WORKER_NONE);
		break;
	default:
		fail_msg("route %d", why->route);
	}
}

/* A worker does something, and now and then worker 0 leaves or comes back. */
static void
step_live(struct rig *rig, const uint32_t draw[3], bool *away)
{
	rig_work(rig, (weir_worker_id)draw[0], draw[1]);
	if (draw[2] == 0) {
		if (*away)
			order_add(rig, 0);
		else
			order_remove(rig, 0);
		*away = !*away;
	}
	rig_harvest(rig);
}

/* The same random life of two rigs; only what happens to the first is explained before. */
static void
live_twice(struct rig *rigs[2], struct test_random *random, uint64_t *routes)
{
	bool away[2] = { false, false };

	for (uint32_t i = 0; i < RANDOM_PACKETS; i++) {
		const uint16_t bucket = (uint16_t)test_random_below(random, RANDOM_BUCKETS);
		const uint32_t draw[3] = { test_random_below(random, rigs[0]->config.n_workers),
			test_random_below(random, 3), test_random_below(random, 64) };
		struct weir_explanation why;
		uint64_t index;

		for (uint32_t k = 0; k < 2; k++) {
			step_live(rigs[k], draw, &away[k]);
			rigs[k]->time_ns = i + 1;
		}
		why = explain(rigs[0], bucket, i + 1);
		routes[why.route]++;
		index = order_index(rigs[0]);
		for (uint32_t k = 0; k < 2; k++)
			rig_dispatch_buckets(rigs[k], 0, &bucket, 1);
		assert_came_true(rigs[0], &why, index);
		assert_int_equal(rig_last(rigs[0], 1)->charged, rig_last(rigs[1], 1)->charged);
	}
}

static void
explaining_changes_nothing_and_comes_true(void **state)
{
	static const char *const strategies[] = { "shallowest", "random", "rendezvous" };
	static const uint64_t sticky_ns[] = { 0, 40 };
	struct test_random random = test_random_start("why");
	uint64_t routes[WEIR_ROUTE_COUNT] = { 0 };

	(void)state;
	for (size_t s = 0; s < ARRAY_LENGTH(strategies); s++) {
		for (size_t t = 0; t < ARRAY_LENGTH(sticky_ns); t++) {
			struct weir_config config = order_config(strategies[s], 4);
			struct rig *rigs[2];

			config.sticky_ns = sticky_ns[t];
			for (uint32_t k = 0; k < 2; k++)
				rigs[k] = rig_create(&config, RANDOM_PACKETS);
			live_twice(rigs, &random, routes);
			for (uint32_t k = 0; k < 2; k++)
				rig_destroy(rigs[k]);
		}
	}
	/* A test that has not met a route has not tested it. */
	for (uint32_t i = WEIR_ROUTE_ASKS; i <= WEIR_ROUTE_HELD_OTHER_OWNER; i++)
		assert_true(routes[i] > 0);
}

/* What weir_explain says of a packet of class `class_id`. */
static struct weir_explanation
explain_class(const struct rig *rig, uint8_t class_id)
{
	const struct weir_meta meta = { .class_id = class_id };
	struct weir_explanation why;

	weir_explain(rig->dispatcher[0].dispatcher, &meta, &why);
	return why;
}

static void
class_tells_its_action_and_who_is_asked(void **state)
{
	static const struct weir_class classes[] = { { .action = WEIR_ACTION_DROP },
		{ .action = WEIR_ACTION_DIVERT }, { .strategy = "round-robin" },
		{ .strategy = "broadcast" }, { .police_pps = 1 } };
	struct weir_config config = rig_config("first", 3);
	struct rig *rig;

	(void)state;
	config.classes = classes;
	config.n_classes = ARRAY_LENGTH(classes);
	rig = rig_create(&config, 64);
	assert_int_equal(explain_class(rig, 1).route, WEIR_ROUTE_DROPPED);
	assert_int_equal(explain_class(rig, 1).reason, WEIR_REASON_RULE_DROP);
	assert_int_equal(explain_class(rig, 1).action, WEIR_ACTION_DROP);
	assert_int_equal(explain_class(rig, 2).route, WEIR_ROUTE_DIVERTED);
	assert_int_equal(explain_class(rig, 3).route, WEIR_ROUTE_ASKS);
	assert_string_equal(explain_class(rig, 3).strategy, "round-robin");
	assert_null(explain_class(rig, 3).fallback);
	assert_int_equal(explain_class(rig, 4).route, WEIR_ROUTE_ALL);
	assert_string_equal(explain_class(rig, 200).strategy, "first");
	rig->class_id = 3;
	assert_int_equal(rig_dispatch(rig, 2), 2);
	assert_int_equal(explain_class(rig, 3).index, 2);
	assert_int_equal(explain_class(rig, 0).index, 0);
	assert_int_equal(explain_class(rig, 5).route, WEIR_ROUTE_ASKS);
	rig->class_id = 5;
	assert_int_equal(rig_dispatch(rig, 1), 1);
	assert_int_equal(explain_class(rig, 5).route, WEIR_ROUTE_DROPPED);
	assert_int_equal(explain_class(rig, 5).reason, WEIR_REASON_RATE_LIMITED);
	rig_destroy(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(class_tells_its_action_and_who_is_asked),
		cmocka_unit_test(idle_bucket_asks_for_the_next_message),
		cmocka_unit_test(bucket_with_packets_out_is_pinned_and_tells_how_many),
		cmocka_unit_test(depths_are_those_of_the_routable_workers_in_pool_order),
		cmocka_unit_test(bucket_of_a_worker_that_left_is_held_and_so_is_what_follows),
		cmocka_unit_test(bucket_out_at_its_former_owner_is_held),
		cmocka_unit_test(sticky_bucket_sticks_until_it_was_silent_long_enough),
		cmocka_unit_test(refusing_dispatcher_refuses_whatever_the_bucket),
		cmocka_unit_test(pool_without_a_routable_worker_loses_the_packet),
		cmocka_unit_test(without_order_every_packet_asks),
		cmocka_unit_test(explaining_changes_nothing_and_comes_true),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
