/* SPDX-License-Identifier: BSD-3-Clause */
#include "file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "child.h"

static int
code_file_check(const char *path, char *reason, size_t n_bytes)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return reason_set(reason, n_bytes, EACCES, "%s", strerror(errno));
	if (!S_ISREG(status.st_mode))
		return reason_set(reason, n_bytes, EACCES, "is no regular file");
	if (status.st_mode & S_IWOTH)
		return reason_set(reason, n_bytes, EACCES,
			"everybody may write it (chmod o-w), and it would run with all rights");
	return 0;
}

int
code_file_find(const char *file, char **path, char *reason, size_t n_bytes)
{
	int rc;

	*path = realpath(file, NULL);
	if (!*path)
		return reason_set(
			reason, n_bytes, errno == ENOMEM ? ENOMEM : EACCES, "%s", strerror(errno));
	rc = code_file_check(*path, reason, n_bytes);
	if (rc < 0) {
		free(*path);
		*path = NULL;
	}
	return rc;
}
