/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A model of the strategies that remember picks by class: plain counts and times of last change,
 * searched through for each pick. Compares a strategy with it while pool, classes, chunk and epoch
 * change at random and picks are taken back.
 */
#ifndef WEIR_TESTS_CLASS_MODEL_H
#define WEIR_TESTS_CLASS_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "test.h"

/*
 * Runs `n_calls` calls of the strategy. `counts_packets`: the fewest packets come first
 * (least-frequent), else the pick that is longest ago alone (least-recent).
 */
void class_model_compare(
	const char *strategy, bool counts_packets, uint32_t n_calls, struct test_random *random);

#endif
