/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pcap: a sink that writes each worker's packets to DIR/worker-N.pcap (its K-th later incarnation's
 * to DIR/worker-N.K.pcap), in completion order, with their arrival times. A packet counts as
 * consumed only once the kernel has its bytes; when a write fails the file keeps the last whole
 * burst, and everything after it is dropped and counted.
 */
#include <errno.h>
#include <fcntl.h>
#include <pcap/pcap.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "chain.h"
#include "handler.h"

/* What libpcap and its readers take as the longest packet there is. */
#define SNAPLEN_BYTES 262144
#define FILE_HEADER_BYTES 24
#define RECORD_HEADER_BYTES 16
#define NS_PER_SECOND UINT64_C(1000000000)

struct pcap_sink {
	weir_worker_id worker;
	int error;	  /* positive errno of the write that failed; 0 = none has */
	off_t good_bytes; /* length of the file after the last burst that was written whole */
	char *path;
	FILE *file;
	pcap_t *format;	       /* link type and precision: what pcap_dump_fopen() wants to know */
	pcap_dumper_t *dumper; /* libpcap's name for `file`; closes it */
	uint8_t scratch[SNAPLEN_BYTES]; /* a chain in one piece */
	char buffer[SNAPLEN_BYTES];	/* of `file`: a usual burst is one write(2) */
};

static int
sink_refuse(char *error, size_t error_bytes, const char *path, int error_number)
{
	snprintf(error, error_bytes,
		"a directory that can be written to, existing or new, not '%s' (%s)", path,
		strerror(error_number));
	return -error_number;
}

/* Frees a sink, half-built ones too. */
static void
sink_free(struct pcap_sink *sink)
{
	if (sink->dumper != NULL)
		pcap_dump_close(sink->dumper);
	else if (sink->file != NULL)
		fclose(sink->file);
	if (sink->format != NULL)
		pcap_close(sink->format);
	free(sink->path);
	free(sink);
}

/* Leaves what the file holds alone: the run can still be refused. Returns 0 or a positive errno. */
static int
sink_open_file(struct pcap_sink *sink)
{
	/* Not waiting for the reader of a pipe that has none: that is refused. */
	const int fd = open(sink->path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);

	if (fd < 0)
		return errno;
	fcntl(fd, F_SETFL, O_WRONLY);
	sink->file = fdopen(fd, "w");
	if (sink->file == NULL) {
		close(fd);
		return ENOMEM;
	}
	setvbuf(sink->file, sink->buffer, _IOFBF, sizeof(sink->buffer));
	sink->format = pcap_open_dead_with_tstamp_precision(
		DLT_EN10MB, SNAPLEN_BYTES, PCAP_TSTAMP_PRECISION_NANO);
	return sink->format != NULL ? 0 : ENOMEM;
}

/* Empties the file and writes its header. Returns 0 or a positive errno. */
static int
sink_begin_file(struct pcap_sink *sink)
{
	/* What is no regular file has no length to cut. */
	if (ftruncate(fileno(sink->file), 0) < 0 && errno != EINVAL)
		return errno;
	sink->dumper = pcap_dump_fopen(sink->format, sink->file);
	if (sink->dumper == NULL)
		return EIO;
	/* A device that takes nothing is found here, not at the first packet. */
	if (fflush(sink->file) != 0)
		return errno;
	sink->good_bytes = FILE_HEADER_BYTES;
	return 0;
}

static struct pcap_sink *
sink_create(const char *directory, const struct handler_setup *setup)
{
	struct pcap_sink *sink = calloc(1, sizeof(*sink));
	char later[sizeof(".4294967295")] = "";

	if (sink == NULL)
		return NULL;
	sink->worker = setup->worker;
	/* What an earlier incarnation has written stays. */
	if (setup->incarnation > 0)
		snprintf(later, sizeof(later), ".%u", setup->incarnation);
	if (asprintf(&sink->path, "%s/worker-%u%s.pcap", directory, setup->worker, later) < 0) {
		free(sink);
		return NULL;
	}
	return sink;
}

