/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text to values: strict and exact. No sign, no blank, no locale, no rounding: what is not wholly
 * a value is refused. Knows no option by name.
 */
#ifndef WEIR_DATAPLANE_OPTION_VALUES_H
#define WEIR_DATAPLANE_OPTION_VALUES_H

#include <stdint.h>

#define OPTION_NS_PER_SECOND UINT64_C(1000000000)
#define OPTION_SECONDS_MAX 31536000 /* a year */

/* Reads a decimal number. Returns 0, or -EINVAL; `number` is then untouched. */
int option_parse_number(const char *text, uint64_t *number);

/* As option_parse_number, or hexadecimal behind 0x. */
int option_parse_number_or_hex(const char *text, uint64_t *number);

/*
 * Reads decimal seconds ("2", "0.5", at most nine decimals) as nanoseconds, exactly. Returns 0, or
 * -EINVAL; `ns` is then untouched.
 */
int option_parse_seconds(const char *text, uint64_t *ns);

/*
 * Takes the next element of a list like "0-3,5" off `*cursor`, which ends at `end`.
 * Returns 1 with first <= last, 0 at the end of the list, -EINVAL if it is malformed. An empty
 * list is malformed.
 */
int option_next_range(const char **cursor, const char *end, uint32_t *first, uint32_t *last);

#endif
