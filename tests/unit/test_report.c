/* SPDX-License-Identifier: BSD-3-Clause */
/* The report, read back as its readers do: every key, and exact numbers. */
#include "test.h"

#include <math.h>
#include <unistd.h>

#include <jansson.h>

#include "outputs.h"
#include "report_fixture.h"

/* Writes the report of the fixture and reads it back; to be freed by json_decref. */
static json_t *
report_read_back(struct report_fixture *f)
{
	json_error_t error = { 0 };
	json_t *report;

	assert_int_equal(report_write(f->path, &f->app, f->status), 0);
	report = json_load_file(f->path, JSON_REJECT_DUPLICATES, &error);
	if (!report)
		fail_msg("line %d: %s", error.line, error.text);
	return report;
}

static json_int_t
integer_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_integer(value))
		fail_msg("%s: no integer", key);
	return json_integer_value(value);
}

static const char *
string_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_string(value))
		fail_msg("%s: no string", key);
	return json_string_value(value);
}

static double
real_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_real(value))
		fail_msg("%s: no real", key);
	return json_real_value(value);
}

static json_t *
list_of(const json_t *object, const char *key, size_t n)
{
	json_t *value = json_object_get(object, key);

	if (!json_is_array(value))
		fail_msg("%s: no array", key);
	assert_int_equal(json_array_size(value), n);
	return value;
}

/* {name: first, first + 1, ...}: all names, no others. */
static void
assert_counts(const json_t *object, const char *key, unsigned int n,
	const char *(*name_of)(unsigned int), json_int_t first)
{
	const json_t *counts = json_object_get(object, key);

	if (!json_is_object(counts))
		fail_msg("%s: no object", key);
	assert_int_equal(json_object_size(counts), n);
	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(integer_of(counts, name_of(i)), first + (json_int_t)i);
}

static void
report_says_how_weir_was_run(void **state)
{
	struct report_fixture *f = *state;
	json_t *report = report_read_back(f);
	json_t *handlers = list_of(report, "handlers", 2);

	assert_true(strlen(string_of(report, "version")) > 0);
	assert_string_equal(string_of(report, "strategy"), "shallowest");
	assert_string_equal(string_of(report, "order"), "none");
	assert_string_equal(string_of(report, "overflow"), "drop-new");
	assert_string_equal(string_of(report, "depth_mode"), "outstanding");
	assert_string_equal(string_of(report, "seed"), "704");
	assert_int_equal(integer_of(report, "lane_size"), 701);
	assert_int_equal(integer_of(report, "burst"), 702);
	assert_int_equal(integer_of(report, "chunk"), 703);
	assert_int_equal(integer_of(report, "sticky_usec"), 706);
	assert_string_equal(string_of(report, "flow_hash"), "auto");
	assert_string_equal(string_of(report, "flow_depth"), "outer");
	assert_int_equal(integer_of(report, "flow_nesting"), 707);
	assert_counts(report, "flow_ports", WEIR_FLOW_TUNNEL_COUNT, weir_flow_tunnel_name, 710);
	assert_string_equal(json_string_value(json_array_get(handlers, 0)), "forward");
	assert_string_equal(json_string_value(json_array_get(handlers, 1)), "1=wait:9");
	json_decref(report);
}

