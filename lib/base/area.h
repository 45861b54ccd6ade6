/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory areas: zeroed, page-aligned, allocated before the first packet and never on the packet
 * path. Backed by transparent huge pages where the kernel grants them, since a dispatcher that
 * sprays over many lanes touches more pages than the first-level TLB has entries.
 */
#ifndef WEIR_BASE_AREA_H
#define WEIR_BASE_AREA_H

#include <stddef.h>

struct area {
	void *memory;
	size_t bytes;
};

/* Returns 0, or -ENOMEM with `area` empty. */
int area_allocate(struct area *area, size_t bytes);

/* Frees an area; an empty one is allowed and an area is empty afterwards. */
void area_free(struct area *area);

#endif
