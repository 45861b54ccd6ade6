/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/pool: which configurations are accepted, and what is said of the others. */
#include "test.h"

#include <weir/weir.h>

/* Asserts that `config` is refused, by the check and by creation, and names field and value. */
static struct weir_config_error
assert_refused(const struct weir_config *config, const char *field, const char *value)
{
	struct weir_config_error error;
	struct weir_config_error again;

	assert_int_equal(weir_config_check(config, &error), -EINVAL);
	assert_string_equal(error.field, field);
	assert_string_equal(error.value, value);
	assert_true(strlen(error.allowed) > 0);
	assert_int_equal(weir_config_check(config, NULL), -EINVAL);
	errno = 0;
	assert_null(weir_pool_create(config, &again));
	assert_int_equal(errno, EINVAL);
	assert_string_equal(again.field, field);
	assert_string_equal(again.value, value);
	assert_null(weir_pool_create(config, NULL));
	return error;
}

static void
assert_accepted(const struct weir_config *config)
{
	struct weir_config_error error;

	assert_int_equal(weir_config_check(config, &error), 0);
}

static void
default_configuration_is_as_documented(void **state)
{
	const struct weir_config config = weir_config_default();

	(void)state;
	assert_accepted(&config);
	assert_int_equal(config.n_workers, 4);
	assert_int_equal(config.n_dispatchers, 1);
	assert_int_equal(config.lane_size, 512);
	assert_int_equal(config.burst, 32);
	assert_int_equal(config.chunk, 1);
	assert_int_equal(config.hold_size, 0);
	assert_int_equal(config.depth_mode, WEIR_DEPTH_OUTSTANDING);
	assert_int_equal(config.order, WEIR_ORDER_NONE);
	assert_int_equal(config.sticky_ns, 0);
	assert_string_equal(config.strategy, "shallowest");
	assert_true(config.lend_metadata);
}

static void
m3_default_policy_is_drop_new(void **state)
{
	(void)state;
	assert_string_equal(weir_config_default().overflow, "drop-new");
}

static void
a1_no_workers_is_refused_naming_field_and_value(void **state)
{
	struct weir_config config = weir_config_default();

	(void)state;
	config.n_workers = 0;
	assert_string_equal(assert_refused(&config, "n_workers", "0").allowed, "1 to 256");
}

static void
a1_minus_one_worker_is_refused(void **state)
{
	struct weir_config config = weir_config_default();

	(void)state;
	config.n_workers = (uint32_t)-1;
	assert_refused(&config, "n_workers", "4294967295");
}

static void
a1_more_workers_than_a_pool_can_hold_are_refused(void **state)
{
	struct weir_config config = weir_config_default();

	(void)state;
	config.n_workers = WEIR_WORKERS_MAX;
	assert_accepted(&config);
	config.n_workers = WEIR_WORKERS_MAX + 1;
	assert_refused(&config, "n_workers", "257");
}

/* Every number: its least and greatest value are accepted, one beyond each is refused. */
static void
a1_every_range_is_exact_at_both_ends(void **state)
{
	static const struct {
		const char *field;
		size_t offset;
		uint32_t min;
		uint32_t max;
	} rows[] = {
		{ "n_workers", offsetof(struct weir_config, n_workers), 1, 256 },
		{ "n_dispatchers", offsetof(struct weir_config, n_dispatchers), 1, 14 },
		{ "lane_size", offsetof(struct weir_config, lane_size), 1, 65535 },
		{ "burst", offsetof(struct weir_config, burst), 1, 256 },
		{ "chunk", offsetof(struct weir_config, chunk), 1, 256 },
		{ "hold_size", offsetof(struct weir_config, hold_size), 0, 65535 },
	};
	char value[16];

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct weir_config config = weir_config_default();
		uint32_t *number = (uint32_t *)(void *)((char *)&config + rows[i].offset);

		*number = rows[i].min;
		assert_accepted(&config);
		*number = rows[i].max;
		assert_accepted(&config);
		*number = rows[i].max + 1;
		snprintf(value, sizeof(value), "%u", *number);
		assert_refused(&config, rows[i].field, value);
		if (rows[i].min > 0) {
			*number = rows[i].min - 1;
			snprintf(value, sizeof(value), "%u", *number);
			assert_refused(&config, rows[i].field, value);
		}
	}
}

static void
m3_policy_without_capacity_is_refused_naming_the_capacity(void **state)
{
	struct weir_config config = weir_config_default();

	(void)state;
	for (unsigned int i = 0; weir_overflow_at(i); i++) {
		config.overflow = weir_overflow_at(i)->name;
		config.lane_size = 0;
		assert_refused(&config, "lane_size", "0");
	}
}

