/* SPDX-License-Identifier: BSD-3-Clause */
/* What a running Weir answers to requests, good ones, wrong ones and hostile ones. */
#include "report_fixture.h"
#include "test.h"

#include <inttypes.h>

#include "control_path.h"
#include "outputs.h"
#include "verb_list.h"
#include "verbs.h"

#define N_RANDOM 20000

struct scene {
	struct report_fixture *report;
	char *reply;
	size_t n_bytes;
};

static int
scene_create(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));
	struct weir_config config = weir_config_default();
	void *report;

	if (!scene || report_fixture_create(&report) < 0)
		return -1;
	scene->report = report;
	config.n_workers = FIXTURE_WORKERS;
	scene->report->app.pool = weir_pool_create(&config, NULL);
	scene->report->app.n_workers = FIXTURE_WORKERS;
	*state = scene;
	return scene->report->app.pool ? 0 : -1;
}

static int
scene_destroy(void **state)
{
	struct scene *scene = *state;
	void *report = scene->report;

	weir_pool_destroy(scene->report->app.pool);
	free(scene->reply);
	free(scene);
	return report_fixture_destroy(&report);
}

/* Exactly these bytes, in a block of their own: a sanitizer sees who reads beyond them. */
static const char *
ask_bytes(struct scene *scene, const char *bytes, size_t n_bytes)
{
	char *request = malloc(n_bytes > 0 ? n_bytes : 1);

	assert_non_null(request);
	memcpy(request, bytes, n_bytes);
	free(scene->reply);
	scene->reply = verbs_answer(&scene->report->app, request, n_bytes, &scene->n_bytes);
	free(request);
	assert_non_null(scene->reply);
	assert_int_equal(strlen(scene->reply), scene->n_bytes);
	return scene->reply;
}

static const char *
ask(struct scene *scene, const char *request)
{
	return ask_bytes(scene, request, strlen(request));
}

static bool
begins_with(const char *text, const char *head)
{
	return strncmp(text, head, strlen(head)) == 0;
}

static void
assert_refused_for(struct scene *scene, const char *request, const char *reason)
{
	const char *reply = ask(scene, request);

	assert_true(begins_with(reply, "error: "));
	if (!strstr(reply, reason))
		fail_msg("'%s': '%s' is not in: %s", request, reason, reply);
	/* One line. */
	assert_ptr_equal(strchr(reply, '\n'), reply + scene->n_bytes - 1);
}

static void
help_lists_every_verb(void **state)
{
	struct scene *scene = *state;
	const char *reply = ask(scene, "help");

	assert_true(begins_with(reply, "ok\n"));
	for (unsigned int i = 0; i < VERB_COUNT; i++) {
		assert_non_null(strstr(reply, verb_row_of(i)->words));
		assert_non_null(strstr(reply, verb_row_of(i)->help));
	}
}

static void
status_is_the_report(void **state)
{
	struct scene *scene = *state;
	char *text = report_text(&scene->report->app, scene->report->status);
	const char *reply = ask(scene, "status");

	assert_non_null(text);
	assert_true(begins_with(reply, "ok\n"));
	assert_memory_equal(reply + 3, text, strlen(text));
	assert_string_equal(reply + 3 + strlen(text), "\n");
	free(text);
}

/* As the supervisor leads three threads that are ready. */
static void
workers_begin(struct scene *scene)
{
	struct supervisor *supervisor = &scene->report->app.supervisor;

	scene->report->app.options.quiet = true;
	supervisor->n = FIXTURE_WORKERS;
	for (unsigned int i = 0; i < FIXTURE_WORKERS; i++) {
		supervisor->slot[i].life.phase = WEIR_SLOT_READY;
		counter_set(&supervisor->slot[i].view.phase, WEIR_SLOT_READY);
		counter_set(&supervisor->slot[i].view.incarnation, 7 + i);
	}
}

