/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples of dead packets, on real mbufs: each packet that is freed undelivered counts for exactly
 * one reason and, if it is its turn, is kept with that reason and the worker that it was meant for
 * (M9, M10).
 */
#include "test.h"

#include <stdlib.h>

#include <rte_ethdev.h>

#include "dead_bench.h"

/* Worker `id` answers its next packet; false if it has none. */
static bool
worker_answer(struct dead_bench *bench, weir_worker_id id, struct weir_verdict verdict)
{
	struct weir_worker *worker = weir_pool_worker(bench->pool, id);
	struct weir_packet packet;

	if (weir_take(worker, &packet, 1) == 0)
		return false;
	weir_complete(worker, &verdict, 1);
	return true;
}

/* The oldest sample is of a packet like this; it is taken out. */
static void
assert_dead(struct dead_bench *bench, uint8_t reason, weir_worker_id worker, uint8_t fill)
{
	const struct dead_packet *dead = dead_ring_peek(bench->rx_core->dead);

	assert_non_null(dead);
	assert_string_equal(weir_reason_name(dead->reason), weir_reason_name(reason));
	assert_int_equal(dead->worker, worker);
	assert_int_equal(dead->length, DEAD_PACKET_BYTES);
	assert_int_equal(dead->n_bytes, DEAD_PACKET_BYTES);
	assert_int_equal(dead->bytes[0], fill);
	assert_int_equal(dead->bytes[DEAD_PACKET_BYTES - 1], fill);
	assert_int_equal(dead->port, 2);
	dead_ring_pop(bench->rx_core->dead);
}

static void
assert_no_more_dead(const struct dead_bench *bench)
{
	assert_null(dead_ring_peek(bench->rx_core->dead));
	assert_int_equal(counter_read(&bench->rx_core->dead->lost), 0);
}

/* M10: never lent, and yet the worker that it was for is known. */
static void
overflow_is_kept_with_the_intended_worker(void **state)
{
	struct dead_bench *bench = *state;
	dead_bench_open(bench, "last", 1);
	dead_bench_dispatch(bench, DEAD_LANE_PKTS + 2);
	assert_dead(bench, WEIR_REASON_OVERFLOW_DROP_NEW, DEAD_WORKERS - 1, DEAD_LANE_PKTS);
	assert_dead(bench, WEIR_REASON_OVERFLOW_DROP_NEW, DEAD_WORKERS - 1, DEAD_LANE_PKTS + 1);
	assert_no_more_dead(bench);
	dead_bench_close(bench);
}

/* M10: what a worker drops is that worker's; what is delivered or consumed is not dead. */
static void
handlers_drops_are_kept_and_delivered_packets_are_not(void **state)
{
	struct dead_bench *bench = *state;
	const struct weir_verdict tx = { .kind = WEIR_VERDICT_TX, .length = DEAD_PACKET_BYTES };

	dead_bench_open(bench, "round-robin", 1);
	dead_bench_dispatch(bench, 4);
	assert_true(worker_answer(bench, 0, weir_verdict_consumed()));
	assert_true(worker_answer(bench, 0, tx));
	assert_true(worker_answer(bench, 1, weir_verdict_drop(WEIR_REASON_HANDLER_DROP)));
	assert_true(worker_answer(bench, 2, weir_verdict_drop(UINT8_MAX)));
	weir_harvest(bench->rx_core->dispatcher);
	rx_core_flush(bench->rx_core);
	assert_dead(bench, WEIR_REASON_HANDLER_DROP, 1, 1);
	assert_dead(bench, WEIR_REASON_BAD_VERDICT, 2, 2);
	assert_no_more_dead(bench);
	dead_bench_close(bench);
}

/* M10: losses behind the dispatcher: a port that is none, and one that is full. */
static void
losses_on_the_way_to_a_port_name_the_worker_too(void **state)
{
	struct dead_bench *bench = *state;
	const struct weir_verdict wrong_port = {
		.kind = WEIR_VERDICT_TX, .target = 9, .length = DEAD_PACKET_BYTES
	};
	const struct weir_verdict tx = { .kind = WEIR_VERDICT_TX, .length = DEAD_PACKET_BYTES };
	uint32_t n = 0;

	dead_bench_open(bench, "last", 1);
	dead_bench_dispatch(bench, 1);
	assert_true(worker_answer(bench, 2, wrong_port));
	weir_harvest(bench->rx_core->dispatcher);
	assert_dead(bench, WEIR_REASON_BAD_VERDICT, 2, 0);
	while (counter_read(&bench->rx_core->tally.tx_full.all) == 0) {
		dead_bench_dispatch_packet(bench, dead_bench_packet(bench, DEAD_PACKET_BYTES, 77));
		assert_true(worker_answer(bench, 2, tx));
		weir_harvest(bench->rx_core->dispatcher);
		rx_core_flush(bench->rx_core);
		assert_true(++n < DEAD_MBUFS);
	}
	assert_dead(bench, WEIR_REASON_TX_FULL, 2, 77);
	assert_no_more_dead(bench);
	dead_bench_close(bench);
}

