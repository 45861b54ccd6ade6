/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * XB1, XB2, XB4: eight dispatchers of one pool ask a strategy that remembers at once, each for
 * packets of several classes. Each has a state of its own, so that of every class and dispatcher
 * all workers get as many packets, give or take one, and no sanitizer finds a race.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "rng.h"
#include "stress.h"

#define N_DISPATCHERS 8
#define N_WORKERS 3
#define N_CLASSES 3
#define N_PACKETS 12000
#define LANE_SIZE 4200

struct asker {
	struct weir_dispatcher *dispatcher;
	pthread_t thread;
	uint64_t seed;
	uint64_t draws;
	uint32_t n_classes;
	uint32_t n_picked[N_CLASSES][N_WORKERS];
	uint32_t n_finished;
};

static void
asker_finish(void *context, void *const *packets, const struct weir_verdict *verdicts, uint32_t n,
	weir_worker_id worker)
{
	struct asker *asker = context;

	(void)packets;
	(void)verdicts;
	(void)worker;
	asker->n_finished += n;
}

static uint32_t
asker_draw(struct asker *asker, uint32_t n)
{
	return rng_below(rng_at(asker->seed, asker->draws++), n);
}

static void *
asker_main(void *argument)
{
	struct asker *asker = argument;
	void *packets[WEIR_BURST_MAX];
	struct weir_meta meta[WEIR_BURST_MAX] = { 0 };
	weir_worker_id workers[WEIR_BURST_MAX];

	for (uint32_t i = 0; i < WEIR_BURST_MAX; i++)
		packets[i] = &meta[i];
	for (uint32_t left = N_PACKETS; left > 0;) {
		struct weir_burst burst = { packets, NULL, meta, 1 + asker_draw(asker, 32),
			workers };

		burst.n = burst.n < left ? burst.n : left;
		for (uint32_t i = 0; i < burst.n; i++)
			meta[i].class_id = (uint8_t)asker_draw(asker, asker->n_classes);
		if (weir_dispatch(asker->dispatcher, &burst) != burst.n)
			abort();
		for (uint32_t i = 0; i < burst.n; i++)
			asker->n_picked[meta[i].class_id][workers[i]]++;
		left -= burst.n;
	}
	return NULL;
}

/* Whether all workers got as much of a class, give or take one. */
static bool
picks_are_even(const uint32_t *n_picked)
{
	uint32_t least = n_picked[0];
	uint32_t most = n_picked[0];

	for (uint32_t id = 1; id < N_WORKERS; id++) {
		least = n_picked[id] < least ? n_picked[id] : least;
		most = n_picked[id] > most ? n_picked[id] : most;
	}
	return least > 0 && most - least <= 1;
}

static uint32_t
asker_check(struct asker *asker, const char *strategy)
{
	uint32_t failures = 0;

	for (uint32_t class_id = 0; class_id < asker->n_classes; class_id++) {
		const uint32_t *n_picked = asker->n_picked[class_id];

		if (picks_are_even(n_picked))
			continue;
		fprintf(stderr, "failed: %s: class %u: %u, %u, %u packets\n", strategy, class_id,
			n_picked[0], n_picked[1], n_picked[2]);
		failures++;
	}
	/* No worker ever looked: all that was lent is taken back. */
	for (uint32_t id = 0; id < N_WORKERS; id++)
		weir_reclaim(asker->dispatcher, (weir_worker_id)id, WEIR_REASON_DRAIN_TIMEOUT,
			WEIR_RECLAIM_GONE);
	if (asker->n_finished != N_PACKETS) {
		fprintf(stderr, "failed: %s: %u packets came back\n", strategy, asker->n_finished);
		failures++;
	}
	weir_dispatcher_destroy(asker->dispatcher);
	return failures;
}

static uint32_t
strategy_run(const char *strategy, uint32_t n_classes, uint64_t seed)
{
	struct weir_config config = weir_config_default();
	const struct weir_class classes[N_CLASSES - 1] = { { .action = WEIR_ACTION_ROUTE } };
	struct asker asker[N_DISPATCHERS] = { 0 };
	struct weir_pool *pool;
	uint32_t failures = 0;

	config.n_dispatchers = N_DISPATCHERS;
	config.n_workers = N_WORKERS;
	config.lane_size = LANE_SIZE;
	config.strategy = strategy;
	config.classes = classes;
	config.n_classes = n_classes - 1;
	pool = weir_pool_create(&config, NULL);
	if (!pool)
		abort();
	for (uint32_t d = 0; d < N_DISPATCHERS; d++) {
		asker[d].seed = rng_at(seed, d);
		asker[d].n_classes = n_classes;
		asker[d].dispatcher = weir_dispatcher_create(pool, d, asker_finish, &asker[d]);
		if (!asker[d].dispatcher ||
			pthread_create(&asker[d].thread, NULL, asker_main, &asker[d]) != 0)
			abort();
	}
	for (uint32_t d = 0; d < N_DISPATCHERS; d++)
		pthread_join(asker[d].thread, NULL);
	for (uint32_t d = 0; d < N_DISPATCHERS; d++)
		failures += asker_check(&asker[d], strategy);
	weir_pool_destroy(pool);
	printf("%s: %u dispatchers, %u classes: %u failures\n", strategy, N_DISPATCHERS, n_classes,
		failures);
	return failures;
}

int
main(void)
{
	const uint64_t seed = stress_seed("stress_strategy");
	uint32_t failures = 0;

	/* Round-robin has one index for all classes. */
	failures += strategy_run("round-robin", 1, rng_at(seed, 0));
	failures += strategy_run("least-frequent", N_CLASSES, rng_at(seed, 1));
	failures += strategy_run("least-recent", N_CLASSES, rng_at(seed, 2));
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
