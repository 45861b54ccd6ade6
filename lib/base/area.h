/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory areas: zeroed, page-aligned, allocated before the first packet and never on the packet
 * path. Backed by transparent huge pages where the kernel grants them, since a dispatcher that
 * sprays over many lanes touches more pages than the first-level TLB has entries.
 */
#ifndef WEIR_BASE_AREA_H
#define WEIR_BASE_AREA_H

#include <stdbool.h>
#include <stddef.h>

/* What mappings are made of, but for huge ones. */
#define PAGE_BYTES ((size_t)4096)

struct area {
	void *memory;
	size_t bytes;
	int *fds; /* of areas that are files; NULL of others */
	size_t n_fds;
};

/* Returns 0, or -ENOMEM with `area` empty. */
int area_allocate(struct area *area, size_t bytes);

/*
 * An area of `n` blocks that are files in memory, so that processes can map each by itself. Their
 * size is sealed: nobody can make memory vanish that others use; with `is_read_only` also against
 * writing, but by this area, which is mapped already. `block_bytes` is a multiple of the page size.
 * Returns 0, or -ENOMEM with `area` empty.
 */
int area_map_files(
	struct area *area, const char *name, size_t block_bytes, size_t n, bool is_read_only);

/* Frees an area; an empty one is allowed and an area is empty afterwards. */
void area_free(struct area *area);

#endif
