/* SPDX-License-Identifier: BSD-3-Clause */
/* The DPDK ports, from probing to closing. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <rte_devargs.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>

#include "port.h"
#include "port_roles.h"

#define DESC_WANTED 512

/* Slots of the rings that the driver net_ring makes; it ignores the descriptors it is asked for. */
#define NET_RING_SLOTS 1024

#define RSS_FUNCTIONS (RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_SCTP)

/* NICs may take seconds to negotiate. */
#define LINK_POLL_NS 100000000
#define LINK_POLLS_MAX 90

/*
 * A failure that is nobody's option's fault: one line; returns `rc`, but never -EINVAL, which would
 * say that an option was refused.
 */
static int
port_fail(const struct port *port, const char *what, int rc)
{
	/* Drivers return -1 when they mean no particular errno. */
	fprintf(stderr, "weir: port %u (%s): %s: %s\n", port->id, port->name, what,
		rc == -1 ? "its driver gives no reason" : strerror(-rc));
	return rc == -EINVAL ? -EIO : rc;
}

static void
port_note(const struct port *port, const struct options *options, const char *text)
{
	if (!options->quiet)
		fprintf(stderr, "weir: port %u (%s): %s\n", port->id, port->name, text);
}

/* Refuses the value of a numeric option because of what this port has. */
static int __rte_format_printf(4, 5) port_refuse(
	const struct port *port, const char *option, uint32_t value, const char *format, ...)
{
	char value_text[16];
	char allowed[128];
	va_list arguments;

	snprintf(value_text, sizeof(value_text), "%u", value);
	va_start(arguments, format);
	vsnprintf(allowed, sizeof(allowed), format, arguments);
	va_end(arguments);
	return options_refuse(
		option, value_text, "%s with port %u (%s)", allowed, port->id, port->name);
}

/* ---- finding and configuring ---- */

/*
 * Whether every virtual network device that EAL was told to make has become a port. EAL goes on
 * without those that it could not make, and then the ports that are left have other ids and other
 * pairs. net_vdev_netvsc makes its ports later, and under other names.
 */
static int
vdevs_check(void)
{
	const struct rte_devargs *vdev;
	uint16_t id;

	RTE_EAL_DEVARGS_FOREACH ("vdev", vdev) {
		const bool is_port =
			strncmp(vdev->name, "net_", 4) == 0 || strncmp(vdev->name, "eth_", 4) == 0;

		if (!is_port || strncmp(vdev->name, "net_vdev_netvsc", 15) == 0 ||
			rte_eth_dev_get_port_by_name(vdev->name, &id) == 0)
			continue;
		fprintf(stderr, "weir: --vdev %s: EAL could not make this port, see its messages\n",
			vdev->name);
		return -EINVAL;
	}
	return 0;
}

static int
ports_find(struct ports *ports)
{
	uint16_t id;

	if (vdevs_check() < 0)
		return -EINVAL;
	RTE_ETH_FOREACH_DEV (id) {
		struct port *port = &ports->port[ports->n++];

		*port = (struct port) { .id = id };
		rte_eth_dev_get_name_by_port(id, port->name);
	}
	if (ports->n == 0) {
		fprintf(stderr, "weir: there is no port; give EAL one, for instance "
				"--vdev net_af_packet0,iface=eth0 or --vdev net_null0\n");
		return -EINVAL;
	}
	return 0;
}

/*
 * Whether packets of this driver's must be copied into memory that processes share: its queues are
 * laid over the memory of the pool that it receives into, which so must be EAL's.
 */
static bool
driver_keeps_memory(const char *driver)
{
	return strcmp(driver, "net_af_xdp") == 0;
}

/*
 * Whether the driver shows EAL's memory to another program, by addresses, and nothing else: that
 * one could neither fill nor read packets that lie elsewhere.
 */
static bool
driver_shows_memory(const char *driver)
{
	return strcmp(driver, "net_virtio_user") == 0;
}

