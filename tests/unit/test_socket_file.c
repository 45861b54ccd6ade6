/* SPDX-License-Identifier: BSD-3-Clause */
/* A socket's file: private from its first moment, nobody else's taken away, none left behind. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "socket_file.h"

struct scene {
	char folder[64];
	char path[80];
	char lock_path[88];
	struct socket_file file;
};

static int
scene_create(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));

	if (!scene)
		return -1;
	strcpy(scene->folder, "/tmp/weir-test-socket-XXXXXX");
	if (!mkdtemp(scene->folder))
		return -1;
	snprintf(scene->path, sizeof(scene->path), "%s/s", scene->folder);
	snprintf(scene->lock_path, sizeof(scene->lock_path), "%s/s.lock", scene->folder);
	*state = scene;
	return 0;
}

/* Fails if anything but what a test has put at `path` is left behind. */
static int
scene_destroy(void **state)
{
	struct scene *scene = *state;

	socket_file_close(&scene->file);
	unlink(scene->path);
	if (rmdir(scene->folder) < 0) {
		print_error("%s: a file was left behind: %s\n", scene->folder, strerror(errno));
		return -1;
	}
	free(scene);
	return 0;
}

static mode_t
mode_of(const char *path)
{
	struct stat found;

	assert_int_equal(lstat(path, &found), 0);
	return found.st_mode;
}

static int
connect_to(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	int rc;

	strcpy(address.sun_path, path);
	rc = connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
	close(fd);
	return rc;
}

/* A socket as a program leaves it that was killed. */
static void
leave_stale(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	strcpy(address.sun_path, path);
	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 1), 0);
	close(fd);
}

static void
only_its_owner_can_connect_whatever_the_umask(void **state)
{
	struct scene *scene = *state;
	const mode_t mask = umask(0);

	assert_int_equal(socket_file_open(&scene->file, scene->path), 0);
	assert_int_equal(umask(mask), 0);
	assert_int_equal(mode_of(scene->path), S_IFSOCK | 0600);
	assert_int_equal(mode_of(scene->lock_path), S_IFREG | 0600);
	assert_int_equal(connect_to(scene->path), 0);
}

static void
nothing_is_left_behind(void **state)
{
	struct scene *scene = *state;

	assert_int_equal(socket_file_open(&scene->file, scene->path), 0);
	socket_file_close(&scene->file);
	assert_int_equal(access(scene->path, F_OK), -1);
	assert_int_equal(access(scene->lock_path, F_OK), -1);
	socket_file_close(&scene->file);
}

static void
a_socket_that_lives_is_not_taken(void **state)
{
	struct scene *scene = *state;
	struct socket_file second;

	assert_int_equal(socket_file_open(&scene->file, scene->path), 0);
	assert_int_equal(socket_file_open(&second, scene->path), -EADDRINUSE);
	socket_file_close(&second);
	assert_int_equal(connect_to(scene->path), 0);
}

/* The lock alone tells, before the first one listens. */
static void
a_lock_that_is_held_is_respected(void **state)
{
	struct scene *scene = *state;
	const int fd = open(scene->lock_path, O_RDWR | O_CREAT, 0600);

	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
	assert_int_equal(socket_file_open(&scene->file, scene->path), -EADDRINUSE);
	close(fd);
	assert_int_equal(socket_file_open(&scene->file, scene->path), 0);
}

/* One that knows nothing of our lock. */
static void
a_strangers_socket_that_lives_is_not_taken(void **state)
{
	struct scene *scene = *state;
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(address.sun_path, scene->path);
	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(socket_file_open(&scene->file, scene->path), -EADDRINUSE);
	assert_int_equal(access(scene->path, F_OK), 0);
	close(fd);
}

