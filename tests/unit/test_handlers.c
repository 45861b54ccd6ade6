/* SPDX-License-Identifier: BSD-3-Clause */
/* The worker's handlers: verdicts, synthetic work, and every refusal of arguments. */
#include <math.h>
#include <time.h>

#include "cycles.h"
#include "handler_fixture.h"
#include "law.h"
#include "test.h"

static void
assert_transmits(const struct fixture *f, uint32_t i, uint8_t port)
{
	assert_int_equal(f->verdicts[i].kind, WEIR_VERDICT_TX);
	assert_int_equal(f->verdicts[i].target, port);
	assert_int_equal(f->verdicts[i].data_offset, 0);
	assert_int_equal(f->verdicts[i].length, f->packets[i].meta.length);
}

static void
registry_finds_a_handler_by_the_name_before_the_colon(void **state)
{
	(void)state;
	for (unsigned int i = 0; handler_at(i) != NULL; i++) {
		char spec[64];

		assert_ptr_equal(handler_find(handler_at(i)->name), handler_at(i));
		snprintf(spec, sizeof(spec), "%s:a:b", handler_at(i)->name);
		assert_ptr_equal(handler_find(spec), handler_at(i));
		assert_string_equal(handler_arguments(spec), "a:b");
		assert_non_null(handler_at(i)->usage);
		assert_non_null(handler_at(i)->help);
	}
	assert_string_equal(handler_at(0)->name, "forward");
}

static void
registry_finds_nothing_by_a_prefix_or_a_longer_name(void **state)
{
	(void)state;
	assert_null(handler_find(""));
	assert_null(handler_find(":"));
	assert_null(handler_find("for"));
	assert_null(handler_find("forwards"));
	assert_null(handler_find("Forward"));
	assert_null(handler_at(1000));
	assert_null(handler_arguments("forward"));
	assert_string_equal(handler_arguments("pcap:"), "");
}

/* swap-mac would swap back, pcap would write a packet twice; of a plugin its file tells. */
static void
handlers_whose_work_can_be_done_twice_say_that_they_are_restartable(void **state)
{
	static const char *const restartable[] = { "forward", "echo", "drop", "burn", "wait",
		"port" };
	static const char *const others[] = { "swap-mac", "pcap", "plugin" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(restartable); i++)
		assert_true(handler_find(restartable[i])->restartable);
	for (size_t i = 0; i < ARRAY_LENGTH(others); i++)
		assert_false(handler_find(others[i])->restartable);
}

static void
forward_sends_to_the_paired_port(void **state)
{
	struct fixture *f = *state;

	fixture_run(f, "forward");
	for (uint32_t i = 0; i < N_PACKETS; i++)
		assert_transmits(f, i, pair_of_four[i % 4]);
}

static void
forward_answers_on_a_lone_port(void **state)
{
	struct fixture *f = *state;
	const uint8_t self[] = { 0 };
	const struct handler_setup setup = { .n_ports = 1, .pair = self };
	const struct handler *handler = handler_find("forward");

	assert_int_equal(
		handler->open(&setup, NULL, &f->handler_state, f->error, sizeof(f->error)), 0);
	handler->process(f->handler_state, f->packets, 1, f->verdicts);
	fixture_close(f, handler);
	assert_transmits(f, 0, 0);
}

static void
no_handler_transmits_on_the_pair_of_a_port_that_does_not_exist(void **state)
{
	static const char *const specs[] = { "forward", "echo", "swap-mac", "burn:0", "wait:0" };
	struct fixture *f = *state;

	f->packets[0].meta.port = 4;
	f->packets[1].meta.port = 5;
	f->packets[2].meta.port = UINT8_MAX;
	for (size_t s = 0; s < ARRAY_LENGTH(specs); s++) {
		fixture_run(f, specs[s]);
		for (uint32_t i = 0; i < 3; i++)
			assert_dropped(f, i, WEIR_REASON_BAD_VERDICT);
		assert_int_equal(f->verdicts[3].kind, WEIR_VERDICT_TX);
	}
}

static void
echo_sends_back_by_the_arrival_port(void **state)
{
	struct fixture *f = *state;

	fixture_run(f, "echo");
	for (uint32_t i = 0; i < N_PACKETS; i++)
		assert_transmits(f, i, (uint8_t)(i % 4));
}

