/* SPDX-License-Identifier: BSD-3-Clause */
/* The values of the options of `weir`: what is taken, exactly, and what is not. */
#include "test.h"

#include "option_values.h"
#include "options.h"
#include "parsed_options.h"

/* Numeric options and the ends of their ranges. */
static const struct {
	const char *option;
	uint64_t min;
	uint64_t max;
} ranges[] = {
	{ "--rx-cores", 1, 14 },
	{ "--rx-queues", 1, 64 },
	{ "--workers", 1, 256 },
	{ "--lane-size", 1, 65535 },
	{ "--burst", 1, 256 },
	{ "--chunk", 1, 256 },
	{ "--mbuf-size", 256, 65535 },
};

static void
every_option_stores_its_own_value(void **state)
{
	struct parsed p;

	(void)state;
	assert_accepted(&p, "--rx-cores 2 --rx-queues 3 --workers 5 --lane-size 6 --burst 7 "
			    "--chunk 8 --mbuf-size 999 --packets 10 --duration 11 --exit-idle 12 "
			    "--drain-timeout 13 --stats-period 14 --quiet");
	assert_int_equal(p.options.rx_cores, 2);
	assert_int_equal(p.options.rx_queues, 3);
	assert_int_equal(p.options.workers, 5);
	assert_int_equal(p.options.lane_size, 6);
	assert_int_equal(p.options.burst, 7);
	assert_int_equal(p.options.chunk, 8);
	assert_int_equal(p.options.mbuf_size, 999);
	assert_int_equal(p.options.packets, 10);
	assert_int_equal(p.options.duration_ns, 11 * OPTION_NS_PER_SECOND);
	assert_int_equal(p.options.exit_idle_ns, 12 * OPTION_NS_PER_SECOND);
	assert_int_equal(p.options.drain_timeout_ns, 13 * OPTION_NS_PER_SECOND);
	assert_int_equal(p.options.stats_period_ns, 14 * OPTION_NS_PER_SECOND);
	assert_true(p.options.quiet);
}

static void
numbers_are_taken_within_their_range_and_refused_beyond(void **state)
{
	struct parsed p;
	char line[128], expected[256];

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(ranges); i++) {
		const uint64_t outside[] = { ranges[i].min - 1, ranges[i].max + 1, UINT32_MAX,
			(uint64_t)UINT32_MAX + 1 + ranges[i].min, UINT64_MAX };

		snprintf(line, sizeof(line), "%s %lu %s=%lu", ranges[i].option, ranges[i].min,
			ranges[i].option, ranges[i].max);
		assert_accepted(&p, line);
		for (size_t j = 0; j < ARRAY_LENGTH(outside); j++) {
			snprintf(line, sizeof(line), "%s %lu", ranges[i].option, outside[j]);
			snprintf(expected, sizeof(expected), "weir: %s: allowed %lu to %lu\n", line,
				ranges[i].min, ranges[i].max);
			assert_refusal(&p, line, expected);
		}
	}
}

static void
what_is_not_wholly_a_number_is_refused(void **state)
{
	static const char *const values[] = { "2.5", "-1", "+1", "nan", "inf", "1e2", "0x2", "2k",
		"two", "2,", "1-2", "18446744073709551616", "99999999999999999999999999", "2\t",
		"\t2", "\xd9\xa2" };
	struct parsed p;
	char line[128];

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(ranges); i++) {
		for (size_t j = 0; j < ARRAY_LENGTH(values); j++) {
			snprintf(line, sizeof(line), "%s %s", ranges[i].option, values[j]);
			assert_refused(&p, line);
		}
	}
	assert_refusal(&p, "--workers 2.5", "weir: --workers 2.5: allowed 1 to 256\n");
	assert_accepted(&p, "--workers 007");
	assert_int_equal(p.options.workers, 7);
}

static void
packets_take_all_64_bits(void **state)
{
	struct parsed p;

	(void)state;
	assert_accepted(&p, "--packets 18446744073709551615");
	assert_true(p.options.packets == UINT64_MAX);
	assert_refusal(&p, "--packets 18446744073709551616",
		"weir: --packets 18446744073709551616: allowed 0 to 2^64 - 1\n");
}

