/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client is watched until its request has come; from then on its reply is sent as far as it takes
 * it, now and at every tick. While all places are taken the listener is not watched: who connects
 * waits, and control is not woken for it.
 */
#include "control_socket.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_eal.h>

#include "app.h"
#include "clock.h"
#include "verbs.h"

/* Of a client that is refused. */
#define UNREAD_MESSAGES_MAX 16

#define MUTE_REPLY "error: no request has come\n"

/* ---- clients ---- */

bool
control_socket_admits(uid_t peer, uid_t own)
{
	return peer == 0 || peer == own;
}

static void client_accept(struct app *app, int listener, void *context);

static void
accepting_start(struct app *app)
{
	struct control_socket *control = &app->control_socket;

	if (!control->is_accepting && control->n_clients < CONTROL_CLIENTS_MAX)
		control->is_accepting = watch_add(app, control->file.fd, client_accept, NULL) == 0;
}

static void
accepting_stop(struct app *app)
{
	watch_remove(app, app->control_socket.file.fd);
	app->control_socket.is_accepting = false;
}

static void
client_drop(struct app *app, struct control_client *client)
{
	watch_remove(app, client->fd);
	close(client->fd);
	free(client->reply);
	*client = (struct control_client) { 0 };
	app->control_socket.n_clients--;
}

/* Sends what the client takes now; drops it when it has all, or is gone. */
static void
client_send(struct app *app, struct control_client *client)
{
	while (client->sent_bytes < client->reply_bytes) {
		const size_t left = client->reply_bytes - client->sent_bytes;
		const ssize_t n = send(client->fd, client->reply + client->sent_bytes,
			RTE_MIN(left, (size_t)CONTROL_MESSAGE_BYTES_MAX),
			MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n < 0)
			break;
		client->sent_bytes += (size_t)n;
	}
	client_drop(app, client);
}

/* A client has sent its request, or hung up. */
static void
client_read(struct app *app, int fd, void *context)
{
	struct control_client *client = context;
	char request[CONTROL_REQUEST_BYTES_MAX];
	/* With MSG_TRUNC the length is that of the message, however much of it fits. */
	const ssize_t n = recv(fd, request, sizeof(request), MSG_DONTWAIT | MSG_TRUNC);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		client->reply = verbs_answer(app, request, (size_t)n, &client->reply_bytes);
	if (!client->reply) {
		client_drop(app, client);
		return;
	}
	/* What else it sends is not read, and must not wake us. */
	watch_remove(app, fd);
	client->deadline_ns = clock_read_ns(CLOCK_MONOTONIC) + CONTROL_CLIENT_NS;
	client_send(app, client);
}

static void
client_refuse(int fd, uid_t peer)
{
	char unread[CONTROL_REQUEST_BYTES_MAX];
	char reply[80];
	const int n = snprintf(reply, sizeof(reply),
		"error: user %u may not ask: only root and user %u may\n", (unsigned int)peer,
		(unsigned int)geteuid());

	/* To close a socket with something unread is an error at the other end. */
	for (uint32_t i = 0; i < UNREAD_MESSAGES_MAX; i++) {
		if (recv(fd, unread, sizeof(unread), MSG_DONTWAIT) <= 0)
			break;
	}
	send(fd, reply, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL);
	close(fd);
}

/* Whether the process at the other end may ask; `peer` is its user. */
static bool
client_is_admitted(int fd, uid_t *peer)
{
	struct ucred credentials;
	const int rc = socket_peer_read(fd, &credentials);

	*peer = credentials.uid;
	return rc == 0 && control_socket_admits(credentials.uid, geteuid());
}

static void
client_begin(struct app *app, int fd)
{
	struct control_socket *control = &app->control_socket;
	struct control_client *client = control->client;

	while (client->is_taken)
		client++;
	*client = (struct control_client) {
		.is_taken = true,
		.fd = fd,
		.deadline_ns = clock_read_ns(CLOCK_MONOTONIC) + CONTROL_CLIENT_NS,
	};
	control->n_clients++;
	if (watch_add(app, fd, client_read, client) < 0)
		client_drop(app, client);
	if (control->n_clients == CONTROL_CLIENTS_MAX)
		accepting_stop(app);
}

static void
client_accept(struct app *app, int listener, void *context)
{
	const int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	uid_t peer;

	(void)context;
	if (fd < 0) {
		/* Without descriptors this would be tried all the time: at the next tick again. */
		if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
			accepting_stop(app);
		return;
	}
	if (client_is_admitted(fd, &peer))
		client_begin(app, fd);
	else
		client_refuse(fd, peer);
}

void
control_socket_tick(struct app *app, uint64_t now_ns)
{
	struct control_socket *control = &app->control_socket;

	if (!control->file.is_open)
		return;
	for (uint32_t i = 0; i < CONTROL_CLIENTS_MAX; i++) {
		struct control_client *client = &control->client[i];

		if (client->reply)
			client_send(app, client);
		if (!client->is_taken || now_ns < client->deadline_ns)
			continue;
		if (!client->reply)
			send(client->fd, MUTE_REPLY, strlen(MUTE_REPLY),
				MSG_DONTWAIT | MSG_NOSIGNAL);
		client_drop(app, client);
	}
	accepting_start(app);
}

void
control_socket_serve(struct app *app)
{
	if (app->control_socket.file.is_open)
		accepting_start(app);
}

/* ---- the socket ---- */

const char *
control_socket_prefix(void)
{
	const char *folder = rte_eal_get_runtime_dir();
	const char *slash = strrchr(folder, '/');

	return slash ? slash + 1 : folder;
}

static int
live_refuse(const char *path)
{
	return options_refuse("--control-socket", path,
		"where nobody listens: give each weir a --control-socket or --file-prefix of its "
		"own");
}

static int
usual_open(struct app *app)
{
	char path[CONTROL_PATH_BYTES] = "";
	const int rc =
		socket_file_open_usual(&app->control_socket.file, control_socket_prefix(), path);

	if (rc == 0)
		return 0;
	if (rc == -EADDRINUSE)
		return live_refuse(path);
	if (!app->options.quiet)
		fprintf(stderr,
			"weir: no control socket, neither in /run/weir nor in "
			"$XDG_RUNTIME_DIR/weir: %s\n",
			strerror(-rc));
	return 0;
}

int
control_socket_start(struct app *app)
{
	const char *path = app->options.control_socket;
	int rc;

	if (!path)
		return usual_open(app);
	if (strcmp(path, "none") == 0)
		return 0;
	rc = socket_file_open(&app->control_socket.file, path);
	if (rc == -EADDRINUSE)
		return live_refuse(path);
	if (rc < 0)
		return options_refuse("--control-socket", path,
			"none, or where a socket can be made: %s", strerror(-rc));
	return 0;
}

void
control_socket_stop(struct app *app)
{
	struct control_socket *control = &app->control_socket;

	if (!control->file.is_open)
		return;
	for (uint32_t i = 0; i < CONTROL_CLIENTS_MAX; i++) {
		if (control->client[i].is_taken)
			client_drop(app, &control->client[i]);
	}
	accepting_stop(app);
	socket_file_close(&control->file);
}
