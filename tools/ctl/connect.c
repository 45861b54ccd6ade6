/* SPDX-License-Identifier: BSD-3-Clause */
#include "connect.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

int
connect_path(const char *path, int timeout_s)
{
	const struct timeval timeout = { .tv_sec = timeout_s };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd;
	int error;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	/* The time to send is also the time to connect, while others wait to be accepted. */
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)) == 0 &&
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) == 0 &&
		connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	error = errno;
	close(fd);
	return -error;
}

int
connect_prefix(const char *prefix, int timeout_s, char path[CONTROL_PATH_BYTES])
{
	const bool is_root = geteuid() == 0;
	int first_rc = 0;

	snprintf(path, CONTROL_PATH_BYTES, "%s", prefix);
	for (unsigned int i = 0; i < CONTROL_PLACE_COUNT; i++) {
		const enum control_place place = is_root ? i : CONTROL_PLACE_COUNT - 1 - i;
		char folder[CONTROL_PATH_BYTES];
		char here[CONTROL_PATH_BYTES];
		int rc = control_path_make(folder, here, place, prefix);

		if (rc < 0)
			continue;
		rc = connect_path(here, timeout_s);
		/* The first place that says more than that nothing lies there is the one to name.
		 */
		if (rc >= 0 || first_rc == 0 || first_rc == -ENOENT)
			strcpy(path, here);
		if (rc >= 0)
			return rc;
		if (first_rc == 0 || first_rc == -ENOENT)
			first_rc = rc;
	}
	return first_rc != 0 ? first_rc : -ENAMETOOLONG;
}
