/* SPDX-License-Identifier: BSD-3-Clause */
#include "plugin_trial.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weir/handler.h>

#include "child.h"
#include "rng.h"

#define TRIAL_SEED 1
#define TRIAL_PORTS 32 /* DPDK's most: a handler may send to a port that its arguments name */
#define TRIAL_HZ UINT64_C(1000000000)
#define TRIAL_ERROR_BYTES 256
#define TRIAL_TIME_NS UINT64_C(1700000000000000000)
#define FLOWS_BELOW 8

/* Of a packet's buffer: headroom, a segment, headroom, a second segment for every fourth. */
#define BUFFER_BYTES 4096
#define SEGMENT_AT 2048 /* from one segment's data to the next one's */
#define HEADROOM_BYTES 128
#define SEGMENT_BYTES_MAX 1514
#define CHAIN_EVERY 4
#define SHORT_EVERY 5 /* a single byte */

/* No verdict: of a kind that does not exist. */
#define UNTOUCHED 0xee

struct trial {
	const struct weir_handler *handler;
	void *state;
	char *reason;
	size_t n_bytes;
	uint64_t draws;
	struct weir_packet packets[WEIR_BURST_MAX];
	struct weir_verdict verdicts[WEIR_BURST_MAX + 1];
	uint8_t buffer[WEIR_BURST_MAX][BUFFER_BYTES];
	uint8_t before[WEIR_BURST_MAX][BUFFER_BYTES];
};

static uint64_t
draw(struct trial *trial)
{
	return rng_at(TRIAL_SEED, trial->draws++);
}

static uint32_t
draw_below(struct trial *trial, uint32_t n)
{
	return rng_below(draw(trial), n);
}

/* Random bytes, half of them with the beginning of an IPv4 packet: handlers look further then. */
static void
bytes_fill(struct trial *trial, uint8_t *buffer)
{
	static const uint8_t ethernet_type_and_version[] = { 0x08, 0x00, 0x45 };

	for (uint32_t at = 0; at < BUFFER_BYTES; at += sizeof(uint64_t)) {
		const uint64_t bytes = draw(trial);

		memcpy(buffer + at, &bytes, sizeof(bytes));
	}
	if (draw_below(trial, 2))
		memcpy(buffer + HEADROOM_BYTES + 12, ethernet_type_and_version,
			sizeof(ethernet_type_and_version));
}

static void
link_write(uint8_t *data, int64_t next_offset, uint32_t next_length)
{
	const struct weir_segment_link link = { .next_offset = next_offset,
		.next_length = next_length };

	memcpy(data - sizeof(link), &link, sizeof(link));
}

static void
packet_make(struct trial *trial, uint32_t i)
{
	const uint64_t hash = rng_at(TRIAL_SEED, draw_below(trial, FLOWS_BELOW));
	const uint32_t length = i % SHORT_EVERY ? 1 + draw_below(trial, SEGMENT_BYTES_MAX) : 1;
	const uint32_t more = i % CHAIN_EVERY ? 0 : 1 + draw_below(trial, SEGMENT_BYTES_MAX);
	uint8_t *data = trial->buffer[i] + HEADROOM_BYTES;

	bytes_fill(trial, trial->buffer[i]);
	if (more > 0) {
		link_write(data, SEGMENT_AT, more);
		link_write(data + SEGMENT_AT, 0, 0);
	}
	trial->packets[i] = (struct weir_packet) {
		.data = data,
		.meta = {
			.time_ns = TRIAL_TIME_NS + trial->draws,
			.hash = hash,
			.length = length + more,
			.segment_length = length,
			.bucket = (uint16_t)(hash >> 48),
			.port = (uint8_t)draw_below(trial, 2),
			.flags = more > 0 ? WEIR_META_CHAIN : 0,
			.class_id = (uint8_t)draw_below(trial, WEIR_CLASSES_MAX),
		},
	};
}

/* `length` is that of the packet before. */
static int
transmission_check(const struct trial *trial, const struct weir_verdict *verdict, uint32_t length)
{
	const uint32_t flags = trial->handler->flags;
	const int64_t end = verdict->data_offset + (int64_t)verdict->length;

	if (flags & WEIR_HANDLER_SINK)
		return reason_set(trial->reason, trial->n_bytes, EINVAL, "has SINK, and transmits");
	if (verdict->target >= TRIAL_PORTS)
		return reason_set(trial->reason, trial->n_bytes, EINVAL, "transmits on port %u",
			verdict->target);
	if (verdict->length == 0)
		return reason_set(
			trial->reason, trial->n_bytes, EINVAL, "transmits a packet of no bytes");
	if (!(flags & WEIR_HANDLER_WRITES) && (verdict->data_offset < 0 || end > length))
		return reason_set(trial->reason, trial->n_bytes, EINVAL,
			"makes a packet of %u bytes longer, without WRITES", length);
	return 0;
}

