/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the flow parser makes of frames whose headers lie or are cut: exactly where each layer can
 * be read from, what is padding, what is malformed; fragments, echoes and ICMP errors.
 */
#include "test.h"

#include <weir/flow.h>

#include "flow_check.h"
#include "guard_page.h"
#include "packet_builder.h"

/* A plain frame, and how many bytes of its transport header tell the ports (0: none are needed). */
struct plain {
	const char *layers;
	uint32_t port_bytes;
	enum weir_flow_reason reason;
};

static const struct plain plains[] = {
	{ "eth ip4 udp", 4, WEIR_FLOW_PORTS },
	{ "eth vlan ip4:10 tcp", 4, WEIR_FLOW_PORTS },
	{ "eth svlan vlan ip6 sctp", 4, WEIR_FLOW_PORTS },
	{ "eth ip4 icmp:8", 6, WEIR_FLOW_PORTS },
	{ "eth ip6 icmp6:129", 6, WEIR_FLOW_PORTS },
	{ "eth ip4 icmp:9", 1, WEIR_FLOW_NO_PORTS },
	{ "eth ip6 icmp6:135", 1, WEIR_FLOW_NO_PORTS },
	{ "eth ip4 esp", 4, WEIR_FLOW_SPI },
	{ "eth ip4:3:0x2000 udp", 0, WEIR_FLOW_FRAGMENT },
	{ "eth ip6 frag:1 data", 8, WEIR_FLOW_FRAGMENT },
	{ "eth ip6 proto:59", 0, WEIR_FLOW_NO_PORTS },
};

/* What must be found of a plain frame when only `length` bytes are there. */
static enum weir_flow_reason
expected_reason(const struct plain *plain, const struct packet *packet, uint32_t length)
{
	const bool is_v6 = strstr(plain->layers, "ip6") != NULL;
	/* Ethernet is first; the IP header is the last layer but one, or but two before data. */
	const uint32_t ip =
		strstr(plain->layers, "data") ? packet->n_layers - 3 : packet->n_layers - 2;

	if (length < 14)
		return WEIR_FLOW_TRUNCATED_MAC;
	if (length < packet->offset[ip])
		return WEIR_FLOW_NOT_IP;
	if (length < packet->offset[ip] + (is_v6 ? 40 : 20))
		return WEIR_FLOW_TRUNCATED_IP;
	if (length < packet->offset[ip + 1] + plain->port_bytes && plain->port_bytes)
		return WEIR_FLOW_TRUNCATED_PORTS;
	return plain->reason;
}

static void
each_layer_is_read_from_the_first_byte_that_allows_it(void **state)
{
	struct guard_page guard;

	(void)state;
	guard_page_create(&guard, PACKET_BYTES_MAX);
	for (size_t i = 0; i < ARRAY_LENGTH(plains); i++) {
		struct packet packet;

		packet_build(&packet, plains[i].layers, ECHO_FROM, ECHO_TO);
		for (uint32_t length = 0; length <= packet.length; length++) {
			const struct weir_flow_key key =
				parse(guard_page_copy(&guard, packet.bytes, length), length);

			if (key.reason != expected_reason(&plains[i], &packet, length))
				fail_msg("%s, %u bytes: %s", plains[i].layers, length,
					weir_flow_reason_name(key.reason));
		}
	}
	guard_page_destroy(&guard);
}

static void
options_do_not_change_the_flow(void **state)
{
	const struct weir_flow_key plain = parse_layers("eth ip4 udp");

	(void)state;
	for (unsigned int words = 1; words <= 10; words++) {
		char layers[32];

		snprintf(layers, sizeof(layers), "eth ip4:%u udp", words);
		const struct weir_flow_key key = parse_layers(layers);

		assert_same_flow(&key, &plain);
	}
}

static void
extension_headers_are_looked_through_as_far_as_eight(void **state)
{
	const struct weir_flow_key plain = parse_layers("eth ip6 udp");
	const struct weir_flow_key eight =
		parse_layers("eth ip6 hbh dst route dst mob dst dst:32 dst udp");
	const struct weir_flow_key nine =
		parse_layers("eth ip6 hbh dst route dst mob dst dst dst dst udp");

	(void)state;
	assert_same_flow(&eight, &plain);
	assert_int_equal(nine.reason, WEIR_FLOW_NESTING_LIMIT);
	assert_false(same_flow(&nine, &plain));
}

