/* SPDX-License-Identifier: BSD-3-Clause */
#include "code_file.h"

#include "test.h"

void
code_file_path(const char *name, char *path, size_t n_bytes)
{
	const char *folder = getenv("TEST_PLUGINS");

	assert_non_null(folder);
	snprintf(path, n_bytes, "%s/%s", folder, name);
}

struct weir_strategy *
code_file_loaded(struct weir_strategy *strategy, const char *file, const char *reason)
{
	if (!strategy)
		print_error("%s: %s\n", file, reason);
	assert_non_null(strategy);
	return strategy;
}

void
code_file_refused(const struct weir_strategy *strategy, const char *file, const char *reason,
	const char *expected)
{
	assert_null(strategy);
	if (!strstr(reason, expected))
		print_error("%s: '%s' is not in: %s\n", file, expected, reason);
	assert_non_null(strstr(reason, expected));
	assert_null(strchr(reason, '\n'));
}