/* What the options ask of the port, against what it has. */
static int
port_check(
	const struct port *port, const struct rte_eth_dev_info *info, const struct options *options)
{
	if (!port->is_output && options->rx_queues > info->max_rx_queues)
		return port_refuse(
			port, "--rx-queues", options->rx_queues, "at most %u", info->max_rx_queues);
	if (options->rx_cores > info->max_tx_queues)
		return port_refuse(port, "--rx-cores", options->rx_cores,
			"at most %u, a tx queue each,", info->max_tx_queues);
	if (options->worker_mode != WORKER_MODE_THREAD && driver_shows_memory(info->driver_name))
		return options_refuse("--worker-mode", worker_mode_name(options->worker_mode),
			"thread with port %u (%s): its driver knows EAL's memory only", port->id,
			port->name);
	if (options->mbuf_size < info->min_rx_bufsize + RTE_PKTMBUF_HEADROOM)
		return port_refuse(port, "--mbuf-size", options->mbuf_size, "at least %u",
			info->min_rx_bufsize + RTE_PKTMBUF_HEADROOM);
	return 0;
}

/*
 * Several queues need RSS, with a key that gives both directions of a flow the same hash: every
 * 16-bit word of the key is the same.
 * Source: Woo and Park, "Scalable TCP session monitoring with symmetric receive-side scaling".
 */
static void
rss_choose(struct ports *ports, const struct rte_eth_dev_info *info, struct rte_eth_conf *conf)
{
	for (uint32_t i = 0; i < sizeof(ports->rss_key); i++)
		ports->rss_key[i] = i % 2 == 0 ? 0x6d : 0x5a;
	conf->rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
	conf->rx_adv_conf.rss_conf = (struct rte_eth_rss_conf) {
		.rss_key = ports->rss_key,
		.rss_key_len = info->hash_key_size,
		.rss_hf = info->flow_type_rss_offloads & RSS_FUNCTIONS,
	};
}

static struct rte_eth_conf
conf_choose(struct ports *ports, const struct port *port, const struct rte_eth_dev_info *info,
	const struct options *options)
{
	struct rte_eth_conf conf = { 0 };
	uint16_t mtu;

	conf.rxmode.offloads = info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER;
	/* No fast free: it wants all buffers to be of one pool and nobody else's, and some are
	 * clones. */
	conf.txmode.offloads = info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	/* Without a value, ethdev would set a port that has jumbo frames back to 1500. */
	if (rte_eth_dev_get_mtu(port->id, &mtu) == 0 && mtu > RTE_ETHER_MTU && mtu <= info->max_mtu)
		conf.rxmode.mtu = mtu;
	if (port->gives_hash)
		conf.rxmode.offloads |= RTE_ETH_RX_OFFLOAD_RSS_HASH;
	if (!port->is_output && (options->rx_queues > 1 || port->gives_hash) &&
		info->flow_type_rss_offloads & RSS_FUNCTIONS)
		rss_choose(ports, info, &conf);
	return conf;
}

/* The longest frame that the port sends. */
static uint32_t
port_frame_bytes(const struct port *port)
{
	uint16_t mtu;

	if (rte_eth_dev_get_mtu(port->id, &mtu) < 0)
		return UINT32_MAX;
	return (uint32_t)mtu + RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN + RTE_ETHER_CRC_LEN;
}

static void
port_describe(struct port *port, const struct rte_eth_dev_info *info, const struct options *options)
{
	port->driver = info->driver_name;
	port->is_pcap = strcmp(info->driver_name, "net_pcap") == 0;
	port->copies = options->worker_mode != WORKER_MODE_THREAD &&
		       driver_keeps_memory(info->driver_name);
	port->socket_id = rte_eth_dev_socket_id(port->id);
	port->n_tx_queues = (uint16_t)options->rx_cores;
	port->n_rx_queues = (uint16_t)options->rx_queues;
	/* Nobody polls them, but a driver may insist on queues each way (net_tap: on as many). */
	if (port->is_output)
		port->n_rx_queues = RTE_MIN(port->n_tx_queues, info->max_rx_queues);
	port->n_rx_desc = DESC_WANTED;
	port->n_tx_desc = strcmp(info->driver_name, "net_ring") == 0 ? NET_RING_SLOTS : DESC_WANTED;
}

