/* SPDX-License-Identifier: BSD-3-Clause */
/* Take and complete: the borrower's two calls. Knows nothing of pools, depth or strategies. */
#include "worker.h"

#include <assert.h>

#include <weir/stats.h>

#include "claim_lane.h"

static inline void
packet_fill(
	struct weir_packet *packet, const struct lane_consumer *lane, uint32_t seq, uint64_t data)
{
	packet->data = (uint8_t *)(uintptr_t)data;
	if (lane->metadata)
		packet->meta = lane->metadata[seq & (lane->n_slots - 1)];
	else
		packet->meta = (struct weir_meta) { 0 };
}

/* Whether the packet of sequence number `seq`, which is there, gives way to a newer one. */
static bool
packet_is_covered(const struct weir_worker *worker, const struct lane_consumer *lane, uint32_t seq)
{
	const uint32_t class_id = lane->metadata[seq & (lane->n_slots - 1)].class_id;

	return class_id < WEIR_CLASSES_MAX && (worker->covering >> class_id & 1) &&
	       lane_is_covered(lane->covers, class_id, seq);
}

/*
 * Gives the covered packets at the head of a lane back at once. Those behind others wait for the
 * next take: what is completed is completed in order.
 */
static void
covered_complete(struct weir_worker *worker, uint32_t dispatcher)
{
	struct lane_consumer *lane = &worker->lane[dispatcher];
	const uint32_t before = lane->head;
	uint64_t data;

	while (lane_peek(lane, lane->head, &data) && packet_is_covered(worker, lane, lane->head)) {
		lane->verdicts[lane->head & (lane->n_slots - 1)] =
			weir_verdict_drop(WEIR_REASON_COVERED);
		lane->head++;
	}
	if (lane->head == before)
		return;
	lane->completed = lane->head;
	counter_add(&worker->activity->taken, lane->head - before);
	counter_add(&worker->activity->completed, lane->head - before);
	progress_publish(worker->progress, dispatcher, progress_pack(lane->completed, 0));
}

/* As lane_take, up to the next covered packet. */
static uint32_t
lane_take_uncovered(
	struct weir_worker *worker, uint32_t dispatcher, struct weir_packet *packets, uint32_t max)
{
	struct lane_consumer *lane = &worker->lane[dispatcher];
	uint64_t data;
	uint32_t n = 0;

	covered_complete(worker, dispatcher);
	while (n < max && lane_peek(lane, lane->head + n, &data) &&
		!packet_is_covered(worker, lane, lane->head + n)) {
		prefetch_read((const void *)(uintptr_t)data);
		packet_fill(&packets[n], lane, lane->head + n, data);
		n++;
	}
	lane->head += n;
	return n;
}

static uint32_t
lane_take(struct lane_consumer *lane, struct weir_packet *packets, uint32_t max)
{
	uint64_t data;
	uint32_t n = 0;

	while (n < max && lane_peek(lane, lane->head + n, &data)) {
		prefetch_read((const void *)(uintptr_t)data);
		packet_fill(&packets[n], lane, lane->head + n, data);
		n++;
	}
	lane->head += n;
	return n;
}

/* Either kind of lane. */
static inline uint32_t
lane_take_any(struct lane_consumer *lane, struct weir_packet *packets, uint32_t max)
{
	return unlikely(lane->claim) ? claim_take(lane, packets, max)
				     : lane_take(lane, packets, max);
}

static void
worker_begin(struct weir_worker *worker, uint32_t dispatcher, uint32_t n)
{
	const struct lane_consumer *lane = &worker->lane[dispatcher];

	fault_reached(&worker->fault, FAULT_TAKE);
	worker->current = dispatcher;
	worker->in_process = n;
	counter_add(&worker->activity->taken, n);
	if (worker->publishes_in_process)
		progress_publish(worker->progress, dispatcher, progress_pack(lane->completed, n));
	/* Said before the handler does anything, if the worker dies in it: of one core's stores
	 * those that the compiler has left in front are out when it is proven dead. */
	atomic_signal_fence(memory_order_seq_cst);
	fault_reached(&worker->fault, FAULT_HANDLER);
}

/*
 * Takes from the next lane in turn that has packets, of the dispatchers from `first` up to `end`;
 * `next` keeps the turn.
 */
static inline uint32_t
turn_take(struct weir_worker *worker, uint32_t first, uint32_t end, uint32_t *next,
	struct weir_packet *packets, uint32_t max)
{
	uint32_t dispatcher = *next;

	for (uint32_t i = first; i < end; i++) {
		const uint32_t n = unlikely(worker->covering)
					   ? lane_take_uncovered(worker, dispatcher, packets, max)
					   : lane_take_any(&worker->lane[dispatcher], packets, max);
		const uint32_t visited = dispatcher;

		dispatcher = dispatcher + 1 == end ? first : dispatcher + 1;
		if (n > 0) {
			*next = dispatcher;
			worker_begin(worker, visited, n);
			return n;
		}
	}
	return 0;
}

uint32_t
weir_take(struct weir_worker *worker, struct weir_packet *packets, uint32_t max)
{
	const uint32_t n_normal = worker->n_dispatchers - worker->n_urgent;

	if (worker->in_process > 0)
		return 0;
	if (unlikely(worker->n_urgent > 0)) {
		const uint32_t n = turn_take(worker, n_normal, worker->n_dispatchers,
			&worker->next_urgent, packets, max);

		if (n > 0)
			return n;
	}
	return turn_take(worker, 0, n_normal, &worker->next_dispatcher, packets, max);
}

void
weir_complete(struct weir_worker *worker, const struct weir_verdict *verdicts, uint32_t n)
{
	struct lane_consumer *lane = &worker->lane[worker->current];

	assert(n <= worker->in_process);
	for (uint32_t i = 0; i < n; i++)
		lane->verdicts[(lane->completed + i) & (lane->n_verdicts - 1)] = verdicts[i];
	fault_reached(&worker->fault, FAULT_VERDICTS);
	lane->completed += n;
	worker->in_process -= n;
	counter_add(&worker->activity->completed, n);
	progress_publish(worker->progress, worker->current,
		progress_pack(
			lane->completed, worker->publishes_in_process ? worker->in_process : 0));
	fault_reached(&worker->fault, FAULT_COMPLETE);
}

weir_worker_id
weir_worker_get_id(const struct weir_worker *worker)
{
	return worker->id;
}
