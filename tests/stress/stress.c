/* SPDX-License-Identifier: BSD-3-Clause */
#include "stress.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#include "order_oracle.h"
#include "rng.h"

#define DELAY_MAX_NS 200000

/* What travels. Plain memory: the lanes must order every access to it. */
struct stress_packet {
	uint64_t number; /* from 1, in the order of making */
	uint64_t answer; /* the worker's; 0 before */
	uint16_t bucket;
	bool is_out;
};

struct stress;

struct dispatcher_thread {
	struct stress *stress;
	struct weir_dispatcher *dispatcher;
	pthread_t thread;
	uint64_t seed;
	uint64_t draws;
	struct stress_packet *packets;
	struct stress_packet **free; /* a stack */
	uint32_t n_free;
	uint32_t n_made;
	uint32_t n_finished;
	uint64_t completed; /* by verdict, own count */
	uint64_t last_number[WEIR_WORKERS_MAX];
	struct order_oracle order;
	/* The burst at hand; what was refused of it is offered again. */
	void *burst[WEIR_BURST_MAX];
	struct weir_meta meta[WEIR_BURST_MAX];
	uint32_t n_burst;
};

struct worker_thread {
	struct stress *stress;
	struct weir_worker *worker;
	pthread_t thread;
	uint64_t seed;
	uint64_t draws;
};

struct stress {
	const struct stress_plan *plan;
	struct weir_pool *pool;
	struct dispatcher_thread dispatcher[WEIR_DISPATCHERS_MAX];
	struct worker_thread worker[WEIR_WORKERS_MAX];
	pthread_t control;
	uint64_t seed;
	_Atomic uint32_t n_changes;
	atomic_bool workers_stop;
	atomic_bool control_stop;
	_Atomic uint32_t failures;
};

/* Counts a failed check; prints the first ones. */
static void
stress_fail(struct stress *stress, const char *what, uint64_t number)
{
	if (atomic_fetch_add(&stress->failures, 1) < 10)
		fprintf(stderr, "failed: %s (%llu)\n", what, (unsigned long long)number);
}

static void
check(struct stress *stress, bool holds, const char *what, uint64_t number)
{
	if (!holds)
		stress_fail(stress, what, number);
}

static uint64_t
answer_of(uint64_t number, weir_worker_id worker)
{
	return rng_at(number, worker) | 1;
}

/* Every kind of verdict, bad ones included, as a function of the packet's number. */
static struct weir_verdict
verdict_of(uint64_t number)
{
	switch (number % 5) {
	case 0:
		return weir_verdict_consumed();
	case 1:
		return weir_verdict_drop(WEIR_REASON_HANDLER_DROP);
	case 2:
		return (struct weir_verdict) { .kind = 200 };
	default:
		return (struct weir_verdict) { .kind = WEIR_VERDICT_TX,
			.target = (uint8_t)number,
			.data_offset = (int16_t)(number % 100),
			.length = (uint32_t)number };
	}
}

static bool
verdict_is_expected(const struct weir_verdict *verdict, uint64_t number)
{
	struct weir_verdict expected = verdict_of(number);

	if (expected.kind == 200)
		expected = weir_verdict_drop(WEIR_REASON_BAD_VERDICT);
	return verdict->kind == expected.kind && verdict->target == expected.target &&
	       verdict->data_offset == expected.data_offset && verdict->length == expected.length;
}

/* Lanes keep the order of arrival, unless packets of other buckets went on while these waited. */
static void
order_check(struct dispatcher_thread *d, const struct stress_packet *packet,
	const struct weir_verdict *verdict, weir_worker_id worker)
{
	if (d->stress->plan->config.order == WEIR_ORDER_FLOW) {
		if (verdict->kind != WEIR_VERDICT_DROP)
			order_oracle_end(&d->order, packet->bucket, packet->number, worker);
		return;
	}
	check(d->stress, packet->number > d->last_number[worker], "lane order", packet->number);
	d->last_number[worker] = packet->number;
}

