/* SPDX-License-Identifier: BSD-3-Clause */
/* Who may ask a running Weir, and that no client costs control more than its share. */
#include "report_fixture.h"
#include "test.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "control_path.h"
#include "outputs.h"
#include "stderr_capture.h"

/* More than a socket's buffers take at once. */
#define LONG_HANDLER_BYTES 1000000

struct scene {
	struct report_fixture *report;
	struct app *app;
};

static int
scene_create(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));
	void *report;

	if (!scene || report_fixture_create(&report) < 0)
		return -1;
	scene->report = report;
	scene->app = &scene->report->app;
	scene->app->options.control_socket = scene->report->path;
	*state = scene;
	if (watch_open(scene->app) < 0 || control_socket_start(scene->app) < 0)
		return -1;
	control_socket_serve(scene->app);
	return 0;
}

static int
scene_destroy(void **state)
{
	struct scene *scene = *state;
	void *report = scene->report;

	control_socket_stop(scene->app);
	watch_close(scene->app);
	free(scene);
	return report_fixture_destroy(&report);
}

static int
client_connect(struct scene *scene)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);

	strcpy(address.sun_path, scene->report->path);
	assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static void
client_ask(int fd, const char *request)
{
	assert_int_equal(send(fd, request, strlen(request), 0), strlen(request));
}

static void
tick_at(struct scene *scene, uint64_t now_ns)
{
	while (watch_wait(scene->app, 0) > 0)
		;
	control_socket_tick(scene->app, now_ns);
}

static void
tick(struct scene *scene)
{
	tick_at(scene, clock_read_ns(CLOCK_MONOTONIC));
}

/* What is there to be read now, up to the end of the file. Returns whether that has come. */
static bool
client_read(int fd, char *reply, size_t room, size_t *n_bytes)
{
	ssize_t n;

	while ((n = recv(fd, reply + *n_bytes, room - *n_bytes - 1, 0)) > 0) {
		assert_in_range(n, 1, CONTROL_MESSAGE_BYTES_MAX);
		*n_bytes += (size_t)n;
	}
	reply[*n_bytes] = '\0';
	if (n < 0)
		assert_int_equal(errno, EAGAIN);
	return n == 0;
}

static void
assert_reply(int fd, const char *head)
{
	char reply[8192];
	size_t n_bytes = 0;

	assert_true(client_read(fd, reply, sizeof(reply), &n_bytes));
	if (strncmp(reply, head, strlen(head)) != 0)
		fail_msg("expected '%s', got: %s", head, reply);
	close(fd);
}

static void
a_request_is_answered_and_the_connection_ends(void **state)
{
	struct scene *scene = *state;
	const int fd = client_connect(scene);

	client_ask(fd, "help");
	tick(scene);
	assert_reply(fd, "ok\n  help");
	assert_int_equal(scene->app->control_socket.n_clients, 0);
}

static void
root_and_our_own_user_may_ask(void **state)
{
	(void)state;
	assert_true(control_socket_admits(0, 1000));
	assert_true(control_socket_admits(1000, 1000));
	assert_true(control_socket_admits(0, 0));
	assert_false(control_socket_admits(1000, 0));
	assert_false(control_socket_admits(1001, 1000));
	assert_false(control_socket_admits((uid_t)-1, 0));
}

static void
a_message_that_is_too_long_is_refused(void **state)
{
	struct scene *scene = *state;
	char *request = calloc(1, 100001);
	const int fd = client_connect(scene);

	assert_non_null(request);
	memset(request, 'x', 100000);
	client_ask(fd, request);
	tick(scene);
	assert_reply(fd, "error: a request has at most 4096 bytes");
	free(request);
}

static void
a_client_that_never_asks_is_dropped(void **state)
{
	struct scene *scene = *state;
	const uint64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);
	const int fd = client_connect(scene);

	tick(scene);
	tick_at(scene, now_ns + CONTROL_CLIENT_NS - 1);
	assert_int_equal(scene->app->control_socket.n_clients, 1);
	tick_at(scene, now_ns + 2 * CONTROL_CLIENT_NS);
	assert_int_equal(scene->app->control_socket.n_clients, 0);
	assert_reply(fd, "error: no request has come");
}

static void
a_client_that_hangs_up_leaves_nothing(void **state)
{
	struct scene *scene = *state;
	const int mute = client_connect(scene);
	const int asking = client_connect(scene);

	tick(scene);
	assert_int_equal(scene->app->control_socket.n_clients, 2);
	close(mute);
	client_ask(asking, "help");
	close(asking);
	tick(scene);
	assert_int_equal(scene->app->control_socket.n_clients, 0);
}

/* A status that no socket buffer holds. */
static char *
status_lengthen(struct scene *scene)
{
	char *handler = calloc(1, LONG_HANDLER_BYTES + 1);

	assert_non_null(handler);
	memset(handler, 'x', LONG_HANDLER_BYTES);
	scene->app->options.handlers[0] = handler;
	return handler;
}

