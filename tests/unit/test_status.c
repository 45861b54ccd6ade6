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
rig_create_of(void **state, const struct weir_config *config)
{
	struct weir_config_error error;
	struct rig *rig = calloc(1, sizeof(*rig));

	if (!rig)
		return -1;
	rig->app.pool = weir_pool_create(config, &error);
	rig->rx_core = aligned_alloc(CACHE_LINE_BYTES, sizeof(*rig->rx_core));
	if (!rig->app.pool || !rig->rx_core)
		return -1;
	*rig->rx_core = (struct rx_core) { 0 };
	rig->rx_core->dispatcher = weir_dispatcher_create(rig->app.pool, 0, packets_finish, NULL);
	if (!rig->rx_core->dispatcher)
		return -1;
	rig->app.n_rx_cores = 1;
	rig->app.rx_cores[0] = rig->rx_core;
	counter_set(&rig->rx_core->tally.tx_full.all, TX_FULL);
	counter_set(&rig->rx_core->tally.bad_verdict.all, BAD_VERDICT);
	*state = rig;
	return 0;
}

static int
rig_create(void **state)
{
	const struct weir_config config = weir_config_default();

	return rig_create_of(state, &config);
}

static int
rig_create_drop_head(void **state)
{
	struct weir_config config = weir_config_default();

	config.n_workers = 1;
	config.lane_size = 1;
	config.overflow = "drop-head";
	return rig_create_of(state, &config);
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
	/* Fewer completed and as many more dropped: the sum is none the worse. */
	assert_true(rig->status.ledger_ok);
	counter_set(&rig->rx_core->tally.received, 1);
	status_collect(&rig->app, &rig->status);
	assert_int_equal(weir_ledger_gap(&rig->status.ledger), 1);
	assert_false(rig->status.ledger_ok);
}

static void
what_no_port_took_is_charged_to_the_worker_that_sent_it(void **state)
{
	struct rig *rig = *state;
	struct rx_tally *tally = &rig->rx_core->tally;

	rig->app.n_workers = 2;
	counter_set(&tally->tx_full.worker[1], TX_FULL);
	counter_set(&tally->bad_verdict.worker[0], BAD_VERDICT);
	status_collect(&rig->app, &rig->status);
	for (uint32_t id = 0; id < 2; id++) {
		const uint64_t *dropped = rig->status.worker[id].dropped;

		assert_int_equal(dropped[WEIR_REASON_TX_FULL], id == 1 ? TX_FULL : 0);
		assert_int_equal(dropped[WEIR_REASON_BAD_VERDICT], id == 0 ? BAD_VERDICT : 0);
	}
}

/* Lends one packet to worker 0 of the rig, and lets it come back if `completed`. */
static void
packet_pass(struct rig *rig, bool completed)
{
	static int packet;
	void *handle = &packet;
	const struct weir_meta meta = { .length = 60 };
	const struct weir_burst burst = { .packets = &handle, .meta = &meta, .n = 1 };
	const struct weir_verdict consumed = weir_verdict_consumed();
	struct weir_worker *worker = weir_pool_worker(rig->app.pool, 0);
	struct weir_packet taken;

	weir_message_index_set(rig->rx_core->dispatcher, 0);
	assert_int_equal(weir_dispatch(rig->rx_core->dispatcher, &burst), 1);
	counter_add(&rig->rx_core->tally.received, 1);
	if (!completed)
		return;
	assert_int_equal(weir_take(worker, &taken, 1), 1);
	weir_complete(worker, &consumed, 1);
	weir_harvest(rig->rx_core->dispatcher);
}

static void
the_two_ends_must_have_counted_the_same(void **state)
{
	struct rig *rig = *state;

	rig->app.at_rest = true;
	rig->app.n_workers = 1;
	packet_pass(rig, true);
	status_collect(&rig->app, &rig->status);
	assert_true(rig->status.ledger_ok);
	/* Lent and ended by the rx core's books, never taken by the worker's. */
	packet_pass(rig, false);
	weir_reclaim(rig->rx_core->dispatcher, 0, WEIR_REASON_DEAD_WORKER, WEIR_RECLAIM_WRITE_OFF);
	status_collect(&rig->app, &rig->status);
	assert_int_equal(weir_ledger_gap(&rig->status.ledger), 0);
	assert_false(rig->status.ledger_ok);
}

static void
what_the_drain_cut_short_may_differ(void **state)
{
	struct rig *rig = *state;

	rig->app.at_rest = true;
	rig->app.n_workers = 1;
	packet_pass(rig, false);
	weir_reclaim(
		rig->rx_core->dispatcher, 0, WEIR_REASON_DRAIN_TIMEOUT, WEIR_RECLAIM_WRITE_OFF);
	status_collect(&rig->app, &rig->status);
	assert_true(rig->status.ledger_ok);
}

static void
what_an_rx_core_evicted_may_differ(void **state)
{
	struct rig *rig = *state;

	rig->app.at_rest = true;
	rig->app.n_workers = 1;
	packet_pass(rig, false);
	/* Takes the first one's place. */
	packet_pass(rig, true);
	status_collect(&rig->app, &rig->status);
	assert_int_equal(rig->status.ledger.dropped[WEIR_REASON_OVERFLOW_DROP_HEAD], 1);
	assert_int_equal(rig->status.worker[0].lent, 2);
	assert_int_equal(rig->status.worker[0].received, 1);
	assert_true(rig->status.ledger_ok);
	/* That, and no more. */
	packet_pass(rig, false);
	weir_reclaim(rig->rx_core->dispatcher, 0, WEIR_REASON_DEAD_WORKER, WEIR_RECLAIM_WRITE_OFF);
	status_collect(&rig->app, &rig->status);
	assert_false(rig->status.ledger_ok);
}

