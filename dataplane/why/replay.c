/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pool_options.h"

/* One worker on the capture's clock. */
struct replay_worker {
	struct weir_worker *worker;
	bool busy;
	uint64_t done_ns; /* when its packet is done, or its last one was */
};

struct replay {
	struct weir_pool *pool;
	struct weir_dispatcher *dispatcher;
	struct weir_dispatcher *urgent; /* of the urgent classes; NULL: there are none */
	uint64_t urgent_classes;	/* a bit for each id */
	replay_finish_fn finish;
	void *context;
	uint64_t service_ns;
	uint64_t now_ns; /* never goes back, whatever the capture's times do */
	int dropped;	 /* enum weir_reason of a drop in this dispatch, or negative */
	void *evicted;	 /* the packet that was dropped, if it had been lent */
	uint32_t n_workers;
	struct replay_worker workers[WEIR_WORKERS_MAX];
};

static void
packets_finish(void *context, void *const *packets, const struct weir_verdict *verdicts, uint32_t n,
	weir_worker_id worker)
{
	struct replay *replay = context;

	for (uint32_t i = 0; i < n; i++) {
		if (verdicts[i].kind == WEIR_VERDICT_DROP) {
			replay->dropped = verdicts[i].target;
			replay->evicted = verdicts[i].target == WEIR_REASON_OVERFLOW_DROP_HEAD
						  ? packets[i]
						  : NULL;
		}
		replay->finish(replay->context, packets[i], worker);
	}
}

/* The worker takes a packet if it has none and one waits. It begins when it can: not before now. */
static void
worker_take(struct replay *replay, struct replay_worker *worker, uint64_t begin_ns)
{
	struct weir_packet packet;

	if (worker->busy || weir_take(worker->worker, &packet, 1) == 0)
		return;
	worker->busy = true;
	worker->done_ns = begin_ns + replay->service_ns;
}

/* The worker does all that it can have done by now. */
static void
worker_advance(struct replay *replay, struct replay_worker *worker)
{
	const struct weir_verdict verdict = weir_verdict_consumed();

	worker_take(replay, worker, replay->now_ns);
	while (worker->busy && worker->done_ns <= replay->now_ns) {
		weir_complete(worker->worker, &verdict, 1);
		worker->busy = false;
		worker_take(replay, worker, worker->done_ns);
	}
}

static void
dispatcher_harvest(const struct replay *replay, struct weir_dispatcher *dispatcher)
{
	/* Of a capture's beginning at 0, too: the dispatcher's clock is never 0. */
	weir_time_set(dispatcher, replay->now_ns + 1);
	weir_harvest(dispatcher);
}

/* Brings every worker to the time `now_ns`, and home what they have done. */
static void
clock_set(struct replay *replay, uint64_t now_ns)
{
	if (now_ns > replay->now_ns)
		replay->now_ns = now_ns;
	for (uint32_t i = 0; i < replay->n_workers; i++)
		worker_advance(replay, &replay->workers[i]);
	if (replay->urgent)
		dispatcher_harvest(replay, replay->urgent);
	dispatcher_harvest(replay, replay->dispatcher);
	/* What the harvest has lent out of the hold begins now. */
	for (uint32_t i = 0; i < replay->n_workers; i++)
		worker_take(replay, &replay->workers[i], replay->now_ns);
}

/* When the next packet is done: the clock's next step if nothing arrives. */
static uint64_t
clock_next(const struct replay *replay)
{
	uint64_t next_ns = UINT64_MAX;

	for (uint32_t i = 0; i < replay->n_workers; i++) {
		const struct replay_worker *worker = &replay->workers[i];

		if (worker->busy && worker->done_ns < next_ns)
			next_ns = worker->done_ns;
	}
	assert(next_ns != UINT64_MAX); /* what is lent or held always comes home */
	return next_ns;
}

