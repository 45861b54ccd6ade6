/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of readings: leases and incarnations are control's, lines are the publishers'. */
#include "cached_depth.h"

#include <errno.h>

struct weir_cached_depth *
weir_cached_depth_create(
	const struct weir_cached_depth_config *config, struct weir_config_error *error)
{
	struct weir_cached_depth *cached;
	struct area area;

	if (weir_cached_depth_config_check(config, error) < 0) {
		errno = EINVAL;
		return NULL;
	}
	if (area_allocate(&area, sizeof(*cached)) < 0) {
		errno = ENOMEM;
		return NULL;
	}
	cached = area.memory;
	cached->area = area;
	cached->config = *config;
	cached->strategy = cached_shallowest;
	cached->strategy.instance = cached;
	return cached;
}

void
weir_cached_depth_destroy(struct weir_cached_depth *cached)
{
	struct area area;

	if (!cached)
		return;
	area = cached->area;
	area_free(&area);
}

const struct weir_strategy *
weir_cached_depth_strategy(const struct weir_cached_depth *cached)
{
	return &cached->strategy;
}

static void
incarnation_set(struct weir_cached_depth *cached, weir_worker_id worker, uint32_t incarnation)
{
	atomic_store_explicit(&cached->incarnation[worker], incarnation, memory_order_relaxed);
}

static uint32_t
incarnation_begin(struct weir_cached_depth *cached, weir_worker_id worker)
{
	struct reading_lease *lease = &cached->lease[worker];

	/* 0 means nobody. */
	if (++lease->incarnation == 0)
		lease->incarnation = 1;
	incarnation_set(cached, worker, lease->incarnation);
	return lease->incarnation;
}

int
weir_depth_lease_take(
	struct weir_cached_depth *cached, weir_worker_id worker, struct weir_depth_lease *lease)
{
	if (worker >= cached->config.n_workers)
		return -EINVAL;
	if (lease->cached)
		return -EBUSY;
	*lease = (struct weir_depth_lease) { .cached = cached, .worker = worker };
	if (cached->lease[worker].n_leases++ == 0)
		incarnation_begin(cached, worker);
	return 0;
}

void
weir_depth_lease_release(struct weir_depth_lease *lease)
{
	struct weir_cached_depth *cached = lease->cached;

	if (!cached)
		return;
	lease->cached = NULL;
	if (--cached->lease[lease->worker].n_leases == 0)
		incarnation_set(cached, lease->worker, 0);
}

uint32_t
weir_cached_depth_incarnation(const struct weir_cached_depth *cached, weir_worker_id worker)
{
	return worker < cached->config.n_workers ? reading_incarnation(cached, worker) : 0;
}

uint32_t
weir_cached_depth_rejoin(struct weir_cached_depth *cached, weir_worker_id worker)
{
	if (worker >= cached->config.n_workers || cached->lease[worker].n_leases == 0)
		return 0;
	return incarnation_begin(cached, worker);
}

/*
 * Edge E10, release side: first the slot that the newest reading is not in, then its number. The
 * words are released too, so that who reads one of them also finds the number of the turn before:
 * the reader's second look depends on it.
 */
static void
reading_store(struct reading_line *line, const struct weir_depth_reading *reading)
{
	/* Only this thread stores it. */
	const uint64_t sequence = atomic_load_explicit(&line->sequence, memory_order_relaxed) + 1;
	struct reading_slot *slot = &line->slot[sequence & 1];

	atomic_store_explicit(&slot->time_ns, reading->time_ns, memory_order_release);
	atomic_store_explicit(&slot->depth,
		(uint64_t)reading->incarnation << 32 | reading->depth_pkts, memory_order_release);
	atomic_store_explicit(&slot->routable, reading->routable, memory_order_release);
	atomic_store_explicit(&line->sequence, sequence, memory_order_release);
}

int
weir_cached_depth_publish(struct weir_cached_depth *cached, weir_worker_id worker,
	const struct weir_depth_reading *reading)
{
	uint32_t incarnation;

	if (worker >= cached->config.n_workers)
		return -EINVAL;
	incarnation = reading_incarnation(cached, worker);
	if (incarnation == 0)
		return -ESHUTDOWN;
	if (incarnation != reading->incarnation)
		return -ESTALE;
	reading_store(&cached->line[worker], reading);
	return 0;
}

bool
weir_cached_depth_due(
	const struct weir_cached_depth *cached, weir_worker_id worker, uint64_t now_ns)
{
	const uint32_t incarnation = weir_cached_depth_incarnation(cached, worker);
	struct weir_depth_reading last;

	if (incarnation == 0)
		return false;
	if (reading_load(&cached->line[worker], &last) == 0 || last.incarnation != incarnation)
		return true;
	return now_ns >= last.time_ns && now_ns - last.time_ns >= cached->config.refresh_ns;
}

int
weir_cached_depth_read(const struct weir_cached_depth *cached, weir_worker_id worker,
	uint64_t now_ns, struct weir_depth_reading *reading)
{
	uint32_t incarnation;
	uint64_t sequence;

	if (worker >= cached->config.n_workers)
		return -EINVAL;
	incarnation = reading_incarnation(cached, worker);
	sequence = reading_load(&cached->line[worker], reading);
	if (sequence == UINT64_MAX)
		return -EAGAIN;
	if (sequence == 0 || incarnation == 0 || reading->incarnation != incarnation ||
		!reading_is_fresh(cached, reading, now_ns))
		return -ENODATA;
	return 0;
}
