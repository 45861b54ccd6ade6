/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table: what people read of a status, live and at the end. A pure function of its arguments;
 * at most 100 columns wide whatever the numbers are.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "app.h"
#include "outputs.h"

/* Rows of workers in a live table, which should fit a screen; one more row sums the others. */
#define LIVE_WORKERS_MAX 32

/* A number in text: 12 digits, or 3 and a suffix. */
#define NUMBER_BYTES 16

/* Counts up to here are printed as they are, larger ones are scaled: columns have a width. */
#define COUNT_EXACT_MAX UINT64_C(999999999999)

/* The upper left corner, and nothing below: for terminals only. */
#define TERMINAL_CLEAR "\033[H\033[J"

#define NS_PER_SECOND 1e9

static const char *const reason_words[WEIR_REASON_COUNT] = {
	[WEIR_REASON_OVERFLOW_DROP_NEW] = "the worker's lane was full",
	[WEIR_REASON_OVERFLOW_DROP_HEAD] = "made room for a newer packet in a full lane",
	[WEIR_REASON_DEAD_WORKER] = "every worker was stopped",
	[WEIR_REASON_NO_ROUTE] = "no worker was there to take it",
	[WEIR_REASON_ALL_BUSY] = "no worker was idle",
	[WEIR_REASON_BUSY_DISCARD] = "its worker had another of its class",
	[WEIR_REASON_COVERED] = "a newer packet of its class took its place",
	[WEIR_REASON_RATE_LIMITED] = "faster than its rule allows",
	[WEIR_REASON_RULE_DROP] = "its rule drops",
	[WEIR_REASON_RETRY_EXHAUSTED] = "no worker that it could try had room",
	[WEIR_REASON_HANDLER_DROP] = "the handler said so",
	[WEIR_REASON_SINK_FAILED] = "the sink could not store it",
	[WEIR_REASON_TX_FULL] = "the port did not take it at once",
	[WEIR_REASON_NO_MBUF] = "no buffer was left for a copy",
	[WEIR_REASON_BAD_FRAME] = "the driver handed over less than it said",
	[WEIR_REASON_BAD_VERDICT] = "the handler's verdict was out of range",
	[WEIR_REASON_HELD_OVERFLOW] = "the hold was full",
	[WEIR_REASON_HOLD_TIMEOUT] = "waited in the hold up to its deadline",
	[WEIR_REASON_DRAIN_TIMEOUT] = "not finished when the drain timeout ended",
	[WEIR_REASON_CRASH_INFLIGHT] = "its worker died while it may have worked on it",
};

static const char *const flow_words[WEIR_FLOW_REASON_COUNT] = {
	[WEIR_FLOW_PORTS] = "addresses, protocol and ports",
	[WEIR_FLOW_NO_PORTS] = "addresses and protocol: one without ports",
	[WEIR_FLOW_SPI] = "addresses, protocol and SPI: IPsec",
	[WEIR_FLOW_FRAGMENT] = "addresses and protocol: a fragment",
	[WEIR_FLOW_TRUNCATED_PORTS] = "addresses and protocol: cut before the ports",
	[WEIR_FLOW_TRUNCATED_IP] = "MAC addresses: IP header cut or malformed",
	[WEIR_FLOW_NOT_IP] = "MAC addresses: not IP",
	[WEIR_FLOW_TRUNCATED_MAC] = "nothing: shorter than an Ethernet header",
	[WEIR_FLOW_NESTING_LIMIT] = "what was found before the nesting limit",
	[WEIR_FLOW_TRUNCATED_INNER] = "the outer flow: inner packet cut or malformed",
	[WEIR_FLOW_INNER_NOT_IP] = "the outer flow: inner packet not IP",
	[WEIR_FLOW_UNKNOWN_TUNNEL] = "the outer flow: tunnel of an unknown kind",
	[WEIR_FLOW_NIC] = "the port's own hash",
};

/* One table on its way out. */
struct table {
	FILE *out;
	const struct status *before; /* NULL: the whole run */
	const struct status *now;
	double seconds; /* that rates are of; 0 if there was no time */
	double cycles;
};

/* What came before the first status. */
static const struct status_worker worker_at_start;
static const struct status_rx rx_at_start;

/* The figures of a row of workers: one, or several summed. */
struct worker_figures {
	uint64_t received;
	uint64_t completed;
	uint64_t dropped;
	uint64_t depth;
	uint32_t max_depth;
	double rate;
	double busy; /* 1: one worker that was always busy */
};

/* A number in text, by value: several can be arguments of one call. */
struct number {
	char text[NUMBER_BYTES];
};

