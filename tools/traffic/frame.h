/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames of a flow: Ethernet, its VLAN tags and a correct IP header, then the TCP or UDP header
 * over a payload already in place. Knows nothing of what a payload means or when it is due.
 */
#ifndef WEIR_TRAFFIC_FRAME_H
#define WEIR_TRAFFIC_FRAME_H

#include <stdint.h>

#include "flows.h"

#define TCP_HEADER_BYTES 20
#define UDP_HEADER_BYTES 8

/* Room for the greatest frame, were its headers to come on top of it. */
#define FRAME_BYTES_MAX (FRAME_SIZE_MAX + 128)

enum tcp_flag {
	TCP_FIN = 0x01,
	TCP_SYN = 0x02,
	TCP_PUSH = 0x08,
	TCP_ACK = 0x10,
};

/* IPv4's flag, as it lies in the flags and offset word. */
#define FRAME_MORE_FRAGMENTS 0x2000

struct frame {
	uint32_t length;
	uint8_t bytes[FRAME_BYTES_MAX];
};

/* What varies in the IP header from packet to packet. */
struct frame_ip {
	enum flow_side from;
	uint32_t payload_bytes; /* behind the IP header */
	uint16_t identification;
	uint16_t fragment; /* IPv4 flags and offset word */
};

struct tcp_segment {
	enum flow_side from;
	uint8_t flags;
	uint32_t sequence;
	uint32_t acknowledgement;
};

/* Bytes in front of the IP payload. */
uint32_t frame_header_bytes(const struct flow *flow);

/* Starts the frame with all of its headers up to IP's; returns where the IP payload goes. */
uint8_t *frame_start(struct frame *frame, const struct flow *flow, const struct frame_ip *ip);

/* Pads a frame with zeros to at least `min_bytes`. */
void frame_pad(struct frame *frame, uint32_t min_bytes);

/* Writes the header in front of the payload of an IP payload of `n` bytes, with its checksum. */
void tcp_finish(
	uint8_t *at, uint32_t n, const struct flow *flow, const struct tcp_segment *segment);
void udp_finish(uint8_t *at, uint32_t n, const struct flow *flow, enum flow_side from);

#endif
