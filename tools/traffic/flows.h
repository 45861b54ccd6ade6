/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flows of a capture: who talks to whom, in which manner, in how many packets. All of it is a
 * function of the options. Knows no packet format.
 */
#ifndef WEIR_TRAFFIC_FLOWS_H
#define WEIR_TRAFFIC_FLOWS_H

#include <stdint.h>

#include "options.h"

#define MAC_BYTES 6
#define FLOW_TAGS_MAX 2

enum flow_application {
	FLOW_TCP,
	FLOW_UDP,
	FLOW_DNS,
	FLOW_FRAGMENTS,
};

enum flow_side {
	FLOW_CLIENT = 0,
	FLOW_SERVER = 1,
};

struct flow_endpoint {
	uint32_t host; /* the IPv4 address; part of the MAC and IPv6 addresses */
	uint16_t port;
};

struct flow {
	uint64_t random; /* seed of all that is random in this flow */
	struct flow_endpoint side[2];
	uint32_t id;
	uint32_t n_packets; /* in all */
	uint32_t n_sent;    /* so far: the sequence number of the next packet */
	/* What its packets depend on beyond that; see session.c. */
	uint32_t tcp_sequence[2];
	uint32_t datagram_start; /* n_sent at the datagram's first fragment */
	uint8_t datagram_fragments;
	uint8_t application; /* enum flow_application */
	uint8_t ip_version;
	uint8_t n_tags;
	uint16_t vlan_id[FLOW_TAGS_MAX];
};

/*
 * Makes options->flows flows of options->packets packets in all; the first has the most.
 * Returns NULL with errno ENOMEM. Free with free().
 */
struct flow *flows_create(const struct traffic_options *options);

#endif
