/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets' data in a file that processes can map: where they lie, that no buffer is lost on any way
 * there and back, and how packets come there from a port that has buffers of its own.
 */
#include "test.h"

#include <fcntl.h>
#include <rte_ethdev.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "eal_bench.h"
#include "mbuf_pool.h"
#include "packet_memory.h"
#include "parsed_options.h"
#include "rx_core.h"
#include "rx_thread.h"
#include "stderr_capture.h"

#define SHARED_MBUFS 255
#define PORT_MBUFS 511
#define CLONES 127
#define ROOM_BYTES 2176
#define PACKET_BYTES 60

static struct bench {
	struct ports ports; /* none */
	struct packet_memory memory;
	struct rte_mempool *shared;
	struct rte_mempool *port_mbufs;
	struct rte_mempool *clones;
} bench;

static bool
lies_in_memory(const void *data, size_t n_bytes)
{
	const char *begin = bench.memory.base;

	return (const char *)data >= begin &&
	       (const char *)data + n_bytes <= begin + bench.memory.bytes;
}

static void
assert_all_home(void)
{
	assert_int_equal(rte_mempool_avail_count(bench.shared), SHARED_MBUFS);
	assert_int_equal(rte_mempool_avail_count(bench.port_mbufs), PORT_MBUFS);
	assert_int_equal(rte_mempool_avail_count(bench.clones), CLONES);
}

static void
all_data_lie_in_the_file_and_no_mbuf_does(void **state)
{
	struct rte_mbuf *mbufs[SHARED_MBUFS];

	(void)state;
	for (uint32_t i = 0; i < SHARED_MBUFS; i++) {
		mbufs[i] = rte_pktmbuf_alloc(bench.shared);
		assert_non_null(mbufs[i]);
		assert_int_equal(mbufs[i]->buf_len, ROOM_BYTES);
		assert_true(lies_in_memory(mbufs[i]->buf_addr, mbufs[i]->buf_len));
		assert_false(lies_in_memory(mbufs[i], sizeof(*mbufs[i])));
		memset(mbufs[i]->buf_addr, (int)i, mbufs[i]->buf_len);
	}
	/* No two share a byte. */
	for (uint32_t i = 0; i < SHARED_MBUFS; i++) {
		const uint8_t *bytes = mbufs[i]->buf_addr;

		assert_int_equal(bytes[0], i);
		assert_int_equal(bytes[ROOM_BYTES - 1], i);
	}
	assert_null(rte_pktmbuf_alloc(bench.shared));
	rte_pktmbuf_free_bulk(mbufs, SHARED_MBUFS);
	assert_all_home();
}

static void
who_maps_the_file_sees_and_changes_the_packets(void **state)
{
	struct rte_mbuf *packet = eal_bench_packet(bench.shared, PACKET_BYTES, 7);
	uint8_t *data = rte_pktmbuf_mtod(packet, uint8_t *);
	const ptrdiff_t offset = data - (uint8_t *)bench.memory.base;
	uint8_t *elsewhere = mmap(
		NULL, bench.memory.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bench.memory.fd, 0);

	(void)state;
	assert_ptr_not_equal(elsewhere, MAP_FAILED);
	assert_int_equal(elsewhere[offset], 7);
	elsewhere[offset + PACKET_BYTES - 1] = 9;
	assert_int_equal(data[PACKET_BYTES - 1], 9);
	munmap(elsewhere, bench.memory.bytes);
	rte_pktmbuf_free(packet);
	assert_all_home();
}

