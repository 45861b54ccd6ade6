/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DPDK telemetry: /weir/info, /weir/workers, /weir/worker,ID, /weir/rules and /weir/rx
 * (docs/report.md). Names and meanings are those of the report. Values are text, int or u64: DPDK
 * 22.11 knows no others.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_telemetry.h>

#include "app.h"
#include "option_values.h"
#include "outputs.h"

/* Of 63 rules, both texts fit a reply. */
#define RULE_TEXT_BYTES 64

/* Fills the reply to a command. Returns 0; or -errno, which DPDK sends as null. */
typedef int (*answer_fn)(const struct app *app, const struct status *status, const char *parameters,
	struct rte_tel_data *reply);

/*
 * DPDK calls commands on threads of its own, one per client, with no context argument, and never
 * forgets a command: they have to find `app` here, and to miss it once it is gone. The lock lets
 * one command at a time use `status`, and telemetry_stop wait for the one that runs.
 */
static struct {
	pthread_mutex_t lock;
	const struct app *app; /* NULL: not started or stopped */
	struct status *status; /* followed by its queues */
} telemetry = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int
command_answer(answer_fn answer, const char *parameters, struct rte_tel_data *reply)
{
	int result;

	pthread_mutex_lock(&telemetry.lock);
	if (telemetry.app) {
		status_collect(telemetry.app, telemetry.status);
		result = answer(telemetry.app, telemetry.status, parameters, reply);
	} else {
		rte_tel_data_start_dict(reply);
		result = rte_tel_data_add_dict_string(reply, "error", "weir is stopping");
	}
	pthread_mutex_unlock(&telemetry.lock);
	return result;
}

/* ---- replies: none outgrows DPDK's 256 entries or 16 KiB, names and texts are short ---- */

/* Adds {name: count} under `key`. `names` is an empty container, which goes to `reply`. */
static void
add_counts(struct rte_tel_data *reply, const char *key, struct rte_tel_data *names,
	const uint64_t *counts, unsigned int n, const char *(*name_of)(unsigned int))
{
	rte_tel_data_start_dict(names);
	for (unsigned int i = 0; i < n; i++)
		rte_tel_data_add_dict_u64(names, name_of(i), counts[i]);
	rte_tel_data_add_dict_container(reply, key, names, 0);
}

static void
add_dropped(struct rte_tel_data *reply, struct rte_tel_data *names, const uint64_t *dropped)
{
	add_counts(reply, "dropped", names, dropped, WEIR_REASON_COUNT, weir_reason_name);
}

/* Containers that were not given to a reply are nobody's: all are allocated before any is used. */
static int
containers_allocate(struct rte_tel_data **containers, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		containers[i] = rte_tel_data_alloc();
		if (containers[i])
			continue;
		while (i-- > 0)
			rte_tel_data_free(containers[i]);
		return -ENOMEM;
	}
	return 0;
}

/* Telemetry's int has 32 bits. A gap while packets move is small; one beyond is as wrong. */
static int
gap_of(const struct weir_ledger *ledger)
{
	const int64_t gap = weir_ledger_gap(ledger);

	if (gap > INT_MAX)
		return INT_MAX;
	return gap < INT_MIN ? INT_MIN : (int)gap;
}

static void
add_ledger(struct rte_tel_data *reply, struct rte_tel_data *names, const struct weir_ledger *ledger)
{
	rte_tel_data_add_dict_u64(reply, "received", ledger->received);
	rte_tel_data_add_dict_u64(reply, "copies", ledger->copies);
	rte_tel_data_add_dict_u64(reply, "completed", ledger->completed);
	add_dropped(reply, names, ledger->dropped);
	rte_tel_data_add_dict_u64(reply, "held", ledger->held);
	rte_tel_data_add_dict_u64(reply, "in_lanes", ledger->in_lanes);
	rte_tel_data_add_dict_int(reply, "ledger_gap", gap_of(ledger));
}