static void
report_says_what_was_counted(void **state)
{
	struct report_fixture *f = *state;
	json_t *report = report_read_back(f);
	const json_t *tx = json_object_get(report, "tx");
	const json_t *mbufs = json_object_get(report, "mbufs");

	assert_int_equal(integer_of(report, "received"), f->ledger->received);
	assert_int_equal(integer_of(report, "copies"), 7);
	assert_int_equal(integer_of(report, "completed"), 5000);
	assert_int_equal(integer_of(report, "held"), 11);
	assert_int_equal(integer_of(report, "in_lanes"), 13);
	assert_counts(report, "dropped", WEIR_REASON_COUNT, weir_reason_name, 20);
	assert_int_equal(integer_of(report, "rejected"), 101);
	assert_int_equal(integer_of(report, "routed"), 102);
	assert_int_equal(integer_of(report, "moves"), 103);
	assert_int_equal(integer_of(report, "polarisation_alarms"), 104);
	assert_int_equal(json_object_size(tx), 2);
	assert_int_equal(integer_of(tx, "sent"), 103);
	assert_int_equal(integer_of(tx, "dropped"), 104);
	assert_int_equal(integer_of(report, "depth_visits"), 105);
	assert_int_equal(integer_of(report, "line_reads"), 106);
	assert_int_equal(integer_of(report, "missed"), 107);
	assert_int_equal(integer_of(report, "captured"), 108);
	assert_int_equal(integer_of(report, "capture_lost"), 109);
	assert_int_equal(integer_of(report, "urgent"), 110);
	assert_counts(report, "flow", WEIR_FLOW_REASON_COUNT, weir_flow_reason_name, 200);
	assert_int_equal(integer_of(report, "stuck_workers"), 705);
	assert_int_equal(json_object_size(mbufs), 3);
	assert_int_equal(integer_of(mbufs, "total"), 113);
	assert_int_equal(integer_of(mbufs, "free_at_start"), 114);
	assert_int_equal(integer_of(mbufs, "free"), 115);
	json_decref(report);
}

static void
report_lists_every_queue_and_rx_core(void **state)
{
	static const char *const keys[] = { "lcore", "received", "received_bytes", "rejected",
		"routed", "held", "in_lanes", "sent", "depth_visits", "line_reads", "loops",
		"missed", "urgent", "loop_max_ns" };
	json_t *report = report_read_back(*state);
	json_t *queues = list_of(report, "rx", FIXTURE_QUEUES);
	json_t *cores = list_of(report, "rx_cores", FIXTURE_RX_CORES);

	for (uint32_t i = 0; i < FIXTURE_QUEUES; i++) {
		const json_t *queue = json_array_get(queues, i);

		assert_int_equal(integer_of(queue, "core"), i % FIXTURE_RX_CORES);
		assert_int_equal(integer_of(queue, "port"), 300 + i);
		assert_int_equal(integer_of(queue, "queue"), 310 + i);
		assert_int_equal(integer_of(queue, "received"), 320 + i);
		assert_int_equal(integer_of(queue, "missed"), 330 + i);
	}
	for (uint32_t i = 0; i < FIXTURE_RX_CORES; i++) {
		const json_t *core = json_array_get(cores, i);

		assert_int_equal(integer_of(core, "core"), i);
		for (size_t k = 0; k < ARRAY_LENGTH(keys); k++)
			assert_int_equal(integer_of(core, keys[k]), 400 + 10 * k + i);
	}
	json_decref(report);
}

static void
report_lists_every_worker_with_every_reason(void **state)
{
	static const char *const keys[] = { "cpu", "received", "completed", "lent", "depth",
		"max_depth", "depth_alarms", "overflow_alarms", "urgent", "incarnation", "restarts",
		"crashes", "pid" };
	json_t *report = report_read_back(*state);
	json_t *workers = list_of(report, "workers", FIXTURE_WORKERS);

	for (uint32_t i = 0; i < FIXTURE_WORKERS; i++) {
		const json_t *worker = json_array_get(workers, i);

		assert_int_equal(integer_of(worker, "id"), i);
		for (size_t k = 0; k < ARRAY_LENGTH(keys); k++)
			assert_int_equal(integer_of(worker, keys[k]), 600 + 10 * k + i);
		assert_counts(worker, "dropped", WEIR_REASON_COUNT, weir_reason_name,
			1000 + 100 * (json_int_t)i);
		assert_true(fabs(real_of(worker, "busy_ratio") - 0.1 * i) < 1e-12);
	}
	json_decref(report);
}

