/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The application as control sees it: one struct, in main.c. Loops never see it; they have their
 * struct rx_core and struct worker_loop.
 */
#ifndef WEIR_DATAPLANE_APP_H
#define WEIR_DATAPLANE_APP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <weir/weir.h>

#include "alarm_watch.h"
#include "attach.h"
#include "control_socket.h"
#include "dead_file.h"
#include "options.h"
#include "packet_memory.h"
#include "port.h"
#include "rule_set.h"
#include "rx_core.h"
#include "settings.h"
#include "skew_watch.h"
#include "status.h"
#include "supervisor.h"
#include "topology.h"
#include "watch.h"
#include "worker_user.h"

struct app {
	struct options options;
	struct settings settings;
	struct rule_set rule_set; /* of the start */
	struct topology topology;
	struct ports ports;
	struct packet_memory packet_memory; /* where workers are processes */
	struct rte_mempool *mbuf_pool;
	struct rte_mempool *copied_pool; /* of ports whose packets are copied; NULL: none */
	struct rte_mempool *clone_pool;	 /* NULL: no clones are made */
	uint64_t mbufs_free_at_start;
	struct weir_pool *pool;
	uint32_t n_rx_cores;
	struct rx_core *rx_cores[WEIR_DISPATCHERS_MAX];
	uint32_t n_workers; /* that there can be: --workers-max */
	struct supervisor supervisor;
	uint64_t start_ns;     /* CLOCK_MONOTONIC */
	uint64_t start_cycles; /* TSC */
	_Atomic bool at_rest;  /* every loop has ended; telemetry's threads read it */
	bool sinks_failed;     /* a handler, or a file, did not get all that was meant for it */
	uint32_t n_stuck;      /* workers that did not end: their packets were written off */
	bool stop_asked;       /* over the control socket */
	struct worker_user worker_user;
	struct watch watch; /* what control waits for */
	struct control_socket control_socket;
	struct attach attach;
	struct skew_watch skew;
	struct alarm_watch alarms;
	struct dead_file dead_file;
	struct status status; /* control's picture */
	struct status before; /* the one of the last period */
};

#endif
