/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters with one writer and any readers: relaxed loads and stores, never a read-modify-write.
 * A reader sees each counter whole, but several of them not at one instant.
 */
#ifndef WEIR_BASE_COUNTER_H
#define WEIR_BASE_COUNTER_H

#include <stdatomic.h>
#include <stdint.h>

struct counter {
	_Atomic uint64_t value;
};

/* Caller: the only writer. */
static inline void
counter_set(struct counter *counter, uint64_t value)
{
	atomic_store_explicit(&counter->value, value, memory_order_relaxed);
}

/* Any thread. */
static inline uint64_t
counter_read(const struct counter *counter)
{
	return atomic_load_explicit(&counter->value, memory_order_relaxed);
}

/* Caller: the only writer. */
static inline void
counter_add(struct counter *counter, uint64_t n)
{
	counter_set(counter, counter_read(counter) + n);
}

#endif
