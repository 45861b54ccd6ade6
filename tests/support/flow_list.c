/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists the flow of every packet of every Ethernet capture in a folder, one line each: the capture,
 * the packet's number in it, hash, bucket, reason and key. Writes the same packets, in the same
 * order, into one capture, for a dissector to look at in one go. For scripts.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <weir/flow.h>

#include "capture_files.h"

/* A snapshot length that no packet of a capture exceeds. */
#define SNAPSHOT_BYTES 262144

struct listing {
	struct weir_flow_config config;
	pcap_dumper_t *merged;
};

static void
packet_list(void *context, const struct capture_packet *packet)
{
	struct listing *listing = context;
	char text[WEIR_FLOW_KEY_TEXT_BYTES];
	struct weir_flow_key key;
	struct weir_meta meta = { 0 };

	weir_flow_parse(&listing->config, packet->data, packet->header->caplen, &key);
	weir_flow_classify(&listing->config, packet->data, packet->header->caplen, &meta);
	weir_flow_key_format(&key, text, sizeof(text));
	printf("%s\t%" PRIu32 "\t%016" PRIx64 "\t%u\t%s\t%s\n", packet->file, packet->number,
		meta.hash, meta.bucket, weir_flow_reason_name(meta.flow_reason), text);
	pcap_dump((u_char *)listing->merged, packet->header, packet->data);
}

int
main(int argc, char **argv)
{
	struct listing listing = { .config = weir_flow_config_default() };
	pcap_t *format = pcap_open_dead(DLT_EN10MB, SNAPSHOT_BYTES);
	int n_files;

	if (argc != 3 || !format) {
		fprintf(stderr, "usage: flow_list CAPTURES MERGED.pcap >LIST\n");
		return 2;
	}
	listing.config.hash_key = (struct weir_hash_key) { { 1, 2 } };
	listing.merged = pcap_dump_open(format, argv[2]);
	if (!listing.merged) {
		fprintf(stderr, "flow_list: %s\n", pcap_geterr(format));
		return 1;
	}
	n_files = captures_visit(argv[1], packet_list, &listing);
	pcap_dump_close(listing.merged);
	pcap_close(format);
	if (n_files <= 0) {
		fprintf(stderr, "flow_list: %s: %s\n", argv[1],
			n_files < 0 ? strerror(-n_files) : "no Ethernet captures");
		return 1;
	}
	return 0;
}