static void
seconds_are_exact(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} values[] = {
		{ "0", 0 },
		{ "0.5", 500000000 },
		{ "0.1", 100000000 },
		{ "1.000000001", 1000000001 },
		{ "0.000000001", 1 },
		{ "0.999999999", 999999999 },
		{ "31536000", UINT64_C(31536000000000000) },
	};
	struct parsed p;
	char line[128];

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(values); i++) {
		snprintf(line, sizeof(line), "--duration %s --exit-idle %s --drain-timeout=%s",
			values[i].text, values[i].text, values[i].text);
		assert_accepted(&p, line);
		assert_true(p.options.duration_ns == values[i].ns);
		assert_true(p.options.exit_idle_ns == values[i].ns);
		assert_true(p.options.drain_timeout_ns == values[i].ns);
	}
}

static void
what_is_not_wholly_a_time_is_refused(void **state)
{
	static const char *const values[] = { ".5", "5.", ".", "0,5", "-1", "1e3", "nan", "0.5s",
		"1.2.3", "0.1234567890", "31536000.000000001", "18446744074",
		"99999999999999999999", "1.-5" };
	struct parsed p;
	char line[128];

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(values); i++) {
		snprintf(line, sizeof(line), "--duration %s", values[i]);
		assert_refused(&p, line);
		snprintf(line, sizeof(line), "--stats-period %s", values[i]);
		assert_refused(&p, line);
	}
	assert_refusal(&p, "--duration x", "weir: --duration x: allowed 0 to 31536000 seconds\n");
}

static void
the_stats_period_is_off_or_readable(void **state)
{
	struct parsed p;

	(void)state;
	assert_accepted(&p, "--stats-period 0");
	assert_int_equal(p.options.stats_period_ns, 0);
	assert_accepted(&p, "--stats-period 0.1");
	assert_int_equal(p.options.stats_period_ns, 100000000);
	assert_refusal(&p, "--stats-period 0.099",
		"weir: --stats-period 0.099: allowed 0 or 0.1 to 31536000 seconds\n");
}

static void
choices_are_those_that_the_library_has(void **state)
{
	const struct weir_strategy *strategy;
	const struct weir_overflow_policy *policy;
	struct parsed p;
	char line[128];

	(void)state;
	for (unsigned int i = 0; (strategy = weir_strategy_at(i)); i++) {
		snprintf(line, sizeof(line), "--strategy %s", strategy->name);
		assert_accepted(&p, line);
		assert_string_equal(p.options.strategy, strategy->name);
	}
	for (unsigned int i = 0; (policy = weir_overflow_at(i)); i++) {
		snprintf(line, sizeof(line), "--overflow %s", policy->name);
		assert_accepted(&p, line);
		assert_string_equal(p.options.overflow, policy->name);
	}
	assert_refused(&p, "--strategy shallow");
	assert_non_null(strstr(p.output, "weir: --strategy shallow: allowed "));
	assert_non_null(strstr(p.output, "round-robin"));
	assert_refused(&p, "--strategy SHALLOWEST");
	assert_refused(&p, "--overflow drop");
}

static void
order_and_depth_mode_have_their_names(void **state)
{
	struct parsed p;

	(void)state;
	assert_accepted(&p, "--order none --depth-mode queued");
	assert_string_equal(p.options.order, "none");
	assert_int_equal(p.options.depth_mode, WEIR_DEPTH_QUEUED);
	assert_accepted(&p, "--order none --order flow --sticky 1000");
	assert_string_equal(p.options.order, "flow");
	assert_true(p.options.sticky_usec == 1000);
	assert_accepted(&p, "--depth-mode queued --depth-mode outstanding");
	assert_int_equal(p.options.depth_mode, WEIR_DEPTH_OUTSTANDING);
	assert_refusal(&p, "--order strict", "weir: --order strict: allowed flow, none\n");
	assert_refusal(
		&p, "--order none --sticky 7", "weir: --sticky 7: allowed 0 with --order none\n");
	assert_refusal(
		&p, "--sticky 3600000001", "weir: --sticky 3600000001: allowed 0 to 3600000000\n");
	assert_refusal(
		&p, "--depth-mode all", "weir: --depth-mode all: allowed outstanding, queued\n");
}

static void
seeds_are_decimal_or_hexadecimal(void **state)
{
	struct parsed p;

	(void)state;
	assert_accepted(&p, "--seed 18446744073709551615");
	assert_true(p.options.seed == UINT64_MAX && p.options.seed_given);
	assert_accepted(&p, "--seed 0xDeadBeefCafe0123");
	assert_true(p.options.seed == UINT64_C(0xdeadbeefcafe0123));
	assert_accepted(&p, "--seed 0");
	assert_true(p.options.seed == 0 && p.options.seed_given);
	assert_refused(&p, "--seed 0x");
	assert_refused(&p, "--seed 0x10000000000000000");
	assert_refused(&p, "--seed 18446744073709551616");
	assert_refused(&p, "--seed beef");
}

