/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes of the pool under traffic: a control thread drains, removes and adds workers while
 * dispatchers send; every strategy. Old snapshots are freed meanwhile.
 */
#include <stdlib.h>

#include "rng.h"
#include "stress.h"

#define PACKETS_PER_CHANGE 200

static struct stress_plan
plan_make(const struct weir_strategy *strategy, const char *overflow, uint32_t n_dispatchers)
{
	struct weir_config config = weir_config_default();

	config.n_dispatchers = n_dispatchers;
	config.n_workers = 3;
	config.lane_size = 20;
	config.hold_size = 50;
	config.strategy = strategy->name;
	config.overflow = overflow;
	return (struct stress_plan) {
		.config = config,
		/* A table takes long to prepare, longest under a sanitizer: fewer changes. */
		.n_packets = PACKETS_PER_CHANGE * (strategy->prepare ? 40 : 200),
		.packets_per_change = PACKETS_PER_CHANGE,
	};
}

int
main(void)
{
	const uint64_t seed = stress_seed("stress_snapshot");
	uint32_t failures = 0;

	for (unsigned int i = 0; weir_strategy_at(i); i++) {
		/* Nobody copies packets here. */
		if (weir_strategy_at(i)->flags & WEIR_STRATEGY_ALL_TARGETS)
			continue;
		const struct stress_plan one = plan_make(weir_strategy_at(i), "reject", 1);
		const struct stress_plan two = plan_make(weir_strategy_at(i), "drop-new", 2);

		failures += stress_run(&one, rng_at(seed, 2 * i));
		failures += stress_run(&two, rng_at(seed, 2 * i + 1));
	}
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
