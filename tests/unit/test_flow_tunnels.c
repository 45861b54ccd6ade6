/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How tunnels are known and how far they are looked into: depth, nesting limit, UDP ports, every
 * combination of flags, MPLS payloads that must be guessed, and packets that only look like
 * tunnels.
 */
#include "test.h"

#include <weir/flow.h>

#include "flow_check.h"
#include "packet_builder.h"

/* A tunnel around a TCP packet: what its flow is by the outer packet. */
struct tunnel {
	const char *layers;
	enum weir_flow_reason outer_reason;
	const char *outer_key;
};

#define OUTER_V4(protocol) "10.17.2.3 <> 10.18.3.4 " protocol
#define OUTER_V6(protocol) "2001:db8:0:11::11:203 <> 2001:db8:0:12::12:304 " protocol
#define OUTER_UDP(port) "10.17.2.3:" port " <> 10.18.3.4:50152 udp"

static const struct tunnel tunnels[] = {
	{ "eth ip4 ip4 tcp", WEIR_FLOW_NO_PORTS, OUTER_V4("ipv4") },
	{ "eth ip4 ip6 tcp", WEIR_FLOW_NO_PORTS, OUTER_V4("ipv6") },
	{ "eth ip6 ip4 tcp", WEIR_FLOW_NO_PORTS, OUTER_V6("ipv4") },
	{ "eth ip6 dst ip6 tcp", WEIR_FLOW_NO_PORTS, OUTER_V6("ipv6") },
	{ "eth ip4 mpls ip4 tcp", WEIR_FLOW_NO_PORTS, OUTER_V4("mpls") },
	{ "eth ip6 eth ip4 tcp", WEIR_FLOW_NO_PORTS, OUTER_V6("ethernet") },
	{ "eth ip4 gre ip4 tcp", WEIR_FLOW_NO_PORTS, OUTER_V4("gre") },
	{ "eth ip4 gre:0x3001 ppp ip4 tcp", WEIR_FLOW_NO_PORTS, OUTER_V4("gre") },
	{ "eth ip4 gre:0x1000 erspan2 eth ip4 tcp", WEIR_FLOW_NO_PORTS, OUTER_V4("gre") },
	{ "eth mpls ip4 gre:0x1000 erspan3 eth ip4 tcp", WEIR_FLOW_NO_PORTS, OUTER_V4("gre") },
	{ "eth ip4 udp vxlan eth ip4 tcp", WEIR_FLOW_PORTS, OUTER_UDP("4789") },
	{ "eth vlan ip4 udp gpe ip4 tcp", WEIR_FLOW_PORTS, OUTER_UDP("4790") },
	{ "eth ip4 udp geneve:1 eth ip6 tcp", WEIR_FLOW_PORTS, OUTER_UDP("6081") },
	{ "eth pppoe ppp ip4 udp gtpu ip4 tcp", WEIR_FLOW_PORTS, OUTER_UDP("2152") },
	{ "eth ip4 udp teredo ip6 tcp", WEIR_FLOW_PORTS, OUTER_UDP("3544") },
	{ "eth ip4 ah ip4 tcp", WEIR_FLOW_SPI, OUTER_V4("ipv4 spi 0x11223344") },
	{ "eth ip4 ah udp vxlan eth ip4 tcp", WEIR_FLOW_PORTS, OUTER_UDP("4789") },
};

static void
outer_depth_looks_into_no_tunnel(void **state)
{
	struct weir_flow_config config = weir_flow_config_default();

	(void)state;
	config.depth = WEIR_FLOW_OUTER;
	for (size_t i = 0; i < ARRAY_LENGTH(tunnels); i++) {
		const struct weir_flow_key key = parse_layers_by(&config, tunnels[i].layers);

		assert_key(tunnels[i].layers, &key, tunnels[i].outer_reason, tunnels[i].outer_key);
	}
}

static void
outer_depth_needs_no_more_than_the_ports(void **state)
{
	struct weir_flow_config config = weir_flow_config_default();
	struct packet packet;

	(void)state;
	config.depth = WEIR_FLOW_OUTER;
	packet_build(&packet, "eth ip4 udp vxlan eth ip4 tcp", FROM, TO);
	for (uint32_t length = packet.offset[2] + 4; length <= packet.length; length++) {
		const struct weir_flow_key key = parse_by(&config, packet.bytes, length);

		assert_key("outer", &key, WEIR_FLOW_PORTS, OUTER_UDP("4789"));
	}
}

