/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Points and owners. Sources: Karger et al., "Consistent hashing and random trees" (1997);
 * XXL-JOB's ExecutorRouteConsistentHash for the texts that are hashed; MD5: RFC 1321, by nettle.
 */
#include "ring_points.h"

#include <errno.h>
#include <nettle/md5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
text_add(struct md5_ctx *md5, const char *text)
{
	md5_update(md5, strlen(text), (const uint8_t *)text);
}

static uint32_t
point_end(struct md5_ctx *md5)
{
	uint8_t digest[4];

	md5_digest(md5, sizeof(digest), digest);
	return digest[0] | (uint32_t)digest[1] << 8 | (uint32_t)digest[2] << 16 |
	       (uint32_t)digest[3] << 24;
}

uint32_t
ring_hash(const char *text)
{
	struct md5_ctx md5;

	md5_init(&md5);
	text_add(&md5, text);
	return point_end(&md5);
}

int
ring_init(struct ring *ring, uint32_t n_addresses)
{
	*ring = (struct ring) { 0 };
	ring->entry = calloc((size_t)n_addresses * RING_NODES + 1, sizeof(*ring->entry));
	return ring->entry ? 0 : -ENOMEM;
}

void
ring_fini(struct ring *ring)
{
	free(ring->entry);
	*ring = (struct ring) { 0 };
}

void
ring_add_point(struct ring *ring, uint32_t point, uint32_t rank)
{
	ring->entry[ring->n++] = (uint64_t)point << 32 | rank;
}

void
ring_add_address(struct ring *ring, const char *address, uint32_t rank)
{
	char number[16];
	struct md5_ctx md5;

	for (uint32_t i = 0; i < RING_NODES; i++) {
		snprintf(number, sizeof(number), "%u", i);
		md5_init(&md5);
		text_add(&md5, "SHARD-");
		text_add(&md5, address);
		text_add(&md5, "-NODE-");
		text_add(&md5, number);
		ring_add_point(ring, point_end(&md5), rank);
	}
}

static int
entry_compare(const void *left, const void *right)
{
	const uint64_t a = *(const uint64_t *)left;
	const uint64_t b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

void
ring_sort(struct ring *ring)
{
	qsort(ring->entry, ring->n, sizeof(*ring->entry), entry_compare);
}

uint32_t
ring_owner(const struct ring *ring, uint32_t point)
{
	const uint64_t wanted = (uint64_t)point << 32;
	uint32_t first = 0;
	uint32_t end = ring->n;

	while (first < end) {
		const uint32_t middle = first + (end - first) / 2;

		if (ring->entry[middle] < wanted)
			first = middle + 1;
		else
			end = middle;
	}
	/* Past the last point the ring closes. */
	return (uint32_t)ring->entry[first < ring->n ? first : 0];
}

uint32_t
ring_n_distinct(const struct ring *ring)
{
	uint32_t n = ring->n > 0;

	for (uint32_t i = 1; i < ring->n; i++)
		n += ring->entry[i] >> 32 != ring->entry[i - 1] >> 32;
	return n;
}
