/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * XXL-JOB's route CONSISTENT_HASH exactly as its source has it: any text is an address, and where
 * points of two addresses are equal the later one in the list owns the point. For conformance
 * tests; no user's option: `ring` is ours.
 */
#ifndef WEIR_STRATEGY_RING_SOURCE_H
#define WEIR_STRATEGY_RING_SOURCE_H

#include <stdint.h>

#include "ring_points.h"

/* The ring of the `n` addresses of the list. Returns 0, -EINVAL (n is 0) or -ENOMEM. */
int ring_source_init(struct ring *ring, const char *const *addresses, uint32_t n);

/* Where in the list the address stands that owns a job, by the job's id in decimal digits. */
uint32_t ring_source_owner(const struct ring *ring, const char *job);

#endif
