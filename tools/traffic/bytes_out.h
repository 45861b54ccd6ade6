/* SPDX-License-Identifier: BSD-3-Clause */
/* Appends numbers in network order. The caller has seen to the room. */
#ifndef WEIR_TRAFFIC_BYTES_OUT_H
#define WEIR_TRAFFIC_BYTES_OUT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Each returns the place behind what it wrote. */
static inline uint8_t *
put8(uint8_t *at, unsigned int value)
{
	*at = (uint8_t)value;
	return at + 1;
}

static inline uint8_t *
put16(uint8_t *at, uint32_t value)
{
	return put8(put8(at, value >> 8 & 0xff), value & 0xff);
}

static inline uint8_t *
put32(uint8_t *at, uint32_t value)
{
	return put16(put16(at, value >> 16), value & 0xffff);
}

static inline uint8_t *
put_bytes(uint8_t *at, const void *bytes, size_t n)
{
	memcpy(at, bytes, n);
	return at + n;
}

#endif
