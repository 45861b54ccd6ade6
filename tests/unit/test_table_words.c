/* SPDX-License-Identifier: BSD-3-Clause */
/* What the table says of workers that are not as usual. */
#include "test.h"

#include "outputs.h"
#include "report_fixture.h"

static bool
table_has(const struct report_fixture *f, const struct status *before, const char *needle)
{
	char *text = NULL;
	size_t n_bytes = 0;
	FILE *out = open_memstream(&text, &n_bytes);
	bool found;

	assert_non_null(out);
	table_print(out, &f->app, before, f->status);
	assert_int_equal(fclose(out), 0);
	found = strstr(text, needle);
	free(text);
	return found;
}

static void
a_worker_that_takes_no_packets_says_why(void **state)
{
	static const struct {
		enum weir_slot_phase phase;
		uint32_t flags;
		const char *word;
	} cases[] = {
		{ WEIR_SLOT_FREE, 0, "   free " },
		{ WEIR_SLOT_STARTING, 0, " starts " },
		{ WEIR_SLOT_READY, WEIR_WORKER_PAUSED, " paused " },
		{ WEIR_SLOT_READY, WEIR_WORKER_LOST, "   lost " },
		{ WEIR_SLOT_READY, WEIR_WORKER_STUCK, "  stuck " },
		{ WEIR_SLOT_READY, WEIR_WORKER_LOST | WEIR_WORKER_PAUSED, " paused " },
		{ WEIR_SLOT_DRAINING, 0, " drains " },
		{ WEIR_SLOT_ENDING, 0, "   ends " },
		{ WEIR_SLOT_RECLAIMING, 0, "   gone " },
		{ WEIR_SLOT_STOPPED, 0, "    off " },
		{ WEIR_SLOT_QUARANTINED, 0, "    OUT " },
	};
	struct report_fixture *f = *state;
	struct status *before = calloc(1, sizeof(*before));

	assert_non_null(before);
	f->status->at_rest = false;
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		assert_false(table_has(f, before, cases[i].word));
		f->status->worker[1].phase = cases[i].phase;
		f->status->worker[1].flags = cases[i].flags;
		assert_true(table_has(f, before, cases[i].word));
		f->status->worker[1].phase = WEIR_SLOT_READY;
		f->status->worker[1].flags = 0;
	}
	f->status->worker[1].is_slow = true;
	assert_true(table_has(f, before, "   slow "));
	free(before);
}

static void
at_rest_only_who_was_put_out_or_did_not_end_is_told(void **state)
{
	struct report_fixture *f = *state;

	f->status->worker[0].phase = WEIR_SLOT_STOPPED;
	f->status->worker[1].phase = WEIR_SLOT_FREE;
	f->status->worker[2].phase = WEIR_SLOT_ENDING;
	assert_false(table_has(f, NULL, " off "));
	assert_false(table_has(f, NULL, " free "));
	assert_true(table_has(f, NULL, "   ends "));
	f->status->worker[2].phase = WEIR_SLOT_QUARANTINED;
	assert_true(table_has(f, NULL, "    OUT "));
	assert_true(table_has(f, NULL, "111  times that another took its place"));
	assert_true(table_has(f, NULL, "112  times that a worker went unasked"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		REPORT_FIXTURE_TEST(a_worker_that_takes_no_packets_says_why),
		REPORT_FIXTURE_TEST(at_rest_only_who_was_put_out_or_did_not_end_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
