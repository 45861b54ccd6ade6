/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collects the picture. `received` is what the rx cores took from ports; everything else is what
 * the dispatchers and the ports' side counted: two ends that must agree at rest.
 */
#include "status.h"

#include <stdio.h>

#include <rte_cycles.h>
#include <rte_mempool.h>

#include "app.h"
#include "clock.h"

/* The first loss to a full lane is news; the alarm doubles, so that a flood of them stays brief. */
#define OVERFLOW_ALARM_PKTS 1

static uint64_t
port_missed(const struct app *app, uint16_t id)
{
	for (uint32_t i = 0; i < app->ports.n; i++) {
		if (app->ports.port[i].id == id)
			return port_count_missed(&app->ports.port[i]);
	}
	return 0;
}

static void
queues_collect(const struct app *app, struct status *status)
{
	status->n_queues = 0;
	for (uint32_t r = 0; r < app->n_rx_cores; r++) {
		const struct rx_core *rx_core = app->rx_cores[r];

		for (uint32_t q = 0; q < rx_core->n_queues; q++) {
			const struct rx_queue *queue = &rx_core->queues[q];
			struct status_queue *out = &status->queue[status->n_queues++];

			*out = (struct status_queue) {
				.rx_core = r,
				.port = queue->port,
				.queue = queue->queue,
				.received = counter_read(&queue->received),
			};
			if (queue->queue == 0)
				out->missed = port_missed(app, queue->port);
			status->rx[r].missed += out->missed;
			status->missed += out->missed;
		}
	}
}

/*
 * What a port did not take, or must not: moved from `completed` to its reason. A loop counts it
 * while it brings packets home, before its dispatcher has counted them as completed: in a live
 * picture there may be less to move from. At rest nothing hides a difference.
 */
static void
ledger_add_tx(struct weir_ledger *ledger, const struct rx_tally *tally, bool at_rest)
{
	const uint64_t tx_full = counter_read(&tally->tx_full.all);
	const uint64_t bad_verdict = counter_read(&tally->bad_verdict.all);

	ledger->dropped[WEIR_REASON_TX_FULL] += tx_full;
	ledger->dropped[WEIR_REASON_BAD_VERDICT] += bad_verdict;
	ledger->dropped[WEIR_REASON_BAD_FRAME] += counter_read(&tally->bad_frame);
	ledger->dropped[WEIR_REASON_NO_MBUF] += counter_read(&tally->no_mbuf);
	if (at_rest)
		ledger->completed -= tx_full + bad_verdict;
	else
		ledger->completed -= RTE_MIN(ledger->completed, tx_full + bad_verdict);
}

/* Adds one of an rx core's dispatchers. */
static void
dispatcher_collect(
	const struct weir_dispatcher *dispatcher, struct status *status, struct status_rx *out)
{
	struct weir_dispatcher_counters counters;

	weir_dispatcher_counters(dispatcher, &counters);
	weir_ledger_add(&status->ledger, dispatcher);
	out->rejected += counters.rejected;
	out->routed += counters.routed;
	out->held += counters.held;
	out->in_lanes += weir_in_lanes(dispatcher);
	out->depth_visits += counters.depth_visits;
	out->line_reads += counters.line_reads;
	status->moves += counters.moves;
}

static void
urgent_collect(
	const struct weir_dispatcher *dispatcher, struct status *status, struct status_rx *out)
{
	struct weir_dispatcher_counters counters;

	if (!dispatcher)
		return;
	dispatcher_collect(dispatcher, status, out);
	weir_dispatcher_counters(dispatcher, &counters);
	out->urgent = counters.received;
	status->urgent += out->urgent;
}

static void
rx_core_collect(const struct rx_core *rx_core, struct status *status, struct status_rx *out)
{
	const struct rx_tally *tally = &rx_core->tally;

	*out = (struct status_rx) {
		.lcore = rx_core->lcore,
		.received = counter_read(&tally->received),
		.received_bytes = counter_read(&tally->received_bytes),
		.sent = counter_read(&tally->sent),
		.loops = counter_read(&tally->loops),
		.loop_max_ns = rx_core_cycles_ns(rx_core, counter_read(&tally->loop_max_cycles)),
	};
	dispatcher_collect(rx_core->dispatcher, status, out);
	urgent_collect(rx_core->urgent, status, out);
	for (unsigned int i = 0; i < WEIR_CLASSES_MAX; i++) {
		out->matched[i] = counter_read(&tally->matched[i]);
		status->matched[i] += out->matched[i];
	}
	if (rx_core->dead)
		status->capture_lost += counter_read(&rx_core->dead->lost);
	status->rejected += out->rejected;
	status->routed += out->routed;
	status->sent += out->sent;
	status->tx_dropped +=
		counter_read(&tally->tx_full.all) + counter_read(&tally->bad_verdict.all);
	status->depth_visits += out->depth_visits;
	status->line_reads += out->line_reads;
	for (unsigned int i = 0; i < WEIR_FLOW_REASON_COUNT; i++)
		status->flow[i] += counter_read(&tally->flow[i]);
	for (unsigned int i = 0; i < WEIR_BUCKET_GROUPS; i++) {
		status->use.all[i] += counter_read(&tally->group_all[i]);
		status->use.fallback[i] += counter_read(&tally->group_fallback[i]);
	}
}

