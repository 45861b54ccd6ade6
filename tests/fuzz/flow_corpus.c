/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes a corpus for fuzz_flow of the Ethernet captures in a folder: the first packets of each, in
 * the form that the target reads, one file a packet. Nothing of it is kept in the project.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture_files.h"

/* Many packets of a capture are alike; every header that is parsed lies in the first bytes. */
#define PACKETS_MAX 8
#define PACKET_BYTES_MAX 512
/* The default configuration, in the target's form. */
#define CONFIG_BYTES 2

struct corpus {
	const char *folder;
	uint32_t n_files;
	bool failed;
};

static void
packet_store(void *context, const struct capture_packet *packet)
{
	const uint32_t length = packet->header->caplen < PACKET_BYTES_MAX ? packet->header->caplen
									  : PACKET_BYTES_MAX;
	static const uint8_t config[CONFIG_BYTES];
	struct corpus *corpus = context;
	char path[4096];
	FILE *file;

	if (packet->number > PACKETS_MAX || corpus->failed)
		return;
	snprintf(path, sizeof(path), "%s/%06" PRIu32, corpus->folder, corpus->n_files++);
	file = fopen(path, "w");
	if (!file || fwrite(config, 1, sizeof(config), file) != sizeof(config) ||
		fwrite(packet->data, 1, length, file) != length)
		corpus->failed = true;
	if (file && fclose(file) != 0)
		corpus->failed = true;
}

int
main(int argc, char **argv)
{
	struct corpus corpus = { .folder = argc > 1 ? argv[1] : NULL };
	char captures[4096];

	if (argc != 2) {
		fprintf(stderr, "usage: flow_corpus FOLDER\n");
		return 2;
	}
	if (!captures_find(captures, sizeof(captures))) {
		printf("no captures folder at %s (WEIR_CAPTURES names another)\n", captures);
		return 77;
	}
	if (captures_visit(captures, packet_store, &corpus) <= 0 || corpus.failed) {
		fprintf(stderr, "flow_corpus: %s: %s\n", corpus.folder, strerror(errno));
		return 1;
	}
	printf("%" PRIu32 " packets of %s\n", corpus.n_files, captures);
	return 0;
}
