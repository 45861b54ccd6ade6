/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of packets for several workers (A5), on real mbufs: shared bytes while nobody writes, own
 * bytes where somebody does, and every buffer back in its pool once.
 */
#include "test.h"

#include <rte_ethdev.h>

#include "eal_bench.h"
#include "rx_core.h"
#include "segment_chain.h"

#define MBUFS 1023
#define CLONES 63
#define N_WORKERS 3
#define PACKET_BYTES 100

struct bench {
	struct rte_mempool *mbufs;
	struct rte_mempool *clones;
	struct rx_core *rx_core;
	struct weir_pool *pool;
};

static struct bench bench;

/* A run with an rx core of its own. Clones: the handlers only read. */
static void
bench_open(const char *strategy, struct rte_mempool *clones)
{
	struct weir_config config = weir_config_default();

	config.n_workers = N_WORKERS;
	config.strategy = strategy;
	bench.pool = weir_pool_create(&config, NULL);
	assert_non_null(bench.pool);
	assert_true(weir_pool_fans_out(bench.pool));
	*bench.rx_core = (struct rx_core) {
		.tx_allowed = 1, .mbuf_pool = bench.mbufs, .clone_pool = clones
	};
	bench.rx_core->dispatcher =
		weir_dispatcher_create(bench.pool, 0, rx_core_finish, bench.rx_core);
	assert_non_null(bench.rx_core->dispatcher);
	weir_copy_set(bench.rx_core->dispatcher, rx_core_copy);
}

static struct weir_ledger
ledger_read(void)
{
	struct weir_ledger ledger = { 0 };

	weir_ledger_add(&ledger, bench.rx_core->dispatcher);
	assert_int_equal(weir_ledger_gap(&ledger), 0);
	return ledger;
}

static void
assert_all_home(void)
{
	assert_int_equal(rte_mempool_avail_count(bench.mbufs), MBUFS);
	assert_int_equal(rte_mempool_avail_count(bench.clones), CLONES);
}

/* Every buffer is back, each once: a pool's own check finds what was freed twice. */
static void
bench_close(void)
{
	weir_harvest(bench.rx_core->dispatcher);
	rx_core_flush(bench.rx_core);
	assert_int_equal(weir_in_lanes(bench.rx_core->dispatcher), 0);
	ledger_read();
	assert_all_home();
	weir_dispatcher_destroy(bench.rx_core->dispatcher);
	weir_pool_destroy(bench.pool);
	rte_mempool_audit(bench.mbufs);
	rte_mempool_audit(bench.clones);
}

static struct rte_mbuf *
packet_make(uint16_t bytes, uint8_t fill)
{
	return eal_bench_packet(bench.mbufs, bytes, fill);
}

/* A chain of segments of 700, 300 and 5 bytes, filled with 1, 2, 3; their data begins anywhere. */
static struct rte_mbuf *
chain_make(void)
{
	static const uint16_t lengths[] = { 700, 300, 5 };
	struct rte_mbuf *chain = NULL;

	for (uint8_t i = 0; i < 3; i++) {
		struct rte_mbuf *segment = rte_pktmbuf_alloc(bench.mbufs);

		assert_non_null(segment);
		segment->data_off = (uint16_t)(40 + 8 * i);
		memset(rte_pktmbuf_append(segment, lengths[i]), i + 1, lengths[i]);
		if (!chain)
			chain = segment;
		else
			assert_int_equal(rte_pktmbuf_chain(chain, segment), 0);
	}
	assert_ptr_equal(segment_chain_link(chain, bench.mbufs), chain);
	return chain;
}

static void
packet_dispatch(struct rte_mbuf *packet)
{
	void *handle = packet;
	void *data = rte_pktmbuf_mtod(packet, void *);
	const struct weir_meta meta = {
		.length = packet->pkt_len,
		.segment_length = packet->data_len,
		.flags = packet->nb_segs > 1 ? WEIR_META_CHAIN : 0,
	};
	const struct weir_burst burst = {
		.packets = &handle, .data = &data, .meta = &meta, .n = 1
	};

	assert_int_equal(weir_dispatch(bench.rx_core->dispatcher, &burst), 1);
}

/* The one packet that worker `id` has, or a zeroed one. */
static struct weir_packet
packet_take(weir_worker_id id)
{
	struct weir_packet packet = { 0 };

	weir_take(weir_pool_worker(bench.pool, id), &packet, 1);
	return packet;
}

