/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a flow says next: a TCP session, a DNS exchange, bulk UDP or fragmented datagrams, one
 * packet a call. Each packet is a function of its flow and of its place in it, not of other flows.
 */
#ifndef WEIR_TRAFFIC_SESSION_H
#define WEIR_TRAFFIC_SESSION_H

#include <stdint.h>

#include "flows.h"
#include "frame.h"

#define SESSION_FRAGMENTS_MAX 4

struct session {
	uint32_t min_size_bytes;
	uint32_t max_size_bytes;
	uint8_t datagram[SESSION_FRAGMENTS_MAX * FRAME_SIZE_MAX]; /* scratch */
};

/* Builds the next packet of `flow`, which has one left, and moves the flow on. */
void session_next(struct session *session, struct flow *flow, struct frame *frame);

#endif
