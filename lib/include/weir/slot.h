/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of a worker, as its supervisor leads it: a slot for each worker id, through which
 * incarnations pass. A pure function from what has happened to what is to be done: no threads, no
 * processes, no clock.
 */
#ifndef WEIR_SLOT_H
#define WEIR_SLOT_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/health.h>

/** Where a slot is. From STARTING on they only go forward within an incarnation. */
enum weir_slot_phase {
	WEIR_SLOT_FREE,	       /**< nobody is there, nor in the pool */
	WEIR_SLOT_STARTING,    /**< begun; has not said that it is ready */
	WEIR_SLOT_READY,       /**< takes packets */
	WEIR_SLOT_DRAINING,    /**< finishes what it has */
	WEIR_SLOT_ENDING,      /**< was told to end at once: proof is awaited */
	WEIR_SLOT_RECLAIMING,  /**< gone, on proof; what it had is being taken back */
	WEIR_SLOT_STOPPED,     /**< gone and all is back; still a member of the pool */
	WEIR_SLOT_QUARANTINED, /**< likewise, and out of the pool: it died too often */
	WEIR_SLOT_PHASE_COUNT,
};

/** Why an incarnation ends. */
enum weir_slot_cause {
	WEIR_SLOT_NO_CAUSE,	 /**< it does not */
	WEIR_SLOT_DRAINED,	 /**< it was asked to finish, and has */
	WEIR_SLOT_KILLED,	 /**< it was told to end */
	WEIR_SLOT_CRASHED,	 /**< it went unasked */
	WEIR_SLOT_INIT_TIMEOUT,	 /**< it did not become ready in time */
	WEIR_SLOT_DRAIN_TIMEOUT, /**< it did not finish in time */
	WEIR_SLOT_HUNG,		 /**< it was stuck, and of a kind that can be ended */
};

/** What can happen to a slot. */
enum weir_slot_event_kind {
	WEIR_SLOT_EVENT_TICK,	   /**< time has passed */
	WEIR_SLOT_EVENT_BEGUN,	   /**< an incarnation, the event's, was begun */
	WEIR_SLOT_EVENT_READY,	   /**< it says that it is ready */
	WEIR_SLOT_EVENT_HUNG,	   /**< it is stuck and may be ended */
	WEIR_SLOT_EVENT_GONE,	   /**< proof that it is gone: joined, reaped, or never started */
	WEIR_SLOT_EVENT_RECLAIMED, /**< all that it had is back */
	WEIR_SLOT_EVENT_DRAIN,	   /**< an order: finish, then stop */
	WEIR_SLOT_EVENT_KILL,	   /**< an order: end at once */
	WEIR_SLOT_EVENT_REMOVE,	   /**< an order: finish, then leave the pool */
};

struct weir_slot_event {
	enum weir_slot_event_kind kind;
	uint32_t incarnation; /**< that it is of; of any other than the slot's it changes nothing */
	uint64_t now_ns;      /**< monotonic */
	bool is_clean;	      /**< of GONE: it had nothing left, and said so by how it went */
	bool is_guest;	      /**< of BEGUN: others began it, and only they can begin it again */
};

/** What is to be done about it. */
enum weir_slot_action {
	WEIR_SLOT_DO_NOTHING,
	WEIR_SLOT_DO_ADMIT,   /**< the pool may give it packets */
	WEIR_SLOT_DO_DRAIN,   /**< it gets no more, and is told to finish */
	WEIR_SLOT_DO_END,     /**< it gets no more, and is ended by force */
	WEIR_SLOT_DO_RECLAIM, /**< the pool is told that it is gone */
	WEIR_SLOT_DO_RESTART, /**< the next incarnation is begun */
	WEIR_SLOT_DO_REMOVE,  /**< it leaves the pool */
};

/** How long things may take. */
struct weir_slot_limits {
	uint64_t init_ns;  /**< from begun to ready; 0 = for ever */
	uint64_t drain_ns; /**< from told to finish to gone; 0 = for ever */
};

/** One slot. Its supervisor's thread only; written by weir_slot_advance only. */
struct weir_slot {
	enum weir_slot_phase phase;
	enum weir_slot_cause cause; /**< of this incarnation's end, once it is known */
	uint32_t incarnation;
	uint64_t deadline_ns; /**< of this phase; 0: none */
	bool is_unwanted;     /**< it was told to go: what follows is no crash to be repaired */
	bool leaves_pool;     /**< once it is gone */
	bool is_guest;	      /**< it is never restarted; it leaves the pool with its end */
	bool restarts;	      /**< it is to be followed by the next incarnation */
	uint32_t n_restarts;  /**< since the slot was first used */
	uint32_t n_crashes;   /**< ends that nobody asked for */
	struct weir_restart_budget budget;
};

/** A free slot whose workers may be restarted as `budget` says. */
WEIR_API struct weir_slot weir_slot_make(struct weir_restart_budget budget);

/**
 * Tells a slot what has happened. Events of another incarnation, and those that mean nothing in its
 * phase (a late `ready` of one that is draining, say), change nothing. One that is BEGUN after a
 * quarantine has a whole budget.
 * @return what is to be done now
 */
WEIR_API enum weir_slot_action weir_slot_advance(struct weir_slot *slot,
	const struct weir_slot_limits *limits, const struct weir_slot_event *event);

/** Whether somebody is there: it was begun, and there is no proof that it is gone. */
WEIR_API bool weir_slot_is_alive(const struct weir_slot *slot);

/** Whether the next incarnation may be begun by an order. */
WEIR_API bool weir_slot_is_vacant(const struct weir_slot *slot);

/** The stable name of a phase, as in reports: `ready`. NULL if there is no such phase. */
WEIR_API const char *weir_slot_phase_name(unsigned int phase);

#endif
