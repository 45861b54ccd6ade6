/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An application with supervised workers and one rx core whose part the test plays: no EAL, no
 * ports. Workers are threads, or processes that do nothing and for which the test speaks.
 */
#ifndef WEIR_TESTS_SUPERVISED_H
#define WEIR_TESTS_SUPERVISED_H

#include "app.h"
#include "parsed_options.h"

struct supervised {
	struct app app;
	struct parsed parsed;
	struct rx_core *rx_core;
	uint64_t n_lent;
	uint64_t ended[WEIR_REASON_COUNT + 1]; /* packets that came home; the last: not dropped */
};

/*
 * Makes it by a line of options; with `processes` workers are such. Not started yet. Ends the test
 * if that fails.
 */
struct supervised *supervised_open(const char *options, bool processes);

/* Starts all workers; where they are processes says for each that it is ready. */
void supervised_start(struct supervised *s);

/* Ends all workers, takes back what they have, and frees. The ledger must balance. */
void supervised_close(struct supervised *s);

/* Dispatches `n` packets of one flow each. */
void supervised_lend(struct supervised *s, uint32_t n);

/* One pass of the rx core and one look of the supervisor. */
void supervised_pass(struct supervised *s);

/* Passes until `is_true` holds; fails after a time that only a hang takes. */
#define SUPERVISED_UNTIL(s, is_true)                  \
	for (uint32_t pass = 0; !(is_true); pass++) { \
		assert_true(pass < 20000);            \
		supervised_pass(s);                   \
	}

/* What a process would say of itself. */
void supervised_say_ready(struct supervised *s, weir_worker_id id);

enum weir_slot_phase supervised_phase(const struct supervised *s, weir_worker_id id);

/* Packets that came home and were not dropped. */
uint64_t supervised_completed(const struct supervised *s);

#endif
