/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Traffic that other dispatchers put on one core, or on two for the two directions of a connection:
 * their users' complaints, each a test by name. Many flows of one odd kind must use many buckets,
 * and both directions of each the same one.
 */
#include "test.h"

#include <weir/flow.h>

#include "flow_check.h"
#include "packet_builder.h"

#define N_FLOWS 512
/*
 * Distinct buckets that N flows use at least: two of them meet in one of 65,536 buckets with
 * probability N^2 / 2 / 65,536, two pairs on average. The hash key is fixed.
 */
#define N_BUCKETS_MIN (N_FLOWS - 16)

/* In what the flows of a case differ. */
enum variation {
	VARY_PORT,
	VARY_HOST,
	VARY_SPI, /* of "%u" in the layers */
};

struct complaint {
	const char *name;
	const char *layers;
	enum variation variation;
};

static const struct complaint complaints[] = {
	{ "VPP hash-eth-l34 reads ports at a fixed offset, whatever the options", "eth ip4:5 udp",
		VARY_PORT },
	{ "VPP soft-rss: packets with options all hash to 0", "eth ip4:1 tcp", VARY_PORT },
	{ "VPP soft-rss: fragments all hash to 0", "eth ip4:0:0x20b9 udp", VARY_HOST },
	{ "VPP: at most five MPLS labels", "eth mpls mpls mpls mpls mpls mpls mpls ip4 tcp",
		VARY_PORT },
	{ "VPP: an unknown EtherType hashes to 0", "eth:0x88f7 data:40", VARY_HOST },
	{ "VPP: a third VLAN tag hashes to 0", "eth svlan vlan vlan ip4 udp", VARY_PORT },
	{ "xdp-bench takes a header of 20 bytes for granted", "eth ip4:10 udp", VARY_PORT },
	{ "xdp-bench l4-hash leaves the ports out", "eth ip4 udp", VARY_PORT },
	{ "xdp-bench pinned all IPv6/TCP to the first CPU", "eth ip6 tcp", VARY_PORT },
	{ "xdp-bench takes two VLAN tags at most", "eth ovlan svlan vlan ip6 udp", VARY_PORT },
	{ "stanford-esrg/retina #98: tunnels on one core", "eth ip4 gre ip4 tcp", VARY_PORT },
	{ "stanford-esrg/retina #98: fragments on one core", "eth ip6 frag:1 udp", VARY_HOST },
	{ "Gatekeeper #396: IPIP on one lcore", "eth ip4 ip4 tcp", VARY_PORT },
	{ "katran #111, #112: IPIP and RSS", "eth ip4 ip4 udp", VARY_PORT },
	{ "the same for IPv6 in IPv6", "eth ip6 ip6 tcp", VARY_PORT },
	{ "sonic-platform-vpp #234, #235: NVGRE collapses on a path",
		"eth ip4 gre:0x2000 eth ip4 tcp", VARY_PORT },
	{ "sonic-platform-vpp #234, #235: VXLAN collapses on a path",
		"eth ip4 udp vxlan eth ip4 tcp", VARY_PORT },
	{ "bess #1037: GTP-U needs a NIC's DDP profile", "eth ip4 udp gtpu:0x34:255:1 ip4 tcp",
		VARY_PORT },
	{ "virtio-spec #151: a hash of the inner header", "eth ip6 udp geneve:4 eth ip6 udp",
		VARY_PORT },
	{ "csit #4030: all IPsec tunnels on one queue", "eth ip4 esp:%u", VARY_SPI },
	{ "csit #4030: authenticated as well", "eth ip6 ah:%u proto:89", VARY_SPI },
	{ "PF_RING #821: tunnels", "eth mpls cw eth vlan ip4 gre:0xb000 ip6 tcp", VARY_PORT },
	{ "PF_RING #414: fragments, here tunnelled", "eth ip4 udp vxlan eth ip4:0:0x2000 udp",
		VARY_HOST },
	{ "PF_RING #231: what is not IP", "eth llc:0xfe data:40", VARY_HOST },
	{ "PPPoE sessions, whose IP header RSS does not see", "eth vlan pppoe ppp ip4 tcp",
		VARY_PORT },
	{ "SRv6: a routing header before the flow", "eth ip6 route:7 ip4 tcp", VARY_PORT },
};

