/* SPDX-License-Identifier: BSD-3-Clause */
/* What lies behind an IP header and is no tunnel: ports, ICMP identifiers and quotes, SPIs. */
#ifndef WEIR_FLOW_TRANSPORT_H
#define WEIR_FLOW_TRANSPORT_H

#include "cursor.h"
#include "ip.h"

#define PORTS_BYTES 4
#define UDP_HEADER_BYTES 8
#define SPI_BYTES 4
/* Type, code, checksum and the identifier of a query. */
#define ICMP_QUERY_BYTES 6
/* As far as what an error quotes. */
#define ICMP_ERROR_BYTES 8

/* Bit per type below 64. Queries and their replies with an identifier in bytes 4 and 5: echo, time
 * stamp, information, address mask (RFC 792, 950), extended echo (RFC 8335). */
#define ICMP_QUERIES                                                                            \
	(UINT64_C(1) << 0 | UINT64_C(1) << 8 | UINT64_C(1) << 13 | UINT64_C(1) << 14 |          \
		UINT64_C(1) << 15 | UINT64_C(1) << 16 | UINT64_C(1) << 17 | UINT64_C(1) << 18 | \
		UINT64_C(1) << 42 | UINT64_C(1) << 43)
/* Unreachable, source quench, redirect, time exceeded, parameter problem. */
#define ICMP_ERRORS                                                                   \
	(UINT64_C(1) << 3 | UINT64_C(1) << 4 | UINT64_C(1) << 5 | UINT64_C(1) << 11 | \
		UINT64_C(1) << 12)

enum icmpv6_type {
	ICMPV6_UNREACHABLE = 1,
	ICMPV6_TOO_BIG = 2,
	ICMPV6_TIME_EXCEEDED = 3,
	ICMPV6_PARAMETER_PROBLEM = 4,
	ICMPV6_ECHO_REQUEST = 128,
	ICMPV6_ECHO_REPLY = 129,
	ICMPV6_EXTENDED_ECHO_REQUEST = 160,
	ICMPV6_EXTENDED_ECHO_REPLY = 161,
};

/* By enum weir_flow_tunnel. */
static inline enum layer
layer_of_tunnel(enum weir_flow_tunnel tunnel)
{
	switch (tunnel) {
	case WEIR_FLOW_VXLAN:
		return LAYER_VXLAN;
	case WEIR_FLOW_VXLAN_GPE:
		return LAYER_VXLAN_GPE;
	case WEIR_FLOW_GENEVE:
		return LAYER_GENEVE;
	case WEIR_FLOW_GTPU:
		return LAYER_GTPU;
	case WEIR_FLOW_TEREDO:
		return LAYER_TEREDO;
	case WEIR_FLOW_TUNNEL_COUNT:
		break;
	}
	return LAYER_END;
}

/* Whether one of the ports is a tunnel's, without a branch: most packets' are not. */
static inline bool
ports_may_be_tunnel(const struct walk *walk)
{
	const uint16_t *tunnel = walk->config->tunnel_port;
	const uint16_t port = walk_destination_port(walk);
	bool found = walk_source_port(walk) == tunnel[WEIR_FLOW_TEREDO];

	found |= port == tunnel[WEIR_FLOW_VXLAN];
	found |= port == tunnel[WEIR_FLOW_VXLAN_GPE];
	found |= port == tunnel[WEIR_FLOW_GENEVE];
	found |= port == tunnel[WEIR_FLOW_GTPU];
	found |= port == tunnel[WEIR_FLOW_TEREDO];
	return found & (walk->protocol == PROTOCOL_UDP);
}

/*
 * The tunnel whose port it is; WEIR_FLOW_TUNNEL_COUNT if there is none. Port 0 is nobody's, though
 * it is what "off" looks like.
 */
static inline enum weir_flow_tunnel
walk_find_tunnel(const struct walk *walk)
{
	const uint16_t *tunnel = walk->config->tunnel_port;

	for (unsigned int i = 0; i < WEIR_FLOW_TUNNEL_COUNT; i++)
		if (tunnel[i] != 0 && walk_destination_port(walk) == tunnel[i])
			return (enum weir_flow_tunnel)i;
	if (tunnel[WEIR_FLOW_TEREDO] != 0 && walk_source_port(walk) == tunnel[WEIR_FLOW_TEREDO])
		return WEIR_FLOW_TEREDO;
	return WEIR_FLOW_TUNNEL_COUNT;
}

