/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of flows: their table, the parsing of `--mix`, and the dealing. */
#include "mix.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	const char *help;
} kinds[TRAFFIC_KINDS] = {
	[TRAFFIC_TCP] = { "tcp", "TCP sessions over IPv4: handshake, data both ways, close" },
	[TRAFFIC_UDP] = { "udp", "bulk UDP over IPv4, one packet in eight the other way" },
	[TRAFFIC_DNS] = { "dns", "DNS queries and responses over IPv4" },
	[TRAFFIC_VLAN] = { "vlan", "tcp, udp and dns in turn, behind one VLAN tag or two" },
	[TRAFFIC_IPV6] = { "ipv6", "tcp, udp and dns in turn, over IPv6" },
	[TRAFFIC_FRAGMENTS] = { "fragments", "UDP over IPv4, in two to four fragments a datagram" },
};

const char *
traffic_kind_name(enum traffic_kind kind)
{
	return kinds[kind].name;
}

const char *
traffic_kind_help(enum traffic_kind kind)
{
	return kinds[kind].help;
}

void
mix_allowed(char text[MIX_ALLOWED_BYTES])
{
	int n = snprintf(text, MIX_ALLOWED_BYTES,
		"KIND=WEIGHT,... of weights 0 to %u, not all 0, and each once of the kinds",
		MIX_WEIGHT_MAX);

	for (unsigned int kind = 0; kind < TRAFFIC_KINDS; kind++) {
		assert(n < MIX_ALLOWED_BYTES);
		n += snprintf(text + n, (size_t)(MIX_ALLOWED_BYTES - n), "%s %s", kind ? "," : "",
			kinds[kind].name);
	}
}

/* Finds the kind that `text` names up to its '='; TRAFFIC_KINDS if there is none. */
static enum traffic_kind
kind_find(const char *text, size_t n)
{
	unsigned int kind = 0;

	while (kind < TRAFFIC_KINDS &&
		(strlen(kinds[kind].name) != n || memcmp(kinds[kind].name, text, n) != 0))
		kind++;
	return (enum traffic_kind)kind;
}

/* Reads one KIND=WEIGHT; returns what follows it, NULL if it is malformed or a repetition. */
static const char *
mix_parse_entry(const char *text, struct mix *mix, bool seen[TRAFFIC_KINDS])
{
	const size_t name_bytes = strcspn(text, "=");
	const enum traffic_kind kind = kind_find(text, name_bytes);
	const char *digits = text + name_bytes + 1;
	const size_t n_digits = kind == TRAFFIC_KINDS ? 0 : strspn(digits, "0123456789");

	/* Seven digits hold the greatest weight and more. */
	if (n_digits == 0 || n_digits > 7 || seen[kind])
		return NULL;
	mix->weight[kind] = (uint32_t)strtoul(digits, NULL, 10);
	seen[kind] = true;
	return mix->weight[kind] <= MIX_WEIGHT_MAX ? digits + n_digits : NULL;
}

int
mix_parse(const char *text, struct mix *mix)
{
	struct mix parsed = { .weight = { 0 } };
	bool seen[TRAFFIC_KINDS] = { false };
	uint64_t sum = 0;

	for (;;) {
		text = mix_parse_entry(text, &parsed, seen);
		if (text == NULL || (*text != '\0' && *text != ','))
			return -EINVAL;
		if (*text++ == '\0')
			break;
	}
	for (unsigned int kind = 0; kind < TRAFFIC_KINDS; kind++)
		sum += parsed.weight[kind];
	if (sum == 0)
		return -EINVAL;
	*mix = parsed;
	return 0;
}

enum traffic_kind
mix_deal(struct mix *mix)
{
	unsigned int best = TRAFFIC_KINDS;
	int64_t sum = 0;

	/* Smooth weighted round-robin: each earns its weight, the richest pays for all. */
	for (unsigned int kind = 0; kind < TRAFFIC_KINDS; kind++) {
		if (mix->weight[kind] == 0)
			continue;
		mix->credit[kind] += mix->weight[kind];
		sum += mix->weight[kind];
		if (best == TRAFFIC_KINDS || mix->credit[kind] > mix->credit[best])
			best = kind;
	}
	mix->credit[best] -= sum;
	return (enum traffic_kind)best;
}
