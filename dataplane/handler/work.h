/* SPDX-License-Identifier: BSD-3-Clause */
/* The state that burn and wait share: so much work per packet, then forward. */
#ifndef WEIR_DATAPLANE_HANDLER_WORK_H
#define WEIR_DATAPLANE_HANDLER_WORK_H

#include <stddef.h>
#include <stdint.h>

#include "law.h"
#include "pairing.h"

struct work {
	struct law law;
	uint64_t seed;
	uint64_t n_drawn;
	struct pairing pairing;
};

int work_open(const struct handler_setup *setup, const char *arguments, void **state, char *error,
	size_t error_bytes);
int work_close(void *state, char *error, size_t error_bytes);

/* The work of the next packet. Caller: the worker's thread. */
static inline uint64_t
work_draw(struct work *work)
{
	return law_draw(&work->law, work->seed, work->n_drawn++);
}

#endif
