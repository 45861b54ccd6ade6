/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kinds of lane that `lane` compares. All have the same duty: lend handles, `chunk` at a time
 * to each worker in turn; get every handle back once its worker has completed it.
 */
#ifndef WEIR_BENCH_LANE_KIND_H
#define WEIR_BENCH_LANE_KIND_H

#include <stdbool.h>
#include <stdint.h>

#include "pair.h"

struct lane_setup {
	uint32_t n_workers;
	uint32_t chunk;
	uint32_t lane_size;
	uint32_t burst;
	bool metadata; /* struct weir_meta travels with each packet */
	bool answers;  /* the worker's word on each packet travels back, and is read */
	bool claims;   /* the lanes are of the kind that drop-head needs */
	bool gathers;  /* workers see nothing of a burst before all of it has been placed */
};

struct lane_kind {
	struct pair_subject subject;
	/* Returns NULL with errno ENOMEM. */
	void *(*create)(const struct lane_setup *setup);
	void (*destroy)(void *state);
};

/* The chunks of a burst go to the workers in turn. */
struct lane_turn {
	uint32_t n_workers;
	uint32_t at;
};

static inline uint32_t
lane_turn_next(struct lane_turn *turn)
{
	const uint32_t at = turn->at;

	turn->at = at + 1 == turn->n_workers ? 0 : at + 1;
	return at;
}

extern const struct lane_kind lane_kind_weir;
extern const struct lane_kind lane_kind_ring;

#endif
