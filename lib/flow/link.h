/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What lies between a frame's first byte and an IP header: Ethernet and its tags, LLC/SNAP, PPPoE,
 * NSH. They name the type that follows; apart from the MAC addresses none is part of a flow.
 */
#ifndef WEIR_FLOW_LINK_H
#define WEIR_FLOW_LINK_H

#include "cursor.h"

#define ETHERNET_HEADER_BYTES 14
#define VLAN_TAG_BYTES 4
#define VN_TAG_BYTES 6
#define LLC_BYTES 3
#define SNAP_BYTES 5
#define PPPOE_HEADER_BYTES 6
#define NSH_HEADER_BYTES 8

/* Up to here the field behind the addresses is a length (IEEE 802.3). */
#define ETHERNET_LENGTH_MAX 1500

#define PPPOE_VERSION_AND_TYPE 0x11
#define PPPOE_CODE_SESSION 0

#define LLC_UNNUMBERED 3

enum ethertype {
	ETHERTYPE_IPV4 = 0x0800,
	ETHERTYPE_ARP = 0x0806,
	ETHERTYPE_ETHERNET = 0x6558, /* in tunnels: "transparent Ethernet bridging" */
	ETHERTYPE_VLAN = 0x8100,
	ETHERTYPE_IPV6 = 0x86dd,
	ETHERTYPE_MPLS = 0x8847,
	ETHERTYPE_MPLS_MULTICAST = 0x8848,
	ETHERTYPE_PPPOE_SESSION = 0x8864,
	ETHERTYPE_SERVICE_VLAN = 0x88a8,
	ETHERTYPE_VN_TAG = 0x8926,
	ETHERTYPE_NSH = 0x894f,
	ETHERTYPE_OLD_SERVICE_VLAN = 0x9100,
};

enum llc_sap {
	LLC_SAP_IP = 0x06,
	LLC_SAP_SNAP = 0xaa,
};

/* Organisations whose SNAP protocol is an EtherType. */
enum snap_organisation {
	SNAP_ETHERTYPE = 0x000000,
	SNAP_BRIDGE_TUNNEL = 0x0000f8, /* IEEE 802.1H */
};

enum ppp_protocol {
	PPP_IPV4 = 0x0021,
	PPP_IPV6 = 0x0057,
	PPP_MPLS = 0x0281,
	PPP_MPLS_MULTICAST = 0x0283,
	PPP_ADDRESS_AND_CONTROL = 0xff03,
};

enum nsh_protocol {
	NSH_IPV4 = 1,
	NSH_IPV6 = 2,
	NSH_ETHERNET = 3,
	NSH_MPLS = 5,
};

static inline enum layer
next_of_ethertype(struct walk *walk, uint16_t ethertype)
{
	switch (ethertype) {
	case ETHERTYPE_IPV4:
		return LAYER_IPV4;
	case ETHERTYPE_IPV6:
		return LAYER_IPV6;
	case ETHERTYPE_VLAN:
	case ETHERTYPE_SERVICE_VLAN:
	case ETHERTYPE_OLD_SERVICE_VLAN:
		return LAYER_VLAN;
	case ETHERTYPE_VN_TAG:
		return LAYER_VN_TAG;
	case ETHERTYPE_MPLS:
	case ETHERTYPE_MPLS_MULTICAST:
		return LAYER_MPLS;
	case ETHERTYPE_PPPOE_SESSION:
		return LAYER_PPPOE;
	case ETHERTYPE_NSH:
		return LAYER_NSH;
	default:
		return walk_stop_not_ip(walk);
	}
}

/* As next_of_ethertype, behind MAC addresses or their tags, where a small value is a length. */
static inline enum layer
next_of_type_or_length(struct walk *walk, uint16_t value)
{
	/* First: a switch would come to it after four comparisons. */
	if (likely(value == ETHERTYPE_IPV4))
		return LAYER_IPV4;
	if (likely(value > ETHERNET_LENGTH_MAX))
		return next_of_ethertype(walk, value);
	walk_trim(walk, value);
	return LAYER_LLC;
}

/* As next_of_ethertype, in tunnels, which carry whole frames as well. */
static inline enum layer
next_of_tunnel_type(struct walk *walk, uint16_t type)
{
	return type == ETHERTYPE_ETHERNET ? LAYER_ETHERNET : next_of_ethertype(walk, type);
}

