/* SPDX-License-Identifier: BSD-3-Clause */
/* How each layer is appended to a frame. */
#include "packet_layers.h"

#include <assert.h>
#include <string.h>

static void
append8(struct packet_builder *b, uint32_t value)
{
	assert(b->packet->length < PACKET_BYTES_MAX);
	b->packet->bytes[b->packet->length++] = (uint8_t)value;
}

static void
append16(struct packet_builder *b, uint32_t value)
{
	append8(b, value >> 8);
	append8(b, value);
}

static void
append32(struct packet_builder *b, uint32_t value)
{
	append16(b, value >> 16);
	append16(b, value);
}

/* Filler is never zero, so that bytes read from the wrong place show. */
static void
append_filler(struct packet_builder *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		append8(b, 0xa0 + i % 64);
}

/* A length of 16 bits that counts the bytes from `from` to the frame's end. */
static void
append_length(struct packet_builder *b, uint32_t from)
{
	assert(b->n_fixups < PACKET_FIXUPS_MAX);
	b->fixups[b->n_fixups++] = (struct packet_fixup) { .at = b->packet->length, .from = from };
	append16(b, 0);
}

static uint32_t
argument_or(const struct packet_word *word, unsigned int i, uint32_t otherwise)
{
	return i < word->n_arguments ? word->argument[i] : otherwise;
}

/* The layer that follows the one being appended; NULL behind the last. */
static const struct packet_kind *
next_kind(const struct packet_builder *b)
{
	return b->index + 1 < b->n_words ? b->words[b->index + 1].kind : NULL;
}

static bool
next_is(const struct packet_builder *b, const char *name)
{
	const struct packet_kind *next = next_kind(b);

	return next && strcmp(next->name, name) == 0;
}

/* How many more layers of a kind there are: 0 for the innermost. */
static uint32_t
levels_below(const struct packet_builder *b, bool (*counts)(const struct packet_kind *kind))
{
	uint32_t n = 0;

	for (uint32_t i = b->index + 1; i < b->n_words; i++)
		n += counts(b->words[i].kind);
	return n;
}

static bool
is_ip(const struct packet_kind *kind)
{
	return strcmp(kind->name, "ip4") == 0 || strcmp(kind->name, "ip6") == 0;
}

static bool
is_ethernet(const struct packet_kind *kind)
{
	return strcmp(kind->name, "eth") == 0;
}

static bool
is_icmp_error(const struct packet_word *word)
{
	const uint32_t type = word->n_arguments > 0 ? word->argument[0] : 8;

	if (strcmp(word->kind->name, "icmp6") == 0)
		return type < 128;
	return strcmp(word->kind->name, "icmp") == 0 &&
	       (type == 3 || type == 4 || type == 5 || type == 11 || type == 12);
}

/* Whether the layer being appended is quoted by an ICMP error. */
static bool
is_quoted(const struct packet_builder *b)
{
	for (uint32_t i = 0; i < b->index; i++)
		if (is_icmp_error(&b->words[i]))
			return true;
	return false;
}

static const struct packet_endpoint *
source(const struct packet_builder *b)
{
	return is_quoted(b) ? &b->to : &b->from;
}

static const struct packet_endpoint *
destination(const struct packet_builder *b)
{
	return is_quoted(b) ? &b->from : &b->to;
}

/* The type field: what follows, or what the word's argument number `index` says. */
static void
append_ethertype(struct packet_builder *b, const struct packet_word *word, unsigned int index)
{
	const struct packet_kind *next = next_kind(b);

	if (index >= word->n_arguments && next_is(b, "llc"))
		append_length(b, b->packet->length + 2);
	else
		append16(b, argument_or(word, index, next ? next->ethertype : 0x0806));
}

static uint32_t
next_protocol(const struct packet_builder *b)
{
	const struct packet_kind *next = next_kind(b);

	if (next && strcmp(next->name, "proto") == 0)
		return b->words[b->index + 1].argument[0];
	return next && next->protocol != PACKET_NO_PROTOCOL ? (uint32_t)next->protocol : 59;
}

static void
append_mac(struct packet_builder *b, uint32_t host)
{
	append16(b, 0x0200);
	append32(b, host);
}

static void
append_eth(struct packet_builder *b, const struct packet_word *word)
{
	const uint32_t level = levels_below(b, is_ethernet) << 20;

	append_mac(b, level + destination(b)->host);
	append_mac(b, level + source(b)->host);
	append_ethertype(b, word, 0);
}

static void
append_vlan(struct packet_builder *b, const struct packet_word *word)
{
	append16(b, 100 + b->index);
	append_ethertype(b, word, 0);
}

