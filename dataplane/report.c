/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The report: one JSON object of what a run was asked for and what it counted (docs/report.md).
 * A plain file appears whole or not at all. Knows status and options, no loop and no port.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "app.h"
#include "outputs.h"
#include "pool_options.h"

/* 15 digits are what a double surely keeps: 0.1 stays 0.1, ten days keep their nanoseconds. */
#define REPORT_FORMAT (JSON_INDENT(2) | JSON_REAL_PRECISION(15))

/*
 * ---- the object ----
 *
 * Setters return 0, or not 0 when memory is short; builders return NULL then, and what NULL is
 * nested into fails likewise. So a report is whole or there is none.
 */

/* JSON integers are signed here: a count beyond 2^63 would show as a negative one. */
static int
set_count(json_t *object, const char *key, uint64_t value)
{
	return json_object_set_new(object, key, json_integer((json_int_t)value));
}

/*
 * The user's strings may be of any bytes, JSON is UTF-8: where they were not, what is not ASCII
 * shows as '?'.
 */
static json_t *
string_value(const char *text)
{
	json_t *value = json_string(text);
	char *copy;

	if (value)
		return value;
	copy = strdup(text);
	if (!copy)
		return NULL;
	for (char *c = copy; *c; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	value = json_string(copy);
	free(copy);
	return value;
}

static int
set_string(json_t *object, const char *key, const char *text)
{
	return json_object_set_new(object, key, string_value(text));
}

/* JSON has no NaN: the share of no time at all is none. */
static int
set_real(json_t *object, const char *key, double value)
{
	return json_object_set_new(object, key, json_real(isfinite(value) ? value : 0.0));
}

static json_t *
whole_or_null(json_t *json, int failed)
{
	if (!failed)
		return json;
	json_decref(json);
	return NULL;
}

/* {name: count} with every name, zeros included: no reader has to test for a key. */
static int
set_counts(json_t *object, const char *key, const uint64_t *counts, unsigned int n,
	const char *(*name_of)(unsigned int))
{
	json_t *names = json_object();
	int failed = 0;

	for (unsigned int i = 0; i < n; i++)
		failed |= set_count(names, name_of(i), counts[i]);
	return json_object_set_new(object, key, whole_or_null(names, failed));
}

static int
set_dropped(json_t *object, const uint64_t *dropped)
{
	return set_counts(object, "dropped", dropped, WEIR_REASON_COUNT, weir_reason_name);
}

static int
set_handlers(json_t *object, const struct options *options)
{
	json_t *handlers = json_array();
	int failed = 0;

	for (uint32_t i = 0; i < options->n_handlers; i++)
		failed |= json_array_append_new(handlers, string_value(options->handlers[i]));
	return json_object_set_new(object, "handlers", whole_or_null(handlers, failed));
}

static json_t *
rule_object(const struct weir_rules *rules, uint32_t id, const uint64_t *matched)
{
	json_t *rule = json_object();
	int failed = 0;

	failed |= set_count(rule, "rule", id);
	failed |= set_string(rule, "expression", weir_rules_expression(rules, id));
	failed |= set_string(rule, "action", weir_rules_action(rules, id));
	failed |= set_count(rule, "matched", matched[id]);
	return whole_or_null(rule, failed);
}

static int
set_rules(json_t *report, const struct weir_rules *rules, const struct status *status)
{
	json_t *list = json_array();
	int failed = 0;

	for (uint32_t id = 1; id <= status->n_rules; id++)
		failed |= json_array_append_new(list, rule_object(rules, id, status->matched));
	return json_object_set_new(report, "rules", whole_or_null(list, failed));
}

/* Packets by the rule that they matched; those that matched none come first. */
static int
set_matched(json_t *object, const uint64_t *matched, uint32_t n_rules)
{
	json_t *list = json_array();
	int failed = 0;

	for (uint32_t id = 0; n_rules > 0 && id <= n_rules; id++)
		failed |= json_array_append_new(list, json_integer((json_int_t)matched[id]));
	return json_object_set_new(object, "matched", whole_or_null(list, failed));
}

static int
set_weights(json_t *object, const struct options *options)
{
	json_t *weights = json_array();
	int failed = 0;

	for (uint32_t i = 0; i < options->n_weights; i++)
		failed |= json_array_append_new(weights, json_integer(options->weights[i]));
	return json_object_set_new(object, "weights", whole_or_null(weights, failed));
}

/* What flows are told by. */
static int
set_flow_options(json_t *report, const struct options *options)
{
	static const char *const hash_names[] = {
		[FLOW_HASH_SOFT] = "soft",
		[FLOW_HASH_NIC] = "nic",
		[FLOW_HASH_AUTO] = "auto",
	};
	uint64_t ports[WEIR_FLOW_TUNNEL_COUNT];
	int failed = 0;

	for (unsigned int i = 0; i < WEIR_FLOW_TUNNEL_COUNT; i++)
		ports[i] = options->flow.tunnel_port[i];
	failed |= set_string(report, "flow_hash", hash_names[options->flow_hash]);
	failed |= set_string(
		report, "flow_depth", options->flow.depth == WEIR_FLOW_OUTER ? "outer" : "inner");
	failed |= set_count(report, "flow_nesting", options->flow.nesting_max);
	failed |= set_counts(
		report, "flow_ports", ports, WEIR_FLOW_TUNNEL_COUNT, weir_flow_tunnel_name);
	return failed;
}

static int
set_options(json_t *report, const struct options *options)
{
	char seed[sizeof("18446744073709551615")];
	int failed = 0;

	snprintf(seed, sizeof(seed), "%" PRIu64, options->seed);
	failed |= set_string(report, "strategy", options->strategy);
	failed |= json_object_set_new(report, "fallback",
		options->fallback ? string_value(options->fallback) : json_null());
	failed |= set_weights(report, options);
	failed |= set_count(report, "budget", options->budget);
	failed |= set_count(report, "hold_timeout_usec", pool_options_hold_timeout(options));
	failed |= set_real(report, "state_period_s", (double)options->state_period_ns / 1e9);
	failed |= set_string(report, "order", options->order);
	failed |= set_count(report, "sticky_usec", options->sticky_usec);
	failed |= set_string(report, "overflow", options->overflow);
	failed |= set_count(report, "lane_size", options->lane_size);
	failed |= set_count(report, "burst", options->burst);
	failed |= set_count(report, "chunk", options->chunk);
	failed |= set_string(report, "depth_mode",
		options->depth_mode == WEIR_DEPTH_QUEUED ? "queued" : "outstanding");
	failed |= set_flow_options(report, options);
	/* As text: a seed has 64 bits, and many readers of JSON keep 53 of a number. */
	failed |= set_string(report, "seed", seed);
	failed |= set_handlers(report, options);
	return failed;
}

static int
set_ledger(json_t *report, const struct status *status)
{
	const struct weir_ledger *ledger = &status->ledger;
	int failed = 0;

	failed |= set_count(report, "received", ledger->received);
	failed |= set_count(report, "copies", ledger->copies);
	failed |= set_count(report, "completed", ledger->completed);
	failed |= set_dropped(report, ledger->dropped);
	failed |= set_count(report, "held", ledger->held);
	failed |= set_count(report, "in_lanes", ledger->in_lanes);
	failed |= json_object_set_new(report, "ledger_ok", json_boolean(status->ledger_ok));
	failed |= json_object_set_new(report, "ledger_gap", json_integer(weir_ledger_gap(ledger)));
	return failed;
}

static int
set_mbufs(json_t *report, const struct status_mbufs *mbufs)
{
	json_t *object = json_object();
	int failed = 0;

	failed |= set_count(object, "total", mbufs->total);
	failed |= set_count(object, "free_at_start", mbufs->free_at_start);
	failed |= set_count(object, "free", mbufs->free);
	return json_object_set_new(report, "mbufs", whole_or_null(object, failed));
}

static int
set_totals(json_t *report, const struct app *app, const struct status *status)
{
	json_t *tx = json_object();
	int failed = 0;

	failed |= set_count(tx, "sent", status->sent);
	failed |= set_count(tx, "dropped", status->tx_dropped);
	failed |= json_object_set_new(report, "tx", tx);
	failed |= set_count(report, "routed", status->routed);
	failed |= set_count(report, "urgent", status->urgent);
	failed |= set_count(report, "moves", status->moves);
	failed |= set_count(report, "polarisation_alarms", status->skew.alarms);
	failed |= set_count(report, "rejected", status->rejected);
	failed |= set_count(report, "missed", status->missed);
	failed |= set_count(report, "captured", status->captured);
	failed |= set_count(report, "capture_lost", status->capture_lost);
	failed |= set_count(report, "depth_visits", status->depth_visits);
	failed |= set_count(report, "line_reads", status->line_reads);
	failed |= set_count(report, "stuck_workers", app->n_stuck);
	failed |= set_count(report, "restarts", status->restarts);
	failed |= set_count(report, "crashes", status->crashes);
	failed |= set_counts(
		report, "flow", status->flow, WEIR_FLOW_REASON_COUNT, weir_flow_reason_name);
	return failed;
}

static json_t *
rx_core_object(const struct status *status, uint32_t i)
{
	const struct status_rx *rx = &status->rx[i];
	json_t *object = json_object();
	int failed = 0;

	failed |= set_count(object, "core", i);
	failed |= set_count(object, "lcore", rx->lcore);
	failed |= set_count(object, "received", rx->received);
	failed |= set_count(object, "received_bytes", rx->received_bytes);
	failed |= set_count(object, "missed", rx->missed);
	failed |= set_count(object, "rejected", rx->rejected);
	failed |= set_count(object, "routed", rx->routed);
	failed |= set_count(object, "urgent", rx->urgent);
	failed |= set_count(object, "held", rx->held);
	failed |= set_count(object, "in_lanes", rx->in_lanes);
	failed |= set_count(object, "sent", rx->sent);
	failed |= set_count(object, "depth_visits", rx->depth_visits);
	failed |= set_count(object, "line_reads", rx->line_reads);
	failed |= set_count(object, "loops", rx->loops);
	failed |= set_count(object, "loop_max_ns", rx->loop_max_ns);
	failed |= set_matched(object, rx->matched, status->n_rules);
	return whole_or_null(object, failed);
}

static json_t *
queue_object(const struct status *status, uint32_t i)
{
	const struct status_queue *queue = &status->queue[i];
	json_t *object = json_object();
	int failed = 0;

	failed |= set_count(object, "core", queue->rx_core);
	failed |= set_count(object, "port", queue->port);
	failed |= set_count(object, "queue", queue->queue);
	failed |= set_count(object, "received", queue->received);
	failed |= set_count(object, "missed", queue->missed);
	return whole_or_null(object, failed);
}

/* The words for a worker's flags; a list, since it can have several. */
static int
set_flags(json_t *object, const struct status_worker *worker)
{
	char text[STATUS_FLAGS_BYTES];
	json_t *list = json_array();
	char *rest = NULL;
	int failed = 0;

	status_worker_flags(worker, text);
	for (char *word = strtok_r(text, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
		failed |= json_array_append_new(list, json_string(word));
	return json_object_set_new(object, "flags", whole_or_null(list, failed));
}

/* Who it is, and what has become of it. */
static int
set_life(json_t *object, const struct status_worker *worker)
{
	int failed = 0;

	failed |= set_string(object, "kind", status_worker_kind(worker));
	failed |= set_string(object, "state", weir_slot_phase_name(worker->phase));
	failed |= set_flags(object, worker);
	failed |= set_count(object, "incarnation", worker->incarnation);
	failed |= set_count(object, "pid", worker->pid);
	failed |= set_count(object, "restarts", worker->restarts);
	failed |= set_count(object, "crashes", worker->crashes);
	return failed;
}

static json_t *
worker_object(const struct status *status, uint32_t i)
{
	const struct status_worker *worker = &status->worker[i];
	json_t *object = json_object();
	int failed = 0;

	failed |= set_count(object, "id", i);
	failed |= set_count(object, "cpu", worker->cpu);
	failed |= set_life(object, worker);
	failed |= set_count(object, "lent", worker->lent);
	failed |= set_count(object, "urgent", worker->urgent);
	failed |= set_count(object, "received", worker->received);
	failed |= set_count(object, "completed", worker->completed);
	failed |= set_dropped(object, worker->dropped);
	failed |= set_count(object, "depth", worker->depth);
	failed |= set_count(object, "max_depth", worker->max_depth);
	failed |= set_count(object, "depth_alarms", worker->depth_alarms);
	failed |= set_count(object, "overflow_alarms", worker->overflow_alarms);
	failed |= set_real(object, "busy_ratio", worker->busy_ratio);
	return whole_or_null(object, failed);
}

static int
set_list(json_t *report, const char *key, const struct status *status, uint32_t n,
	json_t *(*object_of)(const struct status *status, uint32_t i))
{
	json_t *list = json_array();
	int failed = 0;

	for (uint32_t i = 0; i < n; i++)
		failed |= json_array_append_new(list, object_of(status, i));
	return json_object_set_new(report, key, whole_or_null(list, failed));
}

static json_t *
report_object(const struct app *app, const struct status *status)
{
	json_t *report = json_object();
	int failed = 0;

	failed |= set_string(report, "version", WEIR_VERSION);
	failed |= set_real(report, "duration_s", (double)status->time_ns / 1e9);
	failed |= set_options(report, &app->options);
	failed |= set_ledger(report, status);
	failed |= set_totals(report, app, status);
	failed |= set_mbufs(report, &status->mbufs);
	failed |= set_rules(report, app->options.rules, status);
	failed |= set_matched(report, status->matched, status->n_rules);
	failed |= set_list(report, "rx_cores", status, status->n_rx, rx_core_object);
	failed |= set_list(report, "rx", status, status->n_queues, queue_object);
	failed |= set_list(report, "workers", status, status->n_workers, worker_object);
	return whole_or_null(report, failed);
}

/*
 * Not by json_dumps: jansson 2.14 loses pieces of text when it can't grow its buffer, and says
 * nothing.
 */
char *
report_text(const struct app *app, const struct status *status)
{
	json_t *report = report_object(app, status);
	const size_t n_bytes = json_dumpb(report, NULL, 0, REPORT_FORMAT);
	char *text = n_bytes > 0 ? malloc(n_bytes + 1) : NULL;

	if (text && json_dumpb(report, text, n_bytes, REPORT_FORMAT) == n_bytes) {
		text[n_bytes] = '\0';
	} else {
		free(text);
		text = NULL;
	}
	json_decref(report);
	return text;
}

/* ---- the file ---- */

/*
 * What stands at `path`: a plain file or nothing is replaced, anything else (a device, a pipe, a
 * link such as /dev/stdout, which a rename would destroy) is written in place. Returns 1 for in
 * place, with `target` filled; 0 for replace; -errno if neither can be.
 */
static int
destination_look(const char *path, struct stat *target)
{
	if (lstat(path, target) < 0)
		return errno == ENOENT && path[0] ? 0 : -errno;
	if (S_ISREG(target->st_mode))
		return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) < 0 ? -errno : 0;
	if (stat(path, target) < 0)
		return -errno;
	if (S_ISDIR(target->st_mode))
		return -EISDIR;
	return 1;
}

/*
 * The standard stream that is the very file of `target`, or -1. To open it anew would cut off a
 * redirected stdout, and fails if it is a socket.
 */
static int
standard_stream(const struct stat *target)
{
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		struct stat stream;

		if (fstat(fd, &stream) == 0 && stream.st_dev == target->st_dev &&
			stream.st_ino == target->st_ino)
			return fd;
	}
	return -1;
}

static int
bytes_write(int fd, const char *bytes, size_t n_bytes)
{
	while (n_bytes > 0) {
		const ssize_t n = write(fd, bytes, n_bytes);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			bytes += n;
			n_bytes -= (size_t)n;
		}
	}
	return 0;
}

