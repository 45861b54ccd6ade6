/* SPDX-License-Identifier: BSD-3-Clause */
#include "packet_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_memory.h>

#include "cacheline.h"

/* Buffers stand at cache lines, as those of any pool, but for the longest: DPDK has 16 bits. */
static size_t
buffer_bytes(uint32_t room_bytes)
{
	const size_t bytes = round_up(room_bytes, CACHE_LINE_BYTES);

	return bytes <= UINT16_MAX ? bytes : room_bytes;
}

size_t
packet_memory_bytes(uint64_t n, uint32_t room_bytes, size_t page_bytes, bool is_one_piece)
{
	const size_t each = buffer_bytes(room_bytes);
	const size_t per_page = page_bytes / each;

	if (is_one_piece || per_page == 0)
		return round_up(n * each, page_bytes);
	return (n + per_page - 1) / per_page * page_bytes;
}

/* Whether devices go by virtual addresses: then no page's end is an end for them. */
static bool
is_one_piece(void)
{
	return rte_eal_iova_mode() == RTE_IOVA_VA;
}

static int
memory_fail(const char *what, int error_number)
{
	fprintf(stderr, "weir: packets' memory: %s: %s\n", what, strerror(error_number));
	return error_number == EINVAL ? -EIO : -error_number;
}

/* A file in memory, of the kind of pages that EAL has. Returns 0 or -errno after a line. */
static int
file_create(struct packet_memory *memory)
{
	const unsigned int pages = rte_eal_has_hugepages() ? MFD_HUGETLB : 0;
	struct statfs status;

	memory->fd = memfd_create("weir-packets", MFD_CLOEXEC | MFD_ALLOW_SEALING | pages);
	if (memory->fd < 0)
		return memory_fail("no file in memory", errno);
	if (fstatfs(memory->fd, &status) < 0) {
		const int error_number = errno;

		close(memory->fd);
		return memory_fail("the size of its pages", error_number);
	}
	memory->page_bytes = (size_t)status.f_bsize;
	return 0;
}

/*
 * What the machine can give, as it says itself: it would rather end processes than say no to one
 * that takes more. Of huge pages it says no.
 */
static size_t
memory_available(const struct packet_memory *memory)
{
	FILE *file = memory->page_bytes > (size_t)sysconf(_SC_PAGESIZE)
			     ? NULL
			     : fopen("/proc/meminfo", "re");
	unsigned long long kilobytes = 0;
	char line[128];
	bool found = false;

	while (!found && file && fgets(line, sizeof(line), file))
		found = sscanf(line, "MemAvailable: %llu kB", &kilobytes) == 1;
	if (file)
		fclose(file);
	return found ? (size_t)kilobytes * 1024 : SIZE_MAX;
}

static bool
memory_lacks(int error_number)
{
	return error_number == ENOMEM || error_number == ENOSPC;
}

/*
 * Every page is there from now on: huge ones are reserved for the mapping, and neither kind faults
 * on the packet path. Returns 0, or -errno as the caller returns it.
 */
static int
file_map(struct packet_memory *memory, size_t bytes)
{
	if (bytes > memory_available(memory))
		return -ENOMEM;
	if (fallocate(memory->fd, 0, 0, (off_t)bytes) < 0)
		return memory_lacks(errno) ? -ENOMEM : memory_fail("its size", errno);
	memory->base =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, memory->fd, 0);
	if (memory->base == MAP_FAILED) {
		memory->base = NULL;
		return errno == ENOMEM ? -ENOMEM : memory_fail("its mapping", errno);
	}
	memory->bytes = bytes;
	/* Who has the file open could otherwise take the pages away under us. */
	if (fcntl(memory->fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) < 0)
		return memory_fail("its seals", errno);
	return 0;
}

/* Gives the memory to the devices that need to be told. Returns 0 or -errno after a line. */
static int
devices_tell(struct packet_memory *memory, const struct ports *ports)
{
	for (uint32_t i = 0; i < ports->n; i++) {
		struct rte_eth_dev_info info;

		if (rte_eth_dev_info_get(ports->port[i].id, &info) < 0 || !info.device)
			continue;
		if (rte_dev_dma_map(info.device, memory->base, (uintptr_t)memory->base,
			    memory->bytes) < 0) {
			/* Virtual devices, and buses that map all there is: nothing to tell. */
			if (rte_errno == ENOTSUP)
				continue;
			return memory_fail(ports->port[i].name, rte_errno);
		}
		memory->device[memory->n_devices++] = info.device;
	}
	return 0;
}

int
packet_memory_open(
	struct packet_memory *memory, uint64_t n, uint32_t room_bytes, const struct ports *ports)
{
	int rc;

	*memory = (struct packet_memory) { .fd = -1 };
	rc = file_create(memory);
	if (rc < 0)
		return rc;
	rc = file_map(
		memory, packet_memory_bytes(n, room_bytes, memory->page_bytes, is_one_piece()));
	if (rc < 0)
		return rc;
	if (rte_extmem_register(memory->base, memory->bytes, NULL, 0, memory->page_bytes) < 0)
		return rte_errno == ENOMEM ? -ENOMEM : memory_fail("DPDK", rte_errno);
	memory->is_registered = true;
	return devices_tell(memory, ports);
}

/*
 * The pieces that are one for a device: all of it where devices go by virtual addresses, else each
 * page. Returns how many; fills `pieces` unless it is NULL.
 */
static uint32_t
pieces_list(
	const struct packet_memory *memory, uint32_t room_bytes, struct rte_pktmbuf_extmem *pieces)
{
	const size_t piece = is_one_piece() ? memory->bytes : memory->page_bytes;
	uint32_t n = 0;

	for (size_t at = 0; at < memory->bytes; at += piece, n++) {
		if (pieces)
			pieces[n] = (struct rte_pktmbuf_extmem) {
				.buf_ptr = (char *)memory->base + at,
				.buf_iova = rte_mem_virt2iova((char *)memory->base + at),
				.buf_len = piece,
				.elt_size = (uint16_t)buffer_bytes(room_bytes),
			};
	}
	return n;
}

struct rte_mempool *
packet_memory_pool(const struct packet_memory *memory, const char *name, uint32_t n,
	uint32_t cache_mbufs, uint32_t room_bytes, int socket_id)
{
	const uint32_t n_pieces = pieces_list(memory, room_bytes, NULL);
	struct rte_pktmbuf_extmem *pieces = calloc(n_pieces, sizeof(*pieces));
	struct rte_mempool *pool;

	if (!pieces) {
		rte_errno = ENOMEM;
		return NULL;
	}
	pieces_list(memory, room_bytes, pieces);
	pool = rte_pktmbuf_pool_create_extbuf(
		name, n, cache_mbufs, 0, (uint16_t)room_bytes, socket_id, pieces, n_pieces);
	free(pieces);
	return pool;
}

void
packet_memory_close(struct packet_memory *memory)
{
	for (uint32_t i = 0; i < memory->n_devices; i++)
		(void)rte_dev_dma_unmap(
			memory->device[i], memory->base, (uintptr_t)memory->base, memory->bytes);
	if (memory->is_registered)
		(void)rte_extmem_unregister(memory->base, memory->bytes);
	if (memory->base)
		munmap(memory->base, memory->bytes);
	if (memory->page_bytes > 0)
		close(memory->fd);
	*memory = (struct packet_memory) { 0 };
}
