/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry: a strategy is one row here. */
#include "registry.h"

#include <errno.h>
#include <string.h>

static const struct weir_strategy *const strategies[] = {
	&strategy_shallowest, /* the default comes first */
	&strategy_round_robin,
	&strategy_random,
	&strategy_p2c,
	&strategy_first,
	&strategy_last,
	&strategy_failover,
	&strategy_busyover,
	&strategy_rendezvous,
	&strategy_least_frequent,
	&strategy_least_recent,
	&strategy_ring,
	&strategy_maglev,
	&strategy_broadcast,
	&strategy_shard_broadcast,
};

#define N_STRATEGIES (sizeof(strategies) / sizeof(strategies[0]))

const struct weir_strategy *
weir_strategy_at(unsigned int index)
{
	return index < N_STRATEGIES ? strategies[index] : NULL;
}

const struct weir_strategy *
weir_strategy_find(const char *name)
{
	for (unsigned int i = 0; i < N_STRATEGIES; i++) {
		if (strcmp(strategies[i]->name, name) == 0)
			return strategies[i];
	}
	errno = EINVAL;
	return NULL;
}
