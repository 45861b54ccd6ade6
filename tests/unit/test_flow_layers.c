/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Golden flow keys of every layer combination, each of them in both directions and cut at every
 * byte. Frames end at an unreadable page where it matters.
 */
#include "test.h"

#include <weir/flow.h>

#include "flow_check.h"
#include "guard_page.h"
#include "packet_builder.h"

/* The usual two, by version; OUTER are the ends of the innermost tunnel. */
#define V4(protocol) "10.1.2.3:2000 <> 10.2.3.4:1000 " protocol
#define V6(protocol) "[2001:db8:0:1::1:203]:2000 <> [2001:db8:0:2::2:304]:1000 " protocol
#define V4_BARE(protocol) "10.1.2.3 <> 10.2.3.4 " protocol
#define V6_BARE(protocol) "2001:db8:0:1::1:203 <> 2001:db8:0:2::2:304 " protocol
#define MACS "02:00:00:01:02:03 <> 02:00:00:02:03:04"

/* Layers, how their flow must be found when nothing is cut, and what it is. */
struct golden {
	const char *layers;
	enum weir_flow_reason reason;
	const char *key;
};

static const struct golden goldens[] = {
	/* Transport over IPv4. */
	{ "eth ip4 udp", WEIR_FLOW_PORTS, V4("udp") },
	{ "eth ip4 tcp", WEIR_FLOW_PORTS, V4("tcp") },
	{ "eth ip4 sctp", WEIR_FLOW_PORTS, V4("sctp") },
	{ "eth ip4 udplite", WEIR_FLOW_PORTS, V4("udp-lite") },
	{ "eth ip4 dccp", WEIR_FLOW_PORTS, V4("dccp") },
	{ "eth ip4:0:0x4000 udp", WEIR_FLOW_PORTS, V4("udp") },
	{ "eth ip4:1 udp", WEIR_FLOW_PORTS, V4("udp") },
	{ "eth ip4:10 tcp", WEIR_FLOW_PORTS, V4("tcp") },
	{ "eth ip4 proto:89", WEIR_FLOW_NO_PORTS, V4_BARE("ospf") },
	{ "eth ip4 proto:253", WEIR_FLOW_NO_PORTS, V4_BARE("protocol 253") },
	{ "eth ip4 esp", WEIR_FLOW_SPI, V4_BARE("esp spi 0x55667788") },
	{ "eth ip4 ah tcp", WEIR_FLOW_PORTS, V4("tcp") },
	{ "eth ip4 ah proto:89", WEIR_FLOW_SPI, V4_BARE("ospf spi 0x11223344") },
	{ "eth ip4 ah esp", WEIR_FLOW_SPI, V4_BARE("esp spi 0x55667788") },
	/* Fragments. */
	{ "eth ip4:0:0x2000 udp", WEIR_FLOW_FRAGMENT, V4_BARE("udp") },
	{ "eth ip4:0:0x20b9 udp", WEIR_FLOW_FRAGMENT, V4_BARE("udp") },
	{ "eth ip4:2:0x1fff tcp", WEIR_FLOW_FRAGMENT, V4_BARE("tcp") },
	{ "eth ip6 frag:1 udp", WEIR_FLOW_FRAGMENT, V6_BARE("fragment") },
	{ "eth ip6 frag:0x05a9 data", WEIR_FLOW_FRAGMENT, V6_BARE("fragment") },
	{ "eth ip6 frag:0x0b50 data", WEIR_FLOW_FRAGMENT, V6_BARE("fragment") },
	{ "eth ip6 hbh route frag:1 tcp", WEIR_FLOW_FRAGMENT, V6_BARE("fragment") },
	{ "eth ip6 frag tcp", WEIR_FLOW_PORTS, V6("tcp") },   /* atomic */
	{ "eth ip6 frag:6 udp", WEIR_FLOW_PORTS, V6("udp") }, /* reserved bits */
	{ "eth ip6 frag icmp6:135", WEIR_FLOW_NO_PORTS, V6_BARE("icmpv6") },
	/* Transport over IPv6, extension headers. */
	{ "eth ip6 udp", WEIR_FLOW_PORTS, V6("udp") },
	{ "eth ip6 tcp", WEIR_FLOW_PORTS, V6("tcp") },
	{ "eth ip6 sctp", WEIR_FLOW_PORTS, V6("sctp") },
	{ "eth ip6 udplite", WEIR_FLOW_PORTS, V6("udp-lite") },
	{ "eth ip6 esp", WEIR_FLOW_SPI, V6_BARE("esp spi 0x55667788") },
	{ "eth ip6 ah udp", WEIR_FLOW_PORTS, V6("udp") },
	{ "eth ip6 hbh tcp", WEIR_FLOW_PORTS, V6("tcp") },
	{ "eth ip6 hbh dst route mob udp", WEIR_FLOW_PORTS, V6("udp") },
	{ "eth ip6 hbh:32 dst:3 route:5 ah frag tcp", WEIR_FLOW_PORTS, V6("tcp") },
	{ "eth ip6 hip shim6 udp", WEIR_FLOW_PORTS, V6("udp") },
	{ "eth ip6 dst esp", WEIR_FLOW_SPI, V6_BARE("esp spi 0x55667788") },
	{ "eth ip6 mob", WEIR_FLOW_NO_PORTS, V6_BARE("no-next-header") },
	{ "eth ip6 mob udp", WEIR_FLOW_PORTS, V6("udp") },
	{ "eth ip6 proto:59", WEIR_FLOW_NO_PORTS, V6_BARE("no-next-header") },
	{ "eth ip6 hbh proto:103", WEIR_FLOW_NO_PORTS, V6_BARE("pim") },
	/* Numbers of extension headers mean nothing in IPv4. */
	{ "eth ip4 hbh udp", WEIR_FLOW_NO_PORTS, V4_BARE("hop-by-hop") },
	{ "eth ip4 frag:1 udp", WEIR_FLOW_NO_PORTS, V4_BARE("fragment") },
	/* ICMP without a quote. */
	{ "eth ip4 icmp:9", WEIR_FLOW_NO_PORTS, V4_BARE("icmp") },
	{ "eth ip4 icmp:255", WEIR_FLOW_NO_PORTS, V4_BARE("icmp") },
	{ "eth ip6 icmp6:135", WEIR_FLOW_NO_PORTS, V6_BARE("icmpv6") },
	{ "eth ip6 hbh icmp6:143", WEIR_FLOW_NO_PORTS, V6_BARE("icmpv6") },
	/* ICMP errors: what they quote. */
	{ "eth ip4 icmp:3 ip4 udp", WEIR_FLOW_PORTS, V4("udp") },
	{ "eth ip4:1 icmp:11 ip4:2 tcp", WEIR_FLOW_PORTS, V4("tcp") },
	{ "eth ip4 icmp:3 ip4:0:0x2000 udp", WEIR_FLOW_FRAGMENT, V4_BARE("udp") },
	{ "eth ip4 icmp:3 ip4 esp", WEIR_FLOW_SPI, V4_BARE("esp spi 0x55667788") },
	{ "eth ip4 icmp:3 ip4 icmp:3 ip4 udp", WEIR_FLOW_NO_PORTS, "10.17.2.3 <> 10.18.3.4 icmp" },
	{ "eth ip6 icmp6:1 ip6 hbh udp", WEIR_FLOW_PORTS, V6("udp") },
	{ "eth ip6 icmp6:2 ip6 tcp", WEIR_FLOW_PORTS, V6("tcp") },
	{ "eth ip4 icmp:11 ip4 udp vxlan eth ip4 tcp", WEIR_FLOW_PORTS, V4("tcp") },
	{ "eth ip4 udp vxlan eth ip4 icmp:3 ip4 tcp", WEIR_FLOW_PORTS, V4("tcp") },
	{ "eth ip4 icmp:3 ip6 udp", WEIR_FLOW_TRUNCATED_INNER, "10.17.2.3 <> 10.18.3.4 icmp" },
	/* Between Ethernet and IP. */
	{ "eth vlan ip4 udp", WEIR_FLOW_PORTS, V4("udp") },
	{ "eth svlan vlan ip6 tcp", WEIR_FLOW_PORTS, V6("tcp") },
	{ "eth ovlan ovlan ip4:3 udp", WEIR_FLOW_PORTS, V4("udp") },
	{ "eth ovlan svlan vlan ip4:0:0x2000 udp", WEIR_FLOW_FRAGMENT, V4_BARE("udp") },
	{ "eth vlan vlan vlan vlan vlan vlan vlan vlan ip4 udp", WEIR_FLOW_PORTS, V4("udp") },
	{ "eth vlan vlan vlan vlan vlan vlan vlan vlan vlan ip4 udp", WEIR_FLOW_NESTING_LIMIT,
		MACS },
	{ "eth vntag ip4 tcp", WEIR_FLOW_PORTS, V4("tcp") },
	{ "eth vntag vlan ip6 udp", WEIR_FLOW_PORTS, V6("udp") },
	{ "eth llc snap ip4 udp", WEIR_FLOW_PORTS, V4("udp") },
	{ "eth llc snap:0xf8 ip6 tcp", WEIR_FLOW_PORTS, V6("tcp") },
	{ "eth vlan llc snap vlan ip4 tcp", WEIR_FLOW_PORTS, V4("tcp") },
	{ "eth llc ip4 tcp", WEIR_FLOW_PORTS, V4("tcp") },
	{ "eth llc:0x42 data:35", WEIR_FLOW_NOT_IP, MACS },	     /* spanning tree */
	{ "eth llc snap:0x0c:0x2000 data", WEIR_FLOW_NOT_IP, MACS }, /* Cisco's discovery */
	{ "eth pppoe ppp ip4 udp", WEIR_FLOW_PORTS, V4("udp") },
	{ "eth vlan pppoe ppp:1 ip6 tcp", WEIR_FLOW_PORTS, V6("tcp") },
	{ "eth pppoe ppp data", WEIR_FLOW_NOT_IP, MACS },  /* link control */
	{ "eth pppoe:0x09 data", WEIR_FLOW_NOT_IP, MACS }, /* not a session's */
	{ "eth nsh ip4 udp", WEIR_FLOW_PORTS, V4("udp") },
	{ "eth nsh:2 ip6 tcp", WEIR_FLOW_PORTS, V6("tcp") },
	{ "eth nsh:63 ip4 tcp", WEIR_FLOW_PORTS, V4("tcp") },
	{ "eth nsh mpls ip6 tcp", WEIR_FLOW_PORTS, V6("tcp") },
	{ "eth nsh eth vlan ip6 udp", WEIR_FLOW_PORTS, V6("udp") },
	{ "eth:0x0806 data:28", WEIR_FLOW_NOT_IP, MACS },
	{ "eth vlan:0x0806 data:28", WEIR_FLOW_NOT_IP, MACS },
	{ "eth:0x05dc llc snap ip4 udp", WEIR_FLOW_PORTS, V4("udp") }, /* the greatest length */
	{ "eth:0x05dd llc snap ip4 udp", WEIR_FLOW_NOT_IP, MACS },     /* neither length nor type */
	/* MPLS. */
	{ "eth mpls ip4 udp", WEIR_FLOW_PORTS, V4("udp") },
	{ "eth mpls mpls mpls ip6 tcp", WEIR_FLOW_PORTS, V6("tcp") },
	{ "eth vlan mpls:0 ip4:0:0x2000 udp", WEIR_FLOW_FRAGMENT, V4_BARE("udp") },
	{ "eth mpls mpls cw eth ip4 tcp", WEIR_FLOW_PORTS, V4("tcp") },
	{ "eth mpls mpls eth ip6 tcp", WEIR_FLOW_PORTS, V6("tcp") },
	{ "eth mpls mpls cw eth vlan ip4 udp", WEIR_FLOW_PORTS, V4("udp") },
	{ "eth:0x8848 mpls ip4 udp", WEIR_FLOW_PORTS, V4("udp") },
	{ "eth pppoe ppp:2:0x0283 mpls ip4 udp", WEIR_FLOW_PORTS, V4("udp") },
	{ "eth mpls eth:0x0806 data:28", WEIR_FLOW_NOT_IP, MACS },
	{ "eth mpls cw eth:0x88cc data", WEIR_FLOW_NOT_IP, MACS },
	{ "eth pppoe ppp mpls ip4 udp", WEIR_FLOW_PORTS, V4("udp") },
	/* IP in IP, and other frames in IP. */
	{ "eth ip4 ip4 tcp", WEIR_FLOW_PORTS, V4("tcp") },
	{ "eth ip4 ip6 udp", WEIR_FLOW_PORTS, V6("udp") },
	{ "eth ip6 ip4 udp", WEIR_FLOW_PORTS, V4("udp") },
	{ "eth ip6 ip6 tcp", WEIR_FLOW_PORTS, V6("tcp") },
	{ "eth ip6 dst ip4:1 icmp:9", WEIR_FLOW_NO_PORTS, V4_BARE("icmp") },
	{ "eth ip4 ah ip4 tcp", WEIR_FLOW_PORTS, V4("tcp") },
	{ "eth ip4 ah ip4 proto:89", WEIR_FLOW_NO_PORTS, V4_BARE("ospf") },
	{ "eth ip4 mpls ip4 tcp", WEIR_FLOW_PORTS, V4("tcp") },
	{ "eth ip6 route eth ip4 udp", WEIR_FLOW_PORTS, V4("udp") },
	{ "eth ip4:0:0x2000 ip4 udp", WEIR_FLOW_FRAGMENT, "10.17.2.3 <> 10.18.3.4 ipv4" },
	{ "eth ip4 ip4:0:0x2000 udp", WEIR_FLOW_FRAGMENT, V4_BARE("udp") },
	/* GRE and what is built on it. */
	{ "eth ip4 gre ip4 tcp", WEIR_FLOW_PORTS, V4("tcp") },
	{ "eth ip4 gre:0xb000 ip6 udp", WEIR_FLOW_PORTS, V6("udp") },
	{ "eth ip6 gre:0x2000 eth ip4 udp", WEIR_FLOW_PORTS, V4("udp") }, /* NVGRE */
	{ "eth ip4 gre:0x4000 ip4 udp", WEIR_FLOW_PORTS, V4("udp") },
	{ "eth ip4 gre:0xf000 vlan ip4 tcp", WEIR_FLOW_PORTS, V4("tcp") },
	{ "eth ip4 gre mpls ip4 udp", WEIR_FLOW_PORTS, V4("udp") },
	{ "eth ip4 gre:0:0x883e ip4 udp", WEIR_FLOW_PORTS, V4("udp") }, /* WCCP */
	{ "eth ip4 gre:0:0x883e data:4 ip4 udp", WEIR_FLOW_PORTS, V4("udp") },
	{ "eth ip4 gre:0x3001 ppp:2 ip4 udp", WEIR_FLOW_PORTS, V4("udp") }, /* PPTP */
	{ "eth ip4 gre:0x3081 ppp:1 ip4 tcp", WEIR_FLOW_PORTS, V4("tcp") },
	{ "eth ip4 gre:0x3001 ppp ip6 tcp", WEIR_FLOW_PORTS, V6("tcp") },
	{ "eth ip4 gre:0x2081:0x880b", WEIR_FLOW_NO_PORTS, V4_BARE("gre") },
	{ "eth ip4 gre:0x3001 ppp data", WEIR_FLOW_INNER_NOT_IP, V4_BARE("gre") },
	{ "eth ip4 gre:0:0x88be eth ip4 tcp", WEIR_FLOW_PORTS, V4("tcp") }, /* ERSPAN I */
	{ "eth ip4 gre:0x1000 erspan2 eth vlan ip4 udp", WEIR_FLOW_PORTS, V4("udp") },
	{ "eth ip4 gre:0x1000 erspan3 eth ip6 tcp", WEIR_FLOW_PORTS, V6("tcp") },
	{ "eth ip4 gre:0x1000 erspan3:0:1 eth ip4 tcp", WEIR_FLOW_PORTS, V4("tcp") },
	{ "eth ip4 gre:0x1000 erspan3:2 ip4 tcp", WEIR_FLOW_PORTS, V4("tcp") },
	{ "eth ip4 gre:0x1000 erspan3:2:1 ip6 udp", WEIR_FLOW_PORTS, V6("udp") },
	{ "eth ip4 gre:0x1000 erspan3:7 data", WEIR_FLOW_INNER_NOT_IP, V4_BARE("gre") },
	{ "eth ip4 gre:0x1000 erspan2:0 eth ip4 udp", WEIR_FLOW_UNKNOWN_TUNNEL,
		"10.17.2.3 <> 10.18.3.4 gre" },
	{ "eth ip4 gre:0x0002 ip4 udp", WEIR_FLOW_UNKNOWN_TUNNEL, "10.17.2.3 <> 10.18.3.4 gre" },
	{ "eth ip4 gre:0x0080 ip4 udp", WEIR_FLOW_UNKNOWN_TUNNEL, "10.17.2.3 <> 10.18.3.4 gre" },
	{ "eth ip4 gre:0x3001 ip4 udp", WEIR_FLOW_UNKNOWN_TUNNEL, "10.17.2.3 <> 10.18.3.4 gre" },
	{ "eth ip4 gre:0:0x00fe data", WEIR_FLOW_INNER_NOT_IP, V4_BARE("gre") },
	/* VXLAN, VXLAN-GPE, Geneve. */
	{ "eth ip4 udp vxlan eth ip4 tcp", WEIR_FLOW_PORTS, V4("tcp") },
	{ "eth vlan ip6 udp vxlan eth vlan vlan ip6 udp", WEIR_FLOW_PORTS, V6("udp") },
	{ "eth ip4:4 udp vxlan:0x88 eth ip4:2 udp", WEIR_FLOW_PORTS, V4("udp") },
	{ "eth ip4 udp vxlan eth ip4:0:0x2000 udp", WEIR_FLOW_FRAGMENT, V4_BARE("udp") },
	{ "eth ip4 udp vxlan eth ip4 esp", WEIR_FLOW_SPI, V4_BARE("esp spi 0x55667788") },
	{ "eth ip4:0:0x2000 udp vxlan eth ip4 udp", WEIR_FLOW_FRAGMENT,
		"10.17.2.3 <> 10.18.3.4 udp" },
	{ "eth ip4 udp vxlan eth:0x0806 data:28", WEIR_FLOW_INNER_NOT_IP,
		"10.1.2.3:4789 <> 10.2.3.4:50152 udp" },
	{ "eth ip4 udp vxlan:0 eth ip4 tcp", WEIR_FLOW_UNKNOWN_TUNNEL,
		"10.17.2.3:4789 <> 10.18.3.4:50152 udp" },
	{ "eth ip4 udplite:4789 vxlan eth ip4 tcp", WEIR_FLOW_PORTS,
		"10.17.2.3:4789 <> 10.18.3.4:50152 udp-lite" },
	{ "eth ip4 udp gpe ip4 tcp", WEIR_FLOW_PORTS, V4("tcp") },
	{ "eth ip4 udp gpe ip6 tcp", WEIR_FLOW_PORTS, V6("tcp") },
	{ "eth ip4 udp gpe eth vlan ip4 udp", WEIR_FLOW_PORTS, V4("udp") },
	{ "eth ip4 udp gpe nsh ip4 udp", WEIR_FLOW_PORTS, V4("udp") },
	{ "eth ip6 udp gpe mpls ip4 udp", WEIR_FLOW_PORTS, V4("udp") },
	{ "eth ip4 udp gpe:8 eth ip4 tcp", WEIR_FLOW_PORTS, V4("tcp") },
	{ "eth ip4 udp gpe:0x0c:6 data", WEIR_FLOW_INNER_NOT_IP,
		"10.1.2.3:4790 <> 10.2.3.4:50152 udp" },
	{ "eth ip4 udp gpe:4 ip4 tcp", WEIR_FLOW_UNKNOWN_TUNNEL,
		"10.17.2.3:4790 <> 10.18.3.4:50152 udp" },
	{ "eth ip4 udp geneve eth ip4 tcp", WEIR_FLOW_PORTS, V4("tcp") },
	{ "eth ip4 udp geneve:63 eth vlan ip6 tcp", WEIR_FLOW_PORTS, V6("tcp") },
	{ "eth ip6 udp geneve:3 ip4 udp", WEIR_FLOW_PORTS, V4("udp") },
	{ "eth ip4 udp geneve:0:1 eth ip4 udp", WEIR_FLOW_UNKNOWN_TUNNEL,
		"10.17.2.3:6081 <> 10.18.3.4:50152 udp" },
	/* GTP-U, Teredo. */
	{ "eth ip4 udp gtpu ip4 tcp", WEIR_FLOW_PORTS, V4("tcp") },
	{ "eth ip4 udp gtpu:0x32 ip6 udp", WEIR_FLOW_PORTS, V6("udp") },
	{ "eth ip4 udp gtpu:0x34:255:1 ip4 udp", WEIR_FLOW_PORTS, V4("udp") },
	{ "eth ip6 udp gtpu:0x37:255:5 ip4 udp", WEIR_FLOW_PORTS, V4("udp") },
	{ "eth ip4 udp gtpu:0x34:255:8 ip4 udp", WEIR_FLOW_PORTS, V4("udp") },
	{ "eth ip4 udp gtpu:0x37:255:9 ip4 udp", WEIR_FLOW_NESTING_LIMIT,
		"10.17.2.3:2152 <> 10.18.3.4:50152 udp" },
	{ "eth ip4 udp gtpu:0x30:1 data", WEIR_FLOW_UNKNOWN_TUNNEL,
		"10.1.2.3:2152 <> 10.2.3.4:50152 udp" },
	{ "eth ip4 udp gtpu:0x50 ip4 udp", WEIR_FLOW_UNKNOWN_TUNNEL,
		"10.17.2.3:2152 <> 10.18.3.4:50152 udp" },
	{ "eth ip4 udp gtpu data", WEIR_FLOW_INNER_NOT_IP, "10.1.2.3:2152 <> 10.2.3.4:50152 udp" },
	{ "eth ip4 udp teredo ip6 tcp", WEIR_FLOW_PORTS, V6("tcp") },
	{ "eth ip4 udp teredo:1 ip6 udp", WEIR_FLOW_PORTS, V6("udp") },
	{ "eth ip4 udp teredo:2 ip6 udp", WEIR_FLOW_PORTS, V6("udp") },
	{ "eth ip4 udp teredo:3 ip6 proto:59", WEIR_FLOW_NO_PORTS, V6_BARE("no-next-header") },
	{ "eth ip4 udp teredo ip6", WEIR_FLOW_NO_PORTS, V6_BARE("no-next-header") }, /* a bubble */
	{ "eth ip4 udp teredo ip4 tcp", WEIR_FLOW_UNKNOWN_TUNNEL,
		"10.17.2.3:3544 <> 10.18.3.4:50152 udp" },
	/* Each IP header has tags and extension headers of its own to count. */
	{ "eth vlan vlan vlan vlan vlan ip4 udp vxlan eth vlan vlan vlan vlan vlan ip4 tcp",
		WEIR_FLOW_PORTS, V4("tcp") },
	{ "eth ip6 hbh dst route mob hip icmp6:1 ip6 hbh dst route mob hip tcp", WEIR_FLOW_PORTS,
		V6("tcp") },
	{ "eth ip6 hbh dst route mob hip ip6 hbh dst route mob hip udp", WEIR_FLOW_PORTS,
		V6("udp") },
	/* Tunnels in tunnels: four, and no more. */
	{ "eth ip4 udp vxlan eth ip4 gre ip6 ip4 udp gtpu ip4 tcp", WEIR_FLOW_PORTS, V4("tcp") },
	{ "eth ip4 ip4 ip4 ip4 ip4 tcp", WEIR_FLOW_PORTS, V4("tcp") },
	{ "eth ip4 ip4 ip4 ip4 ip4 ip4 tcp", WEIR_FLOW_NESTING_LIMIT,
		"10.17.2.3 <> 10.18.3.4 ipv4" },
	{ "eth ip4 ip4 ip4 ip4 ip4 udp vxlan eth ip4 udp", WEIR_FLOW_NESTING_LIMIT,
		"10.17.2.3:4789 <> 10.18.3.4:50152 udp" },
	{ "eth ip4 ip4 ip4 ip4 ip4 gre ip4 udp", WEIR_FLOW_NESTING_LIMIT,
		"10.17.2.3 <> 10.18.3.4 gre" },
};
#define N_GOLDENS ARRAY_LENGTH(goldens)