static inline enum layer
walk_ethernet(struct walk *walk)
{
	const uint8_t *header = walk->at;

	if (unlikely(walk->left < ETHERNET_HEADER_BYTES))
		return walk_stop_cut(walk,
			walk->kind == FLOW_KIND_MAC ? WEIR_FLOW_NOT_IP : WEIR_FLOW_TRUNCATED_MAC);
	/* Addresses of a frame that MPLS carries say more than those around it. */
	if (!walk_is_inner(walk))
		walk_note(walk, FLOW_KIND_MAC, header, 0);
	walk_skip(walk, ETHERNET_HEADER_BYTES);
	return next_of_type_or_length(walk, load_be16(header + 12));
}

static inline enum layer
walk_vlan(struct walk *walk)
{
	const uint8_t *tag = walk->at;

	if (!walk_take_shim(walk, VLAN_TAG_BYTES))
		return LAYER_END;
	return next_of_type_or_length(walk, load_be16(tag + 2));
}

static inline enum layer
walk_vn_tag(struct walk *walk)
{
	const uint8_t *tag = walk->at;

	if (!walk_take_shim(walk, VN_TAG_BYTES))
		return LAYER_END;
	return next_of_type_or_length(walk, load_be16(tag + 4));
}

static inline enum layer
walk_snap(struct walk *walk)
{
	const uint8_t *header = walk->at;

	if (!walk_take_shim(walk, SNAP_BYTES))
		return LAYER_END;
	const uint32_t organisation = load_be32(header) >> 8;

	if (organisation != SNAP_ETHERTYPE && organisation != SNAP_BRIDGE_TUNNEL)
		return walk_stop_not_ip(walk);
	return next_of_ethertype(walk, load_be16(header + 3));
}

/* Both service access points are the same in what is looked through. */
static inline enum layer
walk_llc(struct walk *walk)
{
	const uint8_t *header = walk->at;

	if (!walk_take_shim(walk, LLC_BYTES))
		return LAYER_END;
	if (header[0] != header[1] || header[2] != LLC_UNNUMBERED)
		return walk_stop_not_ip(walk);
	switch (header[0]) {
	case LLC_SAP_SNAP:
		return walk_snap(walk);
	case LLC_SAP_IP:
		return LAYER_IPV4;
	default:
		return walk_stop_not_ip(walk);
	}
}

static inline enum layer
walk_pppoe(struct walk *walk)
{
	const uint8_t *header = walk->at;

	if (!walk_take_shim(walk, PPPOE_HEADER_BYTES))
		return LAYER_END;
	if (header[0] != PPPOE_VERSION_AND_TYPE || header[1] != PPPOE_CODE_SESSION)
		return walk_stop_not_ip(walk);
	walk_trim(walk, load_be16(header + 4));
	return LAYER_PPP;
}

static inline enum layer
next_of_ppp(struct walk *walk, uint16_t protocol)
{
	switch (protocol) {
	case PPP_IPV4:
		return LAYER_IPV4;
	case PPP_IPV6:
		return LAYER_IPV6;
	case PPP_MPLS:
	case PPP_MPLS_MULTICAST:
		return LAYER_MPLS;
	default:
		return walk_stop_not_ip(walk);
	}
}

/*
 * Address and control may be left out, and so may the first byte of the protocol (RFC 1661): only
 * the last byte of a protocol is odd.
 */
static inline enum layer
walk_ppp(struct walk *walk)
{
	if (walk->left >= 2 && load_be16(walk->at) == PPP_ADDRESS_AND_CONTROL)
		walk_skip(walk, 2);
	const uint8_t *header = walk->at;
	const size_t header_bytes = walk->left > 0 && header[0] & 1 ? 1 : 2;

	if (!walk_take_shim(walk, header_bytes))
		return LAYER_END;
	return next_of_ppp(walk, header_bytes == 1 ? header[0] : load_be16(header));
}

/* Network service header (RFC 8300): its length counts words of four bytes. */
static inline enum layer
walk_nsh(struct walk *walk)
{
	const uint8_t *header = walk->at;

	if (walk->left < NSH_HEADER_BYTES)
		return walk_stop_cut(walk, WEIR_FLOW_NOT_IP);
	const size_t header_bytes = (size_t)(header[1] & 0x3f) * 4;

	if (header[0] >> 6 != 0 || header_bytes < NSH_HEADER_BYTES)
		return walk_stop_not_ip(walk);
	if (!walk_take_shim(walk, header_bytes))
		return LAYER_END;
	switch (header[3]) {
	case NSH_IPV4:
		return LAYER_IPV4;
	case NSH_IPV6:
		return LAYER_IPV6;
	case NSH_ETHERNET:
		return LAYER_ETHERNET;
	case NSH_MPLS:
		return LAYER_MPLS;
	default:
		return walk_stop_not_ip(walk);
	}
}

#endif
