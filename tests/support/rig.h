/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rig: a pool with its dispatchers and workers, all driven from one thread with fake packets.
 * It keeps the caller's books: every packet must end exactly once, in order (its bucket's with
 * order flow, its lane's without), with the worker's own writing in it, and the ledger must balance
 * after every step. Whatever breaks that fails the test at once. Knows no strategy and no policy.
 */
#ifndef WEIR_TESTS_RIG_H
#define WEIR_TESTS_RIG_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/weir.h>

#include "order_oracle.h"

/* Whose a packet is. */
enum rig_owner {
	RIG_CALLER,	/* not taken over yet, or refused */
	RIG_DISPATCHER, /* taken over: lent or held */
	RIG_ENDED,	/* came back through finish */
};

struct rig_packet {
	uint32_t id; /* in order of creation, from 0 for each dispatcher */
	enum rig_owner owner;
	weir_worker_id charged; /* that dispatch named */
	weir_worker_id from;	/* that finish named */
	bool is_copy;		/* made by the dispatcher, of the packet with the same id */
	bool is_spread;		/* it, or what it is a copy of, goes to all workers */
	uint32_t n_taken;	/* how often workers took it */
	struct weir_meta meta;
	struct weir_verdict verdict;
	uint64_t payload; /* what the worker sees as the packet's data */
};

struct rig_dispatcher {
	struct weir_dispatcher *dispatcher;
	struct rig_packet *packets;
	uint32_t n_packets;
	struct rig_packet *copies;
	uint32_t max_copies;
	uint32_t n_copies;
	uint32_t n_refused;	   /* the last so many packets are with the caller */
	uint32_t n_abandoned;	   /* refused ones that the caller kept for good */
	struct rig_packet **ended; /* in the order of finish */
	uint32_t n_ended;
	uint32_t n_finish_calls;
	uint32_t n_held_overflow;
	uint32_t n_hold_timeout;
	uint32_t n_written_off;	 /* a test's own count: reclaimed packets that never come back */
	uint32_t n_hold_dropped; /* likewise: dropped out of the hold, never routed */
	uint32_t next_id[WEIR_WORKERS_MAX];	 /* lowest id that may come back from each worker */
	uint32_t next_copy_id[WEIR_WORKERS_MAX]; /* likewise, of what goes to all */
	struct order_oracle order;
	uint16_t *held; /* rig_check's own: by bucket, packets counted in the hold; else 0 */
	uint32_t n_pin_checks;
	struct rig *rig;
};

struct rig_worker {
	struct weir_worker *worker;
	struct weir_packet taken[WEIR_BURST_MAX];
	uint32_t n_taken;   /* packets of the last take */
	uint32_t completed; /* of these, given back */
	bool is_gone;	    /* takes nothing */
	bool is_paused;	    /* likewise, for a while */
};

struct rig {
	struct weir_config config;
	struct weir_pool *pool;
	struct rig_dispatcher dispatcher[WEIR_DISPATCHERS_MAX];
	struct rig_worker *worker;
	uint32_t max_packets;
	int bucket;		  /* of new packets; negative: as n_buckets says */
	uint32_t n_buckets;	  /* drawn from so many, some more often; 0: all in turn, by id */
	uint64_t time_ns;	  /* arrival time of new packets; 0: their id */
	uint8_t class_id;	  /* of new packets */
	uint8_t n_classes;	  /* drawn from so many, class_id on; 0 and 1: class_id alone */
	bool draws_classes;	  /* instead: any class, the unknown ones above included */
	bool copies_move;	  /* copies may be redone by others, out of their order */
	uint8_t flags;		  /* of new packets */
	uint32_t copies_per_call; /* that the copy function makes at most */
	/* The pool's classes; class 0 is the pool itself. */
	struct weir_class classes[WEIR_CLASSES_MAX];
	bool waits_apart;  /* packets wait for one worker while later ones go, and may then go
			      to another: lanes need not have the order of arrival */
	bool asks_not_all; /* strategies are not asked for every packet, whatever the order */
	bool has_gone;	   /* a worker was gone: packets may be routed, and taken, again */
	bool is_hostile;   /* workers give back packets that they have not answered */
	/*
	 * Called once, at the next finish: for what a worker does while the dispatcher is in a
	 * call. May use rig_take, rig_complete and rig_work.
	 */
	void (*on_finish)(struct rig *rig);
};

/* A configuration for vectors: `n` workers, room for all that a test lends, own seed. */
struct weir_config rig_config(const char *strategy, uint32_t n_workers);

/* For tests of every strategy: who takes what this one finds nobody for; NULL if it always does. */
const char *rig_fallback(const struct weir_strategy *strategy);

/*
 * Where a policy that evicts stands beside what it does not go with (budgets, counts of classes),
 * drop-new takes its place. `classes` are the configuration's, which may be changed; or NULL.
 */
void rig_settle_policies(struct weir_config *config, struct weir_class *classes);

/* The same for drop-head, with lanes of that size. */
struct weir_config rig_drop_head_config(
	const char *strategy, uint32_t n_workers, uint32_t lane_size);
struct rig *rig_drop_head(const char *strategy, uint32_t n_workers, uint32_t lane_size);

/* Creates pool, dispatchers and workers; each dispatcher can make up to `max_packets`. */
struct rig *rig_create(const struct weir_config *config, uint32_t max_packets);

/* Lets packets be copied, up to `max` times; pools that broadcast are born with it. */
void rig_copies_allow(struct rig *rig, uint32_t max);

/* What the rig expects of a packet of that class. Unknown ones are class 0. */
const struct weir_class *rig_class(const struct rig *rig, uint8_t class_id);