static void
outer_depth_still_follows_icmp_errors(void **state)
{
	struct weir_flow_config config = weir_flow_config_default();

	(void)state;
	config.depth = WEIR_FLOW_OUTER;
	const struct weir_flow_key key = parse_layers_by(&config, "eth ip4 icmp:3 ip4 tcp");

	assert_key("quote", &key, WEIR_FLOW_PORTS, "10.1.2.3:2000 <> 10.2.3.4:1000 tcp");
}

static void
each_tunnel_counts_against_the_nesting_limit(void **state)
{
	struct weir_flow_config config = weir_flow_config_default();

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(tunnels); i++) {
		config.nesting_max = 0;
		const struct weir_flow_key none = parse_layers_by(&config, tunnels[i].layers);

		assert_int_equal(none.reason, WEIR_FLOW_NESTING_LIMIT);
		config.nesting_max = 1;
		const struct weir_flow_key one = parse_layers_by(&config, tunnels[i].layers);

		assert_int_equal(one.reason, WEIR_FLOW_PORTS);
	}
}

/* IP in IP, n times. */
static struct weir_flow_key
parse_nested(uint32_t nesting_max, unsigned int n)
{
	struct weir_flow_config config = weir_flow_config_default();
	char layers[256] = "eth ip4";

	config.nesting_max = nesting_max;
	for (unsigned int i = 0; i < n; i++)
		strcat(layers, i % 2 ? " ip4" : " ip6");
	strcat(layers, " udp");
	return parse_layers_by(&config, layers);
}

static void
the_nesting_limit_is_exact(void **state)
{
	(void)state;
	for (uint32_t limit = 0; limit <= WEIR_FLOW_NESTING_MAX; limit++) {
		assert_int_equal(parse_nested(limit, limit).reason, WEIR_FLOW_PORTS);
		assert_int_equal(parse_nested(limit, limit + 1).reason, WEIR_FLOW_NESTING_LIMIT);
		assert_int_equal(parse_nested(limit, limit + 5).reason, WEIR_FLOW_NESTING_LIMIT);
	}
}

static void
a_tunnel_moves_with_its_port(void **state)
{
	static const struct {
		enum weir_flow_tunnel tunnel;
		const char *layers; /* with the port to be filled in */
	} moved[] = {
		{ WEIR_FLOW_VXLAN, "eth ip4 udp:%u vxlan eth ip4 tcp" },
		{ WEIR_FLOW_VXLAN_GPE, "eth ip4 udp:%u gpe ip4 tcp" },
		{ WEIR_FLOW_GENEVE, "eth ip4 udp:%u geneve eth ip4 tcp" },
		{ WEIR_FLOW_GTPU, "eth ip4 udp:%u gtpu ip4 tcp" },
		{ WEIR_FLOW_TEREDO, "eth ip4 udp:%u teredo ip6 tcp" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(moved); i++) {
		struct weir_flow_config config = weir_flow_config_default();
		const uint16_t port = config.tunnel_port[moved[i].tunnel];
		char old_layers[64];
		char new_layers[64];

		snprintf(old_layers, sizeof(old_layers), moved[i].layers, port);
		snprintf(new_layers, sizeof(new_layers), moved[i].layers, 8472);
		const struct weir_flow_key inner = parse_layers_by(&config, old_layers);
		const struct weir_flow_key unknown = parse_layers_by(&config, new_layers);

		config.tunnel_port[moved[i].tunnel] = 8472;
		const struct weir_flow_key found = parse_layers_by(&config, new_layers);
		const struct weir_flow_key left = parse_layers_by(&config, old_layers);

		assert_same_flow(&inner, &found);
		assert_false(same_flow(&unknown, &inner));
		assert_false(same_flow(&left, &inner));
		assert_int_equal(unknown.reason, WEIR_FLOW_PORTS);
	}
}

/* Zero is what "off" looks like, and a port number that a hostile packet may have. */
static void
port_zero_is_no_tunnel(void **state)
{
	struct weir_flow_config config = weir_flow_config_default();
	const struct packet_endpoint zero = { TO.host, 0 };
	struct packet packet;

	(void)state;
	memset(config.tunnel_port, 0, sizeof(config.tunnel_port));
	packet_build(&packet, "eth ip4 udp data:64", FROM, zero);
	assert_int_equal(parse_by(&config, packet.bytes, packet.length).reason, WEIR_FLOW_PORTS);
	packet_build(&packet, "eth ip4 udp data:64", zero, FROM);
	assert_int_equal(parse_by(&config, packet.bytes, packet.length).reason, WEIR_FLOW_PORTS);
	packet_build(&packet, "eth ip4 udp vxlan eth ip4 tcp", FROM, TO);
	const struct weir_flow_key off = parse_by(&config, packet.bytes, packet.length);

	assert_key("off", &off, WEIR_FLOW_PORTS, OUTER_UDP("4789"));
}

/* A client's own port may be a tunnel's: its server's answers are not tunnel packets. */
static void
only_teredo_is_known_by_the_senders_port(void **state)
{
	static const uint16_t ports[] = { 4789, 4790, 6081, 2152 };
	struct packet packet;

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(ports); i++) {
		const struct packet_endpoint from = { FROM.host, ports[i] };

		packet_build(&packet, "eth ip4 udp data:64", from, TO);
		assert_int_equal(parse_packet(&packet).reason, WEIR_FLOW_PORTS);
	}
	packet_build(&packet, "eth ip4 udp:40000 teredo ip6 tcp", FROM, TO);
	packet_poke16(&packet, packet.offset[2], 3544);
	const struct weir_flow_key key = parse_packet(&packet);
	const struct weir_flow_key inner = parse_layers("eth ip6 tcp");

	assert_same_flow(&key, &inner);
}

