/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames to parse, of one kind each: the layers are the kind's, addresses and ports drawn. They fit
 * the first-level cache together. Knows no parser.
 */
#ifndef WEIR_BENCH_FRAMES_H
#define WEIR_BENCH_FRAMES_H

#include <stdint.h>

#define FRAMES_N 64 /* power of two */
#define FRAME_ROOM_BYTES 192

struct frames {
	uint8_t bytes[FRAMES_N][FRAME_ROOM_BYTES];
	uint32_t length[FRAMES_N];
};

struct frame_writer;

/* A kind of frame, by name. */
struct frame_kind {
	const char *name;
	void (*write)(struct frame_writer *writer); /* NULL: each frame of another kind, drawn */
};

/* The kind at `index`, in the order of the table; NULL past the end. */
const struct frame_kind *frame_kind_at(uint32_t index);

/* The kind of this name; NULL if there is none. */
const struct frame_kind *frame_kind_find(const char *name);

/* Writes the frames of `kind`; the same seed writes the same ones. */
void frames_write(struct frames *frames, const struct frame_kind *kind, uint64_t seed);

#endif