static void
m3_unknown_policy_is_refused_naming_overflow_and_all_policies(void **state)
{
	struct weir_config config = weir_config_default();
	struct weir_config_error error;

	(void)state;
	config.overflow = "drop-all";
	error = assert_refused(&config, "overflow", "drop-all");
	for (unsigned int i = 0; weir_overflow_at(i); i++)
		assert_non_null(strstr(error.allowed, weir_overflow_at(i)->name));
}

static void
x0_unknown_strategy_is_refused_naming_all_strategies(void **state)
{
	static const char *const wrong[] = { "", "shallow", "shallowest ", "Shallowest", "rr" };
	struct weir_config config = weir_config_default();

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(wrong); i++) {
		struct weir_config_error error;

		config.strategy = wrong[i];
		error = assert_refused(&config, "strategy", wrong[i]);
		for (unsigned int j = 0; weir_strategy_at(j); j++)
			assert_non_null(strstr(error.allowed, weir_strategy_at(j)->name));
	}
}

static void
missing_names_are_refused(void **state)
{
	struct weir_config config = weir_config_default();

	(void)state;
	config.strategy = NULL;
	assert_refused(&config, "strategy", "(null)");
	config = weir_config_default();
	config.overflow = NULL;
	assert_refused(&config, "overflow", "(null)");
}

static void
long_value_is_cut_not_overrun(void **state)
{
	struct weir_config config = weir_config_default();
	struct weir_config_error error;
	char name[1000];

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	config.strategy = name;
	assert_int_equal(weir_config_check(&config, &error), -EINVAL);
	assert_int_equal(strlen(error.value), sizeof(error.value) - 1);
	assert_memory_equal(error.value, name, sizeof(error.value) - 1);
}

static void
chunk_is_refused_for_strategies_that_own_flows(void **state)
{
	(void)state;
	for (unsigned int i = 0; weir_strategy_at(i); i++) {
		struct weir_config config = weir_config_default();

		config.strategy = weir_strategy_at(i)->name;
		config.chunk = 8;
		if (weir_strategy_at(i)->flags & WEIR_STRATEGY_OWNS_FLOWS)
			assert_refused(&config, "chunk", "8");
		else
			assert_accepted(&config);
		config.chunk = 1;
		assert_accepted(&config);
	}
}

static void
unknown_depth_mode_is_refused(void **state)
{
	struct weir_config config = weir_config_default();

	(void)state;
	config.depth_mode = WEIR_DEPTH_QUEUED;
	assert_accepted(&config);
	config.depth_mode = (enum weir_depth_mode)2;
	assert_refused(&config, "depth_mode", "2");
}

static void
unknown_order_is_refused(void **state)
{
	struct weir_config config = weir_config_default();
	struct weir_config_error error;

	(void)state;
	config.order = WEIR_ORDER_FLOW;
	assert_accepted(&config);
	config.order = (enum weir_order)2;
	error = assert_refused(&config, "order", "2");
	assert_non_null(strstr(error.allowed, "WEIR_ORDER_NONE"));
	assert_non_null(strstr(error.allowed, "WEIR_ORDER_FLOW"));
}

static void
stickiness_without_order_is_refused(void **state)
{
	struct weir_config config = weir_config_default();

	(void)state;
	config.order = WEIR_ORDER_FLOW;
	config.sticky_ns = INT64_MAX;
	assert_accepted(&config);
	config.sticky_ns++;
	assert_refused(&config, "sticky_ns", "9223372036854775808");
	config.sticky_ns--;
	config.order = WEIR_ORDER_NONE;
	assert_refused(&config, "sticky_ns", "9223372036854775807");
	config.sticky_ns = 0;
	assert_accepted(&config);
}

/* Every strategy and policy goes with order flow. */
static void
order_flow_is_accepted_with_every_strategy_and_policy(void **state)
{
	struct weir_config config = weir_config_default();

	(void)state;
	config.order = WEIR_ORDER_FLOW;
	for (unsigned int s = 0; weir_strategy_at(s); s++) {
		for (unsigned int p = 0; weir_overflow_at(p); p++) {
			config.strategy = weir_strategy_at(s)->name;
			config.overflow = weir_overflow_at(p)->name;
			/* Who counts packets by their places in lanes bears no eviction. */
			if (weir_overflow_at(p)->evicts &&
				(weir_strategy_at(s)->flags & WEIR_STRATEGY_READS_CLASS_DEPTH))
				assert_refused(&config, "overflow", config.overflow);
			else
				assert_accepted(&config);
		}
	}
}

