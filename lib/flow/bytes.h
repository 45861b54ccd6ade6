/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads of network-order numbers at any alignment. The caller has checked the bounds. */
#ifndef WEIR_FLOW_BYTES_H
#define WEIR_FLOW_BYTES_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t
load_be16(const uint8_t *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return be16toh(value);
}

static inline uint32_t
load_be32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return be32toh(value);
}

static inline uint64_t
load_be64(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return be64toh(value);
}

#endif
