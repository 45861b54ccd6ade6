/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames to parse. Lengths are right, checksums are left out: nothing here reads them. */
#include "frames.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "rng.h"

#define PAYLOAD_BYTES                                                               \
	18 /* makes an IPv4/UDP frame of 60 bytes, 64 with its checksum on the wire \
	    */
#define LENGTHS_MAX 8

#define TYPE_IPV4 0x0800
#define TYPE_ETHERNET 0x6558
#define TYPE_VLAN 0x8100
#define TYPE_IPV6 0x86dd
#define TYPE_MPLS 0x8847
#define TYPE_SERVICE_VLAN 0x88a8

#define PROTOCOL_IPV4 4
#define PROTOCOL_TCP 6
#define PROTOCOL_UDP 17
#define PROTOCOL_GRE 47

#define PORT_DRAWN 0
#define PORT_GTPU 2152
#define PORT_VXLAN 4789
#define PORT_GENEVE 6081

/* A 16-bit field that counts the bytes from `from` to the frame's end. */
struct length_field {
	uint32_t at;
	uint32_t from;
};

struct frame_writer {
	uint8_t *bytes;
	uint32_t length;
	struct length_field lengths[LENGTHS_MAX];
	uint32_t n_lengths;
	uint64_t seed;
	uint64_t drawn; /* numbers drawn so far */
};

static uint8_t *
bytes_append(struct frame_writer *writer, const void *bytes, uint32_t n)
{
	uint8_t *at = writer->bytes + writer->length;

	assert(writer->length + n <= FRAME_ROOM_BYTES);
	if (bytes)
		memcpy(at, bytes, n);
	else
		memset(at, 0, n);
	writer->length += n;
	return at;
}

static uint8_t *
zeros_append(struct frame_writer *writer, uint32_t n)
{
	return bytes_append(writer, NULL, n);
}

static void
store_be16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static void
bytes_draw(struct frame_writer *writer, uint8_t *at, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		at[i] = (uint8_t)rng_at(writer->seed, writer->drawn++);
}

/* The field at `at` counts from `from` bytes behind its header's first, `header`. */
static void
length_add(struct frame_writer *writer, const uint8_t *header, uint32_t at, uint32_t from)
{
	const uint32_t begin = (uint32_t)(header - writer->bytes);

	assert(writer->n_lengths < LENGTHS_MAX);
	writer->lengths[writer->n_lengths++] =
		(struct length_field) { .at = begin + at, .from = begin + from };
}

static void
ethernet_append(struct frame_writer *writer, uint32_t type)
{
	uint8_t *at = zeros_append(writer, 14);

	bytes_draw(writer, at, 12);
	at[0] &= 0xfe; /* not to a group */
	store_be16(at + 12, type);
}

static void
vlan_append(struct frame_writer *writer, uint32_t type)
{
	uint8_t *at = zeros_append(writer, 4);

	bytes_draw(writer, at, 2);
	store_be16(at + 2, type);
}

static void
mpls_append(struct frame_writer *writer, bool is_bottom)
{
	uint8_t *at = zeros_append(writer, 4);

	bytes_draw(writer, at, 2);
	at[2] = is_bottom;
}

static void
ipv4_append(struct frame_writer *writer, uint8_t protocol)
{
	uint8_t *at = zeros_append(writer, 20);

	at[0] = 0x45;
	at[8] = 64;
	at[9] = protocol;
	bytes_draw(writer, at + 12, 8);
	length_add(writer, at, 2, 0);
}

static void
ipv6_append(struct frame_writer *writer, uint8_t protocol)
{
	uint8_t *at = zeros_append(writer, 40);

	at[0] = 0x60;
	at[6] = protocol;
	at[7] = 64;
	bytes_draw(writer, at + 8, 32);
	length_add(writer, at, 4, 40);
}

/* Ports that are drawn are above those of tunnels. */
static void
ports_draw(struct frame_writer *writer, uint8_t *at)
{
	bytes_draw(writer, at, 4);
	at[0] |= 0x80;
	at[2] |= 0x80;
}

static void
udp_append(struct frame_writer *writer, uint32_t port)
{
	uint8_t *at = zeros_append(writer, 8);

	ports_draw(writer, at);
	if (port != PORT_DRAWN)
		store_be16(at + 2, port);
	length_add(writer, at, 4, 0);
}

static void
tcp_append(struct frame_writer *writer)
{
	uint8_t *at = zeros_append(writer, 20);

	ports_draw(writer, at);
	at[12] = 0x50;
}

/* What most flows begin with: the outer headers of those that are tunnelled. */
static void
outer_append(struct frame_writer *writer, uint8_t protocol)
{
	ethernet_append(writer, TYPE_IPV4);
	ipv4_append(writer, protocol);
}

static void
inner_append(struct frame_writer *writer)
{
	ipv4_append(writer, PROTOCOL_TCP);
	tcp_append(writer);
}

static void
ipv4_udp_write(struct frame_writer *writer)
{
	outer_append(writer, PROTOCOL_UDP);
	udp_append(writer, PORT_DRAWN);
}

