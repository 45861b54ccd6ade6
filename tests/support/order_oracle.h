/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order oracle: of one dispatcher, compares the order in which packets come back with that in
 * which they arrived, key by key; a key is a bucket or a flow. It keeps books of its own and knows
 * nothing of pins, lanes or workers' depths, nor of the test library.
 */
#ifndef WEIR_TESTS_ORDER_ORACLE_H
#define WEIR_TESTS_ORDER_ORACLE_H

#include <stddef.h>
#include <stdint.h>

#define ORDER_KEYS 65536

/* A packet that came back. */
struct order_end {
	uint64_t number; /* of its arrival, counted from 1; 0: none yet */
	uint16_t worker;
};

struct order_oracle {
	struct order_end *newest; /* by key: the packet of the highest number so far */
	uint16_t *last_worker;	  /* by key: who had the packet that came back last */
	uint64_t n_ended;
	uint64_t n_inversions; /* packets that came back after a newer one of their key */
	uint64_t n_moves;      /* packets that came back from another worker than the one before */

	/* The first inversion. */
	uint16_t key;
	struct order_end late;
	struct order_end before;
};

/* Returns 0 or -ENOMEM. */
int order_oracle_init(struct order_oracle *oracle);
void order_oracle_fini(struct order_oracle *oracle);

/*
 * A packet came back from `worker`: the `number`-th that the dispatcher was given, from 1. Not for
 * packets that were dropped: they reach no wire.
 */
void order_oracle_end(struct order_oracle *oracle, uint16_t key, uint64_t number, uint16_t worker);

/* Puts what was found into words: how many inversions, and the first. */
void order_oracle_say(const struct order_oracle *oracle, char *words, size_t size);

#endif
