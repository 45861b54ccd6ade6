/* SPDX-License-Identifier: BSD-3-Clause */
/* The options that say where packets go: rules, fallbacks, weights, budget, deadlines. */
#include "test.h"

#include "options.h"
#include "parsed_options.h"
#include "pool_options.h"

/* Parses "--rule TEXT" and a line of words behind it. */
static void
rule_parse(struct parsed *p, const char *text, const char *words)
{
	char *rest = p->line;

	p->argc = 0;
	p->argv[p->argc++] = (char *)(uintptr_t) "--rule";
	p->argv[p->argc++] = (char *)(uintptr_t)text;
	strcpy(p->line, words);
	while (words[0] && rest)
		p->argv[p->argc++] = strsep(&rest, " ");
	parsed_words(p);
}

static void
assert_rule_accepted(struct parsed *p, const char *text, const char *words)
{
	rule_parse(p, text, words);
	assert_string_equal(p->output, "");
	assert_int_equal(p->rc, 0);
}

static void
assert_rule_refused(const char *text, const char *words, const char *expected)
{
	struct parsed p;

	rule_parse(&p, text, words);
	assert_int_equal(p.rc, -EINVAL);
	assert_string_equal(p.output, expected);
}

static void
defaults_wait_for_ever_and_count_for_a_day(void **state)
{
	struct parsed p;

	(void)state;
	assert_accepted(&p, "");
	assert_null(p.options.rules);
	assert_null(p.options.fallback);
	assert_int_equal(p.options.n_weights, 0);
	assert_int_equal(p.options.budget, 0);
	assert_int_equal(pool_options_hold_timeout(&p.options), 0);
	assert_int_equal(p.options.state_period_ns, UINT64_C(86400) * 1000000000);
}

static void
rules_are_numbered_as_they_come(void **state)
{
	struct parsed p;

	(void)state;
	assert_rule_accepted(&p, "udp => drop", "");
	assert_int_equal(weir_rules_count(p.options.rules), 1);
	assert_int_equal(weir_rules_classes(p.options.rules)[0].action, WEIR_ACTION_DROP);
	options_free(&p.options);
}

static void
bad_rules_are_refused_with_number_and_column(void **state)
{
	(void)state;
	assert_rule_refused("udp prot 53 => drop", "",
		"weir: --rule udp prot 53 => drop: number 1, column 5: can't parse filter "
		"expression: syntax error\n");
	assert_rule_refused("udp => drop retry:1", "",
		"weir: --rule udp => drop retry:1: number 1, column 13: retry:1: not with drop: "
		"allowed no other word\n");
	/* What only the pool can tell. */
	assert_rule_refused("udp => first,last", "",
		"weir: --rule udp => first,last: number 1, fallback last: allowed one that always "
		"finds a worker, behind a strategy that may find none\n");
	assert_rule_refused("udp => rendezvous", "--chunk 8",
		"weir: --chunk 8: allowed 1 with rendezvous: a chunk would mix flows of different "
		"owners\n");
}

static void
rules_are_bounded(void **state)
{
	struct parsed p;

	(void)state;
	p.argc = 0;
	for (int i = 0; i < WEIR_RULES_MAX; i++) {
		p.argv[p.argc++] = (char *)(uintptr_t) "--rule";
		p.argv[p.argc++] = (char *)(uintptr_t) "udp => drop";
	}
	parsed_words(&p);
	assert_int_equal(p.rc, 0);
	options_free(&p.options);
	p.argv[p.argc++] = (char *)(uintptr_t) "--rule=udp => drop";
	parsed_words(&p);
	assert_int_equal(p.rc, -EINVAL);
	assert_string_equal(p.output,
		"weir: --rule udp => drop: allowed at most 63 of 'EXPRESSION => ACTION'\n");
}

