/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The supervisor: it leads the lives of the workers, threads and processes alike, in a slot for
 * each worker id. What is to happen is decided by weir/slot.h and weir/health.h; here it is done.
 * Control's thread only, but for what is marked.
 */
#ifndef WEIR_DATAPLANE_SUPERVISOR_H
#define WEIR_DATAPLANE_SUPERVISOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/weir.h>

#include "counter.h"
#include "worker_process.h"
#include "worker_thread.h"

struct app;

enum worker_kind {
	WORKER_THREAD,
	WORKER_PROCESS,
};

/* What anyone may read of a slot. Written by control; each number is whole. */
struct slot_view {
	struct counter phase; /* enum weir_slot_phase */
	struct counter kind;  /* enum worker_kind */
	struct counter flags; /* enum weir_worker_flag */
	struct counter is_slow;
	struct counter incarnation;
	struct counter pid; /* of a process; 0 of threads */
	struct counter restarts;
	struct counter crashes;
	struct counter kills; /* incarnations whose queue was dropped by order */
	/* What its incarnations that are gone have counted. */
	struct counter taken;
	struct counter completed;
	struct counter busy_cycles;
};

/* What a worker had done when its service time was last judged. */
struct service_mark {
	uint64_t completed;
	uint64_t busy_cycles;
};

struct worker_slot {
	struct weir_slot life;
	enum worker_kind kind;
	enum weir_slot_action pending; /* what is still to be done; of the life's last event */
	uint32_t body_incarnation;     /* of what runs or ran here: its end is no other's */
	uint32_t flags;		       /* as the pool has them */
	bool is_paused;
	bool is_judged; /* `health` is of this incarnation */
	bool is_slow;
	bool is_said_unyielding; /* that it does not end although it was told to */
	struct weir_health health;
	struct service_mark mark;
	uint64_t crash_inflight;      /* charged to the worker when it went */
	uint64_t queued;	      /* packets that it had when it went */
	pid_t last_pid;		      /* of the process that runs or ran here */
	char last_words[32];	      /* how it ended: "signal 9" */
	struct worker_thread *thread; /* NULL: there is none */
	struct worker_process process;
	struct slot_view view;
};

struct supervisor {
	uint32_t n;		  /* slots: --workers-max */
	bool is_closing;	  /* the run ends: nothing is begun any more */
	uint64_t next_service_ns; /* when service times are judged */
	/* Begins a process for a worker; NULL: there are no worker processes. */
	int (*process_start)(struct app *app, weir_worker_id id, struct worker_process *process);
	struct worker_slot slot[WEIR_WORKERS_MAX];
};

/* Room for any reason that an order was refused for. */
#define SUPERVISOR_REASON_BYTES 320

/*
 * Makes the slots, and opens the handlers of the workers that are to be there from the start.
 * Returns 0, -EINVAL after a refusal, or another -errno.
 */
int supervisor_open(struct app *app);

/* Closes handlers and frees; of a worker that does not end, nothing. Accepts a half-built app. */
void supervisor_close(struct app *app);

/* Lets the handlers begin. Returns 0, or -EINVAL after a refusal. */
int supervisor_begin(struct app *app);

/*
 * Starts the workers and waits until all are ready: before packets flow. Returns 0, or -errno after
 * a line about the one that failed.
 */
int supervisor_start(struct app *app);

/* Looks after every slot: who came, who went, who is late, whose time is over. Every tick. */
void supervisor_tick(struct app *app);

/* The run ends, packets still flow home: paused workers are to finish what they have. */
void supervisor_drain_all(struct app *app);

/*
 * The rx loops have ended: tells all workers to leave, and ends those that can be ended and do not.
 * Counts the others in app->n_stuck.
 */
void supervisor_stop(struct app *app);

/* Whether nothing of a worker runs any more. */
bool supervisor_worker_is_gone(const struct app *app, weir_worker_id id);

/*
 * The orders. `reason` gets one line if there is an error: what was refused, and what is allowed.
 * Returns 0; -ENOENT: no such worker; -EBUSY: not in the phase that it is in; -EINVAL: not a worker
 * of this kind; -ENOMEM or another -errno: it could not be done.
 */

/* Finish what you have, then stop; the id stays in the pool. */
int supervisor_drain(struct app *app, weir_worker_id id, char *reason, size_t reason_bytes);
/* Stop at once: what was not begun is dropped as dead_worker. */
int supervisor_kill(struct app *app, weir_worker_id id, char *reason, size_t reason_bytes);
/* Take nothing until told to go on. */
int supervisor_pause(struct app *app, weir_worker_id id, char *reason, size_t reason_bytes);
int supervisor_resume(struct app *app, weir_worker_id id, char *reason, size_t reason_bytes);
/* Begin the next incarnation. */
int supervisor_add(struct app *app, weir_worker_id id, char *reason, size_t reason_bytes);
/* Finish what you have, stop, and leave the pool. */
int supervisor_remove(struct app *app, weir_worker_id id, char *reason, size_t reason_bytes);

/*
 * Begins the next incarnation with a process that somebody else has started: before it is offered
 * the worker's memory. On success `process` is the supervisor's, which closes its descriptors.
 */
int supervisor_adopt(struct app *app, weir_worker_id id, const struct worker_process *process,
	char *reason, size_t reason_bytes);

#endif