static void
packet_complete(weir_worker_id id, struct weir_verdict verdict)
{
	weir_complete(weir_pool_worker(bench.pool, id), &verdict, 1);
}

/* Packets that came through the loop and have this length and fill; frees them. */
static uint32_t
loop_drain(uint32_t length, uint8_t fill)
{
	struct rte_mbuf *packet;
	uint32_t n = 0;

	while (rte_eth_rx_burst(0, 0, &packet, 1) == 1) {
		const uint8_t *data = rte_pktmbuf_mtod(packet, const uint8_t *);

		assert_int_equal(packet->pkt_len, length);
		assert_int_equal(data[0], fill);
		assert_int_equal(data[length - 1], fill);
		rte_pktmbuf_free(packet);
		n++;
	}
	return n;
}

static void
readers_get_the_same_bytes_and_the_buffer_comes_home_once(void **state)
{
	struct weir_packet seen[N_WORKERS];

	(void)state;
	bench_open("broadcast", bench.clones);
	packet_dispatch(packet_make(PACKET_BYTES, 7));
	assert_int_equal(rte_mempool_avail_count(bench.mbufs), MBUFS - 1);
	assert_int_equal(rte_mempool_avail_count(bench.clones), CLONES - 2);
	for (weir_worker_id id = 0; id < N_WORKERS; id++)
		seen[id] = packet_take(id);
	for (weir_worker_id id = 0; id < N_WORKERS; id++) {
		assert_non_null(seen[id].data);
		assert_ptr_equal(seen[id].data, seen[0].data);
		assert_int_equal(seen[id].data[PACKET_BYTES - 1], 7);
		packet_complete(id, weir_verdict_consumed());
		weir_harvest(bench.rx_core->dispatcher);
		/* The data is one reader's as long as there is one. */
		assert_int_equal(rte_mempool_avail_count(bench.mbufs),
			id == N_WORKERS - 1 ? MBUFS : MBUFS - 1);
	}
	assert_int_equal(ledger_read().copies, 2);
	assert_int_equal(ledger_read().completed, 3);
	bench_close();
}

/* The original first, and last: whichever comes home last gives the buffer back. */
static void
every_reader_can_send_its_own(void **state)
{
	(void)state;
	for (weir_worker_id last = 0; last < N_WORKERS; last++) {
		bench_open("broadcast", bench.clones);
		packet_dispatch(packet_make(PACKET_BYTES, 9));
		for (uint32_t i = 1; i <= N_WORKERS; i++) {
			const weir_worker_id id = (weir_worker_id)((last + i) % N_WORKERS);

			assert_non_null(packet_take(id).data);
			packet_complete(id, eal_bench_verdict_tx(0, PACKET_BYTES));
			weir_harvest(bench.rx_core->dispatcher);
			rx_core_flush(bench.rx_core);
			assert_int_equal(loop_drain(PACKET_BYTES, 9), 1);
		}
		bench_close();
	}
}

static void
copy_that_a_reader_makes_longer_is_refused(void **state)
{
	static const struct weir_verdict longer[N_WORKERS] = {
		{ .kind = WEIR_VERDICT_TX, .data_offset = -4, .length = PACKET_BYTES + 4 },
		{ .kind = WEIR_VERDICT_TX, .length = PACKET_BYTES + 1 },
		{ .kind = WEIR_VERDICT_TX, .data_offset = 20, .length = PACKET_BYTES - 19 },
	};

	(void)state;
	bench_open("broadcast", bench.clones);
	packet_dispatch(packet_make(PACKET_BYTES, 1));
	for (weir_worker_id id = 0; id < N_WORKERS; id++) {
		assert_non_null(packet_take(id).data);
		packet_complete(id, longer[id]);
	}
	weir_harvest(bench.rx_core->dispatcher);
	assert_int_equal(counter_read(&bench.rx_core->tally.bad_verdict.all), N_WORKERS);
	bench_close();
}

