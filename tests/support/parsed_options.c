/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses lines of options and catches what that prints. */
#include "test.h"

#include "parsed_options.h"
#include "stderr_capture.h"

void
parsed_words(struct parsed *parsed)
{
	struct stderr_capture capture;

	stderr_capture_start(&capture);
	parsed->rc = options_parse(&parsed->options, parsed->argc, parsed->argv);
	stderr_capture_end(&capture, parsed->output, sizeof(parsed->output));
	/* Those that were accepted with rules or a file are the test's to free. */
	if (parsed->rc < 0)
		options_free(&parsed->options);
}

/* Parses a line whose words are separated by single blanks. */
static void
parse(struct parsed *parsed, const char *line)
{
	char *rest = parsed->line;

	assert_true(strlen(line) < sizeof(parsed->line));
	strcpy(parsed->line, line);
	parsed->argc = 0;
	while (line[0] && rest) {
		assert_true(parsed->argc < PARSED_WORDS_MAX);
		parsed->argv[parsed->argc++] = strsep(&rest, " ");
	}
	parsed_words(parsed);
}

void
assert_accepted(struct parsed *parsed, const char *line)
{
	parse(parsed, line);
	if (parsed->rc != 0)
		print_error("%s: %s", line, parsed->output);
	assert_int_equal(parsed->rc, 0);
	assert_string_equal(parsed->output, "");
}

void
assert_one_line(const char *text)
{
	assert_int_equal(strncmp(text, "weir: ", 6), 0);
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
}

void
assert_refused(struct parsed *parsed, const char *line)
{
	parse(parsed, line);
	if (parsed->rc != -EINVAL)
		print_error("not refused: %s\n", line);
	assert_int_equal(parsed->rc, -EINVAL);
	assert_one_line(parsed->output);
}

void
assert_refusal(struct parsed *parsed, const char *line, const char *expected)
{
	assert_refused(parsed, line);
	assert_string_equal(parsed->output, expected);
}
