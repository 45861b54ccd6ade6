/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks of a pcapng file, as bytes: the header and packets that carry a comment. Written here
 * since libpcap writes no pcapng, and DPDK 22.11's rte_pcapng no comments. Does no I/O. Format:
 * IETF draft-ietf-opsawg-pcapng.
 */
#ifndef WEIR_DATAPLANE_PCAPNG_H
#define WEIR_DATAPLANE_PCAPNG_H

#include <stddef.h>
#include <stdint.h>

/* Room for any block made here: bytes kept of a packet, a comment, and what is around them. */
#define PCAPNG_BLOCK_BYTES 1024
#define PCAPNG_COMMENT_BYTES_MAX 256

/* One block, or several in a row. */
struct pcapng_block {
	uint32_t n_bytes;
	uint8_t bytes[PCAPNG_BLOCK_BYTES];
};

struct pcapng_packet {
	uint64_t time_ns; /* since the epoch */
	uint32_t length;  /* bytes of the whole packet */
	uint32_t n_bytes; /* of these, kept: at most 512 */
	const uint8_t *bytes;
	const char *comment; /* cut at PCAPNG_COMMENT_BYTES_MAX */
};

/*
 * The beginning of a file with one Ethernet interface and times in nanoseconds.
 * @param application whoever writes the file; cut at PCAPNG_COMMENT_BYTES_MAX
 */
void pcapng_make_header(struct pcapng_block *block, const char *application, uint32_t snap_bytes);

void pcapng_make_packet(struct pcapng_block *block, const struct pcapng_packet *packet);

#endif
