/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Overflow: what happens to a packet whose chosen lane is full. Strategies are blind to it.
 */
#ifndef WEIR_OVERFLOW_H
#define WEIR_OVERFLOW_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/packet.h>

/**
 * A policy. A dispatcher copies these fields when it is created; nothing is called per packet.
 */
struct weir_overflow_policy {
	const char *name; /**< as the user types it */
	const char *help; /**< one line */
	bool refuses;	  /**< true: the packet stays with the caller and the dispatch ends */
	bool evicts;	  /**< true: the lane's oldest queued packet makes room, if there is one */
	uint8_t reason;	  /**< enum weir_reason of the arrival's drop, where the policy drops it */
};

/**
 * Finds a policy by name.
 * @return NULL with errno EINVAL if there is none of that name. Any thread.
 */
WEIR_API const struct weir_overflow_policy *weir_overflow_find(const char *name);

/**
 * The policy at `index`, for lists.
 * @return NULL past the end. Any thread.
 */
WEIR_API const struct weir_overflow_policy *weir_overflow_at(unsigned int index);

#endif