static void
swap_mac_exchanges_the_addresses_and_nothing_else(void **state)
{
	struct fixture *f = *state;
	uint8_t before[PACKET_BYTES];

	memcpy(before, f->bytes[3], sizeof(before));
	fixture_run(f, "swap-mac");
	assert_memory_equal(f->bytes[3], before + 6, 6);
	assert_memory_equal(f->bytes[3] + 6, before, 6);
	assert_memory_equal(f->bytes[3] + 12, before + 12, PACKET_BYTES - 12);
	assert_transmits(f, 3, 2);
}

static void
swap_mac_leaves_a_frame_without_two_addresses_alone(void **state)
{
	struct fixture *f = *state;
	uint8_t before[PACKET_BYTES];

	memcpy(before, f->bytes[0], sizeof(before));
	f->packets[0].meta.length = 11;
	f->packets[0].meta.segment_length = 11;
	fixture_run(f, "swap-mac");
	assert_memory_equal(f->bytes[0], before, sizeof(before));
	assert_transmits(f, 0, 1);
}

static void
drop_drops_with_its_own_reason(void **state)
{
	struct fixture *f = *state;

	fixture_run(f, "drop");
	for (uint32_t i = 0; i < N_PACKETS; i++)
		assert_dropped(f, i, WEIR_REASON_HANDLER_DROP);
}

/* A device of PCI has colons in its name. */
static void
port_sends_everything_unchanged_to_the_port_of_a_name_or_number(void **state)
{
	static const char *const specs[] = { "port:net_pcap0", "port:net_tap0", "port:0000:03:00.1",
		"port:0", "port:1", "port:3", "port:03" };
	static const uint8_t ports[] = { 0, 1, 3, 0, 1, 3, 3 };
	struct fixture *f = *state;
	uint8_t before[N_PACKETS][PACKET_BYTES];

	memcpy(before, f->bytes, sizeof(before));
	/* The arrival port is nothing to it: not even one that does not exist. */
	f->packets[1].meta.port = UINT8_MAX;
	for (size_t s = 0; s < ARRAY_LENGTH(specs); s++) {
		fixture_run(f, specs[s]);
		for (uint32_t i = 0; i < N_PACKETS; i++)
			assert_transmits(f, i, ports[s]);
		assert_memory_equal(f->bytes, before, sizeof(before));
	}
	assert_false(handler_find("port")->writes_packets);
}

static void
port_that_does_not_exist_is_refused_with_those_that_do(void **state)
{
	const struct handler *handler = handler_find("port");
	struct fixture *f = *state;

	assert_int_equal(handler->open(&setup_of_four, "net_tap7", &f->handler_state, f->error,
				 sizeof(f->error)),
		-EINVAL);
	assert_string_equal(f->error,
		"port:NAME with a port's name or number: net_pcap0 (0), net_tap0 (1), "
		"0000:03:00.1 (3), not 'net_tap7'");
}

/* As many ports as there can be, with long names: the line ends in dots, and the value is there. */
static void
port_shows_as_many_ports_as_a_refusal_has_room_for(void **state)
{
	const struct handler *handler = handler_find("port");
	const char *names[32];
	const struct handler_setup setup = { .n_ports = 32, .port_names = names };
	struct fixture *f = *state;

	for (uint32_t id = 0; id < 32; id++)
		names[id] = "net_virtio_user_of_a_long_name";
	assert_int_equal(handler->open(&setup, "x", &f->handler_state, f->error, 256), -EINVAL);
	assert_non_null(strstr(f->error, "net_virtio_user_of_a_long_name (0), net_"));
	assert_non_null(strstr(f->error, "..., not 'x'"));
	assert_int_equal(handler->open(&setup, "31", &f->handler_state, f->error, 256), 0);
	handler->process(f->handler_state, f->packets, 1, f->verdicts);
	assert_transmits(f, 0, 31);
	fixture_close(f, handler);
}

