/* SPDX-License-Identifier: BSD-3-Clause */
#include "attached.h"

#include <sys/mman.h>

#include "pool.h"

bool
attached_map(struct attached *attached, const struct weir_pool *pool, weir_worker_id id, void *data,
	size_t data_bytes)
{
	struct weir_worker_memory memory;
	void *lanes;
	void *own;

	*attached = (struct attached) { 0 };
	if (weir_pool_worker_memory(pool, id, &memory) < 0)
		return false;
	lanes = mmap(NULL, memory.lanes_bytes, PROT_READ, MAP_SHARED, memory.lanes_fd, 0);
	own = mmap(NULL, memory.own_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory.own_fd, 0);
	if (lanes == MAP_FAILED || own == MAP_FAILED)
		return false;
	attached->mapping = (struct weir_worker_mapping) {
		.lanes = lanes,
		.lanes_bytes = memory.lanes_bytes,
		.own = own,
		.own_bytes = memory.own_bytes,
		.data = data,
		.data_bytes = data_bytes,
	};
	return true;
}

bool
attached_open(struct attached *attached, const struct weir_pool *pool, weir_worker_id id,
	void *data, size_t data_bytes)
{
	if (!attached_map(attached, pool, id, data, data_bytes))
		return false;
	attached->worker = weir_worker_attach(&attached->mapping, NULL, 0);
	return attached->worker != NULL;
}

void
attached_close(struct attached *attached)
{
	weir_worker_detach(attached->worker);
	munmap((void *)(uintptr_t)attached->mapping.lanes, attached->mapping.lanes_bytes);
	munmap(attached->mapping.own, attached->mapping.own_bytes);
	*attached = (struct attached) { 0 };
}

void
attached_pool_forget(struct weir_pool *pool)
{
	munmap(pool->lane_area.memory, pool->lane_area.bytes);
	munmap(pool->worker_area.memory, pool->worker_area.bytes);
}
