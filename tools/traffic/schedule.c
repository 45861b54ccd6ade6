/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws without replacement from many flows, in logarithmic time and four bytes a flow. */
#include "schedule.h"

#include <errno.h>
#include <stdlib.h>

#include "rng.h"

/* The lowest bit set: how many flows the sum at this index covers. */
static uint32_t
covered(uint32_t index)
{
	return index & -index;
}

int
schedule_create(struct schedule *schedule, const struct flow *flows, uint32_t n_flows)
{
	*schedule = (struct schedule) { .n_flows = n_flows };
	schedule->sums = calloc((size_t)n_flows + 1, sizeof(*schedule->sums));
	if (schedule->sums == NULL)
		return -ENOMEM;
	for (uint32_t i = 1; i <= n_flows; i++) {
		const uint32_t parent = i + covered(i);

		schedule->sums[i] += flows[i - 1].n_packets;
		schedule->n_left += flows[i - 1].n_packets;
		if (parent <= n_flows)
			schedule->sums[parent] += schedule->sums[i];
	}
	return 0;
}

void
schedule_destroy(struct schedule *schedule)
{
	free(schedule->sums);
	*schedule = (struct schedule) { .sums = NULL };
}

/* The flow, counted from 0, that has the packet `target` when all that are left stand in line. */
static uint32_t
schedule_find(const struct schedule *schedule, uint32_t target)
{
	uint32_t index = 0;

	for (uint32_t step = UINT32_C(1) << (31 - __builtin_clz(schedule->n_flows)); step != 0;
		step >>= 1) {
		if (index + step > schedule->n_flows || schedule->sums[index + step] > target)
			continue;
		index += step;
		target -= schedule->sums[index];
	}
	return index;
}

uint32_t
schedule_next(struct schedule *schedule, uint64_t random)
{
	const uint32_t flow = schedule_find(schedule, rng_below(random, schedule->n_left));

	for (uint32_t i = flow + 1; i <= schedule->n_flows; i += covered(i))
		schedule->sums[i]--;
	schedule->n_left--;
	return flow;
}
