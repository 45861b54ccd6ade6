/* SPDX-License-Identifier: BSD-3-Clause */
#include "alarm_watch.h"

#include <inttypes.h>
#include <stdio.h>

/* A depth that swings past its first threshold rings with every swing: not a line for each. */
#define QUIET_NS UINT64_C(1000000000)

/* "alarm 3", or "alarms 2 to 3" where several rang since the last line. */
static void
rings_print(uint64_t said, uint64_t now)
{
	if (now == said + 1)
		fprintf(stderr, " (alarm %" PRIu64 ")\n", now);
	else
		fprintf(stderr, " (alarms %" PRIu64 " to %" PRIu64 ")\n", said + 1, now);
}

static void
worker_say(const struct alarm_watch_worker *said, const struct status_worker *now, uint32_t id)
{
	if (now->depth_alarms > said->depth_alarms) {
		fprintf(stderr, "weir: worker %" PRIu32 ": depth reached %" PRIu64, id,
			now->depth_alarm_pkts);
		rings_print(said->depth_alarms, now->depth_alarms);
	}
	if (now->overflow_alarms > said->overflow_alarms) {
		fprintf(stderr,
			"weir: worker %" PRIu32 ": its lane was full for %" PRIu64 " packets", id,
			UINT64_C(1) << (now->overflow_alarms - 1));
		rings_print(said->overflow_alarms, now->overflow_alarms);
	}
}

void
alarm_watch_tick(struct alarm_watch *watch, const struct status *status, bool quiet)
{
	for (uint32_t id = 0; id < status->n_workers && !quiet; id++) {
		struct alarm_watch_worker *said = &watch->worker[id];
		const struct status_worker *now = &status->worker[id];

		if ((status->time_ns < said->next_ns && !status->at_rest) ||
			(now->depth_alarms <= said->depth_alarms &&
				now->overflow_alarms <= said->overflow_alarms))
			continue;
		worker_say(said, now, id);
		*said = (struct alarm_watch_worker) {
			.depth_alarms = now->depth_alarms,
			.overflow_alarms = now->overflow_alarms,
			.next_ns = status->time_ns + QUIET_NS,
		};
	}
}