/* The reader of a flow knows its fragments by nothing else than addresses and protocol. */
static void
fragments_of_one_datagram_meet(void **state)
{
	const struct weir_flow_key first = parse_layers("eth ip4:0:0x2000 udp");

	(void)state;
	for (uint16_t fragment = 1; fragment < PACKET_DONT_FRAGMENT; fragment++) {
		/* What lies where the ports would be is payload. */
		const struct packet_endpoint from = { FROM.host, fragment };
		char layers[32];

		snprintf(layers, sizeof(layers), "eth ip4:%u:%u udp", fragment % 3, fragment);
		const struct weir_flow_key key = parse_between(layers, from, TO);

		assert_same_flow(&key, &first);
		assert_int_equal(key.reason, WEIR_FLOW_FRAGMENT);
	}
}

static void
fragments_of_one_ipv6_datagram_meet_whatever_they_say_comes_next(void **state)
{
	const struct weir_flow_key first = parse_layers("eth ip6 hbh frag:1 udp");
	const struct weir_flow_key second = parse_layers("eth ip6 hbh frag:0x05a9 tcp");
	const struct weir_flow_key last = parse_layers("eth ip6 hbh frag:0x0b50 data");

	(void)state;
	assert_same_flow(&first, &second);
	assert_same_flow(&first, &last);
	assert_int_equal(first.reason, WEIR_FLOW_FRAGMENT);
}

static void
fragments_of_other_hosts_and_protocols_differ(void **state)
{
	const struct packet_endpoint other = { TO.host + 1, TO.port };
	const struct weir_flow_key fragment = parse_layers("eth ip4:0:100 udp");
	const struct weir_flow_key tcp = parse_layers("eth ip4:0:100 tcp");
	const struct weir_flow_key host = parse_between("eth ip4:0:100 udp", FROM, other);

	(void)state;
	assert_false(same_flow(&fragment, &tcp));
	assert_false(same_flow(&fragment, &host));
}

static void
queries_and_replies_meet_by_identifier(void **state)
{
	/* Request, reply. */
	static const char *const pairs[][2] = {
		{ "eth ip4 icmp:8", "eth ip4 icmp:0" },
		{ "eth ip4 icmp:13", "eth ip4 icmp:14" },
		{ "eth ip4 icmp:15", "eth ip4 icmp:16" },
		{ "eth ip4 icmp:17", "eth ip4 icmp:18" },
		{ "eth ip4 icmp:42", "eth ip4 icmp:43" },
		{ "eth ip6 icmp6:128", "eth ip6 icmp6:129" },
		{ "eth ip6 icmp6:160", "eth ip6 icmp6:161" },
	};
	const struct packet_endpoint other_from = { FROM.host, 78 };
	const struct packet_endpoint other_to = { TO.host, 78 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(pairs); i++) {
		const struct weir_flow_key request = parse_between(pairs[i][0], ECHO_FROM, ECHO_TO);
		const struct weir_flow_key reply = parse_between(pairs[i][1], ECHO_TO, ECHO_FROM);
		const struct weir_flow_key other = parse_between(pairs[i][0], other_from, other_to);

		assert_same_flow(&request, &reply);
		assert_int_equal(request.reason, WEIR_FLOW_PORTS);
		assert_false(same_flow(&request, &other));
	}
}

/* Most types have no identifier; a type is a byte, and the table of types has 64 bits. */
static void
types_without_identifier_or_quote_have_no_ports(void **state)
{
	static const uint8_t known[] = { 0, 3, 4, 5, 8, 11, 12, 13, 14, 15, 16, 17, 18, 42, 43 };
	unsigned int checked = 0;

	(void)state;
	for (unsigned int type = 0; type < 256; type++) {
		char layers[32];

		if (type < 64 && memchr(known, (int)type, sizeof(known)))
			continue;
		snprintf(layers, sizeof(layers), "eth ip4 icmp:%u", type);
		const struct weir_flow_key key = parse_layers(layers);

		assert_key(layers, &key, WEIR_FLOW_NO_PORTS, "10.1.2.3 <> 10.2.3.4 icmp");
		checked++;
	}
	assert_int_equal(checked, 256 - sizeof(known));
}

