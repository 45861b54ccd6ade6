/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs weir-traffic and collects what it says. */
#include "traffic_run.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define ARGUMENTS_MAX 32
/* Room for the scratch folder and a short name. */
#define PATH_BYTES 256

char *
traffic_path(void **state, const char *name)
{
	char *path = malloc(PATH_BYTES);

	assert_non_null(path);
	(void)snprintf(path, PATH_BYTES, "%s/%s", (const char *)*state, name);
	return path;
}

void
traffic_path_drop(char *path)
{
	(void)unlink(path);
	free(path);
}

/* In the child: split options, redirected streams, perhaps a limit on file sizes. */
static void
program_exec(const char *options, const char *output, const char *errors, rlim_t file_bytes)
{
	char words[1024];
	char *arguments[ARGUMENTS_MAX] = { getenv("WEIR_TRAFFIC") };
	unsigned int n = 1;
	const int error_fd = open(errors, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	const int null_fd = open("/dev/null", O_WRONLY);
	const struct rlimit limit = { file_bytes, file_bytes };

	(void)snprintf(words, sizeof(words), "%s", options);
	for (char *word = strtok(words, " "); word && n < ARGUMENTS_MAX - 2;
		word = strtok(NULL, " "))
		arguments[n++] = word;
	if (output != NULL)
		arguments[n] = (char *)(uintptr_t)output;
	dup2(null_fd, STDOUT_FILENO);
	dup2(error_fd, STDERR_FILENO);
	if (file_bytes != RLIM_INFINITY) {
		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &limit);
	}
	execv(arguments[0], arguments);
	_exit(127);
}

struct traffic_run
traffic_run_limited(void **state, const char *options, const char *output, rlim_t file_bytes)
{
	char *errors = traffic_path(state, "stderr");
	struct traffic_run run = { .exit_status = -1 };
	int status = 0;
	const pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		program_exec(options, output, errors, file_bytes);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	run.exit_status = WEXITSTATUS(status);
	FILE *file = fopen(errors, "r");

	assert_non_null(file);
	run.errors[fread(run.errors, 1, sizeof(run.errors) - 1, file)] = '\0';
	(void)fclose(file);
	traffic_path_drop(errors);
	return run;
}

struct traffic_run
traffic_run(void **state, const char *options, const char *output)
{
	return traffic_run_limited(state, options, output, RLIM_INFINITY);
}

bool
traffic_same_bytes(const char *path_a, const char *path_b)
{
	FILE *a = fopen(path_a, "r");
	FILE *b = fopen(path_b, "r");
	int byte_a;
	int byte_b;

	assert_non_null(a);
	assert_non_null(b);
	do {
		byte_a = fgetc(a);
		byte_b = fgetc(b);
	} while (byte_a == byte_b && byte_a != EOF);
	(void)fclose(a);
	(void)fclose(b);
	return byte_a == byte_b;
}

int
traffic_scratch_create(void **state)
{
	char *folder = strdup("/tmp/weir-test-traffic-XXXXXX");

	if (folder == NULL || mkdtemp(folder) == NULL || getenv("WEIR_TRAFFIC") == NULL) {
		print_error("no scratch folder in /tmp, or WEIR_TRAFFIC is not set\n");
		free(folder);
		return -1;
	}
	*state = folder;
	return 0;
}

int
traffic_scratch_destroy(void **state)
{
	const int result = rmdir(*state);

	if (result != 0)
		print_error("%s: not empty\n", (const char *)*state);
	free(*state);
	return result;
}
