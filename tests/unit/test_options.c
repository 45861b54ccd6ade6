/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of `weir` as words: forms, names, handlers, refusals in one line, usage. */
#include "test.h"

#include "handler/handler.h"
#include "option_handlers.h"
#include "option_row.h"
#include "option_values.h"
#include "options.h"
#include "parsed_options.h"
#include "stderr_capture.h"

static void
defaults_are_those_of_the_design(void **state)
{
	struct parsed p;

	(void)state;
	assert_accepted(&p, "");
	assert_int_equal(p.options.rx_cores, 1);
	assert_int_equal(p.options.rx_queues, 1);
	assert_int_equal(p.options.workers, 4);
	assert_int_equal(CPU_COUNT(&p.options.worker_cpus), 0);
	assert_string_equal(p.options.strategy, "shallowest");
	assert_string_equal(p.options.order, "flow");
	assert_string_equal(p.options.overflow, "drop-new");
	assert_int_equal(p.options.lane_size, 512);
	assert_int_equal(p.options.burst, 32);
	assert_int_equal(p.options.chunk, 1);
	assert_int_equal(p.options.depth_mode, WEIR_DEPTH_OUTSTANDING);
	assert_false(p.options.seed_given);
	assert_false(p.options.hash_key_given);
	assert_int_equal(p.options.flow.depth, WEIR_FLOW_INNER);
	assert_int_equal(p.options.flow.nesting_max, 4);
	assert_int_equal(p.options.mbuf_size, 2176);
	assert_int_equal(p.options.stats_period_ns, OPTION_NS_PER_SECOND);
	assert_int_equal(p.options.duration_ns, 0);
	assert_int_equal(p.options.packets, 0);
	assert_int_equal(p.options.exit_idle_ns, 0);
	assert_int_equal(p.options.drain_timeout_ns, 5 * OPTION_NS_PER_SECOND);
	assert_int_equal(options_workers_max(&p.options), 4);
	assert_int_equal(p.options.restarts, 10);
	assert_int_equal(p.options.restart_window_ns, 60 * OPTION_NS_PER_SECOND);
	assert_int_equal(p.options.stuck_after_ns, 10 * OPTION_NS_PER_SECOND);
	assert_int_equal(p.options.heartbeat_msec, 10);
	assert_int_equal(p.options.init_timeout_ns, 10 * OPTION_NS_PER_SECOND);
	assert_false(p.options.redeliver);
	assert_null(p.options.report);
	assert_false(p.options.quiet || p.options.help || p.options.version);
	assert_string_equal(options_handler_of(&p.options, 0), "forward");
	assert_string_equal(options_handler_of(&p.options, 3), "forward");
}

static void
values_may_follow_or_be_attached(void **state)
{
	struct parsed p;

	(void)state;
	assert_accepted(&p, "--workers 7 --lane-size=65535 --strategy=first --report a=b");
	assert_int_equal(p.options.workers, 7);
	assert_int_equal(p.options.lane_size, 65535);
	assert_string_equal(p.options.strategy, "first");
	assert_string_equal(p.options.report, "a=b");
	assert_accepted(&p, "--report=--odd=name");
	assert_string_equal(p.options.report, "--odd=name");
}

static void
the_last_value_of_an_option_wins(void **state)
{
	struct parsed p;

	(void)state;
	assert_accepted(&p, "--workers 7 --overflow reject --workers=9 --overflow drop-new");
	assert_int_equal(p.options.workers, 9);
	assert_string_equal(p.options.overflow, "drop-new");
}

static void
the_last_handler_that_names_a_worker_is_its_own(void **state)
{
	struct parsed p;

	(void)state;
	assert_accepted(
		&p, "--workers 6 --handler echo --handler 0,2-3=wait:500 --handler 2=pcap:a=b");
	assert_string_equal(options_handler_of(&p.options, 0), "wait:500");
	assert_string_equal(options_handler_of(&p.options, 1), "echo");
	assert_string_equal(options_handler_of(&p.options, 2), "pcap:a=b");
	assert_string_equal(options_handler_of(&p.options, 3), "wait:500");
	assert_string_equal(options_handler_of(&p.options, 5), "echo");
	assert_accepted(&p, "--handler 1=drop");
	assert_string_equal(options_handler_of(&p.options, 0), "forward");
	assert_accepted(&p, "--handler 1=drop --handler echo");
	assert_string_equal(options_handler_of(&p.options, 1), "echo");
}

