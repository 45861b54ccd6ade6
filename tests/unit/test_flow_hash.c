/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flow hash against published vectors and against a second SipHash written from the paper byte
 * by byte; how evenly it fills buckets; how keys are read and drawn.
 */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <weir/flow.h>

#include "rng.h"

/* 000102...0f as two little-endian halves. */
static const struct weir_hash_key counting_key = {
	.word = { UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908) },
};

static uint64_t
reference_load(const uint8_t *bytes, size_t n)
{
	uint64_t word = 0;

	for (size_t i = n; i-- > 0;)
		word = word << 8 | bytes[i];
	return word;
}

static uint64_t
reference_rotate(uint64_t value, unsigned int bits)
{
	return (value << bits) | (value >> (64 - bits));
}

/* SipRound as in figure 2.1 of the paper: two half-rounds of two parallel steps each. */
static void
reference_round(uint64_t v[4])
{
	v[0] += v[1];
	v[1] = reference_rotate(v[1], 13);
	v[1] ^= v[0];
	v[0] = reference_rotate(v[0], 32);
	v[2] += v[3];
	v[3] = reference_rotate(v[3], 16);
	v[3] ^= v[2];
	v[2] += v[1];
	v[1] = reference_rotate(v[1], 17);
	v[1] ^= v[2];
	v[2] = reference_rotate(v[2], 32);
	v[0] += v[3];
	v[3] = reference_rotate(v[3], 21);
	v[3] ^= v[0];
}

