/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pool: the ordered set of workers that one strategy serves. Membership and state are changed
 * by one control thread and reach the dispatchers as immutable, versioned snapshots.
 */
#ifndef WEIR_POOL_H
#define WEIR_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/depth.h>
#include <weir/packet.h>
#include <weir/stats.h>

struct weir_strategy;
struct weir_overflow_policy;

/** Largest weight of a worker. */
#define WEIR_WEIGHT_MAX 100
/** Fastest policer, packets per second. */
#define WEIR_POLICE_PPS_MAX UINT64_C(1000000000)
/** Routes of a pool: its own strategy, and one for each class that has its own. */
#define WEIR_ROUTES_MAX WEIR_CLASSES_MAX

/** A pool of workers, its lanes and its snapshots. Opaque. */
struct weir_pool;
/** The borrower's end: what one worker thread holds. Opaque; see weir/lane.h. */
struct weir_worker;

/**
 * States of a worker, monotonic within one incarnation. Only `ready` workers without a flag are
 * routable.
 */
enum weir_worker_state {
	WEIR_WORKER_STARTING, /**< laid out, not yet polling */
	WEIR_WORKER_READY,    /**< takes packets */
	WEIR_WORKER_DRAINING, /**< gets no new packets, finishes what it has */
	WEIR_WORKER_STOPPED,  /**< finished and gone */
	WEIR_WORKER_DEAD,     /**< gone without having finished: on proof only */
	WEIR_WORKER_STATE_COUNT,
};

/** What makes a worker unroutable for a while, whatever its state. Reversible; bits. */
enum weir_worker_flag {
	WEIR_WORKER_PAUSED = 1u << 0, /**< it was told to take nothing */
	WEIR_WORKER_LOST = 1u << 1,   /**< its heart does not beat */
	WEIR_WORKER_STUCK = 1u << 2,  /**< it has packets and completes none */
};

/** What a worker is told to do: a state to be reached, read between bursts. */
enum weir_worker_command {
	WEIR_COMMAND_RUN = 0, /**< take, work, complete */
	WEIR_COMMAND_PAUSE,   /**< take nothing */
	WEIR_COMMAND_DRAIN,   /**< as run, until weir_worker_is_drained() */
	WEIR_COMMAND_STOP,    /**< leave, at the next burst's end */
};

/** How a worker has left, and what is to become of what it was lent. */
struct weir_departure {
	enum weir_worker_state state; /**< WEIR_WORKER_STOPPED or WEIR_WORKER_DEAD */
	/** What it had not begun goes to other workers, in order, and waits in the hold until it
	 * finds room, whatever the policy. Needs weir_config.lend_metadata. Otherwise it ends for
	 * `queued_reason`. Copies of packets for several workers end as `dead_worker` always: the
	 * others have theirs. (Numbered ones are redone.) */
	bool redispatch;
	/** With `redispatch`: also what it was working on, at most once per packet. That is known
	 * of workers that say so before they begin: with `is_shared`, and with depth mode `queued`.
	 * Of others whatever is not completed counts as not begun: they finish their burst. */
	bool redeliver;
	/** A new incarnation is to come: while no worker is routable, packets wait for it. */
	bool awaited;
	enum weir_reason queued_reason;	    /**< of queued packets without `redispatch` */
	enum weir_reason in_process_reason; /**< of those in process that are not redelivered */
};

/** What a worker says of itself. From a process it is hearsay: nobody else may depend on it. */
struct weir_worker_pulse {
	uint32_t beats;		      /**< counts up */
	enum weir_worker_state state; /**< as it reported last; of a wrong value, STARTING */
};

/** Files that back one worker's memory, to be passed to its process; they stay the pool's. */
struct weir_worker_memory {
	int lanes_fd; /**< to be mapped read-only: sealed against more */
	size_t lanes_bytes;
	int own_fd; /**< to be mapped read-write; its size is sealed */
	size_t own_bytes;
};

/** What is promised of packets of one flow. */
enum weir_order {
	/** Nothing: each packet goes to the best worker of its moment. */
	WEIR_ORDER_NONE = 0,
	/**
	 * Within one dispatcher, packets of one bucket come back in the order in which they were
	 * dispatched. A bucket still moves, as soon as all its packets have been harvested.
	 *
	 * The limits: two dispatchers have no order between them; flows that share a bucket share
	 * its moves; copies for several workers are concurrent. What must wait for a worker that
	 * takes nothing (it has left the pool, is paused or lost, or is gone) waits in the hold,
	 * and ends as `held_overflow` where that is full, under a policy that refuses, too: one
	 * such worker does not keep the others from getting packets.
	 */
	WEIR_ORDER_FLOW = 1,
};

