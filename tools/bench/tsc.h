/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Readings of the cycle counter that instructions cannot drift across, and a wait until the store
 * buffer is empty. On x86 it counts at a constant rate, whatever the core's clock is.
 */
#ifndef WEIR_BENCH_TSC_H
#define WEIR_BENCH_TSC_H

#include <stdint.h>

#if defined(__x86_64__)

#include <immintrin.h>

/* Everything before it has been executed, nothing behind it has begun. */
static inline uint64_t
tsc_read(void)
{
	uint64_t cycles;

	_mm_lfence();
	cycles = __builtin_ia32_rdtsc();
	_mm_lfence();
	return cycles;
}

static inline void
stores_drain(void)
{
	_mm_mfence();
}

static inline void
spin_pause(void)
{
	_mm_pause();
}

#elif defined(__aarch64__)

static inline uint64_t
tsc_read(void)
{
	uint64_t cycles;

	__asm__ __volatile__("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(cycles)::"memory");
	return cycles;
}

static inline void
stores_drain(void)
{
	__asm__ __volatile__("dsb ish" ::: "memory");
}

static inline void
spin_pause(void)
{
	__asm__ __volatile__("yield" ::: "memory");
}

#else
#error "weir-bench needs a cycle counter: teach tsc_read() this architecture's"
#endif

#endif
