/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rx core's loop with urgent classes (M12) on a port that loops back (net_ring): whose
 * dispatcher a packet goes to, when the port is polled, when a drain is done, and that status sums
 * both. Packets of URGENT_BYTES are urgent.
 */
#include "test.h"

#include <rte_ethdev.h>
#include <sched.h>

#include "app.h"
#include "dispatcher.h"
#include "eal_bench.h"
#include "rx_thread.h"

#define POOL_MBUFS 1023
#define NORMAL_BYTES 60
#define URGENT_BYTES 61
#define LANE_SIZE 4

/* Loops that the rx core must make before it is believed to do something no more. */
#define LOOPS_ENOUGH 20

/* One rx core with two dispatchers, one worker, one port. */
struct bench {
	struct rte_mempool *mbufs;
	struct weir_rules *rules;
	struct app app; /* with the pool, the rx core and what is said of them */
	struct rx_core *rx_core;
	struct rx_queue queue;
	struct rule_set rule_set;
	struct status_queue status_queue;
	struct rx_thread thread;
	uint8_t next_number; /* of the next packet: its first byte */
};

static struct bench bench;

static void
loop_start(void)
{
	rx_thread_start(&bench.thread, bench.rx_core);
}

static void
loops_wait(void)
{
	const uint64_t until = counter_read(&bench.rx_core->tally.loops) + LOOPS_ENOUGH;

	while (counter_read(&bench.rx_core->tally.loops) < until)
		sched_yield();
}

/* Everything that was lent is home when the loop ends. */
static void
loop_stop(void)
{
	rx_thread_drain(&bench.thread);
	assert_int_equal(rte_mempool_avail_count(bench.mbufs), POOL_MBUFS);
}

/*
 * Puts packets of these lengths into the port that loops back, while the loop does not run:
 * ThreadSanitizer cannot see the hand-over that DPDK's ring makes.
 */
static void
packets_inject(const uint16_t *bytes, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct rte_mbuf *packet = rte_pktmbuf_alloc(bench.mbufs);

		assert_non_null(packet);
		memset(rte_pktmbuf_append(packet, bytes[i]), bench.next_number++, bytes[i]);
		assert_int_equal(rte_eth_tx_burst(0, 0, &packet, 1), 1);
	}
}

#define inject(...)                                        \
	packets_inject((const uint16_t[]) { __VA_ARGS__ }, \
		sizeof((const uint16_t[]) { __VA_ARGS__ }) / 2)

static void
received_wait(uint64_t n)
{
	while (counter_read(&bench.rx_core->tally.received) < n)
		sched_yield();
	loops_wait();
}

static uint64_t
received_now(void)
{
	return counter_read(&bench.rx_core->tally.received);
}

/* The worker takes up to `max` packets, consumes them, and tells the first bytes. */
static uint32_t
packets_take(uint8_t *numbers, uint32_t max)
{
	struct weir_worker *worker = weir_pool_worker(bench.app.pool, 0);
	struct weir_packet packets[WEIR_BURST_MAX];
	struct weir_verdict verdicts[WEIR_BURST_MAX];
	const uint32_t n = weir_take(worker, packets, max);

	for (uint32_t i = 0; i < n; i++) {
		numbers[i] = packets[i].data[0];
		verdicts[i] = weir_verdict_consumed();
	}
	weir_complete(worker, verdicts, n);
	return n;
}

/* Asserts that the next take is of packets first + numbers[]. */
static void
assert_taken(uint8_t first, const uint8_t *numbers, uint32_t n)
{
	uint8_t taken[WEIR_BURST_MAX];

	assert_int_equal(packets_take(taken, WEIR_BURST_MAX), n);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(taken[i], (uint8_t)(first + numbers[i]));
}

#define assert_takes(first, ...)                               \
	assert_taken(first, (const uint8_t[]) { __VA_ARGS__ }, \
		sizeof((const uint8_t[]) { __VA_ARGS__ }))

