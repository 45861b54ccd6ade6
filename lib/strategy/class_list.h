/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What strategies remember of each class: the routable workers in some order, as a list that is
 * threaded through arrays, so that every step costs the same however many workers there are. The
 * size is constant: WEIR_CLASSES_MAX lists of WEIR_WORKERS_MAX. Whose head is picked, and where it
 * goes then, is the strategy's business. All of it belongs to one dispatcher: one writer.
 */
#ifndef WEIR_STRATEGY_CLASS_LIST_H
#define WEIR_STRATEGY_CLASS_LIST_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include <weir/strategy.h>

/* Before the head and behind the tail. */
#define CLASS_LIST_END WEIR_WORKERS_MAX
/* Instead of a link: this worker is not in the list. */
#define CLASS_LIST_ABSENT UINT16_MAX

struct class_list {
	uint64_t version; /* of the snapshot whose workers it holds; 0 = never used */
	uint64_t epoch;	  /* that it was begun in */
	uint16_t next[WEIR_WORKERS_MAX + 1];
	uint16_t previous[WEIR_WORKERS_MAX + 1];
};

/* One pick of the last call. */
struct class_pick {
	uint8_t class_id;
	uint8_t worker;
};
static_assert(WEIR_CLASSES_MAX - 1 <= UINT8_MAX, "a class fits a byte");
static_assert(WEIR_WORKERS_MAX - 1 <= UINT8_MAX, "a worker's id fits a byte");

/* Good when zeroed. */
struct class_lists {
	uint64_t version;		     /* of the snapshot that `position` is of; 0 = none */
	uint16_t position[WEIR_WORKERS_MAX]; /* id → position; of routable workers only */
	uint32_t n_picks;		     /* of the last call, those not taken back */
	struct class_pick pick[WEIR_BURST_MAX];
	struct class_list of[WEIR_CLASSES_MAX];
};

static inline bool
class_list_has(const struct class_list *list, uint32_t worker)
{
	return list->next[worker] != CLASS_LIST_ABSENT;
}

static inline uint32_t
class_list_head(const struct class_list *list)
{
	return list->next[CLASS_LIST_END];
}

static inline uint32_t
class_list_tail(const struct class_list *list)
{
	return list->previous[CLASS_LIST_END];
}

/* Between `before` and what follows it. */
static inline void
class_list_link(struct class_list *list, uint32_t worker, uint32_t before)
{
	const uint16_t after = list->next[before];

	list->next[worker] = after;
	list->previous[worker] = (uint16_t)before;
	list->next[before] = (uint16_t)worker;
	list->previous[after] = (uint16_t)worker;
}

/* Takes a worker out that is linked again, or marked absent, at once. */
static inline void
class_list_unlink(struct class_list *list, uint32_t worker)
{
	const uint16_t before = list->previous[worker];
	const uint16_t after = list->next[worker];

	list->next[before] = after;
	list->previous[after] = before;
}

static inline void
class_list_clear(struct class_list *list)
{
	for (uint32_t worker = 0; worker < WEIR_WORKERS_MAX; worker++)
		list->next[worker] = CLASS_LIST_ABSENT;
	list->next[CLASS_LIST_END] = CLASS_LIST_END;
	list->previous[CLASS_LIST_END] = CLASS_LIST_END;
}

/* Whether the list is of this snapshot and of this epoch. */
static inline bool
class_list_is_current(const struct class_list *list, const struct weir_pick_context *ctx)
{
	return list->version == ctx->version && list->epoch == ctx->epoch;
}

/*
 * Makes a list current but for the newcomers, which the strategy adds: afresh in a new epoch, else
 * without those that can't be picked any more. Once per class, snapshot and epoch. Taking picks
 * back leaves it so: those workers did come, or leave.
 */
static inline void
class_list_prune(
	struct class_lists *lists, struct class_list *list, const struct weir_pick_context *ctx)
{
	if (list->version == 0 || list->epoch != ctx->epoch)
		class_list_clear(list);
	for (uint32_t worker = class_list_head(list), next; worker != CLASS_LIST_END;
		worker = next) {
		next = list->next[worker];
		if (lists->position[worker] != WEIR_WORKER_NONE)
			continue;
		class_list_unlink(list, worker);
		list->next[worker] = CLASS_LIST_ABSENT;
	}
	list->version = ctx->version;
	list->epoch = ctx->epoch;
}

/* Begins a call: what it picks can be taken back until the next one. */
static inline void
class_lists_begin(struct class_lists *lists, const struct weir_pick_context *ctx, uint32_t n_picks)
{
	assert(n_picks <= WEIR_BURST_MAX);
	(void)n_picks;
	lists->n_picks = 0;
	if (lists->version == ctx->version)
		return;
	for (uint32_t worker = 0; worker < WEIR_WORKERS_MAX; worker++)
		lists->position[worker] = WEIR_WORKER_NONE;
	for (uint32_t i = 0; i < ctx->n_routable; i++)
		lists->position[ctx->routable[i]] = (uint16_t)i;
	lists->version = ctx->version;
}

/* Notes a pick, and returns the worker's position. */
static inline uint16_t
class_lists_note(struct class_lists *lists, uint32_t class_id, uint32_t worker)
{
	lists->pick[lists->n_picks++] = (struct class_pick) {
		.class_id = (uint8_t)class_id,
		.worker = (uint8_t)worker,
	};
	return lists->position[worker];
}

#endif
