/* SPDX-License-Identifier: BSD-3-Clause */
/* What a trace says of a packet's layers, and how flow keys are written for people. */
#include "test.h"

#include <weir/flow.h>

#include "flow_check.h"
#include "packet_builder.h"

/* Layers and what the trace must say, "NAME@OFFSET DETAIL" one a line. */
struct told {
	const char *layers;
	const char *lines;
};

static const struct told told[] = {
	{ "eth ip4 udp", "ethernet@0 02:00:00:02:03:04 > 02:00:00:01:02:03 type 0x0800\n"
			 "ipv4@14 10.2.3.4 > 10.1.2.3 udp\n"
			 "udp@34 1000 > 2000\n" },
	{ "eth svlan vlan mpls:16 mpls:17 ip6 hbh route frag tcp",
		"ethernet@0 02:00:00:02:03:04 > 02:00:00:01:02:03 type 0x88a8\n"
		"vlan@14 id 101 priority 0 type 0x8100\n"
		"vlan@18 id 102 priority 0 type 0x8847\n"
		"mpls@22 label 16 17\n"
		"ipv6@30 2001:db8:0:2::2:304 > 2001:db8:0:1::1:203 hop-by-hop\n"
		"hop-by-hop@70 8 bytes, then routing\n"
		"routing@78 8 bytes, then fragment\n"
		"fragment@86 at 0, then tcp\n"
		"tcp@94 1000 > 2000\n" },
	{ "eth llc snap ip4:0:0x2064 udp",
		"ethernet@0 02:00:00:02:03:04 > 02:00:00:01:02:03 type 0x0024\n"
		"llc@14 dsap 0xaa ssap 0xaa organisation 0x000000 type 0x0800\n"
		"ipv4@22 10.2.3.4 > 10.1.2.3 udp fragment at 800, more follow\n" },
	{ "eth pppoe ppp mpls:20 cw eth vntag ip4 ah proto:89",
		"ethernet@0 02:00:00:12:03:04 > 02:00:00:11:02:03 type 0x8864\n"
		"pppoe@14 session 0x1234 code 0x00\n"
		"ppp@20 protocol 0x0281\n"
		"mpls@22 label 20\n"
		"control-word@26 sequence 7\n"
		"ethernet@30 02:00:00:02:03:04 > 02:00:00:01:02:03 type 0x8926\n"
		"vn-tag@44 from 3 to 5 type 0x0800\n"
		"ipv4@50 10.2.3.4 > 10.1.2.3 ah\n"
		"ah@70 spi 0x11223344, then ospf\n" },
	{ "eth ip4 udp vxlan eth ip4 gre:0xa000 ip4 icmp:3 ip4 esp",
		"ethernet@0 02:00:00:12:03:04 > 02:00:00:11:02:03 type 0x0800\n"
		"ipv4@14 10.50.3.4 > 10.49.2.3 udp\n"
		"udp@34 50152 > 4789\n"
		"vxlan@42 vni 5000 flags 0x08\n"
		"ethernet@50 02:00:00:02:03:04 > 02:00:00:01:02:03 type 0x0800\n"
		"ipv4@64 10.34.3.4 > 10.33.2.3 gre\n"
		"gre@84 flags 0xa000 type 0x0800 key 0xa0a1a2a3\n"
		"ipv4@96 10.18.3.4 > 10.17.2.3 icmp\n"
		"icmp@116 type 3 code 0 word 0x03e8\n"
		"ipv4@124 10.1.2.3 > 10.2.3.4 esp\n"
		"esp@144 spi 0x55667788\n" },
	{ "eth ip4 udp gpe nsh ip6 udp geneve:2 ip4 sctp",
		"ethernet@0 02:00:00:02:03:04 > 02:00:00:01:02:03 type 0x0800\n"
		"ipv4@14 10.34.3.4 > 10.33.2.3 udp\n"
		"udp@34 50152 > 4790\n"
		"vxlan-gpe@42 vni 5000 flags 0x0c next 4\n"
		"nsh@50 path 4660 index 255 next 2\n"
		"ipv6@74 2001:db8:0:12::12:304 > 2001:db8:0:11::11:203 udp\n"
		"udp@114 50152 > 6081\n"
		"geneve@122 vni 5000 options 8 bytes type 0x0800\n"
		"ipv4@138 10.2.3.4 > 10.1.2.3 sctp\n"
		"sctp@158 1000 > 2000\n" },
	{ "eth ip4 udp gtpu ip4 udp teredo:2 ip6 icmp6:135",
		"ethernet@0 02:00:00:02:03:04 > 02:00:00:01:02:03 type 0x0800\n"
		"ipv4@14 10.34.3.4 > 10.33.2.3 udp\n"
		"udp@34 50152 > 2152\n"
		"gtpu@42 teid 0xaabbccdd message 255\n"
		"ipv4@50 10.18.3.4 > 10.17.2.3 udp\n"
		"udp@70 50152 > 3544\n"
		"teredo@78 origin\n"
		"ipv6@86 2001:db8:0:2::2:304 > 2001:db8:0:1::1:203 icmpv6\n"
		"icmpv6@126 type 135 code 0 word 0x03e8\n" },
	{ "eth ip4 gre:0x1000 erspan2 eth ip4 gre:0x1000 erspan3 eth:0x0806 data:4",
		"ethernet@0 02:00:00:22:03:04 > 02:00:00:21:02:03 type 0x0800\n"
		"ipv4@14 10.18.3.4 > 10.17.2.3 gre\n"
		"gre@34 flags 0x1000 type 0x88be\n"
		"erspan-2@42 vlan 100 session 5\n"
		"ethernet@50 02:00:00:12:03:04 > 02:00:00:11:02:03 type 0x0800\n"
		"ipv4@64 10.2.3.4 > 10.1.2.3 gre\n"
		"gre@84 flags 0x1000 type 0x22eb\n"
		"erspan-3@92 vlan 100 session 5\n"
		"ethernet@104 02:00:00:02:03:04 > 02:00:00:01:02:03 type 0x0806\n" },
};

