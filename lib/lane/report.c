/* SPDX-License-Identifier: BSD-3-Clause */
/* What a worker and control tell each other past the lanes: commands, ends, pulse and activity. */
#include <assert.h>

#include "claim_lane.h"
#include "seq.h"
#include "worker.h"

/*
 * Edge E5, acquire side: what control did before it gave the command is done. Memory that is no
 * command's is taken for the last word: the worker leaves.
 */
enum weir_worker_command
weir_worker_read_command(const struct weir_worker *worker)
{
	const uint32_t command =
		atomic_load_explicit(&worker->header->command, memory_order_acquire);

	return command <= WEIR_COMMAND_STOP ? (enum weir_worker_command)command : WEIR_COMMAND_STOP;
}

/* How far the worker is in a lane, by the lane's sequence numbers. */
static uint32_t
lane_position(const struct lane_consumer *lane)
{
	if (lane->claim)
		return (uint32_t)atomic_load_explicit(&lane->claim->seq, memory_order_acquire);
	return lane->completed;
}

bool
weir_worker_is_drained(const struct weir_worker *worker)
{
	const struct worker_header *header = worker->header;
	const uint32_t incarnation =
		atomic_load_explicit(&header->incarnation, memory_order_relaxed);

	if (worker->in_process > 0)
		return false;
	for (uint32_t i = 0; i < worker->n_dispatchers; i++) {
		/* Edge E14, acquire side: every packet before the end is there to be seen. */
		const uint64_t end =
			atomic_load_explicit(&header->lane[i].end, memory_order_acquire);

		if ((uint32_t)(end >> 32) != incarnation + 1 ||
			!seq_reached(lane_position(&worker->lane[i]), (uint32_t)end))
			return false;
	}
	return true;
}

static void
pulse_set(struct weir_worker *worker, uint32_t beats, uint32_t state)
{
	pulse_publish(worker->progress, pulse_pack(beats, state));
}

void
weir_worker_beat(struct weir_worker *worker)
{
	const uint64_t pulse = pulse_read(worker->progress);

	pulse_set(worker, pulse_beats(pulse) + 1, pulse_state(pulse));
}

void
weir_worker_report_state(struct weir_worker *worker, enum weir_worker_state state)
{
	assert(state >= WEIR_WORKER_READY && state <= WEIR_WORKER_STOPPED);
	pulse_set(worker, pulse_beats(pulse_read(worker->progress)), state);
}

void
weir_worker_count_busy(struct weir_worker *worker, uint64_t cycles, uint64_t since)
{
	counter_add(&worker->activity->busy_cycles, cycles);
	counter_set(&worker->activity->busy_since, since);
}