static void
packet_finish(struct dispatcher_thread *d, struct stress_packet *packet,
	const struct weir_verdict *verdict, weir_worker_id worker)
{
	struct stress *stress = d->stress;

	check(stress, packet->is_out, "packet ended twice", packet->number);
	packet->is_out = false;
	if (worker == WEIR_WORKER_NONE) {
		check(stress, verdict->kind == WEIR_VERDICT_DROP, "never lent, yet no drop",
			packet->number);
		check(stress, packet->answer == 0, "dropped, yet answered", packet->number);
	} else {
		check(stress, packet->answer == answer_of(packet->number, worker),
			"answer is not the worker's", packet->number);
		check(stress, verdict_is_expected(verdict, packet->number),
			"verdict is not the worker's", packet->number);
		order_check(d, packet, verdict, worker);
		d->completed +=
			verdict->kind == WEIR_VERDICT_TX || verdict->kind == WEIR_VERDICT_CONSUMED;
	}
	d->free[d->n_free++] = packet;
	d->n_finished++;
}

static void
dispatcher_finish(void *context, void *const *packets, const struct weir_verdict *verdicts,
	uint32_t n, weir_worker_id worker)
{
	for (uint32_t i = 0; i < n; i++)
		packet_finish(context, packets[i], &verdicts[i], worker);
}

static uint32_t
draw(uint64_t seed, uint64_t *draws, uint32_t n)
{
	return rng_below(rng_at(seed, (*draws)++), n);
}

/* Whether the dispatcher is so far ahead of the control thread that it must wait. */
static bool
waits_for_control(const struct dispatcher_thread *d)
{
	const uint32_t per_change = d->stress->plan->packets_per_change;

	return per_change > 0 && d->n_made > per_change * atomic_load(&d->stress->n_changes);
}

static uint16_t
packet_bucket(const struct dispatcher_thread *d, uint64_t number)
{
	const uint64_t random = rng_at(d->seed, number);
	const uint32_t n_buckets = d->stress->plan->n_buckets;

	return (uint16_t)(n_buckets > 0 ? rng_below(random, n_buckets) : random);
}

/* Makes a burst of random length of free packets. */
static void
burst_make(struct dispatcher_thread *d)
{
	const struct stress_plan *plan = d->stress->plan;
	uint32_t n = 1 + draw(d->seed, &d->draws, plan->config.burst);

	if (waits_for_control(d))
		return;
	n = n < d->n_free ? n : d->n_free;
	n = n < plan->n_packets - d->n_made ? n : plan->n_packets - d->n_made;
	for (uint32_t i = 0; i < n; i++) {
		struct stress_packet *packet = d->free[--d->n_free];

		*packet = (struct stress_packet) {
			.number = ++d->n_made,
			.bucket = packet_bucket(d, d->n_made),
			.is_out = true,
		};
		d->burst[i] = packet;
		d->meta[i] = (struct weir_meta) {
			.time_ns = packet->number,
			.bucket = packet->bucket,
		};
	}
	d->n_burst = n;
}

/* Dispatches the burst; holds or keeps what is refused. */
static uint32_t
burst_dispatch(struct dispatcher_thread *d)
{
	struct weir_burst burst = { .packets = d->burst, .meta = d->meta, .n = d->n_burst };
	const uint32_t taken = weir_dispatch(d->dispatcher, &burst);

	burst.packets += taken;
	burst.meta += taken;
	burst.n -= taken;
	if (burst.n > 0 && draw(d->seed, &d->draws, 4) == 0) {
		weir_hold(d->dispatcher, &burst);
		burst.n = 0;
	}
	for (uint32_t i = 0; i < burst.n; i++) {
		d->burst[i] = burst.packets[i];
		d->meta[i] = burst.meta[i];
	}
	d->n_burst = burst.n;
	return taken;
}

