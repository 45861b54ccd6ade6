/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts a burst by class. Knows no dispatcher. */
#include <assert.h>

#include <weir/decide.h>

#include "cacheline.h"

static inline bool
class_is_chosen(uint8_t class_id, uint64_t classes)
{
	return class_id < WEIR_CLASSES_MAX && (classes >> class_id & 1);
}

static uint32_t
chosen_count(const struct weir_burst *burst, uint64_t classes)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < burst->n; i++)
		n += class_is_chosen(burst->meta[i].class_id, classes);
	return n;
}

/* The `n` packets from `first` on in the arrays of a split. */
static struct weir_burst
part_of(struct weir_split *split, uint32_t first, uint32_t n)
{
	return (struct weir_burst) {
		.packets = &split->packets[first],
		.data = &split->data[first],
		.meta = &split->meta[first],
		.n = n,
	};
}

void
weir_burst_split(const struct weir_burst *burst, uint64_t classes, struct weir_split *split)
{
	void *const *data = burst->data ? burst->data : burst->packets;
	const uint32_t n_chosen = chosen_count(burst, classes);
	uint32_t chosen = 0;
	uint32_t rest = n_chosen;

	assert(burst->n <= WEIR_BURST_MAX);
	split->chosen = part_of(split, 0, n_chosen);
	split->rest = part_of(split, n_chosen, burst->n - n_chosen);
	/* Most bursts are all of one kind: nothing is copied. */
	if (n_chosen == 0 || n_chosen == burst->n) {
		struct weir_burst *all = n_chosen == 0 ? &split->rest : &split->chosen;

		all->packets = burst->packets;
		all->data = data;
		all->meta = burst->meta;
		return;
	}
	for (uint32_t i = 0; i < burst->n; i++) {
		const uint32_t to =
			class_is_chosen(burst->meta[i].class_id, classes) ? chosen++ : rest++;

		split->packets[to] = burst->packets[i];
		split->data[to] = data[i];
		split->meta[to] = burst->meta[i];
	}
}
