/* SPDX-License-Identifier: BSD-3-Clause */
/* The capture file, by libpcap. */
#include "output.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SNAPSHOT_BYTES 65535
#define PART_SUFFIX ".part"

/* Whether the file can be replaced by renaming another over it. */
static bool
is_replaceable(const char *path)
{
	struct stat status;

	return lstat(path, &status) != 0 || S_ISREG(status.st_mode);
}

/* Sets part_path where a part file is wanted. */
static int
part_path_set(struct output *output)
{
	if (!is_replaceable(output->path))
		return 0;
	if (asprintf(&output->part_path, "%s" PART_SUFFIX, output->path) < 0) {
		output->part_path = NULL;
		return -ENOMEM;
	}
	return 0;
}

static int
dumper_open(struct output *output)
{
	FILE *file = fopen(output->part_path ? output->part_path : output->path, "w");

	if (file == NULL)
		return -errno;
	output->dumper = pcap_dump_fopen(output->pcap, file);
	if (output->dumper == NULL) {
		(void)fclose(file);
		return -EIO;
	}
	return 0;
}

static void
output_close(struct output *output)
{
	if (output->dumper != NULL)
		pcap_dump_close(output->dumper);
	if (output->pcap != NULL)
		pcap_close(output->pcap);
	free(output->part_path);
	*output = (struct output) { .pcap = NULL };
}

int
output_open(struct output *output, const char *path)
{
	*output = (struct output) { .path = path };
	output->pcap = pcap_open_dead(DLT_EN10MB, SNAPSHOT_BYTES);
	int error = output->pcap ? part_path_set(output) : -ENOMEM;

	if (error == 0)
		error = dumper_open(output);
	if (error != 0)
		output_close(output);
	return error;
}

int
output_write(struct output *output, uint64_t time_ns, const uint8_t *bytes, uint32_t n)
{
	const struct pcap_pkthdr header = {
		.ts = { .tv_sec = (time_t)(time_ns / 1000000000),
			.tv_usec = (suseconds_t)(time_ns % 1000000000 / 1000) },
		.caplen = n,
		.len = n,
	};

	errno = 0;
	pcap_dump((uint8_t *)output->dumper, &header, bytes);
	/* pcap_dump reports nothing; the stream underneath does. */
	if (!ferror(pcap_dump_file(output->dumper)))
		return 0;
	return errno ? -errno : -EIO;
}

int
output_finish(struct output *output)
{
	int error = 0;

	if (pcap_dump_flush(output->dumper) != 0)
		error = errno ? -errno : -EIO;
	if (error == 0 && output->part_path && rename(output->part_path, output->path) != 0)
		error = -errno;
	if (error != 0)
		output_abandon(output);
	else
		output_close(output);
	return error;
}

void
output_abandon(struct output *output)
{
	if (output->part_path != NULL)
		(void)unlink(output->part_path);
	output_close(output);
}