/** What becomes of the packets of a class. */
enum weir_action {
	WEIR_ACTION_ROUTE,  /**< a strategy finds their worker */
	WEIR_ACTION_DROP,   /**< they are dropped as `rule_drop` */
	WEIR_ACTION_DIVERT, /**< past all workers: they come back to be transmitted on a port */
};

/**
 * Whether a packet is let into the lane of its worker that has others of its class: others that the
 * same dispatcher lent and has not harvested. Where the worker has none, all are alike.
 *
 * What a worker has begun is never interrupted, and nothing newer is begun beside it: a packet that
 * covers others waits for the one in process. Covered packets end when their worker comes to take
 * them; until then they count in its depth and keep their slots, so that a full lane is full.
 *
 * Of a packet for all workers each one admits its copy by itself; a copy that waited for its worker
 * under a policy that refuses is asked again when it goes.
 */
enum weir_admission {
	WEIR_ADMIT_SERIAL,	  /**< yes, behind them */
	WEIR_ADMIT_DISCARD_LATER, /**< no: it is dropped as `busy_discard` */
	WEIR_ADMIT_COVER_EARLY,	  /**< yes; those still queued end as `covered`. Needs metadata */
	WEIR_ADMISSION_COUNT,
};

/** What is done with the packets of one class: the right side of a rule. Zeroed: as the pool's. */
struct weir_class {
	enum weir_action action;
	uint8_t divert_port;  /**< with DIVERT: `target` of the verdict */
	const char *strategy; /**< name; NULL: the pool's, with whose packets they are counted */
	const char *fallback; /**< name, where `strategy` is given and may find none; NULL: none */
	const char *overflow; /**< name; NULL: the pool's */
	/** Its packets go ahead of others: only with action ROUTE and weir_config.n_urgent > 0. The
	 * dispatcher does not look at it: the caller gives them to an urgent one, by
	 * weir_classes_urgent() and weir_burst_split(). */
	bool urgent;
	enum weir_admission admission;
	/** Other workers that a packet may try whose lane is full, 0 .. WEIR_WORKERS_MAX - 1: the
	 * next ones in rotation, each once; then it ends as `retry_exhausted`, or is refused. With
	 * order flow only if its bucket has nothing out and does not stick. A strategy that owns
	 * flows loses the bucket until what left is back. What goes to all workers is not retried:
	 * a copy is for its worker alone. So 0 under a strategy that broadcasts. */
	uint32_t retries;
	uint64_t police_pps;   /**< packets per second and dispatcher; 0 = no policer */
	uint32_t police_burst; /**< tokens that a policer can save, 1 .. 2^31 - 1; 0 stands for
				    the packets of 10 ms, at least 1 */
};

/** Takes a tag back; see weir_config.tag. */
typedef void (*weir_tag_release_fn)(void *tag);

