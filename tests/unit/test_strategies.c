/* SPDX-License-Identifier: BSD-3-Clause */
/* Strategies that options name by a file: loading, finding, refusing. */
#include "test.h"

#include "option_row.h"
#include "options.h"
#include "parsed_options.h"
#include "pick.h"
#include "stderr_capture.h"
#include "strategies.h"

/* Loads by a text and gives what that prints. Returns as strategies_load. */
static int
load_captured(struct strategies *strategies, const char *text, char *output, size_t n_bytes)
{
	struct stderr_capture capture;
	int rc;

	stderr_capture_start(&capture);
	rc = strategies_load(strategies, "--rule", text);
	stderr_capture_end(&capture, output, n_bytes);
	return rc;
}

static void
only_names_with_a_prefix_are_files(void **state)
{
	(void)state;
	assert_true(strategies_names_file("custom:x.so"));
	assert_true(strategies_names_file("bpf:x.o"));
	assert_true(strategies_names_file("custom:"));
	assert_false(strategies_names_file("custom"));
	assert_false(strategies_names_file("shallowest"));
	assert_false(strategies_names_file(" custom:x.so"));
	assert_false(strategies_names_file(""));
}

static void
each_file_of_a_text_is_loaded_once_under_the_name_that_was_typed(void **state)
{
	struct strategies strategies = { 0 };
	char text[1024], output[1024];

	(void)state;
	snprintf(text, sizeof(text), "custom:%s,custom:%s police:10\tcustom:%s shallowest",
		getenv("WARM_UP_SO"), getenv("WEIGHTED_SO"), getenv("WARM_UP_SO"));
	assert_int_equal(load_captured(&strategies, text, output, sizeof(output)), 0);
	assert_string_equal(output, "");
	assert_int_equal(strategies.n, 2);
	snprintf(text, sizeof(text), "custom:%s", getenv("WEIGHTED_SO"));
	assert_int_equal(load_captured(&strategies, text, output, sizeof(output)), 0);
	assert_int_equal(strategies.n, 2);
	assert_ptr_equal(strategies_find(&strategies, text), strategies.loaded[1]);
	assert_ptr_equal(strategies_find(&strategies, "first"), weir_strategy_find("first"));
	assert_null(strategies_find(&strategies, "warm-up"));
	strategies_unload(&strategies);
	assert_int_equal(strategies.n, 0);
	assert_null(strategies_find(&strategies, text));
	strategies_unload(&strategies);
}

static void
a_text_without_files_loads_nothing(void **state)
{
	struct strategies strategies = { 0 };

	(void)state;
	assert_int_equal(strategies_load(&strategies, "--strategy", "shallowest,first  , x"), 0);
	assert_int_equal(strategies_load(&strategies, "--strategy", ""), 0);
	assert_int_equal(strategies.n, 0);
}

static void
a_refusal_names_option_file_and_reason_in_one_line(void **state)
{
	struct strategies strategies = { 0 };
	char output[1024];

	(void)state;
	assert_int_equal(
		load_captured(&strategies, "drop,custom:/nonexistent/a.so", output, sizeof(output)),
		-EINVAL);
	assert_string_equal(
		output, "weir: --rule custom:/nonexistent/a.so: No such file or directory\n");
	assert_int_equal(
		load_captured(&strategies, "bpf:/etc/passwd", output, sizeof(output)), -EINVAL);
	assert_one_line(output);
	assert_non_null(strstr(output, "weir: --rule bpf:/etc/passwd: is no eBPF object file"));
	assert_int_equal(strategies.n, 0);
}

/* The plugin answers out of range at that index, and at no other one. */
static void
strategies_that_strayed_are_named_with_their_count(void **state)
{
	struct strategies strategies = { 0 };
	struct pick *pick;
	char name[512];
	char *printed;
	size_t n_bytes;
	FILE *out = open_memstream(&printed, &n_bytes);

	(void)state;
	snprintf(name, sizeof(name), "custom:%s/late.so", getenv("TEST_PLUGINS"));
	assert_int_equal(strategies_load(&strategies, "--strategy", name), 0);
	pick = pick_create_of(strategies.loaded[0], (const weir_worker_id[]) { 0, 1, 2 }, 3);
	pick_burst(pick, 7);
	strategies_print_strays(&strategies, out);
	assert_int_equal(ftell(out), 0);
	pick_set_index(pick, UINT64_C(1234567891011));
	pick_burst(pick, 7);
	strategies_print_strays(&strategies, out);
	fclose(out);
	assert_one_line(printed);
	assert_non_null(strstr(printed, "late.so picked no worker of the pool 7 times"));
	free(printed);
	pick_destroy(pick);
	strategies_unload(&strategies);
}

