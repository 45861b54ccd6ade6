/* SPDX-License-Identifier: BSD-3-Clause */
/* What runs in a slot, a thread or a process: preparing, starting, ending, and proof of its end. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "launch.h"
#include "supervisor_slot.h"

/* ---- threads ---- */

static struct worker_thread *
thread_create(const struct app *app, weir_worker_id id)
{
	struct worker_thread *thread = aligned_alloc(CACHE_LINE_BYTES, sizeof(*thread));

	if (thread)
		*thread = (struct worker_thread) { .cpu = app->topology.worker[id].cpu };
	return thread;
}

static void
loop_fill(struct app *app, weir_worker_id id, struct worker_loop *loop)
{
	loop->worker = weir_pool_worker(app->pool, id);
	loop->burst = app->options.burst;
	loop->yields = app->topology.worker[id].shares_cpu;
	loop->beat_cycles = launch_beat_cycles(&app->options);
	loop->next_beat = 0;
}

int
body_prepare(
	struct app *app, weir_worker_id id, uint32_t incarnation, char *reason, size_t reason_bytes)
{
	struct worker_slot *slot = slot_of(app, id);
	int rc;

	if (slot->kind == WORKER_PROCESS)
		return 0;
	if (!slot->thread)
		slot->thread = thread_create(app, id);
	if (!slot->thread) {
		snprintf(reason, reason_bytes, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	rc = launch_handler_open(app, slot->thread, id, incarnation, reason, reason_bytes);
	slot->thread->opened = rc == 0;
	return rc;
}

void
body_close(struct app *app, struct worker_slot *slot)
{
	const struct handler *handler;
	char error[256] = "";

	if (!slot->thread || !slot->thread->opened)
		return;
	slot->thread->opened = false;
	handler = slot->thread->loop.handler;
	if (!handler->close ||
		handler->close(slot->thread->loop.handler_state, error, sizeof(error)) == 0)
		return;
	fprintf(stderr, "weir: %s\n", error);
	app->sinks_failed = true;
}

/* ---- processes ---- */

/* Whether the process has ended: its pidfd is readable. */
static bool
process_has_ended(const struct worker_process *process)
{
	struct pollfd pidfd = { .fd = process->pidfd, .events = POLLIN };

	return process->pid == 0 || (poll(&pidfd, 1, 0) == 1 && (pidfd.revents & POLLIN));
}

/* Reaps what has ended, if it is our child. Returns whether it says that it ended well. */
static bool
process_reap(struct worker_slot *slot, bool says_stopped, bool *has_failed)
{
	char *words = slot->last_words;
	siginfo_t info = { 0 };

	if (waitid(P_PIDFD, (id_t)slot->process.pidfd, &info, WEXITED | WNOHANG) < 0) {
		snprintf(words, sizeof(slot->last_words), "it is gone");
		return says_stopped;
	}
	/* What a handler could not do is known to its process alone. */
	if (info.si_code == CLD_EXITED && info.si_status == EXIT_STATUS_FAILED)
		*has_failed = true;
	if (info.si_code == CLD_EXITED)
		snprintf(words, sizeof(slot->last_words), "exit status %d", info.si_status);
	else
		snprintf(words, sizeof(slot->last_words), "signal %d", info.si_status);
	return info.si_code == CLD_EXITED && info.si_status == 0;
}

/* Control wakes up for it: the tick would find it too, a little later. */
static void
process_wake(struct app *app, int fd, void *context)
{
	(void)fd;
	slot_look_for_end(app, (weir_worker_id)(uintptr_t)context);
}

void
body_watch(struct app *app, weir_worker_id id)
{
	watch_add(app, slot_of(app, id)->process.pidfd, process_wake, (void *)(uintptr_t)id);
}

static void
process_close(struct app *app, struct worker_process *process)
{
	if (process->pid > 0) {
		watch_remove(app, process->pidfd);
		close(process->pidfd);
		if (process->socket >= 0)
			close(process->socket);
	}
	*process = (struct worker_process) { .pidfd = -1, .socket = -1 };
}

static bool
process_look(struct app *app, weir_worker_id id, bool *is_clean)
{
	struct worker_slot *slot = slot_of(app, id);

	if (!process_has_ended(&slot->process))
		return false;
	if (slot->process.pid > 0)
		*is_clean = process_reap(slot,
			weir_pool_worker_pulse(app->pool, id).state == WEIR_WORKER_STOPPED,
			&app->sinks_failed);
	process_close(app, &slot->process);
	return true;
}

/* The third field of /proc/PID/stat, behind a name that may hold anything. */
static char
process_state(pid_t pid)
{
	char path[32];
	char text[256];
	const char *name_end;
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	if (n <= 0)
		return '?';
	text[n] = '\0';
	name_end = strrchr(text, ')');
	return name_end && name_end[1] == ' ' ? name_end[2] : '?';
}

bool
body_is_halted(const struct worker_slot *slot)
{
	/* A thread is stopped with all others, control included. */
	if (slot->kind == WORKER_THREAD || slot->process.pid == 0)
		return false;
	return process_state(slot->process.pid) == 'T';
}

static uint64_t
process_cpu_ns(pid_t pid)
{
	clockid_t clock;

	return clock_getcpuclockid(pid, &clock) == 0 ? clock_read_ns(clock) : 0;
}

static int
process_start(struct app *app, weir_worker_id id, struct worker_slot *slot)
{
	const int rc = app->supervisor.process_start(app, id, &slot->process);

	if (rc < 0)
		slot->process = (struct worker_process) { .pidfd = -1, .socket = -1 };
	else
		body_watch(app, id);
	slot->last_pid = slot->process.pid;
	return rc;
}

/* ---- either ---- */

uint64_t
body_cpu_ns(const struct worker_slot *slot)
{
	if (slot->kind == WORKER_PROCESS)
		return slot->process.pid > 0 ? process_cpu_ns(slot->process.pid) : 0;
	return slot->thread ? worker_thread_cpu_ns(slot->thread) : 0;
}

int
body_start(struct app *app, weir_worker_id id)
{
	struct worker_slot *slot = slot_of(app, id);

	slot->body_incarnation = slot->life.incarnation;
	slot->last_words[0] = '\0';
	if (slot->kind == WORKER_PROCESS)
		return process_start(app, id, slot);
	loop_fill(app, id, &slot->thread->loop);
	return worker_thread_start(slot->thread, id);
}

void
body_end(struct app *app, weir_worker_id id)
{
	const struct worker_slot *slot = slot_of(app, id);

	weir_pool_command(app->pool, id, WEIR_COMMAND_STOP);
	/* By its pidfd: never another process that has got its number. */
	if (slot->kind == WORKER_PROCESS && slot->process.pid > 0 &&
		syscall(SYS_pidfd_send_signal, slot->process.pidfd, SIGKILL, NULL, 0) < 0 &&
		errno == EPERM)
		slot_warn(app, id, "may not be ended by this user: it leaves when it is able to");
}

bool
body_has_ended(struct app *app, weir_worker_id id, bool *is_clean)
{
	struct worker_slot *slot = slot_of(app, id);

	*is_clean = false;
	if (slot->kind == WORKER_PROCESS)
		return process_look(app, id, is_clean);
	if (slot->thread && !worker_thread_has_ended(slot->thread))
		return false;
	/* It leaves its loop only when it is told to: while it drains, with nothing left. */
	*is_clean = slot->thread != NULL;
	return true;
}
