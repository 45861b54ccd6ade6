/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handlers from shared objects: what is refused and in which words, what a file tells of its
 * handler, and what becomes of calls and errors.
 */
#include "test.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include "code_file.h"
#include "handler_calls.h"
#include "handler_fixture.h"
#include "handlers.h"
#include "option_handlers.h"
#include "parsed_options.h"
#include "stderr_capture.h"

#define SPEC_BYTES 512

/* "plugin:FILE.so" of one of the tests' handlers, with ":ARGUMENTS" if these are not NULL. */
static const char *
spec_make(char *spec, const char *name, const char *arguments)
{
	char file[64], path[SPEC_BYTES - 64];

	snprintf(file, sizeof(file), "handler_%s.so", name);
	code_file_path(file, path, sizeof(path));
	snprintf(spec, SPEC_BYTES, "plugin:%s%s%s", path, arguments ? ":" : "",
		arguments ? arguments : "");
	return spec;
}

/* Loads by a SPEC and gives what that prints. Returns as handlers_load. */
static int
load_captured(struct handlers *handlers, const char *spec, char *output, size_t n_bytes)
{
	struct stderr_capture capture;
	int rc;

	stderr_capture_start(&capture);
	rc = handlers_load(handlers, spec);
	stderr_capture_end(&capture, output, n_bytes);
	return rc;
}

static void
assert_spec_refused(const char *spec, const char *expected)
{
	struct handlers handlers = { 0 };
	char output[2048], line[2048];

	assert_int_equal(load_captured(&handlers, spec, output, sizeof(output)), -EINVAL);
	assert_one_line(output);
	snprintf(line, sizeof(line), "weir: --handler %s: ", spec);
	assert_int_equal(strncmp(output, line, strlen(line)), 0);
	if (!strstr(output, expected))
		print_error("'%s' is not in: %s", expected, output);
	assert_non_null(strstr(output, expected));
	assert_int_equal(handlers.n, 0);
}

static void
assert_refused_plugin(const char *name, const char *expected)
{
	char spec[SPEC_BYTES];

	assert_spec_refused(spec_make(spec, name, NULL), expected);
}

/* Loads one of the tests' handlers. Returns it; to be unloaded. */
static const struct handler *
plugin_loaded(struct handlers *handlers, const char *spec)
{
	char output[2048];
	const int rc = load_captured(handlers, spec, output, sizeof(output));

	if (rc < 0)
		print_error("%s", output);
	assert_int_equal(rc, 0);
	assert_string_equal(output, "");
	return handlers_find(handlers, spec);
}

/* ---- what is refused ---- */

static void
files_that_are_no_plugins_are_refused(void **state)
{
	char spec[SPEC_BYTES];
	char expected[128];

	(void)state;
	assert_spec_refused("plugin", "allowed plugin:FILE.so[:ARGUMENTS] with a file");
	assert_spec_refused("plugin:", "allowed plugin:FILE.so[:ARGUMENTS] with a file");
	assert_spec_refused("plugin::x", "allowed plugin:FILE.so[:ARGUMENTS] with a file");
	assert_spec_refused("plugin:/nonexistent/x.so", "No such file");
	assert_spec_refused("plugin:/nonexistent/x.so:arguments", "No such file");
	assert_spec_refused("plugin:/dev/null", "no regular file");
	assert_spec_refused("plugin:/tmp", "no regular file");
	assert_spec_refused("plugin:/etc/passwd", "/etc/passwd");
	snprintf(spec, sizeof(spec), "plugin:%s", getenv("WARM_UP_SO"));
	assert_spec_refused(spec, "exports no weir_handler_plugin: WEIR_HANDLER_PLUGIN makes it");
	assert_refused_plugin("no_symbol", "exports no weir_handler_plugin");
	assert_refused_plugin("magic", "is not made by WEIR_HANDLER_PLUGIN");
	assert_refused_plugin("no_handler", "exports no handler");
	snprintf(expected, sizeof(expected), "version 99 of the handler ABI, this weir has %d\n",
		WEIR_HANDLER_ABI_VERSION);
	assert_refused_plugin("version", expected);
}

