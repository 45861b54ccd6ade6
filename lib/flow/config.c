/* SPDX-License-Identifier: BSD-3-Clause */
/* How flows are found unless asked otherwise, and the names of UDP tunnels. Cold. */
#include <weir/flow.h>

static const struct {
	const char *name;
	uint16_t port; /* as registered with IANA */
} tunnels[WEIR_FLOW_TUNNEL_COUNT] = {
	[WEIR_FLOW_VXLAN] = { "vxlan", 4789 },
	[WEIR_FLOW_VXLAN_GPE] = { "vxlan-gpe", 4790 },
	[WEIR_FLOW_GENEVE] = { "geneve", 6081 },
	[WEIR_FLOW_GTPU] = { "gtpu", 2152 },
	[WEIR_FLOW_TEREDO] = { "teredo", 3544 },
};

struct weir_flow_config
weir_flow_config_default(void)
{
	struct weir_flow_config config = {
		.depth = WEIR_FLOW_INNER,
		.nesting_max = WEIR_FLOW_NESTING_DEFAULT,
	};

	for (unsigned int i = 0; i < WEIR_FLOW_TUNNEL_COUNT; i++)
		config.tunnel_port[i] = tunnels[i].port;
	return config;
}

const char *
weir_flow_tunnel_name(unsigned int tunnel)
{
	return tunnel < WEIR_FLOW_TUNNEL_COUNT ? tunnels[tunnel].name : NULL;
}