static void
copies_can_be_cut_each_by_itself(void **state)
{
	(void)state;
	bench_open("broadcast", bench.clones);
	packet_dispatch(packet_make(PACKET_BYTES, 5));
	for (weir_worker_id id = 0; id < N_WORKERS; id++) {
		const uint16_t cut = (uint16_t)(10 * (id + 1));

		assert_non_null(packet_take(id).data);
		packet_complete(id, eal_bench_verdict_tx((int16_t)cut, PACKET_BYTES - 2u * cut));
		weir_harvest(bench.rx_core->dispatcher);
		rx_core_flush(bench.rx_core);
		assert_int_equal(loop_drain(PACKET_BYTES - 2u * cut, 5), 1);
	}
	assert_int_equal(counter_read(&bench.rx_core->tally.bad_verdict.all), 0);
	bench_close();
}

static void
writers_do_not_see_what_others_write(void **state)
{
	struct weir_packet seen[N_WORKERS];

	(void)state;
	bench_open("broadcast", NULL);
	packet_dispatch(packet_make(PACKET_BYTES, 3));
	assert_int_equal(rte_mempool_avail_count(bench.mbufs), MBUFS - 3);
	for (weir_worker_id id = 0; id < N_WORKERS; id++)
		seen[id] = packet_take(id);
	for (weir_worker_id id = 0; id < N_WORKERS; id++) {
		assert_int_equal(seen[id].data[0], 3);
		assert_int_equal(seen[id].data[PACKET_BYTES - 1], 3);
		memset(seen[id].data, 100 + id, PACKET_BYTES);
	}
	for (weir_worker_id id = 0; id < N_WORKERS; id++) {
		seen[id].data[-1] = (uint8_t)(100 + id);
		packet_complete(id, eal_bench_verdict_tx(-1, PACKET_BYTES + 1));
		weir_harvest(bench.rx_core->dispatcher);
		rx_core_flush(bench.rx_core);
		assert_int_equal(loop_drain(PACKET_BYTES + 1, (uint8_t)(100 + id)), 1);
	}
	bench_close();
}

/* What a port said of a packet, in fields that Weir does not need. */
static void
assert_said(const struct rte_mbuf *packet)
{
	assert_int_equal(packet->port, 2);
	assert_true(packet->ol_flags & RTE_MBUF_F_RX_RSS_HASH);
	assert_int_equal(packet->hash.rss, 0x12345678);
	assert_int_equal(packet->vlan_tci, 77);
	assert_int_equal(packet->packet_type, RTE_PTYPE_L3_IPV4);
	for (uint32_t i = 0; i < RTE_DIM(packet->dynfield1); i++)
		assert_int_equal(packet->dynfield1[i], 1000 + i);
}

/* A19, of mbufs: the packet itself and its copies, whether they share bytes or not. */
static void
a19_what_the_port_said_of_a_packet_is_said_of_each_copy(void **state)
{
	struct rte_mempool *const clones[] = { bench.clones, NULL };

	(void)state;
	for (size_t i = 0; i < RTE_DIM(clones); i++) {
		struct rte_mbuf *packet = packet_make(PACKET_BYTES, 5);

		bench_open("broadcast", clones[i]);
		packet->port = 2;
		packet->ol_flags |= RTE_MBUF_F_RX_RSS_HASH;
		packet->hash.rss = 0x12345678;
		packet->vlan_tci = 77;
		packet->packet_type = RTE_PTYPE_L3_IPV4;
		for (uint32_t word = 0; word < RTE_DIM(packet->dynfield1); word++)
			packet->dynfield1[word] = 1000 + word;
		packet_dispatch(packet);
		for (weir_worker_id id = 0; id < N_WORKERS; id++) {
			assert_non_null(packet_take(id).data);
			packet_complete(id, eal_bench_verdict_tx(0, PACKET_BYTES));
		}
		weir_harvest(bench.rx_core->dispatcher);
		rx_core_flush(bench.rx_core);
		for (weir_worker_id id = 0; id < N_WORKERS; id++) {
			assert_int_equal(rte_eth_rx_burst(0, 0, &packet, 1), 1);
			assert_said(packet);
			rte_pktmbuf_free(packet);
		}
		bench_close();
	}
}