static void
what_a_killed_program_left_is_replaced(void **state)
{
	struct scene *scene = *state;

	leave_stale(scene->path);
	assert_int_equal(connect_to(scene->path), -ECONNREFUSED);
	assert_int_equal(close(open(scene->lock_path, O_RDWR | O_CREAT, 0600)), 0);
	assert_int_equal(socket_file_open(&scene->file, scene->path), 0);
	assert_int_equal(connect_to(scene->path), 0);
}

static void
a_file_that_is_no_socket_is_left_alone(void **state)
{
	struct scene *scene = *state;

	assert_int_equal(close(open(scene->path, O_RDWR | O_CREAT, 0640)), 0);
	assert_int_equal(socket_file_open(&scene->file, scene->path), -EEXIST);
	assert_int_equal(mode_of(scene->path), S_IFREG | 0640);
	assert_int_equal(unlink(scene->path), 0);
	assert_int_equal(symlink("/nonexistent", scene->path), 0);
	assert_int_equal(socket_file_open(&scene->file, scene->path), -EEXIST);
}

static void
a_link_in_the_place_of_the_lock_is_not_followed(void **state)
{
	struct scene *scene = *state;

	assert_int_equal(symlink(scene->path, scene->lock_path), 0);
	assert_int_equal(socket_file_open(&scene->file, scene->path), -ELOOP);
	assert_int_equal(access(scene->path, F_OK), -1);
	unlink(scene->lock_path);
}

static void
the_file_of_an_heir_is_not_removed(void **state)
{
	struct scene *scene = *state;

	assert_int_equal(socket_file_open(&scene->file, scene->path), 0);
	assert_int_equal(unlink(scene->path), 0);
	leave_stale(scene->path);
	socket_file_close(&scene->file);
	assert_int_equal(access(scene->path, F_OK), 0);
}

static void
a_path_must_fit_an_address(void **state)
{
	struct scene *scene = *state;
	char path[CONTROL_PATH_BYTES + 1];

	memset(path, 'x', CONTROL_PATH_BYTES);
	path[CONTROL_PATH_BYTES] = '\0';
	assert_int_equal(socket_file_open(&scene->file, path), -ENAMETOOLONG);
	assert_int_equal(socket_file_open(&scene->file, "/nonexistent/s"), -ENOENT);
}

static void
a_folder_is_made_or_must_be_safe(void **state)
{
	struct scene *scene = *state;
	const mode_t mask = umask(0077);
	char link_path[88];

	snprintf(link_path, sizeof(link_path), "%s/l", scene->folder);
	assert_int_equal(socket_folder_make(scene->path, 0755), 0);
	umask(mask);
	assert_int_equal(mode_of(scene->path), S_IFDIR | 0755);
	assert_int_equal(socket_folder_make(scene->path, 0700), 0);
	assert_int_equal(mode_of(scene->path), S_IFDIR | 0755);
	assert_int_equal(chmod(scene->path, 0775), 0);
	assert_int_equal(socket_folder_make(scene->path, 0755), -EPERM);
	assert_int_equal(chmod(scene->path, 01777), 0);
	assert_int_equal(socket_folder_make(scene->path, 0755), -EPERM);
	assert_int_equal(symlink("/tmp", link_path), 0);
	assert_int_equal(socket_folder_make(link_path, 0755), -ENOTDIR);
	unlink(link_path);
	rmdir(scene->path);
	assert_int_equal(socket_folder_make("/nonexistent/weir", 0755), -ENOENT);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, scene_create, scene_destroy)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(only_its_owner_can_connect_whatever_the_umask),
		CASE(nothing_is_left_behind),
		CASE(a_socket_that_lives_is_not_taken),
		CASE(a_lock_that_is_held_is_respected),
		CASE(a_strangers_socket_that_lives_is_not_taken),
		CASE(what_a_killed_program_left_is_replaced),
		CASE(a_file_that_is_no_socket_is_left_alone),
		CASE(a_link_in_the_place_of_the_lock_is_not_followed),
		CASE(the_file_of_an_heir_is_not_removed),
		CASE(a_path_must_fit_an_address),
		CASE(a_folder_is_made_or_must_be_safe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
