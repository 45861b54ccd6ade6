/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The strategy contract. A strategy turns a burst of metadata into positions in the snapshot's
 * list of routable workers. It is one file that ends in a const struct weir_strategy, one row in
 * the registry and one test.
 *
 * A burst behaves as if its packets were routed one after another: a strategy that reads depth
 * adds its own picks with weir_pick_count(). With order flow the packets of a burst that follow
 * their pins are counted in the mirror before any of its picks, and so are packets for all workers:
 * they are lent whatever is picked. Several strategies of one pool are asked one after another,
 * each for all of its packets of the burst; each sees the picks of those before it in the mirror,
 * also of one that does not count them itself.
 */
#ifndef WEIR_STRATEGY_H
#define WEIR_STRATEGY_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/packet.h>
#include <weir/pool.h>

/** Bits of weir_strategy.flags. */
enum weir_strategy_flag {
	/** Reads ctx->depth. */
	WEIR_STRATEGY_READS_DEPTH = 1u << 0,
	/** A flow has one owner: its worker changes only when the pool does. Takes no chunk. */
	WEIR_STRATEGY_OWNS_FLOWS = 1u << 1,
	/** Reads the metadata: without this flag what `meta` points at is undefined. */
	WEIR_STRATEGY_READS_META = 1u << 2,
	/** Every routable worker gets each packet; `pick_burst` is NULL. */
	WEIR_STRATEGY_ALL_TARGETS = 1u << 3,
	/** With ALL_TARGETS: the copies are numbered (weir_meta.shard_index, shard_last). */
	WEIR_STRATEGY_SHARDS = 1u << 4,
	/** Reads snapshot->weight. */
	WEIR_STRATEGY_READS_WEIGHT = 1u << 5,
	/** Reads ctx->class_depth. Only with READS_META, which tells the class. */
	WEIR_STRATEGY_READS_CLASS_DEPTH = 1u << 6,
	/** Claims workers: ctx->claims is there when there are several dispatchers. Only with
	 * READS_CLASS_DEPTH, by which claims are given back. */
	WEIR_STRATEGY_CLAIMS = 1u << 7,
	/** May answer WEIR_PICK_NONE: it can have a fallback. */
	WEIR_STRATEGY_FINDS_NONE = 1u << 8,
};

/** In `out`: no worker suits. The route's fallback is asked; without one the packet is dropped. */
#define WEIR_PICK_NONE UINT16_MAX

/** Who holds the claim on a worker for a class: 0 = nobody, else a dispatcher's id + 1. */
typedef _Atomic uint32_t weir_claim;

/** The class that a packet counts for. An id that no rule can have counts as 0. */
static inline uint32_t
weir_class_id(const struct weir_meta *meta)
{
	return meta->class_id < WEIR_CLASSES_MAX ? meta->class_id : 0;
}

/** Where in ctx->class_depth and ctx->claims a class and a worker's id meet. */
static inline uint32_t
weir_class_slot(uint32_t class_id, weir_worker_id worker)
{
	return class_id * WEIR_WORKERS_MAX + worker;
}

/**
 * What a strategy sees while it picks: all of it local to one dispatcher.
 * Arrays are indexed by position in the snapshot's list of routable workers.
 */
struct weir_pick_context {
	const void *table;	  /**< what `prepare` made of this snapshot */
	void *state;		  /**< `state_bytes` of this dispatcher's own; zeroed at first */
	uint32_t *depth;	  /**< the mirror: depth of each worker, packets */
	uint32_t *room;		  /**< free slots of the lane to each worker, packets */
	uint32_t n_routable;	  /**< 1 .. WEIR_WORKERS_MAX: never called with none */
	uint32_t stride;	  /**< packets that each pick stands for (the chunk) */
	uint32_t rotation;	  /**< index mod n_routable */
	uint32_t rotation_stride; /**< stride mod n_routable */
	uint64_t index;		  /**< message index of the first packet */
	uint64_t seed;		  /**< of this dispatcher */
	uint64_t depth_visits;	  /**< in, out: mirror entries looked at */
	const weir_worker_id *routable; /**< position → id */
	uint64_t version;		/**< of the snapshot: positions hold as long as it does */
	uint64_t epoch;			/**< counts up when per-class state is to begin afresh
					   (weir_config.state_period_ns) */
	uint64_t now_ns;		/**< as weir_time_set said last; 0 if it never did */
	uint32_t dispatcher_id;		/**< of the dispatcher that asks */
	/** Packets of a class that this dispatcher has outstanding at a worker, by
	 * weir_class_slot(). Within a call the strategy adds 1 for each pick that is not
	 * WEIR_PICK_NONE, for the class of the pick's first packet; when the call returns the
	 * dispatcher takes that back, and counts packets as they are lent and harvested. So there
	 * is nothing of this to take back in `withdraw_picks`. NULL without READS_CLASS_DEPTH. */
	uint32_t *class_depth;
	/** Claims, shared by all dispatchers, by weir_class_slot(). A strategy takes one by
	 * compare-and-swap; the dispatcher gives it back when its last packet of that class has
	 * left that worker, or at once if the pick was not carried out and nothing of the class is
	 * there. NULL with one dispatcher, and without CLAIMS. */
	weir_claim *claims;
};

