/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/rule: which rule a packet matches, whatever its bytes are and wherever they end. */
#include "test.h"

#include <pcap/pcap.h>

#include <weir/weir.h>

#include "guard_page.h"
#include "packet_builder.h"

/* The ends of every packet's flow. */
static const struct packet_endpoint client = { 1, 1000 };
static const struct packet_endpoint server = { 2, 53 };

static struct weir_rules *
rules_make(const char *const *texts, uint32_t n)
{
	struct weir_rule_error error;
	struct weir_rules *rules = weir_rules_create(texts, n, NULL, 0, &error);

	if (!rules)
		print_error(
			"%s: column %u: %s\n", texts[error.rule - 1], error.column, error.message);
	assert_non_null(rules);
	return rules;
}

static uint32_t
class_of_bytes(
	const struct weir_rules *rules, const uint8_t *bytes, uint32_t captured, uint32_t length)
{
	void *data = (void *)(uintptr_t)bytes;
	/* What was there before does not count. */
	struct weir_meta meta = { .length = length, .segment_length = captured, .class_id = 77 };

	weir_rules_classify(rules, &data, &meta, 1);
	return meta.class_id;
}

static uint32_t
class_of_layers(const struct weir_rules *rules, const char *layers)
{
	struct packet packet;

	packet_build(&packet, layers, client, server);
	return class_of_bytes(rules, packet.bytes, packet.length, packet.length);
}

static void
the_first_rule_that_matches_wins(void **state)
{
	static const char *const texts[] = { "udp port 53 => drop", "ip => first", "udp => last",
		"udp or tcp => random" };
	struct weir_rules *rules = rules_make(texts, ARRAY_LENGTH(texts));

	(void)state;
	assert_int_equal(class_of_layers(rules, "eth ip4 udp"), 1);
	assert_int_equal(class_of_layers(rules, "eth ip4 tcp"), 2);
	assert_int_equal(class_of_layers(rules, "eth ip6 udp data:10"), 1);
	assert_int_equal(class_of_layers(rules, "eth ip6 tcp"), 4);
	assert_int_equal(class_of_layers(rules, "eth ip6 icmp6"), 0);
	weir_rules_destroy(rules);
}

static void
packets_of_a_burst_get_their_own_classes(void **state)
{
	static const char *const texts[] = { "tcp => drop", "udp => first" };
	static const char *const layers[] = { "eth ip4 tcp", "eth ip4 udp", "eth ip4 icmp" };
	static const uint8_t expected[] = { 1, 2, 0 };
	struct weir_rules *rules = rules_make(texts, ARRAY_LENGTH(texts));
	struct weir_meta meta[WEIR_BURST_MAX];
	void *data[WEIR_BURST_MAX];
	struct packet packets[3];

	(void)state;
	for (uint32_t i = 0; i < WEIR_BURST_MAX; i++) {
		struct packet *packet = &packets[i % 3];

		packet_build(packet, layers[i % 3], client, server);
		meta[i] = (struct weir_meta) { .length = packet->length,
			.segment_length = packet->length };
		data[i] = packet->bytes;
	}
	weir_rules_classify(rules, data, meta, 0);
	weir_rules_classify(rules, data, meta, WEIR_BURST_MAX);
	for (uint32_t i = 0; i < WEIR_BURST_MAX; i++)
		assert_int_equal(meta[i].class_id, expected[i % 3]);
	weir_rules_destroy(rules);
}

static void
the_sixty_third_rule_can_match(void **state)
{
	const char *texts[WEIR_RULES_MAX];
	struct weir_rules *rules;

	(void)state;
	for (uint32_t i = 0; i < WEIR_RULES_MAX; i++)
		texts[i] = i == WEIR_RULES_MAX - 1 ? "udp => drop" : "arp => drop";
	rules = rules_make(texts, WEIR_RULES_MAX);
	assert_int_equal(class_of_layers(rules, "eth ip4 udp"), 63);
	assert_int_equal(class_of_layers(rules, "eth ip4 tcp"), 0);
	weir_rules_destroy(rules);
}