static void
m12_the_urgent_part_of_a_burst_is_taken_first(void **state)
{
	const uint8_t first = bench.next_number;
	const uint64_t before = received_now();

	(void)state;
	inject(NORMAL_BYTES, URGENT_BYTES, NORMAL_BYTES, NORMAL_BYTES, URGENT_BYTES);
	loop_start();
	received_wait(before + 5);
	assert_int_equal(weir_in_lanes(bench.rx_core->urgent), 2);
	assert_int_equal(weir_in_lanes(bench.rx_core->dispatcher), 3);
	assert_takes(first, 1, 4);
	assert_takes(first, 0, 2, 3);
	loop_stop();
	/* Both were told the time of the loop. */
	assert_true(bench.rx_core->urgent->now_ns > 0);
	assert_true(bench.rx_core->urgent->now_ns == bench.rx_core->dispatcher->now_ns);
}

/* What no rule matched is not urgent; nor is anything on a queue without rules. */
static void
m12_packets_without_a_class_are_dispatched_with_the_others(void **state)
{
	const uint8_t first = bench.next_number;
	const uint64_t before = received_now();

	(void)state;
	bench.queue.passes_rules = false;
	inject(URGENT_BYTES, NORMAL_BYTES);
	loop_start();
	received_wait(before + 2);
	assert_int_equal(weir_in_lanes(bench.rx_core->urgent), 0);
	assert_takes(first, 0, 1);
	loop_stop();
	bench.queue.passes_rules = true;
}

/* One more than fits waits in its hold: the port is not polled, whichever dispatcher holds it. */
static void
assert_full_lane_stops_polling(uint16_t full_bytes, uint16_t other_bytes)
{
	const uint8_t first = bench.next_number;
	const uint64_t before = received_now();

	inject(full_bytes, full_bytes, full_bytes, full_bytes, full_bytes, other_bytes);
	loop_start();
	/* They came in one burst: the other one is lent too. Now there is more. */
	received_wait(before + 6);
	assert_int_equal(
		weir_in_lanes(bench.rx_core->urgent) + weir_in_lanes(bench.rx_core->dispatcher), 5);
	rx_thread_end(&bench.thread);
	inject(NORMAL_BYTES, URGENT_BYTES);
	loop_start();
	loops_wait();
	assert_int_equal(received_now(), before + 6);
	if (full_bytes == NORMAL_BYTES)
		assert_takes(first, 5);
	assert_takes(first, 0, 1, 2, 3);
	/* The held one is lent, and polling goes on. */
	received_wait(before + 8);
	for (uint8_t numbers[WEIR_BURST_MAX]; packets_take(numbers, WEIR_BURST_MAX) > 0;)
		;
	loop_stop();
}

static void
m12_a_full_urgent_lane_stops_polling(void **state)
{
	(void)state;
	assert_full_lane_stops_polling(URGENT_BYTES, NORMAL_BYTES);
}

static void
m12_a_full_normal_lane_stops_polling(void **state)
{
	(void)state;
	assert_full_lane_stops_polling(NORMAL_BYTES, URGENT_BYTES);
}

static void
assert_drain_waits_for(uint16_t bytes)
{
	const uint8_t first = bench.next_number;
	const uint64_t before = received_now();

	inject(bytes);
	loop_start();
	received_wait(before + 1);
	mailbox_post(&bench.rx_core->mailbox, LOOP_DRAIN);
	loops_wait();
	assert_int_equal(counter_read(&bench.rx_core->tally.drained), 0);
	assert_takes(first, 0);
	loop_stop();
}

static void
m12_a_drain_waits_for_both_priorities(void **state)
{
	(void)state;
	assert_drain_waits_for(URGENT_BYTES);
	assert_drain_waits_for(NORMAL_BYTES);
}

