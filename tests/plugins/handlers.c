/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handlers with one fault each, and some without; the build chooses which one is exported: HANDLER
 * is its name here.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weir/handler.h>

#include "handler_calls.h"

#define USED __attribute__((unused))

WEIR_API struct handler_calls handler_calls;

/* What every handler here has for a state. */
struct state {
	bool is_trial;
	uint32_t n_packets;
};

/* ---- open, begin, close ---- */

USED static int
good_open(const struct weir_handler_setup *setup, const char *arguments, void **state, char *error,
	size_t error_bytes)
{
	struct state *made = calloc(1, sizeof(*made));

	(void)arguments;
	(void)error;
	(void)error_bytes;
	if (!made)
		return -ENOMEM;
	made->is_trial = setup->is_trial;
	handler_calls.open++;
	*state = made;
	return 0;
}

USED static int
good_begin(void *state, char *error, size_t error_bytes)
{
	(void)state;
	(void)error;
	(void)error_bytes;
	handler_calls.begin++;
	return 0;
}

USED static int
good_close(void *state, char *error, size_t error_bytes)
{
	const struct state *closed = state;

	(void)error;
	(void)error_bytes;
	handler_calls.close++;
	handler_calls.closed_packets = closed->n_packets;
	free(state);
	return 0;
}

/* Takes what comes in the trial; then refuses, and says what it was given. */
USED static int
telling_open(const struct weir_handler_setup *setup, const char *arguments, void **state,
	char *error, size_t error_bytes)
{
	if (setup->is_trial)
		return good_open(setup, arguments, state, error, error_bytes);
	snprintf(error, error_bytes,
		"worker %u.%u, %u ports, 1 to %u, seed %" PRIu64 ", %" PRIu64 " Hz, '%s'",
		setup->worker, setup->incarnation, setup->n_ports, setup->pair[1], setup->seed,
		setup->tsc_hz, arguments ? arguments : "none");
	return -ERANGE;
}

USED static int
crash_open(const struct weir_handler_setup *setup, const char *arguments, void **state, char *error,
	size_t error_bytes)
{
	raise(SIGSEGV);
	return good_open(setup, arguments, state, error, error_bytes);
}

/* Fails, and does not say why: in the trial for `silent`, behind it for `late_silent`. */
USED static int
silent_open(const struct weir_handler_setup *setup, const char *arguments, void **state,
	char *error, size_t error_bytes)
{
	(void)setup;
	(void)arguments;
	(void)state;
	(void)error;
	(void)error_bytes;
	return -ENOSPC;
}

USED static int
late_silent_open(const struct weir_handler_setup *setup, const char *arguments, void **state,
	char *error, size_t error_bytes)
{
	const int rc = setup->is_trial ? good_open(setup, arguments, state, error, error_bytes)
				       : 1; /* not as it should be: a failure all the same */

	return rc;
}

USED static int
failing_begin(void *state, char *error, size_t error_bytes)
{
	(void)state;
	snprintf(error, error_bytes, "a begin\nof another kind");
	return -EIO;
}

USED static int
late_failing_begin(void *state, char *error, size_t error_bytes)
{
	const struct state *begun = state;

	return begun->is_trial ? 0 : failing_begin(state, error, error_bytes);
}

USED static int
failing_close(void *state, char *error, size_t error_bytes)
{
	free(state);
	snprintf(error, error_bytes, "the disk is full");
	return -ENOSPC;
}

USED static int
late_failing_close(void *state, char *error, size_t error_bytes)
{
	const struct state *closed = state;

	if (!closed->is_trial)
		return failing_close(state, error, error_bytes);
	free(state);
	return 0;
}

/* ---- process ---- */

USED static void
good_process(
	void *state, const struct weir_packet *packets, uint32_t n, struct weir_verdict *verdicts)
{
	struct state *counted = state;

	for (uint32_t i = 0; i < n; i++)
		verdicts[i] = weir_verdict_tx(&packets[i], packets[i].meta.port);
	if (counted)
		counted->n_packets += n;
}

/* As good_process, but for the one verdict that a test of its own looks at. */
#define FAULTY(name_, statement_)                                                          \
	USED static void name_(void *state, const struct weir_packet *packets, uint32_t n, \
		struct weir_verdict *verdicts)                                             \
	{                                                                                  \
		good_process(state, packets, n, verdicts);                                 \
		statement_;                                                                \
	}

FAULTY(crash_process, raise(SIGSEGV))
FAULTY(exit_process, _exit(0))
FAULTY(loop_process, for (;;) continue)
FAULTY(skip_process, if (n > 1) verdicts[1].kind = 0xee)
FAULTY(long_process, verdicts[n] = verdicts[0])
FAULTY(kind_process, verdicts[n - 1].kind = 9)
FAULTY(sent_process, verdicts[n - 1].kind = WEIR_VERDICT_SENT)
FAULTY(reason_process, verdicts[0] = weir_verdict_drop(WEIR_REASON_COUNT))
FAULTY(port_process, verdicts[0].target = 200)
FAULTY(empty_process, verdicts[0].length = 0)
FAULTY(grow_process, verdicts[0].length++)
FAULTY(prepend_process, verdicts[0].data_offset = -4)
FAULTY(cut_process, verdicts[0].data_offset = 1; verdicts[0].length--)
FAULTY(consume_process, verdicts[0] = weir_verdict_consumed())
FAULTY(store_process, packets[n - 1].data[0] ^= 1)
FAULTY(mark_process, for (uint32_t i = 0; i < n; i++) packets[i].data[0] ^= 1)
FAULTY(short_process, for (uint32_t i = 0; i < n; i++) if (packets[i].meta.length == 1) abort())
FAULTY(chain_process, if (n > 4 && packets[4].meta.flags & WEIR_META_CHAIN) abort())
FAULTY(full_process, if (n == WEIR_BURST_MAX) abort())
FAULTY(store_link_process, packets[n - 1].data[-1] ^= 1)

