/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker in a process of its own, as its supervisor holds it. */
#ifndef WEIR_DATAPLANE_WORKER_PROCESS_H
#define WEIR_DATAPLANE_WORKER_PROCESS_H

#include <sys/types.h>

struct worker_process {
	pid_t pid;  /* 0: there is none */
	int pidfd;  /* readable once it has ended */
	int socket; /* hung up once it has ended; -1: none */
};

#endif
