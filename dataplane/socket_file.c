/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether who made a socket's file still lives is told by a lock on PATH.lock, which ends with its
 * owner: a look and a removal without it would be two steps, between which another Weir may start.
 */
#include "socket_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* Clients that may wait to be accepted. */
#define BACKLOG 128

/* Times that a lock may vanish while we take it: its owner was just leaving. */
#define LOCK_TRIES 100

#define LOCK_PATH_BYTES (CONTROL_PATH_BYTES + sizeof(".lock"))

int
socket_folder_make(const char *folder, mode_t mode)
{
	struct stat found;

	if (mkdir(folder, mode) == 0)
		return chmod(folder, mode) < 0 ? -errno : 0; /* whatever the umask is */
	if (errno != EEXIST || lstat(folder, &found) < 0)
		return -errno;
	if (!S_ISDIR(found.st_mode))
		return -ENOTDIR;
	if ((found.st_uid != 0 && found.st_uid != geteuid()) ||
		(found.st_mode & (S_IWGRP | S_IWOTH)))
		return -EPERM;
	return 0;
}

static void
lock_path_make(char lock_path[LOCK_PATH_BYTES], const char *path)
{
	snprintf(lock_path, LOCK_PATH_BYTES, "%s.lock", path);
}

/* Whether the open file is the one that lies at `path`. */
static bool
is_file_at(int fd, const char *path)
{
	struct stat opened, found;

	return fstat(fd, &opened) == 0 && lstat(path, &found) == 0 &&
	       opened.st_dev == found.st_dev && opened.st_ino == found.st_ino;
}

/* Returns the locked file, -EAGAIN to try again, -EADDRINUSE if another has it, or -errno. */
static int
lock_try(const char *lock_path)
{
	const int fd = open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	int rc;

	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 && is_file_at(fd, lock_path))
		return fd;
	rc = errno == EWOULDBLOCK ? -EADDRINUSE : -EAGAIN;
	close(fd);
	return rc;
}

static int
lock_take(const char *path)
{
	char lock_path[LOCK_PATH_BYTES];
	int rc = -EAGAIN;

	lock_path_make(lock_path, path);
	for (uint32_t i = 0; i < LOCK_TRIES && rc == -EAGAIN; i++) {
		errno = 0;
		rc = lock_try(lock_path);
	}
	return rc;
}

static void
lock_release(const char *path, int lock_fd)
{
	char lock_path[LOCK_PATH_BYTES];

	lock_path_make(lock_path, path);
	unlink(lock_path); /* while it is ours */
	close(lock_fd);
}

static int
socket_create(void)
{
	return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

/* Removes a socket that nobody listens at. Holding the lock. Returns 0 or -errno. */
static int
stale_remove(const struct sockaddr_un *address)
{
	struct stat found;
	int fd;
	int error;

	if (lstat(address->sun_path, &found) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(found.st_mode))
		return -EEXIST;
	/* A program that knows nothing of our lock may live there. */
	fd = socket_create();
	if (fd < 0)
		return -errno;
	error = connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 ? errno : 0;
	close(fd);
	if (error != ECONNREFUSED)
		return -EADDRINUSE;
	return unlink(address->sun_path) < 0 ? -errno : 0;
}

/* Binds and listens. Returns 0 or -errno. */
static int
socket_listen(struct socket_file *file, const struct sockaddr_un *address)
{
	struct stat made;
	/* The mode is right from the start: a chmod would come a moment too late. */
	const mode_t mask = umask(0177);
	const int rc = bind(file->fd, (const struct sockaddr *)address, sizeof(*address));
	const int error = errno;

	umask(mask);
	if (rc < 0)
		return -error;
	if (lstat(address->sun_path, &made) < 0)
		return -errno;
	file->device = made.st_dev;
	file->inode = made.st_ino;
	if (listen(file->fd, BACKLOG) == 0)
		return 0;
	unlink(address->sun_path);
	return -errno;
}

/* Holding the lock. */
static int
socket_make(struct socket_file *file, const struct sockaddr_un *address)
{
	int rc = stale_remove(address);

	if (rc < 0)
		return rc;
	file->fd = socket_create();
	if (file->fd < 0)
		return -errno;
	rc = socket_listen(file, address);
	if (rc < 0)
		close(file->fd);
	return rc;
}

int
socket_file_open(struct socket_file *file, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int rc;

	*file = (struct socket_file) { 0 };
	if (strlen(path) >= CONTROL_PATH_BYTES)
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	strcpy(file->path, path);
	file->lock_fd = lock_take(path);
	if (file->lock_fd < 0)
		return file->lock_fd;
	rc = socket_make(file, &address);
	if (rc < 0)
		lock_release(path, file->lock_fd);
	file->is_open = rc == 0;
	return rc;
}

static int
place_open(struct socket_file *file, enum control_place place, const char *name,
	char path[CONTROL_PATH_BYTES])
{
	const mode_t mode = place == CONTROL_PLACE_SYSTEM ? 0755 : 0700;
	char folder[CONTROL_PATH_BYTES];
	int rc = control_path_make(folder, path, place, name);

	if (rc == 0)
		rc = socket_folder_make(folder, mode);
	return rc < 0 ? rc : socket_file_open(file, path);
}

int
socket_file_open_usual(struct socket_file *file, const char *name, char path[CONTROL_PATH_BYTES])
{
	int rc = -ENOENT;

	for (unsigned int i = 0; i < CONTROL_PLACE_COUNT; i++) {
		const int place_rc = place_open(file, i, name, path);

		if (place_rc == 0 || place_rc == -EADDRINUSE)
			return place_rc;
		/* The first place's reason is the one to tell, if the second is not there. */
		if (i == 0 || place_rc != -ENOENT)
			rc = place_rc;
	}
	return rc;
}

int
socket_peer_read(int fd, struct ucred *peer)
{
	socklen_t n_bytes = sizeof(*peer);

	*peer = (struct ucred) { .uid = (uid_t)-1, .gid = (gid_t)-1 };
	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, peer, &n_bytes) < 0 ? -errno : 0;
}

void
socket_file_close(struct socket_file *file)
{
	struct stat found;

	if (!file->is_open)
		return;
	if (lstat(file->path, &found) == 0 && found.st_dev == file->device &&
		found.st_ino == file->inode)
		unlink(file->path);
	close(file->fd);
	lock_release(file->path, file->lock_fd);
	file->is_open = false;
}
