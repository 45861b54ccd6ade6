/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The progress lines: what a worker writes and dispatchers read. Per dispatcher one 64-bit word
 * {completed : 32, in_process : 16, spare : 16}, seven dispatchers to a line; the eighth word of
 * the first line is the worker's pulse {state : 32, beats : 32}. One store publishes a whole burst.
 */
#ifndef WEIR_LANE_PROGRESS_H
#define WEIR_LANE_PROGRESS_H

#include <stdatomic.h>
#include <stdint.h>

#include <weir/packet.h>

#include "cacheline.h"

#define PROGRESS_WORDS_PER_LINE 7
#define PROGRESS_LINES 2
static_assert(PROGRESS_LINES * PROGRESS_WORDS_PER_LINE == WEIR_DISPATCHERS_MAX,
	"a word for every dispatcher");

/* Written by the worker only. */
struct progress_line {
	CACHE_ALIGNED _Atomic uint64_t word[PROGRESS_WORDS_PER_LINE];
	_Atomic uint64_t pulse; /* in the first line; unused in others */
};
static_assert(sizeof(struct progress_line) == CACHE_LINE_BYTES, "one line");

struct progress {
	struct progress_line line[PROGRESS_LINES];
};

static inline uint64_t
progress_pack(uint32_t completed, uint32_t in_process)
{
	return (uint64_t)in_process << 32 | completed;
}

static inline uint32_t
progress_completed(uint64_t word)
{
	return (uint32_t)word;
}

static inline uint32_t
progress_in_process(uint64_t word)
{
	return (uint16_t)(word >> 32);
}

static inline uint32_t
progress_line_of(uint32_t dispatcher)
{
	return dispatcher >= PROGRESS_WORDS_PER_LINE;
}

static inline _Atomic uint64_t *
progress_word(struct progress *progress, uint32_t dispatcher)
{
	const uint32_t line = progress_line_of(dispatcher);

	return &progress->line[line].word[dispatcher - line * PROGRESS_WORDS_PER_LINE];
}

/*
 * Edge E2, release side: the store gives packets back, so it comes after the handler's writes and
 * the verdicts; without release order the dispatcher could transmit a packet that is still being
 * written.
 */
static inline void
progress_publish(struct progress *progress, uint32_t dispatcher, uint64_t word)
{
	atomic_store_explicit(progress_word(progress, dispatcher), word, memory_order_release);
}

/* Edge E2, acquire side: what was completed by this word is the dispatcher's. */
static inline uint64_t
progress_read(struct progress *progress, uint32_t dispatcher)
{
	return atomic_load_explicit(progress_word(progress, dispatcher), memory_order_acquire);
}

static inline uint64_t
pulse_pack(uint32_t beats, uint32_t state)
{
	return (uint64_t)state << 32 | beats;
}

static inline uint32_t
pulse_beats(uint64_t pulse)
{
	return (uint32_t)pulse;
}

static inline uint32_t
pulse_state(uint64_t pulse)
{
	return (uint32_t)(pulse >> 32);
}

/*
 * Edge E4, release side: all that the worker did before it reported a state comes before it; else
 * control could take a worker for ready that is still opening its handler.
 */
static inline void
pulse_publish(struct progress *progress, uint64_t pulse)
{
	atomic_store_explicit(&progress->line[0].pulse, pulse, memory_order_release);
}

/* Edge E4, acquire side. */
static inline uint64_t
pulse_read(struct progress *progress)
{
	return atomic_load_explicit(&progress->line[0].pulse, memory_order_acquire);
}

#endif
