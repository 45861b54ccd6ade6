/* SPDX-License-Identifier: BSD-3-Clause */
#include "skew_watch.h"

#include <string.h>

/* Long enough for every flow of a busy port to show, short enough to be news. */
#define WINDOW_NS 1000000000

/* The fallback that most packets of the window took. */
static uint8_t
commonest_fallback(const struct skew_watch *watch, const struct status *status)
{
	uint64_t most = 0;
	uint8_t reason = WEIR_FLOW_PORTS;

	for (uint8_t i = WEIR_FLOW_PORTS + 1; i < WEIR_FLOW_REASON_COUNT; i++) {
		const uint64_t packets = status->flow[i] - watch->flow[i];

		if (i == WEIR_FLOW_NIC || packets <= most)
			continue;
		most = packets;
		reason = i;
	}
	return reason;
}

void
skew_watch_tick(struct skew_watch *watch, const struct status *status)
{
	struct weir_polarisation window;

	if (status->time_ns < watch->next_ns)
		return;
	window = weir_polarisation_judge(&watch->use, &status->use, status->n_workers);
	counter_set(&watch->entropy_millibits, (uint64_t)(window.entropy_bits * 1000));
	counter_set(&watch->top_permille, (uint64_t)(window.top_share * 1000));
	counter_set(&watch->reason, commonest_fallback(watch, status));
	counter_set(&watch->rings, window.alarm);
	counter_add(&watch->alarms, window.alarm);
	watch->use = status->use;
	memcpy(watch->flow, status->flow, sizeof(watch->flow));
	watch->next_ns = status->time_ns + WINDOW_NS;
}

struct status_skew
skew_watch_read(const struct skew_watch *watch)
{
	return (struct status_skew) {
		.alarms = counter_read(&watch->alarms),
		.rings = counter_read(&watch->rings) != 0,
		.entropy_millibits = (uint32_t)counter_read(&watch->entropy_millibits),
		.top_permille = (uint32_t)counter_read(&watch->top_permille),
		.reason = (uint8_t)counter_read(&watch->reason),
	};
}