/** What a pool is made of. Start from weir_config_default(). */
struct weir_config {
	uint32_t n_workers;	/**< 1 .. WEIR_WORKERS_MAX: lanes are laid out for so many */
	uint32_t n_members;	/**< of these, the first so many are members, `ready` at once;
				     0 stands for n_workers */
	uint32_t n_dispatchers; /**< 1 .. WEIR_DISPATCHERS_MAX */
	/**
	 * The last so many dispatchers are urgent, 0 .. n_dispatchers - 1: a worker takes nothing
	 * of another one while it finds something of theirs. Packets that have no class of their
	 * own, or an unknown one, belong to the others, the lower of the two priorities; none is
	 * dropped for that.
	 *
	 * Priority is strict, and nothing guards against starvation: while urgent packets keep
	 * coming as fast as a worker serves them, it takes no others. What it has begun it
	 * finishes: an urgent packet waits for one take at most. Within one dispatcher packets keep
	 * their order; one flow that is in both priorities has two orders.
	 *
	 * Urgent dispatchers are whole dispatchers: they have lanes (with lane_size slots each),
	 * pins, a hold and a budget of their own, so that a full lane of one priority costs the
	 * other nothing; each sees what a worker has of both in its depth.
	 */
	uint32_t n_urgent;
	uint32_t lane_size; /**< usable slots per lane, 1 .. 65535, those in process included; where
			       a policy evicts they are not: then it is packets queued */
	uint32_t burst;	    /**< most packets per weir_dispatch, 1 .. 256 */
	uint32_t chunk;	    /**< packets per pick, 1 .. 256; 1 for strategies that own flows */
	uint32_t hold_size; /**< packets that the hold of each dispatcher can keep, 0 = no hold */
	enum weir_depth_mode depth_mode;
	enum weir_order order;
	uint64_t sticky_ns;   /**< with order flow: a bucket stays until it was silent that long, by
				   the packets' own times; 0 = it may move once it is harvested */
	const char *strategy; /**< name, as weir_strategy_find() or `strategies` knows it */
	const char *fallback; /**< asked where `strategy` finds no worker; NULL: none */
	/** Strategies that names may mean besides the registered ones: loaded ones, say. They stay
	 * the caller's and must live as long as the pool. */
	const struct weir_strategy *const *strategies;
	uint32_t n_strategies;
	const struct weir_class *classes;   /**< of class ids 1 .. n_classes; copied */
	uint32_t n_classes;		    /**< 0 .. WEIR_CLASSES_MAX - 1 */
	uint16_t weights[WEIR_WORKERS_MAX]; /**< by worker, 0 .. WEIR_WEIGHT_MAX; 0 stands for 1 */
	/**
	 * Packets that a worker may have outstanding of one dispatcher, 0 .. lane_size; 0 = any
	 * number. A queue length is not a work length: where few packets take very much longer than
	 * most, a small budget keeps the others from being stuck behind them.
	 *
	 * A pick of a worker that is at its budget goes to the next routable one that is not. What
	 * finds all at their budgets waits in the hold, whatever the policy; everything new that
	 * asks a strategy stands behind it, and whoever finishes takes the oldest. Under a strategy
	 * that owns flows a packet waits for its owner alone. Packets of buckets that are out
	 * follow them past any budget, and so do copies of packets for all workers, which have
	 * their targets. Both take up budget before any pick does. Give it a hold: without one what
	 * would wait ends as `held_overflow`.
	 */
	uint32_t budget_pkts;
	uint64_t hold_timeout_ns;  /**< what is held, for whatever cause, ends as `hold_timeout`
				      after so long, up to 2^63 - 1; 0 = never. By weir_time_set */
	uint64_t state_period_ns;  /**< per-class state of strategies begins afresh after so long; 0
				      = never. By weir_time_set */
	const char *overflow;	   /**< name, as weir_overflow_find() knows it */
	uint32_t depth_alarm_pkts; /**< depth of a worker at which the first alarm rings; 0 = off */
	uint64_t seed;		   /**< of everything random; same seed, same decisions */
	/** The caller's own, which dispatchers find with what they go by: weir_refresh(). With the
	 * pool's end, or once no dispatcher goes by it any more, `tag_release` is called with it,
	 * on the control thread, unless that is NULL. */
	void *tag;
	weir_tag_release_fn tag_release;
	bool lend_metadata; /**< copy struct weir_meta into the lane (32 bytes per packet) */
	/**
	 * Lanes and worker areas are files in memory that processes can map, and lanes carry
	 * offsets from `data_base`: every packet's data must lie within `data_bytes` from there.
	 * Workers say what they have in process before they work on it.
	 */
	bool is_shared;
	void *data_base;   /**< NULL unless is_shared */
	size_t data_bytes; /**< 0 unless is_shared */
};

/**
 * Which of the `n` classes (0 .. WEIR_CLASSES_MAX - 1) with ids from 1 on are urgent: a bit for
 * each id, for weir_burst_split(). Any thread.
 */
WEIR_API uint64_t weir_classes_urgent(const struct weir_class *classes, uint32_t n);

/** What is wrong with a configuration: one line can be made of it. */
struct weir_config_error {
	char field[48];	   /**< the member of struct weir_config: `classes[2].retries` say */
	char value[64];	   /**< the offending value */
	char allowed[320]; /**< what is allowed */
};

/**
 * 4 workers, 1 dispatcher, 512 slots, bursts of 32, chunk 1, shallowest, drop-new, metadata; order
 * none and no hold. With order flow give it a hold: what must wait behind a worker that leaves the
 * pool is dropped as `held_overflow` without one.
 */
WEIR_API struct weir_config weir_config_default(void);

/**
 * Checks a configuration without creating anything.
 * @return 0, or -EINVAL with `error` filled. Any thread.
 */
WEIR_API int weir_config_check(const struct weir_config *config, struct weir_config_error *error);

/**
 * Creates a pool: all lanes, worker areas and the first snapshot are allocated here and nowhere
 * later. Caller: the control thread.
 * @param error may be NULL
 * @return NULL with errno EINVAL (`error` filled) or ENOMEM
 */
