/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The moving half of an rx core on real mbufs and a port that loops back (net_ring): verdicts are
 * applied or refused, nothing leaks, and chains can be walked by those who know no mbuf.
 */
#include "test.h"

#include <rte_ethdev.h>

#include "eal_bench.h"
#include "rx_core.h"
#include "segment_chain.h"

#define POOL_MBUFS 4095
#define PACKET_BYTES 100

struct bench {
	struct rte_mempool *pool;
	struct rx_core *rx_core;
};

static struct bench bench;

static struct rte_mbuf *
packet_make(uint16_t bytes, uint8_t fill)
{
	return eal_bench_packet(bench.pool, bytes, fill);
}

static void
finish_one(struct rte_mbuf *packet, struct weir_verdict verdict)
{
	void *handle = packet;

	rx_core_finish(bench.rx_core, &handle, &verdict, 1, 0);
	rx_core_flush(bench.rx_core);
}

/* Takes one packet from the loop, or NULL. */
static struct rte_mbuf *
loop_take(void)
{
	struct rte_mbuf *packet = NULL;

	return rte_eth_rx_burst(0, 0, &packet, 1) == 1 ? packet : NULL;
}

static void
assert_nothing_leaked(void)
{
	assert_int_equal(rte_mempool_avail_count(bench.pool), POOL_MBUFS);
}

static uint64_t
bad_verdicts(void)
{
	return counter_read(&bench.rx_core->tally.bad_verdict.all);
}

/* The packet comes through the loop with this length and first byte. */
static void
assert_sent(struct weir_verdict verdict, uint32_t length, uint8_t first)
{
	struct rte_mbuf *packet = packet_make(PACKET_BYTES, 0);

	for (uint8_t i = 0; i < PACKET_BYTES; i++)
		rte_pktmbuf_mtod(packet, uint8_t *)[i] = i;
	rte_pktmbuf_mtod(packet, uint8_t *)[-1] = 0xff; /* what a pushed header would hold */
	finish_one(packet, verdict);
	packet = loop_take();
	assert_non_null(packet);
	assert_int_equal(packet->pkt_len, length);
	assert_int_equal(rte_pktmbuf_mtod(packet, uint8_t *)[0], first);
	rte_pktmbuf_free(packet);
	assert_nothing_leaked();
}

static void
assert_refused(struct weir_verdict verdict)
{
	const uint64_t before = bad_verdicts();

	finish_one(packet_make(PACKET_BYTES, 0), verdict);
	assert_null(loop_take());
	assert_int_equal(bad_verdicts(), before + 1);
	assert_nothing_leaked();
}

static void
tx_verdict_sends_the_packet_as_it_is(void **state)
{
	(void)state;
	assert_sent(eal_bench_verdict_tx(0, PACKET_BYTES), PACKET_BYTES, 0);
}

static void
tx_verdict_moves_both_ends(void **state)
{
	(void)state;
	assert_sent(eal_bench_verdict_tx(14, PACKET_BYTES - 14), PACKET_BYTES - 14, 14);
	assert_sent(eal_bench_verdict_tx(-1, PACKET_BYTES + 1), PACKET_BYTES + 1, 0xff);
	assert_sent(eal_bench_verdict_tx(0, 60), 60, 0);
	assert_sent(eal_bench_verdict_tx(0, PACKET_BYTES + 20), PACKET_BYTES + 20, 0);
	assert_sent(eal_bench_verdict_tx(10, 50), 50, 10);
}

static void
tx_verdict_out_of_range_is_refused(void **state)
{
	struct weir_verdict wrong_port = eal_bench_verdict_tx(0, PACKET_BYTES);

	(void)state;
	assert_refused(eal_bench_verdict_tx(PACKET_BYTES + 1, PACKET_BYTES));
	assert_refused(eal_bench_verdict_tx(INT16_MAX, PACKET_BYTES));
	assert_refused(eal_bench_verdict_tx(INT16_MIN, PACKET_BYTES));
	assert_refused(eal_bench_verdict_tx(-RTE_PKTMBUF_HEADROOM - 1, PACKET_BYTES));
	assert_refused(eal_bench_verdict_tx(0, 0));
	assert_refused(eal_bench_verdict_tx(0, UINT32_MAX));
	assert_refused(eal_bench_verdict_tx(0, 60000));
	wrong_port.target = 1;
	assert_refused(wrong_port);
	wrong_port.target = UINT8_MAX;
	assert_refused(wrong_port);
}