static void
plugins_of_other_sizes_are_refused_with_both(void **state)
{
	char expected[128];

	(void)state;
	snprintf(expected, sizeof(expected),
		"weir_packet has 8 bytes, this weir's %zu:", sizeof(struct weir_packet));
	assert_refused_plugin("packet_bytes", expected);
	assert_refused_plugin("verdict_bytes", "weir_verdict has 16 bytes, this weir's 8:");
	snprintf(expected, sizeof(expected), "weir_handler_setup has 1 bytes, this weir's %zu:",
		sizeof(struct weir_handler_setup));
	assert_refused_plugin("setup_bytes", expected);
	snprintf(expected, sizeof(expected),
		"weir_handler has 0 bytes, this weir's %zu:", sizeof(struct weir_handler));
	assert_refused_plugin("handler_bytes", expected);
}

static void
handlers_that_contradict_themselves_are_refused(void **state)
{
	(void)state;
	assert_refused_plugin("no_process", "has no process");
	assert_refused_plugin("lone_close", "has close without open");
	assert_refused_plugin("lone_begin", "has begin without open");
	assert_refused_plugin("flags", "its flags have unknown bits: 0x80000000");
	assert_refused_plugin("no_name", "has no name");
	assert_refused_plugin("bad_name", "its name 'Tested' is not");
	assert_refused_plugin("no_help", "has no help");
	assert_refused_plugin("two_lines", "its help is not one line");
}

static void
handlers_that_crash_or_hang_in_the_trial_are_refused(void **state)
{
	(void)state;
	assert_refused_plugin("crash_in_open", "crashed with signal 11 in the trial");
	assert_refused_plugin("crash", "crashed with signal 11 in the trial");
	assert_refused_plugin("exits", "ended the process in the trial, status 0");
	assert_refused_plugin("loop", "took longer than 2 s in the trial");
}

static void
the_trial_has_packets_of_each_kind(void **state)
{
	(void)state;
	assert_refused_plugin("short_crash", "crashed with signal 6 in the trial");
	assert_refused_plugin("chain_crash", "crashed with signal 6 in the trial");
	assert_refused_plugin("ipv4_crash", "crashed with signal 6 in the trial");
	assert_refused_plugin("full_crash", "crashed with signal 6 in the trial");
}

static void
handlers_whose_calls_fail_in_the_trial_are_refused_in_their_words(void **state)
{
	char spec[SPEC_BYTES];

	(void)state;
	assert_refused_plugin("silent", ": allowed No space left on device\n");
	assert_refused_plugin("begin_fails", ": allowed a begin?of another kind\n");
	assert_refused_plugin("close_fails", ": failed in the trial: the disk is full\n");
	assert_spec_refused(spec_make(spec, "plain", ""), ": allowed no arguments, not ''\n");
	assert_spec_refused(spec_make(spec, "plain", "a:b"), ": allowed no arguments, not 'a:b'\n");
}

static void
handlers_whose_verdicts_are_none_are_refused(void **state)
{
	char expected[64];

	(void)state;
	assert_refused_plugin("skips", "gave packet 1 of a burst no verdict");
	assert_refused_plugin("too_long", "wrote more than 1 verdicts for as many packets");
	assert_refused_plugin("kind", "gave a verdict of kind 9, which is none");
	assert_refused_plugin("sent", "gave a verdict of kind 3, which is none");
	snprintf(expected, sizeof(expected), "drops for reason %u, which is none",
		(unsigned int)WEIR_REASON_COUNT);
	assert_refused_plugin("reason", expected);
	assert_refused_plugin("port", "transmits on port 200");
	assert_refused_plugin("empty", "transmits a packet of no bytes");
}

