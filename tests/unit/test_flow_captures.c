/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flow parser over real traffic, every packet of every Ethernet capture in the captures folder:
 * cut at each byte, with single bytes changed, and golden keys of some. Frames end at an unreadable
 * page. Skips without the folder.
 */
#include "test.h"

#include <inttypes.h>

#include <weir/flow.h>

#include "capture_files.h"
#include "flow_check.h"
#include "guard_page.h"

/* Long enough for every header that is parsed; captured packets are cut there. */
#define PREFIX_BYTES_MAX 512

/* Changed bytes per packet: at random places, and of random value. */
#define MUTATIONS 64

/* What is counted and shared over the captures. */
struct census {
	struct weir_flow_config config;
	struct guard_page guard;
	struct test_random random;
	uint64_t packets;
	uint64_t parsed;
	uint64_t moved; /* keys that a mutation changed */
	uint64_t by_reason[WEIR_FLOW_REASON_COUNT];
};

/* A packet of a capture, and the flow that it must have. */
struct golden {
	const char *file;
	uint32_t number;
	enum weir_flow_reason reason;
	const char *key;
};

/* Addresses, protocols and ports as tshark 4.0.17 shows them. */
static const struct golden goldens[] = {
	{ "tcpdump/08-sunrise-sunset-aes.pcap", 1, WEIR_FLOW_SPI,
		"192.1.2.23 <> 192.1.2.45 esp spi 0xd1234567" },
	{ "tcpdump/dccp_partial_csum_v6_longer.pcap", 1, WEIR_FLOW_PORTS,
		"[3ffe::1]:55024 <> [3ffe::2]:5001 dccp" },
	{ "tcpdump/erspan-type-iii-ft-7.pcap", 1, WEIR_FLOW_INNER_NOT_IP,
		"192.168.1.172 <> 192.168.1.249 gre" },
	{ "tcpdump/gso-ipv4-geneve-ipv4.pcap", 1, WEIR_FLOW_PORTS,
		"192.168.1.1:37633 <> 192.168.1.2:40769 tcp" },
	{ "tcpdump/gso-ipv6-vxlan-ipv4.pcap", 1, WEIR_FLOW_PORTS,
		"192.168.1.1:42261 <> 192.168.1.2:34737 tcp" },
	{ "tcpdump/nsh-over-vxlan-gpe.pcap", 1, WEIR_FLOW_PORTS,
		"192.168.0.1:10000 <> 192.168.0.2:20000 udp" },
	{ "tcpdump/nsh.pcap", 1, WEIR_FLOW_PORTS, "10.0.8.3:52229 <> 10.13.13.13:8000 udp" },
	{ "tcpdump/pb_nhrp_1.pcap", 1, WEIR_FLOW_NO_PORTS,
		"62.41.66.144 <> 191.215.63.14 protocol 54" },
	{ "tcpdump/pppoes.pcap", 1, WEIR_FLOW_NOT_IP, "00:02:18:03:00:07 <> 00:04:23:a9:5d:8e" },
	{ "zeek/erspan.pcap", 1, WEIR_FLOW_PORTS, "192.168.69.2:1 <> 192.168.69.10:1 icmp" },
	{ "zeek/erspan.pcap", 5, WEIR_FLOW_INNER_NOT_IP, "10.200.0.3 <> 10.200.0.224 gre" },
	{ "zeek/erspanI.pcap", 1, WEIR_FLOW_PORTS, "172.16.133.2:1226 <> 172.217.11.78:1226 icmp" },
	{ "zeek/erspanII.pcap", 1, WEIR_FLOW_PORTS, "23.0.0.2:22 <> 23.0.0.3:22 icmp" },
	{ "zeek/http-qinq-0.pcap", 1, WEIR_FLOW_PORTS,
		"141.142.228.5:59856 <> 192.150.187.43:80 tcp" },
	{ "zeek/icmp_icmp-timeexceeded.pcap", 1, WEIR_FLOW_PORTS,
		"10.0.0.1:13000 <> 10.0.0.2:30000 udp" },
	{ "zeek/icmp_icmp6-destunreach-ip6ext-udp.pcap", 1, WEIR_FLOW_PORTS,
		"[fe80::beef]:30000 <> [fe80::dead]:13000 udp" },
	{ "zeek/icmp_icmp6-toobig.pcap", 1, WEIR_FLOW_PORTS,
		"[fe80::beef]:30000 <> [fe80::dead]:13000 udp" },
	{ "zeek/ipv4_fragmented-1.pcap", 1, WEIR_FLOW_FRAGMENT,
		"164.1.123.61 <> 164.1.123.163 udp" },
	{ "zeek/ipv4_fragmented-1.pcap", 2, WEIR_FLOW_FRAGMENT,
		"164.1.123.61 <> 164.1.123.163 udp" },
	{ "zeek/ipv6-fragmented-dns.pcap", 1, WEIR_FLOW_PORTS,
		"[2001:470:1f11:81f:d138:5f55:6d4:1fe2]:51850 <> [2607:f740:b::f93]:53 udp" },
	{ "zeek/ipv6-fragmented-dns.pcap", 4, WEIR_FLOW_FRAGMENT,
		"2001:470:1f11:81f:d138:5f55:6d4:1fe2 <> 2607:f740:b::f93 fragment" },
	{ "zeek/ipv6-hbh-routing0.pcap", 1, WEIR_FLOW_PORTS,
		"[2001:4f8:4:7:2e0:81ff:fe52:9a6b]:53 <> [2001:4f8:4:7:2e0:81ff:fe52:ffff]:53 "
		"udp" },
	{ "zeek/mobile-ipv6_ipv6-mobile-hoa.pcap", 1, WEIR_FLOW_PORTS,
		"[2001:4f8:4:7:2e0:81ff:fe52:9a6b]:13000 <> "
		"[2001:4f8:4:7:2e0:81ff:fe52:ffff]:30000 udp" },
	{ "zeek/mobile-ipv6_mip6_back.pcap", 1, WEIR_FLOW_NO_PORTS,
		"2001:4f8:4:7:2e0:81ff:fe52:9a6b <> 2001:4f8:4:7:2e0:81ff:fe52:ffff "
		"no-next-header" },
	{ "zeek/trunc_mpls-6in6-6in6-4in6-trunc.pcap", 1, WEIR_FLOW_TRUNCATED_INNER,
		"ff00:0:6929::6904:ff:3bbf <> ffff:0:69:2900:0:69:400:ff3b ipv4" },
	{ "zeek/tunnels_4in6.pcap", 1, WEIR_FLOW_PORTS,
		"70.55.213.211:31337 <> 192.88.99.1:80 tcp" },
	{ "zeek/tunnels_6in4.pcap", 1, WEIR_FLOW_PORTS,
		"[cafe::babe]:13000 <> [dead::beef]:30000 udp" },
	{ "zeek/tunnels_6in6in6.pcap", 1, WEIR_FLOW_PORTS,
		"[cafe::babe]:13000 <> [dead::beef]:30000 udp" },
	{ "zeek/tunnels_Teredo.pcap", 6, WEIR_FLOW_NO_PORTS,
		"fe80::8000:ffff:ffff:fffd <> ff02::2 icmpv6" },
	{ "zeek/tunnels_geneve-arp.pcap", 1, WEIR_FLOW_INNER_NOT_IP,
		"10.0.0.1:12345 <> 10.0.0.2:6081 udp" },
	{ "zeek/tunnels_geneve-ipv6.pcap", 1, WEIR_FLOW_PORTS,
		"[fd00::1]:40000 <> [fd00::2]:40001 udp" },
	{ "zeek/tunnels_geneve-many-options.pcap", 1, WEIR_FLOW_PORTS,
		"10.0.0.226:39088 <> 95.217.228.176:80 tcp" },
	{ "zeek/tunnels_geneve.pcap", 1, WEIR_FLOW_PORTS, "30.0.0.1:16816 <> 30.0.0.2:16816 icmp" },
	{ "zeek/tunnels_gre-erspan3-dot1q.pcap", 1, WEIR_FLOW_PORTS,
		"172.31.10.2:43 <> 172.31.10.31:43 icmp" },
	{ "zeek/tunnels_gre-sample.pcap", 1, WEIR_FLOW_PORTS,
		"66.59.111.190:52072 <> 172.28.2.3:52072 icmp" },
	{ "zeek/tunnels_gre-sample.pcap", 9, WEIR_FLOW_PORTS,
		"18.26.4.105:123 <> 66.59.111.190:123 udp" },
	{ "zeek/tunnels_gre-within-gre.pcap", 1, WEIR_FLOW_PORTS,
		"10.10.25.1:23 <> 192.168.1.2:23 icmp" },
	{ "zeek/tunnels_gre-within-gre.pcap", 4, WEIR_FLOW_PORTS,
		"3.3.3.1:520 <> 224.0.0.9:520 udp" },
	{ "zeek/tunnels_gtp_gtp10_not_0xff.pcap", 1, WEIR_FLOW_UNKNOWN_TUNNEL,
		"247.56.43.90:2152 <> 247.56.43.248:2152 udp" },
	{ "zeek/tunnels_gtp_gtp4_udp_2152_inside.pcap", 1, WEIR_FLOW_UNKNOWN_TUNNEL,
		"10.131.138.69:2152 <> 74.125.216.149:2152 udp" },
	{ "zeek/tunnels_gtp_gtp7_ipv6.pcap", 1, WEIR_FLOW_PORTS,
		"[fe80::224c:4fff:fe43:414c]:1234 <> [ff02::1:3]:5355 udp" },
	{ "zeek/tunnels_gtp_gtp7_ipv6.pcap", 2, WEIR_FLOW_NO_PORTS,
		"fe80::224c:4fff:fe43:414c <> ff02::2 icmpv6" },
	{ "zeek/tunnels_vxlan-encapsulated-http.pcap", 1, WEIR_FLOW_PORTS,
		"54.86.237.188:80 <> 172.16.11.201:40354 tcp" },
	{ "zeek/tunnels_vxlan-triple-v2.pcap", 1, WEIR_FLOW_PORTS, "4.4.4.4:53 <> 4.4.4.9:53 udp" },
};

