/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The options of `weir` and of `weir why`: one table (option_table.c) from which parsing, checks
 * and usage are derived. Knows nothing of ports or lcores: what depends on the machine is checked
 * by topology and port.
 */
#ifndef WEIR_DATAPLANE_OPTIONS_H
#define WEIR_DATAPLANE_OPTIONS_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <weir/weir.h>

#include "handlers.h"
#include "strategies.h"

#define OPTIONS_HANDLERS_MAX HANDLERS_MAX

/* Time that a packet may wait for a budget if --hold-timeout does not say. */
#define OPTIONS_BUDGET_TIMEOUT_USEC 100000

/* Exit statuses of `weir`. */
enum exit_status {
	EXIT_STATUS_OK = 0,
	EXIT_STATUS_FAILED = 1,	 /* the machine failed us: no memory, a port that does not start */
	EXIT_STATUS_REFUSED = 2, /* an option was refused; no packet has moved */
	EXIT_STATUS_LEDGER = 3,	 /* the ledger does not balance */
};

/* Where flow hashes come from. */
enum flow_hash {
	FLOW_HASH_SOFT, /* parsed and hashed by Weir */
	FLOW_HASH_NIC,	/* by the ports; one that can't is refused */
	FLOW_HASH_AUTO, /* by the ports that can */
};

/* What workers run in. */
enum worker_mode {
	WORKER_MODE_THREAD,   /* threads of ours */
	WORKER_MODE_PROCESS,  /* processes that we start */
	WORKER_MODE_ATTACHED, /* processes that somebody else starts, with `weir worker` */
};

/* The system calls that worker processes may make. */
enum worker_calls {
	WORKER_CALLS_FILTERED,
	WORKER_CALLS_ANY,
};

struct options_kept;

/* Values as parsed. Times are in nanoseconds, 0 = off where the option allows it. */
struct options {
	uint32_t rx_cores;
	uint32_t rx_queues;
	uint32_t workers;
	cpu_set_t worker_cpus; /* empty: not given */
	enum worker_mode worker_mode;
	const char *worker_user; /* NULL: not given */
	enum worker_calls worker_calls;
	const char *attach_socket; /* NULL: not given */
	const char *strategy;
	const char *fallback; /* NULL: none */
	uint16_t weights[WEIR_WORKERS_MAX];
	uint32_t n_weights;	  /* 0: not given */
	const char *weights_text; /* as given, for messages */
	uint32_t budget;	  /* 0 = off */
	uint64_t hold_timeout_usec;
	uint64_t state_period_ns;
	const char *order;    /* "flow" or "none" */
	uint64_t sticky_usec; /* 0 = off */
	const char *overflow;
	uint32_t lane_size;
	uint32_t burst;
	uint32_t chunk;
	const char *handlers[OPTIONS_HANDLERS_MAX]; /* [WORKERS=]SPEC, later ones win */
	uint32_t n_handlers;
	const char *rule_text[WEIR_RULES_MAX];
	const char *rule_path[WEIR_RULES_MAX]; /* of the file that it is from; NULL: none */
	uint32_t rule_line[WEIR_RULES_MAX];    /* in that file */
	uint32_t n_rules;
	struct weir_rules *rules;   /* of all rule_text; NULL: none. Owned */
	const char *exception_port; /* NULL: none */
	const char *config;	    /* NULL: none */
	const char *config_text;    /* what it said when it was read; NULL: nothing */
	enum weir_depth_mode depth_mode;
	uint64_t seed;
	bool seed_given;
	struct weir_flow_config flow;
	enum flow_hash flow_hash;
	bool hash_key_given;
	uint32_t mbuf_size;
	uint64_t stats_period_ns;
	uint64_t duration_ns;
	uint64_t packets; /* 0 = no limit */
	uint64_t exit_idle_ns;
	uint64_t drain_timeout_ns;
	uint32_t workers_max; /* 0: as many as `workers`; see options_workers_max */
	uint32_t restarts;    /* in any restart_window_ns */
	uint64_t restart_window_ns;
	bool redeliver;
	uint64_t stuck_after_ns; /* 0 = never */
	uint32_t heartbeat_msec;
	uint64_t init_timeout_ns;   /* 0 = for ever */
	const char *control_socket; /* NULL: at the usual place; "none" */
	const char *report;	    /* NULL: none */
	uint32_t depth_alarm;	    /* 0 = off */
	const char *dead_packets;   /* NULL: none */
	uint32_t dead_sample;	    /* one of so many; 0: not given, every one */
	bool quiet;
	bool help;
	bool version;

	/* Of `weir why` alone. */
	const char *capture; /* "-": standard input */
	uint64_t service_ns;
	bool summary;

	struct strategies strategies;	 /* from files. Owned */
	struct handlers handlers_loaded; /* likewise */

	uint64_t given;		   /* a bit for each row of the table that the user gave */
	struct options_kept *kept; /* texts that are nobody else's. Owned */
};

/*
 * Parses the arguments behind `--` (argv[0] is the first option), and the file that they name.
 * Strings point into argv or are kept. Returns 0, -EINVAL after one line on stderr that names the
 * option, the value and what is allowed, or -ENOMEM after a line. In every case options_free
 * undoes it.
 */
int options_parse(struct options *options, int argc, char **argv);

/*
 * The same with `config_text` in place of what the file of --config says now: it must live as long
 * as the options. NULL: the file is read.
 */
int options_parse_text(struct options *options, int argc, char **argv, const char *config_text);

/*
 * The same for the arguments behind `weir why`. Without --help, `capture` is never NULL. What that
 * command does not offer is as in options_parse without arguments.
 */
int options_parse_why(struct options *options, int argc, char **argv);

/* Workers that there can be: lanes are laid out for so many. */
uint32_t options_workers_max(const struct options *options);

/* Frees what options own: after the last pool that was made by them. Accepts zeroed ones. */
void options_free(struct options *options);

/* A copy of a text that lives as long as the options; NULL, after a line, without memory. */
const char *options_keep(struct options *options, const char *text);

/* Whether the user gave the option of this name, in a file or in words. */
bool options_given(const struct options *options, const char *name);

/* The refusal of a value, for checks made elsewhere; always returns -EINVAL. One line on stderr. */
int options_refuse(const char *option, const char *value, const char *allowed_format, ...)
	__attribute__((format(printf, 3, 4)));

/* From here on this thread's refusals go to `out`; NULL: to stderr again. */
void options_refusals_redirect(FILE *out);

/* Whether `word` ("--workers", "--workers=4") is an option of Weir's. */
bool options_is_known(const char *word);

/* The name of a mode, as the user types it; NULL past the end. */
const char *worker_mode_name(unsigned int mode);

/* Prints usage: derived from the table. */
void options_print_usage(FILE *out);

/* The same of `weir why`. */
void options_print_why_usage(FILE *out);

#endif
