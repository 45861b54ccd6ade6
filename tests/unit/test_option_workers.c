/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of workers' lives: forms, ranges, and what they need of each other and of handlers.
 */
#include "test.h"

#include "option_values.h"
#include "parsed_options.h"

static void
a_restart_budget_is_a_number_and_a_time(void **state)
{
	static const char *const wrong[] = { "--restart 10", "--restart 10/", "--restart /60",
		"--restart 65/60", "--restart -1/60", "--restart 10/0", "--restart 10/60/1",
		"--restart 10/x", "--restart 10/31536001" };
	struct parsed p;

	(void)state;
	assert_accepted(&p, "--restart 0/60");
	assert_int_equal(p.options.restarts, 0);
	assert_accepted(&p, "--restart 64/0.5");
	assert_int_equal(p.options.restarts, 64);
	assert_int_equal(p.options.restart_window_ns, OPTION_NS_PER_SECOND / 2);
	for (size_t i = 0; i < ARRAY_LENGTH(wrong); i++)
		assert_refused(&p, wrong[i]);
	assert_refusal(&p, "--restart 10",
		"weir: --restart 10: allowed N/SECONDS, N 0 to 64, SECONDS up to 31536000\n");
}

static void
there_can_be_more_workers_than_there_are(void **state)
{
	struct parsed p;

	(void)state;
	assert_accepted(&p, "--workers 2 --workers-max 8 --handler 7=echo");
	assert_int_equal(options_workers_max(&p.options), 8);
	assert_refused(&p, "--workers 2 --workers-max 8 --handler 8=echo");
	assert_refusal(&p, "--workers 4 --workers-max 3",
		"weir: --workers-max 3: allowed 0, or 4 to 256 (--workers 4)\n");
}

/* What a handler has begun is begun again: only where it says that this does no harm. */
static void
redelivery_needs_handlers_that_can_be_started_again(void **state)
{
	struct parsed p;

	(void)state;
	assert_accepted(&p, "--redeliver --handler echo");
	assert_true(p.options.redeliver);
	assert_accepted(&p, "--handler swap-mac");
	assert_refused(&p, "--redeliver --handler swap-mac");
	assert_non_null(strstr(p.output, "--handler swap-mac"));
	assert_refused(&p, "--redeliver --workers 3 --handler echo --handler 2=pcap:/tmp");
}

static void
hearts_beat_no_faster_than_control_looks(void **state)
{
	struct parsed p;

	(void)state;
	assert_accepted(&p, "--heartbeat 5 --stuck-after 0 --init-timeout 0");
	assert_int_equal(p.options.stuck_after_ns, 0);
	assert_refused(&p, "--heartbeat 4");
	assert_refused(&p, "--heartbeat 3600001");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_restart_budget_is_a_number_and_a_time),
		cmocka_unit_test(there_can_be_more_workers_than_there_are),
		cmocka_unit_test(redelivery_needs_handlers_that_can_be_started_again),
		cmocka_unit_test(hearts_beat_no_faster_than_control_looks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