static void
kernel_and_the_exception_port_need_each_other(void **state)
{
	struct parsed p;

	(void)state;
	assert_rule_accepted(&p, "arp => kernel", "--exception-port 1");
	assert_string_equal(p.options.exception_port, "1");
	options_free(&p.options);
	assert_rule_refused("arp => kernel", "",
		"weir: --rule arp => kernel: number 1, kernel: allowed with --exception-port\n");
	assert_refusal(&p, "--exception-port net_tap0",
		"weir: --exception-port net_tap0: allowed only with a rule that says kernel\n");
	assert_rule_refused("arp => drop", "--exception-port 1",
		"weir: --exception-port 1: allowed only with a rule that says kernel\n");
}

static void
a_fallback_stands_behind_a_strategy_that_may_find_none(void **state)
{
	const struct weir_strategy *strategy;
	struct parsed p;
	char line[128];

	(void)state;
	for (unsigned int i = 0; (strategy = weir_strategy_at(i)); i++) {
		snprintf(line, sizeof(line), "--strategy %s,first", strategy->name);
		if (strategy->flags & WEIR_STRATEGY_FINDS_NONE) {
			assert_accepted(&p, line);
			assert_string_equal(p.options.strategy, strategy->name);
			assert_string_equal(p.options.fallback, "first");
		} else {
			assert_refused(&p, line);
			assert_non_null(strstr(p.output, ",first: allowed as FALLBACK one that"));
		}
	}
	assert_refused(&p, "--strategy first,");
	assert_refused(&p, "--strategy ,first");
	assert_refused(&p, "--strategy first,first,first");
	assert_refused(&p, "--strategy first,nothing");
}

static void
weights_are_one_for_each_worker(void **state)
{
	static const char *const refused[] = { "1", "1,1,1,1,1", "0,1,1,1", "1,1,1,101", "1,,1,1",
		",1,1,1", "1,1,1,", "1,1,1,x", "1-4", "1,1,1,1 --workers 3" };
	struct parsed p;
	char line[128];

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(refused); i++) {
		snprintf(line, sizeof(line), "--weights %s", refused[i]);
		assert_refused(&p, line);
		assert_non_null(strstr(p.output, "one"));
	}
}

static void
weights_that_nothing_reads_are_refused(void **state)
{
	const struct weir_strategy *strategy;
	struct parsed p;
	char line[128];

	(void)state;
	for (unsigned int i = 0; (strategy = weir_strategy_at(i)); i++) {
		snprintf(line, sizeof(line), "--weights 1,2,3,100 --strategy %s", strategy->name);
		if (strategy->flags & WEIR_STRATEGY_READS_WEIGHT) {
			assert_accepted(&p, line);
			assert_int_equal(p.options.n_weights, 4);
			assert_int_equal(p.options.weights[3], 100);
			snprintf(line, sizeof(line), "udp => %s", strategy->name);
			assert_rule_accepted(&p, line, "--weights 1,2,3,4 --strategy first");
			options_free(&p.options);
		} else {
			assert_refused(&p, line);
			assert_non_null(
				strstr(p.output, "only with a strategy that reads weights: "));
		}
	}
}

static void
a_budget_fits_its_lane_and_has_a_deadline(void **state)
{
	struct parsed p;

	(void)state;
	assert_accepted(&p, "--budget 512");
	assert_int_equal(p.options.budget, 512);
	assert_int_equal(pool_options_hold_timeout(&p.options), 100000);
	assert_accepted(&p, "--budget 2 --hold-timeout 0");
	assert_int_equal(pool_options_hold_timeout(&p.options), 0);
	assert_accepted(&p, "--budget 2 --hold-timeout 7");
	assert_int_equal(pool_options_hold_timeout(&p.options), 7);
	assert_refusal(&p, "--budget 513",
		"weir: --budget 513: allowed 0 to 512, the lane's size: a lane cannot hold more\n");
	assert_refused(&p, "--budget -1");
	assert_refused(&p, "--budget 65536");
}

