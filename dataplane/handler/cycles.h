/* SPDX-License-Identifier: BSD-3-Clause */
/* The CPU's cycle counter (TSC): what `burn` measures by. One function per architecture. */
#ifndef WEIR_DATAPLANE_HANDLER_CYCLES_H
#define WEIR_DATAPLANE_HANDLER_CYCLES_H

#include <stdint.h>

#if defined(__x86_64__)

static inline uint64_t
cycles_now(void)
{
	return __builtin_ia32_rdtsc();
}

#elif defined(__aarch64__)

static inline uint64_t
cycles_now(void)
{
	uint64_t cycles;

	__asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(cycles));
	return cycles;
}

#else
#error "burn needs a cycle counter: teach cycles_now() this architecture's"
#endif

#endif
