/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tunnel headers: each names what it carries. What identifies the tunnel (VNI, TEID, key, session)
 * is no part of the flow.
 */
#ifndef WEIR_FLOW_TUNNEL_H
#define WEIR_FLOW_TUNNEL_H

#include "cursor.h"
#include "ip.h"
#include "link.h"
#include "transport.h"

#define GRE_HEADER_BYTES 4
#define GRE_WORD_BYTES 4
#define GRE_ROUTES_MAX 8 /* source route entries that are looked through */
#define GRE_ROUTE_HEADER_BYTES 4
#define ERSPAN_2_HEADER_BYTES 8
#define ERSPAN_3_HEADER_BYTES 12
#define ERSPAN_3_SUBHEADER_BYTES 8
#define VXLAN_HEADER_BYTES 8
#define GENEVE_HEADER_BYTES 8
#define GTPU_HEADER_BYTES 8
#define GTPU_OPTIONAL_BYTES 4
#define GTPU_EXTENSIONS_MAX 8
#define TEREDO_ORIGIN_BYTES 8
#define TEREDO_AUTHENTICATION_BYTES 13 /* with neither a client identifier nor a value */

/* The first two bytes of a GRE header (RFC 1701, 2637, 2784, 2890). */
enum gre_flag {
	GRE_CHECKSUM = 0x8000,
	GRE_ROUTING = 0x4000,
	GRE_KEY = 0x2000,
	GRE_SEQUENCE = 0x1000,
	GRE_ACKNOWLEDGEMENT = 0x0080, /* version 1 */
	GRE_VERSION_MASK = 0x0007,
};

enum gre_type {
	GRE_TYPE_ERSPAN_3 = 0x22eb,
	GRE_TYPE_PPP = 0x880b,
	GRE_TYPE_WCCP = 0x883e,
	GRE_TYPE_ERSPAN = 0x88be,
};

enum erspan_version {
	ERSPAN_VERSION_2 = 1,
	ERSPAN_VERSION_3 = 2,
};

/* What an ERSPAN III header says of the frame that it carries. */
enum erspan_frame_type {
	ERSPAN_FRAME_ETHERNET = 0,
	ERSPAN_FRAME_IP = 2,
};

#define ERSPAN_3_SUBHEADER 0x01 /* "O", in the last byte */

#define VXLAN_HAS_VNI 0x08
#define VXLAN_GPE_HAS_PROTOCOL 0x04

enum vxlan_gpe_protocol {
	VXLAN_GPE_IPV4 = 1,
	VXLAN_GPE_IPV6 = 2,
	VXLAN_GPE_ETHERNET = 3,
	VXLAN_GPE_NSH = 4,
	VXLAN_GPE_MPLS = 5,
};

/* The first byte of a GTP-U header (3GPP TS 29.281): version 1 and the protocol type. */
#define GTPU_VERSION_MASK 0xf0
#define GTPU_VERSION_1 0x30
#define GTPU_HAS_EXTENSION 0x04
#define GTPU_HAS_OPTIONAL 0x07
#define GTPU_MESSAGE_PACKET 0xff

#define TEREDO_ORIGIN 0x0000
#define TEREDO_AUTHENTICATION 0x0001

/* IP of either version, told by its first nibble. */
static inline enum layer
next_of_ip_version(struct walk *walk)
{
	if (walk->left == 0)
		return walk_stop_cut(walk, WEIR_FLOW_TRUNCATED_IP);
	switch (walk->at[0] >> 4) {
	case 4:
		return LAYER_IPV4;
	case 6:
		return LAYER_IPV6;
	default:
		return walk_stop_not_ip(walk);
	}
}

static inline enum layer
walk_stop_unknown_tunnel(struct walk *walk)
{
	return walk_stop(walk, WEIR_FLOW_UNKNOWN_TUNNEL);
}

/* Takes `bytes` of a tunnel's header. Returns false, at the end of the walk, if there are fewer. */
static inline bool
walk_take(struct walk *walk, size_t bytes)
{
	if (walk->left < bytes) {
		walk_stop(walk, WEIR_FLOW_TRUNCATED_INNER);
		return false;
	}
	walk_skip(walk, bytes);
	return true;
}

/* WCCP redirects may come with a header of their own, whose first nibble no IPv4 has. */
static inline enum layer
next_of_wccp(struct walk *walk)
{
	if (walk->left > 0 && walk->at[0] >> 4 != 4)
		return walk_take(walk, GRE_WORD_BYTES) ? LAYER_IPV4 : LAYER_END;
	return LAYER_IPV4;
}

