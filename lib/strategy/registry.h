/* SPDX-License-Identifier: BSD-3-Clause */
/* The strategies that are built in: one declaration each, defined at the end of its file. */
#ifndef WEIR_STRATEGY_REGISTRY_H
#define WEIR_STRATEGY_REGISTRY_H

#include <weir/strategy.h>

extern const struct weir_strategy strategy_broadcast;
extern const struct weir_strategy strategy_busyover;
extern const struct weir_strategy strategy_failover;
extern const struct weir_strategy strategy_first;
extern const struct weir_strategy strategy_last;
extern const struct weir_strategy strategy_least_frequent;
extern const struct weir_strategy strategy_least_recent;
extern const struct weir_strategy strategy_maglev;
extern const struct weir_strategy strategy_p2c;
extern const struct weir_strategy strategy_random;
extern const struct weir_strategy strategy_rendezvous;
extern const struct weir_strategy strategy_ring;
extern const struct weir_strategy strategy_round_robin;
extern const struct weir_strategy strategy_shallowest;
extern const struct weir_strategy strategy_shard_broadcast;

#endif