static int
verdict_check(const struct trial *trial, uint32_t i)
{
	const struct weir_verdict *verdict = &trial->verdicts[i];

	switch (verdict->kind) {
	case WEIR_VERDICT_TX:
		return transmission_check(trial, verdict, trial->packets[i].meta.length);
	case WEIR_VERDICT_CONSUMED:
		if (trial->handler->flags & WEIR_HANDLER_SINK)
			return 0;
		return reason_set(
			trial->reason, trial->n_bytes, EINVAL, "consumes packets, without SINK");
	case WEIR_VERDICT_DROP:
		if (verdict->target < WEIR_REASON_COUNT)
			return 0;
		return reason_set(trial->reason, trial->n_bytes, EINVAL,
			"drops for reason %u, which is none", verdict->target);
	case UNTOUCHED:
		return reason_set(trial->reason, trial->n_bytes, EINVAL,
			"gave packet %u of a burst no verdict", i);
	default:
		return reason_set(trial->reason, trial->n_bytes, EINVAL,
			"gave a verdict of kind %u, which is none", verdict->kind);
	}
}

static int
answers_check(const struct trial *trial, uint32_t n)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < n; i++)
		rc = verdict_check(trial, i);
	if (rc == 0 && trial->verdicts[n].kind != UNTOUCHED)
		rc = reason_set(trial->reason, trial->n_bytes, EINVAL,
			"wrote more than %u verdicts for as many packets", n);
	if (rc < 0 || (trial->handler->flags & WEIR_HANDLER_WRITES))
		return rc;
	if (memcmp(trial->buffer, trial->before, (size_t)n * BUFFER_BYTES) != 0)
		return reason_set(trial->reason, trial->n_bytes, EINVAL,
			"stores to packets' bytes, without WRITES");
	return 0;
}

static int
burst_try(struct trial *trial, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		packet_make(trial, i);
	memcpy(trial->before, trial->buffer, (size_t)n * BUFFER_BYTES);
	memset(trial->verdicts, UNTOUCHED, sizeof(trial->verdicts));
	trial->handler->process(trial->state, trial->packets, n, trial->verdicts);
	return answers_check(trial, n);
}

/* Of a callback that failed: what it said, behind `words`. */
static int
error_take(const struct trial *trial, const char *words, char *error, int rc)
{
	error[TRIAL_ERROR_BYTES - 1] = '\0';
	return reason_set(trial->reason, trial->n_bytes, EINVAL, "%s %s", words,
		error[0] ? error : strerror(rc < 0 ? -rc : EINVAL));
}

static int
trial_open(struct trial *trial, const char *arguments)
{
	const struct weir_handler *handler = trial->handler;
	char error[TRIAL_ERROR_BYTES] = "";
	uint8_t pair[TRIAL_PORTS];
	const struct weir_handler_setup setup = {
		.seed = TRIAL_SEED,
		.tsc_hz = TRIAL_HZ,
		.pair = pair,
		.n_ports = TRIAL_PORTS,
		.is_trial = true,
	};
	int rc;

	if (!handler->open && arguments)
		return reason_set(trial->reason, trial->n_bytes, EINVAL,
			"allowed no arguments, not '%s'", arguments);
	for (uint32_t i = 0; i < TRIAL_PORTS; i++)
		pair[i] = (uint8_t)(i ^ 1);
	if (!handler->open)
		return 0;
	rc = handler->open(&setup, arguments, &trial->state, error, sizeof(error));
	return rc == 0 ? 0 : error_take(trial, "allowed", error, rc);
}

static int
trial_begin(struct trial *trial)
{
	char error[TRIAL_ERROR_BYTES] = "";
	int rc = 0;

	if (trial->handler->begin)
		rc = trial->handler->begin(trial->state, error, sizeof(error));
	return rc == 0 ? 0 : error_take(trial, "allowed", error, rc);
}

static int
trial_close(struct trial *trial)
{
	char error[TRIAL_ERROR_BYTES] = "";
	int rc = 0;

	if (trial->handler->close)
		rc = trial->handler->close(trial->state, error, sizeof(error));
	return rc == 0 ? 0 : error_take(trial, "failed in the trial:", error, rc);
}

int
plugin_trial_run(
	const struct weir_handler *handler, const char *arguments, char *reason, size_t n_bytes)
{
	static const uint32_t bursts[] = { 1, 3, 32, WEIR_BURST_MAX };
	struct trial *trial = calloc(1, sizeof(*trial));
	int rc;

	if (!trial)
		return reason_set(reason, n_bytes, ENOMEM, "no memory for the trial");
	trial->handler = handler;
	trial->reason = reason;
	trial->n_bytes = n_bytes;
	rc = trial_open(trial, arguments);
	if (rc == 0)
		rc = trial_begin(trial);
	for (size_t i = 0; rc == 0 && i < sizeof(bursts) / sizeof(bursts[0]); i++)
		rc = burst_try(trial, bursts[i]);
	if (rc == 0)
		rc = trial_close(trial);
	free(trial);
	return rc;
}
