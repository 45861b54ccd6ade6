/* SPDX-License-Identifier: BSD-3-Clause */
#include "control_path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int
control_path_make(char folder[CONTROL_PATH_BYTES], char path[CONTROL_PATH_BYTES],
	enum control_place place, const char *prefix)
{
	const char *parent = place == CONTROL_PLACE_SYSTEM ? "/run" : getenv("XDG_RUNTIME_DIR");

	/* A relative one is no place: it would be another in each folder. */
	if (!parent || parent[0] != '/')
		return -ENOENT;
	if ((size_t)snprintf(folder, CONTROL_PATH_BYTES, "%s/weir", parent) >= CONTROL_PATH_BYTES ||
		(size_t)snprintf(path, CONTROL_PATH_BYTES, "%s/weir/%s.sock", parent, prefix) >=
			CONTROL_PATH_BYTES)
		return -ENAMETOOLONG;
	return 0;
}