/* What an order to stop has cut is charged to that worker, and may differ; of others nothing may.
 */
static void
what_a_killed_worker_had_not_begun_may_differ(void **state)
{
	struct rig *rig = *state;

	rig->app.at_rest = true;
	rig->app.n_workers = 1;
	packet_pass(rig, false);
	weir_reclaim(rig->rx_core->dispatcher, 0, WEIR_REASON_DEAD_WORKER, WEIR_RECLAIM_WRITE_OFF);
	status_collect(&rig->app, &rig->status);
	assert_false(rig->status.ledger_ok);
	counter_set(&rig->app.supervisor.slot[0].view.kills, 1);
	status_collect(&rig->app, &rig->status);
	assert_true(rig->status.ledger_ok);
}

/* A process may count what it likes. */
static void
what_a_process_says_of_itself_is_not_compared(void **state)
{
	struct rig *rig = *state;

	rig->app.at_rest = true;
	rig->app.n_workers = 1;
	counter_set(&rig->app.supervisor.slot[0].view.taken, 1000);
	status_collect(&rig->app, &rig->status);
	assert_false(rig->status.ledger_ok);
	counter_set(&rig->app.supervisor.slot[0].view.kind, WORKER_PROCESS);
	status_collect(&rig->app, &rig->status);
	assert_true(rig->status.ledger_ok);
}

/* What its incarnations that are gone have counted is still the worker's. */
static void
a_worker_is_shown_with_all_its_incarnations(void **state)
{
	struct rig *rig = *state;
	struct slot_view *view = &rig->app.supervisor.slot[0].view;
	const struct status_worker *worker = &rig->status.worker[0];

	rig->app.n_workers = 1;
	packet_pass(rig, true);
	counter_set(&view->taken, 100);
	counter_set(&view->completed, 90);
	counter_set(&view->phase, WEIR_SLOT_DRAINING);
	counter_set(&view->flags, WEIR_WORKER_PAUSED);
	counter_set(&view->incarnation, 3);
	counter_set(&view->restarts, 2);
	counter_set(&view->crashes, 4);
	status_collect(&rig->app, &rig->status);
	assert_int_equal(worker->received, 101);
	assert_int_equal(worker->completed, 91);
	assert_int_equal(worker->phase, WEIR_SLOT_DRAINING);
	assert_int_equal(worker->flags, WEIR_WORKER_PAUSED);
	assert_int_equal(worker->incarnation, 3);
	assert_int_equal(rig->status.restarts, 2);
	assert_int_equal(rig->status.crashes, 4);
}

static void
flow_reasons_are_counted(void **state)
{
	struct rig *rig = *state;

	counter_set(&rig->rx_core->tally.flow[WEIR_FLOW_FRAGMENT], 7);
	status_collect(&rig->app, &rig->status);
	assert_int_equal(rig->status.flow[WEIR_FLOW_FRAGMENT], 7);
	assert_int_equal(rig->status.flow[WEIR_FLOW_PORTS], 0);
}

/* A false ledger outweighs everything else that went wrong. */
static void
a_false_ledger_is_exit_status_3(void **state)
{
	struct rig *rig = *state;

	rig->status.ledger_ok = true;
	assert_int_equal(status_exit(&rig->status, true), EXIT_STATUS_OK);
	assert_int_equal(status_exit(&rig->status, false), EXIT_STATUS_FAILED);
	rig->status.ledger_ok = false;
	assert_int_equal(status_exit(&rig->status, true), EXIT_STATUS_LEDGER);
	assert_int_equal(status_exit(&rig->status, false), EXIT_STATUS_LEDGER);
}

/* Whoever it was that could not store them, and whatever has become of it. */
static void
packets_that_a_sink_lost_are_a_failure(void **state)
{
	struct rig *rig = *state;

	rig->status.ledger_ok = true;
	rig->status.ledger.dropped[WEIR_REASON_CRASH_INFLIGHT] = 1;
	assert_int_equal(status_exit(&rig->status, true), EXIT_STATUS_OK);
	rig->status.ledger.dropped[WEIR_REASON_SINK_FAILED] = 1;
	assert_int_equal(status_exit(&rig->status, true), EXIT_STATUS_FAILED);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(completed_is_never_below_nothing_while_packets_move,
			rig_create, rig_destroy),
		cmocka_unit_test_setup_teardown(
			what_does_not_add_up_at_rest_is_not_hidden, rig_create, rig_destroy),
		cmocka_unit_test_setup_teardown(
			what_no_port_took_is_charged_to_the_worker_that_sent_it, rig_create,
			rig_destroy),
		cmocka_unit_test_setup_teardown(
			the_two_ends_must_have_counted_the_same, rig_create, rig_destroy),
		cmocka_unit_test_setup_teardown(
			what_the_drain_cut_short_may_differ, rig_create, rig_destroy),
		cmocka_unit_test_setup_teardown(
			what_an_rx_core_evicted_may_differ, rig_create_drop_head, rig_destroy),
		cmocka_unit_test_setup_teardown(
			what_a_killed_worker_had_not_begun_may_differ, rig_create, rig_destroy),
		cmocka_unit_test_setup_teardown(
			what_a_process_says_of_itself_is_not_compared, rig_create, rig_destroy),
		cmocka_unit_test_setup_teardown(
			a_worker_is_shown_with_all_its_incarnations, rig_create, rig_destroy),
		cmocka_unit_test_setup_teardown(flow_reasons_are_counted, rig_create, rig_destroy),
		cmocka_unit_test_setup_teardown(
			a_false_ledger_is_exit_status_3, rig_create, rig_destroy),
		cmocka_unit_test_setup_teardown(
			packets_that_a_sink_lost_are_a_failure, rig_create, rig_destroy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
