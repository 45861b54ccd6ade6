/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rules that packets pass, as rx cores find them with the pool's policy (weir_refresh): so that
 * the classes that rules give and what is done with them change at one moment. Immutable.
 */
#ifndef WEIR_DATAPLANE_RULE_SET_H
#define WEIR_DATAPLANE_RULE_SET_H

#include <stdint.h>

#include <weir/rule.h>

struct rule_set {
	const struct weir_rules *rules; /* NULL: none */
	uint64_t urgent_classes;	/* a bit for each id */
};

#endif
