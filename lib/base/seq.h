/* SPDX-License-Identifier: BSD-3-Clause */
/* Free-running 32-bit sequence numbers: differences, never comparisons, so that they may wrap. */
#ifndef WEIR_BASE_SEQ_H
#define WEIR_BASE_SEQ_H

#include <stdbool.h>
#include <stdint.h>

/* How far `later` is ahead of `earlier`. */
static inline uint32_t
seq_distance(uint32_t earlier, uint32_t later)
{
	return later - earlier;
}

/* Whether `seq` is at or ahead of `mark`; they are less than 2^31 apart. */
static inline bool
seq_reached(uint32_t seq, uint32_t mark)
{
	return (int32_t)(seq - mark) >= 0;
}

/* Whether `seq` lies in [from, to]: `to` is at or ahead of `from`. */
static inline bool
seq_within(uint32_t from, uint32_t seq, uint32_t to)
{
	return seq_distance(from, seq) <= seq_distance(from, to);
}

#endif
