/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order of packets among flows: a random interleaving, each as likely as any other. Knows of a
 * flow only how many packets it has left.
 */
#ifndef WEIR_TRAFFIC_SCHEDULE_H
#define WEIR_TRAFFIC_SCHEDULE_H

#include <stdint.h>

#include "flows.h"

struct schedule {
	uint32_t *sums; /* Fenwick tree of the packets that flows have left, from 1 */
	uint32_t n_flows;
	uint32_t n_left; /* packets, over all flows */
};

/* Returns 0 or -ENOMEM. n_flows: 1 or more. */
int schedule_create(struct schedule *schedule, const struct flow *flows, uint32_t n_flows);

void schedule_destroy(struct schedule *schedule);

/* Draws the flow of the next packet. There must be one left. */
uint32_t schedule_next(struct schedule *schedule, uint64_t random);

#endif
