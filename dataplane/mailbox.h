/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The mailbox (edge E5): the only way by which cold code tells an rx loop what to do. One writer
 * (the control thread), one reader (the loop, between bursts), a command word each: commands are
 * states to be reached, so that a later one may replace an earlier one that was not yet read.
 * (Workers have a line for commands in their own memory: weir_worker_read_command.)
 */
#ifndef WEIR_DATAPLANE_MAILBOX_H
#define WEIR_DATAPLANE_MAILBOX_H

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>

#include "cacheline.h"

enum loop_command {
	LOOP_RUN = 0, /* poll, dispatch, harvest */
	LOOP_DRAIN,   /* poll no more, bring home what is out */
	LOOP_STOP,    /* leave the loop */
};

struct mailbox {
	CACHE_ALIGNED _Atomic uint32_t command; /* enum loop_command, written by control */
};

static_assert(sizeof(struct mailbox) == CACHE_LINE_BYTES, "nothing shares the mailbox's line");

/* Edge E5, release side: what control did before is seen by the loop that reads the command. */
static inline void
mailbox_post(struct mailbox *mailbox, enum loop_command command)
{
	atomic_store_explicit(&mailbox->command, command, memory_order_release);
}

/* Edge E5, acquire side. A load of a line that nobody else touches: cheap between bursts. */
static inline enum loop_command
mailbox_read(const struct mailbox *mailbox)
{
	return (enum loop_command)atomic_load_explicit(&mailbox->command, memory_order_acquire);
}

#endif
