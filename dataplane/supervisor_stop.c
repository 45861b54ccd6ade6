/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of all workers. The rx loops have ended: nothing is lent any more. */
#include <stdio.h>
#include <time.h>

#include "clock.h"
#include "supervisor_slot.h"

/* How long a worker may take to leave its loop before it is ended or, a thread, called stuck. */
#define LEAVE_NS UINT64_C(3000000000)
/* How long the kernel may take to end a process. */
#define KILL_NS UINT64_C(2000000000)

/* Looks who has gone. Returns how many are still there. */
static uint32_t
still_there(struct app *app)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < app->supervisor.n; i++) {
		slot_look_for_end(app, (weir_worker_id)i);
		n += !supervisor_worker_is_gone(app, (weir_worker_id)i);
	}
	return n;
}

static void
wait_for_all(struct app *app, uint64_t limit_ns)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	/* Not by the wall clock, which may be set while we wait. */
	const uint64_t deadline_ns = clock_read_ns(CLOCK_MONOTONIC) + limit_ns;

	while (still_there(app) > 0 && clock_read_ns(CLOCK_MONOTONIC) < deadline_ns)
		nanosleep(&pause, NULL);
}

static void
all_command_stop(struct app *app)
{
	for (uint32_t i = 0; i < app->supervisor.n; i++)
		weir_pool_command(app->pool, (weir_worker_id)i, WEIR_COMMAND_STOP);
}

/* From here on that a worker goes is no crash. */
static void
all_are_unwanted(struct app *app)
{
	for (uint32_t i = 0; i < app->supervisor.n; i++)
		slot_tell(app, (weir_worker_id)i, WEIR_SLOT_EVENT_KILL);
}

/* Their packets are taken back by the end of the run. */
static void
all_settle(struct app *app)
{
	for (uint32_t i = 0; i < app->supervisor.n; i++)
		slot_tell(app, (weir_worker_id)i, WEIR_SLOT_EVENT_RECLAIMED);
}

/* Ends what is left. Returns whether there is anything that can be ended. */
static bool
rest_end(struct app *app)
{
	bool any = false;

	for (uint32_t i = 0; i < app->supervisor.n; i++) {
		if (supervisor_worker_is_gone(app, (weir_worker_id)i) ||
			slot_of(app, (weir_worker_id)i)->kind != WORKER_PROCESS)
			continue;
		slot_warn(app, (weir_worker_id)i, "does not stop: it is ended");
		body_end(app, (weir_worker_id)i);
		any = true;
	}
	return any;
}

void
supervisor_stop(struct app *app)
{
	app->supervisor.is_closing = true;
	all_are_unwanted(app);
	all_command_stop(app);
	wait_for_all(app, LEAVE_NS);
	if (rest_end(app))
		wait_for_all(app, KILL_NS);
	for (uint32_t i = 0; i < app->supervisor.n; i++) {
		if (supervisor_worker_is_gone(app, (weir_worker_id)i))
			continue;
		app->n_stuck++;
		slot_warn(app, (weir_worker_id)i,
			"does not return from its handler: what it holds is written off");
	}
	all_settle(app);
}
