/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flow parser over hand-built frames of every layer combination, each cut at every byte, and
 * over frames whose headers lie. Frames end at an unreadable page where it matters.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <weir/flow.h>

#include "flow_check.h"
#include "guard_page.h"
#include "packet_builder.h"

/* One layer combination, and how its flow must be found when nothing is cut. */
struct combination {
	const char *name;
	struct packet_spec spec;
	enum weir_flow_reason reason;
};

static const struct combination combinations[] = {
	{ "ipv4 udp", { .ip_version = 4, .protocol = 17, ENDPOINTS }, WEIR_FLOW_PORTS },
	{ "ipv4 tcp", { .ip_version = 4, .protocol = 6, ENDPOINTS }, WEIR_FLOW_PORTS },
	{ "ipv4 sctp", { .ip_version = 4, .protocol = 132, ENDPOINTS }, WEIR_FLOW_PORTS },
	{ "ipv4 udp, don't fragment",
		{ .ip_version = 4, .protocol = 17, .fragment = PACKET_DONT_FRAGMENT, ENDPOINTS },
		WEIR_FLOW_PORTS },
	{ "ipv4 one option word, udp",
		{ .ip_version = 4, .option_words = 1, .protocol = 17, ENDPOINTS },
		WEIR_FLOW_PORTS },
	{ "ipv4 ten option words, tcp",
		{ .ip_version = 4, .option_words = 10, .protocol = 6, ENDPOINTS },
		WEIR_FLOW_PORTS },
	{ "ipv4 echo request", { .ip_version = 4, .protocol = 1, .icmp_type = 8, ECHO_ENDPOINTS },
		WEIR_FLOW_PORTS },
	{ "ipv4 echo reply", { .ip_version = 4, .protocol = 1, .icmp_type = 0, ECHO_ENDPOINTS },
		WEIR_FLOW_PORTS },
	{ "ipv4 icmp unreachable", { .ip_version = 4, .protocol = 1, .icmp_type = 3, ENDPOINTS },
		WEIR_FLOW_NO_PORTS },
	{ "ipv4 esp", { .ip_version = 4, .protocol = 50, ENDPOINTS }, WEIR_FLOW_NO_PORTS },
	{ "ipv4 first fragment",
		{ .ip_version = 4, .protocol = 17, .fragment = PACKET_MORE_FRAGMENTS, ENDPOINTS },
		WEIR_FLOW_FRAGMENT },
	{ "ipv4 middle fragment",
		{ .ip_version = 4,
			.protocol = 17,
			.fragment = PACKET_MORE_FRAGMENTS | 185,
			ENDPOINTS },
		WEIR_FLOW_FRAGMENT },
	{ "ipv4 last fragment, options",
		{ .ip_version = 4, .option_words = 2, .protocol = 17, .fragment = 8191, ENDPOINTS },
		WEIR_FLOW_FRAGMENT },
	{ "ipv6 udp", { .ip_version = 6, .protocol = 17, ENDPOINTS }, WEIR_FLOW_PORTS },
	{ "ipv6 tcp", { .ip_version = 6, .protocol = 6, ENDPOINTS }, WEIR_FLOW_PORTS },
	{ "ipv6 sctp", { .ip_version = 6, .protocol = 132, ENDPOINTS }, WEIR_FLOW_PORTS },
	{ "ipv6 echo request",
		{ .ip_version = 6, .protocol = 58, .icmp_type = 128, ECHO_ENDPOINTS },
		WEIR_FLOW_PORTS },
	{ "ipv6 echo reply", { .ip_version = 6, .protocol = 58, .icmp_type = 129, ECHO_ENDPOINTS },
		WEIR_FLOW_PORTS },
	{ "ipv6 neighbour solicitation",
		{ .ip_version = 6, .protocol = 58, .icmp_type = 135, ENDPOINTS },
		WEIR_FLOW_NO_PORTS },
	{ "ipv6 fragment", { .ip_version = 6, .protocol = 44, ENDPOINTS }, WEIR_FLOW_FRAGMENT },
	{ "ipv6 no next header", { .ip_version = 6, .protocol = 59, ENDPOINTS },
		WEIR_FLOW_NO_PORTS },
	{ "vlan, ipv4 udp", { .tags = { 0x8100 }, .ip_version = 4, .protocol = 17, ENDPOINTS },
		WEIR_FLOW_PORTS },
	{ "qinq, ipv6 tcp",
		{ .tags = { 0x88a8, 0x8100 }, .ip_version = 6, .protocol = 6, ENDPOINTS },
		WEIR_FLOW_PORTS },
	{ "old qinq, ipv4 options, udp",
		{ .tags = { 0x9100, 0x9100 },
			.ip_version = 4,
			.option_words = 3,
			.protocol = 17,
			ENDPOINTS },
		WEIR_FLOW_PORTS },
	{ "three tags, ipv4 first fragment",
		{ .tags = { 0x9100, 0x88a8, 0x8100 },
			.ip_version = 4,
			.protocol = 17,
			.fragment = PACKET_MORE_FRAGMENTS,
			ENDPOINTS },
		WEIR_FLOW_FRAGMENT },
	{ "vlan, ipv6 echo request",
		{ .tags = { 0x8100 },
			.ip_version = 6,
			.protocol = 58,
			.icmp_type = 128,
			ECHO_ENDPOINTS },
		WEIR_FLOW_PORTS },
	{ "arp", { .ethertype = 0x0806, ENDPOINTS }, WEIR_FLOW_NOT_IP },
	{ "vlan, arp", { .tags = { 0x8100 }, .ethertype = 0x0806, ENDPOINTS }, WEIR_FLOW_NOT_IP },
	{ "802.3 length", { .ethertype = 8, ENDPOINTS }, WEIR_FLOW_NOT_IP },
};
#define N_COMBINATIONS (sizeof(combinations) / sizeof(combinations[0]))

