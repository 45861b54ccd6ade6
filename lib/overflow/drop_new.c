/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * drop-new: what arrives at a full lane is dropped and charged to its worker; the lane is left as
 * it is, and the packets behind go on.
 */
#include <weir/stats.h>

#include "registry.h"

const struct weir_overflow_policy overflow_drop_new = {
	.name = "drop-new",
	.help = "drop what arrives at a full lane",
	.reason = WEIR_REASON_OVERFLOW_DROP_NEW,
};