static void
handlers_of_no_worker_or_of_no_name_are_refused(void **state)
{
	static const char *const refused[] = { "nothing", "0=nothing", "=drop", "0,=drop",
		"3-1=drop", "0-=drop", "a=drop", "0", "0=", "256=drop", "Drop" };
	struct parsed p;
	char line[128];

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(refused); i++) {
		snprintf(line, sizeof(line), "--handler=%s", refused[i]);
		assert_refused(&p, line);
	}
	assert_refused(&p, "--handler nothing");
	for (unsigned int i = 0; handler_at(i); i++)
		assert_non_null(strstr(p.output, handler_at(i)->usage));
}

static void
handlers_are_checked_against_the_number_of_workers_wherever_it_stands(void **state)
{
	struct parsed p;

	(void)state;
	assert_accepted(&p, "--handler 9=drop --workers 10");
	assert_accepted(&p, "--workers 10 --handler 0-9=drop");
	assert_refusal(&p, "--handler 2,4-9=drop --workers 9",
		"weir: --handler 2,4-9=drop: allowed workers 0 to 8 (--workers 9)\n");
	assert_refusal(&p, "--handler 7=drop --workers 2 --workers-max 4",
		"weir: --handler 7=drop: allowed workers 0 to 3 (--workers-max 4)\n");
}

static void
handlers_are_bounded(void **state)
{
	struct parsed p;
	char line[4096] = "";

	(void)state;
	for (int i = 0; i < OPTIONS_HANDLERS_MAX - 1; i++)
		strcat(line, i ? " --handler drop" : "--handler drop");
	assert_accepted(&p, line);
	strcat(line, " --handler drop");
	assert_refused(&p, line);
	assert_non_null(strstr(p.output, "at most 63"));
}

/* --workers begins --workers-max, and is an option by itself. */
static bool
begins_as_a_name(const char *name, size_t length)
{
	const struct option_row *row;

	for (unsigned int i = 0; (row = option_row_at(i)); i++)
		if (strlen(row->name) == length && strncmp(row->name, name, length) == 0)
			return true;
	return false;
}

static void
beginnings_of_names_are_not_names(void **state)
{
	const struct option_row *row;
	struct parsed p;
	char line[128];

	(void)state;
	for (unsigned int i = 0; (row = option_row_at(i)); i++) {
		for (size_t length = 0; length < strlen(row->name); length++) {
			if (begins_as_a_name(row->name, length))
				continue;
			snprintf(line, sizeof(line), "--%.*s=1", (int)length, row->name);
			assert_false(options_is_known(line));
			assert_refused(&p, line);
		}
		snprintf(line, sizeof(line), "--%sx", row->name);
		assert_refused(&p, line);
		snprintf(line, sizeof(line), "-%s", row->name);
		assert_refused(&p, line);
	}
}

static void
unknown_options_get_the_nearest_name(void **state)
{
	struct parsed p;

	(void)state;
	assert_refusal(
		&p, "--wrkers 4", "weir: --wrkers: no such option, did you mean --workers?\n");
	assert_refusal(&p, "--work=4", "weir: --work: no such option, did you mean --workers?\n");
	assert_refusal(&p, "--lane_size 4",
		"weir: --lane_size: no such option, did you mean --lane-size?\n");
	assert_refusal(&p, "--seeed", "weir: --seeed: no such option, did you mean --seed?\n");
	assert_refusal(&p, "--brust", "weir: --brust: no such option, did you mean --burst?\n");
	assert_refusal(&p, "--xx-queues",
		"weir: --xx-queues: no such option, did you mean --rx-queues?\n");
	assert_refusal(&p, "--drain-timout 1",
		"weir: --drain-timout: no such option, did you mean --drain-timeout?\n");
	assert_refusal(&p, "--drain--timeout 1",
		"weir: --drain--timeout: no such option, did you mean --drain-timeout?\n");
	assert_refused(&p, "--wrkrsss"); /* four edits away */
	assert_null(strstr(p.output, "did you mean"));
	assert_refused(&p, "--frobnicate");
	assert_null(strstr(p.output, "did you mean"));
	assert_refused(&p, "-l 0-3");
	assert_non_null(strstr(p.output, "EAL"));
	assert_refused(
		&p, "--abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrs");
}

