/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Source: XXL-JOB 3.x, ExecutorRouteConsistentHash. There the ring is a sorted map that is filled
 * in list order, so that a later address overwrites; here ranks that fall along the list say so.
 */
#include "ring_source.h"

#include <errno.h>

int
ring_source_init(struct ring *ring, const char *const *addresses, uint32_t n)
{
	if (n == 0)
		return -EINVAL;
	if (ring_init(ring, n) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		ring_add_address(ring, addresses[i], UINT32_MAX - i);
	ring_sort(ring);
	return 0;
}

uint32_t
ring_source_owner(const struct ring *ring, const char *job)
{
	return UINT32_MAX - ring_owner(ring, ring_hash(job));
}
