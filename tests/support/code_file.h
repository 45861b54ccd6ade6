/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of code that the build makes for tests to load: where they are, and what is said of them.
 */
#ifndef WEIR_TESTS_CODE_FILE_H
#define WEIR_TESTS_CODE_FILE_H

#include <stddef.h>

#include <weir/strategy.h>

/* The path of a file in the tests' folder, `name` with its ending: "late.so". */
void code_file_path(const char *name, char *path, size_t n_bytes);

/* Asserts that the file was loaded; prints the reason where it was not. Returns the strategy. */
struct weir_strategy *code_file_loaded(
	struct weir_strategy *strategy, const char *file, const char *reason);

/* Asserts that a file was refused, in one line that has `expected` in it. */
void code_file_refused(const struct weir_strategy *strategy, const char *file, const char *reason,
	const char *expected);

#endif