static uint32_t
prefix_length(const struct capture_packet *packet)
{
	return packet->header->caplen < PREFIX_BYTES_MAX ? packet->header->caplen
							 : PREFIX_BYTES_MAX;
}

/* The key of a frame by parse, after classify and trace were found to agree with it. */
static struct weir_flow_key
parse_all_ways(struct census *census, const uint8_t *data, uint32_t length)
{
	const uint8_t *frame = guard_page_copy(&census->guard, data, length);
	const struct weir_flow_key key = parse_by(&census->config, frame, length);
	struct weir_flow_trace trace;
	struct weir_meta meta = { 0 };

	assert_well_formed(&key);
	weir_flow_classify(&census->config, frame, length, &meta);
	assert_int_equal(meta.flow_reason, key.reason);
	assert_true(meta.hash == weir_flow_hash(&census->config.hash_key, &key));
	weir_flow_trace(&census->config, frame, length, &trace);
	assert_memory_equal(&trace.key, &key, sizeof(key));
	assert_in_range(trace.n_layers, 1, WEIR_FLOW_TRACE_LAYERS_MAX);
	census->parsed++;
	return key;
}

/* The flow of a frame whose two MAC addresses have changed places is the same. */
static void
assert_mac_order_does_not_matter(struct census *census, const uint8_t *data, uint32_t length,
	const struct weir_flow_key *key)
{
	uint8_t swapped[PREFIX_BYTES_MAX];

	memcpy(swapped, data, length);
	memcpy(swapped, data + 6, 6);
	memcpy(swapped + 6, data, 6);
	const struct weir_flow_key other = parse_all_ways(census, swapped, length);

	assert_same_flow(&other, key);
}

