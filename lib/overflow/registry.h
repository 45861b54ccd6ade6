/* SPDX-License-Identifier: BSD-3-Clause */
/* The overflow policies that are built in: one declaration each, defined in its file. */
#ifndef WEIR_OVERFLOW_REGISTRY_H
#define WEIR_OVERFLOW_REGISTRY_H

#include <weir/overflow.h>

extern const struct weir_overflow_policy overflow_drop_head;
extern const struct weir_overflow_policy overflow_drop_new;
extern const struct weir_overflow_policy overflow_reject;

#endif