/* The trace as text, in the form of struct told. */
static void
trace_write(const struct weir_flow_trace *trace, char *text, size_t n_bytes)
{
	size_t used = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < trace->n_layers; i++) {
		const struct weir_flow_trace_layer *layer = &trace->layer[i];

		used += (size_t)snprintf(text + used, n_bytes - used, "%s@%u %s\n", layer->name,
			layer->offset, layer->detail);
		assert_true(used < n_bytes);
	}
}

static void
each_layer_is_told_with_its_offset_and_ids(void **state)
{
	const struct weir_flow_config config = weir_flow_config_default();

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(told); i++) {
		struct weir_flow_trace trace;
		struct packet packet;
		char text[4096];

		packet_build(&packet, told[i].layers, FROM, TO);
		memset(&trace, 0xee, sizeof(trace));
		weir_flow_trace(&config, packet.bytes, packet.length, &trace);
		trace_write(&trace, text, sizeof(text));
		assert_string_equal(text, told[i].lines);
		assert_int_equal(trace.n_omitted, 0);
		const struct weir_flow_key key = parse_packet(&packet);

		assert_memory_equal(&trace.key, &key, sizeof(key));
	}
}

static void
the_layer_that_is_cut_is_the_last_one_told(void **state)
{
	const struct weir_flow_config config = weir_flow_config_default();
	struct weir_flow_trace trace;
	struct packet packet;

	(void)state;
	packet_build(&packet, "eth vlan ip6 hbh udp", FROM, TO);
	weir_flow_trace(&config, packet.bytes, packet.offset[2] + 39, &trace);
	assert_int_equal(trace.n_layers, 3);
	assert_string_equal(trace.layer[2].name, "ipv6");
	assert_string_equal(trace.layer[2].detail, "cut: 39 bytes");
	weir_flow_trace(&config, packet.bytes, packet.offset[4], &trace);
	assert_int_equal(trace.n_layers, 5);
	assert_string_equal(trace.layer[4].name, "udp");
	assert_string_equal(trace.layer[4].detail, "cut: 0 bytes");
	weir_flow_trace(&config, NULL, 0, &trace);
	assert_int_equal(trace.n_layers, 1);
	assert_string_equal(trace.layer[0].detail, "cut: 0 bytes");
}

static void
layers_beyond_the_room_are_counted(void **state)
{
	struct weir_flow_config config = weir_flow_config_default();
	char layers[512] = "eth ip6 hbh dst dst dst dst dst dst dst";
	struct weir_flow_trace trace;
	struct packet packet;

	(void)state;
	config.nesting_max = WEIR_FLOW_NESTING_MAX;
	for (unsigned int i = 0; i < 6; i++)
		strcat(layers, " ip6 hbh dst dst dst dst dst dst dst");
	strcat(layers, " tcp");
	packet_build(&packet, layers, FROM, TO);
	weir_flow_trace(&config, packet.bytes, packet.length, &trace);
	assert_int_equal(trace.n_layers, WEIR_FLOW_TRACE_LAYERS_MAX);
	/* Ethernet, seven times nine, TCP. */
	assert_int_equal(trace.n_layers + trace.n_omitted, 1 + 7 * 9 + 1);
	assert_int_equal(trace.key.reason, WEIR_FLOW_PORTS);
}