static int
pcap_open_sink(const struct handler_setup *setup, const char *arguments, void **state, char *error,
	size_t error_bytes)
{
	struct pcap_sink *sink;
	int error_number;

	if (arguments == NULL || arguments[0] == '\0') {
		snprintf(error, error_bytes, "pcap:DIR with a directory, not ''");
		return -EINVAL;
	}
	if (mkdir(arguments, 0777) < 0 && errno != EEXIST)
		return sink_refuse(error, error_bytes, arguments, errno);
	sink = sink_create(arguments, setup);
	if (sink == NULL)
		return sink_refuse(error, error_bytes, arguments, ENOMEM);
	error_number = sink_open_file(sink);
	if (error_number != 0) {
		sink_refuse(error, error_bytes, sink->path, error_number);
		sink_free(sink);
		return -error_number;
	}
	*state = sink;
	return 0;
}

static int
pcap_begin(void *state, char *error, size_t error_bytes)
{
	struct pcap_sink *sink = state;
	const int error_number = sink_begin_file(sink);

	return error_number == 0 ? 0 : sink_refuse(error, error_bytes, sink->path, error_number);
}

/* Puts one packet into the stream's buffer; returns the bytes that the file grows by. */
static off_t
sink_put(struct pcap_sink *sink, const struct weir_packet *packet)
{
	const struct weir_meta *meta = &packet->meta;
	const uint8_t *bytes = packet->data;
	struct pcap_pkthdr header = {
		.ts.tv_sec = (time_t)(meta->time_ns / NS_PER_SECOND),
		.ts.tv_usec = (suseconds_t)(meta->time_ns % NS_PER_SECOND), /* nanoseconds here */
		.len = meta->length,
	};

	if (meta->flags & WEIR_META_CHAIN) {
		header.caplen = chain_gather(packet, sink->scratch, sizeof(sink->scratch));
		bytes = sink->scratch;
	} else {
		header.caplen = chain_least(meta->segment_length, meta->length);
		header.caplen = chain_least(header.caplen, SNAPLEN_BYTES);
	}
	pcap_dump((unsigned char *)sink->dumper, &header, bytes);
	return RECORD_HEADER_BYTES + (off_t)header.caplen;
}

/* Ends the file behind the last good burst: no reader meets half a packet. */
static void
sink_fail(struct pcap_sink *sink, int error_number)
{
	sink->error = error_number != 0 ? error_number : EIO;
	__fpurge(sink->file);
	/* What is no regular file has no length to restore. */
	if (ftruncate(fileno(sink->file), sink->good_bytes) < 0)
		return;
}

/* Returns whether the kernel has taken the whole burst. */
static bool
sink_write_burst(struct pcap_sink *sink, const struct weir_packet *packets, uint32_t n)
{
	off_t burst_bytes = 0;

	errno = 0;
	for (uint32_t i = 0; i < n; i++)
		burst_bytes += sink_put(sink, &packets[i]);
	/* pcap_dump() tells nothing, and writes nothing more once the stream has failed. */
	if (ferror(sink->file) || fflush(sink->file) != 0) {
		sink_fail(sink, errno);
		return false;
	}
	sink->good_bytes += burst_bytes;
	return true;
}

static void
pcap_process(
	void *state, const struct weir_packet *packets, uint32_t n, struct weir_verdict *verdicts)
{
	struct pcap_sink *sink = state;
	struct weir_verdict verdict = weir_verdict_drop(WEIR_REASON_SINK_FAILED);

	if (sink->error == 0 && sink_write_burst(sink, packets, n))
		verdict = weir_verdict_consumed();
	for (uint32_t i = 0; i < n; i++)
		verdicts[i] = verdict;
}

static int
pcap_close_sink(void *state, char *error, size_t error_bytes)
{
	struct pcap_sink *sink = state;
	const int error_number = sink->error;

	if (error_number != 0)
		snprintf(error, error_bytes, "worker %u: %s: %s", sink->worker, sink->path,
			strerror(error_number));
	sink_free(sink);
	return -error_number;
}

/* Not restartable: a packet would stand in the file twice. */
const struct handler handler_pcap = {
	.name = "pcap",
	.usage = "pcap:DIR",
	.help = "a sink: writes DIR/worker-N.pcap, packets in completion order",
	.is_sink = true,
	.open = pcap_open_sink,
	.begin = pcap_begin,
	.process = pcap_process,
	.close = pcap_close_sink,
};