static void
the_hash_key_has_32_digits(void **state)
{
	struct parsed p;

	(void)state;
	assert_accepted(&p, "--hash-key 000102030405060708090a0b0c0d0e0F");
	assert_true(p.options.hash_key_given);
	assert_true(p.options.flow.hash_key.word[0] == UINT64_C(0x0706050403020100));
	assert_true(p.options.flow.hash_key.word[1] == UINT64_C(0x0f0e0d0c0b0a0908));
	assert_refusal(
		&p, "--hash-key 0001", "weir: --hash-key 0001: allowed 32 hexadecimal digits\n");
	assert_refused(&p, "--hash-key 000102030405060708090a0b0c0d0e0g");
	assert_refused(&p, "--hash-key 000102030405060708090a0b0c0d0e0f0");
}

static void
the_flow_depth_is_inner_or_outer(void **state)
{
	struct parsed p;

	(void)state;
	assert_accepted(&p, "--flow-depth outer");
	assert_int_equal(p.options.flow.depth, WEIR_FLOW_OUTER);
	assert_accepted(&p, "--flow-depth outer --flow-depth inner");
	assert_int_equal(p.options.flow.depth, WEIR_FLOW_INNER);
	assert_refusal(
		&p, "--flow-depth middle", "weir: --flow-depth middle: allowed inner, outer\n");
}

static void
the_flow_nesting_has_bounds(void **state)
{
	struct parsed p;

	(void)state;
	assert_accepted(&p, "--flow-nesting 0");
	assert_int_equal(p.options.flow.nesting_max, 0);
	assert_accepted(&p, "--flow-nesting 16");
	assert_int_equal(p.options.flow.nesting_max, WEIR_FLOW_NESTING_MAX);
	assert_refusal(&p, "--flow-nesting 17", "weir: --flow-nesting 17: allowed 0 to 16\n");
	assert_refused(&p, "--flow-nesting -1");
}

/* The row's default text and the library's default can't differ. */
static void
the_default_flow_ports_are_the_librarys(void **state)
{
	const struct weir_flow_config config = weir_flow_config_default();
	struct parsed p;

	(void)state;
	assert_accepted(&p, "");
	assert_memory_equal(
		p.options.flow.tunnel_port, config.tunnel_port, sizeof(config.tunnel_port));
}

static void
flow_ports_are_set_by_name_and_the_rest_stays(void **state)
{
	struct parsed p;

	(void)state;
	assert_accepted(&p, "--flow-ports vxlan=8472,teredo=0 --flow-ports=geneve=65535");
	assert_int_equal(p.options.flow.tunnel_port[WEIR_FLOW_VXLAN], 8472);
	assert_int_equal(p.options.flow.tunnel_port[WEIR_FLOW_TEREDO], 0);
	assert_int_equal(p.options.flow.tunnel_port[WEIR_FLOW_GENEVE], 65535);
	assert_int_equal(p.options.flow.tunnel_port[WEIR_FLOW_VXLAN_GPE], 4790);
	assert_int_equal(p.options.flow.tunnel_port[WEIR_FLOW_GTPU], 2152);
	assert_accepted(&p, "--flow-ports vxlan=1 --flow-ports vxlan=2,vxlan=3");
	assert_int_equal(p.options.flow.tunnel_port[WEIR_FLOW_VXLAN], 3);
}

static void
malformed_flow_ports_are_refused(void **state)
{
	static const char *const refused[] = { "vxlan", "vxlan=", "=4789", "vxlan=65536",
		"vxlan=-1", "vxlan=+1", "vxlan= 1", "vxlan=0x10", "vxlan=1,", ",vxlan=1",
		"vxlan=1,,gtpu=2", "vxla=1", "vxlann=1", "VXLAN=1", "vxlan=1=2", "vxlan,gtpu=1",
		"vxlan=000001", "mpls=6635" };
	struct parsed p;

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(refused); i++) {
		char line[64];

		snprintf(line, sizeof(line), "--flow-ports %s", refused[i]);
		assert_refused(&p, line);
	}
	assert_refusal(&p, "--flow-ports nvgre=1",
		"weir: --flow-ports nvgre=1: allowed NAME: one of vxlan, vxlan-gpe, geneve, gtpu, "
		"teredo; PORT: 0 to 65535, 0 is off\n");
}

