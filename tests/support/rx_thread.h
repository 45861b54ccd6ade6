/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread that runs an rx core's loop, for tests of the loop. */
#ifndef WEIR_TESTS_RX_THREAD_H
#define WEIR_TESTS_RX_THREAD_H

#include <pthread.h>

#include "rx_core.h"

struct rx_thread {
	struct rx_core *rx_core;
	pthread_t thread;
};

/* Starts the loop; after rx_thread_end it can start again. */
void rx_thread_start(struct rx_thread *thread, struct rx_core *rx_core);

/* Ends the loop whatever is lent. */
void rx_thread_end(struct rx_thread *thread);

/* Ends the loop once everything that was lent is home. */
void rx_thread_drain(struct rx_thread *thread);

#endif