/* Follows a chain to its end, and crashes if that is not where the lengths say. */
USED static void
gather_process(
	void *state, const struct weir_packet *packets, uint32_t n, struct weir_verdict *verdicts)
{
	good_process(state, packets, n, verdicts);
	for (uint32_t i = 0; i < n; i++) {
		struct weir_segment_link link = { 0 };
		const uint8_t *data = packets[i].data;
		uint32_t length = packets[i].meta.segment_length;

		while (packets[i].meta.flags & WEIR_META_CHAIN) {
			memcpy(&link, data - sizeof(link), sizeof(link));
			if (link.next_offset == 0)
				break;
			data += link.next_offset;
			length += link.next_length;
		}
		if (length != packets[i].meta.length)
			abort();
	}
}

USED static void
ipv4_process(
	void *state, const struct weir_packet *packets, uint32_t n, struct weir_verdict *verdicts)
{
	good_process(state, packets, n, verdicts);
	for (uint32_t i = 0; i < n; i++)
		if (packets[i].meta.segment_length > 14 && packets[i].data[12] == 0x08 &&
			packets[i].data[13] == 0x00 && packets[i].data[14] == 0x45)
			abort();
}

USED static void
sink_process(
	void *state, const struct weir_packet *packets, uint32_t n, struct weir_verdict *verdicts)
{
	good_process(state, packets, n, verdicts);
	for (uint32_t i = 0; i < n; i++)
		verdicts[i] = i % 2 ? weir_verdict_consumed()
				    : weir_verdict_drop(WEIR_REASON_HANDLER_DROP);
}

/* Good while it is tried; then every answer is none. */
USED static void
late_process(
	void *state, const struct weir_packet *packets, uint32_t n, struct weir_verdict *verdicts)
{
	const struct state *counted = state;

	good_process(state, packets, n, verdicts);
	for (uint32_t i = 0; !counted->is_trial && i < n; i++)
		verdicts[i].kind = 9;
}

/* ---- handlers ---- */

#define FAULT(name_, ...) \
	USED static const struct weir_handler name_ = { .help = "one of the tests'", __VA_ARGS__ }
#define NAMED(name_, ...) FAULT(name_, .name = "tested", __VA_ARGS__)
#define OPENED(name_, ...)                                                            \
	NAMED(name_, .open = good_open, .begin = good_begin, .process = good_process, \
		.close = good_close, __VA_ARGS__)

FAULT(no_name, .process = good_process);
FAULT(bad_name, .name = "Tested", .process = good_process);
NAMED(no_help, .process = good_process, .help = NULL);
NAMED(two_lines, .process = good_process, .help = "one\ntwo");
NAMED(no_process, .flags = 0);
NAMED(flags, .process = good_process, .flags = 1u << 31 | WEIR_HANDLER_SINK);
NAMED(lone_close, .process = good_process, .close = good_close);
NAMED(lone_begin, .process = good_process, .begin = good_begin);

OPENED(crash_in_open, .open = crash_open);
OPENED(silent, .open = silent_open);
OPENED(begin_fails, .begin = failing_begin);
OPENED(close_fails, .close = failing_close);
OPENED(crash, .process = crash_process);
OPENED(exits, .process = exit_process);
OPENED(loop, .process = loop_process);
OPENED(short_crash, .process = short_process);
OPENED(chain_crash, .process = chain_process);
OPENED(ipv4_crash, .process = ipv4_process);
OPENED(full_crash, .process = full_process);
OPENED(skips, .process = skip_process);
OPENED(too_long, .process = long_process);
OPENED(kind, .process = kind_process);
OPENED(sent, .process = sent_process);
OPENED(reason, .process = reason_process);
OPENED(port, .process = port_process);
OPENED(empty, .process = empty_process);
OPENED(grows, .process = grow_process);
OPENED(prepends, .process = prepend_process);
OPENED(consumes, .process = consume_process);
OPENED(stores, .process = store_process);
OPENED(stores_link, .process = store_link_process);
OPENED(sink_sends, .flags = WEIR_HANDLER_SINK);

OPENED(good, .flags = WEIR_HANDLER_RESTARTABLE);
NAMED(plain, .process = good_process);
OPENED(cuts, .process = cut_process);
OPENED(sink, .process = sink_process, .flags = WEIR_HANDLER_SINK);
OPENED(writer, .process = prepend_process, .flags = WEIR_HANDLER_WRITES);
OPENED(gathers, .process = gather_process);
OPENED(marks, .process = mark_process, .flags = WEIR_HANDLER_WRITES);
OPENED(tells, .open = telling_open);
OPENED(late, .process = late_process);
OPENED(late_silent, .open = late_silent_open);
OPENED(late_begin_fails, .begin = late_failing_begin);
OPENED(late_close_fails, .close = late_failing_close);

WEIR_HANDLER_PLUGIN(HANDLER);