/* The rig's own: notes the classes, and allows copies if one of them broadcasts. */
void rig_classes_learn(struct rig *rig, const struct weir_config *config);

/* The rig's own: what the dispatcher has written into the metadata of a packet that was taken. */
void rig_marks_learn(
	const struct rig *rig, struct rig_packet *packet, const struct weir_meta *meta);

/* Whether a packet goes to all workers unless it is dropped or diverted. */
bool rig_is_spread(const struct rig *rig, const struct weir_meta *meta);

/* Destroys the last dispatcher, which has nothing lent or held. */
void rig_dispatcher_lose(struct rig *rig);

/* Brings all packets home, checks that each ended once, and frees everything. */
void rig_destroy(struct rig *rig);

/*
 * Makes `n` new packets (0 .. burst) and dispatches them in one burst. Returns how many were taken
 * over; the others are the refused ones.
 */
uint32_t rig_dispatch(struct rig *rig, uint32_t n);
uint32_t rig_dispatch_from(struct rig *rig, uint32_t dispatcher, uint32_t n);

/* The bucket with the given number below rig->n_buckets. */
uint16_t rig_bucket(uint32_t number);

/* Makes packets of the `n` buckets given and dispatches them, as rig_dispatch does. */
uint32_t rig_dispatch_buckets(
	struct rig *rig, uint32_t dispatcher, const uint16_t *buckets, uint32_t n);

/* Dispatches the refused ones again. */
uint32_t rig_retry(struct rig *rig, uint32_t dispatcher);

/* Gives the refused ones to the hold. */
void rig_hold(struct rig *rig, uint32_t dispatcher);

/* Leaves the refused ones with the caller for good. */
void rig_abandon(struct rig *rig, uint32_t dispatcher);

/* Tells every dispatcher the time. */
void rig_time(struct rig *rig, uint64_t now_ns);

uint32_t rig_harvest(struct rig *rig);

/* Takes up to `max` packets as worker `id`; checks what the worker sees. */
uint32_t rig_take(struct rig *rig, weir_worker_id id, uint32_t max);

/* Gives back the next `n` of them, with `verdict` each. */
void rig_complete(struct rig *rig, weir_worker_id id, uint32_t n, struct weir_verdict verdict);

/*
 * Worker `id` is gone as `how` says, whatever it had in hand. Dispatchers hear of it in their next
 * call.
 */
void rig_kill(struct rig *rig, weir_worker_id id, const struct weir_departure *how);

/* Its next incarnation is there and ready; every dispatcher must have reclaimed the last one's. */
void rig_restart(struct rig *rig, weir_worker_id id);

/* Every member that is starting is ready. */
void rig_start_all(struct rig *rig);

/* Worker `id` takes nothing and gets nothing, until it is resumed. */
void rig_pause(struct rig *rig, weir_worker_id id);
void rig_resume(struct rig *rig, weir_worker_id id);

/* Takes and completes until `max` packets are done or nothing is left. Returns packets done. */
uint32_t rig_work(struct rig *rig, weir_worker_id id, uint32_t max);

/* Completes what workers have, abandons what is refused, until nothing is lent or held. */
void rig_drain(struct rig *rig);

/*
 * Makes the depth of worker i `depth[i]`, all of it queued, as dispatcher 0 alone sees it. The pool
 * must be empty and its strategy must deal evenly (shallowest, round-robin).
 */
void rig_set_depths(struct rig *rig, const uint32_t *depth);

/* The packets of the last rig_dispatch, in order. */
const struct rig_packet *rig_last(const struct rig *rig, uint32_t n);

/* Dispatches `n` packets in one burst and asserts to whom each was charged. */
void rig_assert_routes(struct rig *rig, const weir_worker_id *workers, uint32_t n);
/* The same, each packet as a burst of its own. */
void rig_assert_routes_singly(struct rig *rig, const weir_worker_id *workers, uint32_t n);

#define assert_routes(rig, ...)                                          \
	rig_assert_routes(rig, (const weir_worker_id[]) { __VA_ARGS__ }, \
		sizeof((const weir_worker_id[]) { __VA_ARGS__ }) / sizeof(weir_worker_id))
#define assert_routes_singly(rig, ...)                                          \
	rig_assert_routes_singly(rig, (const weir_worker_id[]) { __VA_ARGS__ }, \
		sizeof((const weir_worker_id[]) { __VA_ARGS__ }) / sizeof(weir_worker_id))

/* Packets in the lane to `id` that it has not completed, as the worker's counters have it. */
uint32_t rig_depth(const struct rig *rig, weir_worker_id id);

/* Packets that were taken back out of the lane to `id`. */
uint32_t rig_evicted(const struct rig *rig, uint32_t dispatcher, weir_worker_id id);

struct weir_dispatcher_counters rig_counters(const struct rig *rig, uint32_t dispatcher);
struct weir_worker_counters rig_worker_counters(
	const struct rig *rig, uint32_t dispatcher, weir_worker_id id);
struct weir_ledger rig_ledger(const struct rig *rig);
/* What that says of one reason. */
uint64_t rig_dropped(const struct rig *rig, enum weir_reason reason);

/*
 * Checks the ledger, the counters, (for strategies that read it) the mirror and (with order flow)
 * the pins of the packets that are held and of the last burst, and now and then those of all
 * rig->n_buckets.
 */
void rig_check(struct rig *rig);

/* Checks every pin of every dispatcher: what is held, and that no mark was left. */
void rig_check_pins(const struct rig *rig);

#endif
