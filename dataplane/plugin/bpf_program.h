/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An eBPF program that is a strategy, as rte_bpf runs it: compiled or interpreted, with its
 * helpers. Needs no EAL. Knows nothing of files' permissions or trials.
 */
#ifndef WEIR_DATAPLANE_BPF_PROGRAM_H
#define WEIR_DATAPLANE_BPF_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/strategy.h>

#include "bpf_elf.h"

struct rte_bpf;

struct bpf_program {
	struct weir_strategy strategy; /* its instance is this program; answers are unchecked */
	struct rte_bpf *bpf;
	uint64_t (*native)(void *context); /* NULL: interpreted */
	char help[80];
};

/*
 * Loads a program that bpf_object_read has seen; natively if that is asked for and can be had.
 * Returns 0 or -EINVAL with rte_bpf's own words in `reason`. While it loads, what DPDK logs goes
 * there: no other thread may log.
 */
int bpf_program_open(struct bpf_program *program, const char *path, const struct bpf_object *object,
	bool native, char *reason, size_t n_bytes);

/* The program behind what its strategy has prepared. */
struct bpf_program *bpf_program_of_table(const void *table);

/* Accepts a zeroed one. */
void bpf_program_close(struct bpf_program *program);

#endif
