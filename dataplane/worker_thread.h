/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker in a thread of Weir's: a plain pinned thread around the worker's loop. Not an lcore;
 * touches neither EAL nor mbufs.
 */
#ifndef WEIR_DATAPLANE_WORKER_THREAD_H
#define WEIR_DATAPLANE_WORKER_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "cacheline.h"
#include "worker_loop.h"

/* Control's, but for the loop, which is the thread's own while it runs. */
struct worker_thread {
	CACHE_ALIGNED struct worker_loop loop;
	CACHE_ALIGNED uint32_t cpu;
	bool started; /* and not joined */
	bool opened;  /* the handler */
	pthread_t thread;
	clockid_t cpu_clock; /* of the thread */
};

/* Starts the thread, pinned to its CPU. Returns 0 or -errno. Control thread. */
int worker_thread_start(struct worker_thread *thread, weir_worker_id id);

/* Joins the thread if it has ended: whether nothing of it runs any more. Control thread. */
bool worker_thread_has_ended(struct worker_thread *thread);

/* CPU time that the thread has used; 0 if it is not running. Control thread. */
uint64_t worker_thread_cpu_ns(const struct worker_thread *thread);

#endif
