/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line before EAL: what is whose, what is added, what is refused. */
#include "test.h"

#include "eal_arguments.h"
#include "stderr_capture.h"

#define WORDS_MAX 32

/* A command line that was split, and what was printed. */
struct split {
	struct eal_arguments arguments;
	int rc;
	char output[512];
	int argc;
	char *argv[WORDS_MAX + 1];
	char line[512];
};

/* Splits a line whose words are separated by single blanks; the first is the program's name. */
static void
split(struct split *s, const char *line)
{
	struct stderr_capture capture;
	char *rest = s->line;

	assert_true(strlen(line) < sizeof(s->line));
	strcpy(s->line, line);
	s->argc = 0;
	while (rest) {
		assert_true(s->argc < WORDS_MAX);
		s->argv[s->argc++] = strsep(&rest, " ");
	}
	s->argv[s->argc] = NULL;
	stderr_capture_start(&capture);
	s->rc = eal_arguments_split(&s->arguments, s->argc, s->argv);
	stderr_capture_end(&capture, s->output, sizeof(s->output));
}

static void
assert_split(struct split *s, const char *line)
{
	split(s, line);
	assert_string_equal(s->output, "");
	assert_int_equal(s->rc, 0);
}

static void
assert_refusal(const char *line, const char *expected)
{
	struct split s;

	split(&s, line);
	assert_string_equal(s.output, expected);
	assert_int_equal(s.rc, -EINVAL);
}

/* Asserts what rte_eal_init would be given. */
static void
assert_built(const char *line, const char *expected)
{
	struct split s;
	char text[512] = "";

	assert_split(&s, line);
	assert_int_equal(eal_arguments_build(&s.arguments, "0@0,1@1"), 0);
	for (int i = 0; i < s.arguments.argc; i++) {
		strcat(text, i ? " " : "");
		strcat(text, s.arguments.argv[i]);
	}
	assert_null(s.arguments.argv[s.arguments.argc]);
	assert_string_equal(text, expected);
	eal_arguments_free(&s.arguments);
}

static void
words_are_split_at_the_separator(void **state)
{
	struct split s;

	(void)state;
	assert_split(&s, "weir --no-huge -m 256 -- --workers 4 --");
	assert_int_equal(s.arguments.n_eal_words, 4);
	assert_int_equal(s.arguments.options_argc, 3);
	assert_string_equal(s.arguments.options_argv[0], "--workers");
	assert_split(&s, "weir --no-huge");
	assert_int_equal(s.arguments.options_argc, 0);
	assert_split(&s, "weir --");
	assert_int_equal(s.arguments.n_eal_words, 1);
	assert_int_equal(s.arguments.options_argc, 0);
	assert_split(&s, "weir");
	assert_int_equal(s.arguments.n_eal_words, 1);
	assert_int_equal(s.arguments.options_argc, 0);
}

static void
a_separator_that_is_a_value_separates_nothing(void **state)
{
	struct split s;

	(void)state;
	assert_split(&s, "weir --vdev -- -- --quiet");
	assert_int_equal(s.arguments.n_eal_words, 3);
	assert_int_equal(s.arguments.options_argc, 1);
	assert_refusal("weir --vdev -- --quiet",
		"weir: --quiet: allowed only after the --: weir [EAL options] -- [options]\n");
}

static void
lcores_and_file_prefix_are_added(void **state)
{
	(void)state;
	assert_built("weir --no-huge -- --quiet",
		"weir --no-huge --lcores=0@0,1@1 --file-prefix=weir -- --quiet");
	assert_built("weir", "weir --lcores=0@0,1@1 --file-prefix=weir --");
	assert_built("weir --in-memory", "weir --in-memory --lcores=0@0,1@1 --file-prefix=weir --");
}

