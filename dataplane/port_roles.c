/* SPDX-License-Identifier: BSD-3-Clause */
#include "port_roles.h"

#include <errno.h>
#include <string.h>

#include "handler/port_name.h"
#include "option_handlers.h"
#include "topology.h"

/* The index of the port that a name or a number means; ports->n if it is none. */
static uint32_t
port_index(const struct ports *ports, const char *name)
{
	const char *names[RTE_MAX_ETHPORTS];
	uint32_t i = 0;
	int id;

	ports_fill_names(ports, names);
	id = port_name_find(names, RTE_MAX_ETHPORTS, name);
	while (i < ports->n && ports->port[i].id != id)
		i++;
	return i;
}

/* Moves the exception port behind the others. Returns 0, or -EINVAL after a refusal. */
static int
exception_choose(struct ports *ports, const char *name)
{
	const uint32_t index = name ? port_index(ports, name) : 0;
	struct port chosen;

	if (!name)
		return 0;
	if (index == ports->n || ports->n == 1)
		return options_refuse("--exception-port", name,
			"a port of EAL's besides at least one other, by its device's name or its "
			"number: there are %u port(s)",
			ports->n);
	chosen = ports->port[index];
	chosen.is_exception = true;
	memmove(&ports->port[index], &ports->port[index + 1],
		(ports->n - index - 1) * sizeof(chosen));
	ports->port[ports->n - 1] = chosen;
	ports->exception_id = (uint8_t)chosen.id;
	return 0;
}

/* Moves the outputs behind all others, which keep their order. */
static void
outputs_move_back(struct ports *ports)
{
	struct port outputs[RTE_MAX_ETHPORTS];
	uint32_t n_outputs = 0;

	ports->n_polled = 0;
	for (uint32_t i = 0; i < ports->n; i++) {
		if (ports->port[i].is_output)
			outputs[n_outputs++] = ports->port[i];
		else
			ports->port[ports->n_polled++] = ports->port[i];
	}
	memcpy(&ports->port[ports->n_polled], outputs, n_outputs * sizeof(outputs[0]));
}

/* Ports that are forwarded between. */
static uint32_t
forwarded_count(const struct ports *ports)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < ports->n; i++)
		n += !ports->port[i].is_output && !ports->port[i].is_exception;
	return n;
}

/* Marks the port that a worker steers into. Returns 0, or -EINVAL after a refusal. */
static int
output_choose(struct ports *ports, const struct options *options, weir_worker_id worker)
{
	const char *name = options_port_of(options, worker);
	const uint32_t index = name ? port_index(ports, name) : ports->n;

	if (index == ports->n)
		return 0;
	if (ports->port[index].is_exception)
		return options_refuse("--handler", options_handler_of(options, worker),
			"another port than --exception-port, which is received from");
	ports->port[index].is_output = true;
	if (forwarded_count(ports) == 0)
		return options_refuse("--handler", options_handler_of(options, worker),
			"a port besides at least one that packets come from: there are %u port(s), "
			"and workers steer into a port that is not received from",
			ports->n);
	return 0;
}

/* Pairs the ports that are forwarded between. What the exception port sends goes to the first. */
static void
ports_pair(struct ports *ports)
{
	const uint32_t n = forwarded_count(ports);

	for (uint32_t i = 0; i < n; i++)
		ports->port[i].pair = ports->port[topology_pair(i, n)].id;
	for (uint32_t i = n; i < ports->n_polled; i++)
		ports->port[i].pair = ports->port[0].id;
}

int
ports_choose_roles(struct ports *ports, const struct options *options)
{
	int rc = exception_choose(ports, options->exception_port);

	for (uint32_t id = 0; rc == 0 && id < options_workers_max(options); id++)
		rc = output_choose(ports, options, (weir_worker_id)id);
	if (rc < 0)
		return rc;
	outputs_move_back(ports);
	ports_pair(ports);
	return 0;
}

void
ports_fill_pairs(const struct ports *ports, uint8_t pair[RTE_MAX_ETHPORTS])
{
	memset(pair, 0, RTE_MAX_ETHPORTS);
	for (uint32_t i = 0; i < ports->n; i++)
		pair[ports->port[i].id] = (uint8_t)ports->port[i].pair;
}

void
ports_fill_names(const struct ports *ports, const char *names[RTE_MAX_ETHPORTS])
{
	memset(names, 0, RTE_MAX_ETHPORTS * sizeof(names[0]));
	for (uint32_t i = 0; i < ports->n; i++)
		names[ports->port[i].id] = ports->port[i].name;
}