static void
rx_cores_collect(const struct app *app, struct status *status)
{
	uint64_t received = 0;

	status->n_rx = app->n_rx_cores;
	for (uint32_t r = 0; r < app->n_rx_cores; r++) {
		const struct rx_core *rx_core = app->rx_cores[r];

		rx_core_collect(rx_core, status, &status->rx[r]);
		ledger_add_tx(&status->ledger, &rx_core->tally, status->at_rest);
		received += status->rx[r].received;
	}
	/* The ports' end, not the dispatchers' own count: the ledger must hold across both. */
	status->ledger.received = received;
}

static uint64_t
overflow_dropped(const struct status_worker *worker)
{
	return worker->dropped[WEIR_REASON_OVERFLOW_DROP_NEW] +
	       worker->dropped[WEIR_REASON_OVERFLOW_DROP_HEAD];
}

/* Adds what one dispatcher counted of a worker. Returns packets lent. */
static uint64_t
dispatcher_add_lent(
	const struct weir_dispatcher *dispatcher, uint32_t id, struct status_worker *out)
{
	struct weir_worker_counters counters;

	weir_dispatcher_worker_counters(dispatcher, (weir_worker_id)id, &counters);
	out->lent += counters.lent;
	out->depth += counters.depth;
	if (counters.max_depth > out->max_depth)
		out->max_depth = counters.max_depth;
	/* Each sees the worker's whole depth, and rings by itself: that is no sum. */
	if (counters.depth_alarms > out->depth_alarms) {
		out->depth_alarms = counters.depth_alarms;
		out->depth_alarm_pkts = counters.depth_alarm_level;
	}
	for (unsigned int i = 0; i < WEIR_REASON_COUNT; i++)
		out->dropped[i] += counters.dropped[i];
	return counters.lent;
}

/* Adds what a worker gave back to be transmitted, and no port got. */
static void
worker_add_tx(const struct rx_tally *tally, uint32_t id, struct status_worker *out)
{
	out->dropped[WEIR_REASON_TX_FULL] += counter_read(&tally->tx_full.worker[id]);
	out->dropped[WEIR_REASON_BAD_VERDICT] += counter_read(&tally->bad_verdict.worker[id]);
}

static void
worker_add_lent(const struct app *app, uint32_t id, struct status_worker *out)
{
	for (uint32_t r = 0; r < app->n_rx_cores; r++) {
		const struct rx_core *rx_core = app->rx_cores[r];

		dispatcher_add_lent(rx_core->dispatcher, id, out);
		if (rx_core->urgent)
			out->urgent += dispatcher_add_lent(rx_core->urgent, id, out);
		worker_add_tx(&rx_core->tally, id, out);
	}
	out->overflow_alarms = weir_alarm_rings(OVERFLOW_ALARM_PKTS, overflow_dropped(out));
}

/* The burst in hand counts too: a worker that does not return from its handler is busy. */
static uint64_t
busy_cycles(const struct weir_worker_activity *activity)
{
	const uint64_t now = rte_rdtsc();

	return activity->busy_cycles + (activity->busy_since > 0 && now > activity->busy_since
						       ? now - activity->busy_since
						       : 0);
}

/* What the supervisor shows of it. */
static void
worker_add_slot(const struct worker_slot *slot, struct status_worker *out)
{
	const struct slot_view *view = &slot->view;

	out->phase = (enum weir_slot_phase)counter_read(&view->phase);
	out->is_process = counter_read(&view->kind) == WORKER_PROCESS;
	out->flags = (uint32_t)counter_read(&view->flags);
	out->is_slow = counter_read(&view->is_slow);
	out->incarnation = (uint32_t)counter_read(&view->incarnation);
	out->pid = (uint32_t)counter_read(&view->pid);
	out->restarts = counter_read(&view->restarts);
	out->crashes = counter_read(&view->crashes);
	out->kills = counter_read(&view->kills);
	out->received += counter_read(&view->taken);
	out->completed += counter_read(&view->completed);
	out->busy_cycles += counter_read(&view->busy_cycles);
}

static void
workers_collect(const struct app *app, struct status *status)
{
	status->n_workers = app->n_workers;
	for (uint32_t i = 0; i < app->n_workers; i++) {
		struct status_worker *out = &status->worker[i];
		struct weir_worker_activity activity;

		weir_pool_worker_activity(app->pool, (weir_worker_id)i, &activity);
		*out = (struct status_worker) {
			.cpu = app->topology.worker[i].cpu,
			.received = activity.taken,
			.completed = activity.completed,
			.busy_cycles = busy_cycles(&activity),
		};
		worker_add_slot(&app->supervisor.slot[i], out);
		if (status->time_cycles > 0)
			out->busy_ratio = (double)out->busy_cycles / (double)status->time_cycles;
		worker_add_lent(app, i, out);
		status->restarts += out->restarts;
		status->crashes += out->crashes;
	}
}

