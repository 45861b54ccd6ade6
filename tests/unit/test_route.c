/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/decide: several strategies in one pool, and fallbacks of those that find no worker. */
#include "test.h"

#include "dispatcher.h"
#include "order_rig.h"

/* What the strategies of this test were asked. */
struct record {
	uint32_t n_calls;
	uint32_t n_picks;
	uint64_t index;
	uint32_t n_kept;
	uint32_t n_withdrawals;
};

/* Finds the first idle worker; keeps a record in its state. */
static void
idle_pick_burst(struct weir_pick_context *ctx, const struct weir_meta *meta, uint32_t n_picks,
	uint16_t *out)
{
	struct record *record = ctx->state;

	(void)meta;
	record->n_calls++;
	record->n_picks = n_picks;
	record->index = ctx->index;
	for (uint32_t i = 0; i < n_picks; i++) {
		out[i] = WEIR_PICK_NONE;
		for (uint32_t p = 0; p < ctx->n_routable && out[i] == WEIR_PICK_NONE; p++) {
			if (ctx->depth[p] == 0)
				out[i] = (uint16_t)p;
		}
		if (out[i] != WEIR_PICK_NONE)
			weir_pick_count(ctx, out[i]);
	}
}

static void
record_withdraw_picks(struct weir_pick_context *ctx, uint32_t n_kept)
{
	struct record *record = ctx->state;

	assert_true(n_kept < record->n_picks);
	assert_int_equal(ctx->index, record->index);
	record->n_kept = n_kept;
	record->n_withdrawals++;
}

static const struct weir_strategy idle = {
	.name = "idle",
	.help = "the first idle worker, or none",
	.flags = WEIR_STRATEGY_READS_DEPTH | WEIR_STRATEGY_FINDS_NONE,
	.state_bytes = sizeof(struct record),
	.none_reason = WEIR_REASON_ALL_BUSY,
	.pick_burst = idle_pick_burst,
	.withdraw_picks = record_withdraw_picks,
};

/* Rotates, and keeps a record. */
static void
turn_pick_burst(struct weir_pick_context *ctx, const struct weir_meta *meta, uint32_t n_picks,
	uint16_t *out)
{
	struct record *record = ctx->state;
	uint32_t rotation = ctx->rotation;

	record->n_calls++;
	record->n_picks = n_picks;
	record->index = ctx->index;
	for (uint32_t i = 0; i < n_picks; i++) {
		/* The metadata of its packets lies in one piece, in their order. */
		assert_int_equal(meta[i * ctx->stride].class_id, meta[0].class_id);
		assert_true(i == 0 ||
			    meta[i * ctx->stride].time_ns > meta[(i - 1) * ctx->stride].time_ns);
		out[i] = (uint16_t)rotation;
		rotation = weir_pick_rotate(ctx, rotation);
	}
}

static const struct weir_strategy turn = {
	.name = "turn",
	.help = "each in turn",
	.flags = WEIR_STRATEGY_READS_META,
	.state_bytes = sizeof(struct record),
	.pick_burst = turn_pick_burst,
	.withdraw_picks = record_withdraw_picks,
};

static const struct weir_strategy *const own[] = { &idle, &turn };

static struct rig *
route_rig(struct weir_config config, const struct weir_class *classes, uint32_t n_classes)
{
	config.classes = classes;
	config.n_classes = n_classes;
	config.strategies = own;
	config.n_strategies = ARRAY_LENGTH(own);
	return rig_create(&config, 4096);
}

static const struct record *
record_of(const struct rig *rig, uint32_t part)
{
	return rig->dispatcher[0].dispatcher->part[part].state;
}

/* A burst whose packets are of the classes given; checks to whom each went. */
struct sent {
	uint8_t class_id;
	uint16_t bucket;
	weir_worker_id worker;
};

static uint32_t
send(struct rig *rig, const struct sent *sent, uint32_t n)
{
	struct rig_dispatcher *d = &rig->dispatcher[0];
	void *handles[64];
	void *data[64];
	struct weir_meta meta[64];
	weir_worker_id workers[64];
	const struct weir_burst burst = {
		.packets = handles, .data = data, .meta = meta, .n = n, .workers = workers
	};
	uint32_t taken;

	for (uint32_t i = 0; i < n; i++) {
		struct rig_packet *packet = &d->packets[d->n_packets];

		*packet = (struct rig_packet) { .id = d->n_packets, .payload = d->n_packets };
		packet->charged = packet->from = WEIR_WORKER_NONE;
		packet->owner = RIG_DISPATCHER;
		packet->meta.class_id = sent[i].class_id;
		packet->meta.bucket = sent[i].bucket;
		packet->meta.time_ns = ++d->n_packets;
		handles[i] = packet;
		data[i] = &packet->payload;
		meta[i] = packet->meta;
	}
	taken = weir_dispatch(d->dispatcher, &burst);
	for (uint32_t i = 0; i < taken; i++)
		assert_int_equal(workers[i], sent[i].worker);
	for (uint32_t i = taken; i < n; i++)
		((struct rig_packet *)handles[i])->owner = RIG_CALLER;
	d->n_abandoned += n - taken;
	rig_check(rig);
	return taken;
}

