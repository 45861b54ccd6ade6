/* SPDX-License-Identifier: BSD-3-Clause */
#include "child.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define REASON_BYTES_MAX 512 /* below PIPE_BUF: written at once or not at all */

/* What comes through the pipe: nothing else counts as the end of the body. */
struct answer {
	int32_t rc;
	char reason[REASON_BYTES_MAX];
};
static_assert(sizeof(struct answer) <= 4096, "a pipe takes it in one piece");

int
reason_set(char *reason, size_t n_bytes, int errno_value, const char *format, ...)
{
	va_list arguments;

	if (!reason || n_bytes == 0)
		return -errno_value;
	va_start(arguments, format);
	vsnprintf(reason, n_bytes, format, arguments);
	va_end(arguments);
	for (; *reason; reason++)
		if ((unsigned char)*reason < 0x20 || *reason == 0x7f)
			*reason = '?';
	return -errno_value;
}

/* A crash shall be one, whatever handlers the process had; and its last words nobody's. */
static void
child_settle(void)
{
	static const int fatal[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU, SIGTERM };
	const struct rlimit cpu = { CHILD_CPU_SECONDS, CHILD_CPU_SECONDS + 1 };
	const struct rlimit core = { 0, 0 };
	const int null_fd = open("/dev/null", O_RDWR);

	for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++)
		signal(fatal[i], SIG_DFL);
	setpgid(0, 0); /* so that its own children can be ended with it */
	setrlimit(RLIMIT_CPU, &cpu);
	setrlimit(RLIMIT_CORE, &core);
	for (int fd = STDIN_FILENO; null_fd >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null_fd, fd);
}

static _Noreturn void
child_run(child_body_fn body, void *context, int fd)
{
	struct answer answer = { 0 };
	ssize_t written;

	child_settle();
	answer.rc = body(context, answer.reason, sizeof(answer.reason));
	written = write(fd, &answer, sizeof(answer));
	_exit(written == (ssize_t)sizeof(answer) ? 0 : 1);
}

static int64_t
monotonic_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Waits for the answer or the pipe's end. Returns bytes read, or -ETIMEDOUT. */
static int
answer_read(int fd, struct answer *answer)
{
	const int64_t end_ms = monotonic_ms() + CHILD_WAIT_SECONDS * 1000;
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	for (;;) {
		const int64_t left_ms = end_ms - monotonic_ms();
		ssize_t n;

		if (left_ms <= 0)
			return -ETIMEDOUT;
		if (poll(&poll_fd, 1, (int)left_ms) <= 0)
			continue;
		n = read(fd, answer, sizeof(*answer));
		if (n >= 0 || errno != EINTR)
			return (int)n;
	}
}

/* Why there was no answer. */
static int
death_explain(int status, char *reason, size_t n_bytes)
{
	const int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	if (number == SIGXCPU)
		return reason_set(reason, n_bytes, EINVAL, "took longer than %d s in the trial",
			CHILD_CPU_SECONDS);
	if (number > 0)
		return reason_set(
			reason, n_bytes, EINVAL, "crashed with signal %d in the trial", number);
	return reason_set(reason, n_bytes, EINVAL, "ended the process in the trial, status %d",
		WEXITSTATUS(status));
}

static int
child_conclude(pid_t pid, int fd, char *reason, size_t n_bytes)
{
	struct answer answer = { 0 };
	const int n_read = answer_read(fd, &answer);
	int status = 0;

	/*
	 * With an answer or none, it has nothing more to do; nor has what it started. If it is
	 * ending by itself, its status stays what it is.
	 */
	kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	kill(-pid, SIGKILL);
	if (n_read == -ETIMEDOUT)
		return reason_set(reason, n_bytes, EINVAL, "took longer than %d s in the trial",
			CHILD_WAIT_SECONDS);
	if (n_read != (int)sizeof(answer))
		return death_explain(status, reason, n_bytes);
	answer.reason[sizeof(answer.reason) - 1] = '\0';
	return answer.rc == 0 ? 0 : reason_set(reason, n_bytes, -answer.rc, "%s", answer.reason);
}

int
child_try(child_body_fn body, void *context, char *reason, size_t n_bytes)
{
	int fds[2];
	pid_t pid;
	int rc;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return reason_set(reason, n_bytes, errno, "no pipe: %s", strerror(errno));
	pid = fork();
	if (pid == 0) {
		close(fds[0]);
		child_run(body, context, fds[1]);
	}
	close(fds[1]);
	if (pid > 0)
		rc = child_conclude(pid, fds[0], reason, n_bytes);
	else
		rc = reason_set(
			reason, n_bytes, errno, "no process for the trial: %s", strerror(errno));
	close(fds[0]);
	return rc;
}
