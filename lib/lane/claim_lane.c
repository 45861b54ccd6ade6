/* SPDX-License-Identifier: BSD-3-Clause */
/* The claim lane's two ends: learn, evict and view for the dispatcher, take for the worker. */
#include "claim_lane.h"

/* Compare-and-swaps on one copied run, and runs copied, before a worker takes nothing this poll. */
#define CLAIM_TRIES 16
#define COPY_TRIES 4

struct lane_geometry
claim_geometry_make(uint32_t capacity, bool with_metadata)
{
	struct lane_geometry geometry = lane_geometry_make(capacity, with_metadata);
	const struct lane_geometry taken =
		lane_geometry_make(2 * capacity + WEIR_BURST_MAX, with_metadata);

	geometry.n_verdicts = taken.n_verdicts;
	geometry.verdicts_bytes = taken.verdicts_bytes;
	return geometry;
}

static size_t
taken_packets_bytes(const struct lane_geometry *geometry)
{
	/* One line more, as all arrays of lanes: see lane_geometry_make. */
	return geometry->n_verdicts * sizeof(void *) + CACHE_LINE_BYTES;
}

static size_t
taken_seqs_bytes(const struct lane_geometry *geometry)
{
	return round_up(geometry->n_verdicts * sizeof(uint32_t), CACHE_LINE_BYTES);
}

size_t
claim_taken_bytes(const struct lane_geometry *geometry)
{
	const size_t lent_bytes =
		geometry->metadata_bytes > 0 ? geometry->n_verdicts * sizeof(struct claim_lent) : 0;

	return round_up(taken_packets_bytes(geometry) + taken_seqs_bytes(geometry) + lent_bytes,
		CACHE_LINE_BYTES);
}

struct claim_lane
claim_lane_make(const struct lane_geometry *geometry, uint32_t capacity, struct claim_head *shared,
	void *memory)
{
	char *const seqs = (char *)memory + taken_packets_bytes(geometry);

	return (struct claim_lane) {
		.shared = shared,
		.taken_packets = memory,
		.taken_seqs = (void *)seqs,
		.taken_lent = geometry->metadata_bytes > 0
				      ? (void *)(seqs + taken_seqs_bytes(geometry))
				      : NULL,
		.n_taken_slots = geometry->n_verdicts,
		.capacity = capacity,
	};
}

void
claim_view(const struct claim_lane *claim, struct lane_producer *lane)
{
	const uint32_t head = (uint32_t)claim->head;
	const uint32_t in_process = claim_in_process(claim);
	const uint32_t slots_left = claim->n_taken_slots - in_process;
	const uint32_t room_base = claim->capacity < slots_left ? claim->capacity : slots_left;

	lane->harvested = in_process > 0
				  ? claim->taken_seqs[claim->harvested & (claim->n_taken_slots - 1)]
				  : head;
	/* Room is capacity - (tail - harvested), and what lies between harvested and head has left
	 * the queue. */
	lane->capacity = room_base + (head - lane->harvested);
	lane->completed = head - in_process;
	lane->in_process = in_process;
}

void
claim_learn(struct claim_lane *claim, const struct lane_producer *lane)
{
	const uint64_t head = atomic_load_explicit(&claim->shared->seq, memory_order_acquire);

	if (head - claim->head > claim_queued(claim, lane))
		return;
	for (; claim->head != head; claim->head++, claim->taken++) {
		const uint32_t seq = (uint32_t)claim->head;
		const uint32_t index = claim->taken & (claim->n_taken_slots - 1);

		claim->taken_packets[index] = lane->packets[seq & (lane->n_slots - 1)];
		claim->taken_seqs[index] = seq;
		if (claim->taken_lent)
			claim->taken_lent[index] = (struct claim_lent) {
				.data_place = lane_data_place(lane, seq),
				.meta = lane->metadata[seq & (lane->n_slots - 1)],
			};
	}
}

bool
claim_evict(struct claim_lane *claim, struct lane_producer *lane, void **packet)
{
	uint64_t head = claim->head;

	if (!atomic_compare_exchange_strong_explicit(&claim->shared->seq, &head, head + 1,
		    memory_order_acq_rel, memory_order_acquire))
		return false;
	*packet = lane->packets[(uint32_t)head & (lane->n_slots - 1)];
	claim->head++;
	claim->evicted++;
	claim_view(claim, lane);
	return true;
}

void
claim_close(struct claim_lane *claim, const struct lane_producer *lane)
{
	claim->head += claim_queued(claim, lane);
	claim->harvested = claim->taken;
	claim->capacity = 0;
	/* A worker that was only stuck finds nothing more in it. */
	atomic_store_explicit(&claim->shared->seq, claim->head, memory_order_release);
}

void
claim_empty(struct claim_lane *claim, struct lane_producer *lane)
{
	const uint32_t queued = claim_queued(claim, lane);

	claim->head += queued;
	claim->evicted += queued;
	claim->harvested = claim->taken;
	atomic_store_explicit(&claim->shared->seq, claim->head, memory_order_release);
	claim_view(claim, lane);
}

/* The metadata of one slot, word by word: the dispatcher may be storing the next lap's. */
static void
metadata_copy(struct weir_meta *to, const struct weir_meta *from)
{
	const _Atomic uint64_t *const words = (const _Atomic uint64_t *)(const void *)from;
	uint64_t copy[sizeof(*to) / sizeof(uint64_t)];

	for (size_t i = 0; i < sizeof(copy) / sizeof(copy[0]); i++)
		copy[i] = atomic_load_explicit(&words[i], memory_order_acquire);
	memcpy(to, copy, sizeof(copy));
}

uint32_t
claim_copy(
	const struct lane_consumer *lane, uint64_t first, struct weir_packet *packets, uint32_t max)
{
	uint64_t data;
	uint32_t n = 0;

	for (; n < max && lane_peek(lane, (uint32_t)first + n, &data); n++) {
		prefetch_read((const void *)(uintptr_t)data);
		packets[n].data = (uint8_t *)(uintptr_t)data;
		if (lane->metadata)
			metadata_copy(&packets[n].meta,
				&lane->metadata[((uint32_t)first + n) & (lane->n_slots - 1)]);
		else
			packets[n].meta = (struct weir_meta) { 0 };
	}
	return n;
}

uint32_t
claim_take_copied(const struct lane_consumer *lane, uint64_t first, uint32_t n)
{
	uint64_t head = first;

	for (uint32_t tries = 0; tries < CLAIM_TRIES && head - first < n; tries++) {
		if (atomic_compare_exchange_strong_explicit(&lane->claim->seq, &head, first + n,
			    memory_order_acq_rel, memory_order_acquire))
			return (uint32_t)(head - first);
	}
	return n;
}

uint32_t
claim_take(struct lane_consumer *lane, struct weir_packet *packets, uint32_t max)
{
	/* The sizes of verdicts and of the taken list rest on it. */
	max = max < WEIR_BURST_MAX ? max : WEIR_BURST_MAX;
	for (uint32_t tries = 0; tries < COPY_TRIES; tries++) {
		const uint64_t first =
			atomic_load_explicit(&lane->claim->seq, memory_order_acquire);
		const uint32_t n = claim_copy(lane, first, packets, max);
		const uint32_t evicted = n > 0 ? claim_take_copied(lane, first, n) : 0;

		if (n > 0 && evicted == n)
			continue;
		if (evicted > 0)
			memmove(packets, &packets[evicted], (n - evicted) * sizeof(packets[0]));
		lane->head += n - evicted;
		return n - evicted;
	}
	return 0;
}
