/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starting worker processes. By posix_spawn(3), which borrows our memory until the new image runs:
 * fork(2) would copy the page tables of all that EAL has mapped, and rx cores would fault on every
 * page they write meanwhile.
 */
#include "worker_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app.h"
#include "offer.h"

int
worker_processes_arrange(struct app *app)
{
	const int rc = worker_user_find(&app->worker_user, &app->options);

	if (rc < 0 || app->options.worker_mode == WORKER_MODE_THREAD)
		return rc;
	if (app->options.worker_mode == WORKER_MODE_PROCESS)
		app->supervisor.process_start = worker_process_start;
	return offer_check(&app->options);
}

/* Where the new image finds its socket; everything behind is closed. */
#define SOCKET_FD 3

static int
files_arrange(posix_spawn_file_actions_t *files, int socket_fd)
{
	int rc = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);

	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(files, socket_fd, SOCKET_FD);
	if (rc == 0)
		rc = posix_spawn_file_actions_addclosefrom_np(files, SOCKET_FD + 1);
	return -rc;
}

/* A group of its own: what a terminal sends to ours is none of its business. No inherited mask. */
static int
attributes_arrange(posix_spawnattr_t *attributes)
{
	sigset_t none;
	int rc = posix_spawnattr_setflags(
		attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);

	sigemptyset(&none);
	if (rc == 0)
		rc = posix_spawnattr_setpgroup(attributes, 0);
	if (rc == 0)
		rc = posix_spawnattr_setsigmask(attributes, &none);
	return -rc;
}

/* Returns 0 or -errno. */
static int
image_start(weir_worker_id id, const posix_spawn_file_actions_t *files,
	const posix_spawnattr_t *attributes, pid_t *pid)
{
	char id_word[8];
	char socket_word[16];
	char *words[] = { program_invocation_name, (char *)(uintptr_t) "worker",
		(char *)(uintptr_t) "--id", id_word, (char *)(uintptr_t) "--socket", socket_word,
		NULL };

	snprintf(id_word, sizeof(id_word), "%u", id);
	snprintf(socket_word, sizeof(socket_word), "fd:%d", SOCKET_FD);
	/* The very file that runs here, even if another one has taken its place since. */
	return -posix_spawn(pid, "/proc/self/exe", files, attributes, words, environ);
}

static int
image_spawn(weir_worker_id id, int socket_fd, pid_t *pid)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	int rc;

	if (posix_spawn_file_actions_init(&files) != 0)
		return -ENOMEM;
	if (posix_spawnattr_init(&attributes) != 0) {
		posix_spawn_file_actions_destroy(&files);
		return -ENOMEM;
	}
	rc = files_arrange(&files, socket_fd);
	if (rc == 0)
		rc = attributes_arrange(&attributes);
	if (rc == 0)
		rc = image_start(id, &files, &attributes, pid);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	return rc;
}

/* Without a pidfd nobody could prove that it has ended. Returns 0, or -errno with it ended. */
static int
process_hold(struct worker_process *process)
{
	int error_number;

	process->pidfd = (int)syscall(SYS_pidfd_open, process->pid, 0);
	if (process->pidfd >= 0)
		return 0;
	error_number = errno;
	kill(process->pid, SIGKILL);
	waitpid(process->pid, NULL, 0);
	return -error_number;
}

int
worker_process_start(struct app *app, weir_worker_id id, struct worker_process *process)
{
	int pair[2];
	int rc;

	*process = (struct worker_process) { .pidfd = -1, .socket = -1 };
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	/* The offer waits in the socket: it is our own image that will read it. */
	rc = offer_send(app, id, pair[0]);
	if (rc == 0)
		rc = image_spawn(id, pair[1], &process->pid);
	close(pair[1]);
	if (rc == 0)
		rc = process_hold(process);
	if (rc < 0) {
		close(pair[0]);
		*process = (struct worker_process) { .pidfd = -1, .socket = -1 };
		return rc;
	}
	process->socket = pair[0];
	return 0;
}