static void
handlers_that_do_what_their_flags_deny_are_refused(void **state)
{
	(void)state;
	assert_refused_plugin("consumes", "consumes packets, without SINK");
	assert_refused_plugin("sink_sends", "has SINK, and transmits");
	assert_refused_plugin("grows", "bytes longer, without WRITES");
	assert_refused_plugin("prepends", "bytes longer, without WRITES");
	assert_refused_plugin("stores", "stores to packets' bytes, without WRITES");
	assert_refused_plugin("stores_link", "stores to packets' bytes, without WRITES");
}

/* Copies one of the tests' handlers. */
static void
plugin_copy(const char *name, const char *to)
{
	char command[2 * SPEC_BYTES], spec[SPEC_BYTES];

	snprintf(command, sizeof(command), "cp '%s' '%s'",
		strchr(spec_make(spec, name, NULL), ':') + 1, to);
	assert_int_equal(system(command), 0);
}

/* At the trial and again when a worker opens it: a worker's process has had no trial. */
static void
a_file_that_everybody_may_write_is_refused(void **state)
{
	struct fixture *f = *state;
	char file[128], spec[160];
	const struct handler *handler = handler_find("plugin");
	struct handlers handlers = { 0 };

	snprintf(file, sizeof(file), "%s/mine.so", f->directory);
	snprintf(spec, sizeof(spec), "plugin:%s", file);
	plugin_copy("good", file);
	assert_int_equal(chmod(file, 0666), 0);
	assert_spec_refused(spec, "everybody may write it (chmod o-w)");
	assert_int_equal(handler->open(&setup_of_four, handler_arguments(spec), &f->handler_state,
				 f->error, sizeof(f->error)),
		-EACCES);
	assert_non_null(strstr(f->error, "plugin:FILE.so[:ARGUMENTS] with a plugin, not '"));
	assert_non_null(strstr(f->error, "(everybody may write it"));
	assert_int_equal(chmod(file, 0644), 0);
	plugin_loaded(&handlers, spec);
	handlers_unload(&handlers);
	unlink(file);
}

/* ---- what a file tells ---- */

static void
a_loaded_handler_has_the_flags_and_the_help_of_its_file(void **state)
{
	static const struct {
		const char *name;
		bool is_sink;
		bool writes_packets;
		bool restartable;
	} expected[] = {
		{ "good", false, false, true },
		{ "plain", false, false, false },
		{ "sink", true, false, false },
		{ "writer", false, true, false },
	};
	struct handlers handlers = { 0 };
	char spec[ARRAY_LENGTH(expected)][SPEC_BYTES];

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(expected); i++) {
		const struct handler *handler =
			plugin_loaded(&handlers, spec_make(spec[i], expected[i].name, NULL));

		assert_string_equal(handler->name, "plugin");
		assert_string_equal(handler->help, "one of the tests'");
		assert_int_equal(handler->is_sink, expected[i].is_sink);
		assert_int_equal(handler->writes_packets, expected[i].writes_packets);
		assert_int_equal(handler->restartable, expected[i].restartable);
	}
	handlers_unload(&handlers);
}

static void
each_spec_is_loaded_once_and_built_in_ones_not_at_all(void **state)
{
	struct handlers handlers = { 0 };
	char spec[SPEC_BYTES], again[SPEC_BYTES], other[SPEC_BYTES];
	char *printed, expected[SPEC_BYTES + 64];
	size_t n_bytes;
	FILE *out = open_memstream(&printed, &n_bytes);

	(void)state;
	plugin_loaded(&handlers, spec_make(spec, "good", NULL));
	plugin_loaded(&handlers, spec_make(again, "good", NULL));
	assert_int_equal(handlers.n, 1);
	plugin_loaded(&handlers, spec_make(other, "good", "x"));
	assert_int_equal(handlers.n, 2);
	assert_ptr_equal(plugin_loaded(&handlers, "forward"), handler_find("forward"));
	assert_int_equal(handlers.n, 2);
	assert_ptr_not_equal(handlers_find(&handlers, spec), handlers_find(&handlers, other));
	assert_null(handlers_find(&handlers, "nothing"));
	handlers_print_loaded(&handlers, out);
	fclose(out);
	snprintf(expected, sizeof(expected), "%s: one of the tests'\n", spec);
	assert_int_equal(strncmp(printed, expected, strlen(expected)), 0);
	free(printed);
	handlers_unload(&handlers);
	assert_int_equal(handlers.n, 0);
	handlers_unload(&handlers);
}

