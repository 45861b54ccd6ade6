/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Helpers of eBPF programs. All that a program hands over is its context's address, which the
 * verifier has checked, and numbers, which are checked here.
 */
#include "bpf_helpers.h"

#include "rng.h"

#define UNUSED_ARGUMENTS (void)b, (void)c, (void)d, (void)e

static struct bpf_frame *
frame_of(uint64_t context)
{
	return (struct bpf_frame *)(uintptr_t)context;
}

/*
 * As the strategy `shallowest`: depths only grow within a burst, so that a scan may end at the
 * least depth that an earlier one has proven.
 */
static uint64_t
helper_shallowest(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e)
{
	struct bpf_frame *frame = frame_of(a);
	struct weir_pick_context *pick = frame->pick;
	uint32_t position = frame->rotation;
	uint32_t least_pkts = UINT32_MAX;
	uint32_t best = position;

	UNUSED_ARGUMENTS;
	for (uint32_t i = 0; i < pick->n_routable; i++) {
		const uint32_t depth_pkts = pick->depth[position];

		pick->depth_visits++;
		if (depth_pkts < least_pkts) {
			least_pkts = depth_pkts;
			best = position;
		}
		if (depth_pkts <= frame->floor_pkts)
			return best;
		position = position + 1 == pick->n_routable ? 0 : position + 1;
	}
	frame->floor_pkts = least_pkts;
	return best;
}

static uint64_t
helper_depth(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e)
{
	struct weir_pick_context *pick = frame_of(a)->pick;

	(void)c;
	(void)d;
	(void)e;
	if (b >= pick->n_routable)
		return UINT32_MAX;
	pick->depth_visits++;
	return pick->depth[b];
}

static uint64_t
helper_random(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e)
{
	const struct bpf_frame *frame = frame_of(a);

	UNUSED_ARGUMENTS;
	return rng_at(frame->pick->seed, frame->index);
}

/* The worker of slot `number` mod slots: these are at most 256 workers times 100. */
static uint64_t
helper_slot(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e)
{
	const struct bpf_table *table = frame_of(a)->table;

	(void)c;
	(void)d;
	(void)e;
	return table->slot[fastmod_wide(&table->by_slots, b)];
}

void
bpf_helpers_fill(struct rte_bpf_xsym *symbols)
{
	const struct rte_bpf_arg context = { .type = RTE_BPF_ARG_PTR,
		.size = sizeof(struct weir_bpf_context) };
	const struct rte_bpf_arg number = { .type = RTE_BPF_ARG_RAW, .size = sizeof(uint64_t) };
	const struct {
		const char *name;
		uint64_t (*function)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
		uint32_t n_arguments;
	} helpers[BPF_HELPERS] = {
		{ "weir_shallowest", helper_shallowest, 1 },
		{ "weir_depth", helper_depth, 2 },
		{ "weir_random", helper_random, 1 },
		{ "weir_slot", helper_slot, 2 },
	};

	for (uint32_t i = 0; i < BPF_HELPERS; i++) {
		symbols[i] = (struct rte_bpf_xsym) { .name = helpers[i].name,
			.type = RTE_BPF_XTYPE_FUNC };
		symbols[i].func.val = helpers[i].function;
		symbols[i].func.nb_args = helpers[i].n_arguments;
		symbols[i].func.args[0] = context;
		if (helpers[i].n_arguments > 1)
			symbols[i].func.args[1] = number;
		symbols[i].func.ret = number;
	}
}