static void
packets_that_nobody_was_to_get_name_no_worker(void **state)
{
	struct dead_bench *bench = *state;
	dead_bench_open(bench, "first", 1);
	for (weir_worker_id id = 0; id < DEAD_WORKERS; id++)
		assert_int_equal(weir_pool_remove(bench->pool, id), 0);
	dead_bench_dispatch(bench, 1);
	assert_dead(bench, WEIR_REASON_NO_ROUTE, WEIR_WORKER_NONE, 0);
	assert_no_more_dead(bench);
	dead_bench_close(bench);
}

static void
reclaimed_packets_are_kept(void **state)
{
	struct dead_bench *bench = *state;
	dead_bench_open(bench, "first", 1);
	dead_bench_dispatch(bench, 2);
	weir_reclaim(bench->rx_core->dispatcher, 0, WEIR_REASON_DRAIN_TIMEOUT, WEIR_RECLAIM_GONE);
	assert_dead(bench, WEIR_REASON_DRAIN_TIMEOUT, 0, 0);
	assert_dead(bench, WEIR_REASON_DRAIN_TIMEOUT, 0, 1);
	assert_no_more_dead(bench);
	dead_bench_close(bench);
}

/* Long packets are kept up to the limit, through segments; what a head only claims is not read. */
static void
bytes_are_kept_up_to_the_limit(void **state)
{
	struct dead_bench *bench = *state;
	struct dead_ring *ring = dead_ring_create(1);
	struct rte_mbuf *chain = dead_bench_packet(bench, DEAD_SNAP_BYTES - 10, 1);
	const struct dead_packet *dead;

	assert_int_equal(rte_pktmbuf_chain(chain, dead_bench_packet(bench, 300, 2)), 0);
	dead_packet_note(ring, chain, WEIR_REASON_BAD_FRAME, WEIR_WORKER_NONE);
	dead = dead_ring_peek(ring);
	assert_int_equal(dead->length, DEAD_SNAP_BYTES - 10 + 300);
	assert_int_equal(dead->n_bytes, DEAD_SNAP_BYTES);
	assert_int_equal(dead->bytes[DEAD_SNAP_BYTES - 11], 1);
	assert_int_equal(dead->bytes[DEAD_SNAP_BYTES - 10], 2);
	assert_int_equal(dead->bytes[DEAD_SNAP_BYTES - 1], 2);
	dead_ring_pop(ring);
	rte_pktmbuf_free(chain);
	chain = dead_bench_packet(bench, 20, 3);
	chain->pkt_len = 70000;
	dead_packet_note(ring, chain, WEIR_REASON_BAD_FRAME, WEIR_WORKER_NONE);
	assert_int_equal(dead_ring_peek(ring)->length, 70000);
	assert_int_equal(dead_ring_peek(ring)->n_bytes, 20);
	rte_pktmbuf_free(chain);
	free(ring);
}

static void
one_of_so_many_is_kept(void **state)
{
	struct dead_bench *bench = *state;
	uint8_t fill = DEAD_LANE_PKTS;

	dead_bench_open(bench, "first", 3);
	dead_bench_dispatch(bench, DEAD_LANE_PKTS + 10);
	for (uint32_t i = 0; i < 4; i++, fill = (uint8_t)(fill + 3))
		assert_dead(bench, WEIR_REASON_OVERFLOW_DROP_NEW, 0, fill);
	assert_no_more_dead(bench);
	dead_bench_close(bench);
}

/* Drops `n` packets and reads the ring now and then. Returns what the books say afterwards. */
static struct weir_ledger
flood(struct dead_bench *bench, uint32_t n, uint32_t sample)
{
	struct weir_ledger ledger = { 0 };

	dead_bench_open(bench, "first", sample);
	dead_bench_dispatch(bench, DEAD_LANE_PKTS + n);
	weir_ledger_add(&ledger, bench->rx_core->dispatcher);
	assert_int_equal(weir_ledger_gap(&ledger), 0);
	return ledger;
}

/* M10: a full ring loses samples, exactly counted, and changes nothing for packets. */
static void
full_ring_loses_the_sample_and_nothing_else(void **state)
{
	struct dead_bench *bench = *state;
	const struct weir_ledger off = flood(bench, DEAD_RING_PKTS + 7, 0);
	struct weir_ledger on;

	dead_bench_close(bench);
	on = flood(bench, DEAD_RING_PKTS + 7, 1);
	assert_memory_equal(&on, &off, sizeof(on));
	assert_int_equal(counter_read(&bench->rx_core->dead->lost), 7);
	for (uint32_t i = 0; i < DEAD_RING_PKTS; i++)
		assert_dead(bench, WEIR_REASON_OVERFLOW_DROP_NEW, 0, (uint8_t)(DEAD_LANE_PKTS + i));
	assert_null(dead_ring_peek(bench->rx_core->dead));
	/* There is room again, and for as many. */
	dead_bench_dispatch(bench, DEAD_RING_PKTS + 1);
	assert_int_equal(counter_read(&bench->rx_core->dead->lost), 8);
	for (uint32_t i = 0; i < DEAD_RING_PKTS; i++)
		assert_dead(bench, WEIR_REASON_OVERFLOW_DROP_NEW, 0, (uint8_t)i);
	dead_bench_close(bench);
}

