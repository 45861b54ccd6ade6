/* SPDX-License-Identifier: BSD-3-Clause */
/* The worker's private half: its lanes' consumer ends, its progress lines and its counters. */
#ifndef WEIR_LANE_WORKER_H
#define WEIR_LANE_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/lane.h>

#include "counter.h"
#include "lane.h"
#include "progress.h"

struct weir_worker {
	/* Read-mostly. */
	struct progress *progress;
	uint32_t n_dispatchers;
	uint32_t n_urgent; /* the last so many of them */
	weir_worker_id id;
	uint64_t covering;	   /* classes whose newer packets cover those still queued */
	bool publishes_in_process; /* depth mode `queued` needs it before the handler runs */

	/* Written by the worker at every take. */
	CACHE_ALIGNED uint32_t next_dispatcher; /* whose lane is looked at first */
	uint32_t next_urgent;			/* likewise, of the urgent ones */
	uint32_t current;			/* whose lane the last take came from */
	uint32_t in_process;			/* packets of it not yet completed */
	struct lane_consumer lane[WEIR_DISPATCHERS_MAX];

	/* Counters: the worker writes, anyone reads. */
	CACHE_ALIGNED struct counter taken;
	struct counter completed;
};

#endif
