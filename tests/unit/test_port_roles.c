/* SPDX-License-Identifier: BSD-3-Clause */
/* What each port is for: forwarded between, the exception port, steered into. Without EAL. */
#include "test.h"

#include "option_handlers.h"
#include "parsed_options.h"
#include "port_roles.h"
#include "stderr_capture.h"

/* Words like `a b c` become ports 0, 1, 2; `-` leaves an id out. */
static void
ports_fill(struct ports *ports, const char *names)
{
	uint16_t id = 0;

	memset(ports, 0, sizeof(*ports));
	for (const char *at = names; *at; id++) {
		const size_t length = strcspn(at, " ");

		if (*at != '-') {
			struct port *port = &ports->port[ports->n++];

			port->id = id;
			memcpy(port->name, at, length);
		}
		at += length + (at[length] == ' ');
	}
}

/*
 * Parses a line, and takes the exception port from beside it: a rule that says kernel, which it
 * needs, has blanks.
 */
static void
options_make(struct parsed *p, const char *line, const char *exception)
{
	assert_accepted(p, line);
	p->options.exception_port = exception;
}

/* Gives the ports of `names` their roles. */
static void
assert_roles(struct ports *ports, const char *names, const char *line, const char *exception)
{
	struct parsed p;

	ports_fill(ports, names);
	options_make(&p, line, exception);
	assert_int_equal(ports_choose_roles(ports, &p.options), 0);
	options_free(&p.options);
}

static void
assert_port(const struct ports *ports, uint32_t index, const char *name, uint16_t pair)
{
	assert_string_equal(ports->port[index].name, name);
	assert_int_equal(ports->port[index].pair, pair);
	assert_false(ports->port[index].is_output);
}

static void
assert_output(const struct ports *ports, uint32_t index, const char *name)
{
	assert_string_equal(ports->port[index].name, name);
	assert_true(ports->port[index].is_output);
	assert_false(ports->port[index].is_exception);
}

static void
without_steering_every_port_is_paired_and_polled(void **state)
{
	struct ports ports;

	(void)state;
	assert_roles(&ports, "a b c", "--workers 2", NULL);
	assert_int_equal(ports.n, 3);
	assert_int_equal(ports.n_polled, 3);
	assert_port(&ports, 0, "a", 1);
	assert_port(&ports, 1, "b", 0);
	assert_port(&ports, 2, "c", 2);
}

/* The TAPs stand before and between the wires: the wires are a pair all the same. */
static void
a_port_that_is_steered_into_takes_no_part_in_the_pairs(void **state)
{
	struct ports ports;

	(void)state;
	assert_roles(&ports, "tap0 wire0 tap1 - wire1",
		"--workers 2 --handler 0=port:tap0 --handler 1=port:2", NULL);
	assert_int_equal(ports.n, 4);
	assert_int_equal(ports.n_polled, 2);
	assert_port(&ports, 0, "wire0", 4);
	assert_port(&ports, 1, "wire1", 1);
	assert_output(&ports, 2, "tap0");
	assert_output(&ports, 3, "tap1");
}

static void
several_workers_may_steer_into_one_port(void **state)
{
	struct ports ports;

	(void)state;
	assert_roles(
		&ports, "wire0 tap0", "--workers 4 --handler port:tap0 --handler 3=drop", NULL);
	assert_int_equal(ports.n_polled, 1);
	assert_port(&ports, 0, "wire0", 0);
	assert_output(&ports, 1, "tap0");
}

/* What no worker runs is only a word. */
static void
a_handler_that_another_one_replaces_makes_no_output(void **state)
{
	struct ports ports;

	(void)state;
	assert_roles(&ports, "a b", "--workers 2 --handler port:b --handler forward", NULL);
	assert_int_equal(ports.n_polled, 2);
	assert_port(&ports, 0, "a", 1);
	assert_port(&ports, 1, "b", 0);
}

static void
the_exception_port_stays_the_last_of_those_that_are_polled(void **state)
{
	struct ports ports;

	(void)state;
	assert_roles(&ports, "kernel tap0 wire0 wire1", "--workers 2 --handler 1=port:tap0", "0");
	assert_int_equal(ports.n_polled, 3);
	assert_port(&ports, 0, "wire0", 3);
	assert_port(&ports, 1, "wire1", 2);
	assert_port(&ports, 2, "kernel", 2);
	assert_true(ports.port[2].is_exception);
	assert_int_equal(ports.exception_id, 0);
	assert_output(&ports, 3, "tap0");
}

