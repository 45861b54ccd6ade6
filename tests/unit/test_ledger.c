/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/stats: the ledger's arithmetic, the names of reasons, and sums over dispatchers. */
#include "test.h"

#include "rig.h"

static void
every_reason_has_a_name_of_its_own_that_fits_a_report(void **state)
{
	(void)state;
	for (unsigned int reason = 0; reason < WEIR_REASON_COUNT; reason++) {
		const char *name = weir_reason_name(reason);

		assert_non_null(name);
		assert_true(strlen(name) > 0);
		assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyz_"), strlen(name));
		for (unsigned int other = 0; other < reason; other++)
			assert_string_not_equal(weir_reason_name(other), name);
	}
	assert_null(weir_reason_name(WEIR_REASON_COUNT));
	assert_null(weir_reason_name(UINT32_MAX));
}

static void
reasons_of_the_specification_have_its_names(void **state)
{
	(void)state;
	assert_string_equal(weir_reason_name(WEIR_REASON_OVERFLOW_DROP_NEW), "overflow_drop_new");
	assert_string_equal(weir_reason_name(WEIR_REASON_DEAD_WORKER), "dead_worker");
	assert_string_equal(weir_reason_name(WEIR_REASON_NO_ROUTE), "no_route");
	assert_string_equal(weir_reason_name(WEIR_REASON_HANDLER_DROP), "handler_drop");
	assert_string_equal(weir_reason_name(WEIR_REASON_TX_FULL), "tx_full");
	assert_string_equal(weir_reason_name(WEIR_REASON_NO_MBUF), "no_mbuf");
	assert_string_equal(weir_reason_name(WEIR_REASON_BAD_VERDICT), "bad_verdict");
	assert_string_equal(weir_reason_name(WEIR_REASON_HELD_OVERFLOW), "held_overflow");
	assert_string_equal(weir_reason_name(WEIR_REASON_DRAIN_TIMEOUT), "drain_timeout");
}

static void
m9_gap_is_zero_exactly_when_every_packet_is_in_one_term(void **state)
{
	struct weir_ledger ledger = { .received = 100, .copies = 7, .completed = 50 };

	(void)state;
	ledger.dropped[WEIR_REASON_NO_ROUTE] = 20;
	ledger.dropped[WEIR_REASON_COUNT - 1] = 10;
	ledger.held = 15;
	ledger.in_lanes = 12;
	assert_int_equal(weir_ledger_dropped(&ledger), 30);
	assert_int_equal(weir_ledger_gap(&ledger), 0);
	ledger.in_lanes--;
	assert_int_equal(weir_ledger_gap(&ledger), 1);
	ledger.held += 3;
	assert_true(weir_ledger_gap(&ledger) == -2);
}

static void
m9_every_reason_counts_in_the_sum(void **state)
{
	(void)state;
	for (unsigned int reason = 0; reason < WEIR_REASON_COUNT; reason++) {
		struct weir_ledger ledger = { .received = 3 };

		ledger.dropped[reason] = 3;
		assert_int_equal(weir_ledger_dropped(&ledger), 3);
		assert_int_equal(weir_ledger_gap(&ledger), 0);
	}
}

static void
ledger_sums_over_dispatchers(void **state)
{
	struct weir_config config = rig_config("first", 1);
	struct weir_ledger ledger;
	struct rig *rig;

	(void)state;
	config.n_dispatchers = 2;
	config.lane_size = 4;
	config.overflow = "reject";
	rig = rig_create(&config, 64);
	rig_dispatch_from(rig, 0, 6);
	rig_hold(rig, 0);
	rig_dispatch_from(rig, 1, 5);
	/* Dispatcher 0: 4 lent, 2 held. Dispatcher 1: 4 lent, 1 refused. */
	ledger = rig_ledger(rig);
	assert_int_equal(ledger.received, 10);
	assert_int_equal(ledger.in_lanes, 8);
	assert_int_equal(ledger.held, 2);
	assert_int_equal(ledger.completed, 0);
	assert_int_equal(weir_ledger_gap(&ledger), 0);
	rig_drain(rig);
	ledger = rig_ledger(rig);
	assert_int_equal(ledger.received, 10);
	assert_int_equal(ledger.completed, 10);
	assert_int_equal(ledger.in_lanes, 0);
	rig_destroy(rig);
}

static void
ledger_adds_to_what_it_holds(void **state)
{
	const struct weir_config config = rig_config("first", 1);
	struct rig *rig = rig_create(&config, 64);
	struct weir_ledger ledger = { .received = 1000, .completed = 1000 };

	(void)state;
	rig_dispatch(rig, 5);
	weir_ledger_add(&ledger, rig->dispatcher[0].dispatcher);
	assert_int_equal(ledger.received, 1005);
	assert_int_equal(ledger.completed, 1000);
	assert_int_equal(ledger.in_lanes, 5);
	rig_destroy(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_reason_has_a_name_of_its_own_that_fits_a_report),
		cmocka_unit_test(reasons_of_the_specification_have_its_names),
		cmocka_unit_test(m9_gap_is_zero_exactly_when_every_packet_is_in_one_term),
		cmocka_unit_test(m9_every_reason_counts_in_the_sum),
		cmocka_unit_test(ledger_sums_over_dispatchers),
		cmocka_unit_test(ledger_adds_to_what_it_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
