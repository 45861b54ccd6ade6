/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv4, IPv6 and its extension headers, AH: they note addresses and name the protocol that follows.
 */
#ifndef WEIR_FLOW_IP_H
#define WEIR_FLOW_IP_H

#include "cursor.h"

#define IPV4_HEADER_BYTES 20
#define IPV6_HEADER_BYTES 40
#define IPV6_EXTENSION_UNIT_BYTES 8
#define IPV6_FRAGMENT_BYTES 8
#define AH_FIXED_BYTES 12 /* as far as the sequence number */

/* "More fragments" and the offset: not both zero in a fragment, both zero in a whole datagram. */
#define IPV4_FRAGMENT_MASK 0x3fff
#define IPV6_FRAGMENT_MASK 0xfff9

enum protocol {
	PROTOCOL_HOP_BY_HOP = 0,
	PROTOCOL_ICMP = 1,
	PROTOCOL_IPV4 = 4,
	PROTOCOL_TCP = 6,
	PROTOCOL_UDP = 17,
	PROTOCOL_DCCP = 33,
	PROTOCOL_IPV6 = 41,
	PROTOCOL_ROUTING = 43,
	PROTOCOL_IPV6_FRAGMENT = 44,
	PROTOCOL_GRE = 47,
	PROTOCOL_ESP = 50,
	PROTOCOL_AH = 51,
	PROTOCOL_ICMPV6 = 58,
	PROTOCOL_DESTINATION = 60,
	PROTOCOL_SCTP = 132,
	PROTOCOL_MOBILITY = 135,
	PROTOCOL_UDP_LITE = 136,
	PROTOCOL_MPLS = 137,
	PROTOCOL_HIP = 139,
	PROTOCOL_SHIM6 = 140,
	PROTOCOL_ETHERNET = 143, /* of SRv6 (RFC 8986) */
};

/* By protocol; what is not here has no ports. A table: which protocol comes is hard to predict. */
static const uint8_t layer_of_protocol[UINT8_MAX + 1] = {
	[PROTOCOL_HOP_BY_HOP] = LAYER_IPV6_EXTENSION,
	[PROTOCOL_ICMP] = LAYER_ICMP,
	[PROTOCOL_IPV4] = LAYER_IPV4_IN_IP,
	[PROTOCOL_TCP] = LAYER_PORTS,
	[PROTOCOL_UDP] = LAYER_PORTS,
	[PROTOCOL_DCCP] = LAYER_PORTS,
	[PROTOCOL_IPV6] = LAYER_IPV6_IN_IP,
	[PROTOCOL_ROUTING] = LAYER_IPV6_EXTENSION,
	[PROTOCOL_IPV6_FRAGMENT] = LAYER_IPV6_FRAGMENT,
	[PROTOCOL_GRE] = LAYER_GRE,
	[PROTOCOL_ESP] = LAYER_ESP,
	[PROTOCOL_AH] = LAYER_AH,
	[PROTOCOL_ICMPV6] = LAYER_ICMPV6,
	[PROTOCOL_DESTINATION] = LAYER_IPV6_EXTENSION,
	[PROTOCOL_SCTP] = LAYER_PORTS,
	[PROTOCOL_MOBILITY] = LAYER_IPV6_EXTENSION,
	[PROTOCOL_UDP_LITE] = LAYER_PORTS,
	[PROTOCOL_MPLS] = LAYER_MPLS_IN_IP,
	[PROTOCOL_HIP] = LAYER_IPV6_EXTENSION,
	[PROTOCOL_SHIM6] = LAYER_IPV6_EXTENSION,
	[PROTOCOL_ETHERNET] = LAYER_ETHERNET_IN_IP,
};

static inline enum layer
next_of_protocol(uint8_t protocol)
{
	return (enum layer)layer_of_protocol[protocol];
}

