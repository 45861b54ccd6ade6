/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker that is attached through its files, as a process of its own would be: at addresses that
 * are not the pool's. Usable in a forked child: asserts nothing.
 */
#ifndef WEIR_TESTS_ATTACHED_H
#define WEIR_TESTS_ATTACHED_H

#include <stdbool.h>

#include <weir/weir.h>

struct attached {
	struct weir_worker_mapping mapping;
	struct weir_worker *worker;
};

/* Maps a worker's files: lanes read-only. `data` is as the caller has it mapped. */
bool attached_map(struct attached *attached, const struct weir_pool *pool, weir_worker_id id,
	void *data, size_t data_bytes);

/* Maps and attaches. Returns whether all went well. */
bool attached_open(struct attached *attached, const struct weir_pool *pool, weir_worker_id id,
	void *data, size_t data_bytes);

/* Detaches and unmaps what attached_map mapped. */
void attached_close(struct attached *attached);

/* Unmaps the pool's own view of its lanes and workers' memory: for a forked child, which has it. */
void attached_pool_forget(struct weir_pool *pool);

#endif