static void
add_totals(struct rte_tel_data *reply, struct rte_tel_data *names, const struct status *status)
{
	rte_tel_data_add_dict_u64(reply, "routed", status->routed);
	rte_tel_data_add_dict_u64(reply, "urgent", status->urgent);
	rte_tel_data_add_dict_u64(reply, "moves", status->moves);
	rte_tel_data_add_dict_u64(reply, "polarisation_alarms", status->skew.alarms);
	rte_tel_data_add_dict_u64(reply, "polarised", status->skew.rings);
	rte_tel_data_add_dict_u64(
		reply, "bucket_entropy_millibits", status->skew.entropy_millibits);
	rte_tel_data_add_dict_string(
		reply, "commonest_fallback", weir_flow_reason_name(status->skew.reason));
	rte_tel_data_add_dict_u64(reply, "rejected", status->rejected);
	rte_tel_data_add_dict_u64(reply, "missed", status->missed);
	rte_tel_data_add_dict_u64(reply, "captured", status->captured);
	rte_tel_data_add_dict_u64(reply, "capture_lost", status->capture_lost);
	rte_tel_data_add_dict_u64(reply, "tx_sent", status->sent);
	rte_tel_data_add_dict_u64(reply, "tx_dropped", status->tx_dropped);
	rte_tel_data_add_dict_u64(reply, "depth_visits", status->depth_visits);
	rte_tel_data_add_dict_u64(reply, "line_reads", status->line_reads);
	rte_tel_data_add_dict_u64(reply, "mbufs_total", status->mbufs.total);
	rte_tel_data_add_dict_u64(reply, "mbufs_free_at_start", status->mbufs.free_at_start);
	rte_tel_data_add_dict_u64(reply, "mbufs_free", status->mbufs.free);
	rte_tel_data_add_dict_u64(reply, "restarts", status->restarts);
	rte_tel_data_add_dict_u64(reply, "crashes", status->crashes);
	add_counts(
		reply, "flow", names, status->flow, WEIR_FLOW_REASON_COUNT, weir_flow_reason_name);
}

static int
answer_info(const struct app *app, const struct status *status, const char *parameters,
	struct rte_tel_data *reply)
{
	struct rte_tel_data *names[2];
	int result = containers_allocate(names, 2);

	(void)parameters;
	if (result < 0)
		return result;
	rte_tel_data_start_dict(reply);
	rte_tel_data_add_dict_string(reply, "version", WEIR_VERSION);
	rte_tel_data_add_dict_int(reply, "pid", getpid());
	rte_tel_data_add_dict_u64(reply, "uptime_ns", status->time_ns);
	rte_tel_data_add_dict_string(reply, "strategy", app->options.strategy);
	rte_tel_data_add_dict_string(reply, "order", app->options.order);
	rte_tel_data_add_dict_string(reply, "overflow", app->options.overflow);
	rte_tel_data_add_dict_u64(reply, "n_workers", status->n_workers);
	rte_tel_data_add_dict_u64(reply, "n_rx_cores", status->n_rx);
	add_ledger(reply, names[0], &status->ledger);
	add_totals(reply, names[1], status);
	return 0;
}

static int
answer_workers(const struct app *app, const struct status *status, const char *parameters,
	struct rte_tel_data *reply)
{
	(void)app;
	(void)parameters;
	rte_tel_data_start_array(reply, RTE_TEL_INT_VAL);
	for (uint32_t id = 0; id < status->n_workers; id++)
		rte_tel_data_add_array_int(reply, (int)id);
	return 0;
}

static void
add_life(struct rte_tel_data *reply, const struct status_worker *worker)
{
	char flags[STATUS_FLAGS_BYTES];

	rte_tel_data_add_dict_string(reply, "kind", status_worker_kind(worker));
	rte_tel_data_add_dict_string(reply, "state", weir_slot_phase_name(worker->phase));
	rte_tel_data_add_dict_string(reply, "flags", status_worker_flags(worker, flags));
	rte_tel_data_add_dict_u64(reply, "incarnation", worker->incarnation);
	rte_tel_data_add_dict_u64(reply, "pid", worker->pid);
	rte_tel_data_add_dict_u64(reply, "restarts", worker->restarts);
	rte_tel_data_add_dict_u64(reply, "crashes", worker->crashes);
}

