/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rx core's loop on a port that loops back (net_ring): what a packet's metadata says when the
 * worker gets it, whose hash it is, and where the mbufs of evicted packets go.
 */
#include "test.h"

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <sched.h>

#include "eal_bench.h"
#include "rx_core.h"
#include "rx_thread.h"

#define POOL_MBUFS 1023
#define PACKET_BYTES 60
#define LANE_SIZE 8
#define RSS_HASH UINT32_C(0x12345678)

/* One rx core, one worker, one port. */
struct loop {
	struct rte_mempool *mbufs;
	struct weir_pool *pool;
	struct rx_core *rx_core;
	struct rx_queue queue;
	struct rule_set rule_set;
	struct rx_thread thread;
};

static struct loop loop;

static void
loop_start(void)
{
	rx_thread_start(&loop.thread, loop.rx_core);
}

/* Everything that was lent is home when the loop ends. */
static void
loop_stop(void)
{
	rx_thread_drain(&loop.thread);
	assert_int_equal(rte_mempool_avail_count(loop.mbufs), POOL_MBUFS);
}

/* A frame without IP, with or without a hash from its port, into the port that loops back. */
static void
packet_inject(uint64_t ol_flags)
{
	struct rte_mbuf *packet = rte_pktmbuf_alloc(loop.mbufs);

	assert_non_null(packet);
	memset(rte_pktmbuf_append(packet, PACKET_BYTES), 0x11, PACKET_BYTES);
	packet->ol_flags |= ol_flags;
	packet->hash.rss = RSS_HASH;
	assert_int_equal(rte_eth_tx_burst(0, 0, &packet, 1), 1);
}

/* What the worker is told of the packet, which it gives back as consumed. */
static struct weir_meta
packet_take(void)
{
	struct weir_worker *worker = weir_pool_worker(loop.pool, 0);
	const struct weir_verdict consumed = weir_verdict_consumed();
	struct weir_packet packet;

	while (weir_take(worker, &packet, 1) == 0)
		sched_yield();
	weir_complete(worker, &consumed, 1);
	return packet.meta;
}

/*
 * One packet through the loop. It is in the ring before the loop's thread starts: ThreadSanitizer
 * cannot see the hand-over that DPDK's ring makes.
 */
static struct weir_meta
packet_pass(bool gives_hash, uint64_t ol_flags)
{
	struct weir_meta meta;

	loop.queue.gives_hash = gives_hash;
	packet_inject(ol_flags);
	loop_start();
	meta = packet_take();
	loop_stop();
	return meta;
}

static void
the_loop_hashes_what_comes_without_a_hash(void **state)
{
	const struct weir_meta meta = packet_pass(true, 0);

	(void)state;
	assert_int_equal(meta.flow_reason, WEIR_FLOW_NOT_IP);
	assert_int_equal(counter_read(&loop.rx_core->tally.flow[WEIR_FLOW_NOT_IP]), 1);
	assert_int_equal(counter_read(&loop.rx_core->tally.flow[WEIR_FLOW_PORTS]), 0);
	assert_int_equal(meta.length, PACKET_BYTES);
	assert_int_equal(meta.segment_length, PACKET_BYTES);
	assert_int_equal(meta.flags, 0);
}

static void
the_ports_hash_is_used_only_where_that_was_asked_for(void **state)
{
	struct weir_meta expected = { 0 };
	struct weir_meta meta;

	(void)state;
	weir_flow_adopt_hash(RSS_HASH, &expected);
	meta = packet_pass(true, RTE_MBUF_F_RX_RSS_HASH);
	assert_int_equal(meta.flow_reason, WEIR_FLOW_NIC);
	assert_true(meta.hash == expected.hash);
	assert_int_equal(meta.bucket, expected.bucket);
	meta = packet_pass(false, RTE_MBUF_F_RX_RSS_HASH);
	assert_int_equal(meta.flow_reason, WEIR_FLOW_NOT_IP);
}

static void
packets_get_the_class_of_the_rule_that_they_match(void **state)
{
	static const char *const texts[] = { "ip6 => drop", "len = 60 => last" };
	struct weir_rules *rules = weir_rules_create(texts, 2, NULL, 0, NULL);
	const struct counter *matched = loop.rx_core->tally.matched;

	(void)state;
	assert_non_null(rules);
	assert_int_equal(packet_pass(false, 0).class_id, 0);
	assert_int_equal(counter_read(&matched[0]), 0);
	loop.rule_set.rules = rules;
	assert_int_equal(packet_pass(false, 0).class_id, 2);
	loop.rule_set.rules = NULL;
	assert_int_equal(counter_read(&matched[0]), 0);
	assert_int_equal(counter_read(&matched[1]), 0);
	assert_int_equal(counter_read(&matched[2]), 1);
	weir_rules_destroy(rules);
}