static inline enum layer
next_of_gre_type(struct walk *walk, uint16_t flags, uint16_t type)
{
	switch (type) {
	case GRE_TYPE_ERSPAN:
		/* Version 1 has no header of its own, and GRE then no sequence number. */
		return flags & GRE_SEQUENCE ? LAYER_ERSPAN_2 : LAYER_ETHERNET;
	case GRE_TYPE_ERSPAN_3:
		return LAYER_ERSPAN_3;
	case GRE_TYPE_PPP:
		return LAYER_PPP;
	case GRE_TYPE_WCCP:
		return next_of_wccp(walk);
	default:
		return next_of_tunnel_type(walk, type);
	}
}

/* The optional words of a header. Checksum and offset are there if either is asked for. */
static inline size_t
gre_optional_bytes(uint16_t flags)
{
	size_t words = 0;

	words += (flags & (GRE_CHECKSUM | GRE_ROUTING)) != 0;
	words += (flags & GRE_KEY) != 0;
	words += (flags & GRE_SEQUENCE) != 0;
	words += (flags & GRE_ACKNOWLEDGEMENT) != 0;
	return words * GRE_WORD_BYTES;
}

/* Takes source route entries, as far as the empty one (RFC 1701). False: the walk has ended. */
static inline bool
walk_take_gre_routes(struct walk *walk)
{
	for (unsigned int i = 0;; i++) {
		const uint8_t *route = walk->at;

		if (!walk_take(walk, GRE_ROUTE_HEADER_BYTES))
			return false;
		if (load_be32(route) == 0)
			return true;
		if (i == GRE_ROUTES_MAX)
			break;
		if (!walk_take(walk, route[3]))
			return false;
	}
	walk_stop(walk, WEIR_FLOW_NESTING_LIMIT);
	return false;
}

/* PPTP. Acknowledgements carry nothing, and no sequence number says so. */
static inline enum layer
walk_gre_1(struct walk *walk, uint16_t flags, uint16_t type)
{
	if (type != GRE_TYPE_PPP || !(flags & GRE_KEY))
		return walk_stop_unknown_tunnel(walk);
	if (!(flags & GRE_SEQUENCE))
		return walk_stop_portless(walk, WEIR_FLOW_NO_PORTS);
	return walk_take(walk, gre_optional_bytes(flags)) ? LAYER_PPP : LAYER_END;
}

static inline enum layer
walk_gre(struct walk *walk)
{
	const uint8_t *header = walk->at;

	if (walk_enter(walk, LAYER_GRE) == LAYER_END || !walk_take(walk, GRE_HEADER_BYTES))
		return LAYER_END;
	const uint16_t flags = load_be16(header);
	const uint16_t type = load_be16(header + 2);
	const uint16_t version = flags & GRE_VERSION_MASK;

	if (version == 1)
		return walk_gre_1(walk, flags, type);
	if (version != 0 || flags & GRE_ACKNOWLEDGEMENT)
		return walk_stop_unknown_tunnel(walk);
	if (!walk_take(walk, gre_optional_bytes(flags)))
		return LAYER_END;
	if (flags & GRE_ROUTING && !walk_take_gre_routes(walk))
		return LAYER_END;
	return next_of_gre_type(walk, flags, type);
}

static inline enum layer
walk_erspan_2(struct walk *walk)
{
	const uint8_t *header = walk->at;

	if (!walk_take(walk, ERSPAN_2_HEADER_BYTES))
		return LAYER_END;
	return header[0] >> 4 == ERSPAN_VERSION_2 ? LAYER_ETHERNET : walk_stop_unknown_tunnel(walk);
}

static inline enum layer
walk_erspan_3(struct walk *walk)
{
	const uint8_t *header = walk->at;

	if (!walk_take(walk, ERSPAN_3_HEADER_BYTES))
		return LAYER_END;
	if (header[0] >> 4 != ERSPAN_VERSION_3)
		return walk_stop_unknown_tunnel(walk);
	if (header[11] & ERSPAN_3_SUBHEADER && !walk_take(walk, ERSPAN_3_SUBHEADER_BYTES))
		return LAYER_END;
	switch (header[10] >> 2 & 0x1f) {
	case ERSPAN_FRAME_ETHERNET:
		return LAYER_ETHERNET;
	case ERSPAN_FRAME_IP:
		return next_of_ip_version(walk);
	default:
		return walk_stop_not_ip(walk);
	}
}

static inline enum layer
walk_vxlan(struct walk *walk)
{
	const uint8_t *header = walk->at;

	if (!walk_take(walk, VXLAN_HEADER_BYTES))
		return LAYER_END;
	return header[0] & VXLAN_HAS_VNI ? LAYER_ETHERNET : walk_stop_unknown_tunnel(walk);
}

static inline enum layer
next_of_vxlan_gpe(struct walk *walk, uint8_t protocol)
{
	switch (protocol) {
	case VXLAN_GPE_IPV4:
		return LAYER_IPV4;
	case VXLAN_GPE_IPV6:
		return LAYER_IPV6;
	case VXLAN_GPE_ETHERNET:
		return LAYER_ETHERNET;
	case VXLAN_GPE_NSH:
		return LAYER_NSH;
	case VXLAN_GPE_MPLS:
		return LAYER_MPLS;
	default:
		return walk_stop_not_ip(walk);
	}
}

