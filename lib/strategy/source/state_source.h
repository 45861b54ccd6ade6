/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stateful routes of XXL-JOB to the letter, faults included: what Weir's own strategies are
 * compared with. For conformance tests: no strategy that a user can name, no part of the library,
 * not made for a packet path. One writer per state.
 */
#ifndef WEIR_STRATEGY_SOURCE_STATE_SOURCE_H
#define WEIR_STRATEGY_SOURCE_STATE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/packet.h>

#include "state_period.h"

/* The stored value above which a counter is drawn anew. */
#define SOURCE_COUNT_MAX UINT32_C(1000000)
/* After so long the state of all keys is wiped. */
#define SOURCE_PERIOD_NS (UINT64_C(86400000) * UINT64_C(1000000))

/* A random number in 0 .. n - 1. */
struct source_random {
	uint32_t (*below)(void *context, uint32_t n);
	void *context;
};

/* ROUND: a counter per key. Zeroed but for `random`, and `period.period_ns` = SOURCE_PERIOD_NS. */
struct round_source {
	struct source_random random;
	struct state_period period;
	struct {
		bool known;
		uint32_t counter;
	} of[WEIR_CLASSES_MAX];
};

/* The position of the next target of `key` in a list of `n` (1 or more). */
uint32_t round_source_pick(struct round_source *source, uint32_t key, uint32_t n, uint64_t now_ns);

/* LEAST_FREQUENTLY_USED: picks by key and address. Made like round_source. */
struct frequent_source {
	struct source_random random;
	struct state_period period;
	struct {
		bool known[WEIR_WORKERS_MAX];
		uint32_t count[WEIR_WORKERS_MAX];
	} of[WEIR_CLASSES_MAX];
};

/*
 * The next target of `key` among the `n` addresses of `ids`. Ties: the first in the list, which is
 * what a stable sort makes of a list; the source goes by the order of a hash map there.
 */
weir_worker_id frequent_source_pick(struct frequent_source *source, uint32_t key,
	const weir_worker_id *ids, uint32_t n, uint64_t now_ns);

/* LEAST_RECENTLY_USED: addresses by key, eldest first. Zeroed but for `period.period_ns`. */
struct recent_source {
	struct state_period period;
	struct {
		uint32_t n;
		weir_worker_id order[WEIR_WORKERS_MAX];
	} of[WEIR_CLASSES_MAX];
};

/* The next target of `key` among the `n` addresses of `ids`. */
weir_worker_id recent_source_pick(struct recent_source *source, uint32_t key,
	const weir_worker_id *ids, uint32_t n, uint64_t now_ns);

#endif
