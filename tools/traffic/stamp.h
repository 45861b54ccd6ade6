/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stamp that generated packets carry, so that whoever finds one later can tell which flow it
 * belongs to and how many packets of the flow went before it. It fills the last 16 bytes of the IP
 * packet, in front of any Ethernet padding; packets without room have none. Shared with tests.
 */
#ifndef WEIR_TRAFFIC_STAMP_H
#define WEIR_TRAFFIC_STAMP_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define STAMP_BYTES 16
#define STAMP_MAGIC "WEIRFLOW"
#define STAMP_MAGIC_BYTES 8

struct stamp {
	uint32_t flow;	   /* number of the flow, from 0 */
	uint32_t sequence; /* packets of that flow before this one, of both directions */
};

static inline void
stamp_write(uint8_t *at, struct stamp stamp)
{
	const uint32_t words[2] = { htobe32(stamp.flow), htobe32(stamp.sequence) };

	memcpy(at, STAMP_MAGIC, STAMP_MAGIC_BYTES);
	memcpy(at + STAMP_MAGIC_BYTES, words, sizeof(words));
}

/* Finds a frame's stamp, whatever its headers; false if it has none. Padding is searched over. */
static inline bool
stamp_find(const uint8_t *frame, uint32_t length, struct stamp *stamp)
{
	uint32_t words[2];

	for (uint32_t end = length; end >= STAMP_BYTES; end--) {
		const uint8_t *at = frame + end - STAMP_BYTES;

		if (memcmp(at, STAMP_MAGIC, STAMP_MAGIC_BYTES) != 0)
			continue;
		memcpy(words, at + STAMP_MAGIC_BYTES, sizeof(words));
		*stamp = (struct stamp) { be32toh(words[0]), be32toh(words[1]) };
		return true;
	}
	return false;
}

#endif