/* By reason and by worker, what the books have and what was kept. */
struct losses {
	uint64_t of[WEIR_REASON_COUNT];
	uint64_t of_worker[DEAD_WORKERS][WEIR_REASON_COUNT];
};

static void
losses_read_ring(struct dead_bench *bench, struct losses *losses)
{
	const struct dead_packet *dead;

	while ((dead = dead_ring_peek(bench->rx_core->dead))) {
		losses->of[dead->reason]++;
		if (dead->worker != WEIR_WORKER_NONE)
			losses->of_worker[dead->worker][dead->reason]++;
		dead_ring_pop(bench->rx_core->dead);
	}
}

/* The dispatcher's books and the port's side; the latter knows no worker. */
static void
assert_losses(struct dead_bench *bench, const struct losses *losses)
{
	const struct rx_tally *tally = &bench->rx_core->tally;
	const uint64_t behind[WEIR_REASON_COUNT] = {
		[WEIR_REASON_BAD_VERDICT] = counter_read(&tally->bad_verdict.all),
		[WEIR_REASON_TX_FULL] = counter_read(&tally->tx_full.all),
	};
	struct weir_dispatcher_counters counters;
	uint64_t sum = 0;

	weir_dispatcher_counters(bench->rx_core->dispatcher, &counters);
	for (unsigned int reason = 0; reason < WEIR_REASON_COUNT; reason++) {
		assert_int_equal(losses->of[reason], counters.dropped[reason] + behind[reason]);
		sum += losses->of[reason];
		for (weir_worker_id id = 0; id < DEAD_WORKERS; id++) {
			struct weir_worker_counters worker;

			weir_dispatcher_worker_counters(bench->rx_core->dispatcher, id, &worker);
			if (behind[reason] == 0)
				assert_int_equal(
					losses->of_worker[id][reason], worker.dropped[reason]);
		}
	}
	assert_int_equal(sum + counters.consumed + counter_read(&tally->sent), counters.received);
}

static struct weir_verdict
verdict_draw(struct test_random *random)
{
	const struct weir_verdict tx = { .kind = WEIR_VERDICT_TX, .length = DEAD_PACKET_BYTES };
	struct weir_verdict wrong = tx;

	wrong.target = 30;
	switch (test_random_below(random, 5)) {
	case 0:
		return weir_verdict_consumed();
	case 1:
		return weir_verdict_drop((uint8_t)test_random_below(random, 256));
	case 2:
		return wrong;
	default:
		return tx;
	}
}

/* M9, M10: every packet that is freed undelivered counts for one reason, its worker's as well. */
static void
every_dead_packet_counts_for_exactly_one_reason(void **state)
{
	struct dead_bench *bench = *state;
	struct test_random random = test_random_start("dead packets");
	struct losses losses = { 0 };

	dead_bench_open(bench, "random", 1);
	for (uint32_t i = 0; i < 5000; i++) {
		const weir_worker_id id = (weir_worker_id)test_random_below(&random, DEAD_WORKERS);

		if (test_random_below(&random, 2) == 0)
			dead_bench_dispatch(bench, test_random_below(&random, 4));
		else
			worker_answer(bench, id, verdict_draw(&random));
		/* The port's ring is read seldom: it fills now and then. */
		if (test_random_below(&random, 2000) == 0)
			for (struct rte_mbuf *sent; rte_eth_rx_burst(0, 0, &sent, 1) == 1;)
				rte_pktmbuf_free(sent);
		weir_harvest(bench->rx_core->dispatcher);
		rx_core_flush(bench->rx_core);
		losses_read_ring(bench, &losses);
	}
	for (weir_worker_id id = 0; id < DEAD_WORKERS; id++)
		weir_reclaim(bench->rx_core->dispatcher, id, WEIR_REASON_DRAIN_TIMEOUT,
			WEIR_RECLAIM_GONE);
	rx_core_flush(bench->rx_core);
	losses_read_ring(bench, &losses);
	assert_int_equal(counter_read(&bench->rx_core->dead->lost), 0);
	assert_losses(bench, &losses);
	dead_bench_close(bench);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(overflow_is_kept_with_the_intended_worker),
		cmocka_unit_test(handlers_drops_are_kept_and_delivered_packets_are_not),
		cmocka_unit_test(losses_on_the_way_to_a_port_name_the_worker_too),
		cmocka_unit_test(packets_that_nobody_was_to_get_name_no_worker),
		cmocka_unit_test(reclaimed_packets_are_kept),
		cmocka_unit_test(bytes_are_kept_up_to_the_limit),
		cmocka_unit_test(one_of_so_many_is_kept),
		cmocka_unit_test(full_ring_loses_the_sample_and_nothing_else),
		cmocka_unit_test(every_dead_packet_counts_for_exactly_one_reason),
	};

	return cmocka_run_group_tests(tests, dead_bench_setup, dead_bench_teardown);
}
