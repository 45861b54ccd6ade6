/* SPDX-License-Identifier: BSD-3-Clause */
#include "hold.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

int
hold_init(struct hold *hold, uint32_t capacity)
{
	uint32_t n_slots = 1;

	while (n_slots < capacity)
		n_slots <<= 1;
	*hold = (struct hold) {
		.n_slots = n_slots,
		.capacity = capacity,
		.packets = calloc(n_slots, sizeof(void *)),
		.data = calloc(n_slots, sizeof(void *)),
		.metadata = calloc(n_slots, sizeof(struct weir_meta)),
		.target = calloc(n_slots, sizeof(weir_worker_id)),
		.deadline_ns = calloc(n_slots, sizeof(uint64_t)),
		.wants_room = calloc(n_slots, sizeof(bool)),
	};
	if (hold->packets && hold->data && hold->metadata && hold->target && hold->deadline_ns &&
		hold->wants_room)
		return 0;
	hold_fini(hold);
	return -ENOMEM;
}

void
hold_fini(struct hold *hold)
{
	free(hold->packets);
	free(hold->data);
	free(hold->metadata);
	free(hold->target);
	free(hold->deadline_ns);
	free(hold->wants_room);
	*hold = (struct hold) { 0 };
}

/* Writes packet `i` of a burst into the array index. */
static void
entry_write(struct hold *hold, uint32_t index, const struct weir_burst *burst, uint32_t i,
	weir_worker_id target, uint64_t deadline_ns)
{
	hold->packets[index] = burst->packets[i];
	hold->data[index] = burst->data ? burst->data[i] : burst->packets[i];
	hold->metadata[index] = burst->meta[i];
	hold->target[index] = target;
	hold->deadline_ns[index] = deadline_ns;
	hold->wants_room[index] = false;
}

uint32_t
hold_push(struct hold *hold, const struct weir_burst *burst, weir_worker_id target,
	uint64_t deadline_ns)
{
	const uint32_t room = hold->capacity - hold_count(hold);
	const uint32_t n = burst->n < room ? burst->n : room;

	for (uint32_t i = 0; i < n; i++)
		entry_write(hold, (hold->tail + i) & (hold->n_slots - 1), burst, i, target,
			deadline_ns);
	hold->tail += n;
	return n;
}

bool
hold_unshift(struct hold *hold, const struct weir_burst *one, weir_worker_id target,
	uint64_t deadline_ns)
{
	assert(one->n == 1);
	if (hold_count(hold) >= hold->capacity)
		return false;
	hold->head--;
	entry_write(hold, hold_index(hold, 0), one, 0, target, deadline_ns);
	return true;
}

struct weir_burst
hold_run(const struct hold *hold, uint32_t first, uint32_t max)
{
	const uint32_t index = hold_index(hold, first);
	const uint32_t to_end = hold->n_slots - index;
	uint32_t n = hold_count(hold) - first;

	n = n < max ? n : max;
	return (struct weir_burst) {
		.packets = &hold->packets[index],
		.data = &hold->data[index],
		.meta = &hold->metadata[index],
		.n = n < to_end ? n : to_end,
	};
}

void
hold_move(struct hold *hold, uint32_t from, uint32_t to)
{
	const uint32_t source = hold_index(hold, from);
	const uint32_t target = hold_index(hold, to);

	if (source == target)
		return;
	hold->packets[target] = hold->packets[source];
	hold->data[target] = hold->data[source];
	hold->metadata[target] = hold->metadata[source];
	hold->target[target] = hold->target[source];
	hold->deadline_ns[target] = hold->deadline_ns[source];
	hold->wants_room[target] = hold->wants_room[source];
}

void
hold_close_up(struct hold *hold, uint32_t n, uint32_t next)
{
	assert(n <= next && next <= hold_count(hold));
	for (uint32_t i = n; i > 0; i--)
		hold_move(hold, i - 1, next - n + i - 1);
	hold->head += next - n;
}

void
hold_keep(struct hold *hold, uint32_t n)
{
	assert(n <= hold_count(hold));
	hold->tail = hold->head + n;
	if (hold->n_sealed > n)
		hold->n_sealed = n;
}

void
hold_pop(struct hold *hold, uint32_t n)
{
	assert(n <= hold_count(hold));
	hold->head += n;
	hold->n_sealed -= n < hold->n_sealed ? n : hold->n_sealed;
}
