/* SPDX-License-Identifier: BSD-3-Clause */
/* failover: one worker has everything; who it is follows health at once, both ways. */
#include "test.h"

#include "pick.h"
#include "rig.h"

static void
worker_bring_back(struct rig *rig, weir_worker_id id)
{
	assert_int_equal(weir_pool_add(rig->pool, id), 0);
	assert_int_equal(weir_pool_set_state(rig->pool, id, WEIR_WORKER_READY), 0);
}

static void
x8_everything_goes_to_the_first_worker_whatever_its_depth(void **state)
{
	const struct weir_config config = rig_config("failover", 3);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_routes(rig, 0, 0, 0, 0);
	assert_routes_singly(rig, 0, 0, 0, 0);
	assert_int_equal(rig_depth(rig, 0), 8);
	rig_destroy(rig);
}

static void
x8_with_the_first_dead_the_second_has_everything(void **state)
{
	const struct weir_config config = rig_config("failover", 3);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_int_equal(weir_pool_set_state(rig->pool, 0, WEIR_WORKER_STOPPED), 0);
	assert_routes(rig, 1, 1);
	assert_int_equal(weir_pool_remove(rig->pool, 0), 0);
	assert_routes(rig, 1, 1);
	assert_int_equal(weir_pool_set_state(rig->pool, 1, WEIR_WORKER_DRAINING), 0);
	assert_routes(rig, 2);
	rig_destroy(rig);
}

static void
x8_the_next_packet_after_the_first_has_recovered_goes_back_to_it(void **state)
{
	const struct weir_config config = rig_config("failover", 3);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_int_equal(weir_pool_remove(rig->pool, 0), 0);
	assert_int_equal(weir_pool_remove(rig->pool, 1), 0);
	assert_routes(rig, 2, 2);
	worker_bring_back(rig, 1);
	assert_routes(rig, 1, 1);
	worker_bring_back(rig, 0);
	assert_routes(rig, 0, 0);
	rig_destroy(rig);
}

static void
x8_with_order_flow_a_flow_fails_back_once_its_packets_are_home(void **state)
{
	struct weir_config config = rig_config("failover", 2);
	struct rig *rig;

	(void)state;
	config.order = WEIR_ORDER_FLOW;
	config.hold_size = 16;
	rig = rig_create(&config, 64);
	rig->bucket = 7;
	assert_int_equal(weir_pool_remove(rig->pool, 0), 0);
	assert_routes(rig, 1, 1);
	worker_bring_back(rig, 0);
	assert_routes(rig, 1);
	rig->bucket = 8;
	assert_routes(rig, 0);
	rig->bucket = 7;
	assert_int_equal(rig_work(rig, 1, UINT32_MAX), 3);
	assert_routes(rig, 0);
	rig_destroy(rig);
}

static void
x8_with_none_routable_the_reason_is_no_route(void **state)
{
	const struct weir_strategy *strategy = weir_strategy_find("failover");

	(void)state;
	assert_int_equal(strategy->none_reason, WEIR_REASON_NO_ROUTE);
	/* It is not asked then: when it is, it always finds one. */
	assert_int_equal(strategy->flags & WEIR_STRATEGY_FINDS_NONE, 0);
}

static void
xb11_a_pick_reads_no_worker_however_many_are_dead(void **state)
{
	const struct weir_config config = rig_config("failover", 64);
	struct rig *rig = rig_create(&config, 64);

	(void)state;
	assert_routes_singly(rig, 0, 0);
	for (weir_worker_id id = 0; id < 63; id++)
		assert_int_equal(weir_pool_set_state(rig->pool, id, WEIR_WORKER_STOPPED), 0);
	rig_work(rig, 0, UINT32_MAX);
	rig_harvest(rig);
	/* The harvest reads who has something of ours: the one that did a moment ago. */
	const uint64_t line_reads = rig_counters(rig, 0).line_reads;

	assert_routes_singly(rig, 63, 63);
	assert_int_equal(rig_counters(rig, 0).depth_visits, 0);
	assert_in_range(rig_counters(rig, 0).line_reads - line_reads, 0, 2);
	rig_destroy(rig);
}

static void
the_order_of_preference_is_that_of_the_ids(void **state)
{
	static const weir_worker_id ids[] = { 9, 4, 200, 3, 77 };
	struct pick *pick = pick_create_for("failover", ids, ARRAY_LENGTH(ids));

	(void)state;
	assert_picks(pick, 0, 3, 3, 3, 3, 3, 3);
	pick_set_stride(pick, 7);
	pick_burst(pick, 32);
	for (uint32_t i = 0; i < 32; i++)
		assert_int_equal(pick->out[i], 3);
	pick_destroy(pick);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x8_everything_goes_to_the_first_worker_whatever_its_depth),
		cmocka_unit_test(x8_with_the_first_dead_the_second_has_everything),
		cmocka_unit_test(x8_the_next_packet_after_the_first_has_recovered_goes_back_to_it),
		cmocka_unit_test(x8_with_order_flow_a_flow_fails_back_once_its_packets_are_home),
		cmocka_unit_test(x8_with_none_routable_the_reason_is_no_route),
		cmocka_unit_test(xb11_a_pick_reads_no_worker_however_many_are_dead),
		cmocka_unit_test(the_order_of_preference_is_that_of_the_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
