/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ring of consistent hashing: 100 points for each address, and who owns a point. Points are
 * those of XXL-JOB's route CONSISTENT_HASH, bit for bit; who wins where two points are equal is
 * the caller's to say, by ranks. Makes MD5 hashes: for prepare, never for the packet path.
 */
#ifndef WEIR_STRATEGY_RING_POINTS_H
#define WEIR_STRATEGY_RING_POINTS_H

#include <stdint.h>

/* Virtual nodes of an address. */
#define RING_NODES 100

struct ring {
	uint64_t *entry; /* {point : 32, rank : 32}; sorted once all are there */
	uint32_t n;
};

/* The first four bytes of the text's MD5, the first one least significant. */
uint32_t ring_hash(const char *text);

/* Room for the points of `n_addresses`. Returns 0 or -ENOMEM, with nothing to free. */
int ring_init(struct ring *ring, uint32_t n_addresses);
void ring_fini(struct ring *ring);

/* Adds the points of one address: the hashes of "SHARD-ADDRESS-NODE-0" .. "-NODE-99". */
void ring_add_address(struct ring *ring, const char *address, uint32_t rank);

/* Adds one point. */
void ring_add_point(struct ring *ring, uint32_t point, uint32_t rank);

/* After the last point, before the first question. */
void ring_sort(struct ring *ring);

/*
 * The rank at the first point that is not below `point`, or else at the smallest of all. Of equal
 * points the lowest rank wins, in whatever order they were added. The ring must not be empty.
 */
uint32_t ring_owner(const struct ring *ring, uint32_t point);

/* How many different points there are. */
uint32_t ring_n_distinct(const struct ring *ring);

#endif
