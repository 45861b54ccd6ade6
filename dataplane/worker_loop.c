/* SPDX-License-Identifier: BSD-3-Clause */
/* The worker's loop: command → take → handle → complete → beat. */
#include "worker_loop.h"

#include <rte_cycles.h>

#include "relax.h"

/* Serves one burst of one lane. Returns packets served. */
static uint32_t
burst_serve(struct worker_loop *loop)
{
	const uint32_t n = weir_take(loop->worker, loop->packets, loop->burst);
	uint64_t begin;

	if (n == 0)
		return 0;
	begin = rte_rdtsc();
	weir_worker_count_busy(loop->worker, 0, begin);
	loop->handler->process(loop->handler_state, loop->packets, n, loop->verdicts);
	weir_complete(loop->worker, loop->verdicts, n);
	weir_worker_count_busy(loop->worker, rte_rdtsc() - begin, 0);
	return n;
}

/* Beats when it is time to. Returns false if the worker must leave. */
static bool
beat_keep(struct worker_loop *loop)
{
	const uint64_t now = rte_rdtsc();

	if (now < loop->next_beat)
		return true;
	loop->next_beat = now + loop->beat_cycles;
	weir_worker_beat(loop->worker);
	return !loop->must_leave || !loop->must_leave(loop->context);
}

bool
worker_loop_run(struct worker_loop *loop)
{
	enum weir_worker_command command;
	bool stays = true;

	weir_worker_report_state(loop->worker, WEIR_WORKER_READY);
	while ((command = weir_worker_read_command(loop->worker)) != WEIR_COMMAND_STOP) {
		const uint32_t n = command == WEIR_COMMAND_PAUSE ? 0 : burst_serve(loop);

		stays = beat_keep(loop);
		if (!stays)
			break;
		if (n > 0)
			continue;
		if (command == WEIR_COMMAND_DRAIN && weir_worker_is_drained(loop->worker))
			break;
		loop_relax(loop->yields);
	}
	weir_worker_report_state(loop->worker, WEIR_WORKER_STOPPED);
	return stays;
}
