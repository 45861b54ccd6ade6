/* SPDX-License-Identifier: BSD-3-Clause */
/* The system's clocks in nanoseconds: for control, not for loops, which read the TSC. */
#ifndef WEIR_DATAPLANE_CLOCK_H
#define WEIR_DATAPLANE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* The time of CLOCK_MONOTONIC or CLOCK_REALTIME. */
static inline uint64_t
clock_read_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

#endif
