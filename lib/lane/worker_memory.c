/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker's private half, made of its memory. Cold. */
#include "worker_memory.h"

#include "claim_lane.h"
#include "worker.h"

static struct lane_consumer
lane_open(const struct worker_header *header, const struct worker_layout *layout, char *own,
	uint8_t *data, uint32_t dispatcher)
{
	const char *lane =
		(const char *)header + layout->slots_offset + dispatcher * layout->lane_stride;
	struct claim_head *heads = (struct claim_head *)(void *)(own + layout->heads_offset);

	return (struct lane_consumer) {
		.slots = (const lane_slot *)(const void *)lane,
		.metadata = layout->metadata_offset > 0
				    ? (const void *)(lane + layout->metadata_offset)
				    : NULL,
		.verdicts = (void *)(own + layout->verdicts_offset +
				     dispatcher * layout->verdicts_stride),
		.covers = layout->covers_offset > 0 ? (const void *)(lane + layout->covers_offset)
						    : NULL,
		.claim = layout->heads_offset > 0 ? &heads[dispatcher] : NULL,
		.n_slots = layout->n_slots,
		.n_verdicts = layout->n_verdicts,
		.head = header->begin[dispatcher],
		.completed = header->begin[dispatcher],
		.data_base = (uintptr_t)data,
	};
}

void
worker_open(struct weir_worker *worker, const struct worker_header *header,
	const struct worker_layout *layout, void *own, uint8_t *data)
{
	struct worker_lines *lines = (void *)((char *)own + layout->progress_offset);

	worker->header = header;
	worker->progress = &lines->progress;
	worker->activity = &lines->activity;
	worker->n_dispatchers = layout->n_dispatchers;
	worker->n_urgent = layout->n_urgent;
	worker->next_urgent = layout->n_dispatchers - layout->n_urgent;
	worker->id = (weir_worker_id)header->id;
	worker->covering = layout->covering;
	worker->publishes_in_process = layout->publishes_in_process;
	for (uint32_t i = 0; i < layout->n_dispatchers; i++)
		worker->lane[i] = lane_open(header, layout, own, data, i);
}
