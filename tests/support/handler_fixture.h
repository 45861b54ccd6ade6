/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests of handlers share: a burst of recognisable packets, a folder of their own, and
 * opening, running and closing a handler by its spec. Knows no particular handler.
 */
#ifndef WEIR_TESTS_HANDLER_FIXTURE_H
#define WEIR_TESTS_HANDLER_FIXTURE_H

#include <stdint.h>

#include "handler.h"

#define ERROR_BYTES 512
#define N_PACKETS 8
#define PACKET_BYTES 100

/* Four ports, paired 0-1 and 2-3, of which 2 has gone since; worker 2. */
extern const uint8_t pair_of_four[4];
extern const char *const names_of_four[4];
extern const struct handler_setup setup_of_four;

/* Packets of one segment each, recognisable by their bytes. */
struct fixture {
	uint8_t bytes[N_PACKETS][PACKET_BYTES];
	struct weir_packet packets[N_PACKETS];
	struct weir_verdict verdicts[N_PACKETS];
	char directory[64];
	char path[96]; /* worker 2's file in `directory` */
	char error[ERROR_BYTES];
	void *handler_state;
};

/* cmocka's setup and teardown: `*state` becomes a struct fixture. */
int fixture_create(void **state);
int fixture_destroy(void **state);

/* Opens the handler of `spec` and asserts that it opens. */
const struct handler *fixture_open(struct fixture *f, const char *spec);

/* Closes it and asserts that nothing had failed. */
void fixture_close(struct fixture *f, const struct handler *handler);

/* Opens, processes all packets and closes. */
void fixture_run(struct fixture *f, const char *spec);

void assert_dropped(const struct fixture *f, uint32_t i, uint8_t reason);

#endif