static void
packet_is_cut(void *context, const struct capture_packet *packet)
{
	struct census *census = context;
	const uint32_t length = prefix_length(packet);
	struct weir_flow_key key = { 0 };

	for (uint32_t n = 0; n <= length; n++)
		key = parse_all_ways(census, packet->data, n);
	if (length >= 12)
		assert_mac_order_does_not_matter(census, packet->data, length, &key);
	census->packets++;
	census->by_reason[key.reason]++;
}

static void
packet_is_changed(void *context, const struct capture_packet *packet)
{
	struct census *census = context;
	const uint32_t length = prefix_length(packet);
	uint8_t frame[PREFIX_BYTES_MAX];

	if (length == 0)
		return;
	memcpy(frame, packet->data, length);
	const struct weir_flow_key original = parse_all_ways(census, frame, length);

	for (unsigned int i = 0; i < MUTATIONS; i++) {
		const uint32_t at = test_random_below(&census->random, length);
		const uint8_t kept = frame[at];

		frame[at] = (uint8_t)test_random_next(&census->random);
		const struct weir_flow_key key = parse_all_ways(census, frame, length);

		census->moved += !same_flow(&key, &original);
		frame[at] = kept;
	}
	census->packets++;
}

/* Which golden packets there were. */
struct golden_census {
	bool seen[ARRAY_LENGTH(goldens)];
};

