/* SPDX-License-Identifier: BSD-3-Clause */
#include "feed.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include <weir/flow.h>

#include "cacheline.h"
#include "rng.h"

#define N_BUFFERS 8192 /* power of two, of a cache line each */
#define PACKET_BYTES 64

static struct weir_meta
flow_make(uint64_t seed, uint64_t number)
{
	const uint64_t hash = rng_at(seed, number);

	return (struct weir_meta) {
		.hash = hash,
		.bucket = weir_flow_bucket(hash),
		.length = PACKET_BYTES,
		.segment_length = PACKET_BYTES,
	};
}

int
feed_init(struct feed *feed, uint64_t seed)
{
	*feed = (struct feed) { .seed = seed, .n_flows = FEED_FLOWS_DEFAULT };
	for (uint32_t i = 0; i < FEED_FLOWS_MAX; i++)
		feed->flow[i] = flow_make(seed, i);
	return area_allocate(&feed->buffers, N_BUFFERS * (size_t)CACHE_LINE_BYTES);
}

void
feed_set_flows(struct feed *feed, uint32_t n_flows)
{
	assert(n_flows > 0 && n_flows <= FEED_FLOWS_MAX);
	feed->n_flows = n_flows;
}

void
feed_fini(struct feed *feed)
{
	area_free(&feed->buffers);
}

struct weir_burst
feed_next(struct feed *feed, uint32_t n)
{
	char *buffers = feed->buffers.memory;

	for (uint32_t i = 0; i < n; i++) {
		const uint64_t number = feed->n + i;

		feed->packets[i] = buffers + (number & (N_BUFFERS - 1)) * CACHE_LINE_BYTES;
		feed->meta[i] = feed->flow[rng_below(rng_at(~feed->seed, number), feed->n_flows)];
		feed->sum += (uint64_t)(uintptr_t)feed->packets[i];
	}
	feed->n += n;
	return (struct weir_burst) { .packets = feed->packets, .meta = feed->meta, .n = n };
}

int
home_init(struct home *home, uint32_t capacity)
{
	*home = (struct home) {
		.packets = calloc(capacity, sizeof(void *)),
		.capacity = capacity,
	};
	return home->packets ? 0 : -ENOMEM;
}

void
home_fini(struct home *home)
{
	free(home->packets);
	*home = (struct home) { 0 };
}

void
home_settle(struct home *home)
{
	assert(home->n <= home->capacity);
	for (uint32_t i = 0; i < home->n; i++)
		home->sum += (uint64_t)(uintptr_t)home->packets[i];
	home->total += home->n;
	home->n = 0;
}
