/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a trace says of each layer: read from the bytes at the cursor, before the walk goes through
 * them. Decides nothing: where the walk goes is not seen from here.
 */
#include "trace.h"

#include <inttypes.h>

#include "ip.h"
#include "link.h"
#include "mpls.h"
#include "text.h"
#include "transport.h"
#include "tunnel.h"

static void
ethernet_describe(struct text *text, const struct walk *walk)
{
	text_add_mac(text, walk->at + 6);
	text_add(text, " > ");
	text_add_mac(text, walk->at);
	text_add(text, " type 0x%04x", load_be16(walk->at + 12));
}

static void
vlan_describe(struct text *text, const struct walk *walk)
{
	const uint16_t tag = load_be16(walk->at);

	text_add(text, "id %u priority %u type 0x%04x", tag & 0xfff, tag >> 13,
		load_be16(walk->at + 2));
}

static void
vn_tag_describe(struct text *text, const struct walk *walk)
{
	text_add(text, "from %u to %u type 0x%04x", load_be16(walk->at + 2) & 0xfff,
		load_be16(walk->at) & 0x3fff, load_be16(walk->at + 4));
}

static void
llc_describe(struct text *text, const struct walk *walk)
{
	const uint8_t *at = walk->at;

	text_add(text, "dsap 0x%02x ssap 0x%02x", at[0], at[1]);
	if (at[0] == LLC_SAP_SNAP && walk->left >= LLC_BYTES + SNAP_BYTES)
		text_add(text, " organisation 0x%06" PRIx32 " type 0x%04x",
			load_be32(at + LLC_BYTES) >> 8, load_be16(at + LLC_BYTES + 3));
}

static void
pppoe_describe(struct text *text, const struct walk *walk)
{
	text_add(text, "session 0x%04x code 0x%02x", load_be16(walk->at + 2), walk->at[1]);
}

static void
ppp_describe(struct text *text, const struct walk *walk)
{
	const uint8_t *at = walk->at;

	if (walk->left >= 4 && load_be16(at) == PPP_ADDRESS_AND_CONTROL)
		at += 2;
	text_add(text, "protocol 0x%04x", at[0] & 1 ? at[0] : load_be16(at));
}

/* All labels of the stack, as far as there is room. */
static void
mpls_describe(struct text *text, const struct walk *walk)
{
	text_add(text, "label");
	for (size_t i = 0; i + LABEL_BYTES <= walk->left; i += LABEL_BYTES) {
		text_add(text, " %" PRIu32, load_be32(walk->at + i) >> 12);
		if (walk->at[i + 2] & LABEL_BOTTOM)
			break;
	}
}

static void
pseudowire_describe(struct text *text, const struct walk *walk)
{
	text_add(text, "sequence %u", load_be16(walk->at + 2));
}

static void
nsh_describe(struct text *text, const struct walk *walk)
{
	const uint32_t path = load_be32(walk->at + 4);

	text_add(text, "path %" PRIu32 " index %" PRIu32 " next %u", path >> 8, path & 0xff,
		walk->at[3]);
}

static void
ipv4_describe(struct text *text, const struct walk *walk)
{
	const uint8_t *at = walk->at;
	const uint16_t fragment = load_be16(at + 6);

	text_add_ipv4(text, at + 12);
	text_add(text, " > ");
	text_add_ipv4(text, at + 16);
	text_add(text, " ");
	text_add_protocol(text, at[9]);
	if (fragment & IPV4_FRAGMENT_MASK)
		text_add(text, " fragment at %u%s", (fragment & 0x1fff) * 8,
			fragment & 0x2000 ? ", more follow" : "");
}

static void
ipv6_describe(struct text *text, const struct walk *walk)
{
	text_add_ipv6(text, walk->at + 8);
	text_add(text, " > ");
	text_add_ipv6(text, walk->at + 24);
	text_add(text, " ");
	text_add_protocol(text, walk->at[6]);
}

static void
ipv6_extension_describe(struct text *text, const struct walk *walk)
{
	text_add(text, "%u bytes, then ", (walk->at[1] + 1u) * IPV6_EXTENSION_UNIT_BYTES);
	text_add_protocol(text, walk->at[0]);
}

static void
ipv6_fragment_describe(struct text *text, const struct walk *walk)
{
	const uint16_t fragment = load_be16(walk->at + 2);

	text_add(text, "at %u%s, then ", fragment & 0xfff8, fragment & 1 ? ", more follow" : "");
	text_add_protocol(text, walk->at[0]);
}

static void
ah_describe(struct text *text, const struct walk *walk)
{
	text_add(text, "spi 0x%08" PRIx32 ", then ", load_be32(walk->at + 4));
	text_add_protocol(text, walk->at[0]);
}

static void
esp_describe(struct text *text, const struct walk *walk)
{
	text_add(text, "spi 0x%08" PRIx32, load_be32(walk->at));
}

static void
ports_describe(struct text *text, const struct walk *walk)
{
	text_add(text, "%u > %u", load_be16(walk->at), load_be16(walk->at + 2));
}

static void
icmp_describe(struct text *text, const struct walk *walk)
{
	text_add(text, "type %u code %u", walk->at[0], walk->at[1]);
	if (walk->left >= ICMP_QUERY_BYTES)
		text_add(text, " word 0x%04x", load_be16(walk->at + 4));
}

static void
gre_describe(struct text *text, const struct walk *walk)
{
	const uint16_t flags = load_be16(walk->at);
	const size_t key_at =
		GRE_HEADER_BYTES + gre_optional_bytes(flags & (GRE_CHECKSUM | GRE_ROUTING));

	text_add(text, "flags 0x%04x type 0x%04x", flags, load_be16(walk->at + 2));
	if (flags & GRE_KEY && walk->left >= key_at + GRE_WORD_BYTES)
		text_add(text, " key 0x%08" PRIx32, load_be32(walk->at + key_at));
}

