/* SPDX-License-Identifier: BSD-3-Clause */
/* The canonical flow key: its words as documented, and when two packets have the same one. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <weir/flow.h>

#include "flow_check.h"
#include "packet_builder.h"
#include "rng.h"

static void
an_ipv4_key_is_as_documented(void **state)
{
	const struct packet_spec spec = { .ip_version = 4, .protocol = 17, ENDPOINTS };
	const struct weir_flow_key key = parse_spec(&spec);

	(void)state;
	assert_int_equal(key.n_words, 2);
	assert_int_equal(key.word[0], UINT64_C(0x0a0102030a020304));
	assert_int_equal(key.word[1], 2000 | 1000 << 16 | UINT64_C(17) << 32 | UINT64_C(4) << 40);
}

static void
an_ipv6_key_is_as_documented(void **state)
{
	const struct packet_spec spec = { .ip_version = 6, .protocol = 6, ENDPOINTS };
	const struct weir_flow_key key = parse_spec(&spec);

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
	const struct packet_spec spec = { .ethertype = 0x0806, ENDPOINTS };
	const struct weir_flow_key key = parse_spec(&spec);

	(void)state;
	assert_int_equal(key.n_words, 2);
	/* 02:00:00:01:02:03, then 02:00:00:02:03:04, split behind its first two bytes. */
	assert_int_equal(key.word[0], UINT64_C(0x0200000102030200));
	assert_int_equal(key.word[1], 0x00020304 | UINT64_C(1) << 40);
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

/* From few values, so that equal addresses and equal ports come up often. */
static struct packet_spec
random_spec(uint64_t random)
{
	return (struct packet_spec) {
		.ip_version = random & 1 ? 4 : 6,
		.protocol = random & 2 ? 6 : 17,
		.from = { (uint32_t)(random >> 8 & 3) << (random >> 2 & 3) * 7,
			(uint16_t)(random >> 16 & 3) },
		.to = { (uint32_t)(random >> 24 & 3) << (random >> 4 & 3) * 7,
			(uint16_t)(random >> 32 & 3) },
	};
}

/* Equality of flows straight from its meaning: the same two endpoints, either way round. */
static bool
specs_are_one_flow(const struct packet_spec *a, const struct packet_spec *b)
{
	const bool forth = a->from.host == b->from.host && a->from.port == b->from.port &&
			   a->to.host == b->to.host && a->to.port == b->to.port;
	const bool back = a->from.host == b->to.host && a->from.port == b->to.port &&
			  a->to.host == b->from.host && a->to.port == b->from.port;

	return a->ip_version == b->ip_version && a->protocol == b->protocol && (forth || back);
}

static void
keys_are_equal_exactly_when_flows_are(void **state)
{
	const uint64_t seed = 20240229;
	unsigned int equal = 0;

	(void)state;
	print_message("seed %" PRIu64 "\n", seed);
	for (uint64_t i = 0; i < 200000; i++) {
		const struct packet_spec a = random_spec(rng_at(seed, 2 * i));
		const struct packet_spec b = random_spec(rng_at(seed, 2 * i + 1));
		const struct packet_spec back = packet_reverse(&a);
		const struct weir_flow_key key_a = parse_spec(&a);
		const struct weir_flow_key key_b = parse_spec(&b);
		const struct weir_flow_key key_back = parse_spec(&back);

		assert_same_flow(&key_a, &key_back);
		assert_int_equal(same_flow(&key_a, &key_b), specs_are_one_flow(&a, &b));
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
		cmocka_unit_test(frames_without_whole_macs_share_one_flow),
		cmocka_unit_test(keys_are_equal_exactly_when_flows_are),
		cmocka_unit_test(every_reason_has_a_name_of_its_own),
	};

	return cmocka_run_group_tests_name("flow_key", tests, NULL, NULL);
}
