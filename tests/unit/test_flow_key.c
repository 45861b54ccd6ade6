/* SPDX-License-Identifier: BSD-3-Clause */
/* The canonical flow key: its words as documented, and when two packets have the same one. */
#include "test.h"

#include <weir/flow.h>

#include "flow_check.h"
#include "packet_builder.h"

static void
an_ipv4_key_is_as_documented(void **state)
{
	const struct weir_flow_key key = parse_layers("eth ip4 udp");

	(void)state;
	assert_int_equal(key.n_words, 2);
	assert_int_equal(key.word[0], UINT64_C(0x0a0102030a020304));
	assert_int_equal(key.word[1], 2000 | 1000 << 16 | UINT64_C(17) << 32 | UINT64_C(4) << 40);
}

static void
an_ipv6_key_is_as_documented(void **state)
{
	const struct weir_flow_key key = parse_layers("eth ip6 tcp");

	(void)state;
	assert_int_equal(key.n_words, 5);
	assert_int_equal(key.word[0], UINT64_C(0x20010db800000001));
	assert_int_equal(key.word[1], 0x010203);
	assert_int_equal(key.word[2], UINT64_C(0x20010db800000002));
	assert_int_equal(key.word[3], 0x020304);
	assert_int_equal(key.word[4], 2000 | 1000 << 16 | UINT64_C(6) << 32 | UINT64_C(6) << 40);
}

static void
a_mac_key_holds_both_addresses(void **state)
{
	const struct weir_flow_key key = parse_layers("eth:0x0806 data");

	(void)state;
	assert_int_equal(key.n_words, 2);
	/* 02:00:00:01:02:03, then 02:00:00:02:03:04, split behind its first two bytes. */
	assert_int_equal(key.word[0], UINT64_C(0x0200000102030200));
	assert_int_equal(key.word[1], 0x00020304 | UINT64_C(1) << 40);
}

/* Whichever way the packet goes: there is no lower endpoint that half of it belongs to. */
static void
an_spi_lies_where_the_ports_are(void **state)
{
	const struct weir_flow_key v4 = parse_between("eth ip4 esp:0xfedc1234", TO, FROM);
	const struct weir_flow_key v6 = parse_layers("eth ip6 ah:0x00010002 proto:89");

	(void)state;
	assert_int_equal(v4.word[1], UINT64_C(0xfedc1234) | UINT64_C(50) << 32 | UINT64_C(4) << 40);
	assert_int_equal(v6.word[4], 0x00010002 | UINT64_C(89) << 32 | UINT64_C(6) << 40);
}

static void
security_associations_are_told_apart(void **state)
{
	const struct weir_flow_key a = parse_layers("eth ip4 esp:1");
	const struct weir_flow_key b = parse_layers("eth ip4 esp:0x10000");

	(void)state;
	assert_false(same_flow(&a, &b));
}

static void
frames_without_whole_macs_share_one_flow(void **state)
{
	(void)state;
	for (uint32_t length = 0; length < 14; length++) {
		const uint8_t bytes[14] = { 1, 2, 3, (uint8_t)length };
		const struct weir_flow_key key = parse(length == 0 ? NULL : bytes, length);

		assert_int_equal(key.reason, WEIR_FLOW_TRUNCATED_MAC);
		assert_int_equal(key.n_words, 2);
		assert_int_equal(key.word[0], 0);
		assert_int_equal(key.word[1], 0);
	}
}

/* What a flow is made of. */
struct flow {
	bool is_ipv6;
	bool is_tcp;
	struct packet_endpoint from;
	struct packet_endpoint to;
};

/* From few values, so that equal addresses and equal ports come up often. */
static struct flow
random_flow(struct test_random *random)
{
	const uint64_t bits = test_random_next(random);

	return (struct flow) {
		.is_ipv6 = bits & 1,
		.is_tcp = bits & 2,
		.from = { (uint32_t)(bits >> 8 & 3) << (bits >> 2 & 3) * 6,
			(uint16_t)(bits >> 16 & 3) },
		.to = { (uint32_t)(bits >> 24 & 3) << (bits >> 4 & 3) * 6,
			(uint16_t)(bits >> 32 & 3) },
	};
}

static const char *
flow_layers(const struct flow *flow)
{
	if (flow->is_ipv6)
		return flow->is_tcp ? "eth ip6 tcp" : "eth ip6 udp";
	return flow->is_tcp ? "eth ip4 tcp" : "eth ip4 udp";
}

static bool
endpoints_are_equal(const struct packet_endpoint *a, const struct packet_endpoint *b)
{
	return a->host == b->host && a->port == b->port;
}

/* Equality of flows straight from its meaning: the same two endpoints, either way round. */
static bool
flows_are_one(const struct flow *a, const struct flow *b)
{
	const bool forth =
		endpoints_are_equal(&a->from, &b->from) && endpoints_are_equal(&a->to, &b->to);
	const bool back =
		endpoints_are_equal(&a->from, &b->to) && endpoints_are_equal(&a->to, &b->from);

	return a->is_ipv6 == b->is_ipv6 && a->is_tcp == b->is_tcp && (forth || back);
}

static void
keys_are_equal_exactly_when_flows_are(void **state)
{
	struct test_random random = test_random_start("keys_are_equal_exactly_when_flows_are");
	unsigned int equal = 0;

	(void)state;
	for (unsigned int i = 0; i < 100000; i++) {
		const struct flow a = random_flow(&random);
		const struct flow b = random_flow(&random);
		const struct weir_flow_key key_a = parse_between(flow_layers(&a), a.from, a.to);
		const struct weir_flow_key key_b = parse_between(flow_layers(&b), b.from, b.to);
		const struct weir_flow_key back = parse_between(flow_layers(&a), a.to, a.from);

		assert_same_flow(&key_a, &back);
		assert_int_equal(same_flow(&key_a, &key_b), flows_are_one(&a, &b));
		equal += same_flow(&key_a, &key_b);
	}
	assert_true(equal > 0);
}

static void
every_reason_has_a_name_of_its_own(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < WEIR_FLOW_REASON_COUNT; i++) {
		assert_non_null(weir_flow_reason_name(i));
		for (unsigned int j = 0; j < i; j++)
			assert_string_not_equal(weir_flow_reason_name(i), weir_flow_reason_name(j));
	}
	assert_null(weir_flow_reason_name(WEIR_FLOW_REASON_COUNT));
	assert_null(weir_flow_reason_name(UINT32_MAX));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_ipv4_key_is_as_documented),
		cmocka_unit_test(an_ipv6_key_is_as_documented),
		cmocka_unit_test(a_mac_key_holds_both_addresses),
		cmocka_unit_test(an_spi_lies_where_the_ports_are),
		cmocka_unit_test(security_associations_are_told_apart),
		cmocka_unit_test(frames_without_whole_macs_share_one_flow),
		cmocka_unit_test(keys_are_equal_exactly_when_flows_are),
		cmocka_unit_test(every_reason_has_a_name_of_its_own),
	};

	return cmocka_run_group_tests_name("flow_key", tests, NULL, NULL);
}
