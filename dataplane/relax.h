/* SPDX-License-Identifier: BSD-3-Clause */
/* What a polling loop does when there was nothing to do. */
#ifndef WEIR_DATAPLANE_RELAX_H
#define WEIR_DATAPLANE_RELAX_H

#include <sched.h>
#include <stdbool.h>

#include <rte_pause.h>

/* `yields`: another polling thread shares the CPU, and must not wait for this one's time slice. */
static inline void
loop_relax(bool yields)
{
	if (yields)
		sched_yield();
	else
		rte_pause();
}

#endif