static void
whether_packets_are_written_to_is_asked_of_the_loaded_file(void **state)
{
	char spec[SPEC_BYTES], line[2 * SPEC_BYTES];
	struct parsed p;

	(void)state;
	snprintf(line, sizeof(line), "--handler %s", spec_make(spec, "good", NULL));
	assert_accepted(&p, line);
	assert_false(options_write_packets(&p.options));
	assert_string_equal(options_handler_of(&p.options, 3), spec);
	options_free(&p.options);
	snprintf(line, sizeof(line), "--handler 1=%s", spec_make(spec, "writer", NULL));
	assert_accepted(&p, line);
	assert_true(options_write_packets(&p.options));
	assert_string_equal(options_handler_of(&p.options, 0), "forward");
	assert_string_equal(options_handler_of(&p.options, 1), spec);
	options_free(&p.options);
	/* Another one took its place. */
	snprintf(line, sizeof(line), "--handler %s --handler drop", spec);
	assert_accepted(&p, line);
	assert_false(options_write_packets(&p.options));
	options_free(&p.options);
	snprintf(line, sizeof(line), "--handler 7=%s", spec);
	assert_refused(&p, line);
	snprintf(line, sizeof(line), "--handler 1=%s", spec_make(spec, "version", NULL));
	assert_refused(&p, line);
}

/* ---- at run time ---- */

static struct handler_calls *
calls_find(const char *spec)
{
	void *object = dlopen(strchr(spec, ':') + 1, RTLD_NOW | RTLD_NOLOAD);
	struct handler_calls *calls;

	assert_non_null(object);
	calls = dlsym(object, "handler_calls");
	assert_non_null(calls);
	dlclose(object);
	return calls;
}

static void *
state_open(const struct handler *handler, const char *arguments)
{
	char error[ERROR_BYTES] = "";
	void *handler_state = NULL;

	assert_int_equal(
		handler->open(&setup_of_four, arguments, &handler_state, error, sizeof(error)), 0);
	assert_int_equal(handler->begin(handler_state, error, sizeof(error)), 0);
	return handler_state;
}

static void
each_worker_has_a_state_of_its_own_and_the_trial_leaves_none(void **state)
{
	struct fixture *f = *state;
	struct handlers handlers = { 0 };
	char spec[SPEC_BYTES];
	const struct handler *handler = plugin_loaded(&handlers, spec_make(spec, "good", NULL));
	const char *arguments = handler_arguments(spec);
	const struct handler_calls *calls = calls_find(spec);
	void *first, *second;

	assert_int_equal(calls->open, 0);
	first = state_open(handler, arguments);
	second = state_open(handler, arguments);
	assert_int_equal(calls->open, 2);
	assert_int_equal(calls->begin, 2);
	handler->process(first, f->packets, 3, f->verdicts);
	handler->process(second, f->packets, 5, f->verdicts);
	handler->process(first, f->packets, 1, f->verdicts);
	assert_int_equal(f->verdicts[4].kind, WEIR_VERDICT_TX);
	assert_int_equal(f->verdicts[4].target, f->packets[4].meta.port);
	assert_int_equal(handler->close(first, f->error, sizeof(f->error)), 0);
	assert_int_equal(calls->close, 1);
	assert_int_equal(calls->closed_packets, 4);
	assert_int_equal(handler->close(second, f->error, sizeof(f->error)), 0);
	assert_int_equal(calls->closed_packets, 5);
	handlers_unload(&handlers);
}

