/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker's private half, made of its memory. Cold. */
#include "worker_memory.h"

#include "claim_lane.h"
#include "worker.h"

static struct lane_consumer
lane_open(const char *lanes, const struct worker_header *checked, char *own, uint8_t *data,
	uint32_t dispatcher)
{
	const struct worker_layout *layout = &checked->layout;
	const char *lane = lanes + layout->slots_offset + dispatcher * layout->lane_stride;
	char *verdicts = own + layout->verdicts_offset + dispatcher * layout->verdicts_stride;
	char *head = own + layout->heads_offset + dispatcher * sizeof(struct claim_head);

	return (struct lane_consumer) {
		.slots = (const void *)lane,
		.metadata = layout->metadata_offset > 0
				    ? (const void *)(lane + layout->metadata_offset)
				    : NULL,
		.verdicts = (void *)verdicts,
		.covers = layout->covers_offset > 0 ? (const void *)(lane + layout->covers_offset)
						    : NULL,
		.claim = layout->heads_offset > 0 ? (void *)head : NULL,
		.n_slots = layout->n_slots,
		.n_verdicts = layout->n_verdicts,
		.head = checked->begin[dispatcher],
		.completed = checked->begin[dispatcher],
		.data_base = (uintptr_t)data,
	};
}

void
worker_open(struct weir_worker *worker, const void *lanes, const struct worker_header *checked,
	void *own, uint8_t *data)
{
	const struct worker_layout *layout = &checked->layout;
	struct worker_lines *lines = (void *)((char *)own + layout->progress_offset);

	worker->header = lanes;
	worker->progress = &lines->progress;
	worker->activity = &lines->activity;
	worker->n_dispatchers = layout->n_dispatchers;
	worker->n_urgent = layout->n_urgent;
	worker->next_urgent = layout->n_dispatchers - layout->n_urgent;
	worker->id = (weir_worker_id)checked->id;
	worker->covering = layout->covering;
	worker->publishes_in_process = layout->publishes_in_process;
	for (uint32_t i = 0; i < layout->n_dispatchers; i++)
		worker->lane[i] = lane_open(lanes, checked, own, data, i);
}
