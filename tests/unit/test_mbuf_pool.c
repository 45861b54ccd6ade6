/* SPDX-License-Identifier: BSD-3-Clause */
/* The size of the mbuf pool, as a function of options and ports. Without EAL. */
#include "test.h"

#include "mbuf_pool.h"
#include "parsed_options.h"

#define KEPT_PKTS 1000

typedef uint64_t (*pool_size_fn)(const struct options *, const struct ports *, uint32_t);

/* The size for two ports with these options, 100 rx and 50 tx descriptors a queue. */
static uint64_t
size_of_options(pool_size_fn size_of_pool, const struct options *options)
{
	struct ports *ports = calloc(1, sizeof(*ports));
	uint64_t size;

	assert_non_null(ports);
	ports->n = 2;
	for (uint32_t i = 0; i < ports->n; i++) {
		ports->port[i].n_rx_queues = (uint16_t)options->rx_queues;
		ports->port[i].n_tx_queues = (uint16_t)options->rx_cores;
		ports->port[i].n_rx_desc = 100;
		ports->port[i].n_tx_desc = 50;
	}
	size = size_of_pool(options, ports, KEPT_PKTS);
	free(ports);
	return size;
}

static uint64_t
size_by(pool_size_fn size_of_pool, const char *line)
{
	struct parsed p;

	assert_accepted(&p, line);
	return size_of_options(size_of_pool, &p.options);
}

static uint64_t
size_of(const char *line)
{
	return size_by(mbuf_pool_size, line);
}

static void
the_pool_holds_descriptors_lanes_bursts_holds_and_caches(void **state)
{
	const uint64_t descriptors = 2 * (100 + 50);
	const uint64_t lent = 4 * (2 * 512 + 32);
	const uint64_t cache = 384;

	(void)state;
	assert_int_equal(size_of(""), descriptors + lent + 32 + KEPT_PKTS + cache + cache);
}

static void
each_part_scales_with_what_uses_it(void **state)
{
	const uint64_t base = size_of("");

	(void)state;
	assert_int_equal(size_of("--workers 5") - base, 2 * 512 + 32);
	assert_int_equal(size_of("--lane-size 513") - base, 2 * 4);
	assert_int_equal(size_of("--burst 33") - base, 4 + 1);
	assert_int_equal(size_of("--rx-queues 2") - base, 2 * 100);
	assert_int_equal(
		size_of("--rx-cores 2") - base, 2 * 50 + 4 * (2 * 512 + 32) + 32 + KEPT_PKTS + 384);
}

/* The holds are the caller's to count. */
static void
m12_urgent_lanes_have_their_own_part(void **state)
{
	static const char *const text = "udp => urgent";
	struct weir_rules *rules = weir_rules_create(&text, 1, NULL, 0, NULL);
	struct parsed p;

	(void)state;
	assert_non_null(rules);
	assert_accepted(&p, "--rx-cores 2");
	p.options.rules = rules;
	assert_int_equal(size_of_options(mbuf_pool_size, &p.options) - size_of("--rx-cores 2"),
		2 * 4 * (2 * 512 + 32));
	options_free(&p.options);
}

static void
there_are_clones_for_lanes_bursts_holds_and_what_waits_to_be_sent(void **state)
{
	const uint64_t base = size_by(clone_pool_size, "");

	(void)state;
	assert_int_equal(base, 2 * 50 + 4 * (512 + 32) + KEPT_PKTS + 384 + 384);
	assert_int_equal(size_by(clone_pool_size, "--workers 5") - base, 512 + 32);
	assert_int_equal(size_by(clone_pool_size, "--rx-queues 2") - base, 0);
	assert_int_equal(size_by(clone_pool_size, "--rx-cores 2") - base,
		2 * 50 + 4 * (512 + 32) + KEPT_PKTS + 384);
}

/* Of the second of two ports packets are copied, if `copies`. */
static uint64_t
copied_size(bool copies)
{
	struct ports *ports = calloc(1, sizeof(*ports));
	struct parsed p;
	uint64_t size;

	assert_non_null(ports);
	assert_accepted(&p, "--rx-queues 3 --rx-cores 2");
	ports->n = 2;
	for (uint32_t i = 0; i < ports->n; i++)
		ports->port[i] = (struct port) {
			.n_rx_queues = 3, .n_tx_queues = 2, .n_rx_desc = 100, .n_tx_desc = 50
		};
	ports->port[1].copies = copies;
	size = copied_pool_size(&p.options, ports);
	free(ports);
	return size;
}

/* The driver's rings, 4096 a queue, what is sent by port 1, and what rx cores have in hand. */
static void
what_is_copied_has_room_in_its_ports_queues_alone(void **state)
{
	(void)state;
	assert_int_equal(copied_size(true), 3 * (100 + 4096) + 2 * 50 + 2 * 32 + (2 + 1) * 384);
	assert_int_equal(copied_size(false), 0);
}

static void
the_largest_options_do_not_overflow(void **state)
{
	const uint64_t lent = UINT64_C(14) * 256 * (2 * 65535 + 256);

	(void)state;
	assert_true(size_of("--rx-cores 14 --workers 256 --lane-size 65535 --burst 256") > lent);
	assert_true(lent > 470000000);
}

static void
small_pages_hold_one_buffer_each(void **state)
{
	const uint64_t queue = 1024 * sizeof(void *); /* of 1000 pointers */

	(void)state;
	/* With the mbuf's 128 and the mempool's 64: 2368, 8384 and 448 bytes. */
	assert_int_equal(mbuf_pool_bytes(1000, 2176, 4096), queue + 1000 * 4096);
	assert_int_equal(mbuf_pool_bytes(1000, 8192, 4096), queue + 1000 * 3 * 4096);
	assert_int_equal(mbuf_pool_bytes(1000, 256, 4096), queue + 112 * 4096);
	assert_int_equal(mbuf_pool_bytes(1000, 2176, 2097152), queue + 2 * 2097152);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_pool_holds_descriptors_lanes_bursts_holds_and_caches),
		cmocka_unit_test(each_part_scales_with_what_uses_it),
		cmocka_unit_test(there_are_clones_for_lanes_bursts_holds_and_what_waits_to_be_sent),
		cmocka_unit_test(m12_urgent_lanes_have_their_own_part),
		cmocka_unit_test(what_is_copied_has_room_in_its_ports_queues_alone),
		cmocka_unit_test(the_largest_options_do_not_overflow),
		cmocka_unit_test(small_pages_hold_one_buffer_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
