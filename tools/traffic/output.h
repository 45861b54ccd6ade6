/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The capture file. A regular file appears under its name only when it is whole: it is written
 * beside it, as FILE.part, and renamed. Knows nothing of what it writes.
 */
#ifndef WEIR_TRAFFIC_OUTPUT_H
#define WEIR_TRAFFIC_OUTPUT_H

#include <pcap/pcap.h>
#include <stdint.h>

struct output {
	pcap_t *pcap;
	pcap_dumper_t *dumper;
	const char *path;
	char *part_path; /* NULL: a device, pipe or link, written to directly */
};

/* Returns 0 or -errno. `path` must outlive the output. */
int output_open(struct output *output, const char *path);

/* Appends a packet. Errors show when the output is finished, or before: -errno, 0 if none yet. */
int output_write(struct output *output, uint64_t time_ns, const uint8_t *bytes, uint32_t n);

/* Completes the file. Returns 0, or -errno and nothing is left under its name that was not there.
 */
int output_finish(struct output *output);

/* Takes back what has been written. For one that output_finish has not been called on. */
void output_abandon(struct output *output);

#endif
