/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * XB12: two dispatchers, one worker that is idle for all classes, 20,000 rounds: in each both want
 * it for every class at once, and exactly one of the two gets it for each: 1,280,000 trials. Who
 * wins writes to what only the holder of the claim may touch, so that ThreadSanitizer sees whether
 * a claim hands it over (edge E8), and gives the claim back as a dispatcher does whose picks came
 * to nothing: nothing is lent, for lanes would order the two by edges of their own.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include <weir/weir.h>

#include "admission.h"

#define N_ROUNDS 20000

struct trials {
	_Atomic uint32_t reached[2];	    /* stages that each has come to: two a round */
	uint32_t touched[WEIR_CLASSES_MAX]; /* by class: the holder's */
};

struct contender {
	struct weir_dispatcher *dispatcher;
	struct trials *trials;
	uint32_t id;
	pthread_t thread;
	uint64_t won[N_ROUNDS]; /* a bit per class */
};

static bool
other_reached(const struct contender *self, uint32_t stage)
{
	return atomic_load_explicit(&self->trials->reached[!self->id], memory_order_relaxed) >=
	       stage;
}

/*
 * Waits until both have come to `stage`: spinning first, for who yields comes late. Relaxed: an
 * order from here would hide one that the claim lacks.
 */
static void
stage_reach(struct contender *self, uint32_t stage)
{
	uint32_t spins = 0;

	atomic_store_explicit(&self->trials->reached[self->id], stage, memory_order_relaxed);
	while (!other_reached(self, stage)) {
		if (++spins > 2000)
			sched_yield();
	}
}

/*
 * Picks for a packet of each class; the two go through the classes in opposite directions, so that
 * they meet whoever is ahead. Returns the classes for which the worker was won.
 */
static uint64_t
classes_pick(struct contender *self)
{
	struct weir_dispatcher *dispatcher = self->dispatcher;
	const struct weir_strategy *strategy = dispatcher->snapshot->route[0].strategy;
	struct weir_meta meta[WEIR_CLASSES_MAX] = { 0 };
	uint16_t picks[WEIR_CLASSES_MAX];
	uint64_t won = 0;

	for (uint32_t i = 0; i < WEIR_CLASSES_MAX; i++)
		meta[i].class_id = (uint8_t)(self->id == 0 ? i : WEIR_CLASSES_MAX - 1 - i);
	strategy->pick_burst(&dispatcher->pick, meta, WEIR_CLASSES_MAX, picks);
	class_picks_settle(dispatcher, strategy, meta, WEIR_CLASSES_MAX, picks);
	for (uint32_t i = 0; i < WEIR_CLASSES_MAX; i++) {
		if (picks[i] != 0)
			continue;
		won |= UINT64_C(1) << meta[i].class_id;
		self->trials->touched[meta[i].class_id]++;
	}
	return won;
}

static void *
contender_run(void *argument)
{
	struct contender *self = argument;

	for (uint32_t round = 0; round < N_ROUNDS; round++) {
		stage_reach(self, 2 * round + 1);
		self->won[round] = classes_pick(self);
		/* Not before the other has tried: or both would win, one after the other. */
		stage_reach(self, 2 * round + 2);
		class_claims_settle(self->dispatcher);
	}
	return NULL;
}

static uint32_t
bits_count(uint64_t bits)
{
	return (uint32_t)__builtin_popcountll(bits);
}

/* Trials that both or neither has won, and wins that left no trace. */
static uint64_t
failures_count(const struct trials *trials, const struct contender *contender)
{
	uint64_t n_touched = 0;
	uint64_t failures = 0;
	uint64_t wins[2] = { 0 };

	for (uint32_t round = 0; round < N_ROUNDS; round++) {
		failures += bits_count(~(contender[0].won[round] ^ contender[1].won[round]));
		wins[0] += bits_count(contender[0].won[round]);
		wins[1] += bits_count(contender[1].won[round]);
	}
	for (uint32_t i = 0; i < WEIR_CLASSES_MAX; i++)
		n_touched += trials->touched[i];
	failures += n_touched != wins[0] + wins[1];
	printf("stress_claim: %llu and %llu trials won, %llu failures\n",
		(unsigned long long)wins[0], (unsigned long long)wins[1],
		(unsigned long long)failures);
	return failures;
}

static void
finish_nothing(void *context, void *const *packets, const struct weir_verdict *verdicts, uint32_t n,
	weir_worker_id worker)
{
	(void)context;
	(void)packets;
	(void)verdicts;
	(void)n;
	(void)worker;
	abort();
}

static struct weir_pool *
pool_open(void)
{
	struct weir_config config = weir_config_default();

	config.n_workers = 1;
	config.n_dispatchers = 2;
	config.strategy = "busyover";
	return weir_pool_create(&config, NULL);
}

int
main(void)
{
	struct weir_pool *pool = pool_open();
	struct trials *trials = calloc(1, sizeof(*trials));
	struct contender *contender = calloc(2, sizeof(*contender));
	uint64_t failures;

	if (!pool || !trials || !contender)
		return EXIT_FAILURE;
	for (uint32_t i = 0; i < 2; i++)
		contender[i].dispatcher = weir_dispatcher_create(pool, i, finish_nothing, NULL);
	for (uint32_t i = 0; i < 2; i++) {
		contender[i].trials = trials;
		contender[i].id = i;
		if (!contender[i].dispatcher || pthread_create(&contender[i].thread, NULL,
							contender_run, &contender[i]) != 0)
			return EXIT_FAILURE;
	}
	for (uint32_t i = 0; i < 2; i++)
		pthread_join(contender[i].thread, NULL);
	failures = failures_count(trials, contender);
	for (uint32_t i = 0; i < 2; i++)
		weir_dispatcher_destroy(contender[i].dispatcher);
	weir_pool_destroy(pool);
	free(contender);
	free(trials);
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
