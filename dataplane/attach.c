/* SPDX-License-Identifier: BSD-3-Clause */
#include "attach.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "app.h"
#include "offer.h"
#include "option_handlers.h"
#include "supervisor.h"
#include "worker/protocol.h"

/* Newer than Debian's headers: gives the process that connected, even if its number is reused. */
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

/* ---- who is at the other end ---- */

static bool
peer_may_attach(const struct app *app, const struct ucred *peer)
{
	return peer->uid == 0 || peer->uid == geteuid() || peer->uid == app->worker_user.uid;
}

static bool
peer_is_connected(int socket)
{
	char byte;

	return recv(socket, &byte, sizeof(byte), MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

/* The process that connected, or -errno: its end is what proves that its packets are free. */
static int
peer_hold(int socket, pid_t pid)
{
	socklen_t n_bytes = sizeof(int);
	int pidfd;

	if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &n_bytes) == 0)
		return pidfd;
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (pidfd < 0)
		return -errno;
	/* Who still has its end open had not left its number to another when we asked. */
	if (peer_is_connected(socket))
		return pidfd;
	close(pidfd);
	return -ESRCH;
}

/* ---- guests ---- */

static void guest_hear(struct app *app, int fd, void *context);

static void
guest_drop(struct app *app, struct attach_guest *guest)
{
	watch_remove(app, guest->socket);
	close(guest->socket);
	*guest = (struct attach_guest) { 0 };
}

/* A place for one more: a free one, or that of who has waited longest without a word. */
static struct attach_guest *
guest_place(struct app *app)
{
	struct attach_guest *oldest = &app->attach.guest[0];

	for (uint32_t i = 0; i < ATTACH_GUESTS_MAX; i++)
		if (app->attach.guest[i].number < oldest->number)
			oldest = &app->attach.guest[i];
	if (oldest->number > 0)
		guest_drop(app, oldest);
	return oldest;
}

/* What speaks against a hello, other than that the id is taken. Returns 0 or -EPERM. */
static int
hello_check(const struct app *app, const struct worker_hello *hello, char *reason)
{
	const uint32_t n = options_workers_max(&app->options);

	if (hello->id >= n) {
		snprintf(reason, WORKER_REASON_BYTES,
			"there is no worker %u: 0 to %u (--workers, --workers-max)", hello->id,
			n - 1);
		return -EPERM;
	}
	if ((hello->flags & WORKER_HELLO_WRITES) && app->clone_pool) {
		snprintf(reason, WORKER_REASON_BYTES,
			"its handler writes to packets whose bytes other workers share: give it to "
			"weir (--handler)");
		return -EPERM;
	}
	return 0;
}

/* Makes a worker of who has said hello. Returns 0; or -errno with `reason`, and nothing kept. */
static int
guest_adopt(struct app *app, const struct worker_hello *hello, int socket, char *reason)
{
	struct ucred peer;
	struct worker_process process = { .socket = socket };
	int rc = hello_check(app, hello, reason);

	if (rc < 0)
		return rc;
	snprintf(reason, WORKER_REASON_BYTES, "the kernel does not say whose process it is");
	rc = socket_peer_read(socket, &peer);
	if (rc < 0)
		return rc;
	process.pid = peer.pid;
	process.pidfd = peer_hold(socket, peer.pid);
	if (process.pidfd < 0)
		return process.pidfd;
	rc = supervisor_adopt(
		app, (weir_worker_id)hello->id, &process, reason, WORKER_REASON_BYTES);
	if (rc < 0)
		close(process.pidfd);
	return rc;
}

static void
refusal_say(int socket, const char *id, const char *reason)
{
	struct ucred peer;

	(void)socket_peer_read(socket, &peer);
	fprintf(stderr, "weir: process %d may not become worker%s: %s\n", (int)peer.pid, id,
		reason);
	worker_offer_refuse(socket, reason);
}

