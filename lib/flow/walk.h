/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The walk through a frame from layer to layer. A new layer is a function in one of the headers, a
 * case here, a row in one of the next_of_* functions and one in trace.c. Knows no observer: parse.c
 * walks alone, trace.c is told of each layer.
 */
#ifndef WEIR_FLOW_WALK_H
#define WEIR_FLOW_WALK_H

#include "cursor.h"
#include "ip.h"
#include "link.h"
#include "mpls.h"
#include "transport.h"
#include "tunnel.h"

/* Moves the cursor through `layer`, any but the end. Returns the next one. */
static inline enum layer
walk_step(struct walk *walk, enum layer layer)
{
	switch (layer) {
	case LAYER_ETHERNET:
		return walk_ethernet(walk);
	case LAYER_VLAN:
		return walk_vlan(walk);
	case LAYER_VN_TAG:
		return walk_vn_tag(walk);
	case LAYER_LLC:
		return walk_llc(walk);
	case LAYER_PPPOE:
		return walk_pppoe(walk);
	case LAYER_PPP:
		return walk_ppp(walk);
	case LAYER_MPLS:
		return walk_mpls(walk);
	case LAYER_PSEUDOWIRE:
		return walk_pseudowire(walk);
	case LAYER_NSH:
		return walk_nsh(walk);
	case LAYER_IPV4:
		return walk_ipv4(walk);
	case LAYER_IPV6:
		return walk_ipv6(walk);
	case LAYER_IPV6_EXTENSION:
		return walk_ipv6_extension(walk);
	case LAYER_IPV6_FRAGMENT:
		return walk_ipv6_fragment(walk);
	case LAYER_AH:
		return walk_ah(walk);
	case LAYER_ESP:
		return walk_esp(walk);
	case LAYER_PORTS:
		return walk_ports(walk);
	case LAYER_UDP_TUNNEL:
		return walk_udp_tunnel(walk);
	case LAYER_ICMP:
		return walk_icmp(walk);
	case LAYER_ICMPV6:
		return walk_icmpv6(walk);
	case LAYER_IPV4_IN_IP:
		return walk_enter(walk, LAYER_IPV4);
	case LAYER_IPV6_IN_IP:
		return walk_enter(walk, LAYER_IPV6);
	case LAYER_MPLS_IN_IP:
		return walk_enter(walk, LAYER_MPLS);
	case LAYER_ETHERNET_IN_IP:
		return walk_enter(walk, LAYER_ETHERNET);
	case LAYER_GRE:
		return walk_gre(walk);
	case LAYER_ERSPAN_2:
		return walk_erspan_2(walk);
	case LAYER_ERSPAN_3:
		return walk_erspan_3(walk);
	case LAYER_VXLAN:
		return walk_vxlan(walk);
	case LAYER_VXLAN_GPE:
		return walk_vxlan_gpe(walk);
	case LAYER_GENEVE:
		return walk_geneve(walk);
	case LAYER_GTPU:
		return walk_gtpu(walk);
	case LAYER_TEREDO:
		return walk_teredo(walk);
	case LAYER_PORTLESS:
		return walk_stop_portless(walk, WEIR_FLOW_NO_PORTS);
	case LAYER_END:
		break;
	}
	return LAYER_END;
}

static inline struct walk
walk_start(const struct weir_flow_config *config, const uint8_t *data, uint32_t length)
{
	return (struct walk) { .config = config, .at = data, .left = length };
}

#endif