/* By the worker's and the port's own counts, the ledger holds over both dispatchers. */
static void
m12_the_picture_sums_both_dispatchers(void **state)
{
	const uint64_t before = received_now();
	struct status *status = &bench.app.status;
	struct status_worker *worker = &status->worker[0];
	uint8_t numbers[WEIR_BURST_MAX];
	uint64_t urgent;
	uint64_t lent;

	(void)state;
	status_collect(&bench.app, status);
	urgent = status->urgent;
	lent = worker->lent;
	inject(URGENT_BYTES, NORMAL_BYTES, URGENT_BYTES, NORMAL_BYTES, URGENT_BYTES);
	loop_start();
	received_wait(before + 5);
	status_collect(&bench.app, status);
	assert_int_equal(status->rx[0].in_lanes, 5);
	assert_int_equal(status->ledger.in_lanes, 5);
	assert_int_equal(worker->depth, 5);
	assert_int_equal(worker->lent, lent + 5);
	assert_int_equal(status->urgent, urgent + 3);
	assert_int_equal(status->rx[0].urgent, status->urgent);
	assert_int_equal(worker->urgent, status->urgent);
	while (packets_take(numbers, WEIR_BURST_MAX) > 0)
		;
	loop_stop();
	bench.app.at_rest = true;
	status_collect(&bench.app, status);
	bench.app.at_rest = false;
	assert_int_equal(status->ledger.received, before + 5);
	assert_int_equal(status->ledger.completed, before + 5);
	assert_int_equal(status->ledger.in_lanes, 0);
	assert_true(status->ledger_ok);
}

static int
rx_core_make(void)
{
	struct rx_core *rx_core = aligned_alloc(CACHE_LINE_BYTES, sizeof(*rx_core));
	struct weir_pool *pool = bench.app.pool;

	if (!rx_core)
		return -1;
	*rx_core = (struct rx_core) {
		.burst = 32,
		.yields = true,
		.tx_allowed = 1,
		.n_queues = 1,
		.queues = &bench.queue,
		.flow = weir_flow_config_default(),
		.mbuf_pool = bench.mbufs,
		.stamp_offset = -1,
		.ns_per_tsc_32 = UINT64_C(1) << 32,
		.dispatcher = weir_dispatcher_create(pool, 0, rx_core_finish, rx_core),
		.urgent = weir_dispatcher_create(pool, 1, rx_core_finish, rx_core),
	};
	bench.rx_core = rx_core;
	bench.app.rx_cores[0] = rx_core;
	bench.app.n_rx_cores = 1;
	bench.app.n_workers = 1;
	bench.app.status.queue = &bench.status_queue;
	bench.queue.passes_rules = true;
	return rx_core->dispatcher && rx_core->urgent ? 0 : -1;
}

static int
pool_make(void)
{
	static const char *const text = "len = 61 => urgent";
	struct weir_config config = weir_config_default();

	bench.rules = weir_rules_create(&text, 1, NULL, 0, NULL);
	if (!bench.rules)
		return -1;
	config.n_workers = 1;
	config.n_dispatchers = 2;
	config.n_urgent = 1;
	config.lane_size = LANE_SIZE;
	config.hold_size = 64;
	config.overflow = "reject";
	config.classes = weir_rules_classes(bench.rules);
	config.n_classes = 1;
	bench.rule_set = (struct rule_set) { bench.rules, UINT64_C(1) << 1 };
	config.tag = &bench.rule_set;
	bench.app.pool = weir_pool_create(&config, NULL);
	return bench.app.pool ? 0 : -1;
}

static int
setup(void **state)
{
	(void)state;
	if (eal_bench_start("net_ring0") < 0)
		return -1;
	bench.mbufs = rte_pktmbuf_pool_create(
		"test", POOL_MBUFS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (!bench.mbufs || eal_bench_port_start(64, bench.mbufs) < 0 || pool_make() < 0)
		return -1;
	return rx_core_make();
}

static int
teardown(void **state)
{
	(void)state;
	weir_dispatcher_destroy(bench.rx_core->dispatcher);
	weir_dispatcher_destroy(bench.rx_core->urgent);
	weir_pool_destroy(bench.app.pool);
	weir_rules_destroy(bench.rules);
	free(bench.rx_core);
	return eal_bench_stop(bench.mbufs);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(m12_the_urgent_part_of_a_burst_is_taken_first),
		cmocka_unit_test(m12_packets_without_a_class_are_dispatched_with_the_others),
		cmocka_unit_test(m12_a_full_urgent_lane_stops_polling),
		cmocka_unit_test(m12_a_full_normal_lane_stops_polling),
		cmocka_unit_test(m12_a_drain_waits_for_both_priorities),
		cmocka_unit_test(m12_the_picture_sums_both_dispatchers),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
