/* SPDX-License-Identifier: BSD-3-Clause */
/* The configuration file: what it sets, what the words change of that, what is refused where. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "options.h"
#include "parsed_options.h"
#include "stderr_capture.h"

/* A folder with one file; the words name the file. */
static char folder[] = "/tmp/weir-config-XXXXXX";
static char path[64];

static void
file_write(const char *text, size_t n_bytes)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, n_bytes, file), n_bytes);
	assert_int_equal(fclose(file), 0);
}

/* Parses the file and a line of words behind it. */
static void
assert_file_accepted(struct parsed *p, const char *text, const char *words)
{
	char line[256];

	file_write(text, strlen(text));
	snprintf(line, sizeof(line), "--config %s%s%s", path, words[0] ? " " : "", words);
	assert_accepted(p, line);
}

/* Asserts that the file is refused with "weir: PATH:" and these words. */
static void
assert_file_refused(const char *text, const char *expected)
{
	char refusal[512];
	char line[128];
	struct parsed p;

	file_write(text, strlen(text));
	snprintf(line, sizeof(line), "--config %s", path);
	snprintf(refusal, sizeof(refusal), "weir: %s:%s\n", path, expected);
	assert_refusal(&p, line, refusal);
}

static void
keys_are_the_names_of_options(void **state)
{
	struct parsed p;

	(void)state;
	assert_file_accepted(&p,
		"# of a test\n"
		"[weir]\n"
		"workers = 7\n"
		"strategy=round-robin ; in turn\n"
		"  \n"
		"overflow : reject\r\n"
		"duration = 0.5\n"
		"handler = drop\n"
		"handler = 0-1=echo\n"
		"report = /tmp/a#b\n"
		"quiet = yes\n",
		"");
	assert_int_equal(p.options.workers, 7);
	assert_string_equal(p.options.strategy, "round-robin");
	assert_string_equal(p.options.overflow, "reject");
	assert_int_equal(p.options.duration_ns, 500000000);
	assert_int_equal(p.options.n_handlers, 3);
	assert_string_equal(p.options.handlers[2], "0-1=echo");
	assert_string_equal(p.options.report, "/tmp/a#b");
	assert_true(p.options.quiet);
	assert_string_equal(p.options.config, path);
	assert_true(options_given(&p.options, "workers"));
	assert_false(options_given(&p.options, "burst"));
	options_free(&p.options);
}

static void
an_empty_file_changes_nothing(void **state)
{
	struct parsed p;

	(void)state;
	assert_file_accepted(&p, "", "");
	assert_int_equal(p.options.workers, 4);
	options_free(&p.options);
	assert_file_accepted(&p, "[rules]\n[weir]\nquiet = no\n", "--workers 4");
	options_free(&p.options);
}

static void
words_win_wherever_the_file_is_named(void **state)
{
	char line[128];
	struct parsed p;

	(void)state;
	assert_file_accepted(&p, "[weir]\nworkers = 7\nburst = 8\n", "--workers 9");
	assert_int_equal(p.options.workers, 9);
	assert_int_equal(p.options.burst, 8);
	options_free(&p.options);
	snprintf(line, sizeof(line), "--workers 9 --config=%s", path);
	assert_accepted(&p, line);
	assert_int_equal(p.options.workers, 9);
	assert_int_equal(p.options.burst, 8);
	options_free(&p.options);
}

static void
rules_of_the_file_come_before_those_of_the_words(void **state)
{
	struct parsed p;

	(void)state;
	assert_file_accepted(&p,
		"[rules]\nrule = udp => first\nrule = tcp => last\n[weir]\nrule = arp => drop\n",
		"");
	assert_int_equal(p.options.n_rules, 3);
	options_free(&p.options);
	p.argc = 4;
	p.argv[0] = (char[]) { "--rule" };
	p.argv[1] = (char[]) { "icmp => drop" };
	p.argv[2] = (char[]) { "--config" };
	p.argv[3] = path;
	parsed_words(&p);
	assert_int_equal(p.rc, 0);
	assert_int_equal(p.options.n_rules, 4);
	assert_string_equal(weir_rules_expression(p.options.rules, 1), "udp");
	assert_string_equal(weir_rules_expression(p.options.rules, 3), "arp");
	assert_string_equal(weir_rules_expression(p.options.rules, 4), "icmp");
	options_free(&p.options);
}

static void
a_rule_goes_on_in_indented_lines(void **state)
{
	struct parsed p;

	(void)state;
	assert_file_accepted(&p,
		"[rules]\n"
		"rule = udp and\n"
		"\t(port 53\n"
		"  # a comment may stand between\n"
		"     or port 54)\n"
		"  => first\n"
		"rule = tcp => drop\n",
		"");
	assert_int_equal(p.options.n_rules, 2);
	assert_string_equal(
		weir_rules_expression(p.options.rules, 1), "udp and (port 53 or port 54)");
	assert_string_equal(weir_rules_action(p.options.rules, 1), "first");
	options_free(&p.options);
}

