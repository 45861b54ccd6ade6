/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remainders without a division. Source: Lemire, Kaser, Kurz, "Faster remainder by direct
 * computation" (2019): exact for 32-bit operands with a 64-bit reciprocal.
 */
#ifndef WEIR_BASE_FASTMOD_H
#define WEIR_BASE_FASTMOD_H

#include <assert.h>
#include <stdint.h>

struct fastmod {
	uint64_t reciprocal;
	uint32_t divisor;
};

/* divisor: 1 or more. Divides; for cold paths. */
static inline struct fastmod
fastmod_make(uint32_t divisor)
{
	return (struct fastmod) { .reciprocal = UINT64_MAX / divisor + 1, .divisor = divisor };
}

/* value mod divisor. */
static inline uint32_t
fastmod(struct fastmod by, uint32_t value)
{
	const uint64_t low = by.reciprocal * value;

	return (uint32_t)(((unsigned __int128)low * by.divisor) >> 64);
}

/* Largest divisor of values of 64 bits: the product of two remainders and a third must fit 32. */
#define FASTMOD_WIDE_MAX UINT16_MAX

struct fastmod_wide {
	struct fastmod by;
	uint32_t two_to_32; /* 2^32 mod the divisor */
};

/* divisor: 1 .. FASTMOD_WIDE_MAX (asserted). Divides; for cold paths. */
static inline struct fastmod_wide
fastmod_wide_make(uint32_t divisor)
{
	assert(divisor <= FASTMOD_WIDE_MAX);
	return (struct fastmod_wide) { .by = fastmod_make(divisor),
		.two_to_32 = (uint32_t)((UINT64_C(1) << 32) % divisor) };
}

/* value mod divisor, from the remainders of its halves. */
static inline uint32_t
fastmod_wide(const struct fastmod_wide *wide, uint64_t value)
{
	const uint32_t high = fastmod(wide->by, (uint32_t)(value >> 32));
	const uint32_t low = fastmod(wide->by, (uint32_t)value);

	return fastmod(wide->by, high * wide->two_to_32 + low);
}

#endif
