/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What every unit test includes: cmocka with the headers that it wants in front of it, and a seeded
 * source of random numbers. Knows nothing of packets.
 */
#ifndef WEIR_TESTS_TEST_H
#define WEIR_TESTS_TEST_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rng.h"

#define ARRAY_LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* A source of random numbers: the same seed gives the same sequence. */
struct test_random {
	uint64_t seed;
	uint64_t index;
};

/*
 * A source seeded from the kernel, or from WEIR_TEST_SEED where that is set, so that a failure can
 * be repeated. Prints the seed.
 */
struct test_random test_random_start(const char *name);

static inline uint64_t
test_random_next(struct test_random *random)
{
	return rng_at(random->seed, random->index++);
}

/* 0 .. n - 1. */
static inline uint32_t
test_random_below(struct test_random *random, uint32_t n)
{
	return rng_below(test_random_next(random), n);
}

/* from .. to, both included. */
static inline uint32_t
test_random_between(struct test_random *random, uint32_t from, uint32_t to)
{
	return from + test_random_below(random, to - from + 1);
}

/* Fills memory with words of any value, more often small ones: numbers of every length. */
void test_random_words(struct test_random *random, void *memory, size_t n_bytes);

/*
 * Whether `function` aborts, as a failed assertion in the library does. It runs in a child process
 * whose standard error is closed.
 */
bool test_aborts(void (*function)(void *context), void *context);

/* Skips the test where assertions are compiled out of the library. */
void test_needs_assertions(void);

#endif