static void
nobody_can_take_the_files_pages_away(void **state)
{
	(void)state;
	assert_int_equal(ftruncate(bench.memory.fd, 0), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(ftruncate(bench.memory.fd, (off_t)bench.memory.bytes * 2), -1);
	assert_int_equal(fcntl(bench.memory.fd, F_ADD_SEALS, F_SEAL_WRITE), -1);
	assert_true(fcntl(bench.memory.fd, F_GETFD) & FD_CLOEXEC);
}

/* Many times more than there are buffers: one that leaks each time would be missed. */
static void
clones_and_chains_bring_every_buffer_home(void **state)
{
	struct test_random random = test_random_start("clones");

	(void)state;
	for (uint32_t i = 0; i < 20 * SHARED_MBUFS; i++) {
		struct rte_mbuf *packet = eal_bench_packet(bench.shared, PACKET_BYTES, 1);
		struct rte_mbuf *tail = eal_bench_packet(bench.shared, PACKET_BYTES, 2);
		struct rte_mbuf *all[3];

		assert_int_equal(rte_pktmbuf_chain(packet, tail), 0);
		all[0] = packet;
		for (uint32_t c = 1; c < 3; c++) {
			all[c] = rte_pktmbuf_clone(packet, bench.clones);
			assert_non_null(all[c]);
			assert_true(lies_in_memory(rte_pktmbuf_mtod(all[c], void *), PACKET_BYTES));
		}
		/* Whoever is last gives the data back. */
		for (uint32_t n = 3; n > 0; n--) {
			const uint32_t at = test_random_below(&random, n);

			rte_pktmbuf_free(all[at]);
			all[at] = all[n - 1];
		}
	}
	assert_all_home();
}

static void
memory_is_whole_pages_and_holds_every_buffer(void **state)
{
	(void)state;
	/* 2100 takes 33 cache lines. */
	assert_int_equal(packet_memory_bytes(10, 2100, 4096, true), 6 * 4096);
	assert_int_equal(packet_memory_bytes(10, 2100, 4096, false), 10 * 4096);
	assert_int_equal(packet_memory_bytes(31, 128, 4096, true), 4096);
	assert_int_equal(packet_memory_bytes(33, 128, 4096, false), 2 * 4096);
	/* What 16 bits cannot say is not rounded up. */
	assert_int_equal(packet_memory_bytes(16, UINT16_MAX, 1, true), 16 * UINT16_MAX);
	assert_int_equal(packet_memory_bytes(2, 2176, 1 << 21, false), 1 << 21);
}

static void
rooms_of_any_size_lie_in_the_file(void **state)
{
	const uint32_t rooms[] = { 256, 2176, 9000, UINT16_MAX };

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(rooms); i++) {
		struct packet_memory memory;
		struct rte_mempool *pool;
		struct rte_mbuf *mbufs[31];

		assert_int_equal(packet_memory_open(&memory, 31, rooms[i], &bench.ports), 0);
		pool = packet_memory_pool(&memory, "rooms", 31, 0, rooms[i], SOCKET_ID_ANY);
		assert_non_null(pool);
		assert_int_equal(rte_pktmbuf_alloc_bulk(pool, mbufs, 31), 0);
		for (uint32_t m = 0; m < 31; m++) {
			assert_int_equal(mbufs[m]->buf_len, rooms[i]);
			assert_true((char *)mbufs[m]->buf_addr >= (char *)memory.base);
			assert_true((char *)mbufs[m]->buf_addr + rooms[i] <=
				    (char *)memory.base + memory.bytes);
		}
		rte_pktmbuf_free_bulk(mbufs, 31);
		assert_int_equal(rte_mempool_avail_count(pool), 31);
		rte_mempool_free(pool);
		packet_memory_close(&memory);
		packet_memory_close(&memory); /* a closed one is none */
	}
}

static void
too_much_memory_is_refused_with_the_figure(void **state)
{
	struct stderr_capture capture;
	struct packet_memory memory;
	struct rte_mempool *pool = NULL;
	struct parsed p;
	char text[512];
	char figure[96];
	uint64_t n;
	int rc;

	(void)state;
	assert_accepted(&p, "--worker-mode process --workers 256 --lane-size 65535 "
			    "--mbuf-size 65535 --rx-cores 14");
	stderr_capture_start(&capture);
	rc = mbuf_pool_create(&pool, &memory, &p.options, &bench.ports, 0);
	stderr_capture_end(&capture, text, sizeof(text));
	packet_memory_close(&memory);
	assert_int_equal(rc, -EINVAL);
	assert_null(pool);
	n = mbuf_pool_size(&p.options, &bench.ports, 0);
	snprintf(figure, sizeof(figure), "need %llu buffers of 65535 bytes = %llu MB",
		(unsigned long long)n, (unsigned long long)(n * UINT16_MAX / 1048576 + 1));
	assert_non_null(strstr(text, figure));
	assert_non_null(strstr(text, "smaller --lane-size\n"));
}

/* ---- packets from a port with buffers of its own ---- */

struct loop {
	struct weir_pool *pool;
	struct rx_core *rx_core;
	struct rx_queue queue;
	struct rx_thread thread;
};

static void
loop_open(struct loop *loop)
{
	struct weir_config config = weir_config_default();

	config.n_workers = 1;
	loop->pool = weir_pool_create(&config, NULL);
	loop->rx_core = aligned_alloc(CACHE_LINE_BYTES, sizeof(*loop->rx_core));
	assert_non_null(loop->pool);
	assert_non_null(loop->rx_core);
	loop->queue = (struct rx_queue) { .copies = true };
	*loop->rx_core = (struct rx_core) {
		.burst = config.burst,
		.yields = true,
		.tx_allowed = 1,
		.n_queues = 1,
		.queues = &loop->queue,
		.flow = weir_flow_config_default(),
		.mbuf_pool = bench.shared,
		.stamp_offset = -1,
	};
	loop->rx_core->dispatcher =
		weir_dispatcher_create(loop->pool, 0, rx_core_finish, loop->rx_core);
	assert_non_null(loop->rx_core->dispatcher);
}

static void
loop_close(struct loop *loop)
{
	weir_dispatcher_destroy(loop->rx_core->dispatcher);
	weir_pool_destroy(loop->pool);
	free(loop->rx_core);
	assert_all_home();
}

