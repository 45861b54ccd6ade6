/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPLS label stacks. Nothing says what a stack carries; it is told from the first bytes behind it,
 * by rules that say the same for all packets of a flow:
 *
 * - First nibble 4: IPv4, unless its header checksum is wrong and it reads as Ethernet.
 * - First nibble 6: IPv6, unless its payload is longer than what is there and it reads as Ethernet.
 * - First nibble 1: a control channel (RFC 5586), not a flow.
 * - First nibble 0: Ethernet, if it reads as such; else a control word (RFC 4385), then Ethernet.
 * - Any other: Ethernet.
 *
 * Bytes read as Ethernet when their type field and what it points at agree: IPv4 or IPv6 with that
 * version behind it, a tag, ARP, MPLS or PPPoE.
 */
#ifndef WEIR_FLOW_MPLS_H
#define WEIR_FLOW_MPLS_H

#include "cursor.h"
#include "ip.h"
#include "link.h"

#define LABEL_BYTES 4
#define LABELS_MAX 16
#define LABEL_BOTTOM 0x01 /* in the third byte */
#define CONTROL_WORD_BYTES 4

enum label_payload {
	PAYLOAD_CONTROL_WORD = 0,
	PAYLOAD_CONTROL_CHANNEL = 1,
	PAYLOAD_IPV4 = 4,
	PAYLOAD_IPV6 = 6,
};

static inline bool
reads_as_ethernet(const uint8_t *at, size_t left)
{
	if (left <= ETHERNET_HEADER_BYTES)
		return false;
	switch (load_be16(at + 12)) {
	case ETHERTYPE_IPV4:
		return at[14] >= 0x45 && at[14] <= 0x4f;
	case ETHERTYPE_IPV6:
		return at[14] >> 4 == 6;
	case ETHERTYPE_ARP:
	case ETHERTYPE_VLAN:
	case ETHERTYPE_SERVICE_VLAN:
	case ETHERTYPE_MPLS:
	case ETHERTYPE_PPPOE_SESSION:
		return true;
	default:
		return false;
	}
}

/* Whether the header's checksum holds; it sums up to 0xffff with itself in it (RFC 1071). */
static inline bool
ipv4_sums_up(const uint8_t *at, size_t left)
{
	const size_t header_bytes = (size_t)(at[0] & 0x0f) * 4;
	uint32_t sum = 0;

	if (header_bytes < IPV4_HEADER_BYTES || left < header_bytes)
		return false;
	for (size_t i = 0; i < header_bytes; i += 2)
		sum += load_be16(at + i);
	sum = (sum & 0xffff) + (sum >> 16);
	return ((sum & 0xffff) + (sum >> 16)) == 0xffff;
}

static inline bool
ipv6_fits(const uint8_t *at, size_t left)
{
	return left >= IPV6_HEADER_BYTES && load_be16(at + 4) <= left - IPV6_HEADER_BYTES;
}

/* What the label stack that ends at the cursor carries. */
static inline enum layer
next_of_labels(struct walk *walk)
{
	const uint8_t *at = walk->at;
	const size_t left = walk->left;

	if (left == 0)
		return walk_stop_cut(walk, WEIR_FLOW_NOT_IP);
	switch (at[0] >> 4) {
	case PAYLOAD_IPV4:
		return !reads_as_ethernet(at, left) || ipv4_sums_up(at, left) ? LAYER_IPV4
									      : LAYER_ETHERNET;
	case PAYLOAD_IPV6:
		return !reads_as_ethernet(at, left) || ipv6_fits(at, left) ? LAYER_IPV6
									   : LAYER_ETHERNET;
	case PAYLOAD_CONTROL_CHANNEL:
		return walk_stop_not_ip(walk);
	case PAYLOAD_CONTROL_WORD:
		return reads_as_ethernet(at, left) ? LAYER_ETHERNET : LAYER_PSEUDOWIRE;
	default:
		return LAYER_ETHERNET;
	}
}

/* A stack counts as one shim, however many labels it has. */
static inline enum layer
walk_mpls(struct walk *walk)
{
	for (unsigned int i = 0; i < LABELS_MAX; i++) {
		const uint8_t *label = walk->at;

		if (walk->left < LABEL_BYTES)
			return walk_stop_cut(walk, WEIR_FLOW_NOT_IP);
		if (label[2] & LABEL_BOTTOM)
			return walk_take_shim(walk, LABEL_BYTES) ? next_of_labels(walk) : LAYER_END;
		walk_skip(walk, LABEL_BYTES);
	}
	return walk_stop(walk, WEIR_FLOW_NESTING_LIMIT);
}

/* The control word of a pseudowire: flags, length and sequence number, no part of the flow. */
static inline enum layer
walk_pseudowire(struct walk *walk)
{
	return walk_take_shim(walk, CONTROL_WORD_BYTES) ? LAYER_ETHERNET : LAYER_END;
}

#endif
