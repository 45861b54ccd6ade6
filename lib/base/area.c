/* SPDX-License-Identifier: BSD-3-Clause */
#include "area.h"

#include <errno.h>
#include <sys/mman.h>

#include "cacheline.h"

#define HUGE_PAGE_BYTES ((size_t)2 << 20)

int
area_allocate(struct area *area, size_t bytes)
{
	const size_t page = bytes >= HUGE_PAGE_BYTES ? HUGE_PAGE_BYTES : 4096;

	*area = (struct area) { 0 };
	bytes = round_up(bytes, page);
	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return -ENOMEM;
	/* A hint only: a kernel without huge pages serves small ones. */
	(void)madvise(memory, bytes, MADV_HUGEPAGE);
	*area = (struct area) { .memory = memory, .bytes = bytes };
	return 0;
}

void
area_free(struct area *area)
{
	if (area->memory)
		munmap(area->memory, area->bytes);
	*area = (struct area) { 0 };
}