static void
an_ah_that_is_cut_goes_by_its_spi_as_soon_as_that_is_there(void **state)
{
	struct packet packet;

	(void)state;
	packet_build(&packet, "eth ip4 ah tcp", FROM, TO);
	for (uint32_t n = 0; n <= packet.length - packet.offset[2]; n++) {
		const enum weir_flow_reason reason =
			parse(packet.bytes, packet.offset[2] + n).reason;

		assert_int_equal(reason, n < 12	      ? WEIR_FLOW_TRUNCATED_PORTS
					 : n < 24 + 4 ? WEIR_FLOW_SPI
						      : WEIR_FLOW_PORTS);
	}
}

/* From whichever router an error comes: `quoted` goes the other way inside of it. */
static void
icmp_errors_meet_the_flow_that_they_report(void **state)
{
	static const unsigned int types[] = { 3, 4, 5, 11, 12 };
	static const char *const quoted[] = { "ip4 tcp", "ip4 udp", "ip4:3 sctp", "ip4 icmp:8",
		"ip4 esp", "ip4 ah proto:89", "ip4:0:0x2000 udp", "ip4 ip6 udp",
		"ip4 udp geneve:2 eth ip4 tcp" };
	unsigned int checked = 0;

	(void)state;
	for (size_t t = 0; t < ARRAY_LENGTH(types); t++) {
		for (size_t q = 0; q < ARRAY_LENGTH(quoted); q++) {
			char error[128];
			char plain[128];

			snprintf(error, sizeof(error), "eth ip4 icmp:%u %s", types[t], quoted[q]);
			snprintf(plain, sizeof(plain), "eth %s", quoted[q]);
			const struct weir_flow_key error_key =
				parse_between(error, ECHO_TO, ECHO_FROM);
			const struct weir_flow_key plain_key =
				parse_between(plain, ECHO_FROM, ECHO_TO);

			assert_same_flow(&error_key, &plain_key);
			assert_int_equal(error_key.reason, plain_key.reason);
			checked++;
		}
	}
	assert_int_equal(checked, 45);
}

static void
icmpv6_errors_meet_the_flow_that_they_report(void **state)
{
	(void)state;
	for (unsigned int type = 1; type <= 4; type++) {
		char error[64];

		snprintf(error, sizeof(error), "eth ip6 hbh icmp6:%u ip6 dst tcp", type);
		const struct weir_flow_key error_key = parse_between(error, TO, FROM);
		const struct weir_flow_key plain_key = parse_layers("eth ip6 tcp");

		assert_same_flow(&error_key, &plain_key);
	}
}

static void
an_error_without_a_whole_quote_goes_by_itself(void **state)
{
	struct packet packet;

	(void)state;
	packet_build(&packet, "eth ip4 icmp:3 ip4 udp", FROM, TO);
	/* The quoted header is the fourth layer. */
	for (uint32_t length = packet.offset[3]; length < packet.offset[3] + 20; length++) {
		const struct weir_flow_key key = parse(packet.bytes, length);

		assert_key("cut in the quote", &key, WEIR_FLOW_TRUNCATED_INNER,
			"10.17.2.3 <> 10.18.3.4 icmp");
	}
	for (uint32_t length = packet.offset[2]; length < packet.offset[3]; length++) {
		const enum weir_flow_reason reason = parse(packet.bytes, length).reason;

		assert_int_equal(reason, WEIR_FLOW_TRUNCATED_PORTS);
	}
}

static void
ports_behind_the_total_length_are_not_read(void **state)
{
	struct packet packet;

	(void)state;
	packet_build(&packet, "eth ip4 udp", FROM, TO);
	/* 20 bytes of header and no more: the rest is padding. */
	for (uint16_t total = 20; total < 24; total++) {
		packet_poke16(&packet, packet.offset[1] + 2, total);
		const struct weir_flow_key key = parse_packet(&packet);

		assert_int_equal(key.reason, WEIR_FLOW_TRUNCATED_PORTS);
		assert_int_equal(key.word[1], UINT64_C(17) << 32 | UINT64_C(4) << 40);
	}
	packet_poke16(&packet, packet.offset[1] + 2, 24);
	assert_int_equal(parse_packet(&packet).reason, WEIR_FLOW_PORTS);
}