/* "0", "999", "1.00k", "12.3M", "456G". */
static struct number
number_scaled(double value)
{
	const char *suffix = "kMGTPEZYR";
	struct number number;
	int decimals;

	if (value < 999.5) {
		snprintf(number.text, sizeof(number.text), "%.0f", value);
		return number;
	}
	for (value /= 1000; value >= 999.5 && suffix[1]; suffix++)
		value /= 1000;
	decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
	snprintf(number.text, sizeof(number.text), "%.*f%c", decimals, value, *suffix);
	return number;
}

static struct number
number_count(uint64_t value)
{
	struct number number;

	if (value > COUNT_EXACT_MAX)
		return number_scaled((double)value);
	snprintf(number.text, sizeof(number.text), "%" PRIu64, value);
	return number;
}

/* A quotient, or "-" where there is none. */
static struct number
number_ratio(uint64_t dividend, uint64_t divisor)
{
	const double ratio = divisor ? (double)dividend / (double)divisor : 0.0;
	struct number number = { .text = "-" };

	if (divisor && ratio < 999.5)
		snprintf(number.text, sizeof(number.text), "%.2f", ratio);
	else if (divisor)
		number = number_scaled(ratio);
	return number;
}

/* What a counter grew by. Sums of several counters may step back for a moment. */
static uint64_t
growth(uint64_t before, uint64_t now)
{
	return now > before ? now - before : 0;
}

static double
per_second(const struct table *table, uint64_t n)
{
	return table->seconds > 0 ? (double)n / table->seconds : 0.0;
}

static const struct status_worker *
worker_before(const struct table *table, uint32_t id)
{
	return table->before ? &table->before->worker[id] : &worker_at_start;
}

static const struct status_rx *
rx_before(const struct table *table, uint32_t id)
{
	return table->before ? &table->before->rx[id] : &rx_at_start;
}

/*
 * The share of the time that a worker was busy, 0 to 1. A burst counts when it is completed, so
 * that one which began earlier can make it more than the time there was.
 */
static double
worker_busy(const struct table *table, uint32_t id)
{
	const struct status_worker *worker = &table->now->worker[id];
	double busy = worker->busy_ratio;

	if (table->before)
		busy = (double)growth(table->before->worker[id].busy_cycles, worker->busy_cycles) /
		       table->cycles;
	if (busy > 1)
		return 1;
	return busy > 0 ? busy : 0; /* no time has passed: not a number */
}

static void
figures_add(struct worker_figures *figures, const struct table *table, uint32_t id)
{
	const struct status_worker *worker = &table->now->worker[id];

	figures->received += worker->received;
	figures->completed += worker->completed;
	for (unsigned int i = 0; i < WEIR_REASON_COUNT; i++)
		figures->dropped += worker->dropped[i];
	figures->depth += worker->depth;
	if (figures->max_depth < worker->max_depth)
		figures->max_depth = worker->max_depth;
	figures->rate +=
		per_second(table, growth(worker_before(table, id)->completed, worker->completed));
	figures->busy += worker_busy(table, id);
}

/* `word`: what is to be said of it instead of how busy it is; empty: nothing. */
static void
print_figures(const struct table *table, const char *label, const char *cpu,
	const struct worker_figures *figures, uint32_t n, const char *word)
{
	char busy[NUMBER_BYTES];

	snprintf(busy, sizeof(busy), "%.0f%%", figures->busy / n * 100);
	fprintf(table->out, "%10s%6s%14s%14s%9s%9s%9s%7s%14s\n", label, cpu,
		number_count(figures->received).text, number_count(figures->completed).text,
		number_scaled(figures->rate).text, number_count(figures->depth).text,
		number_count(figures->max_depth).text, word[0] ? word : busy,
		number_count(figures->dropped).text);
}

/* At rest all have stopped: only who did not, or was put out, is worth a word. */
static const char *
worker_word(const struct table *table, uint32_t id)
{
	const struct status_worker *worker = &table->now->worker[id];
	const bool is_plain = worker->phase == WEIR_SLOT_STOPPED || worker->phase == WEIR_SLOT_FREE;

	return table->now->at_rest && is_plain ? "" : status_worker_word(worker);
}

static void
print_worker(const struct table *table, uint32_t id)
{
	struct worker_figures figures = { 0 };

	figures_add(&figures, table, id);
	print_figures(table, number_count(id).text, number_count(table->now->worker[id].cpu).text,
		&figures, 1, worker_word(table, id));
}

