/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When what a strategy remembers begins afresh: lazily, at the first call that is strictly later
 * than the last fresh start and a period. Reads no clock. One writer per period.
 * Source: XXL-JOB's routes wipe the state of all jobs together, 24 hours after they last did.
 */
#ifndef WEIR_BASE_STATE_PERIOD_H
#define WEIR_BASE_STATE_PERIOD_H

#include <stdbool.h>
#include <stdint.h>

struct state_period {
	uint64_t period_ns; /* 0 = for ever */
	uint64_t begun_ns;  /* the last fresh start */
	bool armed;	    /* `begun_ns` is set */
};

/*
 * Whether everything begins afresh now, and a new period with it. The first call arms only: nothing
 * is old yet. A clock that went back begins nothing.
 */
static inline bool
period_passed(struct state_period *period, uint64_t now_ns)
{
	const bool passed = period->armed && period->period_ns > 0 && now_ns > period->begun_ns &&
			    now_ns - period->begun_ns > period->period_ns;

	if (passed || !period->armed)
		period->begun_ns = now_ns;
	period->armed = true;
	return passed;
}

#endif
