/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames for parser tests, built by hand from a description: no checksums, nothing random, so that
 * a test can say at which byte each layer begins. Knows nothing of the parser.
 */
#ifndef WEIR_TESTS_PACKET_BUILDER_H
#define WEIR_TESTS_PACKET_BUILDER_H

#include <stdint.h>

#define PACKET_BYTES_MAX 256
#define PACKET_TAGS_MAX 16

/* IPv4 flags as they lie in the header's flags and offset word. */
#define PACKET_DONT_FRAGMENT 0x4000
#define PACKET_MORE_FRAGMENTS 0x2000

/* One side of a flow. Addresses are small numbers: 10.0.0.0/8, 2001:db8::/32, 02:00:00. */
struct packet_endpoint {
	uint32_t host; /* 24 bits */
	uint16_t port; /* an echo's identifier too, then the same on both sides */
};

/* What a frame consists of. Zero means absent. */
struct packet_spec {
	uint16_t tags[PACKET_TAGS_MAX]; /* tag protocol identifiers, outermost first, 0 ends */
	uint8_t ip_version;		/* 0, 4, 6 */
	uint16_t ethertype;		/* when ip_version is 0 */
	uint8_t option_words;		/* IPv4 options, words of four bytes */
	uint16_t fragment;		/* IPv4 flags and offset word */
	uint8_t protocol;
	uint8_t icmp_type;
	uint16_t payload_bytes; /* behind the first eight bytes of the transport header */
	struct packet_endpoint from;
	struct packet_endpoint to;
};

struct packet {
	uint8_t bytes[PACKET_BYTES_MAX];
	uint32_t length;
	uint32_t ip_offset;	   /* where the innermost EtherType's payload begins */
	uint32_t transport_offset; /* where the IP payload begins */
};

/* Builds the frame that `spec` describes. */
void packet_build(struct packet *packet, const struct packet_spec *spec);

/* The same flow in the other direction. */
struct packet_spec packet_reverse(const struct packet_spec *spec);

/* Overwrites two bytes at `offset`, in network order. */
void packet_poke16(struct packet *packet, uint32_t offset, uint16_t value);

#endif