static void
stray_words_are_refused(void **state)
{
	struct parsed p;

	(void)state;
	assert_refusal(&p, "run", "weir: run: not an option; weir --help lists them\n");
	assert_refused(&p, "--workers 4 4");
	assert_refused(&p, "--quiet yes");
	assert_refused(&p, "--");
	assert_refused(&p, "-");
}

static void
missing_and_empty_values_are_refused(void **state)
{
	const struct option_row *row;
	struct parsed p;
	char line[128];

	(void)state;
	for (unsigned int i = 0; (row = option_row_at(i)); i++) {
		snprintf(line, sizeof(line), "--%s=", row->name);
		assert_refused(&p, line);
		if (!row->placeholder)
			continue;
		snprintf(line, sizeof(line), "--%s", row->name);
		assert_refused(&p, line);
		assert_non_null(strstr(p.output, ": needs a value, allowed "));
		snprintf(line, sizeof(line), "--%s --quiet", row->name);
		assert_refused(&p, line);
	}
	assert_refusal(&p, "--workers=", "weir: --workers '': allowed 1 to 256\n");
}

static void
flags_take_no_value(void **state)
{
	struct parsed p;

	(void)state;
	assert_refusal(&p, "--quiet=yes", "weir: --quiet yes: allowed no value\n");
}

static void
help_and_version_end_the_parsing(void **state)
{
	struct parsed p;

	(void)state;
	assert_accepted(&p, "--workers 4 --help --nonsense");
	assert_true(p.options.help);
	assert_accepted(&p, "--version --chunk 8 --strategy rendezvous --chunk");
	assert_true(p.options.version);
	assert_refused(&p, "--nonsense --help");
}

static void
known_options_are_known_with_and_without_value(void **state)
{
	(void)state;
	assert_true(options_is_known("--workers"));
	assert_true(options_is_known("--workers=4"));
	assert_true(options_is_known("--help"));
	assert_false(options_is_known("--lcores"));
	assert_false(options_is_known("workers"));
	assert_false(options_is_known("--"));
	assert_false(options_is_known(""));
}

static void
a_value_cannot_break_the_line(void **state)
{
	struct parsed p;

	(void)state;
	assert_refusal(&p, "--workers 1\n2\x1b[31m\r\x7f",
		"weir: --workers 1?2?[31m??: allowed 1 to 256\n");
	assert_refused(&p, "--wor\nkers");
	assert_refused(&p, "stray\nword");
}

static void
long_values_are_cut_but_refused_in_one_line(void **state)
{
	struct parsed p;
	char line[4000];

	(void)state;
	memset(line, '9', sizeof(line));
	memcpy(line, "--workers ", 10);
	line[sizeof(line) - 1] = '\0';
	assert_refused(&p, line);
	memset(line, 'x', sizeof(line) - 1);
	assert_refused(&p, line);
	memcpy(line, "--", 2);
	assert_refused(&p, line);
}

static void
refusals_made_elsewhere_look_the_same(void **state)
{
	struct stderr_capture capture;
	char text[256];

	(void)state;
	stderr_capture_start(&capture);
	assert_int_equal(options_refuse("--rx-cores", "3", "at most %u", 2), -EINVAL);
	assert_int_equal(options_refuse("--vdev", NULL, "once"), -EINVAL);
	stderr_capture_end(&capture, text, sizeof(text));
	assert_string_equal(text, "weir: --rx-cores 3: allowed at most 2\n"
				  "weir: --vdev: allowed once\n");
}

/* Usage as printed; the caller frees it. */
static char *
usage_read(void)
{
	size_t n_bytes;
	char *text;
	FILE *out = open_memstream(&text, &n_bytes);

	assert_non_null(out);
	options_print_usage(out);
	fclose(out);
	return text;
}

static void
usage_fits_100_columns(void **state)
{
	char *usage = usage_read();
	char *rest = usage;
	char *line;

	(void)state;
	while ((line = strsep(&rest, "\n")))
		assert_true(strlen(line) <= 100);
	free(usage);
}

