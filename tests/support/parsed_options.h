/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of options share: parsing a line, and asserting how that ends. */
#ifndef WEIR_TESTS_PARSED_OPTIONS_H
#define WEIR_TESTS_PARSED_OPTIONS_H

#include "options.h"

#define PARSED_WORDS_MAX 160
#define PARSED_BYTES 4096

/* What was parsed last, how it ended and what was printed. */
struct parsed {
	struct options options;
	int rc;
	char output[PARSED_BYTES];
	int argc;
	char *argv[PARSED_WORDS_MAX];
	char line[PARSED_BYTES]; /* the words, terminated one by one */
};

/* Parses argc and argv as they stand. */
void parsed_words(struct parsed *parsed);

/* Asserts that the line, words separated by single blanks, is accepted without a message. */
void assert_accepted(struct parsed *parsed, const char *line);

/* Asserts that the line is refused in one line. */
void assert_refused(struct parsed *parsed, const char *line);

/* Asserts that the line is refused with these words. */
void assert_refusal(struct parsed *parsed, const char *line, const char *expected);

/* Asserts that the text is one line of Weir's. */
void assert_one_line(const char *text);

#endif
