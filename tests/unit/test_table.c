/* SPDX-License-Identifier: BSD-3-Clause */
/* The table as text: figures of an interval and of a run, the ledger's verdict, and its width. */
#include "test.h"

#include <pty.h>
#include <unistd.h>

#include "outputs.h"
#include "report_fixture.h"

#define COLUMNS_MAX 100

/* Columns of the rows of workers and rx cores, from 0. */
enum worker_column {
	WORKER_ID,
	WORKER_CPU,
	WORKER_RECEIVED,
	WORKER_COMPLETED,
	WORKER_RATE,
	WORKER_DEPTH,
	WORKER_HIGHEST,
	WORKER_BUSY,
	WORKER_DROPPED,
};

enum rx_column {
	RX_ID,
	RX_LCORE,
	RX_RECEIVED,
	RX_RATE,
	RX_BITS,
	RX_VISITS,
	RX_LINES,
	RX_HELD,
	RX_MISSED,
};

/* The table as text, to be freed. */
static char *
table_text(const struct report_fixture *f, const struct status *before)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	assert_non_null(out);
	table_print(out, &f->app, before, f->status);
	assert_int_equal(fclose(out), 0);
	return text;
}

/*
 * The line that is `row` below the first one that begins with `heading`; it ends the text. NULL if
 * there is no such heading.
 */
static char *
line_below(char *text, const char *heading, uint32_t row)
{
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		if (strncmp(line + strspn(line, " "), heading, strlen(heading)) != 0)
			continue;
		while (line && row-- > 0)
			line = strtok(NULL, "\n");
		return line;
	}
	return NULL;
}

static void
assert_cell(const struct report_fixture *f, const struct status *before, const char *heading,
	uint32_t row, uint32_t column, const char *expected)
{
	char *text = table_text(f, before);
	char *line = line_below(text, heading, row + 1);
	const char *cell;

	assert_non_null(line);
	cell = strtok(line, " ");
	for (uint32_t i = 0; i < column; i++)
		cell = strtok(NULL, " ");
	assert_non_null(cell);
	assert_string_equal(cell, expected);
	free(text);
}

static void
assert_worker_cell(const struct report_fixture *f, const struct status *before, uint32_t id,
	enum worker_column column, const char *expected)
{
	assert_cell(f, before, "worker", id, column, expected);
}

static void
assert_rx_cell(const struct report_fixture *f, const struct status *before, uint32_t id,
	enum rx_column column, const char *expected)
{
	assert_cell(f, before, "rx core", id, column, expected);
}

static bool
table_has(const struct report_fixture *f, const struct status *before, const char *needle)
{
	char *text = table_text(f, before);
	const bool found = strstr(text, needle);

	free(text);
	return found;
}

/* The status of the last period: what is now, minus what the test takes back; to be freed. */
static struct status *
status_copy(const struct report_fixture *f)
{
	struct status *before = malloc(sizeof(*before));

	assert_non_null(before);
	*before = *f->status;
	return before;
}

static void
counts_are_those_of_the_status(void **state)
{
	struct report_fixture *f = *state;

	assert_worker_cell(f, NULL, 1, WORKER_ID, "1");
	assert_worker_cell(f, NULL, 1, WORKER_CPU, "601");
	assert_worker_cell(f, NULL, 1, WORKER_RECEIVED, "611");
	assert_worker_cell(f, NULL, 1, WORKER_COMPLETED, "621");
	assert_worker_cell(f, NULL, 1, WORKER_DEPTH, "641");
	assert_worker_cell(f, NULL, 1, WORKER_HIGHEST, "651");
	assert_worker_cell(f, NULL, 1, WORKER_DROPPED, "22190"); /* 1100 + ... + 1119 */
	assert_rx_cell(f, NULL, 1, RX_ID, "1");
	assert_rx_cell(f, NULL, 1, RX_LCORE, "401");
	assert_rx_cell(f, NULL, 1, RX_RECEIVED, "411");
	assert_rx_cell(f, NULL, 1, RX_HELD, "451");
	assert_rx_cell(f, NULL, 1, RX_MISSED, "511");
}

