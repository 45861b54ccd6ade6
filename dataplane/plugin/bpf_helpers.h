/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The helpers of eBPF programs, and what they find behind a program's context. Private to
 * bpf_program.c and bpf_helpers.c.
 */
#ifndef WEIR_DATAPLANE_BPF_HELPERS_H
#define WEIR_DATAPLANE_BPF_HELPERS_H

#include <assert.h>
#include <stdint.h>

#include <rte_bpf.h>

#include <weir/bpf_strategy.h>
#include <weir/strategy.h>

#include "fastmod.h"

#define BPF_STACK_BYTES 512 /* MAX_BPF_STACK_SIZE of rte_bpf */
#define BPF_HELPERS 4

/*
 * rte_bpf's verifier takes any memory of the right size for a pointer argument, the program's
 * stack included; only the context is larger than that.
 */
static_assert(sizeof(struct weir_bpf_context) > BPF_STACK_BYTES, "no stack passes for a context");

/* Of one snapshot: each position as often as its weight says. */
struct bpf_table {
	struct fastmod_wide by_slots;
	uint16_t slot[];
};

/* What lies around a context while a burst is picked for: out of the program's reach. */
struct bpf_frame {
	struct weir_bpf_context context; /* first: helpers are given its address */
	struct weir_pick_context *pick;
	const struct bpf_table *table;
	uint64_t index;	     /* of the packet: the program may write its own copy */
	uint32_t rotation;   /* likewise */
	uint32_t floor_pkts; /* the least depth that a whole scan of this burst has proven */
};

/* Fills `symbols`, BPF_HELPERS of them. */
void bpf_helpers_fill(struct rte_bpf_xsym *symbols);

#endif
