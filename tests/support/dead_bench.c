/* SPDX-License-Identifier: BSD-3-Clause */
#include "dead_bench.h"

#include <stdlib.h>
#include <unistd.h>

#include <rte_ethdev.h>

#include "eal_bench.h"
#include "test.h"

void
dead_bench_open(struct dead_bench *bench, const char *strategy, uint32_t sample)
{
	struct weir_config config = weir_config_default();

	config.n_workers = DEAD_WORKERS;
	config.lane_size = DEAD_LANE_PKTS;
	config.strategy = strategy;
	bench->pool = weir_pool_create(&config, NULL);
	assert_non_null(bench->pool);
	*bench->rx_core = (struct rx_core) {
		.id = 5,
		.tx_allowed = 1,
		.mbuf_pool = bench->mbufs,
		.dead = sample > 0 ? dead_ring_create(sample) : NULL,
	};
	bench->rx_core->dispatcher =
		weir_dispatcher_create(bench->pool, 0, rx_core_finish, bench->rx_core);
	assert_non_null(bench->rx_core->dispatcher);
}

void
dead_bench_close(struct dead_bench *bench)
{
	for (weir_worker_id id = 0; id < DEAD_WORKERS; id++)
		weir_reclaim(bench->rx_core->dispatcher, id, WEIR_REASON_DRAIN_TIMEOUT,
			WEIR_RECLAIM_GONE);
	rx_core_flush(bench->rx_core);
	for (struct rte_mbuf *sent; rte_eth_rx_burst(0, 0, &sent, 1) == 1;)
		rte_pktmbuf_free(sent);
	assert_int_equal(rte_mempool_avail_count(bench->mbufs), DEAD_MBUFS);
	weir_dispatcher_destroy(bench->rx_core->dispatcher);
	weir_pool_destroy(bench->pool);
	free(bench->rx_core->dead);
}

struct rte_mbuf *
dead_bench_packet(const struct dead_bench *bench, uint16_t bytes, uint8_t fill)
{
	struct rte_mbuf *packet = eal_bench_packet(bench->mbufs, bytes, fill);

	packet->port = 2;
	return packet;
}

void
dead_bench_dispatch_packet(struct dead_bench *bench, struct rte_mbuf *packet)
{
	void *handle = packet;
	void *data = rte_pktmbuf_mtod(packet, void *);
	const struct weir_meta meta = { .length = packet->pkt_len,
		.segment_length = packet->data_len };
	const struct weir_burst burst = {
		.packets = &handle, .data = &data, .meta = &meta, .n = 1
	};

	assert_int_equal(weir_dispatch(bench->rx_core->dispatcher, &burst), 1);
}

void
dead_bench_dispatch(struct dead_bench *bench, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		dead_bench_dispatch_packet(
			bench, dead_bench_packet(bench, DEAD_PACKET_BYTES, (uint8_t)i));
}

int
dead_bench_setup(void **state)
{
	struct dead_bench *bench = calloc(1, sizeof(*bench));
	int fd;

	if (!bench)
		return -1;
	*state = bench;
	strcpy(bench->path, "/tmp/weir-test-dead-XXXXXX");
	fd = mkstemp(bench->path);
	if (fd < 0)
		return -1;
	close(fd);
	if (eal_bench_start("net_ring0") < 0)
		return -1;
	bench->mbufs = rte_pktmbuf_pool_create(
		"mbufs", DEAD_MBUFS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	bench->rx_core = aligned_alloc(CACHE_LINE_BYTES, sizeof(*bench->rx_core));
	return bench->mbufs && bench->rx_core ? eal_bench_port_start(512, bench->mbufs) : -1;
}

int
dead_bench_teardown(void **state)
{
	struct dead_bench *bench = *state;
	struct rte_mempool *mbufs = bench->mbufs;

	free(bench->rx_core);
	unlink(bench->path);
	free(bench);
	return eal_bench_stop(mbufs);
}
