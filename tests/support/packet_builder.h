/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames for parser tests, built by hand from a list of layers: nothing random, so that a test can
 * say at which byte each layer begins. Knows nothing of the parser.
 */
#ifndef WEIR_TESTS_PACKET_BUILDER_H
#define WEIR_TESTS_PACKET_BUILDER_H

#include <stdint.h>

#define PACKET_BYTES_MAX 4096
#define PACKET_LAYERS_MAX 96

/* IPv4 flags as they lie in the header's flags and offset word. */
#define PACKET_DONT_FRAGMENT 0x4000
#define PACKET_MORE_FRAGMENTS 0x2000

/* One side of a flow. Addresses are small numbers: 10.0.0.0/8, 2001:db8::/32, 02:00:00. */
struct packet_endpoint {
	uint32_t host; /* 20 bits: what is above tells the sides of tunnels apart */
	uint16_t port; /* an echo's identifier too, then the same on both sides */
};

struct packet {
	uint8_t bytes[PACKET_BYTES_MAX];
	uint32_t length;
	uint32_t n_layers;
	uint32_t offset[PACKET_LAYERS_MAX]; /* where each layer begins, in the order of the list */
};

/*
 * Builds the frame of `layers`, words from the outermost on: "eth vlan ip4 udp vxlan eth ip6 tcp".
 * A layer's type field names the layer that follows; lengths and IPv4 checksums are right. `from`
 * and `to` are the innermost endpoints, addresses and ports; outer layers have others, derived from
 * them. The other direction is the frame with both changed over. Behind an ICMP error, what follows
 * is quoted: it goes the other way.
 *
 *   eth[:TYPE] vlan[:TYPE] svlan ovlan vntag   TYPE if no layer with one follows; an llc: length
 *   llc[:SAP] snap[:ORGANISATION:TYPE] pppoe[:CODE] ppp[:FORM:PROTOCOL] mpls[:LABEL]
 *   cw nsh[:WORDS]
 *   ip4[:OPTION_WORDS:FRAGMENT_WORD] ip6 hbh[:UNITS] route dst mob hip shim6 frag[:WORD] ah[:SPI]
 *   tcp udp[:PORT] udplite sctp dccp esp[:SPI] icmp[:TYPE] icmp6[:TYPE] proto:NUMBER
 *   gre[:FLAGS:TYPE] erspan2[:VERSION] erspan3[:FRAME_TYPE:SUBHEADER] vxlan[:FLAGS]
 *   gpe[:FLAGS:NEXT] geneve[:OPTION_WORDS:VERSION] gtpu[:FLAGS:MESSAGE:EXTENSIONS]
 *   teredo[:INDICATIONS] data[:BYTES]
 *
 * PPP forms: 0 two bytes, 1 one byte, 2 address and control before two. Teredo indications: 1
 * authentication, 2 origin, 3 both. A udp in front of a tunnel has the tunnel's port.
 */
void packet_build(struct packet *packet, const char *layers, struct packet_endpoint from,
	struct packet_endpoint to);

/* Overwrites two bytes at `offset`, in network order. */
void packet_poke16(struct packet *packet, uint32_t offset, uint16_t value);

#endif