static void
a_long_reply_comes_in_messages_as_fast_as_it_is_read(void **state)
{
	struct scene *scene = *state;
	char *handler = status_lengthen(scene);
	char *text = report_text(scene->app, scene->report->status);
	char *reply = malloc(2 * LONG_HANDLER_BYTES);
	const int fd = client_connect(scene);
	size_t n_bytes = 0;
	uint32_t n_ticks = 0;

	assert_non_null(reply);
	client_ask(fd, "status");
	do {
		tick(scene);
		n_ticks++;
	} while (!client_read(fd, reply, 2 * LONG_HANDLER_BYTES, &n_bytes));
	assert_in_range(n_ticks, 2, LONG_HANDLER_BYTES / CONTROL_MESSAGE_BYTES_MAX + 2);
	assert_int_equal(n_bytes, strlen(text) + strlen("ok\n\n"));
	assert_memory_equal(reply + 3, text, strlen(text));
	close(fd);
	free(reply);
	free(text);
	free(handler);
}

static void
a_client_that_never_reads_is_dropped_and_wakes_nobody(void **state)
{
	struct scene *scene = *state;
	char *handler = status_lengthen(scene);
	const int fd = client_connect(scene);

	client_ask(fd, "status");
	tick(scene);
	assert_int_equal(scene->app->control_socket.n_clients, 1);
	client_ask(fd, "status");
	assert_int_equal(watch_wait(scene->app, 0), 0);
	tick_at(scene, clock_read_ns(CLOCK_MONOTONIC) + 2 * CONTROL_CLIENT_NS);
	assert_int_equal(scene->app->control_socket.n_clients, 0);
	close(fd);
	free(handler);
}

static void
too_long_a_reply_becomes_a_refusal(void **state)
{
	struct scene *scene = *state;
	const int fd = client_connect(scene);
	char *handler = status_lengthen(scene);

	for (uint32_t i = 1; i < 6; i++)
		scene->app->options.handlers[i] = handler;
	scene->app->options.n_handlers = 6;
	client_ask(fd, "status");
	tick(scene);
	assert_reply(fd, "error: the reply is longer than");
	free(handler);
}

static void
who_finds_all_places_taken_is_served_when_one_is_free(void **state)
{
	struct scene *scene = *state;
	int fds[CONTROL_CLIENTS_MAX];
	int late;

	for (uint32_t i = 0; i < CONTROL_CLIENTS_MAX; i++)
		fds[i] = client_connect(scene);
	tick(scene);
	assert_int_equal(scene->app->control_socket.n_clients, CONTROL_CLIENTS_MAX);
	late = client_connect(scene);
	client_ask(late, "help");
	/* Nobody is woken for who must wait. */
	assert_int_equal(watch_wait(scene->app, 0), 0);
	client_ask(fds[3], "help");
	tick(scene);
	tick(scene);
	assert_reply(fds[3], "ok\n");
	assert_reply(late, "ok\n");
	for (uint32_t i = 0; i < CONTROL_CLIENTS_MAX; i++) {
		if (i != 3)
			close(fds[i]);
	}
}

static void
nobody_is_served_before_the_run(void **state)
{
	struct scene second = { 0 };
	void *report;
	int fd;

	(void)state;
	assert_int_equal(report_fixture_create(&report), 0);
	second.report = report;
	second.app = &second.report->app;
	second.app->options.control_socket = second.report->path;
	assert_int_equal(watch_open(second.app), 0);
	assert_int_equal(control_socket_start(second.app), 0);
	fd = client_connect(&second);
	client_ask(fd, "stop");
	assert_int_equal(watch_wait(second.app, 0), 0);
	assert_false(second.app->stop_asked);
	control_socket_serve(second.app);
	tick(&second);
	assert_true(second.app->stop_asked);
	assert_reply(fd, "ok\n");
	control_socket_stop(second.app);
	watch_close(second.app);
	assert_int_equal(report_fixture_destroy(&report), 0);
}

static void
a_second_weir_at_the_same_path_is_refused(void **state)
{
	struct scene *scene = *state;
	struct app *second = calloc(1, sizeof(*second));
	struct stderr_capture capture;
	char said[512];

	assert_non_null(second);
	second->options.control_socket = scene->report->path;
	stderr_capture_start(&capture);
	assert_int_equal(control_socket_start(second), -EINVAL);
	stderr_capture_end(&capture, said, sizeof(said));
	assert_non_null(strstr(said, "--control-socket"));
	assert_non_null(strstr(said, scene->report->path));
	assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
	control_socket_stop(second);
	free(second);
}

static void
without_a_socket_there_is_nothing_to_do(void **state)
{
	struct app *app = calloc(1, sizeof(*app));

	(void)state;
	assert_non_null(app);
	app->options.control_socket = "none";
	assert_int_equal(control_socket_start(app), 0);
	control_socket_serve(app);
	control_socket_tick(app, UINT64_MAX);
	control_socket_stop(app);
	free(app);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, scene_create, scene_destroy)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_request_is_answered_and_the_connection_ends),
		cmocka_unit_test(root_and_our_own_user_may_ask),
		CASE(a_message_that_is_too_long_is_refused),
		CASE(a_client_that_never_asks_is_dropped),
		CASE(a_client_that_hangs_up_leaves_nothing),
		CASE(a_long_reply_comes_in_messages_as_fast_as_it_is_read),
		CASE(a_client_that_never_reads_is_dropped_and_wakes_nobody),
		CASE(too_long_a_reply_becomes_a_refusal),
		CASE(who_finds_all_places_taken_is_served_when_one_is_free),
		CASE(nobody_is_served_before_the_run),
		CASE(a_second_weir_at_the_same_path_is_refused),
		cmocka_unit_test(without_a_socket_there_is_nothing_to_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
