/* SPDX-License-Identifier: BSD-3-Clause */
/* What a plugin says of itself in words: they are printed in lines of Weir's. */
#ifndef WEIR_PLUGIN_WORDS_H
#define WEIR_PLUGIN_WORDS_H

#include <stddef.h>

/*
 * A name is of lower case letters, digits and hyphens, a help of one line that is not empty.
 * Returns 0, or -EINVAL with a line in `reason`.
 */
int words_check(const char *name, const char *help, char *reason, size_t n_bytes);

#endif
