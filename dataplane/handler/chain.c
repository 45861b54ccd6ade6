/* SPDX-License-Identifier: BSD-3-Clause */
/* Gathers chains. Links are the dispatcher's to write, lengths are checked all the same. */
#include "chain.h"

#include <string.h>

/* The link stands before a segment's data, at any alignment. */
static struct weir_segment_link
link_read(const uint8_t *data)
{
	struct weir_segment_link link;

	memcpy(&link, data - sizeof(link), sizeof(link));
	return link;
}

uint32_t
chain_gather(const struct weir_packet *packet, uint8_t *to, uint32_t room_bytes)
{
	const uint32_t limit = chain_least(packet->meta.length, room_bytes);
	const uint8_t *data = packet->data;
	uint32_t segment_length = packet->meta.segment_length;
	uint32_t gathered = 0;

	for (uint32_t segment = 0; segment < CHAIN_SEGMENTS_MAX; segment++) {
		const struct weir_segment_link link = link_read(data);
		const uint32_t n = chain_least(segment_length, limit - gathered);

		memcpy(to + gathered, data, n);
		gathered += n;
		if (link.next_offset == 0 || gathered == limit)
			break;
		data += link.next_offset;
		segment_length = link.next_length;
	}
	return gathered;
}