static void
two_tunnels_on_one_port_are_refused(void **state)
{
	struct parsed p;

	(void)state;
	assert_refusal(&p, "--flow-ports vxlan=6081",
		"weir: --flow-ports vxlan=6081,geneve=6081: allowed a port of its own for each "
		"tunnel\n");
	assert_accepted(&p, "--flow-ports vxlan=6081,geneve=4789");
	assert_accepted(&p, "--flow-ports vxlan=0,geneve=0,gtpu=0");
}

static void
worker_cpus_are_a_list(void **state)
{
	static const char *const refused[] = { "1024", "0-1024", "3-1", "2-1", "1-", "-1", ",",
		"1,", ",1", "1,,2", "1-2-3", "all", "4294967296", "0-4294967295" };
	struct parsed p;
	char line[128];

	(void)state;
	assert_accepted(&p, "--worker-cpus 0-3,5,7-7");
	assert_int_equal(CPU_COUNT(&p.options.worker_cpus), 6);
	assert_true(CPU_ISSET(0, &p.options.worker_cpus));
	assert_false(CPU_ISSET(4, &p.options.worker_cpus));
	assert_true(CPU_ISSET(7, &p.options.worker_cpus));
	assert_accepted(&p, "--worker-cpus 0 --worker-cpus 1023");
	assert_int_equal(CPU_COUNT(&p.options.worker_cpus), 1);
	for (size_t i = 0; i < ARRAY_LENGTH(refused); i++) {
		snprintf(line, sizeof(line), "--worker-cpus %s", refused[i]);
		assert_refused(&p, line);
	}
	assert_refusal(&p, "--worker-cpus x",
		"weir: --worker-cpus x: allowed a list like 0-3,5 of CPUs 0 to 1023\n");
}

static void
chunks_need_a_strategy_without_owners(void **state)
{
	struct parsed p;

	(void)state;
	assert_accepted(&p, "--chunk 8 --strategy shallowest");
	assert_accepted(&p, "--chunk 1 --strategy rendezvous");
	assert_refusal(&p, "--chunk 8 --strategy rendezvous",
		"weir: --chunk 8: allowed 1 with rendezvous: a chunk would mix flows of different "
		"owners\n");
	assert_refused(&p, "--strategy rendezvous --chunk 2");
}

static void
numbers_and_times_survive_being_printed(void **state)
{
	struct test_random random = test_random_start(__func__);
	char text[64];
	uint64_t value;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		const uint64_t number = test_random_next(&random) >> test_random_below(&random, 64);

		snprintf(text, sizeof(text), "%lu", number);
		assert_int_equal(option_parse_number(text, &value), 0);
		assert_true(value == number);
		snprintf(text, sizeof(text), "0x%lx", number);
		assert_int_equal(option_parse_number_or_hex(text, &value), 0);
		assert_true(value == number);
		snprintf(text, sizeof(text), "%lu.%09lu", number / OPTION_NS_PER_SECOND,
			number % OPTION_NS_PER_SECOND);
		assert_int_equal(option_parse_seconds(text, &value), 0);
		assert_true(value == number);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_option_stores_its_own_value),
		cmocka_unit_test(numbers_are_taken_within_their_range_and_refused_beyond),
		cmocka_unit_test(what_is_not_wholly_a_number_is_refused),
		cmocka_unit_test(packets_take_all_64_bits),
		cmocka_unit_test(seconds_are_exact),
		cmocka_unit_test(what_is_not_wholly_a_time_is_refused),
		cmocka_unit_test(the_stats_period_is_off_or_readable),
		cmocka_unit_test(choices_are_those_that_the_library_has),
		cmocka_unit_test(order_and_depth_mode_have_their_names),
		cmocka_unit_test(seeds_are_decimal_or_hexadecimal),
		cmocka_unit_test(the_hash_key_has_32_digits),
		cmocka_unit_test(the_flow_depth_is_inner_or_outer),
		cmocka_unit_test(the_flow_nesting_has_bounds),
		cmocka_unit_test(the_default_flow_ports_are_the_librarys),
		cmocka_unit_test(flow_ports_are_set_by_name_and_the_rest_stays),
		cmocka_unit_test(malformed_flow_ports_are_refused),
		cmocka_unit_test(two_tunnels_on_one_port_are_refused),
		cmocka_unit_test(worker_cpus_are_a_list),
		cmocka_unit_test(chunks_need_a_strategy_without_owners),
		cmocka_unit_test(numbers_and_times_survive_being_printed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