static void *
dispatcher_main(void *argument)
{
	struct dispatcher_thread *d = argument;
	const uint32_t n_packets = d->stress->plan->n_packets;

	while (d->n_finished < n_packets) {
		uint32_t moved;

		if (d->n_burst == 0)
			burst_make(d);
		moved = d->n_burst > 0 ? burst_dispatch(d) : weir_harvest(d->dispatcher);
		/* Now and then, so that under drop-new not all packets meet full lanes. */
		if (moved == 0 || draw(d->seed, &d->draws, 8) == 0)
			sched_yield();
	}
	return NULL;
}

static struct weir_verdict
packet_work(struct worker_thread *w, const struct weir_packet *taken)
{
	struct stress_packet *packet = (struct stress_packet *)(void *)taken->data;

	check(w->stress, packet->answer == 0, "taken twice", packet->number);
	if (w->stress->plan->config.lend_metadata)
		check(w->stress, taken->meta.time_ns == packet->number,
			"metadata of another packet", packet->number);
	packet->answer = answer_of(packet->number, weir_worker_get_id(w->worker));
	return verdict_of(packet->number);
}

/* Now and then a worker is not there, at any place of its loop. */
static void
worker_delay(struct worker_thread *w)
{
	struct timespec delay = { 0 };

	if (!w->stress->plan->delays)
		return;
	if (draw(w->seed, &w->draws, 64) == 0) {
		delay.tv_nsec = draw(w->seed, &w->draws, DELAY_MAX_NS);
		nanosleep(&delay, NULL);
	} else if (draw(w->seed, &w->draws, 4) == 0) {
		sched_yield();
	}
}

static void *
worker_main(void *argument)
{
	struct worker_thread *w = argument;
	struct weir_packet packets[WEIR_BURST_MAX];
	struct weir_verdict verdicts[WEIR_BURST_MAX];

	while (!atomic_load_explicit(&w->stress->workers_stop, memory_order_relaxed)) {
		const uint32_t max = 1 + draw(w->seed, &w->draws, w->stress->plan->config.burst);
		const uint32_t n = weir_take(w->worker, packets, max);

		if (n == 0)
			sched_yield();
		for (uint32_t done = 0; done < n;) {
			const uint32_t part = 1 + draw(w->seed, &w->draws, n - done);

			for (uint32_t i = 0; i < part; i++)
				verdicts[i] = packet_work(w, &packets[done + i]);
			worker_delay(w);
			weir_complete(w->worker, verdicts, part);
			done += part;
		}
	}
	return NULL;
}

/* One random change; `present` is what the control thread knows of the members. */
static void
pool_change(struct stress *stress, uint64_t *draws, bool *present)
{
	const uint32_t n_workers = stress->plan->config.n_workers;
	const weir_worker_id id = (weir_worker_id)draw(stress->seed, draws, n_workers);
	int rc;

	if (!present[id]) {
		rc = weir_pool_add(stress->pool, id);
		if (rc == 0)
			rc = weir_pool_set_state(stress->pool, id, WEIR_WORKER_READY);
		present[id] = true;
	} else if (draw(stress->seed, draws, 2)) {
		rc = weir_pool_set_state(stress->pool, id, WEIR_WORKER_DRAINING);
	} else {
		rc = weir_pool_remove(stress->pool, id);
		present[id] = false;
	}
	check(stress, rc == 0, "change of the pool", id);
	atomic_fetch_add(&stress->n_changes, 1);
}

static void *
control_main(void *argument)
{
	struct stress *stress = argument;
	bool present[WEIR_WORKERS_MAX];
	uint64_t draws = 0;

	for (uint32_t i = 0; i < WEIR_WORKERS_MAX; i++)
		present[i] = true;
	while (!atomic_load_explicit(&stress->control_stop, memory_order_relaxed)) {
		pool_change(stress, &draws, present);
		sched_yield();
	}
	return NULL;
}

