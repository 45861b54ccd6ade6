/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The DPDK ports: found, configured, started and stopped. Knows options and queues, no packets.
 * Everything here is cold and called by the control thread.
 */
#ifndef WEIR_DATAPLANE_PORT_H
#define WEIR_DATAPLANE_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>

#include "options.h"

struct rte_mempool;

/* Bytes of RSS key kept ready: drivers ask for 40 or 52, and their field for it has 8 bits. */
#define PORT_RSS_KEY_BYTES UINT8_MAX

struct port {
	uint16_t id;
	uint16_t pair; /* id of the port that packets from here are forwarded to; not of outputs */
	uint16_t n_rx_queues;
	uint16_t n_tx_queues; /* one per rx core: rx core i transmits on queue i */
	uint16_t n_rx_desc;   /* of each queue */
	uint16_t n_tx_desc;   /* of each queue; net_ring: what a ring can hold */
	uint32_t frame_bytes; /* the longest frame that its MTU allows, tag and check sequence
				 included; UINT32_MAX: not known */
	int socket_id;	      /* SOCKET_ID_ANY if the device has none */
	bool is_pcap;	      /* its rx stamps are microseconds since the epoch */
	bool gives_hash;      /* its packets come with an RSS hash, and Weir is to use it */
	bool is_exception;    /* where rules that say kernel send packets */
	bool is_output;	      /* that workers steer into: sent to, never polled */
	bool copies; /* its driver takes no buffers that processes share: packets are copied */
	bool is_started;
	const char *driver;
	char name[RTE_ETH_NAME_MAX_LEN];
};

struct ports {
	uint32_t n;	   /* port ids may have gaps; port[] has none */
	uint32_t n_polled; /* the first of them; the exception port is the last of these */
	struct port port[RTE_MAX_ETHPORTS];
	uint8_t exception_id; /* id of the exception port; 0 if there is none */
	int stamp_offset;     /* dynamic mbuf field of arrival times; < 0: no driver has it */
	uint64_t stamp_flag;  /* in ol_flags: the field is set; 0: no driver has it */
	uint8_t rss_key[PORT_RSS_KEY_BYTES]; /* drivers keep pointers to it */
};

/*
 * Finds all ports and configures their queues: options.rx_queues rx queues and a tx queue per rx
 * core. The exception port is paired with none; what comes from it goes to the first port. Outputs
 * are not received from. Returns 0; -EINVAL after a refusal; -errno after a line on stderr. In
 * every case ports_close undoes it. `ports` must stay where it is until then.
 */
int ports_configure(struct ports *ports, const struct options *options);

/*
 * Sets the queues up, on `copied_pool` of ports whose packets are copied, else on `mbuf_pool`, and
 * starts the ports. Returns as ports_configure.
 */
int ports_start(struct ports *ports, const struct options *options, struct rte_mempool *mbuf_pool,
	struct rte_mempool *copied_pool);

/*
 * Waits until every port has link: some seconds at most, or until a signal arrives. Ports that
 * stay down get a note.
 */
void ports_wait_link(const struct ports *ports, const struct options *options);

/* Stops and closes what was started or configured. */
void ports_close(struct ports *ports);

/* Packets that the port lost before Weir saw them: it had no descriptor or no buffer for them. */
uint64_t port_count_missed(const struct port *port);

#endif