/* QUIC and RTP have first bytes of every kind: they must fill the datagram as IPv6 would. */
static void
what_does_not_fill_the_datagram_is_not_teredo(void **state)
{
	struct packet packet;

	(void)state;
	packet_build(&packet, "eth ip4 udp teredo ip6 udp data:20", FROM, TO);
	const uint16_t payload = 28;

	for (uint16_t claimed = 0; claimed < 100; claimed++) {
		packet_poke16(&packet, packet.offset[4] + 4, claimed);
		const enum weir_flow_reason reason = parse_packet(&packet).reason;

		assert_int_equal(
			reason, claimed == payload ? WEIR_FLOW_PORTS : WEIR_FLOW_UNKNOWN_TUNNEL);
	}
}

static void
every_combination_of_gre_flags_is_looked_through(void **state)
{
	const struct weir_flow_key v4 = parse_layers("eth ip4 tcp");
	const struct weir_flow_key v6 = parse_layers("eth ip6 udp");

	(void)state;
	/* Checksum, routing, key, sequence; strict route and recursion change nothing. */
	for (unsigned int flags = 0; flags < 256; flags++) {
		char layers[2][64];

		snprintf(layers[0], 64, "eth ip4 gre:0x%x ip4 tcp", flags << 8);
		snprintf(layers[1], 64, "eth ip6 gre:0x%x eth vlan ip6 udp", flags << 8);
		const struct weir_flow_key routed = parse_layers(layers[0]);
		const struct weir_flow_key bridged = parse_layers(layers[1]);

		assert_same_flow(&routed, &v4);
		assert_same_flow(&bridged, &v6);
	}
}

static void
gre_of_other_versions_goes_by_its_addresses(void **state)
{
	(void)state;
	for (unsigned int version = 2; version < 8; version++) {
		char layers[64];

		snprintf(layers, sizeof(layers), "eth ip4 gre:%u ip4 tcp", 0x3000 | version);
		const struct weir_flow_key key = parse_layers(layers);

		assert_key(layers, &key, WEIR_FLOW_UNKNOWN_TUNNEL, OUTER_V4("gre"));
	}
}

/* GRE with `n` source routes without information, the empty one, and TCP. */
static enum weir_flow_reason
parse_gre_routes(unsigned int n)
{
	struct packet packet;
	char layers[64];
	uint32_t at;

	snprintf(layers, sizeof(layers), "eth ip4 gre:0:0x0800 data:%u ip4 tcp", 4 + n * 4 + 4);
	packet_build(&packet, layers, FROM, TO);
	packet_poke16(&packet, packet.offset[2], 0x4000);
	/* Data stands for checksum and offset, then the routes: a family, two lengths of zero. */
	at = packet.offset[3] + 4;
	for (unsigned int i = 0; i <= n; i++, at += 4) {
		packet_poke16(&packet, at, i < n ? 0x0800 : 0);
		packet_poke16(&packet, at + 2, 0);
	}
	return parse_packet(&packet).reason;
}

static void
gre_routes_are_looked_through_as_far_as_eight(void **state)
{
	(void)state;
	for (unsigned int n = 0; n <= 8; n++)
		assert_int_equal(parse_gre_routes(n), WEIR_FLOW_PORTS);
	assert_int_equal(parse_gre_routes(9), WEIR_FLOW_NESTING_LIMIT);
	assert_int_equal(parse_gre_routes(200), WEIR_FLOW_NESTING_LIMIT);
}