static void
an_empty_expression_matches_all(void **state)
{
	static const char *const texts[] = { "=> drop" };
	struct weir_rules *rules = rules_make(texts, 1);

	(void)state;
	assert_int_equal(class_of_layers(rules, "eth ip4 udp"), 1);
	assert_int_equal(class_of_bytes(rules, (const uint8_t *)"", 0, 0), 1);
	weir_rules_destroy(rules);
}

/* The tag is in the packet, not in what a kernel says of it: its own bytes move what follows. */
static void
a_vlan_is_looked_through_by_rules_that_say_so(void **state)
{
	static const char *const texts[] = { "udp => drop", "vlan and vlan and udp => drop",
		"vlan and udp => drop" };
	struct weir_rules *rules = rules_make(texts, ARRAY_LENGTH(texts));

	(void)state;
	assert_int_equal(class_of_layers(rules, "eth ip4 udp"), 1);
	assert_int_equal(class_of_layers(rules, "eth svlan vlan ip4 udp"), 2);
	assert_int_equal(class_of_layers(rules, "eth vlan ip4 udp"), 3);
	assert_int_equal(class_of_layers(rules, "eth vlan ip4 tcp"), 0);
	weir_rules_destroy(rules);
}

/* rte_bpf gets these wrong: indexed loads and bit tests (design: rules). */
static void
indexed_loads_and_bit_tests_are_right(void **state)
{
	static const char *const texts[] = { "tcp[tcpflags] & tcp-syn != 0 => drop",
		"udp[0:2] = 1000 and udp[2] = 0 => drop" };
	struct weir_rules *rules = rules_make(texts, ARRAY_LENGTH(texts));
	struct packet packet;

	(void)state;
	packet_build(&packet, "eth ip4:3 tcp", client, server);
	packet.bytes[packet.offset[2] + 13] = 0x12;
	assert_int_equal(class_of_bytes(rules, packet.bytes, packet.length, packet.length), 1);
	packet.bytes[packet.offset[2] + 13] = 0x10;
	assert_int_equal(class_of_bytes(rules, packet.bytes, packet.length, packet.length), 0);
	assert_int_equal(class_of_layers(rules, "eth ip4:5 udp"), 2);
	weir_rules_destroy(rules);
}

static void
len_is_that_of_the_packet_and_bytes_are_those_of_its_first_segment(void **state)
{
	static const char *const texts[] = { "len = 9000 and ether[60] = 7 => drop",
		"len = 9000 => drop" };
	struct weir_rules *rules = rules_make(texts, ARRAY_LENGTH(texts));
	uint8_t bytes[61] = { [60] = 7 };

	(void)state;
	assert_int_equal(class_of_bytes(rules, bytes, 61, 9000), 1);
	assert_int_equal(class_of_bytes(rules, bytes, 60, 9000), 2);
	assert_int_equal(class_of_bytes(rules, bytes, 61, 61), 0);
	weir_rules_destroy(rules);
}

/* Expressions that look at every kind of place, with every width and by every kind of index. */
static const char *const hostile[] = {
	"tcp[tcpflags] & tcp-syn != 0 => drop",
	"udp[8:4] = 0x01020304 => drop",
	"ip6[6] = 6 and ip6[52:2] = 0xffff => drop",
	"vlan and vlan and tcp port 80 => drop",
	"mpls and mpls and ip host 1.2.3.4 => drop",
	"pppoes and ip6 and udp => drop",
	"ip[ip[0] & 15] = 255 => drop",
	"ether[ether[12:2]:4] = 0xffffffff => drop",
	"ip[ip[8:4]:4] = 0xffffffff => drop",
	"ip6 protochain 6 => drop",
	"icmp[icmptype] = icmp-unreach and icmp[0xffff] = 1 => drop",
	"sctp port 9999 => drop",
	"ether[4294967295] = 1 => drop",
	"tcp dst port 53 => drop",
	"ip6 and udp dst port 53 => drop",
	"len > 1500 => drop",
};