static void
each_combination_has_its_flow(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_GOLDENS; i++) {
		const struct weir_flow_key key = parse_layers(goldens[i].layers);

		assert_key(goldens[i].layers, &key, goldens[i].reason, goldens[i].key);
		assert_well_formed(&key);
	}
}

/* Flows that are told by a tunnel over UDP: its two directions have two sender's ports. */
static bool
is_by_tunnel_ports(const struct golden *golden)
{
	return strstr(golden->key, ":50152 ") != NULL;
}

static void
both_directions_are_one_flow(void **state)
{
	unsigned int checked = 0;

	(void)state;
	for (size_t i = 0; i < N_GOLDENS; i++) {
		const struct weir_flow_key forth = parse_layers(goldens[i].layers);
		const struct weir_flow_key back = parse_between(goldens[i].layers, TO, FROM);

		assert_int_equal(forth.reason, back.reason);
		if (is_by_tunnel_ports(&goldens[i]))
			continue;
		assert_same_flow(&forth, &back);
		checked++;
	}
	assert_true(checked > N_GOLDENS * 3 / 4);
}

static void
packing_does_not_change_the_flow(void **state)
{
	static const char *const suffixes[] = { "ip4 tcp", "ip4 udp", "ip6 tcp", "ip6 udp" };
	unsigned int checked = 0;

	(void)state;
	for (size_t i = 0; i < N_GOLDENS; i++) {
		const size_t length = strlen(goldens[i].layers);

		for (size_t j = 0; j < ARRAY_LENGTH(suffixes); j++) {
			const size_t n = strlen(suffixes[j]);
			char bare[32];

			if (goldens[i].reason != WEIR_FLOW_PORTS || length < n ||
				strcmp(goldens[i].layers + length - n, suffixes[j]) != 0)
				continue;
			snprintf(bare, sizeof(bare), "eth %s", suffixes[j]);
			const struct weir_flow_key packed = parse_layers(goldens[i].layers);
			const struct weir_flow_key plain = parse_layers(bare);

			if (strstr(goldens[i].layers, "udplite"))
				continue;
			assert_same_flow(&packed, &plain);
			checked++;
		}
	}
	assert_true(checked > 50);
}

