/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * broadcast: every routable worker gets each packet. The dispatcher does it: a strategy that names
 * all workers has nothing to pick.
 */
#include "registry.h"

const struct weir_strategy strategy_broadcast = {
	.name = "broadcast",
	.help = "a copy of each packet to every worker",
	.flags = WEIR_STRATEGY_ALL_TARGETS,
};