static void
add_worker(struct rte_tel_data *reply, const struct status_worker *worker)
{
	add_life(reply, worker);
	rte_tel_data_add_dict_u64(reply, "cpu", worker->cpu);
	rte_tel_data_add_dict_u64(reply, "lent", worker->lent);
	rte_tel_data_add_dict_u64(reply, "urgent", worker->urgent);
	rte_tel_data_add_dict_u64(reply, "received", worker->received);
	rte_tel_data_add_dict_u64(reply, "completed", worker->completed);
	rte_tel_data_add_dict_u64(reply, "depth", worker->depth);
	rte_tel_data_add_dict_u64(reply, "max_depth", worker->max_depth);
	rte_tel_data_add_dict_u64(reply, "depth_alarms", worker->depth_alarms);
	rte_tel_data_add_dict_u64(reply, "overflow_alarms", worker->overflow_alarms);
	rte_tel_data_add_dict_u64(reply, "busy_cycles", worker->busy_cycles);
}

/* The parameter is an id and nothing else: digits, and below the number of workers. */
static int
answer_worker(const struct app *app, const struct status *status, const char *parameters,
	struct rte_tel_data *reply)
{
	struct rte_tel_data *names;
	uint64_t id;
	int result;

	(void)app;
	if (!parameters || option_parse_number(parameters, &id) < 0 || id >= status->n_workers)
		return -EINVAL;
	result = containers_allocate(&names, 1);
	if (result < 0)
		return result;
	rte_tel_data_start_dict(reply);
	rte_tel_data_add_dict_u64(reply, "id", id);
	add_worker(reply, &status->worker[id]);
	add_dropped(reply, names, status->worker[id].dropped);
	return 0;
}

static void
rx_core_fill(struct rte_tel_data *core, const struct status_rx *rx)
{
	rte_tel_data_start_dict(core);
	rte_tel_data_add_dict_u64(core, "lcore", rx->lcore);
	rte_tel_data_add_dict_u64(core, "received", rx->received);
	rte_tel_data_add_dict_u64(core, "received_bytes", rx->received_bytes);
	rte_tel_data_add_dict_u64(core, "missed", rx->missed);
	rte_tel_data_add_dict_u64(core, "rejected", rx->rejected);
	rte_tel_data_add_dict_u64(core, "routed", rx->routed);
	rte_tel_data_add_dict_u64(core, "urgent", rx->urgent);
	rte_tel_data_add_dict_u64(core, "held", rx->held);
	rte_tel_data_add_dict_u64(core, "in_lanes", rx->in_lanes);
	rte_tel_data_add_dict_u64(core, "sent", rx->sent);
	rte_tel_data_add_dict_u64(core, "depth_visits", rx->depth_visits);
	rte_tel_data_add_dict_u64(core, "line_reads", rx->line_reads);
	rte_tel_data_add_dict_u64(core, "loops", rx->loops);
	rte_tel_data_add_dict_u64(core, "loop_max_ns", rx->loop_max_ns);
}

/* {"0": {...}, "1": {...}}: 22.11 puts objects into objects, but not into arrays. */
static int
answer_rx(const struct app *app, const struct status *status, const char *parameters,
	struct rte_tel_data *reply)
{
	struct rte_tel_data *cores[WEIR_DISPATCHERS_MAX];
	const int result = containers_allocate(cores, status->n_rx);

	(void)app;
	(void)parameters;
	if (result < 0)
		return result;
	rte_tel_data_start_dict(reply);
	for (uint32_t i = 0; i < status->n_rx; i++) {
		char key[sizeof("4294967295")];

		snprintf(key, sizeof(key), "%" PRIu32, i);
		rx_core_fill(cores[i], &status->rx[i]);
		rte_tel_data_add_dict_container(reply, key, cores[i], 0);
	}
	return 0;
}

/* Texts may be longer than all of a reply: the report has them whole. */
static void
add_text(struct rte_tel_data *reply, const char *key, const char *text)
{
	char cut[RULE_TEXT_BYTES];

	if (snprintf(cut, sizeof(cut), "%s", text) >= (int)sizeof(cut))
		memcpy(&cut[sizeof(cut) - sizeof("...")], "...", sizeof("..."));
	rte_tel_data_add_dict_string(reply, key, cut);
}

