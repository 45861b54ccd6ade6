/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets that come as chains of segments, for handlers that need one in a single piece. */
#ifndef WEIR_DATAPLANE_HANDLER_CHAIN_H
#define WEIR_DATAPLANE_HANDLER_CHAIN_H

#include <stdint.h>

#include <weir/packet.h>

/*
 * Longer chains are cut: a link that closes a circle must not hold a worker for ever. Twice what
 * the longest packet, 64 kB, takes of the smallest buffers, 128 bytes of data each.
 */
#define CHAIN_SEGMENTS_MAX 1024

static inline uint32_t
chain_least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/*
 * Copies a packet that is flagged WEIR_META_CHAIN to `to`. Copies no more than `meta.length`, nor
 * `room_bytes`, nor CHAIN_SEGMENTS_MAX segments. Returns the bytes copied.
 */
uint32_t chain_gather(const struct weir_packet *packet, uint8_t *to, uint32_t room_bytes);

#endif
