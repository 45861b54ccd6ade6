/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * least-recent: of the packet's class, the worker that was picked longest ago. With a pool that
 * stays, that is each in turn; a newcomer waits behind everyone once, and one that stops has its
 * turns closed up. The first pick of a class is the first worker in pool order.
 *
 * Reads the class of each packet and its own memory. Does not keep the order of a flow. A pick is
 * one turn, whatever the chunk. A worker that left and came back between two picks of a class never
 * left, as far as that class can tell. A few loads and stores a packet, for any number of workers.
 * Source: XXL-JOB, LEAST_RECENTLY_USED.
 */
#include "registry.h"

#include "class_list.h"

static_assert(sizeof(struct class_lists) < 72 * 1024, "the memory of a dispatcher and route");

static void
newcomers_append(
	struct class_lists *lists, struct class_list *list, const struct weir_pick_context *ctx)
{
	class_list_prune(lists, list, ctx);
	for (uint32_t i = 0; i < ctx->n_routable; i++) {
		if (!class_list_has(list, ctx->routable[i]))
			class_list_link(list, ctx->routable[i], class_list_tail(list));
	}
}

static void
least_recent_pick_burst(struct weir_pick_context *ctx, const struct weir_meta *meta,
	uint32_t n_picks, uint16_t *out)
{
	struct class_lists *lists = ctx->state;

	class_lists_begin(lists, ctx, n_picks);
	for (uint32_t i = 0; i < n_picks; i++) {
		const uint32_t class_id = weir_class_id(&meta[i * ctx->stride]);
		struct class_list *list = &lists->of[class_id];
		uint32_t worker;

		if (!class_list_is_current(list, ctx))
			newcomers_append(lists, list, ctx);
		worker = class_list_head(list);
		class_list_unlink(list, worker);
		class_list_link(list, worker, class_list_tail(list));
		out[i] = class_lists_note(lists, class_id, worker);
	}
}

/* From the last pick back, so that each finds its worker where it put it: at the tail. */
static void
least_recent_withdraw_picks(struct weir_pick_context *ctx, uint32_t n_kept)
{
	struct class_lists *lists = ctx->state;

	while (lists->n_picks > n_kept) {
		const struct class_pick pick = lists->pick[--lists->n_picks];
		struct class_list *list = &lists->of[pick.class_id];

		class_list_unlink(list, pick.worker);
		class_list_link(list, pick.worker, CLASS_LIST_END);
	}
}

const struct weir_strategy strategy_least_recent = {
	.name = "least-recent",
	.help = "of each class, the worker picked longest ago; a newcomer waits its turn",
	.flags = WEIR_STRATEGY_READS_META,
	.state_bytes = sizeof(struct class_lists),
	.pick_burst = least_recent_pick_burst,
	.withdraw_picks = least_recent_withdraw_picks,
};
