/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SipHash-1-3 over whole 64-bit words: the keyed hash of flow keys. Start, add words, end: a caller
 * that writes its adds out gets straight-line code, the state in four registers.
 * Source: Aumasson and Bernstein, "SipHash: a fast short-input PRF" (2012). A word stands for its
 * eight bytes in little-endian order, as in the paper.
 */
#ifndef WEIR_FLOW_SIPHASH_H
#define WEIR_FLOW_SIPHASH_H

#include <stdint.h>

/* Forced: gcc 12 makes calls of some rounds otherwise (62 cycles to classify IPv4, not 47). */
#define SIPHASH_INLINE static inline __attribute__((always_inline))

struct siphash {
	uint64_t v0;
	uint64_t v1;
	uint64_t v2;
	uint64_t v3;
};

SIPHASH_INLINE uint64_t
rotate_left(uint64_t value, unsigned int bits)
{
	return value << bits | value >> (64 - bits);
}

SIPHASH_INLINE struct siphash
siphash_round(struct siphash s)
{
	s.v0 += s.v1;
	s.v2 += s.v3;
	s.v1 = rotate_left(s.v1, 13) ^ s.v0;
	s.v3 = rotate_left(s.v3, 16) ^ s.v2;
	s.v0 = rotate_left(s.v0, 32) + s.v3;
	s.v2 += s.v1;
	s.v3 = rotate_left(s.v3, 21) ^ s.v0;
	s.v1 = rotate_left(s.v1, 17) ^ s.v2;
	s.v2 = rotate_left(s.v2, 32);
	return s;
}

/* key: the two little-endian halves of a 128-bit key. */
SIPHASH_INLINE struct siphash
siphash_start(const uint64_t *key)
{
	return (struct siphash) {
		.v0 = key[0] ^ UINT64_C(0x736f6d6570736575),
		.v1 = key[1] ^ UINT64_C(0x646f72616e646f6d),
		.v2 = key[0] ^ UINT64_C(0x6c7967656e657261),
		.v3 = key[1] ^ UINT64_C(0x7465646279746573),
	};
}

/* One round per word: the "1" of the name. */
SIPHASH_INLINE struct siphash
siphash_add(struct siphash s, uint64_t word)
{
	s.v3 ^= word;
	s = siphash_round(s);
	s.v0 ^= word;
	return s;
}

/* The hash of the `n_words` words added. Three rounds: the "3" of the name. */
SIPHASH_INLINE uint64_t
siphash_end(struct siphash s, unsigned int n_words)
{
	/* The last word has the message's length in its top byte; no bytes are left over. */
	s = siphash_add(s, (uint64_t)n_words * 8 << 56);
	s.v2 ^= 0xff;
	s = siphash_round(siphash_round(siphash_round(s)));
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

#endif
