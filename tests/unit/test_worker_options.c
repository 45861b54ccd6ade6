/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of `weir worker`, and whom Weir's workers run as. */
#include "test.h"

#include <unistd.h>

#include "parsed_options.h"
#include "stderr_capture.h"
#include "worker_options.h"
#include "worker_user.h"

#define WORDS_MAX 10

static struct worker_options options;
static char text[1024];

/* Parses a line; what it says is in `text`. */
static int
line_parse(const char *line)
{
	static char copy[1024];
	struct stderr_capture capture;
	char *words[WORDS_MAX + 1];
	char *rest = NULL;
	int n = 0;
	int rc;

	snprintf(copy, sizeof(copy), "%s", line);
	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		assert_true(n < WORDS_MAX);
		words[n++] = word;
	}
	words[n] = NULL;
	stderr_capture_start(&capture);
	rc = worker_options_parse(&options, n, words);
	stderr_capture_end(&capture, text, sizeof(text));
	return rc;
}

static void
assert_line_refused(const char *line, const char *words)
{
	assert_int_equal(line_parse(line), -EINVAL);
	if (!strstr(text, words) || strchr(text, '\n') != text + strlen(text) - 1)
		fail_msg("'%s' is not in the one line '%s'", words, text);
}

static void
words_of_either_form_are_read(void **state)
{
	(void)state;
	assert_int_equal(line_parse("--id 7 --socket /run/x.sock"), 0);
	assert_int_equal(options.id, 7);
	assert_string_equal(options.socket_path, "/run/x.sock");
	assert_int_equal(options.socket_fd, -1);
	assert_null(options.handler);
	assert_int_equal(line_parse("--socket=fd:12 --handler=burn:20 --id=255"), 0);
	assert_int_equal(options.id, 255);
	assert_null(options.socket_path);
	assert_int_equal(options.socket_fd, 12);
	assert_string_equal(options.handler, "burn:20");
	assert_int_equal(line_parse("--nonsense --help"), -EINVAL);
	assert_int_equal(line_parse("--help --nonsense"), 0);
	assert_true(options.help);
}

static void
what_is_no_value_is_refused_with_what_is_one(void **state)
{
	char line[300];

	(void)state;
	assert_line_refused("", "weir worker needs --id");
	assert_line_refused("--id 0", "weir worker needs --socket");
	assert_line_refused("--id 256 --socket x", "--id 256: allowed 0 to 255");
	assert_line_refused("--id -1 --socket x", "--id -1: allowed 0 to 255");
	assert_line_refused("--id 0 --socket=", "--socket ''");
	assert_line_refused("--id 0 --socket", "--socket: needs a value");
	assert_line_refused("--id 0 --handler nonsense", "--handler nonsense: allowed forward");
	assert_line_refused("--idx 0", "--idx: no option of weir worker");
	memset(line, 'x', sizeof(line));
	memcpy(line, "--socket ", 9);
	line[9 + 107] = '\0';
	memcpy(line + 9 + 107, " --id 1", sizeof(" --id 1"));
	assert_int_equal(line_parse(line), 0);
	memset(line + 9, 'x', 108);
	line[9 + 108] = '\0';
	assert_line_refused(line, "at most 107 bytes");
}

/* What a path says that begins like a descriptor. */
static void
what_only_begins_like_a_descriptor_is_a_path(void **state)
{
	(void)state;
	assert_int_equal(line_parse("--id 0 --socket fd:x"), 0);
	assert_string_equal(options.socket_path, "fd:x");
	assert_int_equal(line_parse("--id 0 --socket fd:99999999999"), 0);
	assert_string_equal(options.socket_path, "fd:99999999999");
}

/* ---- whom they run as ---- */

/* Finds the user of options that are accepted; what it says is in `text`. */
static int
user_find(struct worker_user *user, const char *line)
{
	struct stderr_capture capture;
	struct parsed p;
	int rc;

	assert_accepted(&p, line);
	stderr_capture_start(&capture);
	rc = worker_user_find(user, &p.options);
	stderr_capture_end(&capture, text, sizeof(text));
	options_free(&p.options);
	return rc;
}

static void
workers_of_root_run_as_nobody_and_others_as_their_weir(void **state)
{
	struct worker_user user;

	(void)state;
	assert_int_equal(user_find(&user, "--worker-mode process"), 0);
	assert_int_equal(user.is_other, geteuid() == 0);
	assert_int_equal(user.uid, geteuid() == 0 ? 65534 : geteuid());
	assert_int_equal(user_find(&user, "--worker-mode thread"), 0);
	assert_false(user.is_other);
	assert_int_equal(user.uid, geteuid());
}

static void
users_that_cannot_be_are_refused(void **state)
{
	struct worker_user user;

	(void)state;
	assert_int_equal(user_find(&user, "--worker-mode process --worker-user root"), -EINVAL);
	assert_non_null(strstr(text, "--worker-user root: allowed a user that exists, and not"));
	assert_int_equal(user_find(&user, "--worker-mode attached --worker-user no-such"), -EINVAL);
	assert_int_equal(user_find(&user, "--worker-user nobody"), -EINVAL);
	assert_non_null(strstr(text, "only with --worker-mode process or attached"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_of_either_form_are_read),
		cmocka_unit_test(what_is_no_value_is_refused_with_what_is_one),
		cmocka_unit_test(what_only_begins_like_a_descriptor_is_a_path),
		cmocka_unit_test(workers_of_root_run_as_nobody_and_others_as_their_weir),
		cmocka_unit_test(users_that_cannot_be_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