static void
bad_lines_are_refused_with_their_number(void **state)
{
	(void)state;
	assert_file_refused("[weir]\nworkers\n",
		"2: allowed [SECTION], KEY = VALUE and comments behind ; or #");
	assert_file_refused("[weir\nworkers = 4\n",
		"1: allowed [SECTION], KEY = VALUE and comments behind ; or #");
	/* The malformed line is found first, wherever it is. */
	assert_file_refused("[weir]\nworkers = 0\nworkers\n",
		"3: allowed [SECTION], KEY = VALUE and comments behind ; or #");
	assert_file_refused(
		"[wier]\nworkers = 4\n", "2: wier: allowed sections [weir] and [rules]");
	assert_file_refused("workers = 4\n", "1: workers: allowed keys in [weir] and [rules] only");
	assert_file_refused(
		"[rules]\nrules = x\n", "2: rules: allowed only the key rule in [rules]");
}

static void
bad_values_and_keys_are_refused_with_their_line(void **state)
{
	(void)state;
	assert_file_refused("[weir]\n\nworkers = 0\n", "3: workers 0: allowed 1 to 256");
	assert_file_refused("[weir]\nworkers =\n", "2: workers '': allowed 1 to 256");
	assert_file_refused(
		"[weir]\nwrkers = 4\n", "2: wrkers: no such option, did you mean workers?");
	assert_file_refused("[weir]\nquiet = true\n", "2: quiet true: allowed yes or no");
	assert_file_refused("[weir]\nconfig = x\n", "2: config: allowed on the command line only");
	assert_file_refused("[weir]\nhelp = yes\n", "2: help: allowed on the command line only");
	assert_file_refused("[weir]\nservice-ns = 1\n",
		"2: service-ns: no option that a file can have; weir --help lists them");
	assert_file_refused("[rules]\n\nrule = udp\n\tprot 53 => drop\n",
		"3: rule udp prot 53 => drop: number 1, column 5: can't parse filter expression: "
		"syntax error");
}

/* libinih would take the line for more of the value before. */
static void
indented_lines_go_on_with_rules_only(void **state)
{
	(void)state;
	assert_file_refused("[weir]\nreport = a\n  quiet = yes\n",
		"3: quiet = yes: allowed indented lines only to go on with a rule");
	assert_file_refused("[rules]\n  rule = udp => drop\n",
		"2: udp => drop: allowed indented lines only to go on with a rule");
	assert_file_refused("[weir]\nrule = udp => drop\n  retry:1\n",
		"3: retry:1: allowed indented lines only to go on with a rule");
}

/* libinih would cut them and go on. */
static void
long_lines_are_refused_not_cut(void **state)
{
	char text[4096] = "[weir]\nreport = ";
	struct parsed p;
	uint32_t length = 0;

	(void)state;
	/* The longest line that is taken is found, so that the test holds whatever libinih's is. */
	do {
		strcat(text, "x");
		length = (uint32_t)strlen(text) - 7;
		assert_true(length < 4000);
		file_write(text, strlen(text));
		p.argc = 2;
		p.argv[0] = (char[]) { "--config" };
		p.argv[1] = path;
		parsed_words(&p);
		if (p.rc == 0) {
			assert_int_equal(strlen(p.options.report), length - strlen("report = "));
			options_free(&p.options);
		}
	} while (p.rc == 0);
	assert_one_line(p.output);
	assert_non_null(strstr(p.output, ":2: allowed at most "));
	assert_true(length > 150);
}

static void
sixty_three_rules_are_taken_over_all_lines(void **state)
{
	char text[4096] = "[rules]\n";
	struct parsed p;

	(void)state;
	for (int i = 0; i < WEIR_RULES_MAX; i++)
		strcat(text, "rule = udp => drop\n");
	assert_file_accepted(&p, text, "");
	options_free(&p.options);
	strcat(text, "rule = udp => drop\n");
	assert_file_refused(text, "65: rule udp => drop: allowed at most 63 rules");
	strcpy(text, "[rules]\nrule = => drop\n");
	for (int i = 0; i < 30; i++)
		strcat(text,
			" serial serial serial serial serial serial serial serial serial serial "
			"serial serial serial serial serial serial serial\n");
	file_write(text, strlen(text));
	p.argc = 2;
	p.argv[0] = (char[]) { "--config" };
	p.argv[1] = path;
	parsed_words(&p);
	assert_int_equal(p.rc, -EINVAL);
	assert_one_line(p.output);
}

