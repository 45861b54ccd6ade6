/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The burst pipeline: snapshot → harvest → hold → plan → lend, hold or overflow → publish.
 *
 * A strategy is asked once for the whole rest of a burst. Where the policy breaks into that (a
 * refusal ends the dispatch, or a drop the chunk that it falls into), what was planned but not done
 * is taken back and, if the dispatch goes on, planned afresh.
 */
#include "admission.h"

#include <assert.h>

void
index_advance(struct weir_dispatcher *dispatcher, uint32_t n)
{
	struct weir_pick_context *pick = &dispatcher->pick;

	pick->index += n;
	pick->rotation = fastmod(dispatcher->rotation_by, pick->rotation + n);
	counter_add(&dispatcher->tally.routed, n);
}

/* Plans for all that is left of the burst and carries that out until it is done or broken. */
static enum run_end
run_route(struct weir_dispatcher *dispatcher, struct dispatch_state *state)
{
	struct plan *plan = &dispatcher->plan;
	enum run_end run;

	plan_make(dispatcher, state);
	if (unlikely(dispatcher->has_budget))
		budget_apply(dispatcher, state);
	run = plan_carry_out(dispatcher, state);
	if (unlikely(dispatcher->class_books.n_picked > 0))
		class_claims_settle(dispatcher);
	/* The last chunk may be shorter than it was counted. */
	if (dispatcher->chunk > 1 && plan->n_asked > 0)
		mirror_restore(dispatcher,
			dispatcher->snapshot->routable[plan->position[plan->n_asked - 1]]);
	/* With a budget also of what was planned to wait: its strategy hears of that. */
	if (unlikely(state->next < state->burst->n || dispatcher->drops.n > 0 ||
		     (dispatcher->has_budget && plan->n_asked < plan->n_picked)))
		plan_withdraw(dispatcher, state);
	index_advance(dispatcher, plan->n_asked);
	return run;
}

/*
 * A lane that was read again in mid-burst had its mirror entry set to what was lent by then; what
 * has been lent since is added here, so that the next burst of this loop sees it. So it is where
 * the plan was changed after the strategy was asked; and a budget makes the mirror of every worker
 * inexact that packets went to past it.
 */
void
mirror_settle(struct weir_dispatcher *dispatcher, const struct dispatch_state *state)
{
	if (dispatcher->has_budget)
		bitset_add_all(&dispatcher->unsettled, &state->touched);
	for (uint32_t w = 0; w < BITSET_WORDS; w++) {
		uint64_t bits = dispatcher->reread.word[w] | dispatcher->unsettled.word[w];

		dispatcher->unsettled.word[w] = 0;
		while (bits)
			mirror_restore(dispatcher, (weir_worker_id)bitset_pop(&bits, w));
	}
}

/* Nearly every burst goes as planned. */
static inline bool
mirror_is_exact(const struct weir_dispatcher *dispatcher)
{
	return !dispatcher->has_budget && bitset_is_empty(&dispatcher->reread) &&
	       bitset_is_empty(&dispatcher->unsettled);
}

uint32_t
burst_route(struct weir_dispatcher *dispatcher, struct dispatch_state *state)
{
	if (unlikely(dispatcher->may_differ) && burst_differs(dispatcher, state)) {
		class_route(dispatcher, state);
	} else if (likely(dispatcher->snapshot->n_routable > 0)) {
		while (state->next < state->burst->n && run_route(dispatcher, state) != RUN_REFUSED)
			;
	} else {
		class_lose(dispatcher, state);
	}
	lend_publish(dispatcher, &state->touched);
	if (unlikely(!mirror_is_exact(dispatcher)))
		mirror_settle(dispatcher, state);
	drops_finish(dispatcher);
	counter_set(&dispatcher->tally.depth_visits, dispatcher->pick.depth_visits);
	counter_set(&dispatcher->tally.moves, dispatcher->n_moves);
	return state->next;
}

uint32_t
weir_harvest(struct weir_dispatcher *dispatcher)
{
	uint32_t finished;
	bool due;

	if (!dispatcher->is_refreshed)
		mirror_sync(dispatcher);
	dispatcher->reread = (struct bitset) { 0 };
	finished = harvest_pass(dispatcher);
	if (unlikely(!bitset_is_empty(&dispatcher->reclaim.pending)))
		reclaim_step(dispatcher);
	if (unlikely(dispatcher->state_period.period_ns > 0))
		periods_check(dispatcher);
	if (unlikely(dispatcher->hold_timeout_ns > 0))
		hold_expire(dispatcher);
	due = unlikely(weir_held(dispatcher) > 0) && hold_is_due(dispatcher);
	/* Before the pass: what comes home during it is news to what was planned by then. */
	dispatcher->hold_news = (struct hold_news) { 0 };
	if (due)
		hold_pass(dispatcher);
	return finished;
}

/* The pins that a burst will ask for: fetched while the harvest runs. */
static void
pins_prefetch(const struct weir_dispatcher *dispatcher, const struct weir_burst *burst)
{
	for (uint32_t i = 0; i < burst->n; i++)
		prefetch_write(&dispatcher->pins[burst->meta[i].bucket]);
}

uint32_t
weir_dispatch(struct weir_dispatcher *dispatcher, const struct weir_burst *burst)
{
	struct dispatch_state state = { .burst = burst,
		.data = burst->data ? burst->data : burst->packets };
	uint32_t taken = 0;

	assert(burst->n <= dispatcher->burst);
	if (dispatcher->pins)
		pins_prefetch(dispatcher, burst);
	weir_harvest(dispatcher);
	if (burst->n == 0)
		return 0;
	if (likely(weir_accepts(dispatcher)))
		taken = burst_route(dispatcher, &state);
	counter_add(&dispatcher->tally.bursts, 1);
	counter_add(&dispatcher->tally.received, taken);
	counter_add(&dispatcher->tally.rejected, burst->n - taken);
	return taken;
}
