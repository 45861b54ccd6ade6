/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * XB13: the first packets of a class at an idle worker, of two dispatchers at once, and again and
 * again. Whatever the admission, neither costs the other: each dispatcher goes by its own packets
 * alone. What is not let in, or covered, ends as well, so that no round waits for ever.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "stress.h"

#define N_DISPATCHERS 2
#define N_ROUNDS 2000

struct sender {
	struct weir_dispatcher *dispatcher;
	pthread_barrier_t *barrier;
	pthread_t thread;
	uint32_t n_finished;
	uint32_t n_consumed;
};

struct receiver {
	struct weir_worker *worker;
	pthread_t thread;
	atomic_bool done;
};

static void
sender_finish(void *context, void *const *packets, const struct weir_verdict *verdicts, uint32_t n,
	weir_worker_id worker)
{
	struct sender *sender = context;

	(void)packets;
	(void)worker;
	for (uint32_t i = 0; i < n; i++)
		sender->n_consumed += verdicts[i].kind == WEIR_VERDICT_CONSUMED;
	sender->n_finished += n;
}

static void *
sender_main(void *argument)
{
	struct sender *sender = argument;
	const struct weir_meta meta = { .class_id = 1 };
	void *packet = sender;

	for (uint32_t round = 1; round <= N_ROUNDS; round++) {
		const struct weir_burst burst = { .packets = &packet, .meta = &meta, .n = 1 };

		pthread_barrier_wait(sender->barrier);
		if (weir_dispatch(sender->dispatcher, &burst) != 1)
			abort();
		while (sender->n_finished < round) {
			weir_harvest(sender->dispatcher);
			sched_yield();
		}
	}
	return NULL;
}

static void *
receiver_main(void *argument)
{
	struct receiver *receiver = argument;
	const struct weir_verdict verdict = weir_verdict_consumed();
	struct weir_packet packet;

	while (!atomic_load(&receiver->done)) {
		if (weir_take(receiver->worker, &packet, 1) == 1)
			weir_complete(receiver->worker, &verdict, 1);
		else
			sched_yield();
	}
	return NULL;
}

static struct weir_pool *
pool_create(enum weir_admission admission)
{
	const struct weir_class class = { .admission = admission };
	struct weir_config config = weir_config_default();
	struct weir_pool *pool;

	config.n_dispatchers = N_DISPATCHERS;
	config.n_workers = 1;
	config.strategy = "first";
	config.classes = &class;
	config.n_classes = 1;
	pool = weir_pool_create(&config, NULL);
	if (!pool)
		abort();
	return pool;
}

static uint32_t
admission_run(enum weir_admission admission)
{
	struct weir_pool *pool = pool_create(admission);
	struct receiver receiver = { .worker = weir_pool_worker(pool, 0) };
	struct sender sender[N_DISPATCHERS] = { 0 };
	pthread_barrier_t barrier;
	uint32_t failures = 0;

	pthread_barrier_init(&barrier, NULL, N_DISPATCHERS);
	for (uint32_t d = 0; d < N_DISPATCHERS; d++) {
		sender[d].barrier = &barrier;
		sender[d].dispatcher = weir_dispatcher_create(pool, d, sender_finish, &sender[d]);
		if (!sender[d].dispatcher ||
			pthread_create(&sender[d].thread, NULL, sender_main, &sender[d]) != 0)
			abort();
	}
	if (pthread_create(&receiver.thread, NULL, receiver_main, &receiver) != 0)
		abort();
	for (uint32_t d = 0; d < N_DISPATCHERS; d++)
		pthread_join(sender[d].thread, NULL);
	atomic_store(&receiver.done, true);
	pthread_join(receiver.thread, NULL);
	for (uint32_t d = 0; d < N_DISPATCHERS; d++) {
		failures += sender[d].n_consumed != N_ROUNDS;
		printf("admission %d: %u of %u packets handled\n", admission, sender[d].n_consumed,
			N_ROUNDS);
		weir_dispatcher_destroy(sender[d].dispatcher);
	}
	pthread_barrier_destroy(&barrier);
	weir_pool_destroy(pool);
	return failures;
}

int
main(void)
{
	uint32_t failures = 0;

	for (int admission = 0; admission < WEIR_ADMISSION_COUNT; admission++)
		failures += admission_run((enum weir_admission)admission);
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