static void
erspan_describe(struct text *text, const struct walk *walk)
{
	text_add(text, "vlan %u session %u", load_be16(walk->at) & 0xfff,
		load_be16(walk->at + 2) & 0x3ff);
}

static void
vxlan_describe(struct text *text, const struct walk *walk)
{
	text_add(text, "vni %" PRIu32 " flags 0x%02x", load_be32(walk->at + 4) >> 8, walk->at[0]);
}

static void
vxlan_gpe_describe(struct text *text, const struct walk *walk)
{
	vxlan_describe(text, walk);
	text_add(text, " next %u", walk->at[3]);
}

static void
geneve_describe(struct text *text, const struct walk *walk)
{
	text_add(text, "vni %" PRIu32 " options %u bytes type 0x%04x", load_be32(walk->at + 4) >> 8,
		(walk->at[0] & 0x3fu) * 4, load_be16(walk->at + 2));
}

static void
gtpu_describe(struct text *text, const struct walk *walk)
{
	text_add(text, "teid 0x%08" PRIx32 " message %u", load_be32(walk->at + 4), walk->at[1]);
}

static void
teredo_describe(struct text *text, const struct walk *walk)
{
	const uint16_t word = load_be16(walk->at);

	text_add(text, "%s", word == TEREDO_AUTHENTICATION ? "authentication" : "");
	text_add(text, "%s", word == TEREDO_ORIGIN ? "origin" : "");
}

/* How a layer is shown. One without a name has no bytes of its own. */
struct layer_view {
	const char *name; /* NULL with `describe`: that of the protocol */
	size_t bytes;	  /* that `describe` reads */
	void (*describe)(struct text *text, const struct walk *walk);
};

static const struct layer_view layer_views[LAYER_END] = {
	[LAYER_ETHERNET] = { "ethernet", ETHERNET_HEADER_BYTES, ethernet_describe },
	[LAYER_VLAN] = { "vlan", VLAN_TAG_BYTES, vlan_describe },
	[LAYER_VN_TAG] = { "vn-tag", VN_TAG_BYTES, vn_tag_describe },
	[LAYER_LLC] = { "llc", LLC_BYTES, llc_describe },
	[LAYER_PPPOE] = { "pppoe", PPPOE_HEADER_BYTES, pppoe_describe },
	[LAYER_PPP] = { "ppp", 2, ppp_describe },
	[LAYER_MPLS] = { "mpls", LABEL_BYTES, mpls_describe },
	[LAYER_PSEUDOWIRE] = { "control-word", CONTROL_WORD_BYTES, pseudowire_describe },
	[LAYER_NSH] = { "nsh", NSH_HEADER_BYTES, nsh_describe },
	[LAYER_IPV4] = { "ipv4", IPV4_HEADER_BYTES, ipv4_describe },
	[LAYER_IPV6] = { "ipv6", IPV6_HEADER_BYTES, ipv6_describe },
	[LAYER_IPV6_EXTENSION] = { NULL, 2, ipv6_extension_describe },
	[LAYER_IPV6_FRAGMENT] = { "fragment", IPV6_FRAGMENT_BYTES, ipv6_fragment_describe },
	[LAYER_AH] = { "ah", AH_FIXED_BYTES, ah_describe },
	[LAYER_ESP] = { "esp", SPI_BYTES, esp_describe },
	[LAYER_PORTS] = { NULL, PORTS_BYTES, ports_describe },
	[LAYER_ICMP] = { "icmp", 2, icmp_describe },
	[LAYER_ICMPV6] = { "icmpv6", 2, icmp_describe },
	[LAYER_GRE] = { "gre", GRE_HEADER_BYTES, gre_describe },
	[LAYER_ERSPAN_2] = { "erspan-2", ERSPAN_2_HEADER_BYTES, erspan_describe },
	[LAYER_ERSPAN_3] = { "erspan-3", ERSPAN_3_HEADER_BYTES, erspan_describe },
	[LAYER_VXLAN] = { "vxlan", VXLAN_HEADER_BYTES, vxlan_describe },
	[LAYER_VXLAN_GPE] = { "vxlan-gpe", VXLAN_HEADER_BYTES, vxlan_gpe_describe },
	[LAYER_GENEVE] = { "geneve", GENEVE_HEADER_BYTES, geneve_describe },
	[LAYER_GTPU] = { "gtpu", GTPU_HEADER_BYTES, gtpu_describe },
	[LAYER_TEREDO] = { "teredo", 2, teredo_describe },
};

void
trace_add(struct weir_flow_trace *trace, enum layer layer, const struct walk *walk, uint32_t offset)
{
	const struct layer_view *view = &layer_views[layer];
	struct weir_flow_trace_layer *entry = &trace->layer[trace->n_layers];
	struct text text;

	if (!view->describe)
		return;
	if (trace->n_layers == WEIR_FLOW_TRACE_LAYERS_MAX) {
		trace->n_omitted++;
		return;
	}
	trace->n_layers++;
	entry->name = view->name ? view->name : protocol_name(walk->protocol);
	entry->offset = offset;
	text = (struct text) { .begin = entry->detail, .n_bytes = sizeof(entry->detail) };
	text_add(&text, "%s", "");
	if (walk->left < view->bytes)
		text_add(&text, "cut: %zu bytes", walk->left);
	else
		view->describe(&text, walk);
}