static void
eviction_is_refused_beside_what_counts_places_in_lanes(void **state)
{
	struct weir_class class = { .admission = WEIR_ADMIT_DISCARD_LATER };
	struct weir_config config = weir_config_default();

	(void)state;
	config.overflow = "drop-head";
	assert_accepted(&config);
	config.budget_pkts = 2;
	assert_refused(&config, "overflow", "drop-head");
	config.budget_pkts = 0;
	config.classes = &class;
	config.n_classes = 1;
	assert_refused(&config, "overflow", "drop-head");
	class = (struct weir_class) { .overflow = "drop-head" };
	config.overflow = "reject";
	assert_accepted(&config);
	config.budget_pkts = 2;
	assert_refused(&config, "classes[0].overflow", "drop-head");
}

/* A fallback that counts, behind a strategy that does not: no registered one is such. */
static void
eviction_is_refused_beside_a_fallback_that_counts(void **state)
{
	static const struct weir_strategy finder = {
		.name = "finder",
		.flags = WEIR_STRATEGY_FINDS_NONE,
		.none_reason = WEIR_REASON_NO_ROUTE,
	};
	static const struct weir_strategy counter = {
		.name = "counter",
		.flags = WEIR_STRATEGY_READS_META | WEIR_STRATEGY_READS_CLASS_DEPTH,
	};
	const struct weir_strategy *const strategies[] = { &finder, &counter };
	struct weir_class class = { .strategy = "finder", .fallback = "counter" };
	struct weir_config config = weir_config_default();

	(void)state;
	config.strategies = strategies;
	config.n_strategies = 2;
	config.strategy = "finder";
	config.fallback = "counter";
	assert_accepted(&config);
	config.overflow = "drop-head";
	assert_refused(&config, "overflow", "drop-head");
	config.fallback = NULL;
	assert_accepted(&config);
	config.classes = &class;
	config.n_classes = 1;
	assert_refused(&config, "overflow", "drop-head");
}

static void
shared_pool_must_say_where_its_packets_are(void **state)
{
	struct weir_config config = weir_config_default();

	(void)state;
	config.is_shared = true;
	assert_refused(&config, "data_base", "(null)");
	config.data_base = &config;
	assert_refused(&config, "data_bytes", "0");
	config.data_bytes = SIZE_MAX;
	assert_refused(&config, "data_bytes", "18446744073709551615");
	config.data_bytes = sizeof(config);
	assert_accepted(&config);
}

static void
pool_that_is_not_shared_must_not(void **state)
{
	struct weir_config config = weir_config_default();

	(void)state;
	config.data_bytes = 4096;
	assert_refused(&config, "data_bytes", "4096");
	config.data_base = &config;
	assert_refused(&config, "data_base", "an address");
	config.data_bytes = 0;
	assert_refused(&config, "data_base", "an address");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(default_configuration_is_as_documented),
		cmocka_unit_test(m3_default_policy_is_drop_new),
		cmocka_unit_test(a1_no_workers_is_refused_naming_field_and_value),
		cmocka_unit_test(a1_minus_one_worker_is_refused),
		cmocka_unit_test(a1_more_workers_than_a_pool_can_hold_are_refused),
		cmocka_unit_test(a1_every_range_is_exact_at_both_ends),
		cmocka_unit_test(m3_policy_without_capacity_is_refused_naming_the_capacity),
		cmocka_unit_test(m3_unknown_policy_is_refused_naming_overflow_and_all_policies),
		cmocka_unit_test(x0_unknown_strategy_is_refused_naming_all_strategies),
		cmocka_unit_test(missing_names_are_refused),
		cmocka_unit_test(long_value_is_cut_not_overrun),
		cmocka_unit_test(chunk_is_refused_for_strategies_that_own_flows),
		cmocka_unit_test(unknown_depth_mode_is_refused),
		cmocka_unit_test(unknown_order_is_refused),
		cmocka_unit_test(stickiness_without_order_is_refused),
		cmocka_unit_test(order_flow_is_accepted_with_every_strategy_and_policy),
		cmocka_unit_test(eviction_is_refused_beside_what_counts_places_in_lanes),
		cmocka_unit_test(eviction_is_refused_beside_a_fallback_that_counts),
		cmocka_unit_test(shared_pool_must_say_where_its_packets_are),
		cmocka_unit_test(pool_that_is_not_shared_must_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