static void
live_figures_are_of_the_interval(void **state)
{
	struct report_fixture *f = *state;
	struct status *before = status_copy(f);
	struct status *now = f->status;

	now->time_ns = before->time_ns + 500000000;
	now->time_cycles = before->time_cycles + 1000;
	now->worker[0].completed += 6000;
	now->worker[0].busy_cycles += 250;
	now->rx[0].received += 200;
	now->rx[0].received_bytes += 1000000;
	now->rx[0].depth_visits += 300;
	now->rx[0].line_reads += 50;
	assert_worker_cell(f, before, 0, WORKER_RATE, "12.0k");
	assert_worker_cell(f, before, 0, WORKER_BUSY, "25%");
	assert_worker_cell(f, before, 1, WORKER_RATE, "0");
	assert_worker_cell(f, before, 1, WORKER_BUSY, "0%");
	assert_rx_cell(f, before, 0, RX_RATE, "400");
	assert_rx_cell(f, before, 0, RX_BITS, "16.0M");
	assert_rx_cell(f, before, 0, RX_VISITS, "1.50");
	assert_rx_cell(f, before, 0, RX_LINES, "0.25");
	assert_rx_cell(f, before, 1, RX_RATE, "0");
	assert_rx_cell(f, before, 1, RX_VISITS, "-");
	assert_rx_cell(f, before, 1, RX_LINES, "-");
	free(before);
}

static void
final_figures_are_of_the_whole_run(void **state)
{
	struct report_fixture *f = *state;

	f->status->time_ns = UINT64_C(2000000000);
	f->status->worker[2].busy_ratio = 0.4;
	f->status->rx[0].depth_visits = 820;
	assert_worker_cell(f, NULL, 0, WORKER_RATE, "310");
	assert_worker_cell(f, NULL, 2, WORKER_BUSY, "40%");
	assert_rx_cell(f, NULL, 0, RX_RATE, "205");
	assert_rx_cell(f, NULL, 0, RX_BITS, "1.68k");
	assert_rx_cell(f, NULL, 0, RX_VISITS, "2.00");
}

static void
numbers_are_scaled_to_three_digits(void **state)
{
	static const struct {
		uint64_t completed;
		const char *text;
	} cases[] = {
		{ 0, "0" },
		{ 1, "1" },
		{ 999, "999" },
		{ 1000, "1.00k" },
		{ 9994, "9.99k" },
		{ 9999, "10.0k" },
		{ 99999, "100k" },
		{ 999499, "999k" },
		{ 999500, "1.00M" },
		{ 12345678, "12.3M" },
		{ UINT64_C(1230000000), "1.23G" },
		{ UINT64_MAX, "18.4E" },
	};
	struct report_fixture *f = *state;

	f->status->time_ns = UINT64_C(1000000000);
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		f->status->worker[0].completed = cases[i].completed;
		assert_worker_cell(f, NULL, 0, WORKER_RATE, cases[i].text);
	}
}

static void
counts_are_exact_up_to_twelve_digits(void **state)
{
	struct report_fixture *f = *state;

	f->status->worker[0].received = UINT64_C(999999999999);
	f->status->worker[1].received = UINT64_C(1000000000000);
	assert_worker_cell(f, NULL, 0, WORKER_RECEIVED, "999999999999");
	assert_worker_cell(f, NULL, 1, WORKER_RECEIVED, "1.00T");
}

static void
no_time_makes_no_rate(void **state)
{
	struct report_fixture *f = *state;
	struct status *before = status_copy(f);

	f->status->worker[0].completed += 5;
	f->status->worker[0].busy_cycles += 5;
	f->status->rx[0].received += 5;
	assert_worker_cell(f, before, 0, WORKER_RATE, "0");
	assert_rx_cell(f, before, 0, RX_RATE, "0");
	assert_false(table_has(f, before, "nan"));
	assert_false(table_has(f, before, "inf"));
	free(before);
}

/* A counter that seems to go back, and a burst that began before the interval did. */
static void
odd_intervals_stay_in_bounds(void **state)
{
	struct report_fixture *f = *state;
	struct status *before = status_copy(f);

	f->status->time_ns += UINT64_C(1000000000);
	f->status->time_cycles += 100;
	f->status->worker[0].busy_cycles += 101;
	f->status->worker[1].completed -= 3;
	assert_worker_cell(f, before, 0, WORKER_BUSY, "100%");
	assert_worker_cell(f, before, 1, WORKER_RATE, "0");
	free(before);
}