static void
gtpu_extensions_of_length_zero_are_malformed(void **state)
{
	struct packet packet;

	(void)state;
	packet_build(&packet, "eth ip4 udp gtpu:0x34:255:1 ip4 tcp", FROM, TO);
	packet.bytes[packet.offset[3] + 12] = 0;
	assert_int_equal(parse_packet(&packet).reason, WEIR_FLOW_UNKNOWN_TUNNEL);
}

/* Bytes of the frame behind a tunnel's own end are padding. */
static void
tunnels_end_where_their_lengths_say(void **state)
{
	static const struct {
		const char *layers;
		uint32_t layer;
		uint32_t offset; /* of a 16-bit length */
		uint16_t length; /* without the innermost ports */
	} cut[] = {
		{ "eth ip4 udp gtpu ip4 tcp data", 3, 2, 20 },
		{ "eth ip4 udp vxlan eth ip4 tcp data", 2, 4, 8 + 8 + 14 + 20 },
		{ "eth pppoe ppp ip4 tcp data", 1, 4, 2 + 20 },
		{ "eth llc snap ip4 tcp data", 0, 12, 3 + 5 + 20 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(cut); i++) {
		struct packet packet;

		packet_build(&packet, cut[i].layers, FROM, TO);
		assert_int_equal(parse_packet(&packet).reason, WEIR_FLOW_PORTS);
		packet_poke16(&packet, packet.offset[cut[i].layer] + cut[i].offset, cut[i].length);
		assert_int_equal(parse_packet(&packet).reason, WEIR_FLOW_TRUNCATED_PORTS);
		packet_poke16(
			&packet, packet.offset[cut[i].layer] + cut[i].offset, cut[i].length + 4);
		assert_int_equal(parse_packet(&packet).reason, WEIR_FLOW_PORTS);
	}
}

/* A pseudowire's frame without control word may begin with any nibble: that of its destination. */
static void
ethernet_behind_labels_is_known_whatever_its_address(void **state)
{
	static const char *const inner[] = { "ip4 tcp", "ip6 udp data:40", "vlan ip4 tcp" };

	(void)state;
	for (unsigned int first = 0; first < 256; first++) {
		for (size_t i = 0; i < ARRAY_LENGTH(inner); i++) {
			char wire[64];
			char plain[64];
			struct packet packet;

			snprintf(wire, sizeof(wire), "eth mpls mpls eth %s", inner[i]);
			snprintf(plain, sizeof(plain), "eth %s", inner[i]);
			packet_build(&packet, wire, FROM, TO);
			packet.bytes[packet.offset[3]] = (uint8_t)first;
			const struct weir_flow_key key = parse_packet(&packet);
			const struct weir_flow_key expected = parse_layers(plain);

			/* 1 is a control channel, by RFC 5586: nobody could tell it apart. */
			if (first >> 4 == 1)
				assert_int_equal(key.reason, WEIR_FLOW_NOT_IP);
			/* The bytes that IPv6 has its length in are zero here: it always fits. */
			else if (first >> 4 != 6)
				assert_same_flow(&key, &expected);
		}
	}
}

/* The third to sixth byte are where IPv6 has its payload's length: most makers' are not small. */
static void
ethernet_that_begins_like_ipv6_is_told_by_its_length(void **state)
{
	struct packet packet;

	(void)state;
	packet_build(&packet, "eth mpls eth ip4 tcp", FROM, TO);
	packet.bytes[packet.offset[2]] = 0x60;
	packet_poke16(&packet, packet.offset[2] + 4, 0x1d2e);
	const struct weir_flow_key key = parse_packet(&packet);
	const struct weir_flow_key expected = parse_layers("eth ip4 tcp");

	assert_same_flow(&key, &expected);
}

static void
ip_behind_labels_stays_ip_where_an_address_reads_as_ethernet(void **state)
{
	struct packet packet;

	(void)state;
	packet_build(&packet, "eth mpls ip4 tcp", FROM, TO);
	/* The source 8.0.69.4: as Ethernet, type IPv4 and a header's first byte. */
	packet_poke16(&packet, packet.offset[2] + 12, 0x0800);
	packet_poke16(&packet, packet.offset[2] + 14, 0x4504);
	/* 10.2.3.4 is gone from the sum. */
	const uint32_t sum =
		0xffffu -
		(packet.bytes[packet.offset[2] + 10] << 8 | packet.bytes[packet.offset[2] + 11]) +
		2 * 0xffff - 0x0a02 - 0x0304 + 0x0800 + 0x4504;

	packet_poke16(&packet, packet.offset[2] + 10, (uint16_t) ~((sum & 0xffff) + (sum >> 16)));
	const struct weir_flow_key key = parse_packet(&packet);

	assert_key("8.0.69.4", &key, WEIR_FLOW_PORTS, "8.0.69.4:1000 <> 10.1.2.3:2000 tcp");
}

static void
labels_are_looked_through_as_far_as_sixteen(void **state)
{
	const struct weir_flow_key macs = parse_layers("eth:0x0806 data");
	const struct weir_flow_key flow = parse_layers("eth ip4 tcp");

	(void)state;
	for (unsigned int n = 1; n < 40; n++) {
		char layers[256] = "eth";

		for (unsigned int i = 0; i < n; i++)
			strcat(layers, " mpls");
		strcat(layers, " ip4 tcp");
		const struct weir_flow_key key = parse_layers(layers);

		assert_int_equal(key.reason, n <= 16 ? WEIR_FLOW_PORTS : WEIR_FLOW_NESTING_LIMIT);
		assert_same_flow(&key, n <= 16 ? &flow : &macs);
	}
}

static void
pseudowires_in_pseudowires_end_the_walk(void **state)
{
	char layers[256] = "eth";

	(void)state;
	for (unsigned int i = 0; i < 9; i++)
		strcat(layers, " mpls eth");
	strcat(layers, " ip4 tcp");
	assert_int_equal(parse_layers(layers).reason, WEIR_FLOW_NESTING_LIMIT);
}

static void
the_default_is_as_documented(void **state)
{
	static const struct {
		const char *name;
		uint16_t port;
	} registered[] = { { "vxlan", 4789 }, { "vxlan-gpe", 4790 }, { "geneve", 6081 },
		{ "gtpu", 2152 }, { "teredo", 3544 } };
	const struct weir_flow_config config = weir_flow_config_default();

	(void)state;
	assert_int_equal(config.depth, WEIR_FLOW_INNER);
	assert_int_equal(config.nesting_max, 4);
	assert_int_equal(config.hash_key.word[0] | config.hash_key.word[1], 0);
	assert_int_equal(ARRAY_LENGTH(registered), WEIR_FLOW_TUNNEL_COUNT);
	for (unsigned int i = 0; i < WEIR_FLOW_TUNNEL_COUNT; i++) {
		assert_string_equal(weir_flow_tunnel_name(i), registered[i].name);
		assert_int_equal(config.tunnel_port[i], registered[i].port);
	}
	assert_null(weir_flow_tunnel_name(WEIR_FLOW_TUNNEL_COUNT));
	assert_null(weir_flow_tunnel_name(UINT32_MAX));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(outer_depth_looks_into_no_tunnel),
		cmocka_unit_test(outer_depth_needs_no_more_than_the_ports),
		cmocka_unit_test(outer_depth_still_follows_icmp_errors),
		cmocka_unit_test(each_tunnel_counts_against_the_nesting_limit),
		cmocka_unit_test(the_nesting_limit_is_exact),
		cmocka_unit_test(a_tunnel_moves_with_its_port),
		cmocka_unit_test(port_zero_is_no_tunnel),
		cmocka_unit_test(only_teredo_is_known_by_the_senders_port),
		cmocka_unit_test(what_does_not_fill_the_datagram_is_not_teredo),
		cmocka_unit_test(every_combination_of_gre_flags_is_looked_through),
		cmocka_unit_test(gre_of_other_versions_goes_by_its_addresses),
		cmocka_unit_test(gre_routes_are_looked_through_as_far_as_eight),
		cmocka_unit_test(gtpu_extensions_of_length_zero_are_malformed),
		cmocka_unit_test(tunnels_end_where_their_lengths_say),
		cmocka_unit_test(ethernet_behind_labels_is_known_whatever_its_address),
		cmocka_unit_test(ethernet_that_begins_like_ipv6_is_told_by_its_length),
		cmocka_unit_test(ip_behind_labels_stays_ip_where_an_address_reads_as_ethernet),
		cmocka_unit_test(labels_are_looked_through_as_far_as_sixteen),
		cmocka_unit_test(pseudowires_in_pseudowires_end_the_walk),
		cmocka_unit_test(the_default_is_as_documented),
	};

	return cmocka_run_group_tests_name("flow_tunnels", tests, NULL, NULL);
}
