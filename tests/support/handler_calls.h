/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests' handlers count of their calls, for a test that finds the symbol in the file. */
#ifndef WEIR_TESTS_HANDLER_CALLS_H
#define WEIR_TESTS_HANDLER_CALLS_H

#include <stdint.h>

/* `handler_calls`: of all states in this process. */
struct handler_calls {
	uint32_t open;
	uint32_t begin;
	uint32_t close;
	uint32_t closed_packets; /* that the state which was closed last had seen */
};

#endif
