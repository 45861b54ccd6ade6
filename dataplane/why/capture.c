/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "options.h"

#define NS_PER_SECOND UINT64_C(1000000000)
#define TIME_SECONDS_MAX 9000000000 /* the year 2255: sums of such times do not overflow */

static int
link_type_check(const struct capture *capture)
{
	const int link_type = pcap_datalink(capture->pcap);
	const char *name = pcap_datalink_val_to_name(link_type);

	if (link_type == DLT_EN10MB)
		return 0;
	return options_refuse("CAPTURE", capture->name,
		"Ethernet packets: the link type is %s (%d)", name ? name : "unknown", link_type);
}

int
capture_open(struct capture *capture, const char *path)
{
	char error[PCAP_ERRBUF_SIZE] = "";

	*capture = (struct capture) { .name = path };
	capture->pcap =
		pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, error);
	if (!capture->pcap)
		return options_refuse("CAPTURE", path, "a file that libpcap reads: %s", error);
	return link_type_check(capture);
}

/* With nanoseconds asked for, tv_usec holds them. Times that no clock has shown yet are clamped. */
static uint64_t
header_time_ns(const struct pcap_pkthdr *header)
{
	if (header->ts.tv_sec < 0)
		return 0;
	if (header->ts.tv_sec >= TIME_SECONDS_MAX)
		return TIME_SECONDS_MAX * NS_PER_SECOND;
	return (uint64_t)header->ts.tv_sec * NS_PER_SECOND + (uint64_t)header->ts.tv_usec;
}

int
capture_next(struct capture *capture, struct capture_packet *packet)
{
	struct pcap_pkthdr *header;
	const u_char *data;
	const int rc = pcap_next_ex(capture->pcap, &header, &data);

	if (rc == PCAP_ERROR_BREAK)
		return 0;
	if (rc != 1) {
		fprintf(stderr, "weir: %s: cannot be read on: %s\n", capture->name,
			pcap_geterr(capture->pcap));
		return -EIO;
	}
	*packet = (struct capture_packet) {
		.data = data,
		.captured_bytes = header->caplen,
		/* Some writers leave it 0. */
		.length = header->len > header->caplen ? header->len : header->caplen,
		.time_ns = header_time_ns(header),
	};
	return 1;
}

void
capture_close(struct capture *capture)
{
	if (capture->pcap)
		pcap_close(capture->pcap);
	capture->pcap = NULL;
}