/* The packet stays where it came from, and the clock goes on until it has found its lane. */
static void
packet_wait(
	struct replay *replay, struct weir_dispatcher *dispatcher, const struct weir_burst *burst)
{
	weir_hold(dispatcher, burst);
	while (!weir_accepts(dispatcher))
		clock_set(replay, clock_next(replay));
}

void
replay_packet(struct replay *replay, void *packet, const struct weir_meta *meta,
	struct replay_outcome *outcome)
{
	const struct weir_burst burst = {
		.packets = &packet,
		.meta = meta,
		.n = 1,
		.workers = &outcome->worker,
	};

	struct weir_dispatcher *dispatcher;

	outcome->urgent = replay->urgent && (replay->urgent_classes >> meta->class_id & 1);
	dispatcher = outcome->urgent ? replay->urgent : replay->dispatcher;
	clock_set(replay, meta->time_ns);
	/* The other one may have lent out of its hold since. */
	if (replay->urgent)
		dispatcher_harvest(replay, dispatcher);
	weir_explain(dispatcher, meta, &outcome->why);
	outcome->worker = WEIR_WORKER_NONE;
	replay->dropped = -1;
	replay->evicted = NULL;
	outcome->refused = weir_dispatch(dispatcher, &burst) == 0;
	outcome->dropped = replay->dropped;
	outcome->evicted = replay->evicted;
	/* An idle worker begins on arrival, not when the next packet comes. */
	for (uint32_t i = 0; i < replay->n_workers; i++)
		worker_take(replay, &replay->workers[i], replay->now_ns);
	if (outcome->refused)
		packet_wait(replay, dispatcher, &burst);
}

static bool
is_empty(const struct weir_dispatcher *dispatcher)
{
	return !dispatcher || (weir_in_lanes(dispatcher) == 0 && weir_held(dispatcher) == 0);
}

void
replay_drain(struct replay *replay)
{
	while (!is_empty(replay->dispatcher) || !is_empty(replay->urgent))
		clock_set(replay, clock_next(replay));
}

static uint64_t
dispatcher_moves(const struct weir_dispatcher *dispatcher)
{
	struct weir_dispatcher_counters counters;

	weir_dispatcher_counters(dispatcher, &counters);
	return counters.moves;
}

uint64_t
replay_moves(const struct replay *replay)
{
	return dispatcher_moves(replay->dispatcher) +
	       (replay->urgent ? dispatcher_moves(replay->urgent) : 0);
}

/* Makes what moves packets through a pool. Returns 0 or -ENOMEM. */
static int
replay_fill(struct replay *replay)
{
	replay->dispatcher = weir_dispatcher_create(replay->pool, 0, packets_finish, replay);
	if (replay->dispatcher && replay->urgent_classes != 0)
		replay->urgent = weir_dispatcher_create(replay->pool, 1, packets_finish, replay);
	if (!replay->dispatcher || (replay->urgent_classes != 0 && !replay->urgent)) {
		fprintf(stderr, "weir: no memory for the dispatcher\n");
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < replay->n_workers; i++)
		replay->workers[i].worker = weir_pool_worker(replay->pool, (weir_worker_id)i);
	return 0;
}

int
replay_create(struct replay **replay, const struct options *options, replay_finish_fn finish,
	void *context)
{
	int rc;

	*replay = calloc(1, sizeof(**replay));
	if (!*replay) {
		fprintf(stderr, "weir: no memory for the replay\n");
		return -ENOMEM;
	}
	**replay = (struct replay) {
		.finish = finish,
		.context = context,
		.service_ns = options->service_ns,
		.n_workers = options->workers,
		.urgent_classes = pool_options_urgent(options),
	};
	rc = pool_create_by_options(&(*replay)->pool, options, &(struct pool_surroundings) { 0 });
	return rc < 0 ? rc : replay_fill(*replay);
}

void
replay_destroy(struct replay *replay)
{
	if (!replay)
		return;
	weir_dispatcher_destroy(replay->dispatcher);
	weir_dispatcher_destroy(replay->urgent);
	weir_pool_destroy(replay->pool);
	free(replay);
}