/* A worker's process finds it by the registry alone. */
static void
a_worker_opens_the_registered_handler_without_a_trial(void **state)
{
	struct fixture *f = *state;
	char spec[SPEC_BYTES];
	const struct handler *handler = fixture_open(f, spec_make(spec, "sink", "arguments"));

	assert_int_equal(calls_find(spec_make(spec, "sink", NULL))->open, 1);
	handler->process(f->handler_state, f->packets, 2, f->verdicts);
	assert_dropped(f, 0, WEIR_REASON_HANDLER_DROP);
	assert_int_equal(f->verdicts[1].kind, WEIR_VERDICT_CONSUMED);
	fixture_close(f, handler);
	/* What it says of a file that it has not seen does no harm. */
	assert_false(handler->is_sink);
	assert_true(handler->writes_packets);
	assert_false(handler->restartable);
}

static void
a_handler_without_state_needs_none_of_the_other_calls(void **state)
{
	struct fixture *f = *state;
	char spec[SPEC_BYTES];
	const struct handler *handler = fixture_open(f, spec_make(spec, "plain", NULL));

	handler->process(f->handler_state, f->packets, N_PACKETS, f->verdicts);
	assert_int_equal(f->verdicts[N_PACKETS - 1].kind, WEIR_VERDICT_TX);
	fixture_close(f, handler);
	assert_int_equal(
		handler->open(&setup_of_four, handler_arguments(spec_make(spec, "plain", "x")),
			&f->handler_state, f->error, sizeof(f->error)),
		-EINVAL);
	assert_string_equal(f->error, "no arguments, not 'x'");
}

/* Opens `name`, which must fail. */
static void
assert_open_fails(struct fixture *f, const char *name, const char *arguments, int error_number,
	const char *expected)
{
	char spec[SPEC_BYTES];
	const struct handler *handler = handler_find("plugin");

	spec_make(spec, name, arguments);
	assert_int_equal(handler->open(&setup_of_four, handler_arguments(spec), &f->handler_state,
				 f->error, sizeof(f->error)),
		-error_number);
	assert_string_equal(f->error, expected);
}

static void
setup_and_arguments_reach_the_handler_and_its_words_come_back(void **state)
{
	struct fixture *f = *state;

	assert_open_fails(f, "tells", NULL, ERANGE,
		"worker 2.0, 4 ports, 1 to 0, seed 7, 1000000000 Hz, 'none'");
	assert_open_fails(
		f, "tells", "", ERANGE, "worker 2.0, 4 ports, 1 to 0, seed 7, 1000000000 Hz, ''");
	assert_open_fails(f, "tells", "a:b=c", ERANGE,
		"worker 2.0, 4 ports, 1 to 0, seed 7, 1000000000 Hz, 'a:b=c'");
	assert_open_fails(f, "late_silent", NULL, EINVAL, "Invalid argument");
}

/* The first line of a file. */
static void
assert_first_line(const char *path, const char *expected)
{
	char line[64] = "";
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	assert_non_null(fgets(line, sizeof(line), file));
	fclose(file);
	assert_string_equal(line, expected);
}

/* Of worker 2: its successor begins while the file of the one before is there. */
static void
top_flows_leaves_the_file_of_an_earlier_incarnation_alone(void **state)
{
	struct fixture *f = *state;
	struct handler_setup setup = setup_of_four;
	const struct handler *handler = handler_find("plugin");
	char arguments[SPEC_BYTES], path[2][96];

	snprintf(arguments, sizeof(arguments), "%s:%s/f", getenv("TOP_FLOWS_SO"), f->directory);
	snprintf(path[0], sizeof(path[0]), "%s/f.2", f->directory);
	snprintf(path[1], sizeof(path[1]), "%s/f.2.1", f->directory);
	for (setup.incarnation = 0; setup.incarnation < 2; setup.incarnation++) {
		assert_int_equal(handler->open(&setup, arguments, &f->handler_state, f->error,
					 sizeof(f->error)),
			0);
		assert_int_equal(handler->begin(f->handler_state, f->error, sizeof(f->error)), 0);
		if (setup.incarnation == 1)
			assert_first_line(path[0], "# flow packets bytes\n");
		handler->process(f->handler_state, f->packets, N_PACKETS, f->verdicts);
		fixture_close(f, handler);
	}
	for (uint32_t i = 0; i < 2; i++) {
		assert_first_line(path[i], "# flow packets bytes\n");
		assert_int_equal(unlink(path[i]), 0);
	}
}