static void
append_vntag(struct packet_builder *b, const struct packet_word *word)
{
	append32(b, 0x80050003);
	append_ethertype(b, word, 0);
}

static void
append_llc(struct packet_builder *b, const struct packet_word *word)
{
	const uint32_t sap = argument_or(word, 0, next_is(b, "snap") ? 0xaa : 0x06);

	append8(b, sap);
	append8(b, sap);
	append8(b, 3);
}

static void
append_snap(struct packet_builder *b, const struct packet_word *word)
{
	const uint32_t organisation = argument_or(word, 0, 0);

	append8(b, organisation >> 16);
	append16(b, organisation);
	append_ethertype(b, word, 1);
}

static void
append_mpls(struct packet_builder *b, const struct packet_word *word)
{
	const uint32_t label = argument_or(word, 0, 1000 + b->index);

	append32(b, label << 12 | (next_is(b, "mpls") ? 0 : 0x100) | 64);
}

static void
append_cw(struct packet_builder *b, const struct packet_word *word)
{
	(void)word;
	append32(b, 7);
}

static void
append_pppoe(struct packet_builder *b, const struct packet_word *word)
{
	append8(b, 0x11);
	append8(b, argument_or(word, 0, 0));
	append16(b, 0x1234);
	append_length(b, b->packet->length + 2);
}

static void
append_ppp(struct packet_builder *b, const struct packet_word *word)
{
	const struct packet_kind *next = next_kind(b);
	const uint32_t protocol = argument_or(word, 1, next && next->ppp ? next->ppp : 0xc021);
	const uint32_t form = argument_or(word, 0, 0);

	if (form == 2)
		append16(b, 0xff03);
	if (form == 1)
		append8(b, protocol);
	else
		append16(b, protocol);
}

static void
append_nsh(struct packet_builder *b, const struct packet_word *word)
{
	const uint32_t words = argument_or(word, 0, 6); /* base, path, 16 bytes of context */
	const struct packet_kind *next = next_kind(b);

	append16(b, words);
	append8(b, words == 6 ? 1 : 2);
	append8(b, next ? next->gpe : 0);
	append32(b, 0x1234ff);
	append_filler(b, words * 4 - 8);
}

static void
append_ip4(struct packet_builder *b, const struct packet_word *word)
{
	const uint32_t option_words = argument_or(word, 0, 0);
	const uint32_t level = levels_below(b, is_ip) << 20;
	const uint32_t begin = b->packet->length;

	append8(b, 0x40 | (5 + option_words));
	append8(b, 0);
	append_length(b, begin);
	append16(b, 0x1234);
	append16(b, argument_or(word, 1, 0));
	append8(b, 64);
	append8(b, next_protocol(b));
	assert(b->n_fixups < PACKET_FIXUPS_MAX);
	b->fixups[b->n_fixups++] = (struct packet_fixup) {
		.at = b->packet->length, .from = begin, .is_checksum = true
	};
	append16(b, 0);
	append32(b, (10u << 24) + level + source(b)->host);
	append32(b, (10u << 24) + level + destination(b)->host);
	append_filler(b, option_words * 4);
}

static void
append_ipv6_address(struct packet_builder *b, uint32_t host)
{
	append32(b, 0x20010db8);
	append32(b, host >> 16); /* both halves differ between hosts */
	append32(b, 0);
	append32(b, host);
}

static void
append_ip6(struct packet_builder *b, const struct packet_word *word)
{
	const uint32_t level = levels_below(b, is_ip) << 20;

	(void)word;
	append32(b, 0x60000000);
	append_length(b, b->packet->length + 36);
	append8(b, next_protocol(b));
	append8(b, 64);
	append_ipv6_address(b, level + source(b)->host);
	append_ipv6_address(b, level + destination(b)->host);
}

static void
append_extension(struct packet_builder *b, const struct packet_word *word)
{
	const uint32_t units = argument_or(word, 0, 1);

	append8(b, next_protocol(b));
	append8(b, units - 1);
	append_filler(b, units * 8 - 2);
}

static void
append_frag(struct packet_builder *b, const struct packet_word *word)
{
	append8(b, next_protocol(b));
	append8(b, 0);
	append16(b, argument_or(word, 0, 0));
	append32(b, 0xcafe1234);
}

static void
append_ah(struct packet_builder *b, const struct packet_word *word)
{
	append8(b, next_protocol(b));
	append8(b, 4); /* words but two: 12 bytes fixed, 12 of value */
	append16(b, 0);
	append32(b, argument_or(word, 0, 0x11223344));
	append32(b, 1);
	append_filler(b, 12);
}

