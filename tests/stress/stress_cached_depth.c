/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Readings of depth between threads: a publisher publishes as fast as it can, two readers must
 * never see one that is half one and half another, and none that is older than what they saw
 * before.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <weir/cached_depth.h>

#include "rng.h"
#include "stress.h"

#define N_READERS 2
#define N_READINGS 4000001 /* odd: the last one is in the second slot */

struct table {
	struct weir_cached_depth *cached;
	uint64_t seed;
	uint32_t incarnation;
	_Atomic bool ended;
};

struct reader {
	pthread_t thread;
	struct table *table;
	uint64_t n_read;
	uint64_t n_wrong;
};

/* The reading at `time_ns`: everything in it follows from its time. */
static struct weir_depth_reading
reading_make(const struct table *table, uint64_t time_ns)
{
	const uint64_t random = rng_at(table->seed, time_ns);

	return (struct weir_depth_reading) {
		.time_ns = time_ns,
		.depth_pkts = (uint32_t)random,
		.incarnation = table->incarnation,
		.routable = random >> 63,
	};
}

static void *
publisher_run(void *context)
{
	struct table *table = context;

	for (uint64_t time_ns = 1; time_ns <= N_READINGS; time_ns++) {
		const struct weir_depth_reading reading = reading_make(table, time_ns);

		if (weir_cached_depth_publish(table->cached, 0, &reading) < 0)
			abort();
	}
	atomic_store(&table->ended, true);
	return NULL;
}

static void
reading_check(struct reader *reader, const struct weir_depth_reading *reading, uint64_t *newest_ns)
{
	const struct weir_depth_reading expected = reading_make(reader->table, reading->time_ns);

	reader->n_read++;
	reader->n_wrong += reading->depth_pkts != expected.depth_pkts ||
			   reading->routable != expected.routable || reading->time_ns < *newest_ns;
	*newest_ns = reading->time_ns;
}

static void *
reader_run(void *context)
{
	struct reader *reader = context;
	struct table *table = reader->table;
	struct weir_depth_reading reading;
	uint64_t newest_ns = 0;
	bool ended;

	do {
		ended = atomic_load(&table->ended);
		if (weir_cached_depth_read(table->cached, 0, newest_ns, &reading) == 0)
			reading_check(reader, &reading, &newest_ns);
	} while (!ended);
	/* After the end the newest one is there. */
	reader->n_wrong += newest_ns != N_READINGS;
	return NULL;
}

static uint64_t
readers_join(struct reader *readers)
{
	uint64_t n_wrong = 0;

	for (uint32_t i = 0; i < N_READERS; i++) {
		pthread_join(readers[i].thread, NULL);
		printf("reader %u: %llu readings, %llu wrong\n", i,
			(unsigned long long)readers[i].n_read,
			(unsigned long long)readers[i].n_wrong);
		n_wrong += readers[i].n_wrong;
	}
	return n_wrong;
}

int
main(void)
{
	struct weir_cached_depth_config config = weir_cached_depth_config_default();
	struct table table = { .seed = stress_seed("stress_cached_depth") };
	struct reader readers[N_READERS] = { 0 };
	struct weir_depth_lease lease = { 0 };
	pthread_t publisher;
	uint64_t n_wrong;

	config.stale_after_ns = 0;
	table.cached = weir_cached_depth_create(&config, NULL);
	if (!table.cached || weir_depth_lease_take(table.cached, 0, &lease) < 0)
		return EXIT_FAILURE;
	table.incarnation = weir_cached_depth_incarnation(table.cached, 0);
	for (uint32_t i = 0; i < N_READERS; i++) {
		readers[i].table = &table;
		if (pthread_create(&readers[i].thread, NULL, reader_run, &readers[i]) != 0)
			return EXIT_FAILURE;
	}
	if (pthread_create(&publisher, NULL, publisher_run, &table) != 0)
		return EXIT_FAILURE;
	pthread_join(publisher, NULL);
	n_wrong = readers_join(readers);
	weir_cached_depth_destroy(table.cached);
	return n_wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