/* With a symmetric key the two halves of a hash are the same: the buckets must spread anyhow. */
static void
hashes_that_repeat_16_bits_spread_over_the_buckets(void **state)
{
	static bool used[WEIR_BUCKETS];
	uint32_t n_used = 0;

	(void)state;
	for (uint32_t half = 0; half < 65536; half++) {
		struct weir_meta meta = { 0 };

		weir_flow_adopt_hash(half << 16 | half, &meta);
		n_used += !used[meta.bucket];
		used[meta.bucket] = true;
	}
	/* Drawn at random, 65,536 hashes would meet 41,427 of as many buckets. */
	assert_true(n_used >= 41427);
}

static uint64_t
dropped_heads(void)
{
	struct weir_worker_counters counters;

	weir_dispatcher_worker_counters(loop.rx_core->dispatcher, 0, &counters);
	return counters.dropped[WEIR_REASON_OVERFLOW_DROP_HEAD];
}

/* loop_stop finds all mbufs in their pool again. */
static void
m4_mbufs_of_evicted_packets_are_freed_and_the_ledger_balances(void **state)
{
	const uint32_t n_packets = 20;
	struct weir_ledger before = { 0 };
	struct weir_ledger after = { 0 };

	(void)state;
	weir_ledger_add(&before, loop.rx_core->dispatcher);
	for (uint32_t i = 0; i < n_packets; i++)
		packet_inject(0);
	loop_start();
	/* The worker stands still until its lane has overflown. */
	while (dropped_heads() < n_packets - LANE_SIZE)
		sched_yield();
	for (uint32_t i = 0; i < LANE_SIZE; i++)
		packet_take();
	loop_stop();
	weir_ledger_add(&after, loop.rx_core->dispatcher);
	assert_int_equal(weir_ledger_gap(&after), 0);
	assert_int_equal(after.received - before.received, n_packets);
	assert_int_equal(after.completed - before.completed, LANE_SIZE);
	assert_int_equal(
		weir_ledger_dropped(&after) - weir_ledger_dropped(&before), n_packets - LANE_SIZE);
	assert_int_equal(dropped_heads(), n_packets - LANE_SIZE);
}

static uint64_t
loop_max_cycles(void)
{
	return counter_read(&loop.rx_core->tally.loop_max_cycles);
}

/* However long the longest was, it lies between the start and the end of those that ran. */
static void
the_longest_loop_is_kept_until_one_is_longer(void **state)
{
	uint64_t begin;
	uint64_t longest;

	(void)state;
	counter_set(&loop.rx_core->tally.loop_max_cycles, 0);
	begin = rte_rdtsc();
	packet_pass(false, 0);
	longest = loop_max_cycles();
	assert_in_range(longest, 1, rte_rdtsc() - begin);
	counter_set(&loop.rx_core->tally.loop_max_cycles, UINT64_MAX - 1);
	packet_pass(false, 0);
	assert_true(loop_max_cycles() == UINT64_MAX - 1);
}

static int
rx_core_make(void)
{
	struct weir_config config = weir_config_default();

	config.n_workers = 1;
	config.lane_size = LANE_SIZE;
	config.overflow = "drop-head";
	config.tag = &loop.rule_set;
	loop.queue.passes_rules = true;
	loop.pool = weir_pool_create(&config, NULL);
	loop.rx_core = aligned_alloc(CACHE_LINE_BYTES, sizeof(*loop.rx_core));
	if (!loop.pool || !loop.rx_core)
		return -1;
	*loop.rx_core = (struct rx_core) {
		.burst = config.burst,
		.yields = true,
		.tx_allowed = 1,
		.n_queues = 1,
		.queues = &loop.queue,
		.flow = weir_flow_config_default(),
		.mbuf_pool = loop.mbufs,
		.stamp_offset = -1,
		.dispatcher = weir_dispatcher_create(loop.pool, 0, rx_core_finish, loop.rx_core),
	};
	return loop.rx_core->dispatcher ? 0 : -1;
}

static int
setup(void **state)
{
	(void)state;
	if (eal_bench_start("net_ring0") < 0)
		return -1;
	loop.mbufs = rte_pktmbuf_pool_create(
		"test", POOL_MBUFS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (!loop.mbufs || eal_bench_port_start(64, loop.mbufs) < 0)
		return -1;
	return rx_core_make();
}

static int
teardown(void **state)
{
	(void)state;
	weir_dispatcher_destroy(loop.rx_core->dispatcher);
	weir_pool_destroy(loop.pool);
	free(loop.rx_core);
	return eal_bench_stop(loop.mbufs);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_loop_hashes_what_comes_without_a_hash),
		cmocka_unit_test(the_ports_hash_is_used_only_where_that_was_asked_for),
		cmocka_unit_test(packets_get_the_class_of_the_rule_that_they_match),
		cmocka_unit_test(hashes_that_repeat_16_bits_spread_over_the_buckets),
		cmocka_unit_test(the_longest_loop_is_kept_until_one_is_longer),
		cmocka_unit_test(m4_mbufs_of_evicted_packets_are_freed_and_the_ledger_balances),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
