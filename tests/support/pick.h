/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A strategy by itself: a context with depths and rooms that the test sets, a snapshot and its
 * table, and nothing of the pipeline. For vectors that need frozen depths. Knows no strategy.
 */
#ifndef WEIR_TESTS_PICK_H
#define WEIR_TESTS_PICK_H

#include <stdint.h>

#include <weir/strategy.h>

struct pick {
	const struct weir_strategy *strategy;
	struct weir_snapshot snapshot;
	struct weir_pick_context context;
	uint32_t depth[WEIR_WORKERS_MAX];
	uint32_t room[WEIR_WORKERS_MAX];
	uint16_t out[WEIR_BURST_MAX];
	struct weir_meta meta[WEIR_BURST_MAX]; /* packet i is in bucket i * 40503 mod 65536 */
	uint32_t class_depth[WEIR_CLASSES_MAX * WEIR_WORKERS_MAX];
	weir_claim claims[WEIR_CLASSES_MAX * WEIR_WORKERS_MAX]; /* for pick_share */
};

/* The ids 0 .. n - 1. */
void pick_ids_fill(weir_worker_id *ids, uint32_t n);

/* Prepares `name` for workers 0 .. n - 1: depths 0, ample room, index 0, stride 1. */
struct pick *pick_create(const char *name, uint32_t n);

/* The same for the `n` workers of `ids`, in that order. */
struct pick *pick_create_for(const char *name, const weir_worker_id *ids, uint32_t n);

/* The same with weights, of which the i-th is that of ids[i]. */
struct pick *pick_create_weighted(
	const char *name, const weir_worker_id *ids, const uint16_t *weights, uint32_t n);
/* The same of a strategy that need not be registered. */
struct pick *pick_create_of(
	const struct weir_strategy *strategy, const weir_worker_id *ids, uint32_t n);

void pick_destroy(struct pick *pick);

/* The next snapshot: the `n` workers of `ids`, in that order. */
void pick_change_pool(struct pick *pick, const weir_worker_id *ids, uint32_t n);

/* Sets the message index and what follows from it. */
void pick_set_index(struct pick *pick, uint64_t index);

/* Sets the chunk. */
void pick_set_stride(struct pick *pick, uint32_t stride);

/* Sets depths that stay as they are: with no room, a strategy counts no pick. */
void pick_freeze(struct pick *pick, const uint32_t *depth);

/* Makes it one of several dispatchers, who share `claims`: one for each weir_class_slot(). */
void pick_share(struct pick *pick, uint32_t dispatcher_id, weir_claim *claims);

/* Picks `n` times into `out` and moves the index on. Every pick must be routable, or none of those
 * that a strategy may answer. */
void pick_burst(struct pick *pick, uint32_t n);

/* Takes back all but the first `n_kept` of the `n` picks of the last pick_burst. */
void pick_withdraw(struct pick *pick, uint32_t n, uint32_t n_kept);

/* Picks for one packet of a class. Returns the worker. */
weir_worker_id pick_for_class(struct pick *pick, uint8_t class_id);

/* Asserts that the next single picks for a class are the workers of `expected`. */
void pick_assert_class(
	struct pick *pick, uint8_t class_id, const weir_worker_id *expected, uint32_t n);

#define assert_class_picks(pick, class_id, ...)                                     \
	pick_assert_class(pick, class_id, (const weir_worker_id[]) { __VA_ARGS__ }, \
		sizeof((const weir_worker_id[]) { __VA_ARGS__ }) / sizeof(weir_worker_id))

/* Picks for the packet at `index` alone. */
uint16_t pick_at(struct pick *pick, uint64_t index);

/* Asserts that single picks from `index` on are those of `expected`. */
void pick_assert(struct pick *pick, uint64_t index, const uint16_t *expected, uint32_t n);

#define assert_picks(pick, index, ...)                               \
	pick_assert(pick, index, (const uint16_t[]) { __VA_ARGS__ }, \
		sizeof((const uint16_t[]) { __VA_ARGS__ }) / sizeof(uint16_t))

#endif