/*
 * What the workers took and gave back by their own count must be what the rx cores lent and got
 * back by theirs; less only where the end of a drain or an order to stop cut a worker short, or an
 * rx core evicted what it had lent. What a process says of itself is hearsay, and what one that
 * crashed had counted is anybody's guess: its books are the rx cores' alone.
 */
static bool
ends_agree(const struct status *status)
{
	uint64_t cut = status->ledger.dropped[WEIR_REASON_DRAIN_TIMEOUT] +
		       status->ledger.dropped[WEIR_REASON_OVERFLOW_DROP_HEAD];
	uint64_t lent = 0;
	uint64_t taken = 0;

	for (uint32_t i = 0; i < status->n_workers; i++) {
		const struct status_worker *worker = &status->worker[i];

		if (worker->is_process)
			continue;
		lent += worker->lent;
		taken += worker->received;
		if (worker->kills > 0)
			cut += worker->dropped[WEIR_REASON_DEAD_WORKER];
		if (worker->received > worker->lent)
			return false;
	}
	return lent - taken <= cut;
}

static void
mbufs_add(const struct rte_mempool *pool, struct status_mbufs *mbufs)
{
	if (!pool)
		return;
	mbufs->total += pool->size;
	mbufs->free += rte_mempool_avail_count(pool);
}

void
status_collect_mbufs(const struct app *app, struct status_mbufs *mbufs)
{
	*mbufs = (struct status_mbufs) { .free_at_start = app->mbufs_free_at_start };
	mbufs_add(app->mbuf_pool, mbufs);
	mbufs_add(app->copied_pool, mbufs);
	mbufs_add(app->clone_pool, mbufs);
}

void
status_collect(const struct app *app, struct status *status)
{
	struct status_queue *queue = status->queue;

	*status = (struct status) {
		.time_ns = clock_read_ns(CLOCK_MONOTONIC) - app->start_ns,
		.time_cycles = rte_rdtsc() - app->start_cycles,
		.at_rest = app->at_rest,
		.n_rules = app->options.rules ? weir_rules_count(app->options.rules) : 0,
		.queue = queue,
	};
	rx_cores_collect(app, status);
	queues_collect(app, status);
	workers_collect(app, status);
	status_collect_mbufs(app, &status->mbufs);
	status->captured = counter_read(&app->dead_file.written);
	status->capture_lost += counter_read(&app->dead_file.lost);
	status->skew = skew_watch_read(&app->skew);
	status->ledger_ok = weir_ledger_gap(&status->ledger) == 0 && ends_agree(status);
}

/* A flag of a worker, as people read it. */
struct flag_word {
	uint32_t flag; /* 0: slow, which is no flag of the pool's */
	const char *name;
};

static const struct flag_word flag_words[] = {
	{ WEIR_WORKER_PAUSED, "paused" },
	{ WEIR_WORKER_LOST, "lost" },
	{ WEIR_WORKER_STUCK, "stuck" },
	{ 0, "slow" },
};

#define N_FLAG_WORDS (sizeof(flag_words) / sizeof(flag_words[0]))

static bool
worker_has(const struct status_worker *worker, const struct flag_word *word)
{
	return word->flag ? worker->flags & word->flag : worker->is_slow;
}

const char *
status_worker_flags(const struct status_worker *worker, char *text)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < N_FLAG_WORDS; i++) {
		if (worker_has(worker, &flag_words[i]))
			used += (size_t)snprintf(text + used, STATUS_FLAGS_BYTES - used, "%s%s",
				used ? "," : "", flag_words[i].name);
	}
	return text;
}

const char *
status_worker_kind(const struct status_worker *worker)
{
	return worker->is_process ? "process" : "thread";
}

const char *
status_worker_word(const struct status_worker *worker)
{
	static const char *const words[WEIR_SLOT_PHASE_COUNT] = {
		[WEIR_SLOT_FREE] = "free",
		[WEIR_SLOT_STARTING] = "starts",
		[WEIR_SLOT_DRAINING] = "drains",
		[WEIR_SLOT_ENDING] = "ends",
		[WEIR_SLOT_RECLAIMING] = "gone",
		[WEIR_SLOT_STOPPED] = "off",
		[WEIR_SLOT_QUARANTINED] = "OUT",
	};

	if (worker->phase != WEIR_SLOT_READY)
		return worker->phase < WEIR_SLOT_PHASE_COUNT ? words[worker->phase] : "";
	for (size_t i = 0; i < N_FLAG_WORDS; i++) {
		if (worker_has(worker, &flag_words[i]))
			return flag_words[i].name;
	}
	return "";
}

int
status_exit(const struct status *status, bool well)
{
	if (!status->ledger_ok)
		return EXIT_STATUS_LEDGER;
	/* What a worker could not store it can't tell by its end if it was killed, or not our
	 * child. */
	if (status->ledger.dropped[WEIR_REASON_SINK_FAILED] > 0)
		return EXIT_STATUS_FAILED;
	return well ? EXIT_STATUS_OK : EXIT_STATUS_FAILED;
}