/* Whether the port can hand over the hash by which it would spread packets. */
static bool
port_can_hash(const struct rte_eth_dev_info *info)
{
	return (info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_RSS_HASH) &&
	       (info->flow_type_rss_offloads & RSS_FUNCTIONS);
}

/* Decides whose hash the port's packets get. Returns 0, or -EINVAL after a refusal. */
static int
port_choose_hash(
	struct port *port, const struct rte_eth_dev_info *info, const struct options *options)
{
	if (options->flow_hash == FLOW_HASH_SOFT || port->is_output)
		return 0;
	port->gives_hash = port_can_hash(info);
	if (port->gives_hash)
		return 0;
	if (options->flow_hash == FLOW_HASH_NIC)
		return options_refuse("--flow-hash", "nic",
			"soft or auto: port %u (%s) gives no RSS hash", port->id, port->name);
	port_note(port, options, "gives no RSS hash: its packets are hashed by Weir");
	return 0;
}

static int
port_configure(struct ports *ports, struct port *port, const struct options *options)
{
	struct rte_eth_dev_info info;
	struct rte_eth_conf conf;
	int rc;

	rc = rte_eth_dev_info_get(port->id, &info);
	if (rc < 0)
		return port_fail(port, "cannot be read", rc);
	rc = port_check(port, &info, options);
	if (rc < 0)
		return rc;
	port_describe(port, &info, options);
	rc = port_choose_hash(port, &info, options);
	if (rc < 0)
		return rc;
	conf = conf_choose(ports, port, &info, options);
	if (!port->is_output && options->rx_queues > 1 && conf.rxmode.mq_mode != RTE_ETH_MQ_RX_RSS)
		port_note(
			port, options, "offers no RSS: its driver spreads packets over the queues");
	rc = rte_eth_dev_configure(port->id, port->n_rx_queues, port->n_tx_queues, &conf);
	if (rc < 0)
		return port_fail(port, "cannot be configured", rc);
	port->frame_bytes = port_frame_bytes(port);
	if (port->copies)
		port_note(port, options,
			"its driver takes no memory that processes share: its packets are copied "
			"on arrival");
	rc = rte_eth_dev_adjust_nb_rx_tx_desc(port->id, &port->n_rx_desc, &port->n_tx_desc);
	return rc < 0 ? port_fail(port, "has no descriptors", rc) : 0;
}

/* Drivers register the field of arrival times when they are probed. */
static void
stamps_find(struct ports *ports)
{
	const int offset = rte_mbuf_dynfield_lookup(RTE_MBUF_DYNFIELD_TIMESTAMP_NAME, NULL);
	const int flag = rte_mbuf_dynflag_lookup(RTE_MBUF_DYNFLAG_RX_TIMESTAMP_NAME, NULL);
	const bool found = offset >= 0 && flag >= 0;

	ports->stamp_offset = found ? offset : -1;
	ports->stamp_flag = found ? RTE_BIT64(flag) : 0;
}

int
ports_configure(struct ports *ports, const struct options *options)
{
	int rc;

	*ports = (struct ports) { .stamp_offset = -1 };
	rc = ports_find(ports);
	if (rc == 0)
		rc = ports_choose_roles(ports, options);
	for (uint32_t i = 0; i < ports->n && rc == 0; i++)
		rc = port_configure(ports, &ports->port[i], options);
	stamps_find(ports);
	return rc;
}

/* ---- starting ---- */

