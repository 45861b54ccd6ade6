/* SPDX-License-Identifier: BSD-3-Clause */
#include "eal_bench.h"

#include <stdio.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_ethdev.h>

#include "test.h"

int
eal_bench_start(const char *vdev)
{
	char prefix[48];
	char device[32];
	char *argv[] = { "test", "--no-huge", "-m", "64", "--no-pci", "--no-telemetry",
		"--no-shconf", "--lcores", "0", "--log-level", "error", prefix, "--vdev", device };

	snprintf(prefix, sizeof(prefix), "--file-prefix=weir-test-%d", (int)getpid());
	snprintf(device, sizeof(device), "%s", vdev);
	return rte_eal_init(RTE_DIM(argv), argv) < 0 ? -1 : 0;
}

int
eal_bench_port_start(uint16_t n_descriptors, struct rte_mempool *mbufs)
{
	const struct rte_eth_conf conf = { 0 };

	if (rte_eth_dev_configure(0, 1, 1, &conf) < 0 ||
		rte_eth_rx_queue_setup(0, 0, n_descriptors, 0, NULL, mbufs) < 0 ||
		rte_eth_tx_queue_setup(0, 0, n_descriptors, 0, NULL) < 0)
		return -1;
	return rte_eth_dev_start(0);
}

struct rte_mbuf *
eal_bench_packet(struct rte_mempool *mbufs, uint16_t bytes, uint8_t fill)
{
	struct rte_mbuf *packet = rte_pktmbuf_alloc(mbufs);

	assert_non_null(packet);
	memset(rte_pktmbuf_append(packet, bytes), fill, bytes);
	return packet;
}

int
eal_bench_stop(struct rte_mempool *mbufs)
{
	rte_eth_dev_stop(0);
	rte_eth_dev_close(0);
	rte_mempool_free(mbufs);
	return rte_eal_cleanup();
}