static void
a_stack_of_labels_beyond_the_room_is_cut_short(void **state)
{
	const struct weir_flow_config config = weir_flow_config_default();
	struct weir_flow_trace trace;
	char expected[WEIR_FLOW_TRACE_DETAIL_BYTES] = "label";
	char layers[256] = "eth";
	struct packet packet;

	(void)state;
	for (unsigned int i = 0; i < 16; i++) {
		strcat(layers, " mpls:1048575");
		strncat(expected, " 1048575", sizeof(expected) - 1 - strlen(expected));
	}
	strcat(layers, " ip4 udp");
	packet_build(&packet, layers, FROM, TO);
	weir_flow_trace(&config, packet.bytes, packet.length, &trace);
	assert_string_equal(trace.layer[1].name, "mpls");
	assert_string_equal(trace.layer[1].detail, expected);
	assert_int_equal(trace.key.reason, WEIR_FLOW_PORTS);
}

static void
keys_are_written_as_documented(void **state)
{
	static const struct {
		const char *layers;
		const char *text;
	} keys[] = {
		{ "eth ip4 udp", "10.1.2.3:2000 <> 10.2.3.4:1000 udp" },
		{ "eth ip6 tcp", "[2001:db8:0:1::1:203]:2000 <> [2001:db8:0:2::2:304]:1000 tcp" },
		{ "eth ip4 proto:89", "10.1.2.3 <> 10.2.3.4 ospf" },
		{ "eth ip4 proto:252", "10.1.2.3 <> 10.2.3.4 protocol 252" },
		{ "eth ip6 esp:0xff",
			"2001:db8:0:1::1:203 <> 2001:db8:0:2::2:304 esp spi 0x000000ff" },
		{ "eth:0x0806 data", "02:00:00:01:02:03 <> 02:00:00:02:03:04" },
		{ "", "unknown" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(keys); i++) {
		const struct weir_flow_key key = parse_layers(keys[i].layers);
		char text[WEIR_FLOW_KEY_TEXT_BYTES];

		assert_int_equal(
			weir_flow_key_format(&key, text, sizeof(text)), strlen(keys[i].text));
		assert_string_equal(text, keys[i].text);
	}
}

static void
ports_of_zero_are_ports(void **state)
{
	const struct packet_endpoint from = { FROM.host, 0 };
	const struct packet_endpoint to = { TO.host, 0 };
	const struct weir_flow_key key = parse_between("eth ip4 tcp", from, to);

	(void)state;
	assert_key("port 0", &key, WEIR_FLOW_PORTS, "10.1.2.3:0 <> 10.2.3.4:0 tcp");
}

static void
text_that_does_not_fit_is_cut_and_its_length_told(void **state)
{
	static const char whole[] = "10.1.2.3:2000 <> 10.2.3.4:1000 udp";
	const struct weir_flow_key key = parse_layers("eth ip4 udp");

	(void)state;
	for (size_t n = 0; n <= sizeof(whole); n++) {
		char text[sizeof(whole) + 1];

		memset(text, '#', sizeof(text));
		assert_int_equal(weir_flow_key_format(&key, text, n), sizeof(whole) - 1);
		if (n > 0) {
			assert_int_equal(strlen(text),
				n - 1 < sizeof(whole) - 1 ? n - 1 : sizeof(whole) - 1);
			assert_memory_equal(text, whole, strlen(text));
		}
		if (n < sizeof(text))
			assert_int_equal(text[n], '#');
	}
}

/* The longest that there is, and any words whatever: a key may come from elsewhere. */
static void
any_key_fits_the_room_for_its_text(void **state)
{
	struct test_random random = test_random_start("any_key_fits_the_room_for_its_text");

	(void)state;
	for (unsigned int i = 0; i < 100000; i++) {
		struct weir_flow_key key = { .n_words = i % 2 ? 2 : WEIR_FLOW_WORDS_MAX,
			.reason = (uint8_t)(i % WEIR_FLOW_REASON_COUNT) };
		char text[WEIR_FLOW_KEY_TEXT_BYTES];

		for (unsigned int w = 0; w < key.n_words; w++)
			key.word[w] = test_random_next(&random);
		if (i % 3 == 0)
			key.word[key.n_words - 1] =
				(key.word[key.n_words - 1] & UINT64_C(0xffffffffff)) |
				UINT64_C(6) << 40;
		assert_in_range(weir_flow_key_format(&key, text, sizeof(text)), 1,
			WEIR_FLOW_KEY_TEXT_BYTES - 1);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_layer_is_told_with_its_offset_and_ids),
		cmocka_unit_test(the_layer_that_is_cut_is_the_last_one_told),
		cmocka_unit_test(layers_beyond_the_room_are_counted),
		cmocka_unit_test(a_stack_of_labels_beyond_the_room_is_cut_short),
		cmocka_unit_test(keys_are_written_as_documented),
		cmocka_unit_test(ports_of_zero_are_ports),
		cmocka_unit_test(text_that_does_not_fit_is_cut_and_its_length_told),
		cmocka_unit_test(any_key_fits_the_room_for_its_text),
	};

	return cmocka_run_group_tests_name("flow_trace", tests, NULL, NULL);
}
