/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DPDK's rte_ring (single producer, single consumer) as a lane: one ring to each worker. Handles
 * come back through a second ring, which is an answer of eight bytes per packet as a verdict is; or
 * the worker only counts, and the dispatcher finds them in an array of its own, as Weir does.
 * A burst is gathered by worker and enqueued once per worker, or enqueued chunk by chunk.
 *
 * The rings lie in memory of the bench: no EAL, no hugepages, no root.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ring.h>

#include "area.h"
#include "bitset.h"
#include "lane_kind.h"

/* The dispatcher's end, private to it. */
struct ring_lane {
	struct rte_ring *forward;
	struct rte_ring *back; /* NULL: the worker counts */
	void **handles;	       /* lent, by sequence; used without `back` */
	void **gathered;       /* of this burst, not yet enqueued */
	uint32_t n_gathered;
	uint32_t lent;
	uint32_t harvested;
};

/* The worker's end: read and written by it, but for the counter, which the dispatcher reads. */
struct ring_worker {
	CACHE_ALIGNED struct rte_ring *forward;
	struct rte_ring *back;
	CACHE_ALIGNED _Atomic uint32_t completed;
};

struct lane_ring {
	struct ring_lane lane[WEIR_WORKERS_MAX];
	struct bitset outstanding;
	struct lane_turn turn;
	uint32_t chunk;
	uint32_t n_slots;
	uint32_t burst;
	bool gathers;
	struct home home;
	struct area memory; /* rings, handles and gathered packets */
	struct ring_worker worker[WEIR_WORKERS_MAX];
	/* The other thread's. */
	CACHE_ALIGNED uint32_t n_workers;
	void *taken[WEIR_BURST_MAX];
};

static uint32_t
slots_for(uint32_t lane_size)
{
	uint32_t n = 2; /* one slot of a ring stays empty */

	while (n <= lane_size)
		n <<= 1;
	return n;
}

/* Takes `bytes` off the memory, in whole cache lines. */
static void *
memory_take(char **memory, size_t bytes)
{
	void *taken = *memory;

	*memory += round_up(bytes, CACHE_LINE_BYTES);
	return taken;
}

/* An array of handles; a line more than needed, as Weir's: other cache sets for the next one. */
static size_t
array_bytes(uint32_t n)
{
	return round_up(n * sizeof(void *), CACHE_LINE_BYTES) + CACHE_LINE_BYTES;
}

static struct rte_ring *
ring_make(char **memory, uint32_t n_slots)
{
	struct rte_ring *ring = memory_take(memory, (size_t)rte_ring_get_memsize(n_slots));

	return rte_ring_init(ring, "weir-bench", n_slots, RING_F_SP_ENQ | RING_F_SC_DEQ) < 0 ? NULL
											     : ring;
}

static int
lane_init(struct lane_ring *lanes, struct ring_lane *lane, char **memory, bool answers)
{
	lane->forward = ring_make(memory, lanes->n_slots);
	lane->gathered = memory_take(memory, array_bytes(lanes->burst));
	if (answers)
		lane->back = ring_make(memory, lanes->n_slots);
	else
		lane->handles = memory_take(memory, array_bytes(lanes->n_slots));
	return lane->forward && (lane->back || lane->handles) ? 0 : -EINVAL;
}

static int
lanes_init(struct lane_ring *lanes, bool answers)
{
	const size_t ring_bytes =
		round_up((size_t)rte_ring_get_memsize(lanes->n_slots), CACHE_LINE_BYTES);
	const size_t lane_bytes = 2 * ring_bytes + array_bytes(lanes->burst);
	char *memory;

	if (area_allocate(&lanes->memory, lanes->turn.n_workers * lane_bytes) < 0)
		return -ENOMEM;
	memory = lanes->memory.memory;
	for (uint32_t id = 0; id < lanes->turn.n_workers; id++) {
		struct ring_lane *lane = &lanes->lane[id];

		if (lane_init(lanes, lane, &memory, answers) < 0)
			return -EINVAL;
		lanes->worker[id].forward = lane->forward;
		lanes->worker[id].back = lane->back;
	}
	return 0;
}

static void
lane_ring_destroy(void *state)
{
	struct lane_ring *lanes = state;

	area_free(&lanes->memory);
	home_fini(&lanes->home);
	free(lanes);
}

static void *
lane_ring_create(const struct lane_setup *setup)
{
	struct lane_ring *lanes = aligned_alloc(CACHE_LINE_BYTES, sizeof(*lanes));

	if (!lanes)
		return NULL;
	*lanes = (struct lane_ring) {
		.turn = { .n_workers = setup->n_workers },
		.chunk = setup->chunk,
		.n_slots = slots_for(setup->lane_size),
		.n_workers = setup->n_workers,
		.burst = setup->burst,
		.gathers = setup->gathers,
	};
	if (home_init(&lanes->home, setup->n_workers * setup->lane_size) < 0 ||
		lanes_init(lanes, setup->answers) < 0) {
		lane_ring_destroy(lanes);
		return NULL;
	}
	return lanes;
}

