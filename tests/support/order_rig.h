/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Vectors of order flow: bursts of stated buckets and the workers that each packet must go to, on
 * dispatcher 0 of a rig. Knows no strategy and no policy.
 */
#ifndef WEIR_TESTS_ORDER_RIG_H
#define WEIR_TESTS_ORDER_RIG_H

#include "rig.h"

/* Stands for a worker: the packet goes into the hold. */
#define HELD WEIR_WORKER_NONE

struct order_step {
	uint16_t bucket;
	weir_worker_id worker;
};

/* As rig_config(), with order flow. */
struct weir_config order_config(const char *strategy, uint32_t n_workers);

/* A rig of that configuration. */
struct rig *order_rig(const char *strategy, uint32_t n_workers, uint32_t max_packets);

/* Dispatches the steps' buckets as one burst and asserts where each packet went. */
void order_assert_goes(struct rig *rig, const struct order_step *steps, uint32_t n);

#define assert_goes(rig, ...)                                               \
	order_assert_goes(rig, (const struct order_step[]) { __VA_ARGS__ }, \
		sizeof((const struct order_step[]) { __VA_ARGS__ }) / sizeof(struct order_step))

/* Dispatches packets of the buckets given. Returns how many were taken over. */
#define dispatch_buckets(rig, ...)                                       \
	rig_dispatch_buckets(rig, 0, (const uint16_t[]) { __VA_ARGS__ }, \
		sizeof((const uint16_t[]) { __VA_ARGS__ }) / sizeof(uint16_t))

/* Worker `id` completes its next `n` packets, which it has, and they are harvested. */
void order_bring_home(struct rig *rig, weir_worker_id id, uint32_t n);

/*
 * Makes every lane of a fresh rig stand where `seq` packets have passed: for numbers that wrap.
 * `seq` is a multiple of twice the slots of a lane.
 */
void order_start_at(struct rig *rig, uint32_t seq);

/*
 * Worker `id` dies: it leaves the pool, and each dispatcher takes back what it had. It must not be
 * added again. Returns packets dropped.
 */
uint32_t order_kill(struct rig *rig, weir_worker_id id);

/* A worker leaves the pool, or comes back and is ready. */
void order_remove(struct rig *rig, weir_worker_id id);
void order_add(struct rig *rig, weir_worker_id id);

/* What dispatcher 0 says. */
uint64_t order_index(const struct rig *rig);
uint64_t order_moves(const struct rig *rig);
uint32_t order_held(const struct rig *rig);

/* Whether packets of the bucket are out, and to whom its pin points, as dispatcher 0 has it. */
bool order_is_out(const struct rig *rig, uint16_t bucket);
weir_worker_id order_pin(const struct rig *rig, uint16_t bucket);

#endif
