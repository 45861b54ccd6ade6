/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A19: what is lent is what was given, but for the numbers of shards, and the mark of copies that
 * have none; who goes to one worker, or to all without numbers, is shard 0 of 1 (X10).
 */
#include "test.h"

#include "rig.h"

/* Metadata of all kinds, each field with a value of its own. */
static struct weir_meta
meta_draw(struct test_random *random)
{
	return (struct weir_meta) {
		.time_ns = test_random_next(random),
		.hash = test_random_next(random),
		.length = (uint32_t)test_random_next(random),
		.segment_length = (uint32_t)test_random_next(random),
		.bucket = (uint16_t)test_random_next(random),
		.port = (uint8_t)test_random_next(random),
		.flow_reason = (uint8_t)test_random_next(random),
		.flags = (uint8_t)test_random_next(random) & WEIR_META_CHAIN,
		.class_id = (uint8_t)test_random_next(random),
	};
}

struct tested {
	uint8_t payload[64];
	struct weir_meta meta;
	uint32_t n_ended;
};

static void
count_ended(void *context, void *const *packets, const struct weir_verdict *verdicts, uint32_t n,
	weir_worker_id worker)
{
	(void)context;
	(void)verdicts;
	(void)worker;
	for (uint32_t i = 0; i < n; i++)
		((struct tested *)packets[i])->n_ended++;
}

/* All share one payload, as clones do. */
static uint32_t
copy_by_reference(void *context, void *packet, uint32_t n, void **copies, void **data)
{
	(void)context;
	for (uint32_t i = 0; i < n; i++) {
		copies[i] = packet;
		data[i] = ((struct tested *)packet)->payload;
	}
	return n;
}

/* Worker `id` compares what it sees with what was given. Returns how many it saw. */
static uint32_t
worker_compare(struct weir_pool *pool, weir_worker_id id, bool is_all, bool numbered)
{
	struct weir_worker *worker = weir_pool_worker(pool, id);
	const struct weir_verdict verdict = weir_verdict_consumed();
	struct weir_packet packet;
	uint32_t n = 0;

	while (weir_take(worker, &packet, 1) == 1) {
		const struct tested *tested = (const struct tested *)(const void *)packet.data;
		struct weir_meta expected = tested->meta;

		expected.shard_index = (uint8_t)(numbered ? id : 0);
		expected.shard_last = numbered ? 2 : 0;
		expected.flags |= is_all && !numbered ? WEIR_META_COPY : 0;
		assert_memory_equal(&packet.meta, &expected, sizeof(expected));
		for (uint32_t i = 0; i < sizeof(tested->payload); i++)
			assert_int_equal(tested->payload[i], (uint8_t)(tested->meta.hash + i));
		weir_complete(worker, &verdict, 1);
		n++;
	}
	return n;
}

static void
strategy_check(
	const struct weir_strategy *strategy, enum weir_order order, struct test_random *random)
{
	struct weir_config config = weir_config_default();
	struct weir_dispatcher *d;
	struct weir_pool *pool;
	struct tested tested[32] = { 0 };
	const void *handles[32];
	struct weir_meta meta[32];
	const bool is_all = strategy->flags & WEIR_STRATEGY_ALL_TARGETS;
	uint32_t n = 0;

	config.n_workers = 3;
	config.strategy = strategy->name;
	config.fallback = strategy->flags & WEIR_STRATEGY_FINDS_NONE ? "round-robin" : NULL;
	config.order = order;
	config.hold_size = 64;
	pool = weir_pool_create(&config, NULL);
	assert_non_null(pool);
	d = weir_dispatcher_create(pool, 0, count_ended, NULL);
	assert_non_null(d);
	if (is_all)
		weir_copy_set(d, copy_by_reference);
	for (uint32_t i = 0; i < 32; i++) {
		meta[i] = tested[i].meta = meta_draw(random);
		for (uint32_t b = 0; b < sizeof(tested[i].payload); b++)
			tested[i].payload[b] = (uint8_t)(meta[i].hash + b);
		handles[i] = &tested[i];
	}
	assert_int_equal(
		weir_dispatch(d,
			&(const struct weir_burst) {
				.packets = (void *const *)handles, .meta = meta, .n = 32 }),
		32);
	for (weir_worker_id id = 0; id < 3; id++)
		n += worker_compare(pool, id, is_all, strategy->flags & WEIR_STRATEGY_SHARDS);
	assert_int_equal(n, is_all ? 96 : 32);
	weir_harvest(d);
	for (uint32_t i = 0; i < 32; i++) {
		assert_int_equal(tested[i].n_ended, is_all ? 3 : 1);
		assert_memory_equal(&meta[i], &tested[i].meta, sizeof(meta[i]));
	}
	weir_dispatcher_destroy(d);
	weir_pool_destroy(pool);
}

static void
a19_payload_and_metadata_are_unchanged_under_every_strategy(void **state)
{
	struct test_random random = test_random_start(__func__);

	(void)state;
	for (unsigned int i = 0; weir_strategy_at(i); i++) {
		strategy_check(weir_strategy_at(i), WEIR_ORDER_NONE, &random);
		strategy_check(weir_strategy_at(i), WEIR_ORDER_FLOW, &random);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a19_payload_and_metadata_are_unchanged_under_every_strategy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
