/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * XXL-JOB's LEAST_RECENTLY_USED: new addresses are appended in list order, those that are gone are
 * taken out, the eldest is picked and becomes the youngest.
 */
#include <string.h>

#include "state_source.h"

static bool
list_has(const weir_worker_id *ids, uint32_t n, weir_worker_id id)
{
	for (uint32_t i = 0; i < n; i++) {
		if (ids[i] == id)
			return true;
	}
	return false;
}

/* Takes out first, so that there is room: the order of the two does not show. */
static void
addresses_adopt(struct recent_source *source, uint32_t key, const weir_worker_id *ids, uint32_t n)
{
	weir_worker_id *order = source->of[key].order;
	uint32_t n_kept = 0;

	for (uint32_t i = 0; i < source->of[key].n; i++) {
		if (list_has(ids, n, order[i]))
			order[n_kept++] = order[i];
	}
	for (uint32_t i = 0; i < n; i++) {
		if (!list_has(order, n_kept, ids[i]))
			order[n_kept++] = ids[i];
	}
	source->of[key].n = n_kept;
}

weir_worker_id
recent_source_pick(struct recent_source *source, uint32_t key, const weir_worker_id *ids,
	uint32_t n, uint64_t now_ns)
{
	weir_worker_id *order = source->of[key].order;
	weir_worker_id eldest;

	if (period_passed(&source->period, now_ns))
		memset(source->of, 0, sizeof(source->of));
	addresses_adopt(source, key, ids, n);
	eldest = order[0];
	memmove(order, order + 1, (source->of[key].n - 1) * sizeof(*order));
	order[source->of[key].n - 1] = eldest;
	return eldest;
}
