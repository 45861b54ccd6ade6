/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * port: every packet goes out by one port, unchanged: to a program that reads there. The name is
 * looked up once, in a table; workers know the number only.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "handler.h"
#include "port_name.h"

/* What a refusal shows of the ports that there are. */
#define LIST_BYTES 160

struct port_steering {
	uint8_t id;
};

static int
port_refuse(const struct handler_setup *setup, const char *name, char *error, size_t error_bytes)
{
	char list[LIST_BYTES];

	port_names_list(setup->port_names, setup->n_ports, list, sizeof(list));
	snprintf(error, error_bytes, "port:NAME with a port's name or number: %s, not '%s'", list,
		name);
	return -EINVAL;
}

static int
port_open(const struct handler_setup *setup, const char *arguments, void **state, char *error,
	size_t error_bytes)
{
	const char *name = arguments != NULL ? arguments : "";
	const int id = port_name_find(setup->port_names, setup->n_ports, name);
	struct port_steering *steering;

	/* A verdict names its port in 8 bits. */
	if (id < 0 || id > UINT8_MAX)
		return port_refuse(setup, name, error, error_bytes);
	steering = malloc(sizeof(*steering));
	if (steering == NULL) {
		snprintf(error, error_bytes, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	steering->id = (uint8_t)id;
	*state = steering;
	return 0;
}

static void
port_process(
	void *state, const struct weir_packet *packets, uint32_t n, struct weir_verdict *verdicts)
{
	const struct port_steering *steering = state;

	for (uint32_t i = 0; i < n; i++)
		verdicts[i] = weir_verdict_tx(&packets[i], steering->id);
}

static int
port_close(void *state, char *error, size_t error_bytes)
{
	(void)error;
	(void)error_bytes;
	free(state);
	return 0;
}

const struct handler handler_port = {
	.name = "port",
	.usage = "port:NAME",
	.help = "sends to that port (a TAP, a memif ...), which only sends then: a program reads "
		"there",
	.names_port = true,
	.restartable = true,
	.open = port_open,
	.process = port_process,
	.close = port_close,
};
