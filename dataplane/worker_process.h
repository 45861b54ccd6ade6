/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker in a process of its own, as its supervisor holds it, and how it is started. */
#ifndef WEIR_DATAPLANE_WORKER_PROCESS_H
#define WEIR_DATAPLANE_WORKER_PROCESS_H

#include <sys/types.h>

#include <weir/packet.h>

struct app;

struct worker_process {
	pid_t pid;  /* 0: there is none */
	int pidfd;  /* readable once it has ended */
	int socket; /* hung up once it has ended; -1: none */
};

/*
 * Finds whom worker processes run as, and tells the supervisor how to start them. Returns 0, or
 * -EINVAL after a refusal. Does nothing but checks where workers are threads.
 */
int worker_processes_arrange(struct app *app);

/*
 * Starts a process that is worker `id` as the pool has it now: a new image of this program, without
 * a copy of our memory. It answers by its state in the worker's memory, and ends with us.
 * Returns 0, or -errno with nothing started. Control thread.
 */
int worker_process_start(struct app *app, weir_worker_id id, struct worker_process *process);

#endif
