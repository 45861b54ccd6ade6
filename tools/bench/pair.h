/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two threads on two CPUs: the caller's lends bursts and is timed, the other one plays all the
 * workers. Only the subject's burst function lies between the readings of the cycle counter.
 *
 * After each burst the caller waits, untimed, until the workers have dealt with it; it learns that
 * from a line of the pair's own, so that the subject's lines are left to be read in timed code.
 *
 * Two intervals per burst: `returned` ends when the burst function has, `drained` when its stores
 * have left the store buffer as well. The first flatters whoever stores a lot to lines of others,
 * the second counts waiting that a real loop would overlap with its next work.
 */
#ifndef WEIR_BENCH_PAIR_H
#define WEIR_BENCH_PAIR_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "bench.h"
#include "cacheline.h"
#include "feed.h"

/* What is measured: one burst on the dispatcher's side, one sweep on the workers'. */
struct pair_subject {
	/* Brings home what is completed, then lends the burst. The timed part. */
	void (*burst)(void *state, const struct weir_burst *burst);
	/*
	 * Looks at all workers once and completes their packets, all but the `keep` newest of
	 * each. Returns packets not seen in an earlier sweep. Runs on the workers' thread.
	 */
	uint32_t (*sweep)(void *state, uint32_t keep);
	/* Where packets come home to. */
	struct home *(*home)(void *state);
};

struct pair {
	const struct bench *bench;
	const struct pair_subject *subject;
	void *state;
	struct feed *feed;
	struct home *home;
	pthread_t thread;
	uint32_t keep;		   /* packets that each worker holds on to */
	bool shares_cpu;	   /* both threads on one CPU: waiting yields */
	int thread_status;	   /* of the workers' thread, once it is joined */
	uint64_t preempted_before; /* by the caller's count, when the round began */
	uint64_t preempted;	   /* times that either thread lost its CPU, after pair_stop */

	/* The caller writes. */
	CACHE_ALIGNED _Atomic uint64_t lent; /* a frozen pool of workers waits for it */
	_Atomic bool stop;

	/* The workers' thread writes. */
	CACHE_ALIGNED _Atomic uint64_t seen; /* and dealt with */
	_Atomic bool ready;
};

/* Cycles per packet of the bursts of one run. */
struct pair_timing {
	double returned;
	double drained;
};

/*
 * Starts the workers' thread. With `keep` 0 it completes whatever comes, as fast as it can; with
 * more it leaves each worker that many packets and stands still while a burst is lent.
 * Returns 0 or -errno.
 */
int pair_start(struct pair *pair, const struct bench *bench, const struct pair_subject *subject,
	void *state, uint32_t keep);

/* Lends `packets` in bursts, untimed. Returns 0, or -ETIMEDOUT if the workers lost some. */
int pair_warm(struct pair *pair, uint64_t packets);

/* Lends the option's packets in bursts, timed. Returns 0 or -errno. */
int pair_measure(struct pair *pair, struct pair_timing *timing);

/*
 * Ends the workers' thread, brings home all that is left and adds to the case's packets in and
 * out. Returns 0, or -EBADMSG if what came home is not what was lent.
 */
int pair_stop(struct pair *pair, struct bench_case *test);

#endif
