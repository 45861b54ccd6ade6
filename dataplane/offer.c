/* SPDX-License-Identifier: BSD-3-Clause */
#include "offer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>

#include "app.h"
#include "launch.h"
#include "option_handlers.h"
#include "port_roles.h"
#include "rng.h"
#include "worker/protocol.h"

static_assert(RTE_MAX_ETHPORTS <= WORKER_PORTS_MAX, "an offer names every port");
static_assert(RTE_ETH_NAME_MAX_LEN <= WORKER_PORT_NAME_BYTES, "by its whole name");

int
offer_check(const struct options *options)
{
	for (uint32_t i = 0; i < options->n_handlers; i++)
		if (strlen(options->handlers[i]) >= WORKER_SPEC_BYTES)
			return options_refuse("--handler", options->handlers[i],
				"at most %d bytes with --worker-mode %s", WORKER_SPEC_BYTES - 1,
				worker_mode_name(options->worker_mode));
	return 0;
}

static void
ports_tell(const struct ports *ports, struct worker_offer *offer)
{
	offer->n_ports = RTE_MAX_ETHPORTS;
	ports_fill_pairs(ports, offer->pair);
	for (uint32_t i = 0; i < ports->n; i++)
		snprintf(offer->port_name[ports->port[i].id], WORKER_PORT_NAME_BYTES, "%s",
			ports->port[i].name);
}

static uint32_t
flags_tell(const struct app *app, weir_worker_id id)
{
	uint32_t flags = WORKER_OFFER_BOUND;

	if (app->topology.worker[id].shares_cpu)
		flags |= WORKER_OFFER_YIELDS;
	if (app->worker_user.is_other)
		flags |= WORKER_OFFER_DROPS;
	if (app->options.worker_calls == WORKER_CALLS_FILTERED)
		flags |= WORKER_OFFER_FILTERS;
	return flags;
}

int
offer_send(const struct app *app, weir_worker_id id, int socket_fd)
{
	struct weir_worker_memory memory;
	struct worker_offer offer;
	const int rc = weir_pool_worker_memory(app->pool, id, &memory);

	if (rc < 0)
		return rc;
	worker_offer_init(&offer);
	offer.flags = flags_tell(app, id);
	offer.file_bytes[WORKER_FILE_LANES] = memory.lanes_bytes;
	offer.file_bytes[WORKER_FILE_OWN] = memory.own_bytes;
	offer.file_bytes[WORKER_FILE_DATA] = app->packet_memory.bytes;
	offer.seed = rng_at(app->options.seed, WEIR_DISPATCHERS_MAX + id);
	offer.tsc_hz = rte_get_tsc_hz();
	offer.beat_cycles = launch_beat_cycles(&app->options);
	offer.id = id;
	offer.incarnation = weir_pool_worker_incarnation(app->pool, id);
	offer.burst = app->options.burst;
	offer.cpu = app->topology.worker[id].cpu;
	offer.uid = app->worker_user.uid;
	offer.gid = app->worker_user.gid;
	ports_tell(&app->ports, &offer);
	snprintf(offer.handler, sizeof(offer.handler), "%s", options_handler_of(&app->options, id));
	return worker_offer_send(socket_fd, &offer,
		(const int[WORKER_FILE_COUNT]) {
			[WORKER_FILE_LANES] = memory.lanes_fd,
			[WORKER_FILE_OWN] = memory.own_fd,
			[WORKER_FILE_DATA] = app->packet_memory.fd,
		});
}