static void
a_run_that_does_not_begin_or_end_well_is_told(void **state)
{
	struct fixture *f = *state;
	char spec[SPEC_BYTES];
	const struct handler *handler = handler_find("plugin");

	spec_make(spec, "late_begin_fails", NULL);
	assert_int_equal(handler->open(&setup_of_four, handler_arguments(spec), &f->handler_state,
				 f->error, sizeof(f->error)),
		0);
	assert_int_equal(handler->begin(f->handler_state, f->error, sizeof(f->error)), -EIO);
	assert_int_equal(strncmp(f->error, "a begin", 7), 0);
	fixture_close(f, handler);
	fixture_open(f, spec_make(spec, "late_close_fails", NULL));
	assert_int_equal(handler->close(f->handler_state, f->error, sizeof(f->error)), -ENOSPC);
	assert_string_equal(f->error, "the disk is full");
}

static void
a_handler_that_is_honest_about_its_packets_passes_the_trial(void **state)
{
	static const char *const names[] = { "cuts", "gathers", "late", "late_silent", "tells",
		"late_begin_fails", "late_close_fails" };
	struct handlers handlers = { 0 };
	char spec[ARRAY_LENGTH(names)][SPEC_BYTES];

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
		plugin_loaded(&handlers, spec_make(spec[i], names[i], NULL));
	assert_int_equal(handlers.n, ARRAY_LENGTH(names));
	handlers_unload(&handlers);
}

#define WITH_FIXTURE(function) \
	cmocka_unit_test_setup_teardown(function, fixture_create, fixture_destroy)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_that_are_no_plugins_are_refused),
		cmocka_unit_test(plugins_of_other_sizes_are_refused_with_both),
		cmocka_unit_test(handlers_that_contradict_themselves_are_refused),
		cmocka_unit_test(handlers_that_crash_or_hang_in_the_trial_are_refused),
		cmocka_unit_test(the_trial_has_packets_of_each_kind),
		cmocka_unit_test(handlers_whose_calls_fail_in_the_trial_are_refused_in_their_words),
		cmocka_unit_test(handlers_whose_verdicts_are_none_are_refused),
		cmocka_unit_test(handlers_that_do_what_their_flags_deny_are_refused),
		WITH_FIXTURE(a_file_that_everybody_may_write_is_refused),
		cmocka_unit_test(a_loaded_handler_has_the_flags_and_the_help_of_its_file),
		cmocka_unit_test(each_spec_is_loaded_once_and_built_in_ones_not_at_all),
		cmocka_unit_test(whether_packets_are_written_to_is_asked_of_the_loaded_file),
		WITH_FIXTURE(each_worker_has_a_state_of_its_own_and_the_trial_leaves_none),
		WITH_FIXTURE(a_worker_opens_the_registered_handler_without_a_trial),
		WITH_FIXTURE(a_handler_without_state_needs_none_of_the_other_calls),
		WITH_FIXTURE(setup_and_arguments_reach_the_handler_and_its_words_come_back),
		WITH_FIXTURE(top_flows_leaves_the_file_of_an_earlier_incarnation_alone),
		WITH_FIXTURE(a_run_that_does_not_begin_or_end_well_is_told),
		cmocka_unit_test(a_handler_that_is_honest_about_its_packets_passes_the_trial),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
