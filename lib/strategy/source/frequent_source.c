/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * XXL-JOB's LEAST_FREQUENTLY_USED: who is new, or was picked more than 1,000,000 times, begins at
 * random in 0 .. n - 1; then the least count is picked. A newcomer, or whoever begins again first,
 * gets everything until it has caught up.
 */
#include <string.h>

#include "state_source.h"

static void
addresses_adopt(struct frequent_source *source, uint32_t key, const weir_worker_id *ids, uint32_t n)
{
	bool listed[WEIR_WORKERS_MAX] = { false };

	for (uint32_t i = 0; i < n; i++) {
		const weir_worker_id id = ids[i];

		if (!source->of[key].known[id] || source->of[key].count[id] > SOURCE_COUNT_MAX)
			source->of[key].count[id] = source->random.below(source->random.context, n);
		listed[id] = true;
	}
	memcpy(source->of[key].known, listed, sizeof(listed));
}

weir_worker_id
frequent_source_pick(struct frequent_source *source, uint32_t key, const weir_worker_id *ids,
	uint32_t n, uint64_t now_ns)
{
	weir_worker_id least = ids[0];

	if (period_passed(&source->period, now_ns))
		memset(source->of, 0, sizeof(source->of));
	addresses_adopt(source, key, ids, n);
	for (uint32_t i = 1; i < n; i++) {
		if (source->of[key].count[ids[i]] < source->of[key].count[least])
			least = ids[i];
	}
	source->of[key].count[least]++;
	return least;
}