static void
workers_have_a_line_each(void **state)
{
	struct scene *scene = *state;
	struct worker_slot *slot = scene->report->app.supervisor.slot;
	char kind[8], phase[16], flags[32], pid[16];
	unsigned int id, incarnation, cpu, depth;
	const char *line;

	workers_begin(scene);
	counter_set(&slot[1].view.phase, WEIR_SLOT_DRAINING);
	counter_set(&slot[1].view.kind, WORKER_PROCESS);
	counter_set(&slot[1].view.pid, 4711);
	counter_set(&slot[2].view.flags, WEIR_WORKER_PAUSED | WEIR_WORKER_STUCK);
	line = ask(scene, "workers");
	assert_true(begins_with(line, "ok\n id "));
	line = strchr(line + 3, '\n') + 1;
	for (unsigned int i = 0; i < FIXTURE_WORKERS; i++) {
		assert_int_equal(sscanf(line, "%u %7s %15s %31s %u %15s %u %u", &id, kind, phase,
					 flags, &incarnation, pid, &cpu, &depth),
			8);
		assert_int_equal(id, i);
		assert_string_equal(kind, i == 1 ? "process" : "thread");
		assert_string_equal(phase, i == 1 ? "draining" : "ready");
		assert_string_equal(flags, i == 2 ? "paused,stuck" : "-");
		assert_int_equal(incarnation, 7 + i);
		assert_string_equal(pid, i == 1 ? "4711" : "-");
		assert_int_equal(cpu, 600 + i);
		assert_int_equal(depth, 640 + i);
		line = strchr(line, '\n') + 1;
	}
	assert_string_equal(line, "");
}

static void
an_order_reaches_its_worker(void **state)
{
	struct scene *scene = *state;
	struct worker_slot *slot = scene->report->app.supervisor.slot;

	workers_begin(scene);
	assert_string_equal(ask(scene, "worker pause 1"), "ok\nworker 1 is paused\n");
	for (unsigned int i = 0; i < FIXTURE_WORKERS; i++)
		assert_int_equal(slot[i].is_paused, i == 1);
	assert_refused_for(scene, "worker pause 1", "pause worker 1: it is paused already");
	assert_refused_for(scene, "worker resume 0", "resume worker 0: it is not paused");
	assert_string_equal(ask(scene, "worker resume 01"), "ok\nworker 1 goes on\n");
	assert_false(slot[1].is_paused);
}

/* In a phase in which none means anything, each says its own name. */
static void
every_order_is_its_own(void **state)
{
	static const char *const orders[] = { "drain", "kill", "pause", "resume", "add", "remove" };
	struct scene *scene = *state;

	workers_begin(scene);
	scene->report->app.supervisor.slot[2].life.phase = WEIR_SLOT_RECLAIMING;
	for (unsigned int i = 0; i < ARRAY_LENGTH(orders); i++) {
		char request[32];
		char reason[64];

		snprintf(request, sizeof(request), "worker %s 2", orders[i]);
		snprintf(reason, sizeof(reason), "%s worker 2: it is reclaiming", orders[i]);
		assert_refused_for(scene, request, reason);
	}
}

static void
an_order_without_a_worker_is_refused(void **state)
{
	static const char *const wrong[] = { "-1", "x", "1x", "0x1", "+1", "99999999999999999999",
		"1.0", "4294967297" };
	struct scene *scene = *state;

	workers_begin(scene);
	for (unsigned int i = 0; i < ARRAY_LENGTH(wrong); i++) {
		char request[64];

		snprintf(request, sizeof(request), "worker pause %s", wrong[i]);
		assert_refused_for(scene, request, "a worker's id is a number like 0");
	}
	assert_refused_for(scene, "worker pause 3", "workers are 0 to 2");
	assert_refused_for(scene, "worker pause 999", "workers are 0 to 2");
	assert_refused_for(scene, "worker pause", "the request is: worker pause ID");
	assert_refused_for(scene, "worker pause 1 2", "the request is: worker pause ID");
	assert_refused_for(scene, "worker", "unknown request: worker");
	assert_refused_for(scene, "worker paus 1", "unknown request: worker");
	assert_false(scene->report->app.supervisor.slot[1].is_paused);
}

static void
stop_ends_the_run(void **state)
{
	struct scene *scene = *state;

	assert_refused_for(scene, "stop now", "the request is: stop");
	assert_false(scene->report->app.stop_asked);
	assert_true(begins_with(ask(scene, "stop"), "ok\n"));
	assert_true(scene->report->app.stop_asked);
}