static void
workers_number(struct report_fixture *f, uint32_t n)
{
	f->status->n_workers = n;
	for (uint32_t i = 0; i < n; i++)
		f->status->worker[i] = (struct status_worker) {
			.cpu = i,
			.received = 10,
			.completed = 20,
			.depth = 3,
			.max_depth = i,
			.dropped[WEIR_REASON_TX_FULL] = 4,
			.busy_ratio = 0.5,
		};
}

static void
live_table_sums_the_workers_beyond_32(void **state)
{
	struct report_fixture *f = *state;
	struct status *before = status_copy(f);
	char *text;

	memset(before, 0, sizeof(*before));
	workers_number(f, 256);
	for (uint32_t i = 0; i < 256; i++)
		f->status->worker[i].busy_cycles = i == 32 ? 224 * 25 : 0;
	f->status->time_ns = UINT64_C(1000000000);
	f->status->time_cycles = 224 * 25;
	f->status->worker[40].max_depth = 512;
	assert_worker_cell(f, before, 31, WORKER_ID, "31");
	text = table_text(f, before);
	assert_string_equal(line_below(text, "worker", 33),
		"  224 more                2240          4480    4.48k      672      512     0%"
		"           896");
	free(text);
	text = table_text(f, before);
	assert_string_equal(line_below(text, "worker", 34) + 3,
		"rx core lcore      received    "
		"pkt/s    bit/s visits/pkt  lines/pkt     held        missed");
	free(text);
	free(before);
}

static void
live_table_shows_32_workers_one_by_one(void **state)
{
	struct report_fixture *f = *state;
	struct status *before = status_copy(f);

	workers_number(f, 32);
	assert_worker_cell(f, before, 31, WORKER_ID, "31");
	assert_false(table_has(f, before, " more "));
	free(before);
}

static void
final_table_shows_all_workers(void **state)
{
	struct report_fixture *f = *state;

	workers_number(f, 256);
	assert_worker_cell(f, NULL, 255, WORKER_ID, "255");
	assert_false(table_has(f, NULL, " more "));
}

/* ---- the ledger ---- */

static void
assert_ledger(const struct report_fixture *f, const struct status *before, const char *expected)
{
	char *text = table_text(f, before);
	const char *line = line_below(text, "ledger", 1);

	assert_non_null(line);
	assert_string_equal(line, expected);
	free(text);
}

static void
ledger_at_rest_is_balanced(void **state)
{
	assert_ledger(*state, NULL,
		"  balanced          5607 +         7 =          5000 +           590 +       11 +"
		"        13");
}

static void
ledger_at_rest_tells_a_gap(void **state)
{
	struct report_fixture *f = *state;

	f->ledger->completed += 12;
	f->status->ledger_ok = false;
	assert_ledger(f, NULL,
		"     WRONG          5607 +         7 =          5012 +           590 +       11 +"
		"        13");
	assert_true(table_has(f, NULL, "\n       gap  of -12 packets"));
}

static void
ledger_at_rest_tells_ends_that_differ(void **state)
{
	struct report_fixture *f = *state;

	f->status->ledger_ok = false;
	assert_true(table_has(f, NULL, "\n     WRONG "));
	assert_true(table_has(f, NULL, "\n       gap  workers and rx cores counted differently\n"));
}

/* Packets that move while the counters are read are no fault. */
static void
live_ledger_judges_only_a_gap_that_lasts(void **state)
{
	struct report_fixture *f = *state;
	struct status *before = status_copy(f);

	f->status->at_rest = false;
	f->status->ledger_ok = false;
	f->ledger->received += 32;
	assert_ledger(f, before,
		"                    5639 +         7 =          5000 +           590 +       11 +"
		"        13");
	assert_false(table_has(f, before, "gap"));
	f->status->gap_lasts = true;
	assert_true(table_has(f, before, "\n     WRONG "));
	assert_true(table_has(f, before, "\n       gap  of 32 packets"));
	free(before);
}

/* ---- words ---- */