static void
what_the_user_chose_is_left_alone(void **state)
{
	static const char *const core_options[] = { "-l 0-1", "-l0-1", "-c 3", "-c3",
		"--lcores 0@1", "--lcores=0", "--lc=0", "--main-lcore 1", "--main=1", "-S 1",
		"-s 2", "-vl0", "-vc 3" };
	char line[128], expected[128];

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(core_options); i++) {
		snprintf(line, sizeof(line), "weir %s --no-pci -- --quiet", core_options[i]);
		snprintf(expected, sizeof(expected),
			"weir %s --no-pci --file-prefix=weir -- --quiet", core_options[i]);
		assert_built(line, expected);
	}
	assert_built("weir --file-prefix a", "weir --file-prefix a --lcores=0@0,1@1 --");
	assert_built("weir --file=a -l 0", "weir --file=a -l 0 --");
}

static void
values_that_look_like_core_options_are_values(void **state)
{
	struct split s;

	(void)state;
	assert_split(&s, "weir --vdev -l --log-level --lcores -d --file-prefix");
	assert_false(s.arguments.has_core_option);
	assert_false(s.arguments.has_file_prefix);
}

static void
help_and_version_are_seen_before_eal(void **state)
{
	static const char *const help[] = { "weir --help", "weir -h", "weir help", "weir --he",
		"weir -vh", "weir --no-huge --help -- --quiet", "weir help --workers" };
	static const char *const version[] = { "weir --version", "weir version",
		"weir -m 1 --version --frob" };
	struct split s;

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(help); i++) {
		assert_split(&s, help[i]);
		assert_true(s.arguments.help && !s.arguments.version);
	}
	for (size_t i = 0; i < ARRAY_LENGTH(version); i++) {
		assert_split(&s, version[i]);
		assert_true(s.arguments.version && !s.arguments.help);
	}
	assert_split(&s, "weir -- --help");
	assert_false(s.arguments.help);
	assert_split(&s, "weir --vdev --help");
	assert_false(s.arguments.help);
}

static void
options_of_weir_belong_behind_the_separator(void **state)
{
	(void)state;
	assert_refusal("weir --workers 4",
		"weir: --workers: allowed only after the --: weir [EAL options] -- [options]\n");
	assert_refusal("weir --no-huge --workers=4 -- --quiet",
		"weir: --workers=4: allowed only after the --: weir [EAL options] -- [options]\n");
}

static void
what_nobody_knows_is_refused(void **state)
{
	(void)state;
	assert_refusal("weir --frobnicate",
		"weir: --frobnicate: allowed EAL's options; Weir's own go after the --\n");
	assert_refusal("weir -vX", "weir: -X: allowed EAL's options; Weir's own go after the --\n");
	assert_refusal("weir --no-huge=1",
		"weir: --no-huge=1: allowed EAL's options; Weir's own go after the --\n");
	assert_refusal("weir run",
		"weir: run: allowed options, or first one of the commands why, help and version\n");
	assert_refusal("weir --no-huge help", "weir: help: allowed options, or first one of the "
					      "commands why, help and version\n");
}

static void
missing_values_are_refused(void **state)
{
	(void)state;
	assert_refusal("weir --vdev", "weir: --vdev: allowed only with a value\n");
	assert_refusal("weir --no-huge -m", "weir: -m: allowed only with a value\n");
}

static void
weir_is_a_primary_process(void **state)
{
	struct split s;

	(void)state;
	assert_split(&s, "weir --proc-type primary");
	assert_refusal("weir --proc-type=secondary",
		"weir: --proc-type secondary: allowed primary: workers are no EAL processes\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_split_at_the_separator),
		cmocka_unit_test(a_separator_that_is_a_value_separates_nothing),
		cmocka_unit_test(lcores_and_file_prefix_are_added),
		cmocka_unit_test(what_the_user_chose_is_left_alone),
		cmocka_unit_test(values_that_look_like_core_options_are_values),
		cmocka_unit_test(help_and_version_are_seen_before_eal),
		cmocka_unit_test(options_of_weir_belong_behind_the_separator),
		cmocka_unit_test(what_nobody_knows_is_refused),
		cmocka_unit_test(missing_values_are_refused),
		cmocka_unit_test(weir_is_a_primary_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
