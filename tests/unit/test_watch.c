/* SPDX-License-Identifier: BSD-3-Clause */
/* What control waits for between its ticks: who is called, and who is not. */
#include "test.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "app.h"

#define N_PAIRS 3

/* Socket pairs: what is written to `far` is there to be read at `near`. */
struct scene {
	struct app app;
	int near[N_PAIRS];
	int far[N_PAIRS];
	uint32_t n_calls[N_PAIRS];
	int victim; /* removed by whoever is called first; -1: nobody is */
	int heir;   /* added in its place; -1: none */
};

static void
pair_read(struct app *app, int fd, void *context)
{
	char byte;

	(void)app;
	assert_int_not_equal(read(fd, &byte, 1), -1);
	++*(uint32_t *)context;
}

static void
pair_read_and_replace(struct app *app, int fd, void *context)
{
	struct scene *scene = (struct scene *)app;

	pair_read(app, fd, context);
	if (scene->victim >= 0)
		watch_remove(app, scene->victim);
	if (scene->heir >= 0)
		assert_int_equal(watch_add(app, scene->heir, pair_read, &scene->n_calls[2]), 0);
	scene->victim = -1;
	scene->heir = -1;
}

static int
scene_create(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));

	if (!scene || watch_open(&scene->app) < 0)
		return -1;
	scene->victim = -1;
	scene->heir = -1;
	for (uint32_t i = 0; i < N_PAIRS; i++) {
		int pair[2];

		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair) < 0)
			return -1;
		scene->near[i] = pair[0];
		scene->far[i] = pair[1];
	}
	*state = scene;
	return 0;
}

static int
scene_destroy(void **state)
{
	struct scene *scene = *state;

	for (uint32_t i = 0; i < N_PAIRS; i++) {
		close(scene->near[i]);
		close(scene->far[i]);
	}
	watch_close(&scene->app);
	free(scene);
	return 0;
}

static void
add(struct scene *scene, uint32_t i, watch_fn fn)
{
	assert_int_equal(watch_add(&scene->app, scene->near[i], fn, &scene->n_calls[i]), 0);
}

static void
only_who_has_something_to_read_is_called(void **state)
{
	struct scene *scene = *state;

	add(scene, 0, pair_read);
	add(scene, 1, pair_read);
	assert_int_equal(watch_wait(&scene->app, 0), 0);
	assert_int_equal(write(scene->far[1], "x", 1), 1);
	assert_int_equal(watch_wait(&scene->app, 1000), 1);
	assert_int_equal(scene->n_calls[0], 0);
	assert_int_equal(scene->n_calls[1], 1);
	assert_int_equal(watch_wait(&scene->app, 0), 0);
}

static void
who_is_left_unread_is_called_again(void **state)
{
	struct scene *scene = *state;

	add(scene, 0, pair_read);
	assert_int_equal(write(scene->far[0], "x", 1), 1);
	assert_int_equal(write(scene->far[0], "y", 1), 1);
	assert_int_equal(watch_wait(&scene->app, 1000), 1);
	assert_int_equal(watch_wait(&scene->app, 1000), 1);
	assert_int_equal(watch_wait(&scene->app, 0), 0);
}

static void
an_end_that_hangs_up_is_told(void **state)
{
	struct scene *scene = *state;

	add(scene, 0, pair_read);
	shutdown(scene->far[0], SHUT_RDWR);
	assert_int_equal(watch_wait(&scene->app, 1000), 1);
	assert_int_equal(scene->n_calls[0], 1);
}

static void
who_was_removed_is_not_called(void **state)
{
	struct scene *scene = *state;

	add(scene, 0, pair_read);
	assert_int_equal(write(scene->far[0], "x", 1), 1);
	watch_remove(&scene->app, scene->near[0]);
	watch_remove(&scene->app, scene->near[0]);
	assert_int_equal(watch_wait(&scene->app, 0), 0);
	assert_int_equal(scene->n_calls[0], 0);
}

/* Events come in the order in which there was something to read. */
static void
who_was_removed_in_the_same_wait_is_not_called(void **state)
{
	struct scene *scene = *state;

	add(scene, 0, pair_read_and_replace);
	add(scene, 1, pair_read);
	scene->victim = scene->near[1];
	assert_int_equal(write(scene->far[0], "x", 1), 1);
	assert_int_equal(write(scene->far[1], "x", 1), 1);
	assert_int_equal(watch_wait(&scene->app, 1000), 1);
	assert_int_equal(scene->n_calls[0], 1);
	assert_int_equal(scene->n_calls[1], 0);
}

/* The event of who has left must not call who has taken its entry. */
static void
an_event_of_who_has_left_does_not_call_its_heir(void **state)
{
	struct scene *scene = *state;

	add(scene, 0, pair_read_and_replace);
	add(scene, 1, pair_read);
	scene->victim = scene->near[1];
	scene->heir = scene->near[2];
	assert_int_equal(write(scene->far[0], "x", 1), 1);
	assert_int_equal(write(scene->far[1], "x", 1), 1);
	assert_int_equal(watch_wait(&scene->app, 1000), 1);
	assert_int_equal(scene->n_calls[2], 0);
	assert_int_equal(write(scene->far[2], "x", 1), 1);
	assert_int_equal(watch_wait(&scene->app, 1000), 1);
	assert_int_equal(scene->n_calls[2], 1);
}

static void
what_cannot_be_watched_is_refused(void **state)
{
	struct scene *scene = *state;
	struct app *closed = calloc(1, sizeof(*closed));

	add(scene, 0, pair_read);
	assert_int_equal(watch_add(&scene->app, scene->near[0], pair_read, NULL), -EEXIST);
	assert_int_equal(watch_add(&scene->app, -1, pair_read, NULL), -EBADF);
	assert_non_null(closed);
	assert_int_equal(watch_add(closed, scene->near[1], pair_read, NULL), -EBADF);
	watch_remove(closed, scene->near[1]);
	assert_int_equal(watch_wait(closed, 0), 0);
	watch_close(closed);
	free(closed);
}

static void
one_too_many_is_refused_and_fits_when_another_has_left(void **state)
{
	struct scene *scene = *state;
	int fds[WATCH_FDS_MAX];

	for (uint32_t i = 0; i < WATCH_FDS_MAX; i++) {
		fds[i] = dup(scene->near[0]);
		assert_true(fds[i] >= 0);
		assert_int_equal(watch_add(&scene->app, fds[i], pair_read, NULL), 0);
	}
	assert_int_equal(watch_add(&scene->app, scene->near[1], pair_read, NULL), -ENOSPC);
	watch_remove(&scene->app, fds[WATCH_FDS_MAX / 2]);
	add(scene, 1, pair_read);
	assert_int_equal(write(scene->far[1], "x", 1), 1);
	assert_int_equal(watch_wait(&scene->app, 1000), 1);
	assert_int_equal(scene->n_calls[1], 1);
	for (uint32_t i = 0; i < WATCH_FDS_MAX; i++)
		close(fds[i]);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, scene_create, scene_destroy)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(only_who_has_something_to_read_is_called),
		CASE(who_is_left_unread_is_called_again),
		CASE(an_end_that_hangs_up_is_told),
		CASE(who_was_removed_is_not_called),
		CASE(who_was_removed_in_the_same_wait_is_not_called),
		CASE(an_event_of_who_has_left_does_not_call_its_heir),
		CASE(what_cannot_be_watched_is_refused),
		CASE(one_too_many_is_refused_and_fits_when_another_has_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
