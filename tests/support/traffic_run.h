/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs weir-traffic, whose path is in WEIR_TRAFFIC, from a cmocka group whose state is a scratch
 * folder.
 */
#ifndef WEIR_TESTS_TRAFFIC_RUN_H
#define WEIR_TESTS_TRAFFIC_RUN_H

#include <stdbool.h>
#include <sys/resource.h>

/* What a run left behind, beside its file. */
struct traffic_run {
	int exit_status;
	char errors[1024]; /* stderr */
};

/* Group set-up and tear-down. The latter fails if a file is left that no test has dropped. */
int traffic_scratch_create(void **state);
int traffic_scratch_destroy(void **state);

/* A path in the scratch folder. */
char *traffic_path(void **state, const char *name);

/* Deletes the file at a path from traffic_path, if there is one, and frees the path. */
void traffic_path_drop(char *path);

/*
 * Runs the program with `options`, split at blanks, and then `output` (NULL: nothing). Under
 * traffic_run_limited no file may grow beyond `file_bytes`.
 */
struct traffic_run traffic_run(void **state, const char *options, const char *output);
struct traffic_run traffic_run_limited(
	void **state, const char *options, const char *output, rlim_t file_bytes);

/* Whether two files hold the same bytes. */
bool traffic_same_bytes(const char *path_a, const char *path_b);

#endif
