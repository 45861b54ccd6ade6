/* SPDX-License-Identifier: BSD-3-Clause */
/* From options to a pool: for `weir` and `weir why` alike. Knows no DPDK. */
#ifndef WEIR_DATAPLANE_POOL_OPTIONS_H
#define WEIR_DATAPLANE_POOL_OPTIONS_H

#include "options.h"

/*
 * Packets that an rx core can hold. Refused ones are the rest of one burst, since it polls no more
 * until they have gone; but under order flow packets also wait here while a worker that has what
 * came before them drains, and polling goes on. What does not fit is dropped.
 */
#define HOLD_SIZE_PKTS 1024

/* How long a packet may wait, microseconds; 0: for ever. */
uint64_t pool_options_hold_timeout(const struct options *options);

/*
 * The classes of the rules that say urgent, a bit for each id; 0: none. If there are any, each rx
 * core has two dispatchers: numbers 0 .. R - 1 and, urgent, R .. 2R - 1.
 */
uint64_t pool_options_urgent(const struct options *options);

/* Dispatchers of each rx core: 1, or 2 if a rule says urgent. */
uint32_t pool_options_dispatchers(const struct options *options);

/* Checks what the pool would refuse. Returns 0, or -EINVAL after a refusal. */
int pool_options_check(const struct options *options);

/* What the options do not say of a pool. */
struct pool_surroundings {
	uint8_t divert_port; /* where rules that say kernel send packets */
	void *tag;	     /* what dispatchers find with it; stays the caller's */
	/* Where packets' data lie that worker processes map. NULL: workers are threads. */
	void *data_base;
	size_t data_bytes;
};

/* Creates the pool of workers. Returns 0, -EINVAL after a refusal, or -ENOMEM after a line. */
int pool_create_by_options(struct weir_pool **pool, const struct options *options,
	const struct pool_surroundings *surroundings);

/*
 * Fills the change that makes a pool do what the options say, but for its tag. `classes` has room
 * for all of the rules, and is part of it, as are the options.
 */
void pool_options_change(const struct options *options, uint8_t divert_port,
	struct weir_class *classes, struct weir_change *change);

/* Refuses what the pool refuses, in the words of the options. Returns -EINVAL. */
int pool_options_refuse(const struct options *options, const struct weir_config_error *error);

#endif