/**
 * Picks for a burst. Pick i stands for the packets i * stride .. (i + 1) * stride - 1 and is made
 * for the first of them, meta[i * stride], whose message index is index + i * stride.
 *
 * Called once per burst, and again for what is left of it when an overflow policy broke in or for
 * what was held; allocates nothing, locks nothing, divides by no variable. What depends on
 * how many packets were routed is a function of `index`, or is taken back in `withdraw_picks`: a
 * pick can be asked for again when an overflow policy refused the packet.
 *
 * @param out   position of each pick's worker, below ctx->n_routable, or WEIR_PICK_NONE
 * Caller: the dispatcher's own thread.
 */
typedef void (*weir_pick_burst_fn)(struct weir_pick_context *ctx, const struct weir_meta *meta,
	uint32_t n_picks, uint16_t *out);

/**
 * Takes back the last picks of the last call of pick_burst with this context: only the first
 * `n_kept` were carried out.
 * Caller: the dispatcher's own thread.
 */
typedef void (*weir_withdraw_picks_fn)(struct weir_pick_context *ctx, uint32_t n_kept);

/** A strategy: constant, one per file. */
struct weir_strategy {
	const char *name;   /**< as the user types it: lower case and hyphens */
	const char *help;   /**< one line */
	uint32_t flags;	    /**< enum weir_strategy_flag */
	size_t state_bytes; /**< per dispatcher and route, 0 if it keeps none */
	/** Why a packet is dropped for which it finds no worker, with none routable too: an enum
	 * weir_reason. 0: it always finds one, and with none routable losses rotate. */
	uint8_t none_reason;
	void *instance; /**< of a strategy that was loaded: its own; NULL otherwise */
	/**
	 * Makes the immutable table of a snapshot. NULL if there is none. Caller: control thread.
	 * @return NULL with errno ENOMEM; freed with `release`
	 */
	void *(*prepare)(
		const struct weir_strategy *strategy, const struct weir_snapshot *snapshot);
	void (*release)(void *table); /**< frees a table; NULL exactly if `prepare` is */
	weir_pick_burst_fn pick_burst;
	weir_withdraw_picks_fn withdraw_picks; /**< NULL if it keeps nothing per pick */
};

/** Counts a pick in the mirror. What finds no room is not counted: it will not be lent. */
static inline void
weir_pick_count(struct weir_pick_context *ctx, uint32_t position)
{
	const uint32_t room = ctx->room[position];
	const uint32_t n = room < ctx->stride ? room : ctx->stride;

	ctx->depth[position] += n;
	ctx->room[position] = room - n;
}

/** The rotation after one pick: (rotation + stride) mod n_routable, without a division. */
static inline uint32_t
weir_pick_rotate(const struct weir_pick_context *ctx, uint32_t rotation)
{
	rotation += ctx->rotation_stride;
	return rotation >= ctx->n_routable ? rotation - ctx->n_routable : rotation;
}

/**
 * Finds a strategy by name.
 * @return NULL with errno EINVAL if there is none of that name. Any thread.
 */
WEIR_API const struct weir_strategy *weir_strategy_find(const char *name);

/**
 * The strategy at `index`, for lists and contract tests.
 * @return NULL past the end. Any thread.
 */
WEIR_API const struct weir_strategy *weir_strategy_at(unsigned int index);

/**
 * 32-bit FNV-1a of a string's bytes. Source: Fowler, Noll, Vo; basis 2166136261, prime 16777619.
 * Any thread.
 */
WEIR_API uint32_t weir_fnv1a(const char *text);

/**
 * The rendezvous score of a key and a worker: the highest score owns the key. Bit-exact with
 * actor-ts: x = key_fnv ^ (id_fnv * 2654435761); x ^= x >> 13; x * 1540483477, modulo 2^32.
 * The strategy `rendezvous` scores bucket B as "flow-B" against worker W as "worker-W".
 * Any thread.
 */
WEIR_API uint32_t weir_rendezvous_score(uint32_t key_fnv, uint32_t id_fnv);

#endif
