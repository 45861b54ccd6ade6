/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * least-frequent: the worker that was picked for the fewest packets of the packet's class. Ties go
 * to the one that has had its count for longest, pool order at first. A newcomer, or a worker that
 * was away at some pick of the class, begins at the least count: it never has to catch up.
 *
 * Reads the class of each packet and its own memory. Does not keep the order of a flow. A pick
 * counts the whole chunk; the last one of a burst may have been shorter.
 * Source: XXL-JOB, LEAST_FREQUENTLY_USED, without what its counts suffer from: joining and
 * wrapping make one worker take everything there.
 */
#include "registry.h"

#include "class_list.h"

/*
 * The list is sorted by count. What is picked has the least, m, and then m + chunk, so that no two
 * counts are ever further apart than the largest chunk. Hence:
 * - with a constant chunk, which is the rule, the picked worker belongs at the very tail: no
 * search;
 * - counts may wrap, if differences are compared: what subtracting the least from all would do.
 */
struct least_frequent {
	struct class_lists lists;
	uint16_t count_pkts[WEIR_CLASSES_MAX][WEIR_WORKERS_MAX]; /* modulo 2^16 */
};
static_assert(WEIR_BURST_MAX <= INT16_MAX, "a difference of counts fits 16 bits");
static_assert(sizeof(struct least_frequent) < 104 * 1024, "the memory of a dispatcher and route");

/* Behind everyone whose count is not larger. */
static inline void
worker_insert(struct class_list *list, const uint16_t *count_pkts, uint32_t worker)
{
	uint32_t before = class_list_tail(list);

	while (before != CLASS_LIST_END &&
		(int16_t)(uint16_t)(count_pkts[before] - count_pkts[worker]) > 0)
		before = list->previous[before];
	class_list_link(list, worker, before);
}

static void
newcomers_insert(
	struct least_frequent *state, uint32_t class_id, const struct weir_pick_context *ctx)
{
	struct class_list *list = &state->lists.of[class_id];
	uint16_t *count_pkts = state->count_pkts[class_id];
	uint16_t least_pkts = 0;

	class_list_prune(&state->lists, list, ctx);
	if (class_list_head(list) != CLASS_LIST_END)
		least_pkts = count_pkts[class_list_head(list)];
	for (uint32_t i = 0; i < ctx->n_routable; i++) {
		const weir_worker_id worker = ctx->routable[i];

		if (class_list_has(list, worker))
			continue;
		count_pkts[worker] = least_pkts;
		worker_insert(list, count_pkts, worker);
	}
}

static void
least_frequent_pick_burst(struct weir_pick_context *ctx, const struct weir_meta *meta,
	uint32_t n_picks, uint16_t *out)
{
	struct least_frequent *state = ctx->state;

	assert(ctx->stride <= WEIR_BURST_MAX);
	class_lists_begin(&state->lists, ctx, n_picks);
	for (uint32_t i = 0; i < n_picks; i++) {
		const uint32_t class_id = weir_class_id(&meta[i * ctx->stride]);
		struct class_list *list = &state->lists.of[class_id];
		uint16_t *count_pkts = state->count_pkts[class_id];
		uint32_t worker;

		if (!class_list_is_current(list, ctx))
			newcomers_insert(state, class_id, ctx);
		worker = class_list_head(list);
		class_list_unlink(list, worker);
		count_pkts[worker] = (uint16_t)(count_pkts[worker] + ctx->stride);
		worker_insert(list, count_pkts, worker);
		out[i] = class_lists_note(&state->lists, class_id, worker);
	}
}

/* From the last pick back: each one's worker had the least count before, and stood at the head. */
static void
least_frequent_withdraw_picks(struct weir_pick_context *ctx, uint32_t n_kept)
{
	struct least_frequent *state = ctx->state;

	while (state->lists.n_picks > n_kept) {
		const struct class_pick pick = state->lists.pick[--state->lists.n_picks];
		struct class_list *list = &state->lists.of[pick.class_id];
		uint16_t *count_pkts = &state->count_pkts[pick.class_id][pick.worker];

		class_list_unlink(list, pick.worker);
		*count_pkts = (uint16_t)(*count_pkts - ctx->stride);
		class_list_link(list, pick.worker, CLASS_LIST_END);
	}
}

const struct weir_strategy strategy_least_frequent = {
	.name = "least-frequent",
	.help = "of each class, the worker picked for the fewest packets",
	.flags = WEIR_STRATEGY_READS_META,
	.state_bytes = sizeof(struct least_frequent),
	.pick_burst = least_frequent_pick_burst,
	.withdraw_picks = least_frequent_withdraw_picks,
};