/* One row for the workers from `first` on. */
static void
print_other_workers(const struct table *table, uint32_t first)
{
	const uint32_t n = table->now->n_workers - first;
	struct worker_figures figures = { 0 };
	char label[NUMBER_BYTES];

	for (uint32_t id = first; id < table->now->n_workers; id++)
		figures_add(&figures, table, id);
	snprintf(label, sizeof(label), "%" PRIu32 " more", n);
	print_figures(table, label, "", &figures, n, "");
}

static void
print_workers(const struct table *table)
{
	const uint32_t n_workers = table->now->n_workers;
	uint32_t n_rows = n_workers;

	if (table->before && n_rows > LIVE_WORKERS_MAX)
		n_rows = LIVE_WORKERS_MAX;
	fprintf(table->out, "%10s%6s%14s%14s%9s%9s%9s%7s%14s\n", "worker", "cpu", "received",
		"completed", "pkt/s", "depth", "highest", "busy", "dropped");
	for (uint32_t id = 0; id < n_rows; id++)
		print_worker(table, id);
	if (n_rows < n_workers)
		print_other_workers(table, n_rows);
}

static void
print_rx_core(const struct table *table, uint32_t id)
{
	const struct status_rx *before = rx_before(table, id);
	const struct status_rx *now = &table->now->rx[id];
	const uint64_t received = growth(before->received, now->received);
	const uint64_t bytes = growth(before->received_bytes, now->received_bytes);

	fprintf(table->out, "%10s%6s%14s%9s%9s%11s%11s%9s%14s\n", number_count(id).text,
		number_count(now->lcore).text, number_count(now->received).text,
		number_scaled(per_second(table, received)).text,
		number_scaled(per_second(table, bytes) * 8).text,
		number_ratio(growth(before->depth_visits, now->depth_visits), received).text,
		number_ratio(growth(before->line_reads, now->line_reads), received).text,
		number_count(now->held).text, number_count(now->missed).text);
}

static void
print_rx_cores(const struct table *table)
{
	fprintf(table->out, "\n%10s%6s%14s%9s%9s%11s%11s%9s%14s\n", "rx core", "lcore", "received",
		"pkt/s", "bit/s", "visits/pkt", "lines/pkt", "held", "missed");
	for (uint32_t id = 0; id < table->now->n_rx; id++)
		print_rx_core(table, id);
}

/*
 * What is wrong with the ledger, if anything. While packets move, a gap is one that moved while
 * the counters were read, until it lasts.
 */
static void
print_ledger_fault(const struct table *table)
{
	const int64_t gap = weir_ledger_gap(&table->now->ledger);

	if (gap != 0)
		fprintf(table->out, "%10s  of %" PRId64 " packets: this is a fault of Weir's\n",
			"gap", gap);
	else
		fprintf(table->out, "%10s  workers and rx cores counted differently\n", "gap");
}

static void
print_ledger(const struct table *table)
{
	const struct status *now = table->now;
	const struct weir_ledger *ledger = &now->ledger;
	const bool wrong = now->at_rest ? !now->ledger_ok : now->gap_lasts;
	const char *verdict = now->at_rest ? "balanced" : "";

	fprintf(table->out, "\n%10s%14s +%10s =%14s +%14s +%9s +%10s\n", "ledger", "received",
		"copies", "completed", "dropped", "held", "in lanes");
	fprintf(table->out, "%10s%14s +%10s =%14s +%14s +%9s +%10s\n", wrong ? "WRONG" : verdict,
		number_count(ledger->received).text, number_count(ledger->copies).text,
		number_count(ledger->completed).text,
		number_count(weir_ledger_dropped(ledger)).text, number_count(ledger->held).text,
		number_count(ledger->in_lanes).text);
	if (wrong)
		print_ledger_fault(table);
}

/* Live only: says why packets gather on one worker, while they do. */
static void
print_skew(const struct table *table)
{
	const struct status_skew *skew = &table->now->skew;

	if (!skew->rings || table->now->at_rest)
		return;
	fprintf(table->out,
		"%10s  %u.%u%% of the packets hash into one 256th of the buckets, most by %s\n",
		"POLARISED", skew->top_permille / 10, skew->top_permille % 10,
		weir_flow_reason_name(skew->reason));
}

/* ---- the final table's words ---- */

static void
print_fact(const struct table *table, const char *label, uint64_t n, const char *words,
	const char *name)
{
	fprintf(table->out, "%10s%14s  %s", label, number_count(n).text, words);
	if (name)
		fprintf(table->out, " (%s)", name);
	fputc('\n', table->out);
}

