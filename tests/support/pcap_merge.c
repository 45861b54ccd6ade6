/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pcap_merge OUTPUT FILE...: one Ethernet capture of all packets of the FILEs that are Ethernet,
 * one after the other (not by time), microsecond timestamps. Prints a line for each FILE that it
 * took; passes over other link types and over files that libpcap does not read to the end.
 */
#include <pcap/pcap.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The longest packet that libpcap writes and reads of Ethernet. */
#define SNAPLEN_BYTES 262144

/* Counts the packets and finds the longest; negative unless the whole file can be read. */
static long
capture_count(const char *path, uint32_t *longest_bytes)
{
	char error[PCAP_ERRBUF_SIZE];
	pcap_t *capture = pcap_open_offline(path, error);
	struct pcap_pkthdr *header;
	const uint8_t *bytes;
	long n = 0;
	int ret;

	if (capture == NULL)
		return -1;
	while ((ret = pcap_next_ex(capture, &header, &bytes)) == 1) {
		if (header->caplen > *longest_bytes)
			*longest_bytes = header->caplen;
		n++;
	}
	if (ret != PCAP_ERROR_BREAK || pcap_datalink(capture) != DLT_EN10MB)
		n = -1;
	pcap_close(capture);
	return n;
}

static void
capture_append(pcap_dumper_t *output, const char *path)
{
	char error[PCAP_ERRBUF_SIZE];
	pcap_t *capture = pcap_open_offline(path, error);
	struct pcap_pkthdr *header;
	const uint8_t *bytes;

	if (capture == NULL)
		return;
	while (pcap_next_ex(capture, &header, &bytes) == 1)
		pcap_dump((unsigned char *)output, header, bytes);
	pcap_close(capture);
}

static bool
captures_merge(pcap_dumper_t *output, char *const *paths)
{
	for (; *paths != NULL; paths++) {
		uint32_t longest_bytes = 0;
		const long n = capture_count(*paths, &longest_bytes);

		if (n < 0)
			continue;
		capture_append(output, *paths);
		printf("%ld %u %s\n", n, longest_bytes, *paths);
	}
	return pcap_dump_flush(output) == 0 && !ferror(pcap_dump_file(output));
}

int
main(int argc, char **argv)
{
	pcap_t *format = pcap_open_dead(DLT_EN10MB, SNAPLEN_BYTES);
	pcap_dumper_t *output;
	bool ok;

	if (argc < 3 || format == NULL) {
		fprintf(stderr, "usage: pcap_merge OUTPUT FILE...\n");
		return 2;
	}
	output = pcap_dump_open(format, argv[1]);
	if (output == NULL) {
		fprintf(stderr, "pcap_merge: %s\n", pcap_geterr(format));
		pcap_close(format);
		return 2;
	}
	ok = captures_merge(output, argv + 2);
	if (!ok)
		fprintf(stderr, "pcap_merge: %s could not be written\n", argv[1]);
	pcap_dump_close(output);
	pcap_close(format);
	return ok ? 0 : 2;
}
