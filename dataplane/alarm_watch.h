/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Says on stderr when workers' alarms have rung: one line a worker and a second, however often.
 * Control's own.
 */
#ifndef WEIR_DATAPLANE_ALARM_WATCH_H
#define WEIR_DATAPLANE_ALARM_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "status.h"

/* What has been said of one worker. */
struct alarm_watch_worker {
	uint64_t depth_alarms;
	uint64_t overflow_alarms;
	uint64_t next_ns; /* not before */
};

/* Zeroed at the start. */
struct alarm_watch {
	struct alarm_watch_worker worker[WEIR_WORKERS_MAX];
};

/*
 * Compares control's picture with what has been said, and says what is new unless `quiet`; at rest
 * all that is left to say.
 */
void alarm_watch_tick(struct alarm_watch *watch, const struct status *status, bool quiet);

#endif