/* Walks a chain as a worker does, by links only, and leaves a byte of its own in each segment. */
static void
chain_walk(const struct weir_packet *packet, uint8_t mark, bool writes)
{
	static const uint32_t lengths[] = { 700, 300, 5 };
	uint8_t *data = packet->data;
	uint32_t length = packet->meta.segment_length;

	assert_true(packet->meta.flags & WEIR_META_CHAIN);
	for (uint8_t i = 0; i < 3; i++) {
		struct weir_segment_link link;

		assert_int_equal(length, lengths[i]);
		assert_int_equal(data[0], i + 1);
		assert_int_equal(data[length - 1], i + 1);
		memcpy(&link, data - sizeof(link), sizeof(link));
		assert_int_equal(link.next_offset == 0, i == 2);
		if (writes)
			memset(data, mark, length);
		data += link.next_offset;
		length = link.next_length;
	}
	assert_int_equal(length, 0);
}

static void
chain_reaches_every_worker(struct rte_mempool *clones, uint32_t n_mbufs, uint32_t n_clones)
{
	bench_open("broadcast", clones);
	packet_dispatch(chain_make());
	assert_int_equal(rte_mempool_avail_count(bench.mbufs), MBUFS - n_mbufs);
	assert_int_equal(rte_mempool_avail_count(bench.clones), CLONES - n_clones);
	for (weir_worker_id id = 0; id < N_WORKERS; id++) {
		const struct weir_packet packet = packet_take(id);

		assert_non_null(packet.data);
		chain_walk(&packet, (uint8_t)(200 + id), !clones);
		packet_complete(id, weir_verdict_consumed());
	}
	bench_close();
}

static void
clones_of_a_chain_can_be_walked(void **state)
{
	(void)state;
	chain_reaches_every_worker(bench.clones, 3, 2 * 3);
}

static void
copies_of_a_chain_can_be_walked_and_written(void **state)
{
	(void)state;
	chain_reaches_every_worker(NULL, 3 * 3, 0);
}

/* More data than a buffer with the usual headroom takes: the copy begins where the original does.
 */
static void
packet_that_fills_its_buffer_is_copied_into_one(void **state)
{
	struct rte_mbuf *packet = rte_pktmbuf_alloc(bench.mbufs);
	const uint16_t bytes = (uint16_t)(packet->buf_len - 16);
	void *copy;
	void *data;

	(void)state;
	bench_open("broadcast", NULL);
	packet->data_off = 16;
	memset(rte_pktmbuf_append(packet, bytes), 6, bytes);
	assert_int_equal(rx_core_copy(bench.rx_core, packet, 1, &copy, &data), 1);
	assert_int_equal(((struct rte_mbuf *)copy)->data_off, 16);
	assert_int_equal(((struct rte_mbuf *)copy)->data_len, bytes);
	rte_pktmbuf_free(copy);
	packet_dispatch(packet);
	for (weir_worker_id id = 0; id < N_WORKERS; id++) {
		const struct weir_packet seen = packet_take(id);

		assert_int_equal(seen.meta.segment_length, bytes);
		assert_int_equal(seen.data[bytes - 1], 6);
		packet_complete(id, weir_verdict_consumed());
	}
	bench_close();
}

static uint32_t
pool_exhaust(struct rte_mempool *pool, struct rte_mbuf **hoard, uint32_t n_left)
{
	uint32_t n = 0;

	while (rte_mempool_avail_count(pool) > n_left) {
		hoard[n] = rte_pktmbuf_alloc(pool);
		assert_non_null(hoard[n]);
		n++;
	}
	return n;
}

/* With `n_left` buffers, `n_copies` more workers are served; the others' copies are `no_mbuf`. */
static void
copies_run_short(
	struct rte_mempool *clones, uint32_t n_left, struct rte_mbuf *packet, uint32_t n_copies)
{
	static struct rte_mbuf *hoard[MBUFS];
	const uint32_t n = pool_exhaust(clones ? clones : bench.mbufs, hoard, n_left);
	struct weir_ledger ledger;
	uint32_t served = 0;

	bench_open("broadcast", clones);
	packet_dispatch(packet);
	for (weir_worker_id id = 0; id < N_WORKERS; id++) {
		if (!packet_take(id).data)
			continue;
		packet_complete(id, weir_verdict_consumed());
		served++;
	}
	assert_int_equal(served, 1 + n_copies);
	weir_harvest(bench.rx_core->dispatcher);
	ledger = ledger_read();
	assert_int_equal(ledger.copies, 2);
	assert_int_equal(ledger.completed, 1 + n_copies);
	assert_int_equal(ledger.dropped[WEIR_REASON_NO_MBUF], 2 - n_copies);
	rte_pktmbuf_free_bulk(hoard, n);
	bench_close();
}