/* Cut to 464 bytes, 65536 less: a difference of 0 in 16 bits. */
static void
tx_verdict_that_cuts_more_than_16_bits_is_refused(void **state)
{
	const uint64_t before = bad_verdicts();
	struct rte_mbuf *chain = packet_make(2000, 0);

	(void)state;
	for (int i = 1; i < 33; i++)
		assert_int_equal(rte_pktmbuf_chain(chain, packet_make(2000, 0)), 0);
	assert_int_equal(chain->pkt_len, 66000);
	finish_one(chain, eal_bench_verdict_tx(0, 464));
	assert_null(loop_take());
	assert_int_equal(bad_verdicts(), before + 1);
	assert_nothing_leaked();
}

static void
other_verdicts_free_the_packet(void **state)
{
	(void)state;
	finish_one(packet_make(PACKET_BYTES, 0), weir_verdict_consumed());
	finish_one(packet_make(PACKET_BYTES, 0), weir_verdict_drop(WEIR_REASON_HANDLER_DROP));
	assert_null(loop_take());
	assert_nothing_leaked();
}

static void
what_a_full_port_does_not_take_is_counted_and_freed(void **state)
{
	const uint64_t sent = counter_read(&bench.rx_core->tally.sent);
	const uint64_t full = counter_read(&bench.rx_core->tally.tx_full.all);
	const uint32_t n = 3000; /* more than the ring of the port holds */
	struct rte_mbuf *packet;
	uint64_t arrived = 0;

	(void)state;
	for (uint32_t i = 0; i < n; i++) {
		void *handle = packet_make(PACKET_BYTES, 0);
		const struct weir_verdict verdict = eal_bench_verdict_tx(0, PACKET_BYTES);

		rx_core_finish(bench.rx_core, &handle, &verdict, 1, 0);
	}
	rx_core_flush(bench.rx_core);
	while ((packet = loop_take())) {
		rte_pktmbuf_free(packet);
		arrived++;
	}
	assert_true(counter_read(&bench.rx_core->tally.tx_full.all) > full);
	assert_int_equal(counter_read(&bench.rx_core->tally.sent) - sent, arrived);
	assert_int_equal(counter_read(&bench.rx_core->tally.tx_full.all) - full, n - arrived);
	assert_nothing_leaked();
}

/* `worker` gives back `n` packets that are to be sent. */
static void
worker_sends(uint32_t n, weir_worker_id worker)
{
	const struct weir_verdict verdict = eal_bench_verdict_tx(0, PACKET_BYTES);

	for (uint32_t i = 0; i < n; i++) {
		void *handle = packet_make(PACKET_BYTES, 0);

		rx_core_finish(bench.rx_core, &handle, &verdict, 1, worker);
	}
}

/* A slow reader behind a port shows at the worker that steers into it; diverted ones are nobody's.
 */
static void
what_a_port_does_not_take_is_charged_to_its_worker(void **state)
{
	struct rx_tally *tally = &bench.rx_core->tally;
	const struct weir_verdict wrong_port = { .kind = WEIR_VERDICT_TX, .target = 5 };
	void *handle = packet_make(PACKET_BYTES, 0);
	struct rte_mbuf *packet;

	(void)state;
	*tally = (struct rx_tally) { 0 };
	/* One by one up to the last that there is room for. */
	while (counter_read(&tally->tx_full.all) == 0) {
		worker_sends(1, 7);
		rx_core_flush(bench.rx_core);
	}
	worker_sends(10, 255);
	worker_sends(5, WEIR_WORKER_NONE);
	worker_sends(20, 7);
	rx_core_flush(bench.rx_core);
	rx_core_finish(bench.rx_core, &handle, &wrong_port, 1, 3);
	assert_int_equal(counter_read(&tally->tx_full.all), 1 + 10 + 5 + 20);
	for (uint32_t id = 0; id < WEIR_WORKERS_MAX; id++) {
		assert_int_equal(counter_read(&tally->tx_full.worker[id]), id == 255 ? 10
									   : id == 7 ? 1 + 20
										     : 0);
		assert_int_equal(counter_read(&tally->bad_verdict.worker[id]), id == 3);
	}
	while ((packet = loop_take()))
		rte_pktmbuf_free(packet);
	assert_nothing_leaked();
}