/*
 * The flow gets better as bytes arrive, and what was given up does not come back: no cut is taken
 * for another layer.
 */
static void
assert_prefixes_improve(const struct golden *golden, struct guard_page *guard)
{
	struct weir_flow_key keys[PACKET_LAYERS_MAX];
	unsigned int n = 0;
	struct packet packet;

	packet_build(&packet, golden->layers, FROM, TO);
	for (uint32_t length = 0; length <= packet.length; length++) {
		const struct weir_flow_key key =
			parse(guard_page_copy(guard, packet.bytes, length), length);

		assert_well_formed(&key);
		if (n > 0 && same_flow(&key, &keys[n - 1]))
			continue;
		for (unsigned int i = 0; i < n; i++)
			if (same_flow(&key, &keys[i]))
				fail_msg("%s: falls back at %u bytes", golden->layers, length);
		assert_true(n < PACKET_LAYERS_MAX);
		keys[n++] = key;
	}
	const struct weir_flow_key whole = parse_packet(&packet);

	assert_same_flow(&keys[n - 1], &whole);
}

static void
every_prefix_of_each_combination_falls_to_what_is_left(void **state)
{
	struct guard_page guard;

	(void)state;
	guard_page_create(&guard, PACKET_BYTES_MAX);
	for (size_t i = 0; i < N_GOLDENS; i++)
		assert_prefixes_improve(&goldens[i], &guard);
	guard_page_destroy(&guard);
}