static void
append_esp(struct packet_builder *b, const struct packet_word *word)
{
	append32(b, argument_or(word, 0, 0x55667788));
	append_filler(b, 12);
}

static void
append_ports(struct packet_builder *b, const struct packet_word *word)
{
	const struct packet_kind *next = next_kind(b);
	const uint32_t port = argument_or(word, 0, next ? next->udp_port : 0);
	const uint32_t begin = b->packet->length;

	append16(b, port ? 49152 + source(b)->port : source(b)->port);
	append16(b, port ? port : destination(b)->port);
	append_length(b, begin); /* UDP's; filler in the others */
	append_filler(b, 2);
}

/* TCP as far as its flags, so that it is not taken for UDP. */
static void
append_tcp(struct packet_builder *b, const struct packet_word *word)
{
	(void)word;
	append16(b, source(b)->port);
	append16(b, destination(b)->port);
	append_filler(b, 10);
}

static void
append_icmp(struct packet_builder *b, const struct packet_word *word)
{
	append8(b, argument_or(word, 0, 8));
	append8(b, 0);
	append16(b, 0xffff);
	append16(b, b->from.port);
	append16(b, 1);
}

static void
append_data(struct packet_builder *b, const struct packet_word *word)
{
	append_filler(b, argument_or(word, 0, 8));
}

/* Of an unknown protocol: the number is read by next_protocol. */
static void
append_proto(struct packet_builder *b, const struct packet_word *word)
{
	(void)word;
	append_filler(b, 8);
}

static void
append_gre(struct packet_builder *b, const struct packet_word *word)
{
	const struct packet_kind *next = next_kind(b);
	const uint32_t flags = argument_or(word, 0, 0);
	const uint32_t type = next && strcmp(next->name, "eth") == 0 ? 0x6558
			      : next				     ? next->ethertype
								     : 0;

	append16(b, flags);
	append16(b, argument_or(word, 1, type));
	append_filler(b, flags & 0xc000 ? 4 : 0);
	append_filler(b, flags & 0x2000 ? 4 : 0);
	append_filler(b, flags & 0x1000 ? 4 : 0);
	append_filler(b, flags & 0x0080 ? 4 : 0);
	if (flags & 0x4000) {
		append32(b, 0x08000004); /* a source route of IPv4, four bytes long */
		append_filler(b, 4);
		append32(b, 0);
	}
}

static void
append_erspan2(struct packet_builder *b, const struct packet_word *word)
{
	append16(b, argument_or(word, 0, 1) << 12 | 100);
	append16(b, 5);
	append32(b, 9);
}

static void
append_erspan3(struct packet_builder *b, const struct packet_word *word)
{
	const uint32_t has_subheader = argument_or(word, 1, 0);

	append16(b, 0x2000 | 100);
	append16(b, 5);
	append32(b, 0x12345678);
	append16(b, 0);
	append16(b, argument_or(word, 0, 0) << 10 | has_subheader);
	append_filler(b, has_subheader ? 8 : 0);
}

static void
append_vxlan(struct packet_builder *b, const struct packet_word *word)
{
	append32(b, argument_or(word, 0, 0x08) << 24);
	append32(b, 5000 << 8);
}

static void
append_gpe(struct packet_builder *b, const struct packet_word *word)
{
	const struct packet_kind *next = next_kind(b);

	append32(b, argument_or(word, 0, 0x0c) << 24 | argument_or(word, 1, next ? next->gpe : 0));
	append32(b, 5000 << 8);
}

static void
append_geneve(struct packet_builder *b, const struct packet_word *word)
{
	const uint32_t option_words = argument_or(word, 0, 0);
	const struct packet_kind *next = next_kind(b);

	append8(b, argument_or(word, 1, 0) << 6 | option_words);
	append8(b, 0);
	append16(b, next_is(b, "eth") ? 0x6558 : next ? next->ethertype : 0x0806);
	append32(b, 5000 << 8);
	append_filler(b, option_words * 4);
}

static void
append_gtpu(struct packet_builder *b, const struct packet_word *word)
{
	const uint32_t flags = argument_or(word, 0, 0x30);
	const uint32_t extensions = argument_or(word, 2, 0);

	append8(b, flags);
	append8(b, argument_or(word, 1, 0xff));
	append_length(b, b->packet->length + 6);
	append32(b, 0xaabbccdd);
	if (!(flags & 7))
		return;
	append16(b, 0x0001); /* sequence, N-PDU */
	append8(b, 0);
	append8(b, extensions ? 0x85 : 0);
	for (uint32_t i = 0; i < extensions; i++) {
		append8(b, 1 + i % 2); /* words of four bytes */
		append_filler(b, i % 2 ? 6 : 2);
		append8(b, i + 1 < extensions ? 0x85 : 0);
	}
}