static void
copies_that_cannot_be_made_are_no_mbuf(void **state)
{
	(void)state;
	copies_run_short(bench.clones, 0, packet_make(PACKET_BYTES, 0), 0);
	copies_run_short(bench.clones, 1, packet_make(PACKET_BYTES, 0), 1);
	copies_run_short(NULL, 0, packet_make(PACKET_BYTES, 0), 0);
	copies_run_short(NULL, 1, packet_make(PACKET_BYTES, 0), 1);
}

/* Five buffers make one chain of three; the two that are left over for the next are given back. */
static void
half_a_chain_is_given_back(void **state)
{
	(void)state;
	copies_run_short(bench.clones, 5, chain_make(), 1);
	copies_run_short(NULL, 5, chain_make(), 1);
	copies_run_short(NULL, 2, chain_make(), 0);
}

/* What workers do comes in any order; the ledger balances at every step. */
static void
random_broadcasts_lose_no_buffer(struct rte_mempool *clones)
{
	struct test_random random = test_random_start("broadcasts");

	bench_open("shard-broadcast", clones);
	for (uint32_t i = 0; i < 5000; i++) {
		const weir_worker_id id = (weir_worker_id)test_random_below(&random, N_WORKERS);
		const uint32_t choice = test_random_below(&random, 8);
		struct weir_packet packet;

		if (choice < 2)
			packet_dispatch(choice ? packet_make(PACKET_BYTES, 4) : chain_make());
		packet = packet_take(id);
		if (packet.data) {
			assert_int_equal(packet.meta.shard_index, id);
			assert_int_equal(packet.meta.shard_last, N_WORKERS - 1);
			packet_complete(id, choice & 1
						    ? eal_bench_verdict_tx(0, packet.meta.length)
						    : weir_verdict_drop(WEIR_REASON_HANDLER_DROP));
		}
		weir_harvest(bench.rx_core->dispatcher);
		ledger_read();
		rx_core_flush(bench.rx_core);
		for (struct rte_mbuf *sent; rte_eth_rx_burst(0, 0, &sent, 1) == 1;)
			rte_pktmbuf_free(sent);
	}
	for (weir_worker_id id = 0; id < N_WORKERS; id++)
		while (packet_take(id).data)
			packet_complete(id, weir_verdict_consumed());
	bench_close();
}

static void
random_broadcasts_bring_every_buffer_home(void **state)
{
	(void)state;
	random_broadcasts_lose_no_buffer(bench.clones);
	random_broadcasts_lose_no_buffer(NULL);
}

static int
group_setup(void **state)
{
	(void)state;
	if (eal_bench_start("net_ring0") < 0)
		return -1;
	bench.mbufs = rte_pktmbuf_pool_create(
		"mbufs", MBUFS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	bench.clones = rte_pktmbuf_pool_create("clones", CLONES, 0, 0, 0, SOCKET_ID_ANY);
	bench.rx_core = aligned_alloc(CACHE_LINE_BYTES, sizeof(*bench.rx_core));
	return bench.mbufs && bench.clones && bench.rx_core ? eal_bench_port_start(512, bench.mbufs)
							    : -1;
}

static int
group_teardown(void **state)
{
	(void)state;
	free(bench.rx_core);
	rte_mempool_free(bench.clones);
	return eal_bench_stop(bench.mbufs);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(readers_get_the_same_bytes_and_the_buffer_comes_home_once),
		cmocka_unit_test(every_reader_can_send_its_own),
		cmocka_unit_test(copy_that_a_reader_makes_longer_is_refused),
		cmocka_unit_test(copies_can_be_cut_each_by_itself),
		cmocka_unit_test(writers_do_not_see_what_others_write),
		cmocka_unit_test(a19_what_the_port_said_of_a_packet_is_said_of_each_copy),
		cmocka_unit_test(clones_of_a_chain_can_be_walked),
		cmocka_unit_test(copies_of_a_chain_can_be_walked_and_written),
		cmocka_unit_test(packet_that_fills_its_buffer_is_copied_into_one),
		cmocka_unit_test(copies_that_cannot_be_made_are_no_mbuf),
		cmocka_unit_test(half_a_chain_is_given_back),
		cmocka_unit_test(random_broadcasts_bring_every_buffer_home),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
