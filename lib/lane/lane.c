/* SPDX-License-Identifier: BSD-3-Clause */
#include "lane.h"

static uint32_t
power_of_two_at_least(uint32_t value)
{
	uint32_t power = 1;

	while (power < value)
		power <<= 1;
	return power;
}

static size_t
staggered(size_t bytes)
{
	return round_up(bytes, CACHE_LINE_BYTES) + CACHE_LINE_BYTES;
}

struct lane_geometry
lane_geometry_make(uint32_t capacity, bool with_metadata)
{
	const uint32_t n_slots = power_of_two_at_least(capacity);

	return (struct lane_geometry) {
		.n_slots = n_slots,
		.n_verdicts = n_slots,
		.slots_bytes = staggered(n_slots * sizeof(lane_slot)),
		.metadata_bytes = with_metadata ? staggered(n_slots * sizeof(struct weir_meta)) : 0,
		.verdicts_bytes = staggered(n_slots * sizeof(struct weir_verdict)),
		.packets_bytes = staggered(n_slots * sizeof(void *)),
	};
}
