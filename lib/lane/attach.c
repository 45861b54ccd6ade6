/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker in another process than its pool's, made of memory that it has mapped. What is mapped
 * may be any file: nothing in it is believed before it is checked, and what is checked is a copy.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "claim_lane.h"
#include "worker.h"

/* Where what is wrong is written down. */
struct refusal {
	char *reason;
	size_t n_bytes;
};

/* Returns false, for the caller to return. */
__attribute__((format(printf, 2, 3))) static bool
refuse(const struct refusal *refusal, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (refusal->reason && refusal->n_bytes > 0)
		vsnprintf(refusal->reason, refusal->n_bytes, format, arguments);
	va_end(arguments);
	return false;
}

static bool
block_check(const struct refusal *refusal, const char *what, const void *block, size_t n_bytes,
	size_t least)
{
	if (!block)
		return refuse(refusal, "%s: not mapped", what);
	if ((uintptr_t)block % CACHE_LINE_BYTES != 0)
		return refuse(refusal, "%s: not mapped at the begin of a page", what);
	if (n_bytes < least)
		return refuse(refusal, "%s: %zu bytes are mapped, %zu are needed for the header",
			what, n_bytes, least);
	return true;
}

static bool
version_check(const struct refusal *refusal, const char *what, uint64_t magic, uint64_t expected,
	uint32_t version)
{
	if (magic != expected)
		return refuse(refusal, "%s: not memory of Weir's that is made for this", what);
	if (version != WORKER_ABI_VERSION)
		return refuse(refusal, "%s: of ABI version %" PRIu32 ", this is %d", what, version,
			WORKER_ABI_VERSION);
	return true;
}

static bool
size_check(const struct refusal *refusal, const char *what, uint64_t mapped, uint64_t laid_out)
{
	if (mapped == laid_out)
		return true;
	return refuse(refusal, "%s: %" PRIu64 " bytes are mapped, %" PRIu64 " were laid out", what,
		mapped, laid_out);
}

struct number {
	const char *what;
	uint64_t value;
	uint64_t min;
	uint64_t max;
	bool is_power; /* of two */
};

static bool
numbers_check(const struct refusal *refusal, const struct worker_header *header)
{
	const struct worker_layout *layout = &header->layout;
	const struct number numbers[] = {
		{ "worker id", header->id, 0, WEIR_WORKERS_MAX - 1, false },
		{ "dispatchers", layout->n_dispatchers, 1, WEIR_DISPATCHERS_MAX, false },
		{ "urgent dispatchers", layout->n_urgent, 0, layout->n_dispatchers - 1, false },
		{ "slots", layout->n_slots, 1, WEIR_LANE_SIZE_MAX + 1, true },
		{ "verdicts", layout->n_verdicts, layout->n_slots, INT32_MAX, true },
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		const struct number *number = &numbers[i];

		if (number->value < number->min || number->value > number->max ||
			(number->is_power && (number->value & (number->value - 1)) != 0))
			return refuse(refusal, "lanes: %" PRIu64 " is no number of %s",
				number->value, number->what);
	}
	if (layout->covering != 0 && (layout->metadata_offset == 0 || layout->covers_offset == 0))
		return refuse(refusal, "lanes: classes cover, but nothing tells what is covered");
	return true;
}

/* One array per dispatcher, or one for all. */
struct array {
	const char *what;
	uint64_t offset;
	uint64_t stride;
	uint64_t n;
	uint64_t n_bytes; /* of one of them */
	uint64_t from;	  /* they lie within [from, to) */
	uint64_t to;
};

/* No sum here can overflow: offsets and strides are at most `to`, which is mapped. */
static bool
array_check(const struct refusal *refusal, const struct array *array)
{
	if (array->offset < array->from || array->offset > array->to || array->stride > array->to ||
		array->offset % CACHE_LINE_BYTES != 0 || array->stride % CACHE_LINE_BYTES != 0 ||
		array->offset + (array->n - 1) * array->stride + array->n_bytes > array->to)
		return refuse(
			refusal, "%s: not within what was laid out for the worker", array->what);
	return true;
}

