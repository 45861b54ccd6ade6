/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fault points: places where a worker process kills itself, for tests of what it leaves behind. In
 * builds with the meson option `fault_points` only: elsewhere there is nothing of them.
 *
 * The environment says which: WEIR_FAULT=STEP:COUNT, the step to die at and after how many times.
 */
#ifndef WEIR_BASE_FAULT_H
#define WEIR_BASE_FAULT_H

#include <stdbool.h>
#include <stdint.h>

enum fault_step {
	FAULT_NONE = 0,
	FAULT_ATTACH,	/* attached, nothing taken */
	FAULT_TAKE,	/* packets are looked at or claimed, and not yet said to be in process */
	FAULT_HANDLER,	/* they are in process */
	FAULT_VERDICTS, /* verdicts are written, and not published */
	FAULT_COMPLETE, /* they are published */
};

/* How long a worker lives. Zeroed: for ever. */
struct fault_plan {
	uint32_t step; /* enum fault_step */
	uint32_t left; /* times to pass it */
};

#ifdef WEIR_FAULT_POINTS
/* What the environment says; a plan that nobody understands is no plan. */
struct fault_plan fault_plan_read(void);

/* Dies if it is time. */
void fault_reached(struct fault_plan *plan, enum fault_step step);
#else
static inline struct fault_plan
fault_plan_read(void)
{
	return (struct fault_plan) { 0 };
}

static inline void
fault_reached(struct fault_plan *plan, enum fault_step step)
{
	(void)plan;
	(void)step;
}
#endif

#endif
