/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A listening unix socket in the file system: nobody else's file is taken away, what a killed
 * program left is, and at no moment can another user connect.
 */
#ifndef WEIR_DATAPLANE_SOCKET_FILE_H
#define WEIR_DATAPLANE_SOCKET_FILE_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "control_path.h"

/* Zeroed: not open. */
struct socket_file {
	bool is_open;
	int fd;	     /* listens; SOCK_SEQPACKET, non-blocking */
	int lock_fd; /* of PATH.lock, locked for as long as we live */
	dev_t device;
	ino_t inode; /* with `device`: of the file that we made */
	char path[CONTROL_PATH_BYTES];
};

/*
 * Makes the folder (its parent exists), with this mode, or finds that it may be used: it is a
 * folder of ours or of root's, and nobody else can write to it. Returns 0, -EPERM if it may not,
 * -ENOTDIR, or another -errno.
 */
int socket_folder_make(const char *folder, mode_t mode);

/*
 * Listens at `path` with mode 0600. What a program left there that is no more is replaced. Call it
 * before other threads make files: the umask is changed for a moment. Returns 0, -EADDRINUSE if a
 * program lives that listens there, -EEXIST if something else lies there, -ENAMETOOLONG, or another
 * -errno.
 */
int socket_file_open(struct socket_file *file, const char *path);

/*
 * The same at the first of the usual places (control_path_make) that can be had, as `name`.sock;
 * `path` is where, or where it was tried last. Returns as socket_file_open; -ENOENT if there is no
 * such place.
 */
int socket_file_open_usual(
	struct socket_file *file, const char *name, char path[CONTROL_PATH_BYTES]);

/* Whose process has connected. Returns 0, or -errno with nobody's in `peer`. */
int socket_peer_read(int fd, struct ucred *peer);

/* Closes the socket and removes its file, if it is still ours. Accepts one that is not open. */
void socket_file_close(struct socket_file *file);

#endif
