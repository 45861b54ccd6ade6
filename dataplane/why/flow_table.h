/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flows of a replay, by key. A flow stays where it is in memory: its address stands for its
 * packets while they are with the dispatcher.
 */
#ifndef WEIR_WHY_FLOW_TABLE_H
#define WEIR_WHY_FLOW_TABLE_H

#include <weir/weir.h>

struct flow {
	struct weir_flow_key key; /* reason: of its first packet */
	uint64_t hash;
	uint64_t packets;
	uint64_t bytes;
	uint32_t on_worker[]; /* packets charged to each worker */
};

/*
 * Open addressing by the flow's own 64-bit hash, which is there anyway: no dependency, and less
 * code than the glue to a library's table.
 */
struct flow_table {
	struct flow **slots; /* NULL: free */
	uint32_t n_slots;    /* power of two, or 0 */
	uint32_t n_flows;
	uint32_t n_workers;
};

/* A zeroed table with n_workers set is an empty one. */
void flow_table_fini(struct flow_table *table);

/* The flow of a key, made if it is new. Returns NULL without memory. */
struct flow *flow_table_get(
	struct flow_table *table, const struct weir_flow_key *key, uint64_t hash);

/* The next flow at or after slot `*slot`, which moves behind it; NULL past the last. */
struct flow *flow_table_next(const struct flow_table *table, uint32_t *slot);

#endif
