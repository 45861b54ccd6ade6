/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * weighted.c as an eBPF program. Programs have no loops and no tables: a helper has the list.
 *   clang -O2 -target bpf -mcpu=v2 $(pkg-config --cflags weir) -c weighted.bpf.c -o weighted.o
 *   weir ... -- --strategy bpf:weighted.o
 */
#include <weir/bpf_strategy.h>

WEIR_BPF_PICK __UINT64_TYPE__
weighted(struct weir_bpf_context *context)
{
	return weir_slot(context, context->index);
}
