/* SPDX-License-Identifier: BSD-3-Clause */
#include "cause.h"

/* Far more than its share: half as much again, and so many packets that no chance explains it. */
#define EXCESS_PKTS_MIN 8

/* Packets at the worker, and wherever they are. */
struct part {
	uint64_t here;
	uint64_t everywhere;
};

/* The search: one worker's excess and the parts that could explain it. */
struct search {
	const struct census *census;
	const struct census_sums *sums;
	weir_worker_id worker;
	struct part all;
	struct part asked;
	struct part largest;
	const struct flow *largest_flow;
	struct part reason[WEIR_FLOW_REASON_COUNT];
	struct part sharing;
};

/* Packets beyond an even spread, times the number of workers. */
static int64_t
part_excess(const struct search *search, const struct part *part)
{
	return (int64_t)(part->here * search->census->n_workers) - (int64_t)part->everywhere;
}

static bool
part_explains(const struct search *search, const struct part *part)
{
	return part_excess(search, part) * 2 >= part_excess(search, &search->all);
}

static void
part_add(struct part *part, const struct flow *flow, weir_worker_id worker)
{
	part->here += flow->on_worker[worker];
	part->everywhere += flow->packets;
}

static void
flow_consider(struct search *search, const struct flow *flow)
{
	part_add(&search->reason[flow->key.reason], flow, search->worker);
	if (search->sums->bucket_flows[weir_flow_bucket(flow->hash)] > 1)
		part_add(&search->sharing, flow, search->worker);
	if (flow->on_worker[search->worker] <= search->largest.here)
		return;
	search->largest = (struct part) { flow->on_worker[search->worker], flow->packets };
	search->largest_flow = flow;
}

static struct search
search_start(const struct census *census, const struct census_sums *sums)
{
	struct search search = { .census = census, .sums = sums };
	const struct flow *flow;
	uint32_t slot = 0;

	for (uint32_t i = 0; i < census->n_workers; i++) {
		if (census->worker[i].packets > census->worker[search.worker].packets)
			search.worker = (weir_worker_id)i;
		search.all.everywhere += census->worker[i].packets;
		search.asked.everywhere += census->worker[i].asked;
	}
	search.all.here = census->worker[search.worker].packets;
	search.asked.here = census->worker[search.worker].asked;
	while ((flow = flow_table_next(&census->flows, &slot)))
		flow_consider(&search, flow);
	return search;
}

/* The fallback reason with the greatest excess at the worker. */
static unsigned int
reason_find(const struct search *search)
{
	unsigned int most = WEIR_FLOW_PORTS + 1;

	for (unsigned int i = most + 1; i < WEIR_FLOW_REASON_COUNT; i++)
		if (part_excess(search, &search->reason[i]) >
			part_excess(search, &search->reason[most]))
			most = i;
	return most;
}

static bool
is_far_more(const struct search *search)
{
	const int64_t excess = part_excess(search, &search->all);

	return excess >= (int64_t)(EXCESS_PKTS_MIN * search->census->n_workers) &&
	       excess * 2 >= (int64_t)search->all.everywhere;
}

struct cause
cause_find(const struct census *census, const struct census_sums *sums)
{
	const struct search search = search_start(census, sums);
	const unsigned int reason = reason_find(&search);
	const struct flow *flow = search.largest_flow;
	struct cause cause = { .kind = CAUSE_UNEVEN, .worker = search.worker };

	if (!is_far_more(&search)) {
		cause.kind = CAUSE_NONE;
	} else if (part_explains(&search, &search.asked)) {
		cause.kind = CAUSE_STRATEGY;
		cause.packets = search.asked.here;
	} else if (part_explains(&search, &search.largest) && flow->key.reason == WEIR_FLOW_PORTS) {
		cause.kind = CAUSE_ELEPHANT;
		cause.packets = search.largest.here;
		cause.flow = flow;
	} else if (part_explains(&search, &search.reason[reason])) {
		cause.kind = CAUSE_FALLBACK;
		cause.packets = search.reason[reason].here;
		cause.reason = reason;
	} else if (part_explains(&search, &search.sharing)) {
		cause.kind = CAUSE_COLLISION;
		cause.packets = search.sharing.here;
	}
	return cause;
}
