/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets of a class at a worker: counted where an admission or a strategy goes by that. Everything
 * here is for dispatchers that `counts_classes`.
 */
#ifndef WEIR_DECIDE_ADMISSION_H
#define WEIR_DECIDE_ADMISSION_H

#include "dispatch.h"

/* Allocates what may come to be counted. Returns 0 or -ENOMEM. Control thread. */
int class_books_init(struct weir_dispatcher *dispatcher);

/* Counts from here on, or no more, as the policy wants it. */
void class_books_adopt(struct weir_dispatcher *dispatcher);
void class_books_fini(struct weir_dispatcher *dispatcher);

/* Whether the packet is let into the lane of worker `id`: not if later ones are discarded. */
bool class_admits(
	const struct weir_dispatcher *dispatcher, const struct weir_meta *meta, weir_worker_id id);

/* Books a packet that is staged next in the lane to worker `id`, and covers earlier ones. */
void class_book(
	struct weir_dispatcher *dispatcher, const struct weir_meta *meta, weir_worker_id id);

/* Books `n` packets out that were in the lane to `id`, from sequence number `seq` on. */
void class_unbook(struct weir_dispatcher *dispatcher, weir_worker_id id, uint32_t seq, uint32_t n);

/*
 * After pick_burst of a strategy that reads class_depth: takes its own count of its picks back, for
 * from here on a packet counts when it is lent. Remembers the picks of a strategy that claims.
 */
void class_picks_settle(struct weir_dispatcher *dispatcher, const struct weir_strategy *strategy,
	const struct weir_meta *metadata, uint32_t n_picks, const uint16_t *picks);

/* Once the plan is carried out: gives claims back whose packets were not lent. */
void class_claims_settle(struct weir_dispatcher *dispatcher);

#endif