static void
packets_may_end_anywhere(void **state)
{
	static const char *const layers[] = { "eth ip4:2 tcp data:20", "eth vlan svlan ip4 udp",
		"eth mpls mpls ip4 tcp", "eth pppoe ppp ip6 udp data:30", "eth ip6 hbh frag tcp",
		"eth ip4 icmp:3 ip4 tcp", "eth ip4 sctp data:8" };
	struct weir_rules *rules = rules_make(hostile, ARRAY_LENGTH(hostile));
	struct guard_page guard;

	(void)state;
	guard_page_create(&guard, PACKET_BYTES_MAX);
	for (size_t i = 0; i < ARRAY_LENGTH(layers); i++) {
		struct packet packet;

		packet_build(&packet, layers[i], client, server);
		for (uint32_t cut = 0; cut <= packet.length; cut++)
			class_of_bytes(rules, guard_page_copy(&guard, packet.bytes, cut), cut,
				packet.length);
	}
	guard_page_destroy(&guard);
	weir_rules_destroy(rules);
}

/* What libpcap says of each expression alone, run by its own function for captured packets. */
static uint32_t
first_match_by_pcap(const struct bpf_program *programs, uint32_t n, const uint8_t *bytes,
	uint32_t captured, uint32_t length)
{
	const struct pcap_pkthdr header = { .caplen = captured, .len = length };

	for (uint32_t i = 0; i < n; i++) {
		if (pcap_offline_filter(&programs[i], &header, bytes))
			return i + 1;
	}
	return 0;
}

static void
programs_compile(struct bpf_program *programs, pcap_t *pcap)
{
	for (size_t i = 0; i < ARRAY_LENGTH(hostile); i++) {
		const size_t length = strlen(hostile[i]) - strlen(" => drop");
		char expression[128];

		snprintf(expression, sizeof(expression), "%.*s", (int)length, hostile[i]);
		assert_int_equal(pcap_compile(pcap, &programs[i], expression, 0, 0), 0);
	}
}

static void
any_bytes_get_the_class_that_libpcap_gives_them(void **state)
{
	struct bpf_program programs[ARRAY_LENGTH(hostile)];
	struct weir_rules *rules = rules_make(hostile, ARRAY_LENGTH(hostile));
	struct test_random random = test_random_start(__func__);
	pcap_t *pcap = pcap_open_dead(DLT_EN10MB, 65535);
	uint32_t n_matched = 0;
	struct packet packet;

	(void)state;
	programs_compile(programs, pcap);
	for (int round = 0; round < 20000; round++) {
		uint32_t length;

		packet_build(&packet, round % 2 ? "eth ip4:4 tcp data:20" : "eth ip6 udp data:40",
			client, server);
		for (uint32_t n = test_random_below(&random, 6); n > 0; n--)
			packet.bytes[test_random_below(&random, packet.length)] =
				(uint8_t)test_random_below(&random, 256);
		length = test_random_below(&random, packet.length + 1);
		assert_int_equal(class_of_bytes(rules, packet.bytes, length, packet.length),
			first_match_by_pcap(programs, ARRAY_LENGTH(hostile), packet.bytes, length,
				packet.length));
		n_matched += class_of_bytes(rules, packet.bytes, length, packet.length) > 0;
	}
	assert_true(n_matched > 100);
	for (size_t i = 0; i < ARRAY_LENGTH(hostile); i++)
		pcap_freecode(&programs[i]);
	pcap_close(pcap);
	weir_rules_destroy(rules);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_rule_that_matches_wins),
		cmocka_unit_test(packets_of_a_burst_get_their_own_classes),
		cmocka_unit_test(the_sixty_third_rule_can_match),
		cmocka_unit_test(an_empty_expression_matches_all),
		cmocka_unit_test(a_vlan_is_looked_through_by_rules_that_say_so),
		cmocka_unit_test(indexed_loads_and_bit_tests_are_right),
		cmocka_unit_test(
			len_is_that_of_the_packet_and_bytes_are_those_of_its_first_segment),
		cmocka_unit_test(packets_may_end_anywhere),
		cmocka_unit_test(any_bytes_get_the_class_that_libpcap_gives_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