static void
a_deadline_that_nothing_waits_for_is_refused(void **state)
{
	struct parsed p;

	(void)state;
	assert_refused(&p, "--hold-timeout 7");
	assert_non_null(strstr(p.output, "--hold-timeout 7: allowed 0, or with --budget"));
	assert_accepted(&p, "--hold-timeout 0");
	assert_accepted(&p, "--hold-timeout 7 --overflow reject");
	assert_rule_accepted(&p, "udp => overflow:reject", "--hold-timeout 7");
	options_free(&p.options);
	assert_refused(&p, "--hold-timeout 3600000001 --overflow reject");
}

static void
a_state_period_needs_a_strategy_that_keeps_state(void **state)
{
	const struct weir_strategy *strategy;
	struct parsed p;
	char line[128];

	(void)state;
	assert_accepted(&p, "--state-period 0");
	for (unsigned int i = 0; (strategy = weir_strategy_at(i)); i++) {
		snprintf(line, sizeof(line), "--state-period 60 --strategy %s", strategy->name);
		if (strategy->state_bytes > 0)
			assert_accepted(&p, line);
		else
			assert_refused(&p, line);
	}
}

/* M12: each rx core takes two dispatchers then, and there are 14. */
static void
m12_urgent_rules_double_the_dispatchers_of_rx_cores(void **state)
{
	struct parsed p;

	(void)state;
	assert_rule_accepted(&p, "udp => urgent", "--rx-cores 7");
	assert_true(pool_options_urgent(&p.options) == UINT64_C(1) << 1);
	assert_int_equal(pool_options_dispatchers(&p.options), 2);
	options_free(&p.options);
	assert_rule_accepted(&p, "udp => first", "--rx-cores 14");
	assert_true(pool_options_urgent(&p.options) == 0);
	assert_int_equal(pool_options_dispatchers(&p.options), 1);
	options_free(&p.options);
	assert_rule_refused("udp => urgent", "--rx-cores 8",
		"weir: --rx-cores 8: allowed 1 to 7 with a rule that says urgent: each takes 2 of "
		"14 dispatchers, and these would take 16\n");
}

/* Numbers 0 .. R - 1 are the rx cores' normal dispatchers, R .. 2R - 1 their urgent ones. */
static void
m12_the_pool_has_an_urgent_dispatcher_for_each_rx_core(void **state)
{
	struct weir_pool *pool;
	struct parsed p;

	(void)state;
	assert_rule_accepted(&p, "udp => urgent last", "--rx-cores 3");
	assert_int_equal(
		pool_create_by_options(&pool, &p.options, &(struct pool_surroundings) { 0 }), 0);
	assert_int_equal(weir_pool_config(pool)->n_dispatchers, 6);
	assert_int_equal(weir_pool_config(pool)->n_urgent, 3);
	weir_pool_destroy(pool);
	options_free(&p.options);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_wait_for_ever_and_count_for_a_day),
		cmocka_unit_test(rules_are_numbered_as_they_come),
		cmocka_unit_test(bad_rules_are_refused_with_number_and_column),
		cmocka_unit_test(rules_are_bounded),
		cmocka_unit_test(kernel_and_the_exception_port_need_each_other),
		cmocka_unit_test(a_fallback_stands_behind_a_strategy_that_may_find_none),
		cmocka_unit_test(weights_are_one_for_each_worker),
		cmocka_unit_test(weights_that_nothing_reads_are_refused),
		cmocka_unit_test(a_budget_fits_its_lane_and_has_a_deadline),
		cmocka_unit_test(a_deadline_that_nothing_waits_for_is_refused),
		cmocka_unit_test(a_state_period_needs_a_strategy_that_keeps_state),
		cmocka_unit_test(m12_urgent_rules_double_the_dispatchers_of_rx_cores),
		cmocka_unit_test(m12_the_pool_has_an_urgent_dispatcher_for_each_rx_core),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
