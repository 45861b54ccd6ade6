/* SPDX-License-Identifier: BSD-3-Clause */
/* From options to a pool: for `weir` and `weir why` alike. Knows no DPDK. */
#ifndef WEIR_DATAPLANE_POOL_OPTIONS_H
#define WEIR_DATAPLANE_POOL_OPTIONS_H

#include "options.h"

/* An rx core with held packets polls no more: what one burst leaves over is all it ever holds. */
#define HOLD_SIZE_PKTS WEIR_BURST_MAX

/* Creates the pool of workers. Returns 0, -EINVAL after a refusal, or -ENOMEM after a line. */
int pool_create_by_options(struct weir_pool **pool, const struct options *options);

#endif
