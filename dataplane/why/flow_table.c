/* SPDX-License-Identifier: BSD-3-Clause */
#include "flow_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_AT_FIRST 1024u

/* Reasons differ where a flow's packets were cut differently: the words alone are the flow. */
static bool
key_equals(const struct weir_flow_key *a, const struct weir_flow_key *b)
{
	return a->n_words == b->n_words && memcmp(a->word, b->word, sizeof(a->word)) == 0;
}

/* The slot of a key, or the free one where it belongs. */
static struct flow **
slot_find(const struct flow_table *table, const struct weir_flow_key *key, uint64_t hash)
{
	const uint32_t mask = table->n_slots - 1;
	uint32_t i = (uint32_t)hash & mask;

	while (table->slots[i] &&
		(table->slots[i]->hash != hash || !key_equals(&table->slots[i]->key, key)))
		i = (i + 1) & mask;
	return &table->slots[i];
}

/* Makes room for one more flow: half of the slots at least are free. */
static int
table_reserve(struct flow_table *table)
{
	struct flow_table larger = *table;
	struct flow *flow;
	uint32_t slot = 0;

	if (table->n_flows < table->n_slots / 2)
		return 0;
	larger.n_slots = table->n_slots ? table->n_slots * 2 : SLOTS_AT_FIRST;
	larger.slots = larger.n_slots ? calloc(larger.n_slots, sizeof(larger.slots[0])) : NULL;
	if (!larger.slots)
		return -ENOMEM;
	while ((flow = flow_table_next(table, &slot)))
		*slot_find(&larger, &flow->key, flow->hash) = flow;
	free(table->slots);
	*table = larger;
	return 0;
}

static struct flow *
flow_create(const struct flow_table *table, const struct weir_flow_key *key, uint64_t hash)
{
	struct flow *flow =
		calloc(1, sizeof(*flow) + table->n_workers * sizeof(flow->on_worker[0]));

	if (!flow)
		return NULL;
	flow->key = *key;
	flow->hash = hash;
	return flow;
}

struct flow *
flow_table_get(struct flow_table *table, const struct weir_flow_key *key, uint64_t hash)
{
	struct flow **slot;

	if (table_reserve(table) < 0)
		return NULL;
	slot = slot_find(table, key, hash);
	if (!*slot) {
		*slot = flow_create(table, key, hash);
		table->n_flows += *slot != NULL;
	}
	return *slot;
}

struct flow *
flow_table_next(const struct flow_table *table, uint32_t *slot)
{
	while (*slot < table->n_slots) {
		struct flow *flow = table->slots[(*slot)++];

		if (flow)
			return flow;
	}
	return NULL;
}

void
flow_table_fini(struct flow_table *table)
{
	struct flow *flow;
	uint32_t slot = 0;

	while ((flow = flow_table_next(table, &slot)))
		free(flow);
	free(table->slots);
	*table = (struct flow_table) { 0 };
}