/* Without a protocol it is VXLAN. */
static inline enum layer
walk_vxlan_gpe(struct walk *walk)
{
	const uint8_t *header = walk->at;

	if (!walk_take(walk, VXLAN_HEADER_BYTES))
		return LAYER_END;
	if (!(header[0] & VXLAN_HAS_VNI))
		return walk_stop_unknown_tunnel(walk);
	if (!(header[0] & VXLAN_GPE_HAS_PROTOCOL))
		return LAYER_ETHERNET;
	return next_of_vxlan_gpe(walk, header[3]);
}

static inline enum layer
walk_geneve(struct walk *walk)
{
	const uint8_t *header = walk->at;

	if (!walk_take(walk, GENEVE_HEADER_BYTES))
		return LAYER_END;
	if (header[0] >> 6 != 0)
		return walk_stop_unknown_tunnel(walk);
	if (!walk_take(walk, (size_t)(header[0] & 0x3f) * 4))
		return LAYER_END;
	return next_of_tunnel_type(walk, load_be16(header + 2));
}

/*
 * Takes extension headers, the first of kind `next`: a length in words, contents, the next kind.
 * False: the walk has ended.
 */
static inline bool
walk_take_gtpu_extensions(struct walk *walk, uint8_t next)
{
	for (unsigned int i = 0; next != 0; i++) {
		const size_t bytes = walk->left > 0 ? (size_t)walk->at[0] * 4 : 4;

		if (i == GTPU_EXTENSIONS_MAX || bytes == 0) {
			walk_stop(walk,
				bytes == 0 ? WEIR_FLOW_UNKNOWN_TUNNEL : WEIR_FLOW_NESTING_LIMIT);
			return false;
		}
		if (!walk_take(walk, bytes))
			return false;
		next = walk->at[-1];
	}
	return true;
}

/* Only user packets have a flow inside; the rest is signalling between the tunnel's ends. */
static inline enum layer
walk_gtpu(struct walk *walk)
{
	const uint8_t *header = walk->at;

	if (!walk_take(walk, GTPU_HEADER_BYTES))
		return LAYER_END;
	if ((header[0] & GTPU_VERSION_MASK) != GTPU_VERSION_1 || header[1] != GTPU_MESSAGE_PACKET)
		return walk_stop_unknown_tunnel(walk);
	walk_trim(walk, load_be16(header + 2));
	if (header[0] & GTPU_HAS_OPTIONAL) {
		if (!walk_take(walk, GTPU_OPTIONAL_BYTES))
			return LAYER_END;
		if (header[0] & GTPU_HAS_EXTENSION && !walk_take_gtpu_extensions(walk, header[11]))
			return LAYER_END;
	}
	return next_of_ip_version(walk);
}

/* Takes the authentication indication, if it comes next. False: the walk has ended. */
static inline bool
walk_take_teredo_authentication(struct walk *walk)
{
	if (walk->left < 4 || load_be16(walk->at) != TEREDO_AUTHENTICATION)
		return true;
	return walk_take(walk, TEREDO_AUTHENTICATION_BYTES + walk->at[2] + (size_t)walk->at[3]);
}

/* Bytes of a UDP datagram's payload, which begins at the cursor, as its header says. */
static inline size_t
walk_udp_payload_bytes(const struct walk *walk)
{
	const size_t udp_bytes = load_be16(walk->at - UDP_HEADER_BYTES + 4);

	return udp_bytes > UDP_HEADER_BYTES ? udp_bytes - UDP_HEADER_BYTES : walk->left;
}

/*
 * Indications, then IPv6 (RFC 4380). It must fill the datagram exactly: the port lies where systems
 * used to pick their clients' ports, and what others send there may begin with a 6 too.
 */
static inline enum layer
walk_teredo(struct walk *walk)
{
	const uint8_t *end = walk->at + walk_udp_payload_bytes(walk);

	if (!walk_take_teredo_authentication(walk))
		return LAYER_END;
	if (walk->left >= 2 && load_be16(walk->at) == TEREDO_ORIGIN &&
		!walk_take(walk, TEREDO_ORIGIN_BYTES))
		return LAYER_END;
	const uint8_t *header = walk->at;

	if (walk->left > 0 && header[0] >> 4 != 6)
		return walk_stop_unknown_tunnel(walk);
	if (walk->left < IPV6_HEADER_BYTES)
		return walk_stop(walk, WEIR_FLOW_TRUNCATED_INNER);
	if (header + IPV6_HEADER_BYTES + load_be16(header + 4) != end)
		return walk_stop_unknown_tunnel(walk);
	return LAYER_IPV6;
}

#endif