static void
append_teredo(struct packet_builder *b, const struct packet_word *word)
{
	const uint32_t indications = argument_or(word, 0, 0);

	if (indications & 1) {
		append16(b, 1);
		append16(b, 0x0402); /* bytes of identifier and of value */
		append_filler(b, 6 + 9);
	}
	if (indications & 2) {
		append16(b, 0);
		append_filler(b, 6);
	}
}

static const struct packet_kind kinds[] = {
	{ "eth", 0x6558, 143, 0, 3, 0, append_eth },
	{ "vlan", 0x8100, PACKET_NO_PROTOCOL, 0, 0, 0, append_vlan },
	{ "svlan", 0x88a8, PACKET_NO_PROTOCOL, 0, 0, 0, append_vlan },
	{ "ovlan", 0x9100, PACKET_NO_PROTOCOL, 0, 0, 0, append_vlan },
	{ "vntag", 0x8926, PACKET_NO_PROTOCOL, 0, 0, 0, append_vntag },
	{ "llc", 0, PACKET_NO_PROTOCOL, 0, 0, 0, append_llc },
	{ "snap", 0, PACKET_NO_PROTOCOL, 0, 0, 0, append_snap },
	{ "mpls", 0x8847, 137, 0x0281, 5, 0, append_mpls },
	{ "cw", 0, PACKET_NO_PROTOCOL, 0, 0, 0, append_cw },
	{ "pppoe", 0x8864, PACKET_NO_PROTOCOL, 0, 0, 0, append_pppoe },
	{ "ppp", 0x880b, PACKET_NO_PROTOCOL, 0, 0, 0, append_ppp },
	{ "nsh", 0x894f, PACKET_NO_PROTOCOL, 0, 4, 0, append_nsh },
	{ "ip4", 0x0800, 4, 0x0021, 1, 0, append_ip4 },
	{ "ip6", 0x86dd, 41, 0x0057, 2, 0, append_ip6 },
	{ "hbh", 0, 0, 0, 0, 0, append_extension },
	{ "route", 0, 43, 0, 0, 0, append_extension },
	{ "dst", 0, 60, 0, 0, 0, append_extension },
	{ "mob", 0, 135, 0, 0, 0, append_extension },
	{ "hip", 0, 139, 0, 0, 0, append_extension },
	{ "shim6", 0, 140, 0, 0, 0, append_extension },
	{ "frag", 0, 44, 0, 0, 0, append_frag },
	{ "ah", 0, 51, 0, 0, 0, append_ah },
	{ "esp", 0, 50, 0, 0, 0, append_esp },
	{ "tcp", 0, 6, 0, 0, 0, append_tcp },
	{ "udp", 0, 17, 0, 0, 0, append_ports },
	{ "udplite", 0, 136, 0, 0, 0, append_ports },
	{ "sctp", 0, 132, 0, 0, 0, append_ports },
	{ "dccp", 0, 33, 0, 0, 0, append_ports },
	{ "icmp", 0, 1, 0, 0, 0, append_icmp },
	{ "icmp6", 0, 58, 0, 0, 0, append_icmp },
	{ "proto", 0, PACKET_NO_PROTOCOL, 0, 0, 0, append_proto },
	{ "gre", 0, 47, 0, 0, 0, append_gre },
	{ "erspan2", 0x88be, PACKET_NO_PROTOCOL, 0, 0, 0, append_erspan2 },
	{ "erspan3", 0x22eb, PACKET_NO_PROTOCOL, 0, 0, 0, append_erspan3 },
	{ "vxlan", 0, PACKET_NO_PROTOCOL, 0, 0, 4789, append_vxlan },
	{ "gpe", 0, PACKET_NO_PROTOCOL, 0, 0, 4790, append_gpe },
	{ "geneve", 0, PACKET_NO_PROTOCOL, 0, 0, 6081, append_geneve },
	{ "gtpu", 0, PACKET_NO_PROTOCOL, 0, 0, 2152, append_gtpu },
	{ "teredo", 0, PACKET_NO_PROTOCOL, 0, 0, 3544, append_teredo },
	{ "data", 0x88b5, PACKET_NO_PROTOCOL, 0, 0, 0, append_data },
};

const struct packet_kind *
packet_kind_find(const char *text, size_t length)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strlen(kinds[i].name) == length && strncmp(kinds[i].name, text, length) == 0)
			return &kinds[i];
	return NULL;
}