static void
ports_behind_the_payload_length_are_not_read(void **state)
{
	struct packet packet;

	(void)state;
	packet_build(&packet, "eth ip6 udp", FROM, TO);
	for (uint16_t payload = 1; payload < 4; payload++) {
		packet_poke16(&packet, packet.offset[1] + 4, payload);
		assert_int_equal(parse_packet(&packet).reason, WEIR_FLOW_TRUNCATED_PORTS);
	}
	packet_poke16(&packet, packet.offset[1] + 4, 4);
	assert_int_equal(parse_packet(&packet).reason, WEIR_FLOW_PORTS);
}

/* Writes a length, which is right otherwise, and asserts that it does not change the flow. */
static void
assert_length_means_the_frame(const char *layers, uint32_t offset, uint16_t length)
{
	const struct weir_flow_key whole = parse_layers(layers);
	struct packet packet;

	packet_build(&packet, layers, FROM, TO);
	packet_poke16(&packet, packet.offset[1] + offset, length);
	const struct weir_flow_key key = parse_packet(&packet);

	assert_same_flow(&key, &whole);
	assert_int_equal(key.reason, WEIR_FLOW_PORTS);
}

static void
a_length_of_zero_or_beyond_the_frame_means_the_frame(void **state)
{
	(void)state;
	assert_length_means_the_frame("eth ip4 tcp", 2, 0);
	assert_length_means_the_frame("eth ip4 tcp", 2, 0xffff);
	assert_length_means_the_frame("eth ip6 tcp", 4, 0);
	assert_length_means_the_frame("eth ip6 tcp", 4, 0xffff);
}

/* Writes one byte of the IP header and asserts that the frame falls to its MAC addresses. */
static void
assert_malformed(const char *layers, uint32_t offset, uint8_t value)
{
	const struct weir_flow_key macs = parse_layers("eth:0x0806 data");
	struct packet packet;

	packet_build(&packet, layers, FROM, TO);
	packet.bytes[packet.offset[1] + offset] = value;
	const struct weir_flow_key key = parse_packet(&packet);

	assert_int_equal(key.reason, WEIR_FLOW_TRUNCATED_IP);
	assert_same_flow(&key, &macs);
}

static void
malformed_ip_headers_fall_to_the_macs(void **state)
{
	(void)state;
	for (unsigned int nibble = 0; nibble < 16; nibble++) {
		if (nibble != 4)
			assert_malformed("eth ip4 udp", 0, (uint8_t)(nibble << 4 | 5));
		if (nibble != 6)
			assert_malformed("eth ip6 udp", 0, (uint8_t)(nibble << 4));
		if (nibble < 5)
			assert_malformed("eth ip4 udp", 0, (uint8_t)(0x40 | nibble));
	}
	/* Total length: 28 bytes say so, 15 words of header or 19 bytes in all can't be. */
	assert_malformed("eth ip4 udp", 0, 0x4f);
	assert_malformed("eth ip4 udp", 3, 19);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_layer_is_read_from_the_first_byte_that_allows_it),
		cmocka_unit_test(options_do_not_change_the_flow),
		cmocka_unit_test(extension_headers_are_looked_through_as_far_as_eight),
		cmocka_unit_test(fragments_of_one_datagram_meet),
		cmocka_unit_test(fragments_of_one_ipv6_datagram_meet_whatever_they_say_comes_next),
		cmocka_unit_test(fragments_of_other_hosts_and_protocols_differ),
		cmocka_unit_test(queries_and_replies_meet_by_identifier),
		cmocka_unit_test(types_without_identifier_or_quote_have_no_ports),
		cmocka_unit_test(an_ah_that_is_cut_goes_by_its_spi_as_soon_as_that_is_there),
		cmocka_unit_test(icmp_errors_meet_the_flow_that_they_report),
		cmocka_unit_test(icmpv6_errors_meet_the_flow_that_they_report),
		cmocka_unit_test(an_error_without_a_whole_quote_goes_by_itself),
		cmocka_unit_test(ports_behind_the_total_length_are_not_read),
		cmocka_unit_test(ports_behind_the_payload_length_are_not_read),
		cmocka_unit_test(a_length_of_zero_or_beyond_the_frame_means_the_frame),
		cmocka_unit_test(malformed_ip_headers_fall_to_the_macs),
	};

	return cmocka_run_group_tests_name("flow_parse", tests, NULL, NULL);
}
