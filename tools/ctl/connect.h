/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding the Weir to ask. */
#ifndef WEIR_CTL_CONNECT_H
#define WEIR_CTL_CONNECT_H

#include "control_path.h"

/*
 * Connects to the socket at a path. Returns a SOCK_SEQPACKET descriptor that waits for at most
 * `timeout_s` in each call, or -errno.
 */
int connect_path(const char *path, int timeout_s);

/*
 * Connects to the Weir of this file prefix, at the usual places; `path` is where, or where it
 * should have been. Returns as connect_path.
 */
int connect_prefix(const char *prefix, int timeout_s, char path[CONTROL_PATH_BYTES]);

#endif
