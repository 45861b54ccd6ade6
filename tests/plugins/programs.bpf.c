/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * eBPF programs for tests; the build chooses which one is PROGRAM. Most have
 * one fault.
 */
#include <weir/bpf_strategy.h>

#define PART static inline __attribute__((always_inline, unused)) u64

typedef __UINT64_TYPE__ u64;

extern u64 weir_unknown(struct weir_bpf_context *context);

/* What the compiler must not see through. */
#define HIDE(x) __asm__ volatile("" : "+r"(x) : : "memory")

/* One of the helpers in turn, by the index. */
PART
helper_answer(struct weir_bpf_context *context)
{
	const u64 which = context->index & 7;

	if (which == 0)
		return weir_shallowest(context);
	if (which == 1)
		return weir_depth(context, 1);
	if (which == 2)
		return weir_depth(context, context->n_routable) == 0xffffffff;
	if (which == 3)
		return weir_random(context);
	if (which == 4)
		return weir_random(context) == weir_random(context);
	return weir_slot(context, context->hash);
}

PART
helpers(struct weir_bpf_context *context)
{
	return helper_answer(context) % context->n_routable;
}

/* What it is told of the packet and the pool, one by one. */
PART
tells(struct weir_bpf_context *context)
{
	const u64 which = context->index & 7;

	if (which == 0)
		return context->hash % 251 % context->n_routable;
	if (which == 1)
		return context->length % context->n_routable;
	if (which == 2)
		return context->bucket % context->n_routable;
	if (which == 3)
		return context->port % context->n_routable;
	if (which == 4)
		return context->class_id % context->n_routable;
	if (which == 5)
		return context->stride % context->n_routable;
	if (which == 6)
		return context->now_ns % context->n_routable;
	return context->seed % context->n_routable;
}

/* What it writes is gone when the next packet comes. */
PART
writes_context(struct weir_bpf_context *context)
{
	const u64 position = context->unused[3] + context->rotation;

	context->n_routable = 1000;
	context->rotation = 0;
	context->index = 5;
	return context->reserved ? 0 : position;
}

PART
none(struct weir_bpf_context *context)
{
	return context->index & 1 ? WEIR_BPF_NONE : context->rotation;
}

PART
seven(struct weir_bpf_context *context)
{
	return context->n_routable == 3 ? 7 : 0;
}

PART
loop(struct weir_bpf_context *context)
{
	u64 sum = 0;

	for (u64 i = 0; i < context->n_routable; i++) {
		HIDE(sum);
		sum += i;
	}
	return sum & 0;
}

/* The least depth of 24 workers: 2^24 ways through, and the verifier takes each. */
PART
deep_branches(struct weir_bpf_context *context)
{
	u64 least = 0, best = ~0ull;

#pragma clang loop unroll(full)
	for (u64 i = 0; i < 24; i++) {
		u64 depth = weir_depth(context, i);

		if (depth < best) {
			best = depth;
			least = i;
		}
		HIDE(least);
		HIDE(best);
	}
	return least;
}

/* if (hash & 1) 1, else 0: "if r1 & 1 goto +1", which clang 14 never makes of C. */
PART
jset(struct weir_bpf_context *context)
{
	register u64 hash __asm__("r1") = context->hash;
	register u64 answer __asm__("r0");

	__asm__ volatile("r0 = 1\n.8byte 0x0000000100010145\nr0 = 0" : "=r"(answer) : "r"(hash));
	return context->n_routable > 1 ? answer : 0;
}

PART
unknown_helper(struct weir_bpf_context *context)
{
	return weir_unknown(context);
}

PART
stack_for_context(struct weir_bpf_context *context)
{
	char own[500];
	char *fake = own;

	(void)context;
	HIDE(fake);
	return weir_shallowest((struct weir_bpf_context *)fake);
}

PART
beside_context(struct weir_bpf_context *context)
{
	return weir_shallowest((struct weir_bpf_context *)((char *)context + 8));
}

#ifndef SECTION
#define SECTION WEIR_BPF_PICK
#endif
SECTION u64
program(struct weir_bpf_context *context)
{
	return PROGRAM(context);
}

#ifdef ALSO
ALSO u64
also(struct weir_bpf_context *context)
{
	return PROGRAM(context);
}
#endif
