/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a worker is well, judged by what control can see of it, and how often one that died may
 * be started again. Pure arithmetic: whoever watches brings the readings and the time.
 */
#ifndef WEIR_HEALTH_H
#define WEIR_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/packet.h>

/** Periods without a beat after which a worker may be lost. */
#define WEIR_HEALTH_PERIODS 3
/** A worker is slow if a packet takes it so many times what the others' median takes. */
#define WEIR_HEALTH_SLOW_FACTOR 4
/** Most restarts that a budget can keep count of. */
#define WEIR_RESTARTS_MAX 64

/** What a worker is judged by. Zeroed: never lost, never stuck. */
struct weir_health_limits {
	uint64_t period_ns; /**< of the heart: a healthy worker beats twice in it; 0: not judged */
	uint32_t n_sharers; /**< threads that share its CPU, itself included; 0 stands for 1 */
	uint64_t stuck_ns;  /**< without a completion, while it has packets; 0: not judged */
};

/** One look at a worker. */
struct weir_health_reading {
	uint64_t now_ns;   /**< monotonic */
	uint32_t beats;	   /**< weir_worker_pulse.beats */
	uint64_t cpu_ns;   /**< CPU time that its thread or process has used */
	bool is_halted;	   /**< the kernel has stopped it (state T) */
	bool is_excused;   /**< it is not expected to complete anything: it is paused, say */
	uint64_t depth;	   /**< packets lent to it and not brought home */
	uint64_t finished; /**< packets brought home so far: any number that moves with each */
};

/** What is remembered of a worker between looks. One thread's. */
struct weir_health {
	uint32_t beats;
	uint64_t beat_ns;     /**< when `beats` was seen to change */
	uint64_t beat_cpu_ns; /**< the worker's CPU clock then */
	uint64_t finished;
	uint64_t finished_ns; /**< when it was last seen to finish packets, or to have none */
	uint32_t flags;	      /**< the last verdict */
};

/** The health of a worker of which `reading` is the first look: nothing is wrong with it. */
WEIR_API struct weir_health weir_health_make(const struct weir_health_reading *reading);

/**
 * Judges a worker by one look more. *Lost*: it has not beaten for WEIR_HEALTH_PERIODS periods
 * (times those that share its CPU), though it was not for want of CPU: it has used a whole period
 * of CPU time since, in which a healthy one beats twice; or the kernel has stopped it. It is found
 * again with its next beat. *Stuck*: it has packets and has finished none for `stuck_ns`; one that
 * is halted is lost, not stuck. A worker that gets no CPU is neither lost for that nor found.
 * @return a set of WEIR_WORKER_LOST and WEIR_WORKER_STUCK
 */
WEIR_API uint32_t weir_health_judge(struct weir_health *health,
	const struct weir_health_limits *limits, const struct weir_health_reading *reading);

/**
 * Whether a worker is slow: a packet takes it more than WEIR_HEALTH_SLOW_FACTOR times what it takes
 * the median of the others. To be shown; nothing is done about it.
 * @param service time per packet by worker, in any one unit; 0: it had none
 * @param n	  at most WEIR_WORKERS_MAX
 * @return false as well if fewer than two others had packets
 */
WEIR_API bool weir_health_is_slow(const uint64_t *service, uint32_t n, uint32_t worker);

/** How often a worker may be started again: at most `n` times in any window. One thread's. */
struct weir_restart_budget {
	uint32_t n;	    /**< 0 .. WEIR_RESTARTS_MAX; 0: never */
	uint64_t window_ns; /**< sliding */
	uint32_t n_kept;    /**< restarts remembered, at most n */
	uint32_t oldest;    /**< where the oldest of them stands */
	uint64_t at_ns[WEIR_RESTARTS_MAX];
};

WEIR_API struct weir_restart_budget weir_restart_budget_make(uint32_t n, uint64_t window_ns);

/**
 * Asks for a restart at `now_ns`, which never steps back. One that is older than the window (not
 * just as old) counts no more.
 * @return whether it may be; then it counts
 */
WEIR_API bool weir_restart_budget_take(struct weir_restart_budget *budget, uint64_t now_ns);

/** Restarts that count at `now_ns`. */
WEIR_API uint32_t weir_restart_budget_used(
	const struct weir_restart_budget *budget, uint64_t now_ns);

#endif
