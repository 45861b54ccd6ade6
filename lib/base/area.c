/* SPDX-License-Identifier: BSD-3-Clause */
#include "area.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cacheline.h"

#define HUGE_PAGE_BYTES ((size_t)2 << 20)

int
area_allocate(struct area *area, size_t bytes)
{
	const size_t page = bytes >= HUGE_PAGE_BYTES ? HUGE_PAGE_BYTES : PAGE_BYTES;

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

/* Maps a new file over `at`, which is reserved. Returns its descriptor, or -1. */
static int
block_map(const char *name, void *at, size_t bytes, int seals)
{
	const int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -1;
	/* Sealed once it is mapped: what is mapped for writing before stays so. */
	if (ftruncate(fd, (off_t)bytes) < 0 ||
		mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
			MAP_FAILED ||
		fcntl(fd, F_ADD_SEALS, seals) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

int
area_map_files(struct area *area, const char *name, size_t block_bytes, size_t n, bool is_read_only)
{
	const int size_seals = F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
	const int seals = is_read_only ? size_seals | F_SEAL_FUTURE_WRITE : size_seals;
	char *memory;

	*area = (struct area) { .fds = calloc(n, sizeof(*area->fds)) };
	if (!area->fds)
		return -ENOMEM;
	memory = mmap(NULL, n * block_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		goto fail;
	area->memory = memory;
	area->bytes = n * block_bytes;
	for (; area->n_fds < n; area->n_fds++) {
		const int fd =
			block_map(name, memory + area->n_fds * block_bytes, block_bytes, seals);

		if (fd < 0)
			goto fail;
		area->fds[area->n_fds] = fd;
	}
	return 0;

fail:
	area_free(area);
	return -ENOMEM;
}

void
area_free(struct area *area)
{
	for (size_t i = 0; i < area->n_fds; i++)
		close(area->fds[i]);
	free(area->fds);
	if (area->memory)
		munmap(area->memory, area->bytes);
	*area = (struct area) { 0 };
}