WEIR_API struct weir_pool *weir_pool_create(
	const struct weir_config *config, struct weir_config_error *error);

/** Frees a pool. No dispatcher or worker may be in a call on it. NULL is allowed. */
WEIR_API void weir_pool_destroy(struct weir_pool *pool);

/**
 * The configuration that the pool was created with; `classes` and `strategies` are NULL. Any
 * thread.
 */
WEIR_API const struct weir_config *weir_pool_config(const struct weir_pool *pool);

/**
 * Whether packets can go to several workers: a route's strategy or fallback names them all. Its
 * dispatchers need a weir_copy_fn. Any thread.
 */
WEIR_API bool weir_pool_fans_out(const struct weir_pool *pool);

/**
 * The borrower's end of worker `id`. One thread at a time may use it.
 * @return NULL with errno EINVAL if `id` is not below n_workers
 */
WEIR_API struct weir_worker *weir_pool_worker(struct weir_pool *pool, weir_worker_id id);

/**
 * Changes the state of a member and publishes a new snapshot: dispatchers honour it from their
 * next burst on. What was lent before stays lent. Caller: the control thread.
 * @return 0, -EINVAL (no such state, or an earlier one than it is in), -ENOENT (not a member) or
 * -ENOMEM (nothing changed)
 */
WEIR_API int weir_pool_set_state(
	struct weir_pool *pool, weir_worker_id id, enum weir_worker_state state);

/**
 * Sets a worker's flags, a set of enum weir_worker_flag, and publishes a new snapshot if they
 * differ. Caller: the control thread.
 * @return 0, -EINVAL (no such flag), -ENOENT (not a member) or -ENOMEM (nothing changed)
 */
WEIR_API int weir_pool_set_flags(struct weir_pool *pool, weir_worker_id id, uint32_t flags);

/** The state, the flags (NULL: not wanted) and the incarnation, from 0 on. Control thread. */
WEIR_API enum weir_worker_state weir_pool_worker_state(
	const struct weir_pool *pool, weir_worker_id id, uint32_t *flags);
WEIR_API uint32_t weir_pool_worker_incarnation(const struct weir_pool *pool, weir_worker_id id);

/**
 * Tells that a worker is gone, on proof: its thread is joined, or its process reaped. Every
 * dispatcher then reclaims its lane to it, some packets per weir_harvest: completed ones come home,
 * the others become what `how` says. Until a dispatcher has done so the packets' buckets wait.
 * Caller: the control thread.
 * @return 0, -EINVAL (no departure: `state`, a reason that is none, `redispatch` without metadata,
 * `redeliver` without `redispatch`), -EALREADY (it is gone already), -ENOENT (no such worker) or
 * -ENOMEM (nothing changed)
 */
WEIR_API int weir_pool_worker_gone(
	struct weir_pool *pool, weir_worker_id id, const struct weir_departure *how);

/** Whether every dispatcher has reclaimed what the worker that is gone had. Control thread. */
WEIR_API bool weir_pool_worker_is_reclaimed(const struct weir_pool *pool, weir_worker_id id);

/**
 * Begins the next incarnation of a worker that is gone and reclaimed: state `starting`, no flags,
 * command `run`; one that was removed from the pool is put back, at its end. Its former memory is
 * the new one's. Caller: the control thread.
 * @return 0, -EBUSY (not gone, or not reclaimed), -ENOENT (no such worker) or -ENOMEM
 */
WEIR_API int weir_pool_worker_restart(struct weir_pool *pool, weir_worker_id id);

/** Tells a worker what to do (edge E5). Any worker below n_workers. Control thread. */
WEIR_API void weir_pool_command(
	struct weir_pool *pool, weir_worker_id id, enum weir_worker_command command);

/** What a worker says of itself (edge E4). Any thread. */
WEIR_API struct weir_worker_pulse weir_pool_worker_pulse(
	const struct weir_pool *pool, weir_worker_id id);

/**
 * The files of a worker's memory.
 * @return 0, -ENOENT (no such worker) or -EINVAL (the pool is not shared). Control thread.
 */
WEIR_API int weir_pool_worker_memory(
	const struct weir_pool *pool, weir_worker_id id, struct weir_worker_memory *memory);

/**
 * Takes a worker out of the pool (its neighbours close ranks) and publishes a new snapshot.
 * Caller: the control thread.
 * @return 0, -ENOENT (not a member) or -ENOMEM (nothing changed)
 */
WEIR_API int weir_pool_remove(struct weir_pool *pool, weir_worker_id id);

