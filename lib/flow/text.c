/* SPDX-License-Identifier: BSD-3-Clause */
/* Text built up in a buffer of fixed size, and the names of protocols. */
#include "text.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>

static const char *const protocol_names[UINT8_MAX + 1] = {
	[0] = "hop-by-hop",
	[1] = "icmp",
	[2] = "igmp",
	[4] = "ipv4",
	[6] = "tcp",
	[17] = "udp",
	[33] = "dccp",
	[41] = "ipv6",
	[43] = "routing",
	[44] = "fragment",
	[46] = "rsvp",
	[47] = "gre",
	[50] = "esp",
	[51] = "ah",
	[58] = "icmpv6",
	[59] = "no-next-header",
	[60] = "destination",
	[88] = "eigrp",
	[89] = "ospf",
	[103] = "pim",
	[112] = "vrrp",
	[132] = "sctp",
	[135] = "mobility",
	[136] = "udp-lite",
	[137] = "mpls",
	[139] = "hip",
	[140] = "shim6",
	[143] = "ethernet",
};

void
text_add(struct text *text, const char *format, ...)
{
	const size_t at = text->used < text->n_bytes ? text->used : text->n_bytes;
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vsnprintf(at < text->n_bytes ? text->begin + at : NULL, text->n_bytes - at, format,
		arguments);
	va_end(arguments);
	text->used += n > 0 ? (size_t)n : 0;
}

void
text_add_mac(struct text *text, const uint8_t *bytes)
{
	text_add(text, "%02x:%02x:%02x:%02x:%02x:%02x", bytes[0], bytes[1], bytes[2], bytes[3],
		bytes[4], bytes[5]);
}

void
text_add_ipv4(struct text *text, const uint8_t *bytes)
{
	text_add(text, "%u.%u.%u.%u", bytes[0], bytes[1], bytes[2], bytes[3]);
}

void
text_add_ipv6(struct text *text, const uint8_t *bytes)
{
	char address[INET6_ADDRSTRLEN];

	text_add(text, "%s", inet_ntop(AF_INET6, bytes, address, sizeof(address)));
}

const char *
protocol_name(uint8_t protocol)
{
	return protocol_names[protocol];
}

void
text_add_protocol(struct text *text, uint8_t protocol)
{
	if (protocol_names[protocol])
		text_add(text, "%s", protocol_names[protocol]);
	else
		text_add(text, "protocol %u", protocol);
}
