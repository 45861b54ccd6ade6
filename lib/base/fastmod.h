/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remainders without a division. Source: Lemire, Kaser, Kurz, "Faster remainder by direct
 * computation" (2019): exact for 32-bit operands with a 64-bit reciprocal.
 */
#ifndef WEIR_BASE_FASTMOD_H
#define WEIR_BASE_FASTMOD_H

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

#endif
