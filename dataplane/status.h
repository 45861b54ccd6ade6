/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A picture of everything that is counted, taken by control: the one source of table, report and
 * telemetry, so that the three never disagree.
 */
#ifndef WEIR_DATAPLANE_STATUS_H
#define WEIR_DATAPLANE_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_config.h>

#include <weir/weir.h>

struct app;

/* One (port, queue) of an rx core. `missed` counts per port: queue 0 carries it, others have 0. */
struct status_queue {
	uint32_t rx_core;
	uint16_t port;
	uint16_t queue;
	uint64_t received;
	uint64_t missed; /* rx_missed + rx_nombuf of the port */
};

struct status_rx {
	uint32_t lcore;
	uint64_t received;
	uint64_t received_bytes;
	uint64_t rejected;
	uint64_t routed;
	uint64_t urgent; /* taken over by its urgent dispatcher */
	uint64_t held;
	uint64_t in_lanes;
	uint64_t sent;
	uint64_t depth_visits;
	uint64_t line_reads;
	uint64_t loops;
	uint64_t loop_max_ns; /* the longest of them, without giving the CPU away */
	uint64_t matched[WEIR_CLASSES_MAX];
	uint64_t missed; /* over its queues */
};

struct status_worker {
	uint32_t cpu;
	enum weir_slot_phase phase;
	uint32_t flags;	 /* enum weir_worker_flag */
	bool is_slow;	 /* a packet takes it several times what it takes the others */
	bool is_process; /* else a thread */
	uint32_t pid;	 /* of its process, while there is one */
	uint32_t incarnation;
	uint64_t restarts;		     /* incarnations that followed an unasked end */
	uint64_t crashes;		     /* unasked ends */
	uint64_t kills;			     /* ends by order, the queue dropped */
	uint64_t received;		     /* taken by the worker, as it counts itself */
	uint64_t completed;		     /* given back, as it counts itself */
	uint64_t lent;			     /* as the rx cores count */
	uint64_t urgent;		     /* of these, through urgent lanes */
	uint64_t dropped[WEIR_REASON_COUNT]; /* charged to it */
	uint32_t depth;			     /* now: lent and not harvested */
	uint32_t max_depth;
	uint64_t depth_alarms;	   /* as the rx core that rang most often counts */
	uint64_t depth_alarm_pkts; /* the threshold that it rang at last */
	uint64_t overflow_alarms;  /* of packets lost to a full lane: at 1, 2, 4 ... of them */
	uint64_t busy_cycles;
	double busy_ratio; /* busy share of the time since the start, 0 to 1 */
};

/* How evenly the flow hash spread the last window; see weir_polarisation_judge. */
struct status_skew {
	uint64_t alarms; /* windows that rang, since the start */
	bool rings;	 /* the last one did */
	uint32_t entropy_millibits;
	uint32_t top_permille; /* share of the most used 256th of the buckets */
	uint8_t reason;	       /* enum weir_flow_reason: the commonest fallback of the window */
};

/* mbufs of all pools together. */
struct status_mbufs {
	uint64_t total;
	uint64_t free_at_start; /* when the ports had taken theirs, before the first packet */
	uint64_t free;		/* now; while packets move, not of one instant */
};

struct status {
	uint64_t time_ns;     /* since the start, monotonic */
	uint64_t time_cycles; /* likewise, TSC */
	bool at_rest;	      /* loops and workers have ended: the ledger must be exact */
	struct weir_ledger ledger;
	bool ledger_ok; /* at rest: no gap, and both ends counted the same */
	bool gap_lasts; /* live: the gap has lasted for three periods: packets are lost or leaked */
	uint64_t rejected;
	uint64_t routed;
	uint64_t urgent; /* packets that urgent dispatchers took over */
	uint64_t moves;	 /* flow buckets that went to another worker than before */
	uint64_t sent;
	uint64_t tx_dropped;
	uint64_t depth_visits;
	uint64_t line_reads;
	uint64_t missed;
	uint64_t restarts;     /* of workers */
	uint64_t crashes;      /* likewise */
	uint64_t captured;     /* dead packets written to a file */
	uint64_t capture_lost; /* dead packets that were to be, and were not */
	uint64_t flow[WEIR_FLOW_REASON_COUNT];
	uint64_t matched[WEIR_CLASSES_MAX]; /* packets by the rule that they matched; 0: none */
	struct weir_bucket_use use;	    /* of flow buckets */
	struct status_skew skew;	    /* the last window that control has judged */
	struct status_mbufs mbufs;
	uint32_t n_rules;
	uint32_t n_queues;
	uint32_t n_rx;
	uint32_t n_workers;
	struct status_queue *queue; /* n_queues; the app's array */
	struct status_rx rx[WEIR_DISPATCHERS_MAX];
	struct status_worker worker[WEIR_WORKERS_MAX];
};

/* What a worker is: "thread" or "process". */
const char *status_worker_kind(const struct status_worker *worker);

/* One word for where a worker is, of at most 6 letters; empty: it is ready and well. */
const char *status_worker_word(const struct status_worker *worker);

/*
 * The flags of a worker as words, comma-separated and in fixed order: "paused,lost,stuck,slow".
 * Returns `text`, which has STATUS_FLAGS_BYTES.
 */
#define STATUS_FLAGS_BYTES 32
const char *status_worker_flags(const struct status_worker *worker, char *text);

/* The exit status (enum exit_status) of a run that ended like this; `well`: nothing has failed. */
int status_exit(const struct status *status, bool well);

/*
 * Fills `status`; `status->queue` must have room for every (port, queue). Reads counters of running
 * loops: each is whole, but they are not of one instant. Caller: any thread after the start.
 */
void status_collect(const struct app *app, struct status *status);

/* Counts the mbufs alone. Caller: any thread while the pools are there. */
void status_collect_mbufs(const struct app *app, struct status_mbufs *mbufs);

#endif