static bool
arrays_check(const struct refusal *refusal, const struct worker_layout *layout)
{
	const uint64_t lanes = layout->lanes_bytes;
	const uint64_t own = layout->own_bytes;
	const uint64_t n = layout->n_dispatchers;
	const uint64_t slots = layout->slots_offset;
	const uint64_t stride = layout->lane_stride;
	const bool has_metadata = layout->metadata_offset > 0 && layout->metadata_offset <= lanes;
	const bool has_covers = layout->covers_offset > 0 && layout->covers_offset <= lanes;
	const struct array arrays[] = {
		{ "slots", slots, stride, n, layout->n_slots * sizeof(lane_slot),
			sizeof(struct worker_header), lanes },
		{ "metadata", slots + (has_metadata ? layout->metadata_offset : 0), stride, n,
			has_metadata ? layout->n_slots * sizeof(struct weir_meta) : 0, slots,
			lanes },
		{ "covers", slots + (has_covers ? layout->covers_offset : 0), stride, n,
			has_covers ? WEIR_CLASSES_MAX * sizeof(lane_cover_seq) : 0, slots, lanes },
		{ "progress", layout->progress_offset, 0, 1, sizeof(struct worker_lines),
			sizeof(struct worker_own), own },
		{ "verdicts", layout->verdicts_offset, layout->verdicts_stride, n,
			layout->n_verdicts * sizeof(struct weir_verdict), sizeof(struct worker_own),
			own },
		{ "heads",
			layout->heads_offset > 0 ? layout->heads_offset : sizeof(struct worker_own),
			sizeof(struct claim_head), layout->heads_offset > 0 ? n : 1,
			layout->heads_offset > 0 ? sizeof(struct claim_head) : 0,
			sizeof(struct worker_own), own },
	};

	if (has_metadata != (layout->metadata_offset > 0) ||
		has_covers != (layout->covers_offset > 0))
		return refuse(refusal, "metadata: not within what was laid out for the worker");
	for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
		if (!array_check(refusal, &arrays[i]))
			return false;
	}
	return true;
}

/* That it is the other half of the same worker. */
static bool
own_check(const struct refusal *refusal, const struct worker_own *own,
	const struct worker_header *header)
{
	const uint32_t incarnation =
		atomic_load_explicit(&header->incarnation, memory_order_relaxed);

	if (!version_check(refusal, "own memory", own->magic, WORKER_OWN_MAGIC, own->version))
		return false;
	if (own->id != header->id)
		return refuse(refusal,
			"own memory: of worker %" PRIu32 ", the lanes are worker %" PRIu32 "'s",
			own->id, header->id);
	if (own->incarnation != incarnation)
		return refuse(refusal,
			"own memory: of incarnation %" PRIu32 ", the lanes are of %" PRIu32,
			own->incarnation, incarnation);
	return true;
}

/* Fills `header`, a copy, and checks all of it but the commands. */
static bool
mapping_check(const struct refusal *refusal, const struct weir_worker_mapping *mapping,
	struct worker_header *header)
{
	struct worker_own own;

	if (!block_check(refusal, "lanes", mapping->lanes, mapping->lanes_bytes, sizeof(*header)) ||
		!block_check(refusal, "own memory", mapping->own, mapping->own_bytes, sizeof(own)))
		return false;
	if (!mapping->data)
		return refuse(refusal, "packets: not mapped");
	memcpy(header, mapping->lanes, sizeof(*header));
	memcpy(&own, mapping->own, sizeof(own));
	if (!version_check(refusal, "lanes", header->magic, WORKER_LANES_MAGIC, header->version) ||
		!size_check(refusal, "header", sizeof(*header), header->header_bytes) ||
		!size_check(refusal, "lanes", mapping->lanes_bytes, header->layout.lanes_bytes) ||
		!size_check(refusal, "own memory", mapping->own_bytes, header->layout.own_bytes) ||
		!size_check(refusal, "packets", mapping->data_bytes, header->layout.data_bytes))
		return false;
	return numbers_check(refusal, header) && own_check(refusal, &own, header) &&
	       arrays_check(refusal, &header->layout);
}

struct weir_worker *
weir_worker_attach(const struct weir_worker_mapping *mapping, char *reason, size_t n_bytes)
{
	const struct refusal refusal = { .reason = reason, .n_bytes = n_bytes };
	struct worker_header checked;
	struct weir_worker *worker;

	if (!mapping_check(&refusal, mapping, &checked)) {
		errno = EPROTO;
		return NULL;
	}
	worker = aligned_alloc(CACHE_LINE_BYTES, sizeof(*worker));
	if (!worker) {
		refuse(&refusal, "no memory for the worker's private half");
		errno = ENOMEM;
		return NULL;
	}
	*worker = (struct weir_worker) { 0 };
	worker_open(worker, mapping->lanes, &checked, mapping->own, mapping->data);
	worker->fault = fault_plan_read();
	fault_reached(&worker->fault, FAULT_ATTACH);
	return worker;
}

void
weir_worker_detach(struct weir_worker *worker)
{
	free(worker);
}
