/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why one worker got far more than its share. A part of the traffic is the cause if its own excess
 * at that worker, beyond what an even spread would have brought there, is at least half of the
 * whole excess.
 */
#ifndef WEIR_WHY_CAUSE_H
#define WEIR_WHY_CAUSE_H

#include "census.h"

enum cause_kind {
	CAUSE_NONE,	 /* nobody got far more than its share */
	CAUSE_STRATEGY,	 /* it was chosen so, packet by packet */
	CAUSE_ELEPHANT,	 /* one large flow */
	CAUSE_FALLBACK,	 /* packets whose flows could not be told apart */
	CAUSE_COLLISION, /* buckets that several flows share */
	CAUSE_UNEVEN,	 /* nothing of these alone */
};

struct cause {
	enum cause_kind kind;
	weir_worker_id worker;	 /* with the most packets */
	uint64_t packets;	 /* of the cause, at that worker */
	const struct flow *flow; /* the elephant */
	unsigned int reason;	 /* of the fallback: enum weir_flow_reason */
};

struct cause cause_find(const struct census *census, const struct census_sums *sums);

#endif
