/* SPDX-License-Identifier: BSD-3-Clause */
/* What a replay is counted by: packets as they come, sums over the flows at the end. */
#ifndef WEIR_WHY_CENSUS_H
#define WEIR_WHY_CENSUS_H

#include <weir/weir.h>

#include "flow_table.h"
#include "replay.h"

#define CENSUS_TOP_FLOWS 5

struct census_worker {
	uint64_t packets; /* charged to it, those that were dropped at its lane included */
	uint64_t dropped;
	uint64_t asked; /* charged to it by a free choice of the strategy, whatever their flow */
};

struct census {
	uint32_t n_workers;
	bool owns_flows; /* strategy: a flow has one owner, so that it chooses freely of none */
	struct flow_table flows;
	uint64_t packets;
	uint64_t bytes;
	uint64_t first_ns;
	uint64_t last_ns;
	uint64_t route[WEIR_ROUTE_COUNT];
	uint64_t refused;
	uint64_t dropped[WEIR_REASON_COUNT];
	uint64_t reason[WEIR_FLOW_REASON_COUNT];
	uint64_t matched[WEIR_CLASSES_MAX]; /* by the rule's number; 0: none */
	struct weir_bucket_use use;
	struct census_worker worker[WEIR_WORKERS_MAX];
};

/* Sums over the flows. */
struct census_sums {
	uint32_t buckets_used;
	uint32_t buckets_shared; /* by two flows or more */
	uint32_t flows_sharing;	 /* flows in those */
	uint32_t worker_flows[WEIR_WORKERS_MAX];
	uint32_t n_top;
	const struct flow *top[CENSUS_TOP_FLOWS]; /* largest first */
	uint32_t bucket_flows[WEIR_BUCKETS];
};

/* A packet that is about to be dispatched. */
void census_arrival(struct census *census, struct flow *flow, const struct weir_meta *meta);

/* What became of it at once. */
void census_outcome(struct census *census, struct flow *flow, const struct replay_outcome *outcome);

/* The replay's finish callback; the packet's handle is its flow, the context the census. */
void census_finish(void *context, void *packet, weir_worker_id worker);

/* Fills zeroed sums. */
void census_sum(const struct census *census, struct census_sums *sums);

#endif