/* SipHash-1-3 of any bytes, section 2 of the paper. */
static uint64_t
reference_hash(const uint8_t key[16], const uint8_t *message, size_t n)
{
	uint64_t v[4] = {
		reference_load(key, 8) ^ UINT64_C(0x736f6d6570736575),
		reference_load(key + 8, 8) ^ UINT64_C(0x646f72616e646f6d),
		reference_load(key, 8) ^ UINT64_C(0x6c7967656e657261),
		reference_load(key + 8, 8) ^ UINT64_C(0x7465646279746573),
	};

	for (size_t i = 0; i <= n / 8; i++) {
		const size_t left = n - i * 8;
		uint64_t word = reference_load(message + i * 8, left < 8 ? left : 8);

		if (left < 8)
			word |= (uint64_t)n << 56;
		v[3] ^= word;
		reference_round(v);
		v[0] ^= word;
	}
	v[2] ^= 0xff;
	for (int i = 0; i < 3; i++)
		reference_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/*
 * Source: the test vectors of Rust's core library for SipHash-1-3 (library/coretests/tests/hash/
 * sip.rs, test_siphash_1_3), made as those of the SipHash paper's appendix: key 00 01 .. 0f,
 * message 00 01 .. n-1. The hash's eight bytes are read as a little-endian number.
 */
static const struct {
	size_t n;
	uint64_t hash;
} vectors[] = {
	{ 0, UINT64_C(0xabac0158050fc4dc) },
	{ 1, UINT64_C(0xc9f49bf37d57ca93) },
	{ 7, UINT64_C(0xd3927d989bb11140) },
	{ 8, UINT64_C(0x369095118d299a8e) },
	{ 15, UINT64_C(0xd320d86d2a519956) },
	{ 16, UINT64_C(0xcc4fdd1a7d908b66) },
	{ 24, UINT64_C(0xf464aeb267349c8c) },
	{ 32, UINT64_C(0x81157b6c16a7b60d) },
	{ 40, UINT64_C(0xc1d2363299e41531) },
	{ 63, UINT64_C(0x9d199062b7bbb3a8) },
};
#define N_VECTORS (sizeof(vectors) / sizeof(vectors[0]))

static void
the_reference_gives_the_published_vectors(void **state)
{
	uint8_t counting[64];

	(void)state;
	for (size_t i = 0; i < sizeof(counting); i++)
		counting[i] = (uint8_t)i;
	for (size_t i = 0; i < N_VECTORS; i++)
		assert_int_equal(reference_hash(counting, counting, vectors[i].n), vectors[i].hash);
}

static void
whole_words_give_the_published_vectors(void **state)
{
	unsigned int checked = 0;

	(void)state;
	for (size_t i = 0; i < N_VECTORS; i++) {
		struct weir_flow_key key = { .n_words = (uint8_t)(vectors[i].n / 8) };

		if (vectors[i].n % 8 != 0)
			continue;
		for (uint64_t w = 0; w < key.n_words; w++)
			key.word[w] =
				UINT64_C(0x0706050403020100) + w * UINT64_C(0x0808080808080808);
		assert_int_equal(weir_flow_hash(&counting_key, &key), vectors[i].hash);
		checked++;
	}
	assert_int_equal(checked, 6);
}

static void
store_words(uint8_t *bytes, const uint64_t *words, size_t n_words)
{
	for (size_t i = 0; i < n_words * 8; i++)
		bytes[i] = (uint8_t)(words[i / 8] >> (i % 8 * 8));
}

static void
random_words_and_keys_agree_with_the_reference(void **state)
{
	const uint64_t seed = UINT64_C(0x77656972);

	(void)state;
	print_message("seed %" PRIu64 "\n", seed);
	for (uint64_t i = 0; i < 10000; i++) {
		struct weir_flow_key key = { .n_words = (uint8_t)(i % (WEIR_FLOW_WORDS_MAX + 1)) };
		struct weir_hash_key hash_key = { .word = { rng_at(seed, i * 8),
							  rng_at(seed, i * 8 + 1) } };
		uint8_t key_bytes[WEIR_HASH_KEY_BYTES];
		uint8_t message[WEIR_FLOW_WORDS_MAX * 8];

		for (unsigned int w = 0; w < key.n_words; w++)
			key.word[w] = rng_at(seed, i * 8 + 2 + w);
		store_words(key_bytes, hash_key.word, 2);
		store_words(message, key.word, key.n_words);
		assert_int_equal(weir_flow_hash(&hash_key, &key),
			reference_hash(key_bytes, message, key.n_words * 8u));
	}
}

static void
every_bit_of_the_hash_key_counts(void **state)
{
	const struct weir_flow_key key = { .word = { 1, 2 }, .n_words = 2 };
	const uint64_t hash = weir_flow_hash(&counting_key, &key);

	(void)state;
	for (unsigned int bit = 0; bit < 128; bit++) {
		struct weir_hash_key other = counting_key;

		other.word[bit / 64] ^= UINT64_C(1) << bit % 64;
		assert_int_not_equal(weir_flow_hash(&other, &key), hash);
	}
}

/*
 * A bit of the input flips half of the output on average. The mean over 320 bits has a standard
 * deviation of 4 / sqrt(320) = 0.22 bits: nine of them either way. Nothing here is random.
 */
static void
every_bit_of_the_flow_key_flips_half_the_hash(void **state)
{
	const struct weir_flow_key key = { .word = { 3, 1, 4, 1, 5 }, .n_words = 5 };
	const uint64_t hash = weir_flow_hash(&counting_key, &key);
	unsigned int flipped = 0;

	(void)state;
	for (unsigned int bit = 0; bit < 320; bit++) {
		struct weir_flow_key other = key;

		other.word[bit / 64] ^= UINT64_C(1) << bit % 64;
		flipped += (unsigned int)__builtin_popcountll(
			hash ^ weir_flow_hash(&counting_key, &other));
	}
	assert_in_range(flipped, 30 * 320, 34 * 320);
}

/*
 * Flows that differ in a counter only, as addresses and ports do: 16 per bucket. Chi-square over
 * 65,536 buckets has mean 65,535 and standard deviation sqrt(2 * 65,535) = 362; six of them either
 * way. Neither the flows nor the key are random.
 */
static void
consecutive_flows_fill_buckets_evenly(void **state)
{
	const uint64_t per_bucket = 16;
	uint32_t *count = calloc(WEIR_BUCKETS, sizeof(*count));
	uint64_t squares = 0;

	(void)state;
	assert_non_null(count);
	for (uint64_t i = 0; i < per_bucket * WEIR_BUCKETS; i++) {
		const struct weir_flow_key key = { .word = { i, 17 }, .n_words = 2 };

		count[weir_flow_bucket(weir_flow_hash(&counting_key, &key))]++;
	}
	for (uint32_t bucket = 0; bucket < WEIR_BUCKETS; bucket++) {
		const int64_t excess = (int64_t)count[bucket] - (int64_t)per_bucket;

		squares += (uint64_t)(excess * excess);
	}
	free(count);
	assert_in_range(squares / per_bucket, 65535 - 6 * 362, 65535 + 6 * 362);
}

static void
a_bucket_is_the_top_16_bits(void **state)
{
	(void)state;
	assert_int_equal(weir_flow_bucket(UINT64_C(0xabcd000000000000)), 0xabcd);
	assert_int_equal(weir_flow_bucket(UINT64_C(0x0000ffffffffffff)), 0);
}

static void
a_key_is_read_first_byte_first(void **state)
{
	struct weir_hash_key key = { { 0 } };

	(void)state;
	assert_int_equal(weir_hash_key_parse("000102030405060708090a0b0c0d0e0f", &key), 0);
	assert_memory_equal(&key, &counting_key, sizeof(key));
	assert_int_equal(weir_hash_key_parse("FEDCBA9876543210fedcba9876543210", &key), 0);
	assert_int_equal(key.word[0], UINT64_C(0x1032547698badcfe));
	assert_int_equal(key.word[1], UINT64_C(0x1032547698badcfe));
}

static void
a_key_of_other_than_32_digits_is_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"0",
		"000102030405060708090a0b0c0d0e0",
		"000102030405060708090a0b0c0d0e0f0",
		"000102030405060708090a0b0c0d0e0f ",
		" 000102030405060708090a0b0c0d0e0f",
		"0x0102030405060708090a0b0c0d0e0f",
		"000102030405060708090a0b0c0d0e0g",
		"000102030405060708090A0B0C0D0E0/",
		"000102030405060708090a0b0c0d0e0:",
		"000102030405060708090a0b0c0d0e@f",
		"00010203-0405060708090a0b0c0d0e0f",
		"000102030405060708090a0b0c0d0e\xc3\xa9",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct weir_hash_key key = counting_key;

		assert_int_equal(weir_hash_key_parse(bad[i], &key), -EINVAL);
		assert_memory_equal(&key, &counting_key, sizeof(key));
	}
}

