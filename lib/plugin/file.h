/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a file may be loaded as code. */
#ifndef WEIR_PLUGIN_FILE_H
#define WEIR_PLUGIN_FILE_H

#include <stddef.h>

/*
 * The absolute path of a regular file that not everybody may write. A guard against accidents:
 * who may write its folder can still exchange the file.
 * Returns 0, with `path` to be freed; or -EACCES or -ENOMEM with a line in `reason`.
 */
int code_file_find(const char *file, char **path, char *reason, size_t n_bytes);

#endif