static void
bad_arguments_are_refused_with_the_value_and_what_is_allowed(void **state)
{
	static const char *const specs[] = {
		"forward:x",
		"forward:",
		"echo:1",
		"swap-mac:0",
		"drop:all", /* take none */
		"burn",
		"burn:",
		"burn:-1",
		"burn: 1",
		"burn:+1",
		"burn:1 ",
		"burn:1000000000001",
		"burn:99999999999999999999999",
		"burn:0x10",
		"burn:1e3",
		"burn:12:",
		"wait",
		"wait:ms",
		"wait:exp",
		"wait:exp:",
		"wait:exp:1.5",
		"wait:exp:1:2",
		"wait:Exp:1",
		"wait:bimodal:",
		"wait:bimodal:50:1",
		"wait:bimodal:50:1:2:3",
		"wait:bimodal:101:1:2",
		"wait:bimodal:100.01:1:2",
		"wait:bimodal:99.:1:2",
		"wait:bimodal:99.555:1:2",
		"wait:bimodal:.5:1:2",
		"wait:bimodal:-1:1:2",
		"wait:bimodal:50::2",
		"pcap",
		"pcap:",
		"port",
		"port:",
		"port:net_tap",
		"port:net_tap01",
		"port:NET_TAP0",
		"port:2",
		"port:4",
		"port:-1",
		"port:+1",
		"port: 1",
		"port:1x",
		"port:0x1",
		"port:256",
		"port:65537",
		"port:4294967297",
		"port:18446744073709551617",
		"plugin",
		"plugin:",
		"plugin::x",
	};
	struct fixture *f = *state;

	for (size_t s = 0; s < ARRAY_LENGTH(specs); s++) {
		const struct handler *handler = handler_find(specs[s]);
		const char *arguments = handler_arguments(specs[s]);
		char given[64];

		print_message("%s\n", specs[s]);
		memset(f->error, 0, sizeof(f->error));
		assert_int_equal(handler->open(&setup_of_four, arguments, &f->handler_state,
					 f->error, sizeof(f->error)),
			-EINVAL);
		snprintf(given, sizeof(given), ", not '%s'", arguments != NULL ? arguments : "");
		assert_non_null(strstr(f->error, given));
		assert_ptr_not_equal(strstr(f->error, given), f->error);
		assert_null(strchr(f->error, '\n'));
	}
}

static struct law
law_of(const char *text)
{
	char error[ERROR_BYTES];
	struct law law;

	assert_int_equal(law_parse(&law, text, error, sizeof(error)), 0);
	return law;
}

static void
law_constant_is_constant(void **state)
{
	const struct law zero = law_of("0");
	const struct law most = law_of("1000000000000");

	(void)state;
	for (uint64_t i = 0; i < 100; i++) {
		assert_int_equal(law_draw(&zero, i, i), 0);
		assert_int_equal(law_draw(&most, i, i), LAW_AMOUNT_MAX);
	}
}

/* Mean and standard deviation of an exponential are equal: five standard errors of 1e6 draws. */
static void
law_exponential_has_its_mean_and_its_spread(void **state)
{
	const struct law law = law_of("exp:100000");
	const uint64_t n = 1000000;
	double sum = 0;
	double squares = 0;

	(void)state;
	for (uint64_t i = 0; i < n; i++) {
		const double draw = (double)law_draw(&law, 42, i);

		sum += draw;
		squares += draw * draw;
	}
	print_message("seed 42: mean %f, square %f\n", sum / n, squares / n);
	assert_true(fabs(sum / (double)n - 1e5) < 5e2);
	assert_true(fabs(squares / (double)n - 2e10) < 5 * sqrt(20) * 1e7);
}

/* The share of 99.5 % is met within five standard errors, and nothing else is ever drawn. */
static void
law_bimodal_draws_two_values_in_their_shares(void **state)
{
	const struct law law = law_of("bimodal:99.5:50:10050");
	const uint64_t n = 1000000;
	uint64_t n_short = 0;

	(void)state;
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t draw = law_draw(&law, 43, i);

		assert_true(draw == 50 || draw == 10050);
		n_short += draw == 50;
	}
	print_message("seed 43: %lu short\n", (unsigned long)n_short);
	assert_true(fabs((double)n_short - 995000) < 5 * sqrt(1e6 * 0.995 * 0.005));
}

