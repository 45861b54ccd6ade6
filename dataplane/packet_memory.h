/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory for packets' data that other processes can map: one file in memory, known to DPDK as
 * external memory. mbufs, which have pointers in them, stay in EAL's own.
 */
#ifndef WEIR_DATAPLANE_PACKET_MEMORY_H
#define WEIR_DATAPLANE_PACKET_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_config.h>

#include "port.h"

struct rte_device;
struct rte_mempool;

/* Zeroed: none. */
struct packet_memory {
	int fd; /* size sealed; only with `base` */
	void *base;
	size_t bytes;
	size_t page_bytes;
	bool is_registered;
	uint32_t n_devices; /* that were given the memory for DMA */
	struct rte_device *device[RTE_MAX_ETHPORTS];
};

/*
 * The bytes in whole pages that `n` buffers with `room_bytes` of data take. No EAL needed.
 *
 * @param is_one_piece buffers may lie across the end of a page
 */
size_t packet_memory_bytes(uint64_t n, uint32_t room_bytes, size_t page_bytes, bool is_one_piece);

/*
 * Makes memory for `n` buffers with `room_bytes` of data each, of huge pages if EAL has some, and
 * shows it to DPDK and to the ports' devices. Returns 0; -ENOMEM if memory is short, with
 * `page_bytes` set and nothing printed; or -errno after a line on stderr. In every case
 * packet_memory_close undoes it.
 */
int packet_memory_open(
	struct packet_memory *memory, uint64_t n, uint32_t room_bytes, const struct ports *ports);

/*
 * Creates a pool of `n` mbufs whose data lie in the memory. No clone may come from it: each would
 * keep a buffer for ever. Returns NULL with rte_errno. Freed with rte_mempool_free.
 */
struct rte_mempool *packet_memory_pool(const struct packet_memory *memory, const char *name,
	uint32_t n, uint32_t cache_mbufs, uint32_t room_bytes, int socket_id);

/* Undoes packet_memory_open: after the pool is freed and the ports are closed. */
void packet_memory_close(struct packet_memory *memory);

#endif
