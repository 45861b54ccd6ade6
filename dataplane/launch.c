/* SPDX-License-Identifier: BSD-3-Clause */
#include "launch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_lcore.h>

#include "app.h"
#include "clock.h"
#include "option_handlers.h"
#include "pool_options.h"
#include "port_roles.h"
#include "rng.h"

int
launch_pool(struct app *app)
{
	const struct pool_surroundings surroundings = {
		.divert_port = app->ports.exception_id,
		.tag = &app->rule_set,
		.data_base = app->packet_memory.base,
		.data_bytes = app->packet_memory.bytes,
	};

	app->rule_set = (struct rule_set) {
		.rules = app->options.rules,
		.urgent_classes = pool_options_urgent(&app->options),
	};
	return pool_create_by_options(&app->pool, &app->options, &surroundings);
}

void
unlaunch_pool(struct app *app)
{
	weir_pool_destroy(app->pool);
	app->pool = NULL;
}

int
launch_handler_open(struct app *app, struct worker_thread *thread, weir_worker_id id,
	uint32_t incarnation, char *error, size_t error_bytes)
{
	uint8_t pair[RTE_MAX_ETHPORTS];
	const char *names[RTE_MAX_ETHPORTS];
	const char *spec = options_handler_of(&app->options, id);
	const struct handler_setup setup = {
		.worker = id,
		.incarnation = incarnation,
		.n_ports = RTE_MAX_ETHPORTS,
		.pair = pair,
		.port_names = names,
		.seed = rng_at(app->options.seed, WEIR_DISPATCHERS_MAX + id),
		.tsc_hz = rte_get_tsc_hz(),
	};
	const struct handler *handler = handlers_find(&app->options.handlers_loaded, spec);
	int rc;

	ports_fill_pairs(&app->ports, pair);
	ports_fill_names(&app->ports, names);
	rc = handler->open(
		&setup, handler_arguments(spec), &thread->loop.handler_state, error, error_bytes);
	if (rc < 0)
		return rc;
	thread->loop.handler = handler;
	return 0;
}

uint64_t
launch_beat_cycles(const struct options *options)
{
	return rte_get_tsc_hz() / 1000 * options->heartbeat_msec / 2;
}

/* Counts (queues == NULL) or lists the queues that rx core `id` polls. */
static uint32_t
queues_assign(const struct app *app, const struct topology_spread *spread, uint32_t id,
	struct rx_queue *queues)
{
	uint32_t n = 0;

	for (uint32_t q = 0; q < app->options.rx_queues; q++) {
		for (uint32_t p = 0; p < app->ports.n_polled; p++) {
			const struct port *port = &app->ports.port[p];

			if (topology_rx_core_of(spread, p, q) != id)
				continue;
			if (queues)
				queues[n] = (struct rx_queue) {
					.port = port->id,
					.queue = (uint16_t)q,
					.gives_hash = port->gives_hash,
					.passes_rules = !port->is_exception,
					.copies = port->copies,
					.stamps_us = port->is_pcap && app->ports.stamp_offset >= 0,
				};
			n++;
		}
	}
	return n;
}

static void
clock_init(struct rx_core *rx_core)
{
	rx_core->epoch_ns = clock_read_ns(CLOCK_REALTIME);
	rx_core->epoch_tsc = rte_rdtsc();
	rx_core->ns_per_tsc_32 =
		(uint64_t)(((unsigned __int128)1000000000 << 32) / rte_get_tsc_hz());
}

static uint32_t
tx_allowed(const struct ports *ports)
{
	uint32_t allowed = 0;

	for (uint32_t i = 0; i < ports->n; i++)
		allowed |= UINT32_C(1) << ports->port[i].id;
	return allowed;
}

static void
tx_frame_bytes_fill(struct rx_core *rx_core, const struct ports *ports)
{
	for (uint32_t i = 0; i < ports->n; i++)
		rx_core->tx_frame_bytes[ports->port[i].id] = ports->port[i].frame_bytes;
}

static void
rx_core_fill(struct app *app, struct rx_core *rx_core, uint32_t id)
{
	*rx_core = (struct rx_core) {
		.id = id,
		.lcore = app->topology.rx[id].lcore_id,
		.burst = app->options.burst,
		.yields = app->topology.rx[id].shares_cpu,
		.tx_allowed = tx_allowed(&app->ports),
		.tx_queue = (uint16_t)id,
		.flow = app->options.flow,
		.mbuf_pool = app->mbuf_pool,
		.clone_pool = app->clone_pool,
		.stamp_offset = app->ports.stamp_offset,
		.stamp_flag = app->ports.stamp_flag,
		.packets_max = app->options.packets,
		.n_rx_cores = app->options.rx_cores,
		.rx_cores = app->rx_cores,
	};
	tx_frame_bytes_fill(rx_core, &app->ports);
	clock_init(rx_core);
}

