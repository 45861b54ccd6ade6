/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * busyover: the first worker in pool order that is idle for the packet's class: nothing of that
 * class is outstanding there. What else the worker has, and whether its lane is full, does not
 * matter: the overflow policy sees to that. All busy: no worker is picked, for a fallback to find
 * one or for the packet to end as `all_busy`. By itself it keeps no order of flows.
 * Source: XXL-JOB's BUSYOVER, with the check and the taking made one step.
 *
 * It reads the class and its depth at each worker, at most once a worker and burst: who was found
 * busy stays so for the rest of the call. With several dispatchers it reads the claim of a worker
 * that has nothing of its own as well, and takes it.
 *
 * A pick counts at once, as one packet of the class of its first: that makes its worker busy for
 * the rest of the call. From then on the dispatcher counts what it lends, and gives the claims of
 * picks back that came to nothing. With a chunk the others of a pick, whatever their class, go to
 * the same worker behind it.
 */
#include "registry.h"

#include <weir/stats.h>

/*
 * Edge E8, acquire side; the release side is where a dispatcher finds that its last packet of the
 * class has left the worker, or that a pick came to nothing. Without it two dispatchers that both
 * see the worker idle would both pick it. The compare-and-swap is one of the two read-modify-writes
 * of the packet path: it is tried only for a worker that looks free, so that a busy one's line
 * stays shared. Acquire: whoever gets a claim sees all that its last holder did before giving it
 * up.
 *
 * A claim that is ours already is good: nothing of the class is out, or it would not be asked for,
 * and nobody else can have taken it.
 */
static inline bool
claim_take(const struct weir_pick_context *ctx, uint32_t slot)
{
	const uint32_t me = ctx->dispatcher_id + 1;
	uint32_t holder;

	if (!ctx->claims)
		return true;
	holder = atomic_load_explicit(&ctx->claims[slot], memory_order_relaxed);
	if (holder != 0)
		return holder == me;
	return atomic_compare_exchange_strong_explicit(
		&ctx->claims[slot], &holder, me, memory_order_acquire, memory_order_relaxed);
}

/* The first position from `from` on that is idle for the class and, if so, claimed; else n. */
static inline uint32_t
idle_take(struct weir_pick_context *ctx, uint32_t class_id, uint32_t from)
{
	for (uint32_t position = from; position < ctx->n_routable; position++) {
		const uint32_t slot = weir_class_slot(class_id, ctx->routable[position]);

		ctx->depth_visits++;
		if (ctx->class_depth[slot] == 0 && claim_take(ctx, slot))
			return position;
	}
	return ctx->n_routable;
}

static void
busyover_pick_burst(struct weir_pick_context *ctx, const struct weir_meta *meta, uint32_t n_picks,
	uint16_t *out)
{
	/* By class: all positions below are busy. */
	uint16_t from[WEIR_CLASSES_MAX] = { 0 };

	for (uint32_t i = 0; i < n_picks; i++) {
		const uint32_t class_id = weir_class_id(&meta[i * ctx->stride]);
		const uint32_t position = idle_take(ctx, class_id, from[class_id]);

		from[class_id] = (uint16_t)position;
		out[i] = WEIR_PICK_NONE;
		if (position == ctx->n_routable)
			continue;
		from[class_id]++;
		out[i] = (uint16_t)position;
		ctx->class_depth[weir_class_slot(class_id, ctx->routable[position])]++;
	}
}

const struct weir_strategy strategy_busyover = {
	.name = "busyover",
	.help = "the first worker that has nothing of the packet's class; all_busy if none",
	.flags = WEIR_STRATEGY_READS_META | WEIR_STRATEGY_READS_CLASS_DEPTH | WEIR_STRATEGY_CLAIMS |
		 WEIR_STRATEGY_FINDS_NONE,
	.none_reason = WEIR_REASON_ALL_BUSY,
	.pick_burst = busyover_pick_burst,
};
