/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hold: a FIFO of a dispatcher's for packets that must wait; packets can also be put before all
 * that wait in it. Structure of arrays, so that a run of entries is a burst. Used by its
 * dispatcher's thread only. Knows no clock: whoever takes entries out compares their deadlines with
 * the time.
 */
#ifndef WEIR_OVERFLOW_HOLD_H
#define WEIR_OVERFLOW_HOLD_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/decide.h>

struct hold {
	uint32_t n_slots;  /* power of two */
	uint32_t capacity; /* packets */
	uint32_t head;	   /* packets taken out so far, less those put in before others */
	uint32_t tail;	   /* packets put in so far, behind others */
	uint32_t n_sealed; /* the oldest so many may not be looked at yet */
	void **packets;
	void **data;
	struct weir_meta *metadata;
	weir_worker_id *target; /* who is to get it; WEIR_WORKER_NONE: that is planned again */
	uint64_t *deadline_ns;	/* from when on it is too late; 0 = never */
	bool *wants_room;	/* what it waits for is room; else, a worker */
};

/* Allocates a hold of `capacity` packets, 0 allowed. Returns 0 or -ENOMEM. Control thread. */
int hold_init(struct hold *hold, uint32_t capacity);

/* Frees it; a zeroed one is allowed. */
void hold_fini(struct hold *hold);

static inline uint32_t
hold_count(const struct hold *hold)
{
	return hold->tail - hold->head;
}

/* The array index of the entry that is `i` behind the oldest. */
static inline uint32_t
hold_index(const struct hold *hold, uint32_t i)
{
	return (hold->head + i) & (hold->n_slots - 1);
}

/*
 * Appends the burst's packets in order, all for the same worker and with the same deadline.
 * Returns how many fitted.
 */
uint32_t hold_push(struct hold *hold, const struct weir_burst *burst, weir_worker_id target,
	uint64_t deadline_ns);

/* Puts the burst's only packet before all that are in the hold. Returns false if it is full. */
bool hold_unshift(struct hold *hold, const struct weir_burst *one, weir_worker_id target,
	uint64_t deadline_ns);

/* The entries from number `first` on, 0 the oldest, that lie in one piece, at most `max`: a burst
 * that stays in the hold. */
struct weir_burst hold_run(const struct hold *hold, uint32_t first, uint32_t max);

/* Writes entry number `from` over number `to`. */
void hold_move(struct hold *hold, uint32_t from, uint32_t to);

/* Takes out what lies between the oldest `n` entries and number `next`. */
void hold_close_up(struct hold *hold, uint32_t n, uint32_t next);

/* Takes the newest entries out, all but the oldest `n`; n is at most hold_count(). */
void hold_keep(struct hold *hold, uint32_t n);

/* Takes the oldest `n` entries out; n is at most hold_count(). */
void hold_pop(struct hold *hold, uint32_t n);

#endif
