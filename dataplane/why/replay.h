/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The replay: a pool with one dispatcher, driven from one thread on the capture's own clock. Each
 * worker takes a packet as soon as it has none, and completes it `service_ns` later. Under a policy
 * that refuses, the arrival waits and the clock goes on until there is room, as a port's queue
 * would wait. Knows no file and prints nothing.
 */
#ifndef WEIR_WHY_REPLAY_H
#define WEIR_WHY_REPLAY_H

#include <weir/weir.h>

#include "options.h"

struct replay;

/* What became of one packet when it was dispatched. */
struct replay_outcome {
	struct weir_explanation why;
	/* Charged with the packet, for a refused one: whose lane was full; or WEIR_WORKER_NONE. */
	weir_worker_id worker;
	bool urgent;   /* by its rule: `why` is of the dispatcher of such packets */
	bool refused;  /* it waited for room */
	int dropped;   /* enum weir_reason of the packet that was dropped for it, or negative */
	void *evicted; /* that packet, if it was an older one; NULL: this one */
};

/*
 * Called when a packet ends: by the worker that had it, or WEIR_WORKER_NONE if it was dropped
 * before.
 */
typedef void (*replay_finish_fn)(void *context, void *packet, weir_worker_id worker);

/* Returns 0, -EINVAL after a refusal, or -ENOMEM after a line. */
int replay_create(struct replay **replay, const struct options *options, replay_finish_fn finish,
	void *context);

/* Dispatches one packet at the time in its metadata. */
void replay_packet(struct replay *replay, void *packet, const struct weir_meta *meta,
	struct replay_outcome *outcome);

/* Lets workers finish all that they have. */
void replay_drain(struct replay *replay);

/* Buckets that went to another worker than before. */
uint64_t replay_moves(const struct replay *replay);

/* NULL is allowed. */
void replay_destroy(struct replay *replay);

#endif