static void
dispatcher_prepare(struct stress *stress, uint32_t id)
{
	const struct weir_config *config = &stress->plan->config;
	const uint32_t n_buffers =
		config->n_workers * config->lane_size + config->hold_size + 2 * config->burst;
	struct dispatcher_thread *d = &stress->dispatcher[id];

	d->stress = stress;
	d->seed = rng_at(stress->seed, 1000 + id);
	d->packets = calloc(n_buffers, sizeof(*d->packets));
	d->free = calloc(n_buffers, sizeof(struct stress_packet *));
	d->dispatcher = weir_dispatcher_create(stress->pool, id, dispatcher_finish, d);
	if (!d->packets || !d->free || !d->dispatcher || order_oracle_init(&d->order) < 0)
		abort();
	for (uint32_t i = 0; i < n_buffers; i++)
		d->free[d->n_free++] = &d->packets[i];
}

static void
thread_start(pthread_t *thread, void *(*main)(void *), void *argument)
{
	if (pthread_create(thread, NULL, main, argument) != 0)
		abort();
}

static void
stress_start(struct stress *stress)
{
	const struct weir_config *config = &stress->plan->config;

	for (uint32_t i = 0; i < config->n_dispatchers; i++)
		dispatcher_prepare(stress, i);
	for (uint32_t i = 0; i < config->n_workers; i++) {
		struct worker_thread *w = &stress->worker[i];

		w->stress = stress;
		w->worker = weir_pool_worker(stress->pool, (weir_worker_id)i);
		w->seed = rng_at(stress->seed, 2000 + i);
		thread_start(&w->thread, worker_main, w);
	}
	if (stress->plan->packets_per_change > 0)
		thread_start(&stress->control, control_main, stress);
	for (uint32_t i = 0; i < config->n_dispatchers; i++)
		thread_start(
			&stress->dispatcher[i].thread, dispatcher_main, &stress->dispatcher[i]);
}

static void
stress_join(struct stress *stress)
{
	const struct weir_config *config = &stress->plan->config;

	for (uint32_t i = 0; i < config->n_dispatchers; i++)
		pthread_join(stress->dispatcher[i].thread, NULL);
	atomic_store(&stress->control_stop, true);
	if (stress->plan->packets_per_change > 0)
		pthread_join(stress->control, NULL);
	atomic_store(&stress->workers_stop, true);
	for (uint32_t i = 0; i < config->n_workers; i++)
		pthread_join(stress->worker[i].thread, NULL);
}

/* At rest every count is exact. */
static void
books_check(struct stress *stress)
{
	const struct weir_config *config = &stress->plan->config;
	struct weir_ledger ledger = { 0 };
	uint64_t completed = 0;

	for (uint32_t i = 0; i < config->n_dispatchers; i++) {
		weir_ledger_add(&ledger, stress->dispatcher[i].dispatcher);
		completed += stress->dispatcher[i].completed;
	}
	check(stress, weir_ledger_gap(&ledger) == 0, "ledger", (uint64_t)weir_ledger_gap(&ledger));
	check(stress, ledger.received == (uint64_t)config->n_dispatchers * stress->plan->n_packets,
		"received", ledger.received);
	check(stress, ledger.completed == completed, "completed", ledger.completed);
	check(stress, ledger.in_lanes == 0, "in lanes", ledger.in_lanes);
	check(stress, ledger.held == 0, "held", ledger.held);
}

/* Returns how often a bucket has moved. */
static uint64_t
order_books_check(struct stress *stress)
{
	uint64_t moves = 0;

	for (uint32_t i = 0; i < stress->plan->config.n_dispatchers; i++) {
		const struct dispatcher_thread *d = &stress->dispatcher[i];
		struct weir_dispatcher_counters counters;
		char words[256];

		weir_dispatcher_counters(d->dispatcher, &counters);
		moves += counters.moves;
		/* The oracle does not see those that a handler dropped. */
		check(stress, d->order.n_moves <= counters.moves, "moves", d->order.n_moves);
		if (d->order.n_inversions == 0)
			continue;
		order_oracle_say(&d->order, words, sizeof(words));
		stress_fail(stress, words, i);
	}
	check(stress, moves >= stress->plan->moves_min, "buckets moved too rarely", moves);
	return moves;
}

