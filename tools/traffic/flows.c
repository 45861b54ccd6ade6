/* SPDX-License-Identifier: BSD-3-Clause */
/* Flows: their sizes by Zipf's law, their kinds by the mix, their endpoints by number and seed. */
#include "flows.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "rng.h"

/*
 * The greatest weight of a flow. Weights are rounded to integers at once, so that what the file
 * holds does not hang on how a sum of doubles is rounded; 2^20 flows of it fit in 64 bits.
 */
#define WEIGHT_MAX 0x1p40

/* 10.0.0.0/8, of which the hosts of flows take 22 bits, and the benchmark range 198.18.0.0/15. */
#define NEAR_NETWORK UINT32_C(0x0a000000)
#define NEAR_HOST_BITS 22
#define FAR_NETWORK UINT32_C(0xc6120000)
#define FAR_HOST_BITS 17
/* Flows that share a near host; told apart by the two low bits of the client's port. */
#define FLOWS_PER_HOST 4

static uint64_t
zipf_weight(uint64_t rank, double exponent)
{
	const double weight = WEIGHT_MAX * pow((double)rank, -exponent);

	return weight < 1 ? 1 : (uint64_t)weight;
}

/* Shares out the packets: one to each flow, and the others by weight, exactly. */
static void
flows_size(struct flow *flows, const struct traffic_options *options)
{
	const uint64_t spare = options->packets - options->flows;
	uint64_t sum = 0;
	uint64_t so_far = 0;
	uint64_t given = 0;

	for (uint64_t i = 0; i < options->flows; i++)
		sum += zipf_weight(i + 1, options->zipf);
	for (uint64_t i = 0; i < options->flows; i++) {
		so_far += zipf_weight(i + 1, options->zipf);
		/* Rounding the running total loses no packet and makes none. */
		const uint64_t due = (uint64_t)((unsigned __int128)so_far * spare / sum);

		flows[i].n_packets = (uint32_t)(1 + due - given);
		given = due;
	}
}

/* Random bits for the endpoints of flow `id`; `salt` tells several draws apart. */
static uint32_t
draw_bits(uint64_t random, unsigned int salt, unsigned int bits)
{
	return (uint32_t)(rng_at(random, salt) >> (64 - bits));
}

static uint16_t
server_port(enum flow_application application, uint64_t random)
{
	static const uint16_t tcp_ports[] = { 443, 80, 8080, 22 };
	static const uint16_t udp_ports[] = { 443, 5201, 5201, 27015 };
	const uint32_t choice = draw_bits(random, 0, 2);

	switch (application) {
	case FLOW_TCP:
		return tcp_ports[choice];
	case FLOW_UDP:
		return udp_ports[choice];
	case FLOW_DNS:
		return 53;
	case FLOW_FRAGMENTS:
		return 2049;
	}
	return 0;
}

/*
 * No two flows have the same addresses and ports: near hosts come from the flow's number by a
 * bijection, an odd factor modulo a power of two. Clients are near or far, so that either side
 * may have the lower address.
 */
static void
flow_set_endpoints(struct flow *flow, uint64_t seed)
{
	const uint32_t mask = (UINT32_C(1) << NEAR_HOST_BITS) - 1;
	const uint32_t number = flow->id / FLOWS_PER_HOST;
	const uint32_t near_host =
		NEAR_NETWORK |
		((number * UINT32_C(2654435761) + draw_bits(seed, 0, NEAR_HOST_BITS)) & mask);
	const uint32_t far_host = FAR_NETWORK | draw_bits(flow->random, 1, FAR_HOST_BITS);
	const bool client_is_near = draw_bits(flow->random, 2, 1);

	flow->side[FLOW_CLIENT] = (struct flow_endpoint) {
		.host = client_is_near ? near_host : far_host,
		.port = (uint16_t)(32768 + draw_bits(flow->random, 3, 13) * FLOWS_PER_HOST +
				   flow->id % FLOWS_PER_HOST),
	};
	flow->side[FLOW_SERVER] = (struct flow_endpoint) {
		.host = client_is_near ? far_host : near_host,
		.port = server_port((enum flow_application)flow->application, flow->random),
	};
}

/* turn: how many flows of this kind went before. */
static void
flow_set_kind(struct flow *flow, enum traffic_kind kind, uint32_t turn)
{
	static const uint8_t in_turn[] = { FLOW_TCP, FLOW_UDP, FLOW_DNS };

	flow->ip_version = kind == TRAFFIC_IPV6 ? 6 : 4;
	switch (kind) {
	case TRAFFIC_TCP:
		flow->application = FLOW_TCP;
		break;
	case TRAFFIC_UDP:
		flow->application = FLOW_UDP;
		break;
	case TRAFFIC_DNS:
		flow->application = FLOW_DNS;
		break;
	case TRAFFIC_VLAN:
		flow->n_tags = (uint8_t)(1 + turn % FLOW_TAGS_MAX);
		flow->application = in_turn[turn % 3];
		break;
	case TRAFFIC_IPV6:
		flow->application = in_turn[turn % 3];
		break;
	case TRAFFIC_FRAGMENTS:
		flow->application = FLOW_FRAGMENTS;
		break;
	case TRAFFIC_KINDS:
		break;
	}
}

static void
flow_set_rest(struct flow *flow)
{
	for (unsigned int i = 0; i < FLOW_TAGS_MAX; i++)
		flow->vlan_id[i] = (uint16_t)(1 + rng_below(rng_at(flow->random, 4 + i), 4094));
	flow->tcp_sequence[FLOW_CLIENT] = draw_bits(flow->random, 6, 32);
	flow->tcp_sequence[FLOW_SERVER] = draw_bits(flow->random, 7, 32);
}

struct flow *
flows_create(const struct traffic_options *options)
{
	struct flow *flows = calloc(options->flows, sizeof(*flows));
	uint32_t turns[TRAFFIC_KINDS] = { 0 };
	struct mix mix = options->mix;

	if (flows == NULL)
		return NULL;
	flows_size(flows, options);
	for (uint32_t id = 0; id < options->flows; id++) {
		const enum traffic_kind kind = mix_deal(&mix);

		flows[id].id = id;
		flows[id].random = rng_at(rng_at(options->seed, 1), id);
		flow_set_kind(&flows[id], kind, turns[kind]++);
		flow_set_endpoints(&flows[id], options->seed);
		flow_set_rest(&flows[id]);
	}
	return flows;
}
