/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of flow reasons, as users meet them in tables and reports. Cold. */
#include <weir/flow.h>

#include <stddef.h>

static const char *const reason_names[WEIR_FLOW_REASON_COUNT] = {
	[WEIR_FLOW_PORTS] = "ports",
	[WEIR_FLOW_NO_PORTS] = "no_ports",
	[WEIR_FLOW_SPI] = "spi",
	[WEIR_FLOW_FRAGMENT] = "fragment",
	[WEIR_FLOW_TRUNCATED_PORTS] = "truncated_ports",
	[WEIR_FLOW_TRUNCATED_IP] = "truncated_ip",
	[WEIR_FLOW_NOT_IP] = "not_ip",
	[WEIR_FLOW_TRUNCATED_MAC] = "truncated_mac",
	[WEIR_FLOW_NESTING_LIMIT] = "nesting_limit",
	[WEIR_FLOW_TRUNCATED_INNER] = "truncated_inner",
	[WEIR_FLOW_INNER_NOT_IP] = "inner_not_ip",
	[WEIR_FLOW_UNKNOWN_TUNNEL] = "unknown_tunnel",
	[WEIR_FLOW_NIC] = "nic",
};

const char *
weir_flow_reason_name(unsigned int reason)
{
	return reason < WEIR_FLOW_REASON_COUNT ? reason_names[reason] : NULL;
}
