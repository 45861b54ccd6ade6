/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the control socket of a Weir lies that was given none: agreed between `weir` and `weirctl`,
 * which share this file. Creates nothing, knows no DPDK.
 */
#ifndef WEIR_DATAPLANE_CONTROL_PATH_H
#define WEIR_DATAPLANE_CONTROL_PATH_H

#include <sys/un.h>

/* Room for a path, its end included: what the address of a unix socket has. */
#define CONTROL_PATH_BYTES sizeof(((struct sockaddr_un *)0)->sun_path)

/* Most bytes of a request: one message; and what is said of a longer one. */
#define CONTROL_REQUEST_BYTES_MAX 4096
#define CONTROL_REQUEST_TOO_LONG "a request has at most 4096 bytes"

/* Most bytes of one message of a reply, which may have several. The end is the end of the file. */
#define CONTROL_MESSAGE_BYTES_MAX 32768

/* The places, in the order in which root looks; the user's own is first for others. */
enum control_place {
	CONTROL_PLACE_SYSTEM, /* /run/weir */
	CONTROL_PLACE_USER,   /* $XDG_RUNTIME_DIR/weir */
	CONTROL_PLACE_COUNT,
};

/*
 * Writes the folder and the path of the socket of the Weir with this file prefix.
 * Returns 0, -ENOENT if there is no such place, or -ENAMETOOLONG.
 */
int control_path_make(char folder[CONTROL_PATH_BYTES], char path[CONTROL_PATH_BYTES],
	enum control_place place, const char *prefix);

#endif