/* A guest has said something, or hung up. */
static void
guest_hear(struct app *app, int fd, void *context)
{
	struct attach_guest *guest = context;
	char reason[WORKER_REASON_BYTES] = "";
	struct worker_hello hello;
	char id[16] = "";
	int rc = worker_hello_receive(fd, &hello, reason);

	if (rc == -EAGAIN)
		return;
	if (rc == 0) {
		/* The supervisor may watch it by another function. */
		watch_remove(app, fd);
		snprintf(id, sizeof(id), " %u", hello.id);
		rc = guest_adopt(app, &hello, fd, reason);
		if (rc == 0) {
			*guest = (struct attach_guest) { 0 };
			/* One that is gone already gets none: the supervisor sees it go. */
			(void)offer_send(app, (weir_worker_id)hello.id, fd);
			return;
		}
	}
	if (rc != -ENOTCONN)
		refusal_say(fd, id, reason);
	guest_drop(app, guest);
}

static void
guest_accept(struct app *app, int listener, void *context)
{
	const int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	struct ucred peer;
	struct attach_guest *guest;

	(void)context;
	if (fd < 0)
		return;
	if (socket_peer_read(fd, &peer) < 0 || !peer_may_attach(app, &peer)) {
		refusal_say(fd, "", "its user is neither root, nor weir's, nor --worker-user");
		close(fd);
		return;
	}
	guest = guest_place(app);
	*guest = (struct attach_guest) { .number = ++app->attach.n_guests, .socket = fd };
	if (watch_add(app, fd, guest_hear, guest) < 0)
		guest_drop(app, guest);
}

/* ---- the socket ---- */

static int
usual_open(struct socket_file *file, char path[CONTROL_PATH_BYTES])
{
	char name[CONTROL_PATH_BYTES];

	snprintf(name, sizeof(name), "%s-attach", control_socket_prefix());
	return socket_file_open_usual(file, name, path);
}

static int
open_fail(const struct app *app, const char *path, int rc)
{
	if (rc == -EADDRINUSE)
		return options_refuse("--attach-socket", path,
			"where nobody listens: give each weir an --attach-socket or --file-prefix "
			"of its own");
	if (!app->options.attach_socket && app->options.worker_mode == WORKER_MODE_PROCESS) {
		if (!app->options.quiet)
			fprintf(stderr,
				"weir: no attach socket, neither in /run/weir nor in "
				"$XDG_RUNTIME_DIR/weir: %s\n",
				strerror(-rc));
		return 0;
	}
	return options_refuse("--attach-socket", app->options.attach_socket,
		"where a socket can be made: %s", strerror(-rc));
}

int
attach_start(struct app *app)
{
	struct attach *attach = &app->attach;
	char path[CONTROL_PATH_BYTES] = "";
	int rc;

	if (app->options.worker_mode == WORKER_MODE_THREAD)
		return 0;
	if (app->options.attach_socket)
		snprintf(path, sizeof(path), "%s", app->options.attach_socket);
	rc = app->options.attach_socket
		     ? socket_file_open(&attach->file, app->options.attach_socket)
		     : usual_open(&attach->file, path);
	if (rc < 0)
		return open_fail(app, path, rc);
	/* The mode says: its owner alone; and root, whom no mode stops. */
	if (app->worker_user.is_other &&
		lchown(path, app->worker_user.uid, app->worker_user.gid) < 0)
		return options_refuse("--attach-socket", path,
			"where it can be given to the user "
			"of the workers: %s",
			strerror(errno));
	return watch_add(app, attach->file.fd, guest_accept, NULL);
}

void
attach_stop(struct app *app)
{
	struct attach *attach = &app->attach;

	if (!attach->file.is_open)
		return;
	for (uint32_t i = 0; i < ATTACH_GUESTS_MAX; i++)
		if (attach->guest[i].number > 0)
			guest_drop(app, &attach->guest[i]);
	watch_remove(app, attach->file.fd);
	socket_file_close(&attach->file);
}