static uint16_t
bucket_of(const char *layers, struct packet_endpoint from, struct packet_endpoint to)
{
	struct weir_flow_config config = weir_flow_config_default();
	struct weir_meta meta = { 0 };
	struct packet packet;

	config.hash_key = (struct weir_hash_key) { { 1, 2 } };
	packet_build(&packet, layers, from, to);
	weir_flow_classify(&config, packet.bytes, packet.length, &meta);
	return meta.bucket;
}

/* The bucket of flow `i`, which both of its directions have. */
static uint16_t
flow_bucket(const struct complaint *complaint, uint32_t i)
{
	struct packet_endpoint from = FROM;
	struct packet_endpoint to = TO;
	char layers[128];

	from.port = (uint16_t)(from.port + (complaint->variation == VARY_PORT ? i : 0));
	to.host += complaint->variation == VARY_HOST ? i : 0;
	snprintf(layers, sizeof(layers), "%s", complaint->layers);
	if (complaint->variation == VARY_SPI)
		snprintf(layers, sizeof(layers), complaint->layers, 0x1000 + i);
	const uint16_t forth = bucket_of(layers, from, to);
	const uint16_t back = bucket_of(layers, to, from);

	if (forth != back)
		fail_msg("%s: two buckets for two directions", complaint->name);
	return forth;
}

static void
each_complaint_is_spread_and_symmetric(void **state)
{
	bool *used = calloc(WEIR_BUCKETS, sizeof(*used));

	(void)state;
	assert_non_null(used);
	for (size_t c = 0; c < ARRAY_LENGTH(complaints); c++) {
		uint32_t n = 0;

		memset(used, 0, WEIR_BUCKETS * sizeof(*used));
		for (uint32_t i = 0; i < N_FLOWS; i++) {
			bool *bucket = &used[flow_bucket(&complaints[c], i)];

			n += !*bucket;
			*bucket = true;
		}
		if (n < N_BUCKETS_MIN)
			fail_msg("%s: %u flows in %u buckets", complaints[c].name, N_FLOWS, n);
	}
	free(used);
}

/* PF_RING #844: one connection over several taps, tagged, labelled or tunnelled otherwise. */
static void
directions_meet_whatever_carries_them(void **state)
{
	static const char *const ways[] = { "eth ip4 tcp", "eth vlan ip4 tcp",
		"eth mpls mpls ip4 tcp", "eth pppoe ppp ip4 tcp", "eth ip4 gre ip4 tcp",
		"eth ip6 ip4 tcp", "eth ip4 udp vxlan eth vlan ip4 tcp",
		"eth ip4 gre:0x1000 erspan2 eth ip4 tcp", "eth ip4 udp gtpu ip4 tcp" };
	const uint16_t bucket = bucket_of(ways[0], FROM, TO);

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(ways); i++)
		assert_int_equal(bucket_of(ways[i], TO, FROM), bucket);
}

/* Whoever keeps state per connection wants its errors where the state is. */
static void
errors_follow_their_flow_through_tunnels(void **state)
{
	const uint16_t bucket = bucket_of("eth ip4 udp", FROM, TO);

	(void)state;
	assert_int_equal(bucket_of("eth ip4 icmp:3 ip4 udp", TO, FROM), bucket);
	assert_int_equal(bucket_of("eth ip4 udp vxlan eth ip4 icmp:11 ip4 udp", TO, FROM), bucket);
	assert_int_equal(bucket_of("eth mpls ip4 gre ip4 icmp:3 ip4 udp", TO, FROM), bucket);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_complaint_is_spread_and_symmetric),
		cmocka_unit_test(directions_meet_whatever_carries_them),
		cmocka_unit_test(errors_follow_their_flow_through_tunnels),
	};

	return cmocka_run_group_tests_name("flow_peers", tests, NULL, NULL);
}
