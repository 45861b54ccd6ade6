/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames: headers written front to back, checksums last. */
#include "frame.h"

#include <string.h>

#include "bytes_out.h"

#define ETHERNET_HEADER_BYTES 14
#define VLAN_TAG_BYTES 4
#define IPV4_HEADER_BYTES 20
#define IPV6_HEADER_BYTES 40
#define IPV4_DONT_FRAGMENT 0x4000
#define HOP_LIMIT 64
#define TCP_WINDOW 64240

enum ethertype {
	ETHERTYPE_IPV4 = 0x0800,
	ETHERTYPE_VLAN = 0x8100,
	ETHERTYPE_IPV6 = 0x86dd,
	ETHERTYPE_SERVICE_VLAN = 0x88a8,
};

enum protocol {
	PROTOCOL_TCP = 6,
	PROTOCOL_UDP = 17,
};

static enum protocol
flow_protocol(const struct flow *flow)
{
	return flow->application == FLOW_TCP ? PROTOCOL_TCP : PROTOCOL_UDP;
}

static enum flow_side
other_side(enum flow_side side)
{
	return side == FLOW_CLIENT ? FLOW_SERVER : FLOW_CLIENT;
}

/* The Internet checksum's sum of 16-bit words; an odd last byte counts as a high one. */
static uint32_t
checksum_add(uint32_t sum, const uint8_t *bytes, uint32_t n)
{
	for (; n > 1; n -= 2, bytes += 2)
		sum += (uint32_t)bytes[0] << 8 | bytes[1];
	return n ? sum + ((uint32_t)bytes[0] << 8) : sum;
}

static uint16_t
checksum_fold(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

uint32_t
frame_header_bytes(const struct flow *flow)
{
	return ETHERNET_HEADER_BYTES + flow->n_tags * VLAN_TAG_BYTES +
	       (flow->ip_version == 4 ? IPV4_HEADER_BYTES : IPV6_HEADER_BYTES);
}

/* Locally administered addresses. */
static uint8_t *
put_mac(uint8_t *at, const struct flow_endpoint *endpoint)
{
	return put32(put16(at, 0x0200), endpoint->host);
}

static uint8_t *
put_ethernet(uint8_t *at, const struct flow *flow, enum flow_side from)
{
	at = put_mac(at, &flow->side[other_side(from)]);
	at = put_mac(at, &flow->side[from]);
	for (unsigned int i = 0; i < flow->n_tags; i++) {
		/* The innermost tag is a customer's, the one around it the provider's. */
		at = put16(at, i + 1 < flow->n_tags ? ETHERTYPE_SERVICE_VLAN : ETHERTYPE_VLAN);
		at = put16(at, flow->vlan_id[i]);
	}
	return put16(at, flow->ip_version == 4 ? ETHERTYPE_IPV4 : ETHERTYPE_IPV6);
}

static uint8_t *
put_ipv4(uint8_t *at, const struct flow *flow, const struct frame_ip *ip)
{
	uint8_t *const header = at;

	at = put16(at, 0x4500);
	at = put16(at, IPV4_HEADER_BYTES + ip->payload_bytes);
	at = put16(at, ip->identification);
	at = put16(at, flow->application == FLOW_FRAGMENTS ? ip->fragment : IPV4_DONT_FRAGMENT);
	at = put8(at, HOP_LIMIT);
	at = put8(at, flow_protocol(flow));
	at = put16(at, 0);
	at = put32(at, flow->side[ip->from].host);
	at = put32(at, flow->side[other_side(ip->from)].host);
	put16(header + 10, checksum_fold(checksum_add(0, header, IPV4_HEADER_BYTES)));
	return at;
}

/* 2001:db8::/32 is for documentation. */
static uint8_t *
put_ipv6_address(uint8_t *at, const struct flow_endpoint *endpoint)
{
	at = put32(put32(at, UINT32_C(0x20010db8)), endpoint->host >> 24);
	return put32(put32(at, 0), endpoint->host);
}

static uint8_t *
put_ipv6(uint8_t *at, const struct flow *flow, const struct frame_ip *ip)
{
	at = put32(at, UINT32_C(0x60000000));
	at = put16(at, ip->payload_bytes);
	at = put8(at, flow_protocol(flow));
	at = put8(at, HOP_LIMIT);
	at = put_ipv6_address(at, &flow->side[ip->from]);
	return put_ipv6_address(at, &flow->side[other_side(ip->from)]);
}

uint8_t *
frame_start(struct frame *frame, const struct flow *flow, const struct frame_ip *ip)
{
	uint8_t *at = put_ethernet(frame->bytes, flow, ip->from);

	frame->length = frame_header_bytes(flow) + ip->payload_bytes;
	return flow->ip_version == 4 ? put_ipv4(at, flow, ip) : put_ipv6(at, flow, ip);
}

void
frame_pad(struct frame *frame, uint32_t min_bytes)
{
	if (frame->length >= min_bytes)
		return;
	memset(frame->bytes + frame->length, 0, min_bytes - frame->length);
	frame->length = min_bytes;
}

/* The checksum over pseudo-header and IP payload. The order of the addresses does not matter. */
static uint16_t
transport_checksum(const uint8_t *at, uint32_t n, const struct flow *flow)
{
	uint8_t pseudo[2 * 16];
	uint8_t *end = pseudo;

	for (unsigned int side = 0; side < 2; side++)
		end = flow->ip_version == 4 ? put32(end, flow->side[side].host)
					    : put_ipv6_address(end, &flow->side[side]);
	return checksum_fold(checksum_add(
		checksum_add(n + flow_protocol(flow), pseudo, (uint32_t)(end - pseudo)), at, n));
}

static uint8_t *
put_ports(uint8_t *at, const struct flow *flow, enum flow_side from)
{
	return put16(put16(at, flow->side[from].port), flow->side[other_side(from)].port);
}

void
tcp_finish(uint8_t *at, uint32_t n, const struct flow *flow, const struct tcp_segment *segment)
{
	uint8_t *field = put_ports(at, flow, segment->from);

	field = put32(field, segment->sequence);
	field = put32(field, segment->acknowledgement);
	field = put8(field, TCP_HEADER_BYTES / 4 << 4);
	field = put8(field, segment->flags);
	field = put16(field, TCP_WINDOW);
	put32(field, 0);
	put16(field, transport_checksum(at, n, flow));
}

void
udp_finish(uint8_t *at, uint32_t n, const struct flow *flow, enum flow_side from)
{
	uint8_t *const field = put16(put_ports(at, flow, from), n);

	put16(field, 0);
	const uint16_t checksum = transport_checksum(at, n, flow);

	/* Zero would say that there is no checksum; both of its values mean the same sum. */
	put16(field, checksum ? checksum : 0xffff);
}
