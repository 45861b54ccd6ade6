/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random numbers as a function of (seed, index): no state, so the same index always draws the same
 * number, whatever was asked for before. For balance, not for secrets.
 */
#ifndef WEIR_BASE_RNG_H
#define WEIR_BASE_RNG_H

#include <stdint.h>

/*
 * The `index`-th output of SplitMix64 from `seed`.
 * Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014).
 */
static inline uint64_t
rng_at(uint64_t seed, uint64_t index)
{
	uint64_t z = seed + (index + 1) * UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* Maps a random number to 0 .. n - 1 by multiply and shift: no division, bias below n / 2^32. */
static inline uint32_t
rng_below(uint64_t random, uint32_t n)
{
	return (uint32_t)(((random >> 32) * n) >> 32);
}

#endif