#define assert_sent(rig, ...)                                                                 \
	assert_int_equal(                                                                     \
		send(rig, (const struct sent[]) { __VA_ARGS__ },                              \
			sizeof((const struct sent[]) { __VA_ARGS__ }) / sizeof(struct sent)), \
		sizeof((const struct sent[]) { __VA_ARGS__ }) / sizeof(struct sent))

static void
a2_each_route_has_an_index_of_its_own(void **state)
{
	const struct weir_class classes[] = { { .strategy = "turn" }, { 0 },
		{ .strategy = "turn" } };
	struct rig *rig = route_rig(rig_config("round-robin", 3), classes, 3);

	(void)state;
	assert_sent(rig, { 0, 1, 0 }, { 1, 2, 0 }, { 1, 3, 1 }, { 2, 4, 1 }, { 3, 5, 0 },
		{ 1, 6, 2 }, { 0, 7, 2 }, { 3, 8, 1 });
	assert_int_equal(weir_message_index(rig->dispatcher[0].dispatcher), 3);
	assert_int_equal(rig_counters(rig, 0).routed, 8);
	/* Each was asked once for its packets. */
	assert_int_equal(record_of(rig, 2)->n_calls, 1);
	assert_int_equal(record_of(rig, 2)->n_picks, 3);
	assert_int_equal(record_of(rig, 4)->n_calls, 1);
	assert_sent(rig, { 1, 2, 0 }, { 3, 5, 2 }, { 0, 1, 0 });
	assert_int_equal(record_of(rig, 2)->index, 3);
	assert_int_equal(record_of(rig, 4)->index, 2);
	rig_destroy(rig);
}

/* A burst goes as its packets would, if they came singly: each route by its own index. */
static void
bursts_go_as_their_packets_would_one_by_one_route_by_route(void **state)
{
	const struct weir_class classes[] = { { .strategy = "round-robin" },
		{ .strategy = "random" }, { .strategy = "rendezvous" }, { .strategy = "first" } };
	struct test_random random = test_random_start(__func__);
	static const enum weir_order orders[] = { WEIR_ORDER_NONE, WEIR_ORDER_FLOW };

	(void)state;
	for (size_t o = 0; o < ARRAY_LENGTH(orders); o++) {
		struct weir_config config = rig_config("round-robin", 5);
		struct rig *burst;
		struct rig *singly;

		config.order = orders[o];
		config.lane_size = 4096;
		burst = route_rig(config, classes, 4);
		singly = route_rig(config, classes, 4);
		burst->draws_classes = singly->draws_classes = true;
		burst->n_buckets = singly->n_buckets = 50;
		for (uint32_t round = 0; round < 100; round++) {
			const uint32_t n = test_random_below(&random, 33);
			const weir_worker_id id = (weir_worker_id)test_random_below(&random, 5);

			assert_int_equal(rig_dispatch(burst, n), n);
			rig_harvest(singly);
			for (uint32_t i = 0; i < n; i++) {
				assert_int_equal(rig_dispatch(singly, 1), 1);
				assert_int_equal(rig_last(burst, n)[i].charged,
					rig_last(singly, 1)->charged);
			}
			rig_work(burst, id, 40);
			rig_work(singly, id, 40);
		}
		rig_destroy(burst);
		rig_destroy(singly);
	}
}

static void
who_reads_depth_sees_the_picks_of_routes_that_count_none(void **state)
{
	const struct weir_class classes[] = { { .strategy = "shallowest" } };
	struct rig *rig = route_rig(rig_config("first", 2), classes, 1);

	(void)state;
	assert_sent(rig, { 0, 1, 0 }, { 1, 2, 1 }, { 0, 3, 0 }, { 1, 4, 1 }, { 1, 5, 0 });
	rig_destroy(rig);
}

