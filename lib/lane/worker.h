/* SPDX-License-Identifier: BSD-3-Clause */
/* The worker's private half: its lanes' consumer ends, and where its shared lines are. */
#ifndef WEIR_LANE_WORKER_H
#define WEIR_LANE_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/lane.h>

#include "counter.h"
#include "fault.h"
#include "lane.h"
#include "progress.h"
#include "worker_memory.h"

struct weir_worker {
	/* Read-mostly. */
	const struct worker_header *header;
	struct progress *progress;
	struct activity *activity;
	uint32_t n_dispatchers;
	uint32_t n_urgent; /* the last so many of them */
	weir_worker_id id;
	uint64_t covering;	   /* classes whose newer packets cover those still queued */
	bool publishes_in_process; /* before the handler runs: depth mode `queued` needs it */

	/* Written by the worker at every take. */
	CACHE_ALIGNED uint32_t next_dispatcher; /* whose lane is looked at first */
	uint32_t next_urgent;			/* likewise, of the urgent ones */
	uint32_t current;			/* whose lane the last take came from */
	uint32_t in_process;			/* packets of it not yet completed */
	struct fault_plan fault;
	CACHE_ALIGNED struct lane_consumer lane[WEIR_DISPATCHERS_MAX];
};

#endif
