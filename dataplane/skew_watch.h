/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Watches, second by second, whether the flow hash can spread the traffic at all. Control writes;
 * telemetry's threads read along.
 */
#ifndef WEIR_DATAPLANE_SKEW_WATCH_H
#define WEIR_DATAPLANE_SKEW_WATCH_H

#include <stdint.h>

#include <weir/weir.h>

#include "counter.h"
#include "status.h"

/* Zeroed at the start. */
struct skew_watch {
	/* Control's own. */
	uint64_t next_ns;
	struct weir_bucket_use use;
	uint64_t flow[WEIR_FLOW_REASON_COUNT];

	/* Control writes, anyone reads. */
	struct counter alarms;
	struct counter rings;
	struct counter entropy_millibits;
	struct counter top_permille;
	struct counter reason;
};

/* Judges a window when its time is over, from control's picture. */
void skew_watch_tick(struct skew_watch *watch, const struct status *status);

/* Copies the verdict on the last window. Any thread. */
struct status_skew skew_watch_read(const struct skew_watch *watch);

#endif
