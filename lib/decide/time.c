/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the time does to a dispatcher: deadlines of what is held, and the periods of strategies'
 * state. It is told the time once per loop and reads no clock.
 */
#include "dispatch.h"

/* What came into the hold before anybody told the time waits from now on. */
static void
deadlines_begin(struct weir_dispatcher *dispatcher, struct hold *hold)
{
	for (uint32_t i = 0; i < hold_count(hold); i++)
		hold->deadline_ns[hold_index(hold, i)] = hold_deadline(dispatcher);
}

void
weir_time_set(struct weir_dispatcher *dispatcher, uint64_t now_ns)
{
	const uint64_t before = dispatcher->now_ns;

	/* A clock that steps back would let what has expired wait again. */
	if (now_ns <= before)
		return;
	dispatcher->now_ns = now_ns;
	dispatcher->pick.now_ns = now_ns;
	if (before != 0)
		return;
	deadlines_begin(dispatcher, &dispatcher->front);
	deadlines_begin(dispatcher, &dispatcher->hold);
}

void
periods_check(struct weir_dispatcher *dispatcher)
{
	if (dispatcher->now_ns > 0 && period_passed(&dispatcher->state_period, dispatcher->now_ns))
		dispatcher->pick.epoch++;
}