/* Returns how many packets were evicted. */
static uint64_t
evictions_check(struct stress *stress)
{
	struct weir_ledger ledger = { 0 };

	for (uint32_t i = 0; i < stress->plan->config.n_dispatchers; i++)
		weir_ledger_add(&ledger, stress->dispatcher[i].dispatcher);
	check(stress, ledger.dropped[WEIR_REASON_OVERFLOW_DROP_HEAD] >= stress->plan->evicted_min,
		"evicted too rarely", ledger.dropped[WEIR_REASON_OVERFLOW_DROP_HEAD]);
	return ledger.dropped[WEIR_REASON_OVERFLOW_DROP_HEAD];
}

static void
worker_books_check(struct stress *stress, weir_worker_id id)
{
	struct weir_worker_activity activity;
	uint64_t harvested = 0;

	weir_pool_worker_activity(stress->pool, id, &activity);
	for (uint32_t i = 0; i < stress->plan->config.n_dispatchers; i++) {
		struct weir_worker_counters counters;

		weir_dispatcher_worker_counters(stress->dispatcher[i].dispatcher, id, &counters);
		check(stress,
			/* M4: what was lent came home or was evicted. */
			counters.lent == counters.harvested +
						 counters.dropped[WEIR_REASON_OVERFLOW_DROP_HEAD],
			"lent", counters.lent);
		harvested += counters.harvested;
	}
	check(stress, activity.taken == harvested, "taken", activity.taken);
	check(stress, activity.completed == harvested, "completed", activity.completed);
}

static void
stress_free(struct stress *stress)
{
	for (uint32_t i = 0; i < stress->plan->config.n_dispatchers; i++) {
		weir_dispatcher_destroy(stress->dispatcher[i].dispatcher);
		order_oracle_fini(&stress->dispatcher[i].order);
		free(stress->dispatcher[i].packets);
		free(stress->dispatcher[i].free);
	}
	weir_pool_destroy(stress->pool);
	free(stress);
}

uint32_t
stress_run(const struct stress_plan *plan, uint64_t seed)
{
	const struct weir_config *config = &plan->config;
	struct stress *stress = calloc(1, sizeof(*stress));
	uint32_t failures;
	uint64_t evicted;
	uint64_t moves;

	if (!stress)
		abort();
	stress->plan = plan;
	stress->seed = seed;
	stress->pool = weir_pool_create(config, NULL);
	if (!stress->pool)
		abort();
	stress_start(stress);
	stress_join(stress);
	books_check(stress);
	evicted = evictions_check(stress);
	moves = order_books_check(stress);
	for (uint32_t i = 0; i < config->n_workers; i++)
		worker_books_check(stress, (weir_worker_id)i);
	failures = atomic_load(&stress->failures);
	printf("%s: %u dispatchers, %u workers, lanes of %u, %s, %s, %s, order %s, %u packets "
	       "each, %u changes, %llu moves, %llu evicted\n",
		failures ? "FAILED" : "ok", config->n_dispatchers, config->n_workers,
		config->lane_size, config->strategy, config->overflow,
		config->depth_mode == WEIR_DEPTH_QUEUED ? "queued" : "outstanding",
		config->order == WEIR_ORDER_FLOW ? "flow" : "none", plan->n_packets,
		atomic_load(&stress->n_changes), (unsigned long long)moves,
		(unsigned long long)evicted);
	fflush(stdout);
	stress_free(stress);
	return failures;
}

uint64_t
stress_seed(const char *name)
{
	const char *wanted = getenv("WEIR_TEST_SEED");
	uint64_t seed = 0;

	if (wanted)
		seed = strtoull(wanted, NULL, 0);
	else if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		abort();
	printf("%s: WEIR_TEST_SEED=0x%016llx\n", name, (unsigned long long)seed);
	return seed;
}
