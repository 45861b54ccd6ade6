/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stamp_compare INPUT N FILE: what has become in FILE of the first N packets of INPUT, a capture of
 * generated packets (tools/traffic)? Told by their stamps. Prints "input N found N missing N
 * duplicates N strangers N changed N inversions N"; exit status 0, or 2 if that cannot be told.
 */
#include <inttypes.h>
#include <pcap/pcap.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "stamp.h"

#define FLOWS_MAX (1u << 20)
#define MISSING_SHOWN 5

/* Packets of a flow are numbered from 0 on in INPUT, without a gap. */
struct flow {
	uint64_t first; /* its packet 0 in `packets` */
	uint32_t n;	/* packets */
	uint32_t next;	/* sequence that may come next at the earliest */
};

struct packet {
	uint64_t hash; /* of its bytes */
	uint32_t n_found;
};

struct comparison {
	struct flow *flows;
	struct packet *packets; /* flow by flow */
	uint64_t n_input;
	uint64_t n_found; /* different ones */
	uint64_t n_duplicates;
	uint64_t n_strangers; /* not of INPUT, or without a stamp */
	uint64_t n_changed;   /* in their bytes */
	uint64_t n_inversions;
};

/* FNV-1a. */
static uint64_t
bytes_hash(const uint8_t *bytes, uint32_t n)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (uint32_t i = 0; i < n; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/* Calls `take` with each packet until it returns false. Returns 0 or -1, after a line. */
static int
capture_read(struct comparison *comparison, const char *path,
	bool (*take)(struct comparison *comparison, const uint8_t *data, uint32_t length))
{
	char error[PCAP_ERRBUF_SIZE];
	pcap_t *capture = pcap_open_offline(path, error);
	struct pcap_pkthdr *header;
	const uint8_t *data;
	int rc;

	if (!capture) {
		fprintf(stderr, "stamp_compare: %s\n", error);
		return -1;
	}
	while ((rc = pcap_next_ex(capture, &header, &data)) == 1) {
		if (!take(comparison, data, header->caplen))
			break;
	}
	if (rc < 0 && rc != PCAP_ERROR_BREAK)
		fprintf(stderr, "stamp_compare: %s: %s\n", path, pcap_geterr(capture));
	pcap_close(capture);
	return rc < 0 && rc != PCAP_ERROR_BREAK ? -1 : 0;
}

/* ---- INPUT, which is read twice: to count, and to remember ---- */

static bool
input_next(struct comparison *comparison, const uint8_t *data, uint32_t length, struct flow **flow)
{
	struct stamp stamp;

	*flow = NULL;
	if (comparison->n_input == 0)
		return false;
	if (!stamp_find(data, length, &stamp) || stamp.flow >= FLOWS_MAX ||
		stamp.sequence != comparison->flows[stamp.flow].n) {
		fprintf(stderr, "stamp_compare: INPUT: a packet has no stamp or not the next\n");
		return false;
	}
	comparison->n_input--;
	*flow = &comparison->flows[stamp.flow];
	(*flow)->n++;
	return true;
}

static bool
input_count(struct comparison *comparison, const uint8_t *data, uint32_t length)
{
	struct flow *flow;

	return input_next(comparison, data, length, &flow);
}

static bool
input_remember(struct comparison *comparison, const uint8_t *data, uint32_t length)
{
	struct flow *flow;

	if (!input_next(comparison, data, length, &flow))
		return false;
	comparison->packets[flow->first + flow->n - 1].hash = bytes_hash(data, length);
	return true;
}

/* Returns 0, or -1 after a line. */
static int
input_pass(struct comparison *comparison, const char *path, uint64_t n,
	bool (*take)(struct comparison *comparison, const uint8_t *data, uint32_t length))
{
	comparison->n_input = n;
	if (capture_read(comparison, path, take) < 0)
		return -1;
	if (comparison->n_input > 0) {
		fprintf(stderr, "stamp_compare: %s: %" PRIu64 " of %" PRIu64 " packets not read\n",
			path, comparison->n_input, n);
		return -1;
	}
	comparison->n_input = n;
	return 0;
}

static int
input_read(struct comparison *comparison, const char *path, uint64_t n)
{
	uint64_t first = 0;

	if (input_pass(comparison, path, n, input_count) < 0)
		return -1;
	for (uint32_t i = 0; i < FLOWS_MAX; i++) {
		comparison->flows[i].first = first;
		first += comparison->flows[i].n;
		comparison->flows[i].n = 0;
	}
	return input_pass(comparison, path, n, input_remember);
}

/* ---- FILE ---- */

static bool
output_take(struct comparison *comparison, const uint8_t *data, uint32_t length)
{
	struct stamp stamp;
	struct packet *packet;
	struct flow *flow;

	if (!stamp_find(data, length, &stamp) || stamp.flow >= FLOWS_MAX ||
		stamp.sequence >= comparison->flows[stamp.flow].n) {
		comparison->n_strangers++;
		return true;
	}
	flow = &comparison->flows[stamp.flow];
	packet = &comparison->packets[flow->first + stamp.sequence];
	comparison->n_changed += packet->hash != bytes_hash(data, length);
	comparison->n_duplicates += packet->n_found > 0;
	comparison->n_found += packet->n_found == 0;
	packet->n_found++;
	if (stamp.sequence < flow->next)
		comparison->n_inversions++;
	else
		flow->next = stamp.sequence + 1;
	return true;
}

static void
missing_show(const struct comparison *comparison)
{
	uint32_t n_shown = 0;

	for (uint32_t f = 0; f < FLOWS_MAX; f++) {
		const struct flow *flow = &comparison->flows[f];

		for (uint32_t i = 0; i < flow->n && n_shown < MISSING_SHOWN; i++) {
			if (comparison->packets[flow->first + i].n_found > 0)
				continue;
			fprintf(stderr, "stamp_compare: missing: flow %u sequence %u of %u\n", f, i,
				flow->n);
			n_shown++;
		}
	}
}

static void
result_print(const struct comparison *comparison)
{
	printf("input %" PRIu64 " found %" PRIu64 " missing %" PRIu64 " duplicates %" PRIu64
	       " strangers %" PRIu64 " changed %" PRIu64 " inversions %" PRIu64 "\n",
		comparison->n_input, comparison->n_found, comparison->n_input - comparison->n_found,
		comparison->n_duplicates, comparison->n_strangers, comparison->n_changed,
		comparison->n_inversions);
}

int
main(int argc, char **argv)
{
	struct comparison comparison = { 0 };
	const uint64_t n = argc == 4 ? strtoull(argv[2], NULL, 10) : 0;

	if (argc != 4) {
		fprintf(stderr, "usage: stamp_compare INPUT N FILE\n");
		return 2;
	}
	comparison.flows = calloc(FLOWS_MAX, sizeof(*comparison.flows));
	comparison.packets = calloc(n + 1, sizeof(*comparison.packets));
	if (!comparison.flows || !comparison.packets) {
		fprintf(stderr, "stamp_compare: out of memory\n");
		return 2;
	}
	if (input_read(&comparison, argv[1], n) < 0 ||
		capture_read(&comparison, argv[3], output_take) < 0)
		return 2;
	missing_show(&comparison);
	result_print(&comparison);
	free(comparison.packets);
	free(comparison.flows);
	return 0;
}
