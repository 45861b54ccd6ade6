/* SPDX-License-Identifier: BSD-3-Clause */
/* Strategies from eBPF object files, as weir_strategy_load is for shared objects. Needs no EAL. */
#ifndef WEIR_DATAPLANE_BPF_LOAD_H
#define WEIR_DATAPLANE_BPF_LOAD_H

#include <stddef.h>

struct weir_strategy;

/*
 * Verifies and tries the program in a child process with a time limit, then loads it. It is
 * compiled where that is safe: not if it tests bits (the x86 compiler of DPDK 22.11 spoils JSET),
 * and not if the compiled code crashes or answers otherwise than the interpreter in the trial.
 *
 * Returns what weir_strategy_unload frees; or NULL with errno, and one line in `reason`.
 */
struct weir_strategy *bpf_strategy_load(
	const char *file, const char *name, char *reason, size_t n_bytes);

#endif
