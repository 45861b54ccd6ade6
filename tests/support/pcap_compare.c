/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pcap_compare INPUT FILE...: are the packets of INPUT found again over the FILEs, byte for byte?
 * Tells by exit status: 0 yes, 1 no, 2 a file could not be read or the command line is wrong.
 * Shares no code with what it judges: it knows captures through libpcap only.
 */
#include <getopt.h>
#include <inttypes.h>
#include <pcap/pcap.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIFFERENCES_SHOWN 5
#define BYTES_SHOWN 16

enum exit_status {
	EXIT_STATUS_SAME = 0,
	EXIT_STATUS_DIFFERENT = 1,
	EXIT_STATUS_FAILED = 2,
};

struct packet {
	const uint8_t *bytes;
	uint32_t length; /* captured bytes: the original length does not survive a port */
	uint64_t time_us;
};

/* The packets of one capture or of several, in file order. */
struct packets {
	struct packet *array;
	size_t n;
	size_t capacity;
};

struct settings {
	uint64_t times;	    /* how often each packet of INPUT must be found */
	bool in_order;	    /* each FILE keeps INPUT's order */
	bool by_timestamps; /* packets that differ in time are different packets */
};

/* In copies: a packet of INPUT that must be found twice counts two. */
struct result {
	uint64_t found;
	uint64_t missing;
	uint64_t extra;
};

static void
out_of_memory(void)
{
	fprintf(stderr, "pcap_compare: out of memory\n");
	exit(EXIT_STATUS_FAILED);
}

static void
packets_add(struct packets *packets, const struct pcap_pkthdr *header, const uint8_t *bytes)
{
	uint8_t *copy = malloc(header->caplen + 1);

	if (packets->n == packets->capacity) {
		packets->capacity = packets->capacity * 2 + 1024;
		packets->array =
			reallocarray(packets->array, packets->capacity, sizeof(packets->array[0]));
	}
	if (copy == NULL || packets->array == NULL)
		out_of_memory();
	memcpy(copy, bytes, header->caplen);
	packets->array[packets->n++] = (struct packet) {
		.bytes = copy,
		.length = header->caplen,
		.time_us = (uint64_t)header->ts.tv_sec * 1000000 + (uint64_t)header->ts.tv_usec,
	};
}

static void
packets_free(struct packets *packets)
{
	for (size_t i = 0; i < packets->n; i++)
		free((void *)(uintptr_t)packets->array[i].bytes);
	free(packets->array);
}

/* Appends the packets of a capture; `*link_type` must match unless it is negative. */
static bool
packets_read(struct packets *packets, const char *path, int *link_type)
{
	char error[PCAP_ERRBUF_SIZE];
	pcap_t *capture = pcap_open_offline(path, error);
	struct pcap_pkthdr *header;
	const uint8_t *bytes;
	bool ok;
	int ret;

	if (capture == NULL) {
		fprintf(stderr, "pcap_compare: %s: %s\n", path, error);
		return false;
	}
	while ((ret = pcap_next_ex(capture, &header, &bytes)) == 1)
		packets_add(packets, header, bytes);
	ok = ret == PCAP_ERROR_BREAK;
	if (!ok)
		fprintf(stderr, "pcap_compare: %s: %s\n", path, pcap_geterr(capture));
	if (*link_type < 0)
		*link_type = pcap_datalink(capture);
	if (*link_type != pcap_datalink(capture)) {
		fprintf(stderr, "pcap_compare: %s: link type %d, INPUT has %d\n", path,
			pcap_datalink(capture), *link_type);
		ok = false;
	}
	pcap_close(capture);
	return ok;
}

static int
bytes_order(const struct packet *a, const struct packet *b)
{
	if (a->length != b->length)
		return a->length < b->length ? -1 : 1;
	return memcmp(a->bytes, b->bytes, a->length);
}

static int
packet_order(const void *a, const void *b)
{
	return bytes_order(a, b);
}

static int
packet_time_order(const void *a, const void *b)
{
	const struct packet *left = a;
	const struct packet *right = b;
	const int order = bytes_order(left, right);

	if (order != 0 || left->time_us == right->time_us)
		return order;
	return left->time_us < right->time_us ? -1 : 1;
}

static int (*order_of(const struct settings *settings))(const void *, const void *)
{
	return settings->by_timestamps ? packet_time_order : packet_order;
}

static void
packets_sort(struct packets *packets, const struct settings *settings)
{
	if (packets->n > 1)
		qsort(packets->array, packets->n, sizeof(packets->array[0]), order_of(settings));
}

static void
difference_show(const char *what, const struct packet *packet, uint64_t copies)
{
	fprintf(stderr,
		"pcap_compare: %s %" PRIu64 " of: %" PRIu64 ".%06" PRIu64 " %u bytes:", what,
		copies, packet->time_us / 1000000, packet->time_us % 1000000, packet->length);
	for (uint32_t i = 0; i < packet->length && i < BYTES_SHOWN; i++)
		fprintf(stderr, " %02x", packet->bytes[i]);
	fprintf(stderr, "%s\n", packet->length > BYTES_SHOWN ? " ..." : "");
}

/* Length of the run of equal packets at `from`. */
static size_t
run_length(const struct packets *packets, size_t from, const struct settings *settings)
{
	size_t to = from;

	while (to < packets->n &&
		order_of(settings)(&packets->array[from], &packets->array[to]) == 0)
		to++;
	return to - from;
}

