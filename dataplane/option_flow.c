/* SPDX-License-Identifier: BSD-3-Clause */
/* Which UDP port belongs to which tunnel: `vxlan=8472,teredo=0`. */
#include <errno.h>
#include <string.h>

#include "option_flow.h"
#include "option_values.h"

#define PORT_DIGITS_MAX 5

/* The tunnel whose name is text .. end; WEIR_FLOW_TUNNEL_COUNT if there is none. */
static unsigned int
tunnel_find(const char *text, const char *end)
{
	const size_t length = (size_t)(end - text);
	const char *name;
	unsigned int i = 0;

	while ((name = weir_flow_tunnel_name(i)) &&
		(strlen(name) != length || strncmp(name, text, length) != 0))
		i++;
	return i;
}

/* Reads all of text .. end as a port. Returns 0 or -EINVAL. */
static int
port_parse(const char *text, const char *end, uint16_t *port)
{
	char digits[PORT_DIGITS_MAX + 1] = "";
	uint64_t number;

	if (end - text > PORT_DIGITS_MAX)
		return -EINVAL;
	memcpy(digits, text, (size_t)(end - text));
	if (option_parse_number(digits, &number) < 0 || number > UINT16_MAX)
		return -EINVAL;
	*port = (uint16_t)number;
	return 0;
}

int
option_parse_tunnel_ports(const char *list, uint16_t *ports)
{
	uint16_t parsed[WEIR_FLOW_TUNNEL_COUNT];
	const char *end;

	memcpy(parsed, ports, sizeof(parsed));
	do {
		const char *equals = strchrnul(list, '=');
		const unsigned int tunnel = tunnel_find(list, equals);

		end = strchrnul(list, ',');
		if (tunnel == WEIR_FLOW_TUNNEL_COUNT || equals >= end ||
			port_parse(equals + 1, end, &parsed[tunnel]) < 0)
			return -EINVAL;
		list = end + 1;
	} while (*end);
	memcpy(ports, parsed, sizeof(parsed));
	return 0;
}

/* Refuses two tunnels with one port. */
static int
ports_differ(const uint16_t *ports, unsigned int a, unsigned int b)
{
	char value[64];

	if (ports[a] == 0 || ports[a] != ports[b])
		return 0;
	snprintf(value, sizeof(value), "%s=%u,%s=%u", weir_flow_tunnel_name(a), ports[a],
		weir_flow_tunnel_name(b), ports[b]);
	return options_refuse("--flow-ports", value, "a port of its own for each tunnel");
}

int
options_check_tunnel_ports(const struct options *options)
{
	const uint16_t *ports = options->flow.tunnel_port;
	int rc = 0;

	for (unsigned int b = 1; b < WEIR_FLOW_TUNNEL_COUNT; b++)
		for (unsigned int a = 0; rc == 0 && a < b; a++)
			rc = ports_differ(ports, a, b);
	return rc;
}