static void
packet_is_golden(void *context, const struct capture_packet *packet)
{
	struct golden_census *census = context;

	for (size_t i = 0; i < ARRAY_LENGTH(goldens); i++) {
		if (goldens[i].number != packet->number ||
			strcmp(goldens[i].file, packet->file) != 0)
			continue;
		const struct weir_flow_key key = parse(packet->data, packet->header->caplen);

		assert_key(packet->file, &key, goldens[i].reason, goldens[i].key);
		census->seen[i] = true;
	}
}

static void
captures_or_skip(char *folder, size_t bytes)
{
	if (captures_find(folder, bytes))
		return;
	print_message("skipped: no captures folder at %s (WEIR_CAPTURES names another)\n", folder);
	skip();
}

static void
census_start(struct census *census)
{
	*census = (struct census) { .config = weir_flow_config_default() };
	census->config.hash_key = (struct weir_hash_key) { { 5, 6 } };
	guard_page_create(&census->guard, PREFIX_BYTES_MAX);
}

static void
every_prefix_of_every_captured_packet_is_parsed(void **state)
{
	struct census census;
	char folder[4096];

	(void)state;
	captures_or_skip(folder, sizeof(folder));
	census_start(&census);
	assert_true(captures_visit(folder, packet_is_cut, &census) > 0);
	guard_page_destroy(&census.guard);
	print_message("%" PRIu64 " packets, %" PRIu64 " prefixes\n", census.packets, census.parsed);
	for (unsigned int i = 0; i < WEIR_FLOW_REASON_COUNT; i++)
		print_message("  %s %" PRIu64 "\n", weir_flow_reason_name(i), census.by_reason[i]);
	/* A folder of captures without a single connection means that the parser lost its way. */
	assert_true(census.by_reason[WEIR_FLOW_PORTS] > 0);
}

static void
every_captured_packet_is_parsed_with_bytes_changed(void **state)
{
	struct census census;
	char folder[4096];

	(void)state;
	captures_or_skip(folder, sizeof(folder));
	census_start(&census);
	census.random = test_random_start("every_captured_packet_is_parsed_with_bytes_changed");
	assert_true(captures_visit(folder, packet_is_changed, &census) > 0);
	guard_page_destroy(&census.guard);
	print_message("%" PRIu64 " changed packets, %" PRIu64 " of them in another flow\n",
		census.parsed - census.packets, census.moved);
	assert_true(census.moved > 0);
}

static void
captured_packets_have_the_flows_that_a_dissector_shows(void **state)
{
	struct golden_census census = { 0 };
	char folder[4096];

	(void)state;
	captures_or_skip(folder, sizeof(folder));
	assert_true(captures_visit(folder, packet_is_golden, &census) > 0);
	for (size_t i = 0; i < ARRAY_LENGTH(goldens); i++)
		if (!census.seen[i])
			fail_msg("%s has no packet %u", goldens[i].file, goldens[i].number);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_prefix_of_every_captured_packet_is_parsed),
		cmocka_unit_test(every_captured_packet_is_parsed_with_bytes_changed),
		cmocka_unit_test(captured_packets_have_the_flows_that_a_dissector_shows),
	};

	return cmocka_run_group_tests_name("flow_captures", tests, NULL, NULL);
}
