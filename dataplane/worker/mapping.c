/* SPDX-License-Identifier: BSD-3-Clause */
#include "mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* In the order of enum worker_file. */
static const struct {
	const char *name;
	int protection;
} files_known[WORKER_FILE_COUNT] = {
	[WORKER_FILE_LANES] = { "lanes", PROT_READ },
	[WORKER_FILE_OWN] = { "verdicts", PROT_READ | PROT_WRITE },
	[WORKER_FILE_DATA] = { "packets", PROT_READ | PROT_WRITE },
};

/* Maps one file. Returns 0 or -errno with the reason. */
static int
file_map(enum worker_file which, int fd, uint64_t bytes, void **memory, char *reason)
{
	const char *name = files_known[which].name;
	const int seals = fcntl(fd, F_GET_SEALS);
	struct stat status;

	if (fstat(fd, &status) < 0 || status.st_size < 0 || (uint64_t)status.st_size < bytes) {
		snprintf(reason, WORKER_REASON_BYTES,
			"the file of the %s is shorter than the %" PRIu64 " bytes of the offer",
			name, bytes);
		return -EPROTO;
	}
	/* A file that shrinks behind its mapping kills whoever looks there. */
	if (seals < 0 || !(seals & F_SEAL_SHRINK)) {
		snprintf(reason, WORKER_REASON_BYTES, "the file of the %s can still shrink", name);
		return -EPROTO;
	}
	*memory = mmap(NULL, bytes, files_known[which].protection, MAP_SHARED, fd, 0);
	if (*memory == MAP_FAILED || madvise(*memory, bytes, MADV_DONTFORK) < 0) {
		const int error_number = errno;

		snprintf(reason, WORKER_REASON_BYTES, "the %s cannot be mapped: %s", name,
			strerror(error_number));
		if (*memory != MAP_FAILED)
			munmap(*memory, bytes);
		*memory = NULL;
		return -error_number;
	}
	return 0;
}

int
mapping_open(struct weir_worker_mapping *mapping, const struct worker_offer *offer,
	const int files[WORKER_FILE_COUNT], char reason[WORKER_REASON_BYTES])
{
	void *memory[WORKER_FILE_COUNT] = { NULL };
	int rc = 0;

	for (int i = 0; i < WORKER_FILE_COUNT && rc == 0; i++)
		rc = file_map(
			(enum worker_file)i, files[i], offer->file_bytes[i], &memory[i], reason);
	for (int i = 0; i < WORKER_FILE_COUNT; i++)
		close(files[i]);
	*mapping = (struct weir_worker_mapping) {
		.lanes = memory[WORKER_FILE_LANES],
		.lanes_bytes = offer->file_bytes[WORKER_FILE_LANES],
		.own = memory[WORKER_FILE_OWN],
		.own_bytes = offer->file_bytes[WORKER_FILE_OWN],
		.data = memory[WORKER_FILE_DATA],
		.data_bytes = offer->file_bytes[WORKER_FILE_DATA],
	};
	if (rc < 0)
		mapping_close(mapping);
	return rc;
}

void
mapping_close(struct weir_worker_mapping *mapping)
{
	if (mapping->data)
		munmap(mapping->data, mapping->data_bytes);
	if (mapping->own)
		munmap(mapping->own, mapping->own_bytes);
	if (mapping->lanes)
		munmap((void *)(uintptr_t)mapping->lanes, mapping->lanes_bytes);
	*mapping = (struct weir_worker_mapping) { 0 };
}
