/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines of one packet: layers, flow, rule if there are any, decision. */
#ifndef WEIR_WHY_PACKET_LINES_H
#define WEIR_WHY_PACKET_LINES_H

#include <stdio.h>

#include "replay.h"

/* All that is told of a packet. */
struct packet_story {
	uint64_t number;  /* from 1 */
	uint64_t time_ns; /* since the first packet; of one from before it, 0 */
	const struct weir_meta *meta;
	const struct weir_flow_trace *trace;
	const struct weir_rules *rules; /* NULL: none */
	const struct replay_outcome *outcome;
};

void packet_lines_print(FILE *out, const struct packet_story *story);

#endif