static void
x9_all_busy_ends_what_finds_nobody_in_its_place(void **state)
{
	struct rig *rig = route_rig(rig_config("idle", 2), NULL, 0);

	(void)state;
	assert_sent(rig, { 0, 1, 0 }, { 0, 2, 1 }, { 0, 3, WEIR_WORKER_NONE },
		{ 0, 4, WEIR_WORKER_NONE });
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_ALL_BUSY], 2);
	assert_int_equal(rig_worker_counters(rig, 0, 0).dropped[WEIR_REASON_ALL_BUSY], 0);
	assert_int_equal(weir_message_index(rig->dispatcher[0].dispatcher), 4);
	assert_int_equal(rig->dispatcher[0].ended[0]->id, 2);
	assert_int_equal(rig->dispatcher[0].ended[1]->id, 3);
	rig_destroy(rig);
}

static void
x9_the_fallback_gets_what_finds_nobody_by_its_own_index(void **state)
{
	struct weir_config config = rig_config("idle", 2);
	struct rig *rig;

	(void)state;
	config.fallback = "turn";
	rig = route_rig(config, NULL, 0);
	assert_sent(rig, { 0, 1, 0 }, { 0, 2, 1 }, { 0, 3, 0 }, { 0, 4, 1 }, { 0, 5, 0 });
	assert_sent(rig, { 0, 6, 1 }, { 0, 7, 0 });
	assert_int_equal(record_of(rig, 1)->n_calls, 2);
	assert_int_equal(record_of(rig, 1)->index, 3);
	assert_int_equal(weir_message_index(rig->dispatcher[0].dispatcher), 7);
	assert_int_equal(rig_counters(rig, 0).routed, 7);
	rig_destroy(rig);
}

static void
x0_with_nobody_routable_the_strategys_reason_is_told_and_the_pools_if_it_is_empty(void **state)
{
	const struct weir_class classes[] = { { .strategy = "idle" } };
	struct rig *rig = route_rig(rig_config("turn", 2), classes, 1);

	(void)state;
	for (weir_worker_id id = 0; id < 2; id++)
		assert_int_equal(weir_pool_set_state(rig->pool, id, WEIR_WORKER_STOPPED), 0);
	assert_sent(rig, { 1, 1, WEIR_WORKER_NONE }, { 0, 2, 0 }, { 0, 3, 1 },
		{ 1, 4, WEIR_WORKER_NONE });
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_ALL_BUSY], 2);
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_DEAD_WORKER], 2);
	for (weir_worker_id id = 0; id < 2; id++)
		assert_int_equal(weir_pool_remove(rig->pool, id), 0);
	assert_sent(rig, { 1, 1, WEIR_WORKER_NONE }, { 0, 2, WEIR_WORKER_NONE });
	assert_int_equal(rig_ledger(rig).dropped[WEIR_REASON_NO_ROUTE], 2);
	assert_int_equal(weir_message_index(rig->dispatcher[0].dispatcher), 3);
	rig_destroy(rig);
}

static void
buckets_of_several_routes_stay_together_while_they_are_out(void **state)
{
	const struct weir_class classes[] = { { .strategy = "turn" } };
	struct rig *rig = route_rig(order_config("round-robin", 3), classes, 1);

	(void)state;
	/* The first of the bucket asks, whatever its route. */
	assert_sent(rig, { 1, 7, 0 }, { 0, 7, 0 }, { 0, 8, 0 }, { 1, 8, 0 }, { 1, 9, 1 });
	assert_sent(rig, { 0, 9, 1 }, { 1, 7, 0 });
	assert_int_equal(weir_message_index(rig->dispatcher[0].dispatcher), 1);
	rig_destroy(rig);
}

static void
withdrawn_picks_are_told_exactly_to_each_route(void **state)
{
	const struct weir_class classes[] = { { .strategy = "turn" } };
	struct weir_config config = rig_config("turn", 2);
	struct rig *rig;

	(void)state;
	config.lane_size = 2;
	config.overflow = "reject";
	rig = route_rig(config, classes, 1);
	/* Lanes of two: the fifth packet is refused. */
	assert_int_equal(send(rig,
				 (const struct sent[]) { { 0, 1, 0 }, { 1, 2, 0 }, { 0, 3, 1 },
					 { 1, 4, 1 }, { 1, 5, 0 }, { 0, 6, 0 }, { 0, 7, 0 } },
				 7),
		4);
	assert_int_equal(record_of(rig, 0)->n_picks, 4);
	assert_int_equal(record_of(rig, 0)->n_kept, 2);
	assert_int_equal(record_of(rig, 2)->n_picks, 3);
	assert_int_equal(record_of(rig, 2)->n_kept, 2);
	assert_int_equal(weir_message_index(rig->dispatcher[0].dispatcher), 2);
	assert_int_equal(rig->dispatcher[0].dispatcher->part[2].index, 2);
	rig_destroy(rig);
}