/* The handler refuses it when it opens, and names the ports that there are. */
static void
a_port_that_does_not_exist_is_left_to_the_handler(void **state)
{
	struct ports ports;

	(void)state;
	assert_roles(&ports, "a b", "--workers 1 --handler port:c", NULL);
	assert_int_equal(ports.n_polled, 2);
	assert_roles(&ports, "a b", "--workers 1 --handler port", NULL);
	assert_int_equal(ports.n_polled, 2);
	assert_roles(&ports, "a b", "--workers 1 --handler port:", NULL);
	assert_int_equal(ports.n_polled, 2);
}

static void
assert_roles_refused(
	const char *names, const char *line, const char *exception, const char *expected)
{
	struct stderr_capture capture;
	struct ports ports;
	struct parsed p;
	char text[512];
	int rc;

	ports_fill(&ports, names);
	options_make(&p, line, exception);
	stderr_capture_start(&capture);
	rc = ports_choose_roles(&ports, &p.options);
	stderr_capture_end(&capture, text, sizeof(text));
	assert_int_equal(rc, -EINVAL);
	assert_one_line(text);
	assert_non_null(strstr(text, expected));
	options_free(&p.options);
}

static void
ports_that_contradict_their_roles_are_refused(void **state)
{
	(void)state;
	assert_roles_refused("a", "--workers 1 --handler port:a", NULL,
		"--handler port:a: allowed a port besides at least one that packets come from");
	assert_roles_refused("a b", "--workers 2 --handler 0=port:a --handler 1=port:1", NULL,
		"--handler port:1: allowed a port besides at least one that packets come from");
	assert_roles_refused("a b", "--workers 1 --handler port:a", "b",
		"--handler port:a: allowed a port besides at least one that packets come from");
	assert_roles_refused("a b c", "--workers 1 --handler port:b", "1",
		"--handler port:b: allowed another port than --exception-port");
	assert_roles_refused("a", "--workers 1", "a",
		"--exception-port a: allowed a port of EAL's besides at least one other");
	assert_roles_refused(
		"a b", "--workers 1", "c", "--exception-port c: allowed a port of EAL's");
}

static void
handlers_get_the_pairs_and_names_by_id(void **state)
{
	const char *names[RTE_MAX_ETHPORTS];
	uint8_t pair[RTE_MAX_ETHPORTS];
	struct ports ports;

	(void)state;
	assert_roles(&ports, "tap0 wire0 - wire1", "--workers 1 --handler port:tap0", NULL);
	ports_fill_pairs(&ports, pair);
	ports_fill_names(&ports, names);
	assert_int_equal(pair[1], 3);
	assert_int_equal(pair[3], 1);
	assert_string_equal(names[0], "tap0");
	assert_string_equal(names[1], "wire0");
	assert_null(names[2]);
	assert_string_equal(names[3], "wire1");
	for (uint32_t id = 4; id < RTE_MAX_ETHPORTS; id++)
		assert_null(names[id]);
}

/* A worker that is added later steers where nobody has polled. */
static void
the_port_of_a_worker_to_come_is_an_output_from_the_start(void **state)
{
	struct ports ports;

	(void)state;
	assert_roles(&ports, "a b",
		"--workers 1 --workers-max 2 --handler 0=drop --handler 1=port:b", NULL);
	assert_int_equal(ports.n_polled, 1);
	assert_output(&ports, 1, "b");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_port_of_a_worker_to_come_is_an_output_from_the_start),
		cmocka_unit_test(without_steering_every_port_is_paired_and_polled),
		cmocka_unit_test(a_port_that_is_steered_into_takes_no_part_in_the_pairs),
		cmocka_unit_test(several_workers_may_steer_into_one_port),
		cmocka_unit_test(a_handler_that_another_one_replaces_makes_no_output),
		cmocka_unit_test(the_exception_port_stays_the_last_of_those_that_are_polled),
		cmocka_unit_test(a_port_that_does_not_exist_is_left_to_the_handler),
		cmocka_unit_test(ports_that_contradict_their_roles_are_refused),
		cmocka_unit_test(handlers_get_the_pairs_and_names_by_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
