/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * XXL-JOB's ROUND: a counter begins at random in 0 .. 99, and that value is used as it is. Above
 * 1,000,000 it begins again, so that 1,000,001 is the largest that is used.
 */
#include <string.h>

#include "state_source.h"

#define START_BELOW 100

uint32_t
round_source_pick(struct round_source *source, uint32_t key, uint32_t n, uint64_t now_ns)
{
	if (period_passed(&source->period, now_ns))
		memset(source->of, 0, sizeof(source->of));
	if (!source->of[key].known || source->of[key].counter > SOURCE_COUNT_MAX)
		source->of[key].counter = source->random.below(source->random.context, START_BELOW);
	else
		source->of[key].counter++;
	source->of[key].known = true;
	return source->of[key].counter % n;
}
