/* SPDX-License-Identifier: BSD-3-Clause */
/* Every packet of every Ethernet capture in a folder, in a fixed order. Knows no test library. */
#ifndef WEIR_TESTS_CAPTURE_FILES_H
#define WEIR_TESTS_CAPTURE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pcap/pcap.h>

/* A packet of a capture. */
struct capture_packet {
	const char *file; /* below the folder */
	uint32_t number;  /* from 1, as dissectors count */
	const struct pcap_pkthdr *header;
	const uint8_t *data; /* header->caplen bytes */
};

/*
 * Writes the captures folder to `folder`: WEIR_CAPTURES, or ../shared/captures beside
 * WEIR_SOURCE_ROOT. Returns whether there is one.
 */
bool captures_find(char *folder, size_t bytes);

/*
 * Calls `visit` for each packet. What is no capture or not one of Ethernet frames is passed over; a
 * capture that is cut ends where it is cut. Returns the number of captures, or -errno.
 */
int captures_visit(const char *folder,
	void (*visit)(void *context, const struct capture_packet *packet), void *context);

#endif
