/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stamp_order FILE: reads a capture of generated packets (tools/traffic) and counts, flow by flow
 * by their stamps, how often a packet comes behind a later one of its flow. Prints "stamped N flows
 * N inversions N"; exit status 0, or 2 if the file cannot be read.
 */
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>

#include "stamp.h"

#define FLOWS_MAX (1u << 20)

/* By flow: the sequence that may come next at the earliest; 0 = none has come. */
struct flows {
	uint32_t *next;
	uint64_t n_stamped;
	uint64_t n_flows;
	uint64_t n_inversions;
};

static void
packet_count(struct flows *flows, const uint8_t *data, uint32_t length)
{
	struct stamp stamp;
	uint32_t *next;

	if (!stamp_find(data, length, &stamp) || stamp.flow >= FLOWS_MAX)
		return;
	next = &flows->next[stamp.flow];
	flows->n_stamped++;
	flows->n_flows += *next == 0;
	if (stamp.sequence < *next)
		flows->n_inversions++;
	else
		*next = stamp.sequence + 1;
}

static int
capture_read(struct flows *flows, const char *path)
{
	char error[PCAP_ERRBUF_SIZE];
	pcap_t *capture = pcap_open_offline(path, error);
	struct pcap_pkthdr *header;
	const uint8_t *data;
	int rc;

	if (!capture) {
		fprintf(stderr, "stamp_order: %s\n", error);
		return -1;
	}
	while ((rc = pcap_next_ex(capture, &header, &data)) == 1)
		packet_count(flows, data, header->caplen);
	if (rc != PCAP_ERROR_BREAK)
		fprintf(stderr, "stamp_order: %s: %s\n", path, pcap_geterr(capture));
	pcap_close(capture);
	return rc == PCAP_ERROR_BREAK ? 0 : -1;
}

int
main(int argc, char **argv)
{
	struct flows flows = { .next = calloc(FLOWS_MAX, sizeof(uint32_t)) };

	if (argc != 2 || !flows.next) {
		fprintf(stderr, "usage: stamp_order FILE\n");
		return 2;
	}
	if (capture_read(&flows, argv[1]) < 0)
		return 2;
	printf("stamped %llu flows %llu inversions %llu\n", (unsigned long long)flows.n_stamped,
		(unsigned long long)flows.n_flows, (unsigned long long)flows.n_inversions);
	free(flows.next);
	return 0;
}