static void
ipv4_tcp_write(struct frame_writer *writer)
{
	outer_append(writer, PROTOCOL_TCP);
	tcp_append(writer);
}

static void
ipv6_udp_write(struct frame_writer *writer)
{
	ethernet_append(writer, TYPE_IPV6);
	ipv6_append(writer, PROTOCOL_UDP);
	udp_append(writer, PORT_DRAWN);
}

static void
ipv6_tcp_write(struct frame_writer *writer)
{
	ethernet_append(writer, TYPE_IPV6);
	ipv6_append(writer, PROTOCOL_TCP);
	tcp_append(writer);
}

static void
qinq_write(struct frame_writer *writer)
{
	ethernet_append(writer, TYPE_SERVICE_VLAN);
	vlan_append(writer, TYPE_VLAN);
	vlan_append(writer, TYPE_IPV4);
	inner_append(writer);
}

static void
mpls_write(struct frame_writer *writer)
{
	ethernet_append(writer, TYPE_MPLS);
	mpls_append(writer, false);
	mpls_append(writer, true);
	inner_append(writer);
}

static void
fragment_write(struct frame_writer *writer)
{
	outer_append(writer, PROTOCOL_UDP);
	store_be16(writer->bytes + writer->length - 20 + 6, 0x2000 | 185);
}

static void
ipip_write(struct frame_writer *writer)
{
	outer_append(writer, PROTOCOL_IPV4);
	inner_append(writer);
}

static void
gre_write(struct frame_writer *writer)
{
	outer_append(writer, PROTOCOL_GRE);
	store_be16(zeros_append(writer, 4) + 2, TYPE_IPV4);
	inner_append(writer);
}

static void
vxlan_write(struct frame_writer *writer)
{
	static const uint8_t header[8] = { 0x08 };

	outer_append(writer, PROTOCOL_UDP);
	udp_append(writer, PORT_VXLAN);
	bytes_append(writer, header, sizeof(header));
	ethernet_append(writer, TYPE_IPV4);
	inner_append(writer);
}

static void
vxlan_ipv6_write(struct frame_writer *writer)
{
	static const uint8_t header[8] = { 0x08 };

	ipv6_udp_write(writer);
	store_be16(writer->bytes + writer->length - 8 + 2, PORT_VXLAN);
	bytes_append(writer, header, sizeof(header));
	ipv6_tcp_write(writer);
}

static void
geneve_write(struct frame_writer *writer)
{
	static const uint8_t header[16] = { 0x02, 0, TYPE_ETHERNET >> 8, TYPE_ETHERNET & 0xff };

	outer_append(writer, PROTOCOL_UDP);
	udp_append(writer, PORT_GENEVE);
	bytes_append(writer, header, sizeof(header));
	ethernet_append(writer, TYPE_IPV4);
	inner_append(writer);
}

static void
gtpu_write(struct frame_writer *writer)
{
	static const uint8_t header[8] = { 0x30, 0xff };

	outer_append(writer, PROTOCOL_UDP);
	udp_append(writer, PORT_GTPU);
	length_add(writer, bytes_append(writer, header, sizeof(header)), 2, 8);
	inner_append(writer);
}

static const struct frame_kind kinds[] = {
	{ "ipv4-udp", ipv4_udp_write },
	{ "ipv4-tcp", ipv4_tcp_write },
	{ "ipv6-udp", ipv6_udp_write },
	{ "ipv6-tcp", ipv6_tcp_write },
	{ "fragment", fragment_write },
	{ "qinq", qinq_write },
	{ "mpls", mpls_write },
	{ "ipip", ipip_write },
	{ "gre", gre_write },
	{ "vxlan", vxlan_write },
	{ "vxlan-ipv6", vxlan_ipv6_write },
	{ "geneve", geneve_write },
	{ "gtpu", gtpu_write },
	{ "mixed", NULL },
};

#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))
#define N_WRITABLE (N_KINDS - 1) /* all but the last, which is mixed of them */

const struct frame_kind *
frame_kind_at(uint32_t index)
{
	return index < N_KINDS ? &kinds[index] : NULL;
}

const struct frame_kind *
frame_kind_find(const char *name)
{
	for (uint32_t i = 0; i < N_KINDS; i++) {
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	}
	return NULL;
}

void
frames_write(struct frames *frames, const struct frame_kind *kind, uint64_t seed)
{
	struct frame_writer writer = { .seed = seed };

	for (uint32_t i = 0; i < FRAMES_N; i++) {
		const struct frame_kind *drawn =
			&kinds[rng_below(rng_at(~seed, i), (uint32_t)N_WRITABLE)];

		writer.bytes = frames->bytes[i];
		writer.length = 0;
		writer.n_lengths = 0;
		(kind->write ? kind : drawn)->write(&writer);
		zeros_append(&writer, PAYLOAD_BYTES);
		for (uint32_t j = 0; j < writer.n_lengths; j++)
			store_be16(writer.bytes + writer.lengths[j].at,
				writer.length - writer.lengths[j].from);
		frames->length[i] = writer.length;
	}
}
