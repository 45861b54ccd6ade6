/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file that samples of dead packets go to: pcapng, each packet with a comment that says why it
 * ended and whose it was. Control's; packets do not wait for it.
 */
#ifndef WEIR_DATAPLANE_DEAD_FILE_H
#define WEIR_DATAPLANE_DEAD_FILE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "counter.h"

struct app;
struct rx_core;

/* Zeroed: none. */
struct dead_file {
	const char *path;
	FILE *file;
	off_t good_bytes; /* its length after the last batch that was written whole */
	int error;	  /* positive errno of the write that failed; 0 = none has */

	/* Control writes, anyone reads. */
	struct counter written; /* packets */
	struct counter lost;	/* packets that a file which had failed did not get */
};

/*
 * Opens the file, and leaves alone what it holds: the run can still be refused. Returns 0 or
 * -errno.
 */
int dead_file_open(struct dead_file *dead_file, const char *path);

/* Empties it and writes its header. Returns 0 or -errno. */
int dead_file_begin(struct dead_file *dead_file);

/*
 * Writes what the rx core's ring has. When a write fails, the file ends behind the last whole
 * packet, one line says so, and everything from then on is counted as lost. Nothing to do without
 * a ring.
 */
void dead_file_drain(struct dead_file *dead_file, const struct rx_core *rx_core);

/* Closes it; accepts a zeroed one. Returns 0, or -errno if not all was stored. */
int dead_file_close(struct dead_file *dead_file);

#endif
