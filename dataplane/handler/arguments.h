/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What handlers share to read their arguments. Errors say what is allowed and what was given, so
 * that they fit behind "allowed". Knows no particular handler.
 */
#ifndef WEIR_DATAPLANE_HANDLER_ARGUMENTS_H
#define WEIR_DATAPLANE_HANDLER_ARGUMENTS_H

#include <errno.h>
#include <stddef.h>
#include <stdio.h>

/* For handlers that take none: 0, or -EINVAL with `error` filled if some were given. */
static inline int
arguments_refuse_any(const char *arguments, char *error, size_t error_bytes)
{
	if (arguments == NULL)
		return 0;
	snprintf(error, error_bytes, "no arguments, not '%s'", arguments);
	return -EINVAL;
}

#endif
