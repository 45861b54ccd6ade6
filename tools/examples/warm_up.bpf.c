/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * warm_up.c as an eBPF program: the first 100 packets to worker 0, what follows goes round.
 *   clang -O2 -target bpf -mcpu=v2 $(pkg-config --cflags weir) -c warm_up.bpf.c -o warm_up.o
 *   weir ... -- --strategy bpf:warm_up.o
 */
#include <weir/bpf_strategy.h>

WEIR_BPF_PICK __UINT64_TYPE__
warm_up(struct weir_bpf_context *context)
{
	return context->index < 100 ? 0 : context->rotation;
}
