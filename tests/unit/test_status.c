/* SPDX-License-Identifier: BSD-3-Clause */
/* The picture of an rx core whose counters are read in the middle of a pass. Without EAL. */
#include "test.h"

#include "app.h"

#define TX_FULL 5
#define BAD_VERDICT 2

struct rig {
	struct app app;
	struct rx_core *rx_core;
	struct status status;
};

static void
packets_finish(void *context, void *const *packets, const struct weir_verdict *verdicts, uint32_t n,
	weir_worker_id worker)
{
	(void)context;
	(void)packets;
	(void)verdicts;
	(void)n;
	(void)worker;
}

/* An rx core that has dropped what its dispatcher has not yet counted as completed. */
static int
rig_create(void **state)
{
	struct weir_config config = weir_config_default();
	struct weir_config_error error;
	struct rig *rig = calloc(1, sizeof(*rig));

	if (!rig)
		return -1;
	rig->app.pool = weir_pool_create(&config, &error);
	rig->rx_core = aligned_alloc(CACHE_LINE_BYTES, sizeof(*rig->rx_core));
	if (!rig->app.pool || !rig->rx_core)
		return -1;
	*rig->rx_core = (struct rx_core) { 0 };
	rig->rx_core->dispatcher = weir_dispatcher_create(rig->app.pool, 0, packets_finish, NULL);
	if (!rig->rx_core->dispatcher)
		return -1;
	rig->app.n_rx_cores = 1;
	rig->app.rx_cores[0] = rig->rx_core;
	counter_set(&rig->rx_core->tally.tx_full, TX_FULL);
	counter_set(&rig->rx_core->tally.bad_verdict, BAD_VERDICT);
	*state = rig;
	return 0;
}

static int
rig_destroy(void **state)
{
	struct rig *rig = *state;

	weir_dispatcher_destroy(rig->rx_core->dispatcher);
	weir_pool_destroy(rig->app.pool);
	free(rig->rx_core);
	free(rig);
	return 0;
}

static void
completed_is_never_below_nothing_while_packets_move(void **state)
{
	struct rig *rig = *state;

	status_collect(&rig->app, &rig->status);
	assert_int_equal(rig->status.ledger.completed, 0);
	assert_int_equal(rig->status.ledger.dropped[WEIR_REASON_TX_FULL], TX_FULL);
	assert_int_equal(rig->status.ledger.dropped[WEIR_REASON_BAD_VERDICT], BAD_VERDICT);
	assert_int_equal(rig->status.tx_dropped, TX_FULL + BAD_VERDICT);
}

static void
what_does_not_add_up_at_rest_is_not_hidden(void **state)
{
	struct rig *rig = *state;

	rig->app.at_rest = true;
	status_collect(&rig->app, &rig->status);
	assert_int_equal((int64_t)rig->status.ledger.completed, -(TX_FULL + BAD_VERDICT));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(completed_is_never_below_nothing_while_packets_move,
			rig_create, rig_destroy),
		cmocka_unit_test_setup_teardown(
			what_does_not_add_up_at_rest_is_not_hidden, rig_create, rig_destroy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