static void
random_keys_differ(void **state)
{
	struct weir_hash_key a = { { 0 } };
	struct weir_hash_key b = { { 0 } };

	(void)state;
	assert_int_equal(weir_hash_key_random(&a), 0);
	assert_int_equal(weir_hash_key_random(&b), 0);
	assert_memory_not_equal(&a, &b, sizeof(a));
	/* Each half was drawn: equal to the initial 0 by chance once in 2^64 runs. */
	assert_int_not_equal(a.word[0], 0);
	assert_int_not_equal(a.word[1], 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_reference_gives_the_published_vectors),
		cmocka_unit_test(whole_words_give_the_published_vectors),
		cmocka_unit_test(random_words_and_keys_agree_with_the_reference),
		cmocka_unit_test(every_bit_of_the_hash_key_counts),
		cmocka_unit_test(every_bit_of_the_flow_key_flips_half_the_hash),
		cmocka_unit_test(consecutive_flows_fill_buckets_evenly),
		cmocka_unit_test(a_bucket_is_the_top_16_bits),
		cmocka_unit_test(a_key_is_read_first_byte_first),
		cmocka_unit_test(a_key_of_other_than_32_digits_is_refused),
		cmocka_unit_test(random_keys_differ),
	};

	return cmocka_run_group_tests_name("flow_hash", tests, NULL, NULL);
}