static void
usage_shows_every_option_default_and_choice(void **state)
{
	char *usage = usage_read();
	const struct option_row *row;
	char text[64];

	(void)state;
	for (unsigned int i = 0; (row = option_row_at(i)); i++) {
		snprintf(text, sizeof(text), "\n  --%s", row->name);
		assert_non_null(strstr(usage, text));
		assert_true(!row->default_text || strstr(usage, row->default_text));
	}
	for (unsigned int i = 0; weir_strategy_at(i); i++)
		assert_non_null(strstr(usage, weir_strategy_at(i)->name));
	for (unsigned int i = 0; handler_at(i); i++)
		assert_non_null(strstr(usage, handler_at(i)->usage));
	free(usage);
}

static void
what_is_allowed_fits_its_room(void **state)
{
	const struct option_row *row;
	char text[OPTION_TEXT_BYTES];

	(void)state;
	for (unsigned int i = 0; (row = option_row_at(i)); i++) {
		row->type->describe(row, text, sizeof(text));
		assert_true(strlen(text) > 0 && strlen(text) < sizeof(text) - 1);
	}
}

/* A word made of what options are made of. */
static void
word_draw(char *word, size_t n_bytes, struct test_random *random)
{
	static const char alphabet[] = "0123456789,-=.:xeE\n\t\x01\xff-=,";
	unsigned int n_rows = 0;
	size_t used = 0;

	while (option_row_at(n_rows))
		n_rows++;
	if (test_random_below(random, 2))
		used = (size_t)snprintf(word, n_bytes, "--%s",
			option_row_at(test_random_below(random, n_rows))->name);
	for (uint32_t n = test_random_below(random, 8); n > 0; n--)
		word[used++] = alphabet[test_random_below(random, sizeof(alphabet) - 1)];
	word[used] = '\0';
}

static void
two_outputs_are_not_written_to_one_file(void **state)
{
	struct parsed p;

	(void)state;
	assert_accepted(&p, "--report some --dead-packets other");
	assert_refusal(&p, "--report some --dead-packets some",
		"weir: --dead-packets some: allowed a file of its own: --report writes to that "
		"one\n");
	/* By another name: this program's own file stands for one that is there already. */
	assert_refused(&p, "--report /proc/self/exe --dead-packets /proc/self/../self/exe");
}

static void
any_words_are_accepted_silently_or_refused_in_one_line(void **state)
{
	struct test_random random = test_random_start(__func__);
	char words[4][64];
	struct parsed p;

	(void)state;
	for (int round = 0; round < 5000; round++) {
		p.argc = (int)test_random_below(&random, ARRAY_LENGTH(words) + 1);
		for (int i = 0; i < p.argc; i++) {
			word_draw(words[i], sizeof(words[i]), &random);
			p.argv[i] = words[i];
		}
		parsed_words(&p);
		if (p.rc == 0)
			assert_string_equal(p.output, "");
		else
			assert_one_line(p.output);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_are_those_of_the_design),
		cmocka_unit_test(values_may_follow_or_be_attached),
		cmocka_unit_test(the_last_value_of_an_option_wins),
		cmocka_unit_test(the_last_handler_that_names_a_worker_is_its_own),
		cmocka_unit_test(handlers_of_no_worker_or_of_no_name_are_refused),
		cmocka_unit_test(
			handlers_are_checked_against_the_number_of_workers_wherever_it_stands),
		cmocka_unit_test(handlers_are_bounded),
		cmocka_unit_test(beginnings_of_names_are_not_names),
		cmocka_unit_test(unknown_options_get_the_nearest_name),
		cmocka_unit_test(stray_words_are_refused),
		cmocka_unit_test(missing_and_empty_values_are_refused),
		cmocka_unit_test(flags_take_no_value),
		cmocka_unit_test(help_and_version_end_the_parsing),
		cmocka_unit_test(known_options_are_known_with_and_without_value),
		cmocka_unit_test(a_value_cannot_break_the_line),
		cmocka_unit_test(long_values_are_cut_but_refused_in_one_line),
		cmocka_unit_test(refusals_made_elsewhere_look_the_same),
		cmocka_unit_test(usage_fits_100_columns),
		cmocka_unit_test(usage_shows_every_option_default_and_choice),
		cmocka_unit_test(what_is_allowed_fits_its_room),
		cmocka_unit_test(two_outputs_are_not_written_to_one_file),
		cmocka_unit_test(any_words_are_accepted_silently_or_refused_in_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