static inline enum layer
walk_udp_tunnel(struct walk *walk)
{
	const enum weir_flow_tunnel tunnel = walk_find_tunnel(walk);

	if (tunnel == WEIR_FLOW_TUNNEL_COUNT || walk->config->depth == WEIR_FLOW_OUTER)
		return walk_stop(walk, WEIR_FLOW_PORTS);
	if (walk->left < UDP_HEADER_BYTES)
		return walk_stop(walk, WEIR_FLOW_TRUNCATED_INNER);
	const uint16_t udp_bytes = load_be16(walk->at + 4);

	/* Zero, or less than a header: of a jumbogram or by offload. */
	if (udp_bytes >= UDP_HEADER_BYTES)
		walk_trim(walk, udp_bytes);
	walk_skip(walk, UDP_HEADER_BYTES);
	return walk_enter(walk, layer_of_tunnel(tunnel));
}

/* TCP, UDP, UDP-Lite, SCTP and DCCP all begin with the two ports. */
static inline enum layer
walk_ports(struct walk *walk)
{
	if (unlikely(walk->left < PORTS_BYTES))
		return walk_stop_portless(walk, WEIR_FLOW_TRUNCATED_PORTS);
	walk->ports = load_be32(walk->at);
	if (unlikely(ports_may_be_tunnel(walk)))
		return LAYER_UDP_TUNNEL;
	return walk_stop(walk, WEIR_FLOW_PORTS);
}

/* The identifier, which a query and its reply share, stands for both ports. */
static inline enum layer
walk_icmp_query(struct walk *walk)
{
	if (walk->left < ICMP_QUERY_BYTES)
		return walk_stop_portless(walk, WEIR_FLOW_TRUNCATED_PORTS);
	walk->ports = load_be16(walk->at + 4) * UINT32_C(0x00010001);
	return walk_stop(walk, WEIR_FLOW_PORTS);
}

/*
 * An error quotes the beginning of a packet that went the other way; the key is the same both ways.
 * A quote in a quote is not followed: no error answers an error.
 */
static inline enum layer
walk_icmp_error(struct walk *walk, enum layer quoted)
{
	if (walk->quoted)
		return walk_stop_portless(walk, WEIR_FLOW_NO_PORTS);
	if (walk->left < ICMP_ERROR_BYTES)
		return walk_stop_portless(walk, WEIR_FLOW_TRUNCATED_PORTS);
	walk->quoted = true;
	walk->n_extensions = 0;
	walk_skip(walk, ICMP_ERROR_BYTES);
	return quoted;
}

static inline enum layer
walk_icmp(struct walk *walk)
{
	if (walk->left == 0)
		return walk_stop_portless(walk, WEIR_FLOW_TRUNCATED_PORTS);
	const uint8_t type = walk->at[0];
	const uint64_t bit = type < 64 ? UINT64_C(1) << type : 0;

	if (bit & ICMP_QUERIES)
		return walk_icmp_query(walk);
	if (bit & ICMP_ERRORS)
		return walk_icmp_error(walk, LAYER_IPV4);
	return walk_stop_portless(walk, WEIR_FLOW_NO_PORTS);
}

static inline enum layer
walk_icmpv6(struct walk *walk)
{
	if (walk->left == 0)
		return walk_stop_portless(walk, WEIR_FLOW_TRUNCATED_PORTS);
	switch (walk->at[0]) {
	case ICMPV6_UNREACHABLE:
	case ICMPV6_TOO_BIG:
	case ICMPV6_TIME_EXCEEDED:
	case ICMPV6_PARAMETER_PROBLEM:
		return walk_icmp_error(walk, LAYER_IPV6);
	case ICMPV6_ECHO_REQUEST:
	case ICMPV6_ECHO_REPLY:
	case ICMPV6_EXTENDED_ECHO_REQUEST:
	case ICMPV6_EXTENDED_ECHO_REPLY:
		return walk_icmp_query(walk);
	default:
		return walk_stop_portless(walk, WEIR_FLOW_NO_PORTS);
	}
}

/* The SPI is all of ESP that can be read. */
static inline enum layer
walk_esp(struct walk *walk)
{
	if (walk->left < SPI_BYTES)
		return walk_stop_portless(walk, WEIR_FLOW_TRUNCATED_PORTS);
	return walk_stop_spi(walk, load_be32(walk->at));
}

#endif