static void
law_bimodal_takes_the_ends_of_its_range(void **state)
{
	const struct law all_short = law_of("bimodal:100:1:2");
	const struct law all_long = law_of("bimodal:0:1:2");
	const struct law hundredth = law_of("bimodal:0.01:1:2");

	(void)state;
	for (uint64_t i = 0; i < 10000; i++) {
		assert_int_equal(law_draw(&all_short, 1, i), 1);
		assert_int_equal(law_draw(&all_long, 1, i), 2);
	}
	assert_int_equal(hundredth.short_share, 1);
	assert_int_equal(law_of("bimodal:99.95:1:2").short_share, 9995);
}

static void
law_draws_are_a_function_of_seed_and_index(void **state)
{
	const struct law law = law_of("exp:1000000");
	uint64_t n_equal = 0;

	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		assert_int_equal(law_draw(&law, 5, i), law_draw(&law, 5, i));
		n_equal += law_draw(&law, 5, i) == law_draw(&law, 6, i);
	}
	assert_true(n_equal < 10);
}

static void
burn_spins_at_least_its_cycles_then_forwards(void **state)
{
	struct fixture *f = *state;
	const uint64_t start = cycles_now();

	fixture_run(f, "burn:100000");
	assert_true(cycles_now() - start >= N_PACKETS * 100000);
	assert_transmits(f, 2, 3);
}

static uint64_t
clock_read_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void
wait_lets_at_least_its_time_pass_then_forwards(void **state)
{
	static const char *const specs[] = { "wait:20000", "wait:1000000" }; /* yields; sleeps */
	static const uint64_t least_ns[] = { N_PACKETS * 20000, N_PACKETS * 1000000 };
	struct fixture *f = *state;

	for (size_t s = 0; s < 2; s++) {
		const uint64_t start_ns = clock_read_ns(CLOCK_MONOTONIC);

		fixture_run(f, specs[s]);
		assert_true(clock_read_ns(CLOCK_MONOTONIC) - start_ns >= least_ns[s]);
		assert_transmits(f, 0, 1);
	}
}

/* Compares CPU time with the time waited, which no load on the machine can turn around. */
static void
wait_leaves_the_cpu_to_others(void **state)
{
	struct fixture *f = *state;
	const uint64_t start_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);

	fixture_run(f, "wait:10000000");
	assert_true(clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns < N_PACKETS * 10000000 / 2);
}

#define HANDLER_TEST(function) \
	cmocka_unit_test_setup_teardown(function, fixture_create, fixture_destroy)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		HANDLER_TEST(registry_finds_a_handler_by_the_name_before_the_colon),
		HANDLER_TEST(registry_finds_nothing_by_a_prefix_or_a_longer_name),
		HANDLER_TEST(handlers_whose_work_can_be_done_twice_say_that_they_are_restartable),
		HANDLER_TEST(forward_sends_to_the_paired_port),
		HANDLER_TEST(forward_answers_on_a_lone_port),
		HANDLER_TEST(no_handler_transmits_on_the_pair_of_a_port_that_does_not_exist),
		HANDLER_TEST(echo_sends_back_by_the_arrival_port),
		HANDLER_TEST(swap_mac_exchanges_the_addresses_and_nothing_else),
		HANDLER_TEST(swap_mac_leaves_a_frame_without_two_addresses_alone),
		HANDLER_TEST(drop_drops_with_its_own_reason),
		HANDLER_TEST(port_sends_everything_unchanged_to_the_port_of_a_name_or_number),
		HANDLER_TEST(port_that_does_not_exist_is_refused_with_those_that_do),
		HANDLER_TEST(port_shows_as_many_ports_as_a_refusal_has_room_for),
		HANDLER_TEST(bad_arguments_are_refused_with_the_value_and_what_is_allowed),
		HANDLER_TEST(law_constant_is_constant),
		HANDLER_TEST(law_exponential_has_its_mean_and_its_spread),
		HANDLER_TEST(law_bimodal_draws_two_values_in_their_shares),
		HANDLER_TEST(law_bimodal_takes_the_ends_of_its_range),
		HANDLER_TEST(law_draws_are_a_function_of_seed_and_index),
		HANDLER_TEST(burn_spins_at_least_its_cycles_then_forwards),
		HANDLER_TEST(wait_lets_at_least_its_time_pass_then_forwards),
		HANDLER_TEST(wait_leaves_the_cpu_to_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