/* The words of a row that ends in "(name)"; they are there exactly once. */
static void
assert_only_named(const struct report_fixture *f, unsigned int named, unsigned int n,
	const char *(*name_of)(unsigned int))
{
	char *text = table_text(f, NULL);

	assert_null(strstr(text, "(null)"));
	for (unsigned int i = 0; i < n; i++) {
		char row_end[64];

		snprintf(row_end, sizeof(row_end), "(%s)\n", name_of(i));
		assert_int_equal(strstr(text, row_end) != NULL, i == named);
	}
	free(text);
}

static void
every_drop_reason_that_occurred_has_a_row_in_words(void **state)
{
	struct report_fixture *f = *state;

	memset(f->status->flow, 0, sizeof(f->status->flow));
	for (unsigned int i = 0; i < WEIR_REASON_COUNT; i++) {
		memset(f->ledger->dropped, 0, sizeof(f->ledger->dropped));
		f->ledger->dropped[i] = 90017;
		assert_only_named(f, i, WEIR_REASON_COUNT, weir_reason_name);
		assert_true(table_has(f, NULL, "\n   dropped         90017  "));
	}
	f->ledger->dropped[WEIR_REASON_COUNT - 1] = 0;
	assert_only_named(f, UINT32_MAX, WEIR_REASON_COUNT, weir_reason_name);
	assert_false(table_has(f, NULL, "\n   dropped "));
}

static void
every_flow_fallback_that_occurred_has_a_row_in_words(void **state)
{
	struct report_fixture *f = *state;

	memset(f->ledger->dropped, 0, sizeof(f->ledger->dropped));
	for (unsigned int i = 0; i < WEIR_FLOW_REASON_COUNT; i++) {
		memset(f->status->flow, 0, sizeof(f->status->flow));
		f->status->flow[i] = 90018;
		/* Ports are how it should be: nothing to tell. */
		assert_only_named(f, i == WEIR_FLOW_PORTS ? UINT32_MAX : i, WEIR_FLOW_REASON_COUNT,
			weir_flow_reason_name);
	}
}

static void
final_table_tells_what_became_of_the_rest(void **state)
{
	struct report_fixture *f = *state;

	assert_true(table_has(f, NULL, "\n      sent           103  "));
	assert_true(table_has(f, NULL, "\n  not sent           104  "));
	assert_true(table_has(f, NULL, "\n    missed           107  "));
	assert_true(table_has(f, NULL, "\n  rejected           101  "));
	assert_true(table_has(f, NULL, "\n     stuck           705  "));
	assert_true(table_has(f, NULL, "\n      seed  704\n"));
	assert_true(table_has(f, NULL, "  12.3 s  "));
	f->status->tx_dropped = 0;
	f->status->missed = 0;
	f->status->rejected = 0;
	f->app.n_stuck = 0;
	assert_false(table_has(f, NULL, "\n  not sent ") || table_has(f, NULL, "\n    missed "));
	assert_false(table_has(f, NULL, "\n  rejected ") || table_has(f, NULL, "\n     stuck "));
}

static void
live_table_leaves_the_words_to_the_final_one(void **state)
{
	struct report_fixture *f = *state;
	struct status *before = status_copy(f);

	assert_false(table_has(f, before, "\n      sent "));
	assert_false(table_has(f, before, "\n   dropped "));
	free(before);
}

/* ---- shape ---- */

static void
assert_narrow(const struct report_fixture *f, const struct status *before)
{
	char *text = table_text(f, before);

	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		if (strlen(line) > COLUMNS_MAX)
			fail_msg("%zu columns: %s", strlen(line), line);
	}
	free(text);
}

/* Bytes of any value are no bools. */
static void
workers_flag(struct status *status, bool is_slow, bool is_process)
{
	for (uint32_t i = 0; i < WEIR_WORKERS_MAX; i++) {
		status->worker[i].is_slow = is_slow;
		status->worker[i].is_process = is_process;
	}
}

static void
status_draw(struct test_random *random, struct status *status)
{
	struct status_queue *queue = status->queue;
	const uint32_t flags = test_random_below(random, 8);

	test_random_words(random, status, sizeof(*status));
	status->queue = queue;
	status->at_rest = flags & 1;
	status->ledger_ok = flags & 2;
	status->gap_lasts = flags & 4;
	status->n_queues = 0;
	status->n_rx = test_random_between(random, 1, WEIR_DISPATCHERS_MAX);
	status->n_workers = test_random_between(random, 1, WEIR_WORKERS_MAX);
	status->skew.rings = status->ledger_ok;
	status->skew.reason %= WEIR_FLOW_REASON_COUNT;
	workers_flag(status, flags & 1, flags & 2);
}