static void
files_that_are_no_text_are_refused(void **state)
{
	static const char zero[] = "[weir]\nreport = a\0b\n";
	char line[128];
	struct parsed p;

	(void)state;
	snprintf(line, sizeof(line), "--config %s", path);
	file_write(zero, sizeof(zero) - 1);
	assert_refused(&p, line);
	assert_non_null(strstr(p.output, "zero byte"));
	assert_refused(&p, "--config /dev/zero");
	assert_refused(&p, "--config /tmp");
	assert_non_null(strstr(p.output, "Is a directory"));
	unlink(path);
	assert_refused(&p, line);
	assert_non_null(strstr(p.output, "No such file"));
}

/* Else the control thread of a running Weir would wait with it. */
static void
a_file_that_somebody_holds_is_refused_at_once(void **state)
{
	char line[128];
	struct parsed p;
	int fd;

	(void)state;
	file_write("[weir]\nworkers = 2\n", 19);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	/* An open that may wait would wait for the lease to be broken: 45 s. */
	signal(SIGIO, SIG_IGN);
	if (fcntl(fd, F_SETLEASE, F_WRLCK) < 0) {
		close(fd);
		skip();
	}
	snprintf(line, sizeof(line), "--config %s", path);
	assert_refused(&p, line);
	assert_non_null(strstr(p.output, strerror(EWOULDBLOCK)));
	close(fd);
}

static void
one_file_is_read_and_no_second(void **state)
{
	char line[256];
	struct parsed p;

	(void)state;
	file_write("[weir]\nworkers = 2\n", 19);
	snprintf(line, sizeof(line), "--config %s --config %s", path, path);
	assert_refused(&p, line);
	assert_non_null(strstr(p.output, "one file only"));
	snprintf(line, sizeof(line), "--help --config %s", "/nonexistent");
	assert_accepted(&p, line);
	assert_true(p.options.help);
}

static void
weir_why_reads_the_files_of_weir(void **state)
{
	struct stderr_capture capture;
	struct options options;
	char *words[] = { (char[]) { "--config" }, path, (char[]) { "in.pcap" } };
	char output[512];

	(void)state;
	file_write("[weir]\nrx-cores = 2\nworkers = 3\nquiet = yes\nseed = 5\n", 53);
	stderr_capture_start(&capture);
	assert_int_equal(options_parse_why(&options, 3, words), 0);
	assert_int_equal(options.workers, 3);
	assert_int_equal(options.seed, 5);
	assert_int_equal(options.rx_cores, 1);
	assert_false(options.quiet);
	options_free(&options);
	file_write("[weir]\nrx-cores = 0\n", 20);
	assert_int_equal(options_parse_why(&options, 3, words), -EINVAL);
	options_free(&options);
	stderr_capture_end(&capture, output, sizeof(output));
	assert_non_null(strstr(output, ":2: rx-cores 0: allowed 1 to 14\n"));
}

/* What files are made of, in any order. */
static void
any_file_is_accepted_silently_or_refused_in_one_line(void **state)
{
	static const char *const pieces[] = { "[weir]\n", "[rules]\n", "rule = udp => drop\n", "[",
		"]", " ", "\t", "=", ":", ";", "#", "\n", "\r\n", "workers = 3\n", "report = x\n",
		"rule", "quiet", "no", "\xef\xbb\xbf", "\xff", "=> first", "  and port 3\n" };
	struct test_random random = test_random_start(__func__);
	struct parsed p;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		char text[512] = "";

		for (uint32_t n = test_random_below(&random, 16); n > 0; n--)
			strcat(text, pieces[test_random_below(&random, ARRAY_LENGTH(pieces))]);
		file_write(text, strlen(text));
		p.argc = 2;
		p.argv[0] = (char[]) { "--config" };
		p.argv[1] = path;
		parsed_words(&p);
		if (p.rc == 0)
			assert_string_equal(p.output, "");
		else
			assert_one_line(p.output);
		if (p.rc == 0)
			options_free(&p.options);
	}
}

static int
folder_make(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/weir.ini", folder);
	return 0;
}

static int
folder_remove(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_are_the_names_of_options),
		cmocka_unit_test(an_empty_file_changes_nothing),
		cmocka_unit_test(words_win_wherever_the_file_is_named),
		cmocka_unit_test(rules_of_the_file_come_before_those_of_the_words),
		cmocka_unit_test(a_rule_goes_on_in_indented_lines),
		cmocka_unit_test(bad_lines_are_refused_with_their_number),
		cmocka_unit_test(bad_values_and_keys_are_refused_with_their_line),
		cmocka_unit_test(indented_lines_go_on_with_rules_only),
		cmocka_unit_test(long_lines_are_refused_not_cut),
		cmocka_unit_test(sixty_three_rules_are_taken_over_all_lines),
		cmocka_unit_test(files_that_are_no_text_are_refused),
		cmocka_unit_test(a_file_that_somebody_holds_is_refused_at_once),
		cmocka_unit_test(one_file_is_read_and_no_second),
		cmocka_unit_test(weir_why_reads_the_files_of_weir),
		cmocka_unit_test(any_file_is_accepted_silently_or_refused_in_one_line),
	};

	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