static void
print_dropped(const struct table *table)
{
	const uint64_t *dropped = table->now->ledger.dropped;
	const char *label = "dropped";

	for (unsigned int i = 0; i < WEIR_REASON_COUNT; i++) {
		if (dropped[i] == 0)
			continue;
		print_fact(table, label, dropped[i], reason_words[i], weir_reason_name(i));
		label = "";
	}
}

/* What each rule has matched, however little: a rule that never matches is worth knowing. */
static void
print_rules(const struct table *table, const struct weir_rules *rules)
{
	const uint64_t *matched = table->now->matched;
	const uint32_t n = weir_rules_count(rules);

	for (uint32_t id = 1; id <= n; id++)
		fprintf(table->out, "%7s %2u%14s  %.40s => %.28s\n", id == 1 ? "rule" : "", id,
			number_count(matched[id]).text, weir_rules_expression(rules, id),
			weir_rules_action(rules, id));
	print_fact(table, "", matched[0], "matched no rule", NULL);
}

/* Packets whose flow was not found by ports, which share a worker with others more often. */
static void
print_flow(const struct table *table)
{
	const char *label = "flow by";

	for (unsigned int i = WEIR_FLOW_PORTS + 1; i < WEIR_FLOW_REASON_COUNT; i++) {
		if (table->now->flow[i] == 0)
			continue;
		print_fact(
			table, label, table->now->flow[i], flow_words[i], weir_flow_reason_name(i));
		label = "";
	}
}

static void
print_facts(const struct table *table, const struct app *app)
{
	const struct status *now = table->now;

	fputc('\n', table->out);
	print_fact(table, "sent", now->sent, "taken by the ports", NULL);
	if (now->tx_dropped)
		print_fact(table, "not sent", now->tx_dropped,
			"came back to be sent and were dropped", NULL);
	if (now->missed)
		print_fact(table, "missed", now->missed,
			"the ports had no descriptor or no buffer for them", NULL);
	if (now->urgent)
		print_fact(table, "urgent", now->urgent,
			"dispatched ahead of the others, by their rules", NULL);
	if (now->rejected)
		print_fact(table, "rejected", now->rejected,
			"times that a full lane made a packet wait", NULL);
	print_dropped(table);
	if (app->options.rules)
		print_rules(table, app->options.rules);
	if (now->captured)
		print_fact(table, "captured", now->captured,
			"dropped packets were written to a file", NULL);
	if (now->capture_lost)
		print_fact(table, "not capt.", now->capture_lost,
			"dropped packets were to be written, and were not", "capture_lost");
	print_flow(table);
	if (now->moves)
		print_fact(table, "moved", now->moves, "times that a flow went to another worker",
			NULL);
	if (now->skew.alarms)
		print_fact(table, "polarised", now->skew.alarms,
			"seconds in which the flow hash could not spread the traffic", NULL);
	fprintf(table->out, "%10s  %" PRIu64 "\n", "seed", app->options.seed);
	if (now->crashes)
		print_fact(table, "died", now->crashes, "times that a worker went unasked", NULL);
	if (now->restarts)
		print_fact(table, "restarted", now->restarts, "times that another took its place",
			NULL);
	if (app->n_stuck)
		print_fact(table, "stuck", app->n_stuck,
			"workers did not end; what they had is dropped", NULL);
}

static void
print_headline(const struct table *table, const struct app *app)
{
	const struct options *options = &app->options;

	fprintf(table->out, "weir %s  %.1f s  strategy %.24s  order %.8s  overflow %.12s\n\n",
		WEIR_VERSION, (double)table->now->time_ns / NS_PER_SECOND, options->strategy,
		options->order, options->overflow);
}

static void
print_page(const struct table *table, const struct app *app)
{
	print_headline(table, app);
	print_workers(table);
	print_rx_cores(table);
	print_ledger(table);
	print_skew(table);
	if (!table->before)
		print_facts(table, app);
	fputc('\n', table->out);
}

void
table_print(FILE *out, const struct app *app, const struct status *before, const struct status *now)
{
	char *page = NULL;
	size_t page_bytes = 0;
	struct table table = {
		.out = open_memstream(&page, &page_bytes),
		.before = before,
		.now = now,
		.seconds =
			(double)growth(before ? before->time_ns : 0, now->time_ns) / NS_PER_SECOND,
		.cycles = (double)growth(before ? before->time_cycles : 0, now->time_cycles),
	};

	if (!table.out)
		return; /* no memory for this one; the next may do */
	print_page(&table, app);
	if (fclose(table.out) == 0) {
		if (before && isatty(fileno(out)))
			fputs(TERMINAL_CLEAR, out);
		fwrite(page, 1, page_bytes, out);
		fflush(out);
	}
	free(page);
}
