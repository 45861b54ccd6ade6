/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a worker's loop works with, in a thread of Weir's as in a process of its own. Touches
 * neither EAL nor mbufs; control reaches it through the worker's command (edge E5) only.
 */
#ifndef WEIR_DATAPLANE_WORKER_LOOP_H
#define WEIR_DATAPLANE_WORKER_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/weir.h>

#include "handler/handler.h"

struct worker_loop {
	/* Fixed before the start. */
	struct weir_worker *worker;
	const struct handler *handler;
	void *handler_state;
	uint32_t burst;
	bool yields;	      /* shares its CPU with another polling thread */
	uint64_t beat_cycles; /* TSC cycles between two beats */
	/* Asked at every beat whether to leave although no command says so; NULL: never. */
	bool (*must_leave)(void *context);
	void *context;

	/* The loop's own. */
	uint64_t next_beat; /* TSC */
	struct weir_packet packets[WEIR_BURST_MAX];
	struct weir_verdict verdicts[WEIR_BURST_MAX];
};

/*
 * Works until it is told to stop, or was told to drain and is drained, or must leave. Reports its
 * state: ready before it takes the first packet, stopped once it will take none. Returns whether
 * it was told to go.
 */
bool worker_loop_run(struct worker_loop *loop);

#endif
