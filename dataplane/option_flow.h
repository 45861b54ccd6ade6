/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The value of --flow-ports, `NAME=PORT[,...]`: which UDP port belongs to which tunnel.
 */
#ifndef WEIR_DATAPLANE_OPTION_FLOW_H
#define WEIR_DATAPLANE_OPTION_FLOW_H

#include <stdint.h>

#include "options.h"

/*
 * Reads the list into `ports`, by enum weir_flow_tunnel; those that it does not name stay. Returns
 * 0, or -EINVAL with nothing stored, without a message.
 */
int option_parse_tunnel_ports(const char *list, uint16_t *ports);

/* Checks that no port belongs to two tunnels. Returns 0, or -EINVAL after a refusal. */
int options_check_tunnel_ports(const struct options *options);

#endif
