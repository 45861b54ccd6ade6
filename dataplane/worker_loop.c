/* SPDX-License-Identifier: BSD-3-Clause */
/* The worker's loop: take → handle → complete. Control reaches it through the mailbox only. */
#include <rte_cycles.h>

#include "relax.h"
#include "worker_thread.h"

/* Serves one burst of one lane. Returns packets served. */
static uint32_t
burst_serve(struct worker_thread *thread)
{
	const uint32_t n = weir_take(thread->worker, thread->packets, thread->burst);
	uint64_t begin;

	if (n == 0)
		return 0;
	begin = rte_rdtsc();
	counter_set(&thread->tally.busy_since, begin);
	thread->handler->process(thread->handler_state, thread->packets, n, thread->verdicts);
	weir_complete(thread->worker, thread->verdicts, n);
	counter_set(&thread->tally.busy_since, 0);
	counter_add(&thread->tally.busy_cycles, rte_rdtsc() - begin);
	return n;
}

void *
worker_loop_run(void *argument)
{
	struct worker_thread *thread = argument;

	while (mailbox_read(&thread->mailbox) != LOOP_STOP) {
		counter_add(&thread->tally.polls, 1);
		if (burst_serve(thread) == 0)
			loop_relax(thread->yields);
	}
	return NULL;
}