/* {"0": {...}, "1": {...}} by the rule's number; 0 is of what matched none. */
static int
answer_rules(const struct app *app, const struct status *status, const char *parameters,
	struct rte_tel_data *reply)
{
	const struct weir_rules *rules = app->options.rules;
	const uint32_t n = rules ? status->n_rules + 1 : 0;
	struct rte_tel_data *entries[WEIR_CLASSES_MAX];
	const int result = containers_allocate(entries, n);

	(void)parameters;
	if (result < 0)
		return result;
	rte_tel_data_start_dict(reply);
	for (uint32_t id = 0; id < n; id++) {
		char key[sizeof("4294967295")];

		snprintf(key, sizeof(key), "%" PRIu32, id);
		rte_tel_data_start_dict(entries[id]);
		if (id > 0) {
			add_text(entries[id], "expression", weir_rules_expression(rules, id));
			add_text(entries[id], "action", weir_rules_action(rules, id));
		}
		rte_tel_data_add_dict_u64(entries[id], "matched", status->matched[id]);
		rte_tel_data_add_dict_container(reply, key, entries[id], 0);
	}
	return 0;
}

/* ---- commands ---- */

static int
command_info(const char *command, const char *parameters, struct rte_tel_data *reply)
{
	(void)command;
	return command_answer(answer_info, parameters, reply);
}

static int
command_workers(const char *command, const char *parameters, struct rte_tel_data *reply)
{
	(void)command;
	return command_answer(answer_workers, parameters, reply);
}

static int
command_worker(const char *command, const char *parameters, struct rte_tel_data *reply)
{
	(void)command;
	return command_answer(answer_worker, parameters, reply);
}

static int
command_rx(const char *command, const char *parameters, struct rte_tel_data *reply)
{
	(void)command;
	return command_answer(answer_rx, parameters, reply);
}

static int
command_rules(const char *command, const char *parameters, struct rte_tel_data *reply)
{
	(void)command;
	return command_answer(answer_rules, parameters, reply);
}

static const struct {
	const char *path;
	telemetry_cb callback;
	const char *help;
} commands[] = {
	{ "/weir/info", command_info, "What Weir runs with, its ledger and totals. No parameters" },
	{ "/weir/workers", command_workers, "Ids of the workers. No parameters" },
	{ "/weir/worker", command_worker, "What one worker has done. Parameters: worker id" },
	{ "/weir/rules", command_rules,
		"Rules and the packets that matched each, by its number. No parameters" },
	{ "/weir/rx", command_rx, "What each rx core has done, by its number. No parameters" },
};

static struct status *
status_allocate(const struct app *app)
{
	struct status *status;
	size_t n_queues = 0;

	for (uint32_t i = 0; i < app->n_rx_cores; i++)
		n_queues += app->rx_cores[i]->n_queues;
	status = calloc(1, sizeof(*status) + n_queues * sizeof(*status->queue));
	if (status)
		status->queue = (struct status_queue *)(status + 1);
	return status;
}

static int
commands_register(void)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		const int result = rte_telemetry_register_cmd(
			commands[i].path, commands[i].callback, commands[i].help);

		if (result < 0)
			return result;
	}
	return 0;
}

void
telemetry_lock(void)
{
	pthread_mutex_lock(&telemetry.lock);
}

void
telemetry_unlock(void)
{
	pthread_mutex_unlock(&telemetry.lock);
}

int
telemetry_start(struct app *app)
{
	struct status *status = status_allocate(app);
	int result;

	if (!status)
		return -ENOMEM;
	pthread_mutex_lock(&telemetry.lock);
	telemetry.app = app;
	telemetry.status = status;
	pthread_mutex_unlock(&telemetry.lock);
	result = commands_register();
	if (result < 0)
		telemetry_stop();
	return result;
}

void
telemetry_stop(void)
{
	pthread_mutex_lock(&telemetry.lock);
	telemetry.app = NULL;
	free(telemetry.status);
	telemetry.status = NULL;
	pthread_mutex_unlock(&telemetry.lock);
}