static void
packet_send(struct rte_mbuf *packet)
{
	assert_int_equal(rte_eth_tx_burst(0, 0, &packet, 1), 1);
}

static struct weir_packet
packet_take(struct loop *loop)
{
	struct weir_worker *worker = weir_pool_worker(loop->pool, 0);
	struct weir_packet packet;

	while (weir_take(worker, &packet, 1) == 0)
		sched_yield();
	return packet;
}

static void
packet_end(struct loop *loop)
{
	const struct weir_verdict consumed = weir_verdict_consumed();

	weir_complete(weir_pool_worker(loop->pool, 0), &consumed, 1);
}

static void
ports_own_buffers_are_copied_into_the_file_on_arrival(void **state)
{
	struct rte_mbuf *chain = eal_bench_packet(bench.port_mbufs, 1500, 3);
	struct weir_packet packet;
	struct loop loop;

	(void)state;
	assert_int_equal(rte_pktmbuf_chain(chain, eal_bench_packet(bench.port_mbufs, 1400, 4)), 0);
	packet_send(eal_bench_packet(bench.port_mbufs, PACKET_BYTES, 0x11));
	packet_send(chain);
	loop_open(&loop);
	rx_thread_start(&loop.thread, loop.rx_core);
	packet = packet_take(&loop);
	assert_true(lies_in_memory(packet.data, PACKET_BYTES));
	assert_int_equal(packet.meta.length, PACKET_BYTES);
	assert_int_equal(packet.data[PACKET_BYTES - 1], 0x11);
	packet_end(&loop);
	packet = packet_take(&loop);
	assert_int_equal(packet.meta.length, 2900);
	assert_true(packet.meta.flags & WEIR_META_CHAIN);
	assert_true(lies_in_memory(packet.data, packet.meta.segment_length));
	assert_int_equal(packet.data[0], 3);
	packet_end(&loop);
	rx_thread_drain(&loop.thread);
	assert_int_equal(counter_read(&loop.rx_core->tally.no_mbuf), 0);
	loop_close(&loop);
}

static void
what_finds_no_buffer_to_be_copied_into_is_no_mbuf(void **state)
{
	struct rte_mbuf *hoard[SHARED_MBUFS - 1];
	struct loop loop;

	(void)state;
	assert_int_equal(rte_pktmbuf_alloc_bulk(bench.shared, hoard, SHARED_MBUFS - 1), 0);
	for (uint8_t i = 0; i < 3; i++)
		packet_send(eal_bench_packet(bench.port_mbufs, PACKET_BYTES, i));
	loop_open(&loop);
	rx_thread_start(&loop.thread, loop.rx_core);
	assert_int_equal(packet_take(&loop).data[0], 0);
	while (counter_read(&loop.rx_core->tally.no_mbuf) < 2)
		sched_yield();
	packet_end(&loop);
	rx_thread_drain(&loop.thread);
	assert_int_equal(counter_read(&loop.rx_core->tally.received), 3);
	assert_int_equal(counter_read(&loop.rx_core->tally.no_mbuf), 2);
	rte_pktmbuf_free_bulk(hoard, SHARED_MBUFS - 1);
	loop_close(&loop);
}

static int
setup(void **state)
{
	(void)state;
	if (eal_bench_start("net_ring0") < 0 ||
		packet_memory_open(&bench.memory, SHARED_MBUFS, ROOM_BYTES, &bench.ports) < 0)
		return -1;
	bench.shared = packet_memory_pool(
		&bench.memory, "shared", SHARED_MBUFS, 0, ROOM_BYTES, SOCKET_ID_ANY);
	bench.port_mbufs = rte_pktmbuf_pool_create(
		"port", PORT_MBUFS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	bench.clones = rte_pktmbuf_pool_create("clones", CLONES, 0, 0, 0, SOCKET_ID_ANY);
	return bench.shared && bench.port_mbufs && bench.clones
		       ? eal_bench_port_start(64, bench.port_mbufs)
		       : -1;
}

static int
teardown(void **state)
{
	(void)state;
	rte_mempool_free(bench.clones);
	rte_mempool_free(bench.shared);
	packet_memory_close(&bench.memory);
	return eal_bench_stop(bench.port_mbufs);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_data_lie_in_the_file_and_no_mbuf_does),
		cmocka_unit_test(who_maps_the_file_sees_and_changes_the_packets),
		cmocka_unit_test(nobody_can_take_the_files_pages_away),
		cmocka_unit_test(clones_and_chains_bring_every_buffer_home),
		cmocka_unit_test(memory_is_whole_pages_and_holds_every_buffer),
		cmocka_unit_test(rooms_of_any_size_lie_in_the_file),
		cmocka_unit_test(too_much_memory_is_refused_with_the_figure),
		cmocka_unit_test(ports_own_buffers_are_copied_into_the_file_on_arrival),
		cmocka_unit_test(what_finds_no_buffer_to_be_copied_into_is_no_mbuf),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
