/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Order flow with real threads: one dispatcher and two, four workers that are late at random; every
 * strategy, both policies, depth modes and chunks, with and without changes of the pool.
 */
#include <stdlib.h>

#include "rng.h"
#include "stress.h"

#define N_PACKETS 40000
#define PACKETS_PER_CHANGE 400

static struct stress_plan
plan_make(const struct weir_strategy *strategy, uint32_t variant)
{
	const bool changes = variant & 1;
	struct weir_config config = weir_config_default();

	config.strategy = strategy->name;
	config.order = WEIR_ORDER_FLOW;
	config.n_dispatchers = 1 + (variant >> 1 & 1);
	config.n_workers = 4;
	config.lane_size = variant & 1 ? 16 : 64;
	config.hold_size = variant & 2 ? 40 : 400;
	config.overflow = (variant ^ variant >> 1) & 1 ? "drop-new" : "reject";
	config.depth_mode = variant & 2 ? WEIR_DEPTH_QUEUED : WEIR_DEPTH_OUTSTANDING;
	config.chunk = variant == 2 && !(strategy->flags & WEIR_STRATEGY_OWNS_FLOWS) ? 8 : 1;
	return (struct stress_plan) {
		.config = config,
		/* A table takes long to prepare, longest under a sanitizer: fewer changes. */
		.n_packets = changes && strategy->prepare ? N_PACKETS / 4 : N_PACKETS,
		.packets_per_change = changes ? PACKETS_PER_CHANGE : 0,
		.n_buckets = 100,
		.delays = true,
		/* Who keeps a bucket where it is moves it only when the pool changes. */
		.moves_min =
			strategy->flags & WEIR_STRATEGY_READS_DEPTH ? N_PACKETS / 1000 : changes,
	};
}

int
main(void)
{
	const uint64_t seed = stress_seed("stress_order");
	uint32_t failures = 0;

	for (unsigned int i = 0; weir_strategy_at(i); i++) {
		/* Nobody copies packets here. */
		if (weir_strategy_at(i)->flags & WEIR_STRATEGY_ALL_TARGETS)
			continue;
		for (uint32_t variant = 0; variant < 4; variant++) {
			const struct stress_plan plan = plan_make(weir_strategy_at(i), variant);

			failures += stress_run(&plan, rng_at(seed, 4 * i + variant));
		}
	}
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
