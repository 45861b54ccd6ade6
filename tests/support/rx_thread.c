/* SPDX-License-Identifier: BSD-3-Clause */
#include "rx_thread.h"

#include <sched.h>

#include "test.h"

static void *
loop_run(void *argument)
{
	rx_loop_run(argument);
	return NULL;
}

void
rx_thread_start(struct rx_thread *thread, struct rx_core *rx_core)
{
	thread->rx_core = rx_core;
	counter_set(&rx_core->tally.drained, 0);
	mailbox_post(&rx_core->mailbox, LOOP_RUN);
	assert_int_equal(pthread_create(&thread->thread, NULL, loop_run, rx_core), 0);
}

void
rx_thread_end(struct rx_thread *thread)
{
	mailbox_post(&thread->rx_core->mailbox, LOOP_STOP);
	assert_int_equal(pthread_join(thread->thread, NULL), 0);
}

void
rx_thread_drain(struct rx_thread *thread)
{
	mailbox_post(&thread->rx_core->mailbox, LOOP_DRAIN);
	while (counter_read(&thread->rx_core->tally.drained) == 0)
		sched_yield();
	rx_thread_end(thread);
}