static inline enum layer
walk_ipv4(struct walk *walk)
{
	const uint8_t *header = walk->at;

	if (unlikely(walk->left < IPV4_HEADER_BYTES))
		return walk_stop_cut(walk, WEIR_FLOW_TRUNCATED_IP);
	const size_t header_bytes = (size_t)(header[0] & 0x0f) * 4;
	/* Zero stands for a length that segmentation offload has yet to fill in: the frame's. */
	const size_t total_bytes = load_be16(header + 2) ? load_be16(header + 2) : SIZE_MAX;

	if (unlikely(header[0] >> 4 != 4 || header_bytes < IPV4_HEADER_BYTES ||
		     total_bytes < header_bytes))
		return walk_stop_cut(walk, WEIR_FLOW_TRUNCATED_IP);
	walk_note(walk, FLOW_KIND_IPV4, header + 12, header[9]);
	/* Only the first fragment has ports; it goes without them, so that it meets the others. */
	if (unlikely(load_be16(header + 6) & IPV4_FRAGMENT_MASK))
		return walk_stop(walk, WEIR_FLOW_FRAGMENT);
	walk_trim(walk, total_bytes);
	walk_skip(walk, header_bytes);
	return next_of_protocol(header[9]);
}

static inline enum layer
walk_ipv6(struct walk *walk)
{
	const uint8_t *header = walk->at;

	if (unlikely(walk->left < IPV6_HEADER_BYTES || header[0] >> 4 != 6))
		return walk_stop_cut(walk, WEIR_FLOW_TRUNCATED_IP);
	walk_note(walk, FLOW_KIND_IPV6, header + 8, header[6]);
	walk_skip(walk, IPV6_HEADER_BYTES);
	/* Zero stands for a jumbogram, or for offload as in IPv4: the frame's end. */
	if (likely(load_be16(header + 4)))
		walk_trim(walk, load_be16(header + 4));
	return next_of_protocol(header[6]);
}

/* Goes on behind a header of `bytes` that names the `protocol` that follows it. */
static inline enum layer
walk_extend(struct walk *walk, size_t bytes, uint8_t protocol)
{
	if (walk->left < bytes)
		return walk_stop_portless(walk, WEIR_FLOW_TRUNCATED_PORTS);
	if (walk->n_extensions == EXTENSIONS_MAX)
		return walk_stop(walk, WEIR_FLOW_NESTING_LIMIT);
	walk->n_extensions++;
	walk->protocol = protocol;
	walk_skip(walk, bytes);
	return next_of_protocol(protocol);
}

/*
 * Hop-by-hop, routing, destination, mobility and the like: all have the same first two bytes. Their
 * numbers mean nothing in IPv4.
 */
static inline enum layer
walk_ipv6_extension(struct walk *walk)
{
	if (walk->kind != FLOW_KIND_IPV6)
		return walk_stop_portless(walk, WEIR_FLOW_NO_PORTS);
	if (walk->left < IPV6_EXTENSION_UNIT_BYTES)
		return walk_stop_portless(walk, WEIR_FLOW_TRUNCATED_PORTS);
	return walk_extend(
		walk, (walk->at[1] + (size_t)1) * IPV6_EXTENSION_UNIT_BYTES, walk->at[0]);
}

/*
 * The flow of a fragment keeps 44 as its protocol: fragments of one datagram may name different
 * next headers. An "atomic" fragment (RFC 6946) is a whole datagram.
 */
static inline enum layer
walk_ipv6_fragment(struct walk *walk)
{
	if (walk->kind != FLOW_KIND_IPV6)
		return walk_stop_portless(walk, WEIR_FLOW_NO_PORTS);
	if (walk->left < IPV6_FRAGMENT_BYTES)
		return walk_stop_portless(walk, WEIR_FLOW_TRUNCATED_PORTS);
	if (load_be16(walk->at + 2) & IPV6_FRAGMENT_MASK)
		return walk_stop(walk, WEIR_FLOW_FRAGMENT);
	return walk_extend(walk, IPV6_FRAGMENT_BYTES, walk->at[0]);
}

/* What AH protects can be read: its SPI is the flow only where no ports are found behind it. */
static inline enum layer
walk_ah(struct walk *walk)
{
	if (walk->left < AH_FIXED_BYTES)
		return walk_stop_portless(walk, WEIR_FLOW_TRUNCATED_PORTS);
	walk->ah_spi = load_be32(walk->at + 4);
	return walk_extend(walk, (walk->at[1] + (size_t)2) * 4, walk->at[0]);
}

#endif