static void
each_combination_is_found_for_its_reason(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_COMBINATIONS; i++) {
		const struct weir_flow_key key = parse_spec(&combinations[i].spec);

		if (key.reason != combinations[i].reason)
			fail_msg("%s: %s, not %s", combinations[i].name,
				weir_flow_reason_name(key.reason),
				weir_flow_reason_name(combinations[i].reason));
		assert_well_formed(&key);
	}
}

static void
both_directions_are_one_flow(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_COMBINATIONS; i++) {
		const struct packet_spec back = packet_reverse(&combinations[i].spec);
		const struct weir_flow_key a = parse_spec(&combinations[i].spec);
		const struct weir_flow_key b = parse_spec(&back);

		assert_same_flow(&a, &b);
		assert_int_equal(a.reason, b.reason);
	}
}

static void
options_do_not_change_the_flow(void **state)
{
	struct packet_spec spec = { .ip_version = 4, .protocol = 17, ENDPOINTS };
	const struct weir_flow_key plain = parse_spec(&spec);

	(void)state;
	for (spec.option_words = 1; spec.option_words <= 10; spec.option_words++) {
		const struct weir_flow_key key = parse_spec(&spec);

		assert_same_flow(&key, &plain);
	}
}

static void
up_to_eight_tags_do_not_change_the_flow(void **state)
{
	static const uint16_t identifiers[] = { 0x8100, 0x88a8, 0x9100 };

	(void)state;
	for (unsigned int i = 0; i < 3 * 2; i++) {
		struct packet_spec spec = {
			.ip_version = i < 3 ? 4 : 6, .protocol = 17, ENDPOINTS
		};
		const struct weir_flow_key plain = parse_spec(&spec);

		for (unsigned int depth = 0; depth < 8; depth++) {
			spec.tags[depth] = identifiers[(i + depth) % 3];
			const struct weir_flow_key key = parse_spec(&spec);

			assert_same_flow(&key, &plain);
			assert_int_equal(key.reason, WEIR_FLOW_PORTS);
		}
	}
}

static void
a_ninth_tag_is_not_looked_through(void **state)
{
	struct packet_spec spec = { .ip_version = 4, .protocol = 17, ENDPOINTS };
	const struct packet_spec arp = { .ethertype = 0x0806, ENDPOINTS };

	(void)state;
	for (unsigned int depth = 0; depth < 9; depth++)
		spec.tags[depth] = 0x8100;
	const struct weir_flow_key key = parse_spec(&spec);
	const struct weir_flow_key macs = parse_spec(&arp);

	assert_int_equal(key.reason, WEIR_FLOW_NOT_IP);
	assert_same_flow(&key, &macs);
}

static void
fragments_of_one_datagram_meet(void **state)
{
	struct packet_spec spec = {
		.ip_version = 4, .protocol = 17, .fragment = PACKET_MORE_FRAGMENTS, ENDPOINTS
	};
	const struct weir_flow_key first = parse_spec(&spec);

	(void)state;
	for (uint16_t fragment = 1; fragment < PACKET_DONT_FRAGMENT; fragment++) {
		/* What lies where the ports would be is payload. */
		spec.from.port = fragment;
		spec.fragment = fragment;
		const struct weir_flow_key key = parse_spec(&spec);

		assert_same_flow(&key, &first);
		assert_int_equal(key.reason, WEIR_FLOW_FRAGMENT);
	}
}

