/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of `weir worker`. */
#ifndef WEIR_DATAPLANE_WORKER_OPTIONS_H
#define WEIR_DATAPLANE_WORKER_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include <weir/packet.h>

/* Values as parsed; strings point into argv. */
struct worker_options {
	bool help;
	weir_worker_id id;
	const char *socket_path; /* NULL: `socket_fd` */
	int socket_fd;		 /* open already: this worker was started by its weir */
	const char *handler;	 /* SPEC; NULL: what Weir says */
};

/*
 * Parses the arguments behind `weir worker`. Returns 0, or -EINVAL after one line on stderr. With
 * `help`, nothing else is looked at.
 */
int worker_options_parse(struct worker_options *options, int argc, char **argv);

void worker_options_print_usage(FILE *out);

#endif