/* A driver that takes no frame longer than this, nor what stands behind it, as net_tap does. */
#define FRAME_BYTES 200

static uint16_t
long_frames_refuse(
	uint16_t port, uint16_t queue, struct rte_mbuf *packets[], uint16_t n, void *context)
{
	uint16_t n_taken = 0;

	(void)port;
	(void)queue;
	(void)context;
	while (n_taken < n && packets[n_taken]->pkt_len <= FRAME_BYTES)
		n_taken++;
	return n_taken;
}

static void
a_frame_too_long_for_a_port_costs_no_other(void **state)
{
	static const uint16_t lengths[] = { FRAME_BYTES + 1, 60, FRAME_BYTES, 1000, 1001, 61 };
	const struct rte_eth_rxtx_callback *callback =
		rte_eth_add_tx_callback(0, 0, long_frames_refuse, NULL);
	struct rx_tally *tally = &bench.rx_core->tally;
	struct rte_mbuf *packet;

	(void)state;
	assert_non_null(callback);
	*tally = (struct rx_tally) { 0 };
	bench.rx_core->tx_frame_bytes[0] = FRAME_BYTES;
	for (uint32_t i = 0; i < RTE_DIM(lengths); i++) {
		const struct weir_verdict verdict = eal_bench_verdict_tx(0, lengths[i]);
		void *handle = packet_make(lengths[i], (uint8_t)i);

		rx_core_finish(bench.rx_core, &handle, &verdict, 1, (weir_worker_id)i);
	}
	rx_core_flush(bench.rx_core);
	for (uint32_t i = 0; i < RTE_DIM(lengths); i++) {
		const bool is_long = lengths[i] > FRAME_BYTES;

		assert_int_equal(counter_read(&tally->tx_full.worker[i]), is_long);
		if (is_long)
			continue;
		packet = loop_take();
		assert_non_null(packet);
		assert_int_equal(packet->pkt_len, lengths[i]);
		rte_pktmbuf_free(packet);
	}
	assert_null(loop_take());
	assert_int_equal(counter_read(&tally->tx_full.all), 3);
	assert_int_equal(counter_read(&tally->sent), 3);
	assert_int_equal(rte_eth_remove_tx_callback(0, 0, callback), 0);
	assert_nothing_leaked();
}

/* A port of short frames that takes nothing at all gives everything up at once. */
static uint16_t
calls_count(uint16_t port, uint16_t queue, struct rte_mbuf *packets[], uint16_t n, void *context)
{
	(void)port;
	(void)queue;
	(void)packets;
	(void)n;
	++*(uint32_t *)context;
	return 0;
}

static void
a_full_port_is_asked_once_a_flush(void **state)
{
	uint32_t n_calls = 0;
	const struct rte_eth_rxtx_callback *callback =
		rte_eth_add_tx_callback(0, 0, calls_count, &n_calls);

	(void)state;
	assert_non_null(callback);
	bench.rx_core->tx_frame_bytes[0] = PACKET_BYTES;
	worker_sends(20, 1);
	rx_core_flush(bench.rx_core);
	assert_int_equal(n_calls, 1);
	assert_int_equal(rte_eth_remove_tx_callback(0, 0, callback), 0);
	assert_nothing_leaked();
}

/* A chain of three segments, filled with 1, 2, 3. */
static struct rte_mbuf *
chain_make(void)
{
	struct rte_mbuf *packet = packet_make(700, 1);

	assert_int_equal(rte_pktmbuf_chain(packet, packet_make(300, 2)), 0);
	assert_int_equal(rte_pktmbuf_chain(packet, packet_make(5, 3)), 0);
	return packet;
}

/* Walks the chain as a worker does: by links only. */
static void
assert_walkable(const struct rte_mbuf *packet)
{
	static const uint32_t lengths[] = { 700, 300, 5 };
	const uint8_t *data = rte_pktmbuf_mtod(packet, const uint8_t *);
	uint32_t length = packet->data_len;

	for (uint8_t i = 0; i < 3; i++) {
		struct weir_segment_link link;

		assert_int_equal(length, lengths[i]);
		assert_int_equal(data[0], i + 1);
		assert_int_equal(data[length - 1], i + 1);
		memcpy(&link, data - sizeof(link), sizeof(link));
		assert_int_equal(link.next_offset == 0, i == 2);
		data += link.next_offset;
		length = link.next_length;
	}
	assert_int_equal(length, 0);
}