static void
withdrawn_picks_are_told_in_chunks(void **state)
{
	static const uint32_t routes[] = { 0, 1 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(routes); i++) {
		const struct weir_class classes[] = { { .strategy = "turn" } };
		struct weir_config config = rig_config("turn", 2);
		struct rig *rig;

		config.lane_size = 5;
		config.chunk = 3;
		config.overflow = "reject";
		/* One route, and the same with another that no packet is of. */
		rig = route_rig(config, classes, routes[i]);
		/* Chunks of 3 for 0, 1, 0 and so on: the last packet of the third finds no room. */
		assert_int_equal(rig_dispatch(rig, 16), 8);
		assert_int_equal(record_of(rig, 0)->n_picks, 6);
		assert_int_equal(record_of(rig, 0)->n_kept, 3);
		assert_int_equal(record_of(rig, 0)->n_withdrawals, 1);
		rig_destroy(rig);
	}
}

/* N15: what waits for a budget was not picked, as far as strategies know. */
static void
picks_that_wait_for_a_budget_are_taken_back(void **state)
{
	(void)state;
	for (uint32_t n_classes = 0; n_classes < 2; n_classes++) {
		const struct weir_class classes[] = { { .strategy = "turn" } };
		struct weir_config config = rig_config("turn", 2);
		struct rig *rig;

		config.budget_pkts = 2;
		config.hold_size = 64;
		rig = route_rig(config, classes, n_classes);
		assert_int_equal(rig_dispatch(rig, 7), 7);
		assert_int_equal(weir_held(rig->dispatcher[0].dispatcher), 3);
		assert_int_equal(record_of(rig, 0)->n_picks, 7);
		assert_int_equal(record_of(rig, 0)->n_kept, 4);
		assert_int_equal(record_of(rig, 0)->n_withdrawals, 1);
		assert_int_equal(weir_message_index(rig->dispatcher[0].dispatcher), 4);
		rig_destroy(rig);
	}
}

/* The fallback's picks wait, too, and its index does not count them. */
static void
fallback_keeps_to_the_budget(void **state)
{
	struct weir_config config = rig_config("idle", 2);
	struct rig *rig;

	(void)state;
	config.fallback = "turn";
	config.budget_pkts = 2;
	config.hold_size = 64;
	rig = route_rig(config, NULL, 0);
	assert_sent(rig, { 0, 1, 0 }, { 0, 2, 1 }, { 0, 3, 0 }, { 0, 4, 1 },
		{ 0, 5, WEIR_WORKER_NONE }, { 0, 6, WEIR_WORKER_NONE });
	assert_int_equal(rig->dispatcher[0].dispatcher->part[1].index, 2);
	assert_int_equal(record_of(rig, 1)->n_kept, 2);
	assert_int_equal(weir_message_index(rig->dispatcher[0].dispatcher), 4);
	order_bring_home(rig, 1, 1);
	/* By the fallback's own rotation it would be worker 0, which has no budget left. */
	assert_int_equal(rig_depth(rig, 1), 2);
	assert_int_equal(rig->dispatcher[0].dispatcher->part[1].index, 3);
	rig_destroy(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a2_each_route_has_an_index_of_its_own),
		cmocka_unit_test(bursts_go_as_their_packets_would_one_by_one_route_by_route),
		cmocka_unit_test(who_reads_depth_sees_the_picks_of_routes_that_count_none),
		cmocka_unit_test(x9_all_busy_ends_what_finds_nobody_in_its_place),
		cmocka_unit_test(x9_the_fallback_gets_what_finds_nobody_by_its_own_index),
		cmocka_unit_test(
			x0_with_nobody_routable_the_strategys_reason_is_told_and_the_pools_if_it_is_empty),
		cmocka_unit_test(buckets_of_several_routes_stay_together_while_they_are_out),
		cmocka_unit_test(withdrawn_picks_are_told_exactly_to_each_route),
		cmocka_unit_test(withdrawn_picks_are_told_in_chunks),
		cmocka_unit_test(picks_that_wait_for_a_budget_are_taken_back),
		cmocka_unit_test(fallback_keeps_to_the_budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
