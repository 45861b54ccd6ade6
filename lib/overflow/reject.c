/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reject: the first packet that finds its lane full ends the dispatch. It and those behind it stay
 * with the caller, in order and not counted as drops: back-pressure without loss. Going on with
 * the packets behind could let a later packet of the same flow pass once a slot is free.
 */
#include "registry.h"

const struct weir_overflow_policy overflow_reject = {
	.name = "reject",
	.help = "lose nothing: hold what finds no room and stop polling",
	.refuses = true,
};
