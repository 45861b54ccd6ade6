/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the flow of an Ethernet frame, and traces how: by the walk of walk.h, layer by layer. The
 * packet path has classify.c. Knows no buffer library and keeps no state.
 */
#include <weir/flow.h>

#include "key.h"
#include "trace.h"
#include "walk.h"

/* Finds `key`, and tells `trace`, if there is one, of each layer on the way. */
static void
flow_walk(struct walk walk, struct weir_flow_key *key, struct weir_flow_trace *trace)
{
	const uint8_t *frame = walk.at;
	enum layer layer = LAYER_ETHERNET;

	while (layer != LAYER_END) {
		if (trace)
			trace_add(trace, layer, &walk, (uint32_t)(walk.at - frame));
		layer = walk_step(&walk, layer);
	}
	*key = (struct weir_flow_key) { 0 };
	key_set(key, &walk);
}

void
weir_flow_parse(const struct weir_flow_config *config, const uint8_t *data, uint32_t length,
	struct weir_flow_key *key)
{
	flow_walk(walk_start(config, data, length), key, NULL);
}

void
weir_flow_trace(const struct weir_flow_config *config, const uint8_t *data, uint32_t length,
	struct weir_flow_trace *trace)
{
	trace->n_layers = 0;
	trace->n_omitted = 0;
	flow_walk(walk_start(config, data, length), &trace->key, trace);
}