/* Books one distinct packet: `expected` copies in INPUT's account, `got` in the FILEs'. */
static void
result_add(struct result *result, const struct packet *packet, uint64_t expected, uint64_t got)
{
	const uint64_t found = expected < got ? expected : got;
	const bool show = result->missing + result->extra < DIFFERENCES_SHOWN;

	result->found += found;
	result->missing += expected - found;
	result->extra += got - found;
	if (show && expected > found)
		difference_show("missing", packet, expected - found);
	if (show && got > found)
		difference_show("extra", packet, got - found);
}

/* Walks two sorted multisets. */
static struct result
multisets_compare(
	const struct packets *input, const struct packets *files, const struct settings *settings)
{
	struct result result = { 0 };
	size_t i = 0;
	size_t f = 0;

	while (i < input->n || f < files->n) {
		const struct packet *packet = i < input->n ? &input->array[i] : NULL;
		uint64_t expected = 0;
		uint64_t got = 0;
		int order = packet == NULL ? 1 : -1;

		if (packet != NULL && f < files->n)
			order = order_of(settings)(packet, &files->array[f]);
		if (order > 0)
			packet = &files->array[f];
		if (order <= 0)
			expected = run_length(input, i, settings);
		if (order >= 0)
			got = run_length(files, f, settings);
		i += expected;
		f += got;
		result_add(&result, packet, expected * settings->times, got);
	}
	return result;
}

/* Whether `file` is a subsequence of `input`: matching each packet as early as possible is exact.
 */
static bool
order_kept(const struct packets *input, const struct packets *file, const struct settings *settings,
	const char *path)
{
	size_t i = 0;

	for (size_t f = 0; f < file->n; f++, i++) {
		while (i < input->n && order_of(settings)(&input->array[i], &file->array[f]) != 0)
			i++;
		if (i >= input->n) {
			fprintf(stderr, "pcap_compare: %s: packet %zu is out of INPUT's order\n",
				path, f + 1);
			return false;
		}
	}
	return true;
}

/* Reads the FILEs one by one into `files`; false if one cannot be read. */
static bool
files_read(struct packets *files, const struct packets *input, char *const *paths,
	const struct settings *settings, int link_type, bool *in_order)
{
	for (; *paths != NULL; paths++) {
		const size_t first = files->n;
		struct packets file;

		if (!packets_read(files, *paths, &link_type))
			return false;
		file = (struct packets) { .n = files->n - first };
		if (file.n > 0)
			file.array = files->array + first;
		if (settings->in_order && !order_kept(input, &file, settings, *paths))
			*in_order = false;
	}
	return true;
}

static enum exit_status
compare(const char *input_path, char *const *paths, const struct settings *settings)
{
	struct packets input = { 0 };
	struct packets files = { 0 };
	struct result result;
	int link_type = -1;
	bool in_order = true;

	if (!packets_read(&input, input_path, &link_type) ||
		!files_read(&files, &input, paths, settings, link_type, &in_order)) {
		packets_free(&input);
		packets_free(&files);
		return EXIT_STATUS_FAILED;
	}
	packets_sort(&input, settings);
	packets_sort(&files, settings);
	result = multisets_compare(&input, &files, settings);
	printf("input %zu packets, found %" PRIu64 ", missing %" PRIu64 ", extra %" PRIu64 "%s\n",
		input.n, result.found, result.missing, result.extra,
		in_order ? "" : ", out of order");
	packets_free(&input);
	packets_free(&files);
	return result.missing == 0 && result.extra == 0 && in_order ? EXIT_STATUS_SAME
								    : EXIT_STATUS_DIFFERENT;
}

static void
usage_print(void)
{
	fprintf(stderr, "usage: pcap_compare [OPTION...] INPUT FILE...\n"
			"  --multiset       packets in any order (default)\n"
			"  --ordered-merge  besides, each FILE keeps the order of INPUT\n"
			"  --times N        each packet of INPUT is found N times (default 1)\n"
			"  --timestamps     arrival times must match too, to the microsecond\n");
}

static bool
times_parse(const char *text, uint64_t *times)
{
	char *end;

	*times = strtoull(text, &end, 10);
	return text[0] >= '0' && text[0] <= '9' && *end == '\0' && *times <= UINT32_MAX;
}

static bool
settings_parse(struct settings *settings, int argc, char **argv)
{
	static const struct option options[] = {
		{ "multiset", no_argument, NULL, 'm' },
		{ "ordered-merge", no_argument, NULL, 'o' },
		{ "times", required_argument, NULL, 'n' },
		{ "timestamps", no_argument, NULL, 't' },
		{ 0 },
	};
	int option;

	*settings = (struct settings) { .times = 1 };
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'm')
			settings->in_order = false;
		else if (option == 'o')
			settings->in_order = true;
		else if (option == 't')
			settings->by_timestamps = true;
		else if (option != 'n' || !times_parse(optarg, &settings->times))
			return false;
	}
	return argc - optind >= 2 && !(settings->in_order && settings->times != 1);
}

int
main(int argc, char **argv)
{
	struct settings settings;

	if (!settings_parse(&settings, argc, argv)) {
		usage_print();
		return EXIT_STATUS_FAILED;
	}
	return compare(argv[optind], argv + optind + 1, &settings);
}
