/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shard-broadcast: as broadcast, and each worker learns from the metadata which of how many it is,
 * so that they can share out what one packet stands for.
 */
#include "registry.h"

const struct weir_strategy strategy_shard_broadcast = {
	.name = "shard-broadcast",
	.help = "a copy to every worker, which is told that it is number i of n",
	.flags = WEIR_STRATEGY_ALL_TARGETS | WEIR_STRATEGY_SHARDS,
};
