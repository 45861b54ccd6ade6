/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What Weir has to know of an object file before rte_bpf reads it: which of the two sections it
 * has, and which instructions. Knows no DPDK.
 */
#ifndef WEIR_DATAPLANE_BPF_ELF_H
#define WEIR_DATAPLANE_BPF_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BPF_SECTION_PICK "weir/pick"
#define BPF_SECTION_PICK_OR_NONE "weir/pick_or_none"

struct bpf_object {
	const char *section; /* one of the two above */
	uint32_t n_instructions;
	bool tests_bits; /* has a jump on set bits (JSET) */
};

/* Reads an object file. Returns 0, -ENOEXEC or another -errno with a line in `reason`. */
int bpf_object_read(struct bpf_object *object, const char *path, char *reason, size_t n_bytes);

#endif