/**
 * Puts a worker that was removed back at the end of the pool, in state `starting`, with the next
 * incarnation's number and the command `run`.
 * Caller: the control thread.
 * @return 0, -EINVAL (`id` not below n_workers), -EEXIST (a member), -EBUSY (weir_reclaim has
 * closed its lanes; or it is gone, and weir_pool_worker_restart is what puts it back) or -ENOMEM
 * (nothing changed)
 */
WEIR_API int weir_pool_add(struct weir_pool *pool, weir_worker_id id);

/** What can be changed while packets flow. */
struct weir_change {
	const char *strategy; /**< name; NULL: as it is, with its fallback */
	const char *fallback; /**< of `strategy`; NULL: none */
	const char *overflow; /**< name; NULL: as it is */
	const struct weir_strategy *const *strategies; /**< as weir_config.strategies */
	uint32_t n_strategies;
	const struct weir_class *classes; /**< of class ids 1 .. n_classes, all of them; copied */
	uint32_t n_classes;		  /**< 0: no class has anything of its own any more */
	const uint16_t *weights;	  /**< WEIR_WORKERS_MAX, by worker; NULL: as they are */
	void *tag;			  /**< as weir_config.tag: the new one */
	weir_tag_release_fn tag_release;
};

/**
 * Changes strategies, overflow policies, classes and weights of a pool that is in use: checked as a
 * new configuration would be, then published with a snapshot, so that each dispatcher goes by all
 * of it from one burst on. Strategies begin with no state, policers with full buckets; what is lent
 * or held stays, and follows its pins. What concerns the lanes' layout cannot be changed: whether
 * some policy evicts, and which classes cover early. Caller: the control thread.
 *
 * @param error may be NULL
 * @return 0; or, with nothing changed and the tag not taken, -EINVAL (`error` filled) or -ENOMEM
 */
WEIR_API int weir_pool_change(
	struct weir_pool *pool, const struct weir_change *change, struct weir_config_error *error);

/**
 * Checks a change without making it.
 * @return as weir_pool_change. Caller: the control thread.
 */
WEIR_API int weir_pool_check_change(const struct weir_pool *pool, const struct weir_change *change,
	struct weir_config_error *error);

/** A pool as it could be; zeroed with both workers WEIR_WORKER_NONE: as it is. */
struct weir_prospect {
	const struct weir_change *change; /**< valid for weir_pool_change; NULL: none */
	weir_worker_id added;		  /**< a routable worker more; WEIR_WORKER_NONE: none */
	weir_worker_id removed;		  /**< one less; WEIR_WORKER_NONE: none */
};

/**
 * Tells who would own each flow bucket by the pool's own strategy, so that two arrays tell what
 * share of flows a change moves. Changes nothing. Caller: the control thread.
 * @param owners out: WEIR_BUCKETS entries
 * @return 0; -ENOTSUP if that strategy owns no flows, or nobody is routable; -EINVAL or -ENOMEM
 */
WEIR_API int weir_pool_owners(
	const struct weir_pool *pool, const struct weir_prospect *prospect, weir_worker_id *owners);

/** A strategy, its fallback, and what they prepared of a snapshot. */
struct weir_strategy_route {
	const struct weir_strategy *strategy;
	const struct weir_strategy *fallback; /**< NULL: none */
	const void *table;	    /**< what `strategy` prepared; NULL if it needs none */
	const void *fallback_table; /**< likewise */
};

/** An immutable picture of the pool. Strategies prepare their tables from it. */
struct weir_snapshot {
	uint64_t version;			   /**< counts up from 1 */
	uint32_t n_members;			   /**< workers in the pool */
	uint32_t n_routable;			   /**< of these, in state `ready` */
	weir_worker_id member[WEIR_WORKERS_MAX];   /**< pool order */
	weir_worker_id routable[WEIR_WORKERS_MAX]; /**< pool order, dense: position → id */
	uint16_t position[WEIR_WORKERS_MAX];	   /**< id → position, or WEIR_WORKER_NONE */
	uint64_t seed;				   /**< of the pool */
	uint16_t weight[WEIR_WORKERS_MAX];	   /**< position → weight, from 1 on */
	uint32_t n_routes;			   /**< from 1 on: the pool's own is route 0 */
	struct weir_strategy_route route[WEIR_ROUTES_MAX];
};

/** Copies what worker `id` counted of itself. Any thread; single counters are never torn. */
WEIR_API void weir_pool_worker_activity(
	const struct weir_pool *pool, weir_worker_id id, struct weir_worker_activity *activity);

#endif
