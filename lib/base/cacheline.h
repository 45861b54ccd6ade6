/* SPDX-License-Identifier: BSD-3-Clause */
/* Cache lines, branch hints and prefetches. Everything that another core writes starts a line. */
#ifndef WEIR_BASE_CACHELINE_H
#define WEIR_BASE_CACHELINE_H

#include <stdalign.h>
#include <stddef.h>

#define CACHE_LINE_BYTES 64

/* One declarator per aligned declaration: the alignment applies to each of a list. */
#define CACHE_ALIGNED alignas(CACHE_LINE_BYTES)

/* DPDK's headers define the same two, if they are not defined. */
#ifndef likely
#define likely(condition) __builtin_expect(!!(condition), 1)
#endif
#ifndef unlikely
#define unlikely(condition) __builtin_expect(!!(condition), 0)
#endif

static inline void
prefetch_read(const void *address)
{
	__builtin_prefetch(address, 0, 3);
}

/*
 * Fetches a line in order to write it: what another core had last is on its way here before the
 * store needs it. gcc's builtin is a read prefetch on x86 unless the whole build asks for more; the
 * instruction is a no-op where a CPU lacks it.
 */
#if defined(__x86_64__)
static inline void
prefetch_write(const void *address)
{
	__asm__ __volatile__("prefetchw %0" : : "m"(*(const char *)address));
}
#else
static inline void
prefetch_write(const void *address)
{
	__builtin_prefetch(address, 1, 3);
}
#endif

static inline size_t
round_up(size_t value, size_t multiple)
{
	return (value + multiple - 1) / multiple * multiple;
}

#endif
