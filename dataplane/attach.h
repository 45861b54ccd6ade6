/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where worker processes attach that somebody else has started: a unix socket that root, our user
 * and that of the workers may use. Control never waits for who comes there.
 */
#ifndef WEIR_DATAPLANE_ATTACH_H
#define WEIR_DATAPLANE_ATTACH_H

#include <stdint.h>

#include "socket_file.h"

struct app;

/* Who has connected and has not said hello yet: one more, and the oldest is dropped. */
#define ATTACH_GUESTS_MAX 8

struct attach_guest {
	uint64_t number; /* counts up with each; 0: free */
	int socket;
};

/* Zeroed: not open. */
struct attach {
	struct socket_file file;
	uint64_t n_guests; /* so far */
	struct attach_guest guest[ATTACH_GUESTS_MAX];
};

/*
 * Makes the socket and watches it, unless workers are threads. Returns 0; -EINVAL after a refusal:
 * another Weir listens there, or no socket can be made; or another -errno after a line. In every
 * case attach_stop undoes it. Control thread.
 */
int attach_start(struct app *app);

/* Removes the socket; who is attached stays so. Accepts what a failed start has left. */
void attach_stop(struct app *app);

#endif