static void
the_option_strategy_takes_files(void **state)
{
	struct parsed p;
	char line[512];

	(void)state;
	snprintf(line, sizeof(line), "--strategy custom:%s --chunk 4", getenv("WARM_UP_SO"));
	assert_accepted(&p, line);
	assert_int_equal(p.options.strategies.n, 1);
	assert_string_equal(p.options.strategy, p.options.strategies.loaded[0]->name);
	options_free(&p.options);
	assert_refusal(&p, "--strategy custom:/nonexistent/a.so",
		"weir: --strategy custom:/nonexistent/a.so: No such file or directory\n");
	assert_refusal(&p, "--strategy custom:", "weir: --strategy custom:: allowed custom:FILE\n");
	options_free(&p.options);
	assert_refused(&p, "--strategy costum:x.so");
	assert_non_null(strstr(p.output, "custom:FILE.so, bpf:FILE.o"));
}

static void
a_fallback_and_a_rule_may_name_files(void **state)
{
	const char *folder = getenv("TEST_PLUGINS");
	char strategy[1024], rule[1024];
	struct parsed p = { .argc = 4, .argv = { "--strategy", strategy, "--rule", rule } };
	const struct weir_class *class;

	(void)state;
	snprintf(strategy, sizeof(strategy), "custom:%s/late_or_none.so,custom:%s", folder,
		getenv("WARM_UP_SO"));
	snprintf(rule, sizeof(rule), "udp => custom:%s retry:2", getenv("WEIGHTED_SO"));
	parsed_words(&p);
	assert_string_equal(p.output, "");
	assert_int_equal(p.rc, 0);
	assert_int_equal(p.options.strategies.n, 3);
	assert_string_equal(p.options.strategy, p.options.strategies.loaded[0]->name);
	assert_string_equal(p.options.fallback, p.options.strategies.loaded[1]->name);
	class = weir_rules_classes(p.options.rules);
	assert_string_equal(class->strategy, p.options.strategies.loaded[2]->name);
	options_free(&p.options);

	/* Only a strategy that may find none has a fallback. */
	snprintf(strategy, sizeof(strategy), "custom:%s,first", getenv("WARM_UP_SO"));
	parsed_words(&p);
	assert_int_equal(p.rc, -EINVAL);
	assert_one_line(p.output);
	snprintf(strategy, sizeof(strategy), "first");
	snprintf(rule, sizeof(rule), "udp => custom:/nonexistent.so");
	parsed_words(&p);
	assert_string_equal(
		p.output, "weir: --rule custom:/nonexistent.so: No such file or directory\n");
}

/* Weights mean something to a loaded strategy that reads them. */
static void
weights_may_be_for_a_loaded_strategy(void **state)
{
	struct parsed p;
	char line[512];

	(void)state;
	snprintf(line, sizeof(line), "--workers 3 --weights 2,1,1 --strategy custom:%s",
		getenv("WEIGHTED_SO"));
	assert_accepted(&p, line);
	options_free(&p.options);
	snprintf(line, sizeof(line), "--workers 3 --weights 2,1,1 --strategy custom:%s",
		getenv("WARM_UP_SO"));
	assert_refused(&p, line);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_names_with_a_prefix_are_files),
		cmocka_unit_test(each_file_of_a_text_is_loaded_once_under_the_name_that_was_typed),
		cmocka_unit_test(a_text_without_files_loads_nothing),
		cmocka_unit_test(a_refusal_names_option_file_and_reason_in_one_line),
		cmocka_unit_test(strategies_that_strayed_are_named_with_their_count),
		cmocka_unit_test(the_option_strategy_takes_files),
		cmocka_unit_test(a_fallback_and_a_rule_may_name_files),
		cmocka_unit_test(weights_may_be_for_a_loaded_strategy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