static void
no_line_is_wider_than_100_columns(void **state)
{
	struct test_random random = test_random_start("table");
	struct report_fixture *f = *state;
	struct status *before = status_copy(f);

	f->app.options.strategy = "a-strategy-with-a-name-that-nobody-would-type-twice";
	f->app.options.seed = UINT64_MAX;
	f->app.n_stuck = UINT32_MAX;
	for (uint32_t round = 0; round < 200; round++) {
		status_draw(&random, f->status);
		status_draw(&random, before);
		assert_narrow(f, NULL);
		assert_narrow(f, before);
	}
	memset(f->status, 0xff, sizeof(*f->status));
	workers_flag(f->status, true, true);
	f->status->at_rest = true;
	f->status->ledger_ok = false;
	f->status->skew = (struct status_skew) { .rings = true };
	f->status->n_rx = WEIR_DISPATCHERS_MAX;
	f->status->n_workers = WEIR_WORKERS_MAX;
	assert_narrow(f, NULL);
	free(before);
}

/* What a terminal gets of one table. */
static void
terminal_read(const struct report_fixture *f, const struct status *before, char *text, size_t n)
{
	int master;
	int slave;
	FILE *out;
	ssize_t got;

	assert_int_equal(openpty(&master, &slave, NULL, NULL, NULL), 0);
	out = fdopen(slave, "w");
	assert_non_null(out);
	table_print(out, &f->app, before, f->status);
	got = read(master, text, n - 1);
	assert_true(got > 0);
	text[got] = '\0';
	fclose(out);
	close(master);
}

static void
only_a_live_table_on_a_terminal_clears_the_screen(void **state)
{
	struct report_fixture *f = *state;
	struct status *before = status_copy(f);
	char text[8192];

	terminal_read(f, before, text, sizeof(text));
	assert_memory_equal(text, "\033[H\033[Jweir ", 11);
	assert_null(strchr(text + 6, '\033'));
	terminal_read(f, NULL, text, sizeof(text));
	assert_null(strchr(text, '\033'));
	free(before);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		REPORT_FIXTURE_TEST(counts_are_those_of_the_status),
		REPORT_FIXTURE_TEST(live_figures_are_of_the_interval),
		REPORT_FIXTURE_TEST(final_figures_are_of_the_whole_run),
		REPORT_FIXTURE_TEST(numbers_are_scaled_to_three_digits),
		REPORT_FIXTURE_TEST(counts_are_exact_up_to_twelve_digits),
		REPORT_FIXTURE_TEST(no_time_makes_no_rate),
		REPORT_FIXTURE_TEST(odd_intervals_stay_in_bounds),
		REPORT_FIXTURE_TEST(live_table_sums_the_workers_beyond_32),
		REPORT_FIXTURE_TEST(live_table_shows_32_workers_one_by_one),
		REPORT_FIXTURE_TEST(final_table_shows_all_workers),
		REPORT_FIXTURE_TEST(ledger_at_rest_is_balanced),
		REPORT_FIXTURE_TEST(ledger_at_rest_tells_a_gap),
		REPORT_FIXTURE_TEST(ledger_at_rest_tells_ends_that_differ),
		REPORT_FIXTURE_TEST(live_ledger_judges_only_a_gap_that_lasts),
		REPORT_FIXTURE_TEST(every_drop_reason_that_occurred_has_a_row_in_words),
		REPORT_FIXTURE_TEST(every_flow_fallback_that_occurred_has_a_row_in_words),
		REPORT_FIXTURE_TEST(final_table_tells_what_became_of_the_rest),
		REPORT_FIXTURE_TEST(live_table_leaves_the_words_to_the_final_one),
		REPORT_FIXTURE_TEST(no_line_is_wider_than_100_columns),
		REPORT_FIXTURE_TEST(only_a_live_table_on_a_terminal_clears_the_screen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
