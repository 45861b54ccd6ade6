/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control socket: who may ask, and how much of control's time it may cost. One request per
 * connection: a message with a line of words, answered by messages up to the end of the file.
 * Control never waits for a client.
 */
#ifndef WEIR_DATAPLANE_CONTROL_SOCKET_H
#define WEIR_DATAPLANE_CONTROL_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "socket_file.h"

struct app;

/* Clients served at a time; others wait to be accepted. */
#define CONTROL_CLIENTS_MAX 8

/* Time for a client to send its request, and then to take its reply; then it is dropped. */
#define CONTROL_CLIENT_NS UINT64_C(5000000000)

struct control_client {
	bool is_taken;
	int fd;
	uint64_t deadline_ns; /* CLOCK_MONOTONIC */
	char *reply;	      /* NULL: the request has not come. Owned */
	size_t reply_bytes;
	size_t sent_bytes;
};

/* Zeroed: none. */
struct control_socket {
	struct socket_file file;
	bool is_accepting; /* the listener is watched */
	uint32_t n_clients;
	struct control_client client[CONTROL_CLIENTS_MAX];
};

/*
 * Makes the socket that the options ask for: nobody is answered yet. Returns 0, also without a
 * socket, after a note, where none can be made at the usual places; -EINVAL after a line where
 * another Weir listens, or at a path that the user gave none can be made.
 */
int control_socket_start(struct app *app);

/* From here on clients are served, from watch_wait. */
void control_socket_serve(struct app *app);

/* Goes on with slow clients, and drops those that are too slow. To be called every tick. */
void control_socket_tick(struct app *app, uint64_t now_ns);

/* Drops all clients and removes the socket. Accepts what a failed start has left. */
void control_socket_stop(struct app *app);

/* The name of usual sockets: the file prefix that EAL goes by, which ends its runtime folder. */
const char *control_socket_prefix(void);

/* Whether a process of user `peer` may ask a Weir that runs as `own`. */
bool control_socket_admits(uid_t peer, uid_t own);

#endif
