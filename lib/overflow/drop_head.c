/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * drop-head: what arrives at a full lane takes the place of the oldest packet that its worker has
 * not taken yet; that one is dropped and charged to the worker. Only where there is none to evict
 * is the arrival dropped. Needs claim lanes.
 */
#include <weir/stats.h>

#include "registry.h"

const struct weir_overflow_policy overflow_drop_head = {
	.name = "drop-head",
	.help = "drop the oldest packet of a full lane to make room",
	.evicts = true,
	.reason = WEIR_REASON_OVERFLOW_DROP_NEW,
};
