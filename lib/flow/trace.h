/* SPDX-License-Identifier: BSD-3-Clause */
/* What a trace says of the layers that a walk comes to. Cold. */
#ifndef WEIR_FLOW_TRACE_H
#define WEIR_FLOW_TRACE_H

#include <weir/flow.h>

#include "cursor.h"

/* Adds `layer`, whose first byte is at the cursor, `offset` bytes into the frame. */
void trace_add(
	struct weir_flow_trace *trace, enum layer layer, const struct walk *walk, uint32_t offset);

#endif
