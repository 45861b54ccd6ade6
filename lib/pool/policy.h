/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The policy: what is done with packets, by class: routes with their strategies, overflow,
 * admission. Immutable once it is published with a snapshot; another one takes its place when the
 * pool is changed while packets flow. Control makes and frees it; of the strategies' state each
 * dispatcher has a part of its own, which nobody else touches.
 */
#ifndef WEIR_POOL_POLICY_H
#define WEIR_POOL_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/overflow.h>
#include <weir/pool.h>
#include <weir/strategy.h>

#include "area.h"
#include "cacheline.h"

/* A class as a dispatcher goes by it. */
struct pool_class {
	enum weir_action action;
	uint8_t divert_port;
	uint8_t route;
	const struct weir_overflow_policy *policy;
	enum weir_admission admission;
	uint32_t retries;
	uint64_t police_pps;
	uint32_t police_burst;
};

struct pool_policy {
	struct pool_class class_of[WEIR_CLASSES_MAX];
	uint32_t n_routes;
	struct weir_strategy_route route[WEIR_ROUTES_MAX]; /* without tables */
	uint64_t covering; /* classes that cover early, one bit each */
	bool claim_lanes;  /* an overflow policy evicts: all lanes are claim lanes */
	bool claims;	   /* a strategy claims workers */
	void *tag;	   /* the caller's own */
	weir_tag_release_fn tag_release;
	size_t state_bytes; /* of all strategies' state, per dispatcher: whole pages */
	struct area state_area;
	uint32_t n_users; /* the pool and snapshots; control's */
};

/* Makes the policy of a configuration, which was checked. Returns NULL without memory. */
struct pool_policy *policy_create(const struct weir_config *config);

/* One user more, or less: the last one frees it. NULL is allowed. */
struct pool_policy *policy_use(struct pool_policy *policy);
void policy_unuse(struct pool_policy *policy);

/* Whether packets can go to several workers. */
bool policy_fans_out(const struct pool_policy *policy);

/* Bytes that the state of one strategy takes there; NULL: none. In the order of routes, each
 * strategy before its fallback. */
static inline size_t
policy_state_bytes_of(const struct weir_strategy *strategy)
{
	return strategy ? round_up(strategy->state_bytes, CACHE_LINE_BYTES) : 0;
}

/* A dispatcher's memory for the state of all strategies; NULL if none keeps any. */
static inline char *
policy_state(const struct pool_policy *policy, uint32_t dispatcher)
{
	if (policy->state_bytes == 0)
		return NULL;
	return (char *)policy->state_area.memory + dispatcher * policy->state_bytes;
}

#endif