static void
report_tells_where_a_worker_is_and_how_it_fares(void **state)
{
	struct report_fixture *f = *state;
	const json_t *workers, *flags;
	json_t *report;

	f->status->worker[1].phase = WEIR_SLOT_QUARANTINED;
	f->status->worker[1].is_process = true;
	f->status->worker[2].flags = WEIR_WORKER_LOST | WEIR_WORKER_STUCK;
	report = report_read_back(f);
	workers = list_of(report, "workers", FIXTURE_WORKERS);
	assert_string_equal(string_of(json_array_get(workers, 0), "state"), "ready");
	assert_string_equal(string_of(json_array_get(workers, 0), "kind"), "thread");
	list_of(json_array_get(workers, 0), "flags", 0);
	assert_string_equal(string_of(json_array_get(workers, 1), "state"), "quarantined");
	assert_string_equal(string_of(json_array_get(workers, 1), "kind"), "process");
	flags = list_of(json_array_get(workers, 2), "flags", 2);
	assert_string_equal(json_string_value(json_array_get(flags, 0)), "lost");
	assert_string_equal(json_string_value(json_array_get(flags, 1)), "stuck");
	assert_int_equal(integer_of(report, "restarts"), 111);
	assert_int_equal(integer_of(report, "crashes"), 112);
	json_decref(report);
}

/* By the report's own numbers, as a reader would check it. */
static void
ledger_of_the_report_balances(void **state)
{
	json_t *report = report_read_back(*state);
	json_int_t out = integer_of(report, "completed") + integer_of(report, "held") +
			 integer_of(report, "in_lanes");
	const char *reason;
	json_t *count;

	json_object_foreach(json_object_get(report, "dropped"), reason, count) out +=
		json_integer_value(count);
	assert_int_equal(integer_of(report, "received") + integer_of(report, "copies"), out);
	assert_true(json_is_true(json_object_get(report, "ledger_ok")));
	assert_int_equal(integer_of(report, "ledger_gap"), 0);
	json_decref(report);
}

static void
ledger_that_is_false_is_reported_as_false(void **state)
{
	struct report_fixture *f = *state;
	json_t *report;

	f->ledger->completed += 3;
	f->status->ledger_ok = false;
	report = report_read_back(f);
	assert_true(json_is_false(json_object_get(report, "ledger_ok")));
	assert_int_equal(integer_of(report, "ledger_gap"), -3);
	json_decref(report);
}

/* A double has 53 bits: whatever passed through one would end on an even number. */
static void
counts_are_exact_beyond_the_precision_of_a_double(void **state)
{
	struct report_fixture *f = *state;
	const uint64_t odd = (UINT64_C(1) << 53) + 1;
	json_t *report;

	f->ledger->received = odd;
	f->ledger->dropped[WEIR_REASON_TX_FULL] = odd + 2;
	f->status->worker[1].completed = INT64_MAX;
	f->app.options.seed = UINT64_MAX;
	report = report_read_back(f);
	assert_int_equal(integer_of(report, "received"), odd);
	assert_int_equal(integer_of(json_object_get(report, "dropped"), "tx_full"), odd + 2);
	assert_int_equal(integer_of(json_array_get(list_of(report, "workers", FIXTURE_WORKERS), 1),
				 "completed"),
		INT64_MAX);
	assert_string_equal(string_of(report, "seed"), "18446744073709551615");
	json_decref(report);
}

static void
duration_keeps_its_nanoseconds(void **state)
{
	struct report_fixture *f = *state;
	json_t *report = report_read_back(f);

	assert_true(real_of(report, "duration_s") == 12.345678901);
	json_decref(report);
	f->status->time_ns = UINT64_C(864000000000001);
	report = report_read_back(f);
	assert_true(real_of(report, "duration_s") == 864000.000000001);
	json_decref(report);
}

static void
busy_ratio_of_no_time_is_zero(void **state)
{
	struct report_fixture *f = *state;
	json_t *report;

	f->status->worker[0].busy_ratio = NAN;
	f->status->worker[1].busy_ratio = INFINITY;
	report = report_read_back(f);
	for (size_t i = 0; i < 2; i++)
		assert_true(real_of(json_array_get(json_object_get(report, "workers"), i),
				    "busy_ratio") == 0);
	json_decref(report);
}

