/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Admission: whether a packet is let in where others of its class are, or takes their place. A
 * packet counts as outstanding from its lend to its harvest.
 */
#include "admission.h"

#include <errno.h>
#include <string.h>

#define DEPTHS_BYTES ((size_t)WEIR_CLASSES_MAX * WEIR_WORKERS_MAX * sizeof(uint32_t))

/* In slot_class: the packet there was lent before classes were counted. */
#define CLASS_UNBOOKED UINT8_MAX

static bool
strategy_counts(const struct weir_strategy *strategy)
{
	return strategy && (strategy->flags & WEIR_STRATEGY_READS_CLASS_DEPTH);
}

/* Whether anything goes by what is counted here. */
static bool
policy_counts_classes(const struct pool_policy *policy)
{
	for (uint32_t i = 0; i < policy->n_routes; i++) {
		if (strategy_counts(policy->route[i].strategy) ||
			strategy_counts(policy->route[i].fallback))
			return true;
	}
	for (uint32_t id = 0; id < WEIR_CLASSES_MAX; id++) {
		if (policy->class_of[id].admission != WEIR_ADMIT_SERIAL)
			return true;
	}
	return false;
}

int
class_books_init(struct weir_dispatcher *dispatcher)
{
	const size_t slots_bytes =
		(size_t)dispatcher->pool->geometry.n_slots * dispatcher->n_workers;
	struct class_books *books = &dispatcher->class_books;

	/* Some policy to come may count classes; memory that nobody touches costs nothing. */
	if (area_allocate(&books->area, DEPTHS_BYTES + slots_bytes) < 0)
		return -ENOMEM;
	books->depth = books->area.memory;
	books->slot_class = (uint8_t *)books->area.memory + DEPTHS_BYTES;
	books->slots_bytes = slots_bytes;
	return 0;
}

/*
 * Edge E8, release side of a claim: whoever claims the worker next sees that it has nothing of the
 * class any more; without release order a progress word read before this store could be older than
 * the claim that it justified.
 */
static void
claim_release(struct weir_dispatcher *dispatcher, uint32_t slot)
{
	weir_claim *claim = &dispatcher->class_books.claims[slot];

	if (atomic_load_explicit(claim, memory_order_relaxed) == dispatcher->id + 1)
		atomic_store_explicit(claim, 0, memory_order_release);
}

/* Gives back every claim: nobody counts when packets of a class come home. */
static void
claims_release(struct weir_dispatcher *dispatcher)
{
	for (uint32_t slot = 0; slot < WEIR_CLASSES_MAX * WEIR_WORKERS_MAX; slot++)
		claim_release(dispatcher, slot);
}

/* From here on packets are booked; what is lent already never was. */
static void
books_open(struct class_books *books)
{
	memset(books->depth, 0, DEPTHS_BYTES);
	memset(books->slot_class, CLASS_UNBOOKED, books->slots_bytes);
}

void
class_books_adopt(struct weir_dispatcher *dispatcher)
{
	struct class_books *books = &dispatcher->class_books;
	const bool counts = policy_counts_classes(dispatcher->policy);
	weir_claim *claims = dispatcher->policy->claims ? pool_claims(dispatcher->pool) : NULL;

	if (books->claims && !claims)
		claims_release(dispatcher);
	if (counts && !dispatcher->counts_classes)
		books_open(books);
	dispatcher->counts_classes = counts;
	books->claims = claims;
	dispatcher->pick.class_depth = counts ? books->depth : NULL;
	dispatcher->pick.claims = claims;
}

void
class_books_fini(struct weir_dispatcher *dispatcher)
{
	area_free(&dispatcher->class_books.area);
}

/* Class of the packet in a lane's slot. */
static uint8_t *
slot_class_at(const struct weir_dispatcher *dispatcher, weir_worker_id id, uint32_t seq)
{
	const uint32_t n_slots = dispatcher->lane[id].n_slots;

	return &dispatcher->class_books.slot_class[(size_t)id * n_slots + (seq & (n_slots - 1))];
}

bool
class_admits(
	const struct weir_dispatcher *dispatcher, const struct weir_meta *meta, weir_worker_id id)
{
	return class_of(dispatcher, meta)->admission != WEIR_ADMIT_DISCARD_LATER ||
	       dispatcher->class_books.depth[weir_class_slot(weir_class_id(meta), id)] == 0;
}

void
class_book(struct weir_dispatcher *dispatcher, const struct weir_meta *meta, weir_worker_id id)
{
	const uint32_t seq = dispatcher->lane[id].tail;
	const uint32_t class_id = weir_class_id(meta);

	if (class_of(dispatcher, meta)->admission == WEIR_ADMIT_COVER_EARLY)
		lane_cover(pool_lane_cover(dispatcher->pool, dispatcher->id, id), class_id, seq);
	*slot_class_at(dispatcher, id, seq) = (uint8_t)class_id;
	dispatcher->class_books.depth[weir_class_slot(class_id, id)]++;
}

void
class_unbook(struct weir_dispatcher *dispatcher, weir_worker_id id, uint32_t seq, uint32_t n)
{
	struct class_books *books = &dispatcher->class_books;

	for (uint32_t i = 0; i < n; i++) {
		const uint8_t class_id = *slot_class_at(dispatcher, id, seq + i);
		const uint32_t slot = weir_class_slot(class_id, id);

		if (unlikely(class_id == CLASS_UNBOOKED))
			continue;
		if (--books->depth[slot] == 0 && books->claims)
			claim_release(dispatcher, slot);
	}
}

void
class_picks_settle(struct weir_dispatcher *dispatcher, const struct weir_strategy *strategy,
	const struct weir_meta *metadata, uint32_t n_picks, const uint16_t *picks)
{
	struct class_books *books = &dispatcher->class_books;
	const bool claims = books->claims && (strategy->flags & WEIR_STRATEGY_CLAIMS);

	for (uint32_t i = 0; i < n_picks; i++) {
		uint32_t slot;

		if (picks[i] >= dispatcher->snapshot->n_routable) /* WEIR_PICK_NONE */
			continue;
		slot = weir_class_slot(weir_class_id(&metadata[i * dispatcher->chunk]),
			dispatcher->snapshot->routable[picks[i]]);
		books->depth[slot]--;
		if (claims)
			books->picked[books->n_picked++] = slot;
	}
}

void
class_claims_settle(struct weir_dispatcher *dispatcher)
{
	struct class_books *books = &dispatcher->class_books;

	for (uint32_t i = 0; i < books->n_picked; i++) {
		if (books->depth[books->picked[i]] == 0)
			claim_release(dispatcher, books->picked[i]);
	}
	books->n_picked = 0;
}
