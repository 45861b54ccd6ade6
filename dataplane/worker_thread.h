/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker: a plain pinned thread that borrows packets and runs a handler. Not an lcore; touches
 * neither EAL nor mbufs.
 */
#ifndef WEIR_DATAPLANE_WORKER_THREAD_H
#define WEIR_DATAPLANE_WORKER_THREAD_H

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/weir.h>

#include "counter.h"
#include "handler/handler.h"
#include "mailbox.h"

/* Written by the worker only. */
struct thread_tally {
	CACHE_ALIGNED struct counter busy_cycles; /* TSC cycles between a take and its completion */
	struct counter busy_since; /* TSC at the take of the burst in hand; 0 = none is */
	struct counter polls;
};

struct worker_thread {
	/* Fixed before the start. */
	struct weir_worker *worker;
	const struct handler *handler;
	void *handler_state;
	uint32_t burst;
	uint32_t cpu;
	bool yields; /* shares its CPU with another polling thread */
	bool started;
	bool joined;
	pthread_t thread;

	struct mailbox mailbox;

	struct weir_packet packets[WEIR_BURST_MAX];
	struct weir_verdict verdicts[WEIR_BURST_MAX];

	struct thread_tally tally;
};

static_assert(offsetof(struct worker_thread, mailbox) % CACHE_LINE_BYTES == 0, "control writes it");
static_assert(offsetof(struct worker_thread, tally) % CACHE_LINE_BYTES == 0, "anyone reads it");

/* worker_loop.c: the loop, a pthread function. Returns after LOOP_STOP. */
void *worker_loop_run(void *worker_thread);

#endif