static int
dead_init(struct app *app, struct rx_core *rx_core)
{
	if (!app->options.dead_packets)
		return 0;
	rx_core->dead = dead_ring_create(RTE_MAX(app->options.dead_sample, 1u));
	return rx_core->dead ? 0 : -ENOMEM;
}

/* Returns 0 or -ENOMEM. */
static int
dispatchers_create(struct app *app, struct rx_core *rx_core)
{
	rx_core->dispatcher =
		weir_dispatcher_create(app->pool, rx_core->id, rx_core_finish, rx_core);
	if (!rx_core->dispatcher)
		return -ENOMEM;
	if (weir_pool_fans_out(app->pool))
		weir_copy_set(rx_core->dispatcher, rx_core_copy);
	if (app->rule_set.urgent_classes == 0)
		return 0;
	rx_core->urgent = weir_dispatcher_create(
		app->pool, app->options.rx_cores + rx_core->id, rx_core_finish, rx_core);
	if (!rx_core->urgent)
		return -ENOMEM;
	if (weir_pool_fans_out(app->pool))
		weir_copy_set(rx_core->urgent, rx_core_copy);
	return 0;
}

static int
rx_core_create(struct app *app, const struct topology_spread *spread, uint32_t id)
{
	struct rx_core *rx_core = aligned_alloc(CACHE_LINE_BYTES, sizeof(*rx_core));

	if (!rx_core)
		return -ENOMEM;
	rx_core_fill(app, rx_core, id);
	app->rx_cores[id] = rx_core;
	app->n_rx_cores++;
	rx_core->n_queues = queues_assign(app, spread, id, NULL);
	rx_core->queues =
		aligned_alloc(CACHE_LINE_BYTES, rx_core->n_queues * sizeof(*rx_core->queues));
	if (!rx_core->queues || dispatchers_create(app, rx_core) < 0)
		return -ENOMEM;
	if (dead_init(app, rx_core) < 0)
		return -ENOMEM;
	queues_assign(app, spread, id, rx_core->queues);
	return 0;
}

static int
status_init(struct app *app)
{
	const size_t n_queues = (size_t)app->ports.n_polled * app->options.rx_queues;

	app->status.queue = calloc(n_queues, sizeof(struct status_queue));
	app->before.queue = calloc(n_queues, sizeof(struct status_queue));
	return app->status.queue && app->before.queue ? 0 : -ENOMEM;
}

int
launch_rx_cores(struct app *app)
{
	struct topology_spread spread;
	int rc = topology_spread_queues(&spread, &app->options, app->ports.n_polled);

	if (rc == 0)
		rc = status_init(app);
	for (uint32_t i = 0; rc == 0 && i < app->options.rx_cores; i++)
		rc = rx_core_create(app, &spread, i);
	return rc;
}

void
unlaunch_rx_cores(struct app *app)
{
	for (uint32_t i = 0; i < app->n_rx_cores; i++) {
		weir_dispatcher_destroy(app->rx_cores[i]->dispatcher);
		free(app->rx_cores[i]->dead);
		weir_dispatcher_destroy(app->rx_cores[i]->urgent);
		free(app->rx_cores[i]->queues);
		free(app->rx_cores[i]);
		app->rx_cores[i] = NULL;
	}
	app->n_rx_cores = 0;
	free(app->status.queue);
	free(app->before.queue);
	app->status.queue = NULL;
	app->before.queue = NULL;
}

int
launch_loops(struct app *app)
{
	struct status_mbufs mbufs;
	int rc;

	status_collect_mbufs(app, &mbufs);
	app->mbufs_free_at_start = mbufs.free;
	app->start_ns = clock_read_ns(CLOCK_MONOTONIC);
	app->start_cycles = rte_rdtsc();
	rc = supervisor_start(app);
	for (uint32_t i = 0; rc == 0 && i < app->n_rx_cores; i++) {
		rc = rte_eal_remote_launch(rx_loop_run, app->rx_cores[i], app->rx_cores[i]->lcore);
		app->rx_cores[i]->started = rc == 0;
	}
	/* A CPU that was taken away since is no refused option. */
	return rc == -EINVAL ? -EIO : rc;
}