static void
fragments_of_other_hosts_and_protocols_differ(void **state)
{
	struct packet_spec spec = { .ip_version = 4, .protocol = 17, .fragment = 100, ENDPOINTS };
	const struct weir_flow_key fragment = parse_spec(&spec);

	(void)state;
	spec.protocol = 6;
	const struct weir_flow_key tcp = parse_spec(&spec);

	assert_false(same_flow(&fragment, &tcp));
	spec.protocol = 17;
	spec.to.host++;
	const struct weir_flow_key host = parse_spec(&spec);

	assert_false(same_flow(&fragment, &host));
}

static void
echo_request_and_reply_meet_by_identifier(void **state)
{
	(void)state;
	for (unsigned int version = 4; version <= 6; version += 2) {
		struct packet_spec spec = { .ip_version = (uint8_t)version,
			.protocol = version == 4 ? 1 : 58,
			.icmp_type = version == 4 ? 8 : 128,
			ECHO_ENDPOINTS };
		struct packet_spec reply = packet_reverse(&spec);
		const struct weir_flow_key request_key = parse_spec(&spec);

		reply.icmp_type = version == 4 ? 0 : 129;
		const struct weir_flow_key reply_key = parse_spec(&reply);

		assert_same_flow(&request_key, &reply_key);
		spec.from.port++;
		const struct weir_flow_key other_key = parse_spec(&spec);

		assert_false(same_flow(&request_key, &other_key));
	}
}

static void
ports_behind_the_total_length_are_not_read(void **state)
{
	const struct packet_spec spec = { .ip_version = 4, .protocol = 17, ENDPOINTS };
	struct packet packet;

	(void)state;
	packet_build(&packet, &spec);
	/* 20 bytes of header and no more: the rest is padding. */
	for (uint16_t total = 20; total < 24; total++) {
		packet_poke16(&packet, packet.ip_offset + 2, total);
		const struct weir_flow_key key = parse_packet(&packet);

		assert_int_equal(key.reason, WEIR_FLOW_TRUNCATED_PORTS);
		assert_int_equal(key.word[1], UINT64_C(17) << 32 | UINT64_C(4) << 40);
	}
	packet_poke16(&packet, packet.ip_offset + 2, 24);
	assert_int_equal(parse_packet(&packet).reason, WEIR_FLOW_PORTS);
}

static void
ports_behind_the_payload_length_are_not_read(void **state)
{
	const struct packet_spec spec = { .ip_version = 6, .protocol = 17, ENDPOINTS };
	struct packet packet;

	(void)state;
	packet_build(&packet, &spec);
	for (uint16_t payload = 1; payload < 4; payload++) {
		packet_poke16(&packet, packet.ip_offset + 4, payload);
		assert_int_equal(parse_packet(&packet).reason, WEIR_FLOW_TRUNCATED_PORTS);
	}
	packet_poke16(&packet, packet.ip_offset + 4, 4);
	assert_int_equal(parse_packet(&packet).reason, WEIR_FLOW_PORTS);
}

static void
a_length_of_zero_means_the_frame(void **state)
{
	(void)state;
	for (unsigned int version = 4; version <= 6; version += 2) {
		const struct packet_spec spec = {
			.ip_version = (uint8_t)version, .protocol = 6, ENDPOINTS
		};
		const struct weir_flow_key whole = parse_spec(&spec);
		struct packet packet;

		packet_build(&packet, &spec);
		packet_poke16(&packet, packet.ip_offset + (version == 4 ? 2 : 4), 0);
		const struct weir_flow_key key = parse_packet(&packet);

		assert_same_flow(&key, &whole);
		assert_int_equal(key.reason, WEIR_FLOW_PORTS);
	}
}

static void
a_length_beyond_the_frame_means_the_frame(void **state)
{
	(void)state;
	for (unsigned int version = 4; version <= 6; version += 2) {
		const struct packet_spec spec = {
			.ip_version = (uint8_t)version, .protocol = 6, ENDPOINTS
		};
		const struct weir_flow_key whole = parse_spec(&spec);
		struct packet packet;

		packet_build(&packet, &spec);
		packet_poke16(&packet, packet.ip_offset + (version == 4 ? 2 : 4), 0xffff);
		const struct weir_flow_key key = parse_packet(&packet);

		assert_same_flow(&key, &whole);
	}
}