/* Writes the report as lines. */
static int
text_write(int fd, const char *text)
{
	const int result = bytes_write(fd, text, strlen(text));

	return result < 0 ? result : bytes_write(fd, "\n", 1);
}

/* Closes `fd`; file systems may report a full disk only here. Keeps an earlier failure. */
static int
file_close(int fd, int result)
{
	if (close(fd) < 0 && result == 0)
		return -errno;
	return result;
}

static int
write_in_place(const char *path, const struct stat *target, const char *text)
{
	int fd = standard_stream(target);

	if (fd >= 0) {
		fflush(stdout);
		return text_write(fd, text);
	}
	/* Not waiting for the reader of a pipe that has none. */
	fd = open(path, O_WRONLY | O_TRUNC | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	fcntl(fd, F_SETFL, O_WRONLY);
	return file_close(fd, text_write(fd, text));
}

/* Creates a temporary file in the folder of `path` and writes its name. Returns it, or -errno. */
static int
temporary_create(const char *path, char name[PATH_MAX])
{
	const char *slash = strrchr(path, '/');
	const int folder_bytes = slash ? (int)(slash + 1 - path) : 0;
	int fd;

	if (snprintf(name, PATH_MAX, "%.*s.weir-report-XXXXXX", folder_bytes, path) >= PATH_MAX)
		return -ENAMETOOLONG;
	fd = mkostemp(name, O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/*
 * What open(2) would give a new file: mkostemp gives one that nobody else can read. The umask can
 * only be read by setting it; no other thread makes files while a report is written.
 */
static mode_t
new_file_mode(void)
{
	const mode_t mask = umask(0022);

	umask(mask);
	return 0644 & ~mask;
}

static int
write_replacing(const char *path, const char *text)
{
	char temporary[PATH_MAX];
	const int fd = temporary_create(path, temporary);
	int result;

	if (fd < 0)
		return fd;
	result = text_write(fd, text);
	if (result == 0 && fchmod(fd, new_file_mode()) < 0)
		result = -errno;
	result = file_close(fd, result);
	if (result == 0 && rename(temporary, path) < 0)
		result = -errno;
	if (result < 0)
		unlink(temporary);
	return result;
}

int
report_probe(const char *path)
{
	char temporary[PATH_MAX];
	struct stat target;
	const int in_place = destination_look(path, &target);
	int fd;

	if (in_place < 0)
		return in_place;
	if (in_place)
		return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) < 0 ? -errno : 0;
	/* A file made where the report will be: no other test tells read-only mounts and the like.
	 */
	fd = temporary_create(path, temporary);
	if (fd < 0)
		return fd;
	unlink(temporary);
	return file_close(fd, 0);
}

int
report_write(const char *path, const struct app *app, const struct status *status)
{
	struct stat target;
	const int in_place = destination_look(path, &target);
	char *text;
	int result;

	if (in_place < 0)
		return in_place;
	text = report_text(app, status);
	if (!text)
		return -ENOMEM;
	result = in_place ? write_in_place(path, &target, text) : write_replacing(path, text);
	free(text);
	return result;
}
