/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What each port is for, by the options: those that packets are forwarded between, the exception
 * port, and those that workers steer into (outputs). Decided before any is configured; knows no
 * EAL.
 */
#ifndef WEIR_DATAPLANE_PORT_ROLES_H
#define WEIR_DATAPLANE_PORT_ROLES_H

#include "port.h"

/*
 * Gives every port its role, puts them in the order of struct ports and pairs those that are
 * forwarded between. `ports` has ids and names. Returns 0, or -EINVAL after a refusal. A worker's
 * port that does not exist is not refused here: its handler does that.
 */
int ports_choose_roles(struct ports *ports, const struct options *options);

/* Fills the map that handlers get: port id to the id of its pair. */
void ports_fill_pairs(const struct ports *ports, uint8_t pair[RTE_MAX_ETHPORTS]);

/* Fills the other one: port id to its name, NULL where there is no port. They live in `ports`. */
void ports_fill_names(const struct ports *ports, const char *names[RTE_MAX_ETHPORTS]);

#endif