static void
chain_can_be_walked_by_its_links(void **state)
{
	struct rte_mbuf *packet = chain_make();
	struct rte_mbuf *linked = segment_chain_link(packet, bench.pool);

	(void)state;
	assert_ptr_equal(linked, packet);
	assert_walkable(linked);
	rte_pktmbuf_free(linked);
	assert_nothing_leaked();
}

static void
chain_that_contradicts_its_head_is_not_whole(void **state)
{
	struct rte_mbuf *packet = chain_make();

	(void)state;
	assert_true(segment_chain_is_whole(packet));
	packet->pkt_len++;
	assert_false(segment_chain_is_whole(packet));
	packet->pkt_len--;
	packet->nb_segs--;
	assert_false(segment_chain_is_whole(packet));
	packet->nb_segs++;
	rte_pktmbuf_free(packet);
	assert_nothing_leaked();
}

static void
chain_without_room_for_links_is_copied(void **state)
{
	struct rte_mbuf *packet = chain_make();
	struct rte_mbuf *linked;

	(void)state;
	/* The second segment gives all its headroom to data, then looks as before from outside. */
	packet->next->data_off = 0;
	memset(rte_pktmbuf_mtod(packet->next, void *), 2, 300);
	linked = segment_chain_link(packet, bench.pool);
	assert_non_null(linked);
	assert_ptr_not_equal(linked, packet);
	assert_int_equal(linked->pkt_len, 1005);
	rte_pktmbuf_free(linked);
	assert_nothing_leaked();
}

static void
chain_that_cannot_be_copied_stays_as_it_is(void **state)
{
	static struct rte_mbuf *hoard[POOL_MBUFS];
	struct rte_mbuf *packet = chain_make();
	uint32_t n = 0;

	(void)state;
	packet->next->data_off = 0;
	while ((hoard[n] = rte_pktmbuf_alloc(bench.pool)))
		n++;
	assert_null(segment_chain_link(packet, bench.pool));
	assert_true(segment_chain_is_whole(packet));
	rte_pktmbuf_free(packet);
	rte_pktmbuf_free_bulk(hoard, n);
	assert_nothing_leaked();
}

static int
bench_setup(void **state)
{
	(void)state;
	if (eal_bench_start("net_ring0") < 0)
		return -1;
	bench.pool = rte_pktmbuf_pool_create(
		"test", POOL_MBUFS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	bench.rx_core = aligned_alloc(CACHE_LINE_BYTES, sizeof(*bench.rx_core));
	if (!bench.pool || !bench.rx_core || eal_bench_port_start(512, bench.pool) < 0)
		return -1;
	*bench.rx_core = (struct rx_core) { .tx_allowed = 1 };
	return 0;
}

static int
bench_teardown(void **state)
{
	(void)state;
	free(bench.rx_core);
	return eal_bench_stop(bench.pool);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tx_verdict_sends_the_packet_as_it_is),
		cmocka_unit_test(tx_verdict_moves_both_ends),
		cmocka_unit_test(tx_verdict_out_of_range_is_refused),
		cmocka_unit_test(tx_verdict_that_cuts_more_than_16_bits_is_refused),
		cmocka_unit_test(other_verdicts_free_the_packet),
		cmocka_unit_test(what_a_full_port_does_not_take_is_counted_and_freed),
		cmocka_unit_test(what_a_port_does_not_take_is_charged_to_its_worker),
		cmocka_unit_test(a_frame_too_long_for_a_port_costs_no_other),
		cmocka_unit_test(a_full_port_is_asked_once_a_flush),
		cmocka_unit_test(chain_can_be_walked_by_its_links),
		cmocka_unit_test(chain_that_contradicts_its_head_is_not_whole),
		cmocka_unit_test(chain_without_room_for_links_is_copied),
		cmocka_unit_test(chain_that_cannot_be_copied_stays_as_it_is),
	};

	return cmocka_run_group_tests(tests, bench_setup, bench_teardown);
}
