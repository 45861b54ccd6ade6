/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Claim lanes with real threads: dispatchers that overrun their workers evict what these take at
 * the same time. Lanes from one slot up, one dispatcher and two, both depth modes, with metadata
 * and without, both orders. At the end what was received is what came back, what was evicted and
 * nothing else (M4).
 */
#include <stdlib.h>

#include "rng.h"
#include "stress.h"

static const uint32_t lane_sizes[] = { 1, 2, 3, 7, 64, 512 };

#define N_LANE_SIZES (sizeof(lane_sizes) / sizeof(lane_sizes[0]))
#define N_PACKETS 100000
#define N_VARIANTS 4

static struct stress_plan
plan_make(uint32_t lane_size, uint32_t variant)
{
	struct weir_config config = weir_config_default();

	config.n_dispatchers = 1 + (variant & 1);
	config.n_workers = variant & 2 ? 3 : 1;
	config.lane_size = lane_size;
	config.hold_size = 50;
	config.overflow = "drop-head";
	config.depth_mode = variant & 1 ? WEIR_DEPTH_QUEUED : WEIR_DEPTH_OUTSTANDING;
	config.order = variant & 2 ? WEIR_ORDER_FLOW : WEIR_ORDER_NONE;
	config.lend_metadata = variant != 1;
	return (struct stress_plan) {
		.config = config,
		.n_packets = N_PACKETS,
		.n_buckets = 100,
		/* Workers that are late let the lanes run full. */
		.delays = variant & 2,
		.evicted_min = lane_size < 512 ? 1 : 0,
	};
}

int
main(void)
{
	const uint64_t seed = stress_seed("stress_claim");
	uint32_t failures = 0;

	for (uint32_t l = 0; l < N_LANE_SIZES; l++) {
		for (uint32_t variant = 0; variant < N_VARIANTS; variant++) {
			const struct stress_plan plan = plan_make(lane_sizes[l], variant);

			failures += stress_run(&plan, rng_at(seed, N_VARIANTS * l + variant));
		}
	}
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
