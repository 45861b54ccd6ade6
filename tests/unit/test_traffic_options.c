/* SPDX-License-Identifier: BSD-3-Clause */
/* What weir-traffic refuses, in which words, and what it leaves behind when it fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "traffic_run.h"

static bool
exists(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0;
}

/* Each is refused with status 2 and one line that names what is wrong with it. */
static void
bad_options_are_refused_by_name(void **state)
{
	static const struct {
		const char *options;
		const char *named;
	} cases[] = {
		{ "--flows 0", "--flows 0: allowed: 1 to 1048576" },
		{ "--flows 1048577", "--flows 1048577" },
		{ "--flows 11 --packets 10", "--flows 11: allowed: up to --packets 10" },
		{ "--packets 0", "--packets 0" },
		{ "--packets -1", "--packets -1" },
		{ "--packets 10x", "--packets 10x" },
		{ "--packets 99999999999999999999", "--packets 99999999999999999999" },
		{ "--packets=", "--packets " },
		{ "--seed 0x10", "--seed 0x10" },
		{ "--seed 18446744073709551616", "--seed 18446744073709551616" },
		{ "--zipf 4.1", "--zipf 4.1: allowed: 0 to 4" },
		{ "--zipf -1", "--zipf -1" },
		{ "--zipf .", "--zipf ." },
		{ "--zipf nan", "--zipf nan" },
		{ "--min-size 59", "--min-size 59" },
		{ "--max-size 9015", "--max-size 9015" },
		{ "--min-size 200 --max-size 100",
			"--min-size 200: allowed: up to --max-size 100" },
		{ "--rate 0", "--rate 0" },
		{ "--mix tcp", "--mix tcp: allowed: KIND=WEIGHT" },
		{ "--mix tcp=", "--mix tcp=" },
		{ "--mix tcp=0", "--mix tcp=0" },
		{ "--mix tcp=1,", "--mix tcp=1," },
		{ "--mix tcp=1,tcp=1", "--mix tcp=1,tcp=1" },
		{ "--mix tc=1", "--mix tc=1" },
		{ "--mix tcp=1000001", "--mix tcp=1000001" },
		{ "--mix tcp=-1", "--mix tcp=-1" },
		{ "--mix tcp=1;udp=1", "--mix tcp=1;udp=1" },
		{ "--packet 10", "--packet: no such option" },
		{ "-x", "-x: no such option" },
		{ "--seed 1 --seed 2", "--seed: allowed: once" },
		{ "other.pcap", "allowed: once" },
		{ "--help=yes", "--help yes" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *path = traffic_path(state, "refused.pcap");
		const struct traffic_run run = traffic_run(state, cases[i].options, path);
		const char *newline = strchr(run.errors, '\n');

		if (run.exit_status != 2 || strstr(run.errors, cases[i].named) == NULL)
			fail_msg("%s: %d, %s", cases[i].options, run.exit_status, run.errors);
		assert_true(newline != NULL && newline[1] == '\0');
		assert_false(exists(path));
		traffic_path_drop(path);
	}
}

static void
an_option_without_its_value_and_no_file_are_refused(void **state)
{
	const struct traffic_run value = traffic_run(state, "--packets", NULL);
	const struct traffic_run file = traffic_run(state, "--packets 10", NULL);

	assert_int_equal(value.exit_status, 2);
	assert_non_null(strstr(value.errors, "--packets: no value"));
	assert_int_equal(file.exit_status, 2);
	assert_non_null(strstr(file.errors, "--output: no value"));
}

static void
help_is_printed_whatever_else_is_missing(void **state)
{
	const struct traffic_run run = traffic_run(state, "--help", NULL);

	assert_int_equal(run.exit_status, 0);
	assert_string_equal(run.errors, "");
}

/* Few packets fail as the file is completed, many before. */
static void
a_full_device_is_an_error(void **state)
{
	static const char *const options[] = { "--packets 2", "--packets 1000" };

	for (unsigned int i = 0; i < 2; i++) {
		const struct traffic_run run = traffic_run(state, options[i], "/dev/full");

		assert_int_equal(run.exit_status, 1);
		assert_non_null(strstr(run.errors, "/dev/full: No space left on device"));
	}
}

static void
a_file_that_cannot_be_finished_is_not_there(void **state)
{
	char *path = traffic_path(state, "limited.pcap");
	char *part = traffic_path(state, "limited.pcap.part");
	const struct traffic_run run = traffic_run_limited(state, "--packets 1000", path, 100000);

	assert_int_equal(run.exit_status, 1);
	assert_non_null(strstr(run.errors, "limited.pcap: File too large"));
	assert_false(exists(path));
	assert_false(exists(part));
	traffic_path_drop(path);
	traffic_path_drop(part);
}

static void
a_failed_run_leaves_the_old_file_alone(void **state)
{
	char *path = traffic_path(state, "old.pcap");
	char *copy = traffic_path(state, "copy.pcap");

	assert_int_equal(traffic_run(state, "--packets 100", path).exit_status, 0);
	assert_int_equal(traffic_run(state, "--packets 100", copy).exit_status, 0);
	const struct traffic_run run = traffic_run_limited(state, "--packets 1000", path, 100000);

	assert_int_equal(run.exit_status, 1);
	assert_true(traffic_same_bytes(path, copy));
	traffic_path_drop(path);
	traffic_path_drop(copy);
}

static void
a_folder_that_is_not_there_is_an_error(void **state)
{
	const struct traffic_run run = traffic_run(state, "--packets 10", "/nonexistent/x.pcap");

	assert_int_equal(run.exit_status, 1);
	assert_non_null(strstr(run.errors, "/nonexistent/x.pcap: No such file or directory"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bad_options_are_refused_by_name),
		cmocka_unit_test(an_option_without_its_value_and_no_file_are_refused),
		cmocka_unit_test(help_is_printed_whatever_else_is_missing),
		cmocka_unit_test(a_full_device_is_an_error),
		cmocka_unit_test(a_file_that_cannot_be_finished_is_not_there),
		cmocka_unit_test(a_failed_run_leaves_the_old_file_alone),
		cmocka_unit_test(a_folder_that_is_not_there_is_an_error),
	};

	return cmocka_run_group_tests_name(
		"traffic_options", tests, traffic_scratch_create, traffic_scratch_destroy);
}
