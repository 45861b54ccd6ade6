/* SPDX-License-Identifier: BSD-3-Clause */
#include "census.h"

void
census_arrival(struct census *census, struct flow *flow, const struct weir_meta *meta)
{
	const uint32_t group = weir_bucket_group(meta->bucket);

	if (census->packets++ == 0)
		census->first_ns = meta->time_ns;
	census->last_ns = meta->time_ns;
	census->bytes += meta->length;
	census->reason[meta->flow_reason]++;
	census->matched[meta->class_id]++;
	census->use.all[group]++;
	census->use.fallback[group] += meta->flow_reason != WEIR_FLOW_PORTS;
	flow->packets++;
	flow->bytes += meta->length;
}

static void
worker_charge(struct census *census, struct flow *flow, weir_worker_id worker)
{
	census->worker[worker].packets++;
	flow->on_worker[worker]++;
}

void
census_outcome(struct census *census, struct flow *flow, const struct replay_outcome *outcome)
{
	census->route[outcome->why.route]++;
	census->refused += outcome->refused;
	if (outcome->dropped >= 0)
		census->dropped[outcome->dropped]++;
	if (outcome->worker == WEIR_WORKER_NONE)
		return;
	if (outcome->why.route == WEIR_ROUTE_ASKS && !census->owns_flows)
		census->worker[outcome->worker].asked++;
	/* No worker has had it: so none will finish it. */
	if (outcome->dropped >= 0) {
		census->worker[outcome->worker].dropped++;
		worker_charge(census, outcome->evicted ? outcome->evicted : flow, outcome->worker);
	}
}

void
census_finish(void *context, void *packet, weir_worker_id worker)
{
	if (worker != WEIR_WORKER_NONE)
		worker_charge(context, packet, worker);
}

/* Keeps the largest flows; of equal ones the lower hash first, so that the order is stable. */
static void
top_consider(struct census_sums *sums, const struct flow *flow)
{
	uint32_t at = sums->n_top;

	while (at > 0 && (sums->top[at - 1]->packets < flow->packets ||
				 (sums->top[at - 1]->packets == flow->packets &&
					 sums->top[at - 1]->hash > flow->hash)))
		at--;
	if (at == CENSUS_TOP_FLOWS)
		return;
	if (sums->n_top < CENSUS_TOP_FLOWS)
		sums->n_top++;
	for (uint32_t i = sums->n_top - 1; i > at; i--)
		sums->top[i] = sums->top[i - 1];
	sums->top[at] = flow;
}

void
census_sum(const struct census *census, struct census_sums *sums)
{
	const struct flow *flow;
	uint32_t slot = 0;

	while ((flow = flow_table_next(&census->flows, &slot))) {
		const uint32_t flows = ++sums->bucket_flows[weir_flow_bucket(flow->hash)];

		sums->buckets_used += flows == 1;
		sums->buckets_shared += flows == 2;
		sums->flows_sharing += flows == 2 ? 2 : flows > 2;
		for (uint32_t i = 0; i < census->n_workers; i++)
			sums->worker_flows[i] += flow->on_worker[i] > 0;
		top_consider(sums, flow);
	}
}
