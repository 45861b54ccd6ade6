/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames for parser tests, appended layer by layer. */
#include "packet_builder.h"

#include <assert.h>
#include <string.h>

#define PROTOCOL_ICMP 1
#define PROTOCOL_ICMPV6 58
#define TRANSPORT_HEADER_BYTES 8

static void
append8(struct packet *packet, uint8_t value)
{
	assert(packet->length < PACKET_BYTES_MAX);
	packet->bytes[packet->length++] = value;
}

static void
append16(struct packet *packet, uint16_t value)
{
	append8(packet, (uint8_t)(value >> 8));
	append8(packet, (uint8_t)value);
}

static void
append32(struct packet *packet, uint32_t value)
{
	append16(packet, (uint16_t)(value >> 16));
	append16(packet, (uint16_t)value);
}

/* Filler is never zero, so that bytes read from the wrong place show. */
static void
append_filler(struct packet *packet, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		append8(packet, (uint8_t)(0xa0 + i % 64));
}

static void
append_mac(struct packet *packet, uint32_t host)
{
	append16(packet, 0x0200);
	append32(packet, host);
}

static uint16_t
spec_ethertype(const struct packet_spec *spec)
{
	if (spec->ip_version == 4)
		return 0x0800;
	return spec->ip_version == 6 ? 0x86dd : spec->ethertype;
}

static void
append_ethernet(struct packet *packet, const struct packet_spec *spec)
{
	append_mac(packet, spec->to.host);
	append_mac(packet, spec->from.host);
	for (unsigned int i = 0; i < PACKET_TAGS_MAX && spec->tags[i] != 0; i++) {
		append16(packet, spec->tags[i]);
		append16(packet, (uint16_t)(100 + i));
	}
	append16(packet, spec_ethertype(spec));
}

static void
append_ipv4(struct packet *packet, const struct packet_spec *spec)
{
	const uint32_t header_bytes = 20 + spec->option_words * 4u;

	append8(packet, (uint8_t)(0x40 | header_bytes / 4));
	append8(packet, 0);
	append16(packet, (uint16_t)(header_bytes + TRANSPORT_HEADER_BYTES + spec->payload_bytes));
	append16(packet, 0x1234);
	append16(packet, spec->fragment);
	append8(packet, 64);
	append8(packet, spec->protocol);
	append16(packet, 0);
	append32(packet, 10u << 24 | spec->from.host);
	append32(packet, 10u << 24 | spec->to.host);
	append_filler(packet, spec->option_words * 4u);
}

static void
append_ipv6_address(struct packet *packet, uint32_t host)
{
	append32(packet, 0x20010db8);
	append32(packet, host >> 16); /* both halves differ between hosts */
	append32(packet, 0);
	append32(packet, host);
}

static void
append_ipv6(struct packet *packet, const struct packet_spec *spec)
{
	append32(packet, 0x60000000);
	append16(packet, (uint16_t)(TRANSPORT_HEADER_BYTES + spec->payload_bytes));
	append8(packet, spec->protocol);
	append8(packet, 64);
	append_ipv6_address(packet, spec->from.host);
	append_ipv6_address(packet, spec->to.host);
}

static void
append_transport(struct packet *packet, const struct packet_spec *spec)
{
	if (spec->protocol == PROTOCOL_ICMP || spec->protocol == PROTOCOL_ICMPV6) {
		append8(packet, spec->icmp_type);
		append8(packet, 0);
		append16(packet, 0xffff);
		append16(packet, spec->from.port);
		append16(packet, 1);
	} else {
		append16(packet, spec->from.port);
		append16(packet, spec->to.port);
		append_filler(packet, TRANSPORT_HEADER_BYTES - 4);
	}
	append_filler(packet, spec->payload_bytes);
}

void
packet_build(struct packet *packet, const struct packet_spec *spec)
{
	memset(packet, 0, sizeof(*packet));
	append_ethernet(packet, spec);
	packet->ip_offset = packet->length;
	if (spec->ip_version == 4)
		append_ipv4(packet, spec);
	else if (spec->ip_version == 6)
		append_ipv6(packet, spec);
	packet->transport_offset = packet->length;
	append_transport(packet, spec);
}

struct packet_spec
packet_reverse(const struct packet_spec *spec)
{
	struct packet_spec reverse = *spec;

	reverse.from = spec->to;
	reverse.to = spec->from;
	return reverse;
}

void
packet_poke16(struct packet *packet, uint32_t offset, uint16_t value)
{
	assert(offset + 2 <= packet->length);
	packet->bytes[offset] = (uint8_t)(value >> 8);
	packet->bytes[offset + 1] = (uint8_t)value;
}