/* A path on the command line can have any bytes; it must not cost the report of a whole run. */
static void
bytes_that_are_no_utf8_do_not_cost_the_report(void **state)
{
	struct report_fixture *f = *state;
	json_t *report;

	f->app.options.handlers[0] = "pcap:\xff\xfe/\"a\\\n";
	f->app.options.handlers[1] = "pcap:/tmp/m\xc3\xbchle";
	report = report_read_back(f);
	assert_string_equal(
		json_string_value(json_array_get(json_object_get(report, "handlers"), 0)),
		"pcap:?"
		"?/\"a\\\n");
	assert_string_equal(
		json_string_value(json_array_get(json_object_get(report, "handlers"), 1)),
		"pcap:/tmp/m\xc3\xbchle");
	json_decref(report);
}

static void
largest_setup_fits_a_report(void **state)
{
	struct report_fixture *f = *state;
	json_t *report;

	f->status->n_workers = WEIR_WORKERS_MAX;
	f->status->n_rx = WEIR_DISPATCHERS_MAX;
	report = report_read_back(f);
	list_of(report, "workers", WEIR_WORKERS_MAX);
	list_of(report, "rx_cores", WEIR_DISPATCHERS_MAX);
	json_decref(report);
}

/* ---- memory runs out, once: jansson allocates by this ---- */

static uint64_t allocations_to_failure; /* 0: none fails */

static void *
scarce_malloc(size_t n_bytes)
{
	if (allocations_to_failure > 0 && --allocations_to_failure == 0)
		return NULL;
	return malloc(n_bytes);
}

/* Returns whether an allocation failed, the `n`th. */
static bool
report_survives_failure(struct report_fixture *f, uint64_t n, const json_t *whole)
{
	json_t *report;
	int result;

	allocations_to_failure = n;
	result = report_write(f->path, &f->app, f->status);
	if (allocations_to_failure > 0)
		return false;
	report = json_load_file(f->path, 0, NULL);
	if (result == 0)
		assert_true(json_equal(report, whole));
	else
		assert_null(report);
	json_decref(report);
	unlink(f->path);
	assert_true(result == 0 || result == -ENOMEM);
	return true;
}

static void
report_is_whole_or_there_is_none_whenever_memory_runs_out(void **state)
{
	json_t *whole = report_read_back(*state);
	uint64_t n = 1;

	unlink(((struct report_fixture *)*state)->path);
	json_set_alloc_funcs(scarce_malloc, free);
	while (report_survives_failure(*state, n, whole))
		n++;
	allocations_to_failure = 0;
	assert_true(n > 100);
	json_set_alloc_funcs(malloc, free);
	json_decref(whole);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		REPORT_FIXTURE_TEST(report_says_how_weir_was_run),
		REPORT_FIXTURE_TEST(report_says_what_was_counted),
		REPORT_FIXTURE_TEST(report_lists_every_queue_and_rx_core),
		REPORT_FIXTURE_TEST(report_lists_every_worker_with_every_reason),
		REPORT_FIXTURE_TEST(report_tells_where_a_worker_is_and_how_it_fares),
		REPORT_FIXTURE_TEST(ledger_of_the_report_balances),
		REPORT_FIXTURE_TEST(ledger_that_is_false_is_reported_as_false),
		REPORT_FIXTURE_TEST(counts_are_exact_beyond_the_precision_of_a_double),
		REPORT_FIXTURE_TEST(duration_keeps_its_nanoseconds),
		REPORT_FIXTURE_TEST(busy_ratio_of_no_time_is_zero),
		REPORT_FIXTURE_TEST(bytes_that_are_no_utf8_do_not_cost_the_report),
		REPORT_FIXTURE_TEST(largest_setup_fits_a_report),
		REPORT_FIXTURE_TEST(report_is_whole_or_there_is_none_whenever_memory_runs_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