static void
classify_hashes_what_parse_finds_and_touches_nothing_else(void **state)
{
	struct weir_flow_config config = weir_flow_config_default();

	(void)state;
	config.hash_key = (struct weir_hash_key) { { 3, 4 } };
	for (size_t i = 0; i < N_GOLDENS; i++) {
		struct packet packet;
		struct weir_meta meta;
		struct weir_meta expected;

		packet_build(&packet, goldens[i].layers, FROM, TO);
		for (uint32_t length = 0; length <= packet.length; length++) {
			const struct weir_flow_key key = parse(packet.bytes, length);

			memset(&expected, 0xee, sizeof(expected));
			memset(&meta, 0xee, sizeof(meta));
			expected.hash = weir_flow_hash(&config.hash_key, &key);
			expected.bucket = weir_flow_bucket(expected.hash);
			expected.flow_reason = key.reason;
			weir_flow_classify(&config, packet.bytes, length, &meta);
			assert_memory_equal(&meta, &expected, sizeof(meta));
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_combination_has_its_flow),
		cmocka_unit_test(both_directions_are_one_flow),
		cmocka_unit_test(packing_does_not_change_the_flow),
		cmocka_unit_test(every_prefix_of_each_combination_falls_to_what_is_left),
		cmocka_unit_test(classify_hashes_what_parse_finds_and_touches_nothing_else),
	};

	return cmocka_run_group_tests_name("flow_layers", tests, NULL, NULL);
}
