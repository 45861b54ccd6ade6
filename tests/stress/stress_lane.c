/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lanes and harvest with real threads: one dispatcher with one worker and with several, two with
 * two; lanes from one slot up, both depth modes, both policies.
 */
#include <stdlib.h>

#include "rng.h"
#include "stress.h"

struct topology {
	uint32_t n_dispatchers;
	uint32_t n_workers;
};

static const struct topology topologies[] = { { 1, 1 }, { 1, 3 }, { 2, 2 } };
static const uint32_t lane_sizes[] = { 1, 2, 3, 7, 512 };

#define N_TOPOLOGIES (sizeof(topologies) / sizeof(topologies[0]))
#define N_LANE_SIZES (sizeof(lane_sizes) / sizeof(lane_sizes[0]))

/* Short lanes cost changes of thread, two a packet in a lane of one slot and on one CPU. */
static uint32_t
packets_for(uint32_t lane_size)
{
	return lane_size < 512 ? 10000 + 5000 * lane_size : 200000;
}

static struct stress_plan
plan_make(const struct topology *topology, uint32_t lane_size, uint32_t variant)
{
	struct weir_config config = weir_config_default();

	config.n_dispatchers = topology->n_dispatchers;
	config.n_workers = topology->n_workers;
	config.lane_size = lane_size;
	config.hold_size = 50;
	config.depth_mode = variant & 1 ? WEIR_DEPTH_QUEUED : WEIR_DEPTH_OUTSTANDING;
	config.overflow = variant & 2 ? "drop-new" : "reject";
	config.lend_metadata = !(variant & 2);
	return (struct stress_plan) { .config = config, .n_packets = packets_for(lane_size) };
}

int
main(void)
{
	const uint64_t seed = stress_seed("stress_lane");
	uint32_t failures = 0;
	uint32_t run = 0;

	for (uint32_t t = 0; t < N_TOPOLOGIES; t++) {
		for (uint32_t l = 0; l < N_LANE_SIZES; l++) {
			/* Both depth modes; the policy changes with the lane. */
			for (uint32_t mode = 0; mode < 2; mode++) {
				const struct stress_plan plan = plan_make(
					&topologies[t], lane_sizes[l], mode | (l & 1) << 1);

				failures += stress_run(&plan, rng_at(seed, run++));
			}
		}
	}
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
