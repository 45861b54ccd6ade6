/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a worker process gives up before it sees a packet: other users' rights, every capability,
 * children, new files and sockets, and all system calls but those that handlers need.
 */
#ifndef WEIR_DATAPLANE_WORKER_SANDBOX_H
#define WEIR_DATAPLANE_WORKER_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct sandbox {
	bool changes_user; /* become uid and gid; only root can */
	uid_t uid;
	gid_t gid;
	bool filters_calls;
	bool dies_with_parent; /* SIGKILL when the thread that started us ends */
};

/* Closes every file but the standard three and `fd`. Before anything is opened. */
void sandbox_close_files(int fd);

/*
 * Gives all of it up, for good. Returns 0, or -errno with `reason` filled: then some may be gone,
 * and the worker must not begin. The only thread of the process calls it.
 */
int sandbox_enter(const struct sandbox *sandbox, char *reason, size_t reason_bytes);

#endif