static int
rx_queues_set_up(const struct port *port, const struct options *options,
	const struct rte_eth_dev_info *info, struct rte_mempool *mbuf_pool)
{
	int rc;

	for (uint16_t queue = 0; queue < port->n_rx_queues; queue++) {
		rc = rte_eth_rx_queue_setup(port->id, queue, port->n_rx_desc,
			(unsigned int)port->socket_id, &info->default_rxconf, mbuf_pool);
		if (rc < 0 && options->mbuf_size < RTE_MBUF_DEFAULT_BUF_SIZE)
			return port_refuse(port, "--mbuf-size", options->mbuf_size, "more, %u say,",
				RTE_MBUF_DEFAULT_BUF_SIZE);
		if (rc < 0)
			return port_fail(port, "an rx queue cannot be set up", rc);
	}
	return 0;
}

static int
tx_queues_set_up(const struct port *port, const struct rte_eth_dev_info *info)
{
	int rc;

	for (uint16_t queue = 0; queue < port->n_tx_queues; queue++) {
		rc = rte_eth_tx_queue_setup(port->id, queue, port->n_tx_desc,
			(unsigned int)port->socket_id, &info->default_txconf);
		if (rc < 0)
			return port_fail(port, "a tx queue cannot be set up", rc);
	}
	return 0;
}

static int
port_start(struct port *port, const struct options *options, struct rte_mempool *mbuf_pool)
{
	struct rte_eth_dev_info info;
	int rc;

	rc = rte_eth_dev_info_get(port->id, &info);
	if (rc < 0)
		return port_fail(port, "cannot be read", rc);
	rc = rx_queues_set_up(port, options, &info, mbuf_pool);
	if (rc == 0)
		rc = tx_queues_set_up(port, &info);
	if (rc < 0)
		return rc;
	rc = rte_eth_dev_start(port->id);
	if (rc < 0)
		return port_fail(port, "cannot be started", rc);
	port->is_started = true;
	if (!port->is_output && rte_eth_promiscuous_enable(port->id) < 0)
		port_note(port, options, "has no promiscuous mode: it receives what is sent to it");
	return 0;
}

int
ports_start(struct ports *ports, const struct options *options, struct rte_mempool *mbuf_pool,
	struct rte_mempool *copied_pool)
{
	int rc = 0;

	for (uint32_t i = 0; i < ports->n && rc == 0; i++) {
		struct port *port = &ports->port[i];

		rc = port_start(port, options, port->copies ? copied_pool : mbuf_pool);
	}
	return rc;
}

static bool
port_has_link(const struct port *port)
{
	struct rte_eth_link link = { 0 };

	return rte_eth_link_get_nowait(port->id, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
}

static bool
ports_have_link(const struct ports *ports)
{
	for (uint32_t i = 0; i < ports->n; i++)
		if (!port_has_link(&ports->port[i]))
			return false;
	return true;
}

void
ports_wait_link(const struct ports *ports, const struct options *options)
{
	const struct timespec pause = { .tv_nsec = LINK_POLL_NS };

	for (int i = 0; i < LINK_POLLS_MAX && !ports_have_link(ports); i++)
		if (nanosleep(&pause, NULL) < 0) /* a signal: somebody wants to stop */
			return;
	for (uint32_t i = 0; i < ports->n; i++)
		if (!port_has_link(&ports->port[i]))
			port_note(&ports->port[i], options, "has no link; going on");
}

/* ---- the rest ---- */

void
ports_close(struct ports *ports)
{
	for (uint32_t i = 0; i < ports->n; i++) {
		if (ports->port[i].is_started)
			rte_eth_dev_stop(ports->port[i].id);
		rte_eth_dev_close(ports->port[i].id);
	}
	ports->n = 0;
}

uint64_t
port_count_missed(const struct port *port)
{
	struct rte_eth_stats stats;

	if (rte_eth_stats_get(port->id, &stats) < 0)
		return 0;
	return stats.imissed + stats.rx_nombuf;
}
