/* SPDX-License-Identifier: BSD-3-Clause */
/* A set of worker ids: 256 bits, visited in ascending order. */
#ifndef WEIR_BASE_BITSET_H
#define WEIR_BASE_BITSET_H

#include <stdbool.h>
#include <stdint.h>

#define BITSET_WORDS 4

struct bitset {
	uint64_t word[BITSET_WORDS];
};

static inline void
bitset_add(struct bitset *set, uint32_t id)
{
	set->word[id >> 6] |= UINT64_C(1) << (id & 63);
}

static inline void
bitset_remove(struct bitset *set, uint32_t id)
{
	set->word[id >> 6] &= ~(UINT64_C(1) << (id & 63));
}

static inline bool
bitset_has(const struct bitset *set, uint32_t id)
{
	return set->word[id >> 6] >> (id & 63) & 1;
}

static inline void
bitset_add_all(struct bitset *set, const struct bitset *other)
{
	for (uint32_t i = 0; i < BITSET_WORDS; i++)
		set->word[i] |= other->word[i];
}

static inline bool
bitset_is_empty(const struct bitset *set)
{
	return (set->word[0] | set->word[1] | set->word[2] | set->word[3]) == 0;
}

/* Whether the two have a member in common. */
static inline bool
bitset_meets(const struct bitset *set, const struct bitset *other)
{
	uint64_t common = 0;

	for (uint32_t i = 0; i < BITSET_WORDS; i++)
		common |= set->word[i] & other->word[i];
	return common != 0;
}

/* Takes the lowest id of word `w` out of `*bits`, which must not be 0. */
static inline uint32_t
bitset_pop(uint64_t *bits, uint32_t w)
{
	const uint32_t id = w * 64 + (uint32_t)__builtin_ctzll(*bits);

	*bits &= *bits - 1;
	return id;
}

#endif