/* Writes one byte of the IP header and asserts that the frame falls to its MAC addresses. */
static void
assert_malformed(uint8_t version, uint32_t offset, uint8_t value)
{
	const struct packet_spec spec = { .ip_version = version, .protocol = 17, ENDPOINTS };
	const struct packet_spec arp = { .ethertype = 0x0806, ENDPOINTS };
	const struct weir_flow_key macs = parse_spec(&arp);
	struct packet packet;

	packet_build(&packet, &spec);
	packet.bytes[packet.ip_offset + offset] = value;
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
			assert_malformed(4, 0, (uint8_t)(nibble << 4 | 5));
		if (nibble != 6)
			assert_malformed(6, 0, (uint8_t)(nibble << 4));
		if (nibble < 5)
			assert_malformed(4, 0, (uint8_t)(0x40 | nibble));
	}
	/* Total length: 28 bytes say so, 15 words of header or 19 bytes in all can't be. */
	assert_malformed(4, 0, 0x4f);
	assert_malformed(4, 3, 19);
}

/* What must be found of a combination when only `length` bytes are there. */
static enum weir_flow_reason
expected_reason(const struct combination *combination, const struct packet *packet, uint32_t length)
{
	const struct packet_spec *spec = &combination->spec;
	const uint32_t fixed_bytes = spec->ip_version == 4 ? 20 : 40;
	const bool icmp = spec->protocol == 1 || spec->protocol == 58;

	if (length < 14)
		return WEIR_FLOW_TRUNCATED_MAC;
	if (spec->ip_version == 0 || length < packet->ip_offset)
		return WEIR_FLOW_NOT_IP;
	if (length < packet->ip_offset + fixed_bytes)
		return WEIR_FLOW_TRUNCATED_IP;
	if (combination->reason == WEIR_FLOW_PORTS &&
		length < packet->transport_offset + (icmp ? 6 : 4))
		return WEIR_FLOW_TRUNCATED_PORTS;
	/* The type of an ICMP message says whether there is an identifier. */
	if (combination->reason == WEIR_FLOW_NO_PORTS && icmp && length <= packet->transport_offset)
		return WEIR_FLOW_TRUNCATED_PORTS;
	return combination->reason;
}

static void
every_prefix_of_each_combination_falls_to_what_is_left(void **state)
{
	struct guard_page guard;

	(void)state;
	guard_page_create(&guard, PACKET_BYTES_MAX);
	for (size_t i = 0; i < N_COMBINATIONS; i++) {
		struct packet packet;

		packet_build(&packet, &combinations[i].spec);
		for (uint32_t length = 0; length <= packet.length; length++) {
			const struct weir_flow_key key =
				parse(guard_page_copy(&guard, packet.bytes, length), length);

			if (key.reason != expected_reason(&combinations[i], &packet, length))
				fail_msg("%s, %" PRIu32 " bytes: %s", combinations[i].name, length,
					weir_flow_reason_name(key.reason));
			assert_well_formed(&key);
		}
	}
	guard_page_destroy(&guard);
}

static const struct weir_hash_key hash_key = {
	.word = { UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908) },
};

static void
classify_hashes_what_parse_finds_and_touches_nothing_else(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_COMBINATIONS; i++) {
		struct packet packet;
		struct weir_meta meta;
		struct weir_meta expected;

		packet_build(&packet, &combinations[i].spec);
		const struct weir_flow_key key = parse_packet(&packet);

		memset(&expected, 0xee, sizeof(expected));
		memset(&meta, 0xee, sizeof(meta));
		expected.hash = weir_flow_hash(&hash_key, &key);
		expected.bucket = weir_flow_bucket(expected.hash);
		expected.flow_reason = key.reason;
		weir_flow_classify(&hash_key, packet.bytes, packet.length, &meta);
		assert_memory_equal(&meta, &expected, sizeof(meta));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_combination_is_found_for_its_reason),
		cmocka_unit_test(both_directions_are_one_flow),
		cmocka_unit_test(options_do_not_change_the_flow),
		cmocka_unit_test(up_to_eight_tags_do_not_change_the_flow),
		cmocka_unit_test(a_ninth_tag_is_not_looked_through),
		cmocka_unit_test(fragments_of_one_datagram_meet),
		cmocka_unit_test(fragments_of_other_hosts_and_protocols_differ),
		cmocka_unit_test(echo_request_and_reply_meet_by_identifier),
		cmocka_unit_test(ports_behind_the_total_length_are_not_read),
		cmocka_unit_test(ports_behind_the_payload_length_are_not_read),
		cmocka_unit_test(a_length_of_zero_means_the_frame),
		cmocka_unit_test(a_length_beyond_the_frame_means_the_frame),
		cmocka_unit_test(malformed_ip_headers_fall_to_the_macs),
		cmocka_unit_test(every_prefix_of_each_combination_falls_to_what_is_left),
		cmocka_unit_test(classify_hashes_what_parse_finds_and_touches_nothing_else),
	};

	return cmocka_run_group_tests_name("flow_parse", tests, NULL, NULL);
}