static void
blanks_and_one_line_end_do_not_matter(void **state)
{
	struct scene *scene = *state;

	assert_true(begins_with(ask(scene, "  help  "), "ok\n"));
	assert_true(begins_with(ask(scene, "help\n"), "ok\n"));
	assert_true(begins_with(ask(scene, "help \n"), "ok\n"));
	assert_refused_for(scene, "help\n\n", "ASCII");
	assert_refused_for(scene, "help\nstop", "ASCII");
	assert_false(scene->report->app.stop_asked);
}

static void
what_is_no_request_is_refused_with_a_reason(void **state)
{
	struct scene *scene = *state;
	char line[CONTROL_REQUEST_BYTES_MAX + 2];

	assert_refused_for(scene, "", "empty");
	assert_refused_for(scene, "\n", "empty");
	assert_refused_for(scene, "   ", "empty");
	assert_refused_for(scene, "hel", "unknown request: hel");
	assert_refused_for(scene, "helpp", "unknown request: helpp");
	assert_refused_for(scene, "status x", "the request is: status");
	assert_refused_for(scene, "a b c d e f g h", "unknown");
	assert_refused_for(scene, "a b c d e f g h i", "so many words");
	assert_refused_for(scene, "\xff\xfe", "ASCII");
	assert_refused_for(scene, "st\top", "ASCII");
	memset(line, 'x', sizeof(line));
	line[CONTROL_REQUEST_BYTES_MAX] = '\0';
	assert_refused_for(scene, line, "unknown");
	assert_true(scene->n_bytes < 200);
	line[CONTROL_REQUEST_BYTES_MAX] = 'x';
	line[CONTROL_REQUEST_BYTES_MAX + 1] = '\0';
	assert_refused_for(scene, line, "at most 4096 bytes");
}

static void
a_nul_ends_no_request(void **state)
{
	struct scene *scene = *state;

	assert_true(begins_with(ask_bytes(scene, "stop\0", 5), "error: "));
	assert_true(begins_with(ask_bytes(scene, "\0stop", 5), "error: "));
	assert_false(scene->report->app.stop_asked);
}

/* Words of the table, blanks and any bytes, cut anywhere. */
static size_t
random_request(struct test_random *random, char *bytes)
{
	const uint32_t n_pieces = test_random_below(random, 12);
	size_t n_bytes = 0;

	for (uint32_t i = 0; i < n_pieces; i++) {
		const struct verb_row *row =
			verb_row_of((enum verb)test_random_below(random, VERB_COUNT));
		const uint32_t kind = test_random_below(random, 8);

		if (kind < 3)
			n_bytes += (size_t)sprintf(bytes + n_bytes, "%s ", row->words);
		else if (kind < 5)
			n_bytes += (size_t)sprintf(bytes + n_bytes, "%" PRIu32 " ",
				(uint32_t)test_random_next(random));
		else if (kind < 7)
			bytes[n_bytes++] = (char)test_random_next(random);
		else
			bytes[n_bytes++] = ' ';
	}
	return n_bytes > 0 ? test_random_below(random, (uint32_t)n_bytes + 1) : 0;
}

static void
random_requests_are_answered_in_whole_lines(void **state)
{
	struct scene *scene = *state;
	struct test_random random = test_random_start("random_requests");
	uint32_t n_granted = 0;
	char bytes[CONTROL_REQUEST_BYTES_MAX];

	for (uint32_t i = 0; i < N_RANDOM; i++) {
		const size_t n_bytes = random_request(&random, bytes);
		const char *reply = ask_bytes(scene, bytes, n_bytes);

		assert_true(begins_with(reply, "ok\n") || begins_with(reply, "error: "));
		assert_int_equal(reply[scene->n_bytes - 1], '\n');
		n_granted += begins_with(reply, "ok\n");
	}
	/* Else the requests were not of the kind that reaches the verbs. */
	assert_in_range(n_granted, N_RANDOM / 1000, N_RANDOM / 2);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, scene_create, scene_destroy)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(help_lists_every_verb),
		CASE(status_is_the_report),
		CASE(workers_have_a_line_each),
		CASE(an_order_reaches_its_worker),
		CASE(every_order_is_its_own),
		CASE(an_order_without_a_worker_is_refused),
		CASE(stop_ends_the_run),
		CASE(blanks_and_one_line_end_do_not_matter),
		CASE(what_is_no_request_is_refused_with_a_reason),
		CASE(a_nul_ends_no_request),
		CASE(random_requests_are_answered_in_whole_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
