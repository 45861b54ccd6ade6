/* SPDX-License-Identifier: BSD-3-Clause */
/* A capture of Ethernet packets, read one by one: nothing of it is kept. */
#ifndef WEIR_WHY_CAPTURE_H
#define WEIR_WHY_CAPTURE_H

#include <pcap/pcap.h>
#include <stdint.h>

struct capture {
	const char *name; /* for messages */
	pcap_t *pcap;
};

/* One packet; `data` is valid until the next is read. */
struct capture_packet {
	const uint8_t *data;
	uint32_t captured_bytes; /* at `data` */
	uint32_t length;	 /* of the packet as it was */
	uint64_t time_ns;	 /* since the epoch */
};

/* Opens a file, or "-". Returns 0, or -EINVAL after a refusal. */
int capture_open(struct capture *capture, const char *path);

/* Returns 1, 0 at the end, or -EIO after a line if the rest of the file cannot be read. */
int capture_next(struct capture *capture, struct capture_packet *packet);

/* Accepts one that did not open. */
void capture_close(struct capture *capture);

#endif