static uint32_t
lane_collect(struct lane_ring *lanes, uint32_t id)
{
	struct ring_lane *lane = &lanes->lane[id];
	struct home *home = &lanes->home;
	uint32_t completed;

	if (lane->back)
		return rte_ring_sc_dequeue_burst(
			lane->back, &home->packets[home->n], lane->lent - lane->harvested, NULL);
	completed = atomic_load_explicit(&lanes->worker[id].completed, memory_order_acquire);
	for (uint32_t seq = lane->harvested; seq != completed; seq++)
		home->packets[home->n + seq - lane->harvested] =
			lane->handles[seq & (lanes->n_slots - 1)];
	return completed - lane->harvested;
}

static void
lane_harvest(struct lane_ring *lanes, uint32_t id)
{
	struct ring_lane *lane = &lanes->lane[id];
	const uint32_t n = lane_collect(lanes, id);

	lanes->home.n += n;
	lane->harvested += n;
	if (lane->harvested == lane->lent)
		bitset_remove(&lanes->outstanding, id);
}

/* The line that tells how far the worker is. */
static const void *
progress_line_of(const struct lane_ring *lanes, uint32_t id)
{
	const struct ring_lane *lane = &lanes->lane[id];

	return lane->back ? (const void *)&lane->back->prod
			  : (const void *)&lanes->worker[id].completed;
}

/* As for Weir's lanes: what can be fetched in advance is. */
static void
lanes_harvest(struct lane_ring *lanes)
{
	for (uint32_t w = 0; w < BITSET_WORDS; w++) {
		uint64_t bits = lanes->outstanding.word[w];

		while (bits)
			prefetch_read(progress_line_of(lanes, bitset_pop(&bits, w)));
	}
	for (uint32_t w = 0; w < BITSET_WORDS; w++) {
		uint64_t bits = lanes->outstanding.word[w];

		while (bits)
			lane_harvest(lanes, bitset_pop(&bits, w));
	}
}

/* There is room: the workers are idle, and a lane is longer than a burst. */
static void
lane_enqueue(struct ring_lane *lane, void *const *packets, uint32_t n)
{
	if (n == 1)
		lane->lent += rte_ring_sp_enqueue(lane->forward, packets[0]) == 0;
	else
		lane->lent += rte_ring_sp_enqueue_burst(lane->forward, packets, n, NULL);
}

static void
lane_lend_chunk(struct lane_ring *lanes, uint32_t id, void *const *packets, uint32_t n)
{
	struct ring_lane *lane = &lanes->lane[id];
	const uint32_t next = lane->lent + lane->n_gathered;

	if (!lane->back)
		for (uint32_t i = 0; i < n; i++)
			lane->handles[(next + i) & (lanes->n_slots - 1)] = packets[i];
	if (!lanes->gathers) {
		lane_enqueue(lane, packets, n);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		lane->gathered[lane->n_gathered + i] = packets[i];
	lane->n_gathered += n;
}

static void
gathered_enqueue(struct lane_ring *lanes, const struct bitset *touched)
{
	for (uint32_t w = 0; w < BITSET_WORDS; w++) {
		uint64_t bits = touched->word[w];

		while (bits) {
			struct ring_lane *lane = &lanes->lane[bitset_pop(&bits, w)];

			lane_enqueue(lane, lane->gathered, lane->n_gathered);
			lane->n_gathered = 0;
		}
	}
}

static void
lane_ring_burst(void *state, const struct weir_burst *burst)
{
	struct lane_ring *lanes = state;
	struct bitset touched = { 0 };

	lanes_harvest(lanes);
	for (uint32_t i = 0; i < burst->n; i += lanes->chunk) {
		const uint32_t left = burst->n - i;
		const uint32_t id = lane_turn_next(&lanes->turn);

		bitset_add(&touched, id);
		lane_lend_chunk(
			lanes, id, &burst->packets[i], left < lanes->chunk ? left : lanes->chunk);
	}
	if (lanes->gathers)
		gathered_enqueue(lanes, &touched);
	bitset_add_all(&lanes->outstanding, &touched);
}

static void
packets_complete(struct ring_worker *worker, void *const *packets, uint32_t n)
{
	uint32_t completed;

	if (worker->back) {
		rte_ring_sp_enqueue_burst(worker->back, packets, n, NULL);
		return;
	}
	completed = atomic_load_explicit(&worker->completed, memory_order_relaxed);
	/* Pairs with the acquire in lane_collect: what the worker wrote is there. */
	atomic_store_explicit(&worker->completed, completed + n, memory_order_release);
}

/* Holds nothing back: `lane` measures idle workers only. */
static uint32_t
lane_ring_sweep(void *state, uint32_t keep)
{
	struct lane_ring *lanes = state;
	uint32_t met = 0;

	(void)keep;
	for (uint32_t id = 0; id < lanes->n_workers; id++) {
		struct ring_worker *worker = &lanes->worker[id];
		const uint32_t n = rte_ring_sc_dequeue_burst(
			worker->forward, lanes->taken, WEIR_BURST_MAX, NULL);

		if (n > 0)
			packets_complete(worker, lanes->taken, n);
		met += n;
	}
	return met;
}

static struct home *
lane_ring_home(void *state)
{
	struct lane_ring *lanes = state;

	return &lanes->home;
}

const struct lane_kind lane_kind_ring = {
	.subject = {
		.burst = lane_ring_burst,
		.sweep = lane_ring_sweep,
		.home = lane_ring_home,
	},
	.create = lane_ring_create,
	.destroy = lane_ring_destroy,
};
