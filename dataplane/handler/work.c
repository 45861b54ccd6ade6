/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening and closing of the handlers that do synthetic work. Not for the packet path. */
#include "work.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int
work_open(const struct handler_setup *setup, const char *arguments, void **state, char *error,
	size_t error_bytes)
{
	struct law law;
	struct work *work;
	int ret;

	ret = law_parse(&law, arguments, error, error_bytes);
	if (ret < 0)
		return ret;
	work = calloc(1, sizeof(*work));
	if (work == NULL) {
		snprintf(error, error_bytes, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	work->law = law;
	work->seed = setup->seed;
	pairing_copy(&work->pairing, setup);
	*state = work;
	return 0;
}

int
work_close(void *state, char *error, size_t error_bytes)
{
	(void)error;
	(void)error_bytes;
	free(state);
	return 0;
}
