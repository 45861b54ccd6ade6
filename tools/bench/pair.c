/* SPDX-License-Identifier: BSD-3-Clause */
#include "pair.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "summary.h"
#include "tsc.h"

#define PATIENCE_SECONDS 30
#define SPINS_PER_CLOCK_READING 65536

static void
wait_a_little(const struct pair *pair)
{
	if (pair->shares_cpu)
		sched_yield();
	else
		spin_pause();
}

/* Stands still until the caller has lent something new. Returns false when there is no more. */
static bool
frozen_wait(struct pair *pair, uint64_t seen)
{
	while (atomic_load_explicit(&pair->lent, memory_order_acquire) == seen) {
		if (atomic_load_explicit(&pair->stop, memory_order_relaxed))
			return false;
		wait_a_little(pair);
	}
	return true;
}

/*
 * The workers' thread. `seen` is stored after the sweep has completed its packets: with release
 * order, the caller that acquires it finds their progress published.
 */
static void *
workers_run(void *argument)
{
	struct pair *pair = argument;
	uint64_t seen = 0;

	pair->thread_status = cpu_pin(pair->bench->machine.cpu[BENCH_CPU_WORKERS]);
	atomic_store_explicit(&pair->ready, true, memory_order_release);
	while (!atomic_load_explicit(&pair->stop, memory_order_acquire)) {
		uint32_t n;

		if (pair->keep > 0 && !frozen_wait(pair, seen))
			break;
		n = pair->subject->sweep(pair->state, pair->keep);
		if (n == 0) {
			wait_a_little(pair);
			continue;
		}
		seen += n;
		atomic_store_explicit(&pair->seen, seen, memory_order_release);
	}
	while (pair->subject->sweep(pair->state, 0) > 0)
		;
	pair->preempted = thread_preemptions(); /* of this thread, which is as old as the round */
	return NULL;
}

static int64_t
clock_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* Waits until the workers have dealt with all that was lent. */
static int
workers_wait(struct pair *pair, uint64_t lent)
{
	const int64_t deadline = clock_seconds() + PATIENCE_SECONDS;

	for (uint64_t spins = 1; atomic_load_explicit(&pair->seen, memory_order_acquire) != lent;
		spins++) {
		if (spins % SPINS_PER_CLOCK_READING == 0 && clock_seconds() > deadline)
			return -ETIMEDOUT;
		wait_a_little(pair);
	}
	return 0;
}

int
pair_start(struct pair *pair, const struct bench *bench, const struct pair_subject *subject,
	void *state, uint32_t keep)
{
	*pair = (struct pair) {
		.bench = bench,
		.subject = subject,
		.state = state,
		.feed = bench->feed,
		.home = subject->home(state),
		.keep = keep,
		.shares_cpu = bench->machine.relation == CPU_RELATION_SHARED,
		.preempted_before = thread_preemptions(),
	};
	pair->feed->n = 0;
	pair->feed->sum = 0;
	pair->home->total = 0;
	pair->home->sum = 0;
	if (pthread_create(&pair->thread, NULL, workers_run, pair) != 0)
		return -EAGAIN;
	while (!atomic_load_explicit(&pair->ready, memory_order_acquire))
		sched_yield();
	return 0;
}

/* What follows every burst, outside the timed part. */
static int
burst_settle(struct pair *pair)
{
	home_settle(pair->home);
	atomic_store_explicit(&pair->lent, pair->feed->n, memory_order_release);
	return workers_wait(pair, pair->feed->n);
}

int
pair_warm(struct pair *pair, uint64_t packets)
{
	const uint32_t n = pair->bench->options.burst;

	for (uint64_t lent = 0; lent < packets; lent += n) {
		const struct weir_burst burst = feed_next(pair->feed, n);
		int rc;

		pair->subject->burst(pair->state, &burst);
		rc = burst_settle(pair);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static void
burst_measure(struct pair *pair, uint64_t *returned, uint64_t *drained)
{
	const struct machine *machine = &pair->bench->machine;
	const struct weir_burst burst = feed_next(pair->feed, pair->bench->options.burst);
	uint64_t start, end;

	stores_drain();
	start = tsc_read();
	pair->subject->burst(pair->state, &burst);
	end = tsc_read();
	stores_drain();
	*drained = cost_subtract(tsc_read() - start, machine->drained_cost_cycles);
	*returned = cost_subtract(end - start, machine->returned_cost_cycles);
}

int
pair_measure(struct pair *pair, struct pair_timing *timing)
{
	const struct bench_options *options = &pair->bench->options;
	const uint32_t n = options->packets / options->burst;
	uint64_t *returned = calloc(2 * (size_t)n, sizeof(*returned));
	uint64_t *drained = returned + n;
	int rc = 0;

	if (!returned)
		return -ENOMEM;
	for (uint32_t i = 0; i < n && rc == 0; i++) {
		burst_measure(pair, &returned[i], &drained[i]);
		rc = burst_settle(pair);
	}
	if (rc == 0)
		*timing = (struct pair_timing) {
			.returned = trimmed_mean(returned, n) / options->burst,
			.drained = trimmed_mean(drained, n) / options->burst,
		};
	free(returned);
	return rc;
}

int
pair_stop(struct pair *pair, struct bench_case *test)
{
	const struct weir_burst none = feed_next(pair->feed, 0);

	atomic_store_explicit(&pair->stop, true, memory_order_release);
	pthread_join(pair->thread, NULL);
	pair->preempted += thread_preemptions() - pair->preempted_before;
	pair->subject->burst(pair->state, &none);
	home_settle(pair->home);
	test->packets_in += pair->feed->n;
	test->packets_out += pair->home->total;
	if (pair->thread_status < 0)
		return pair->thread_status;
	return pair->home->total == pair->feed->n && pair->home->sum == pair->feed->sum ? 0
											: -EBADMSG;
}
