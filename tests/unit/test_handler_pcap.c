/* SPDX-License-Identifier: BSD-3-Clause */
/* The pcap sink: chains, what the file holds and when, and disks that fill up. */
#include <pcap/pcap.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "chain.h"
#include "handler_fixture.h"
#include "test.h"

#define SNAPLEN_BYTES 262144
#define HEADROOM_BYTES 16

static void
chain_link(uint8_t *data, int64_t next_offset, uint32_t next_length)
{
	const struct weir_segment_link link = { .next_offset = next_offset,
		.next_length = next_length };

	memcpy(data - sizeof(link), &link, sizeof(link));
}

/*
 * A chain of three segments of 10, 20 and 30 bytes in `memory` (256 bytes), the second before the
 * first and at odd addresses; bytes count up from 0 over the whole packet.
 */
static struct weir_packet
chain_make(uint8_t *memory)
{
	uint8_t *const segment[] = { memory + 81, memory + 33, memory + 131 };
	static const uint32_t length[] = { 10, 20, 30 };
	uint8_t value = 0;

	memset(memory, 0xee, 256);
	for (uint32_t s = 0; s < 3; s++)
		for (uint32_t b = 0; b < length[s]; b++)
			segment[s][b] = value++;
	chain_link(segment[0], segment[1] - segment[0], length[1]);
	chain_link(segment[1], segment[2] - segment[1], length[2]);
	chain_link(segment[2], 0, 0);
	return (struct weir_packet) {
		.data = segment[0],
		.meta = { .length = 60, .segment_length = 10, .flags = WEIR_META_CHAIN },
	};
}

static void
assert_counts_up(const uint8_t *bytes, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(bytes[i], i);
}

static void
chain_is_gathered_in_order(void **state)
{
	uint8_t memory[256];
	uint8_t whole[61] = { [60] = 0xaa };
	const struct weir_packet packet = chain_make(memory);

	(void)state;
	assert_int_equal(chain_gather(&packet, whole, sizeof(whole)), 60);
	assert_counts_up(whole, 60);
	assert_int_equal(whole[60], 0xaa);
}

static void
chain_is_never_gathered_beyond_its_length_or_the_room(void **state)
{
	uint8_t memory[256];
	uint8_t whole[60];
	struct weir_packet packet = chain_make(memory);

	(void)state;
	for (uint32_t limit = 0; limit < 60; limit++) {
		memset(whole, 0xaa, sizeof(whole));
		packet.meta.length = 60;
		assert_int_equal(chain_gather(&packet, whole, limit), limit);
		assert_counts_up(whole, limit);
		assert_int_equal(whole[limit], 0xaa);
		packet.meta.length = limit;
		assert_int_equal(chain_gather(&packet, whole, sizeof(whole)), limit);
		assert_int_equal(whole[limit], 0xaa);
	}
}

static void
chain_that_is_shorter_than_its_length_gives_what_there_is(void **state)
{
	uint8_t memory[256];
	uint8_t whole[128];
	struct weir_packet packet = chain_make(memory);

	(void)state;
	packet.meta.length = 100;
	assert_int_equal(chain_gather(&packet, whole, sizeof(whole)), 60);
	assert_counts_up(whole, 60);
}

static void
chain_that_never_ends_is_cut(void **state)
{
	uint8_t memory[64];
	uint8_t whole[8 * CHAIN_SEGMENTS_MAX];
	struct weir_packet packet = { .data = memory + HEADROOM_BYTES };

	(void)state;
	/* Two segments that link to each other, and a long way of empty ones. */
	chain_link(memory + HEADROOM_BYTES, 24, 4);
	chain_link(memory + HEADROOM_BYTES + 24, -24, 4);
	packet.meta = (struct weir_meta) { .length = UINT32_MAX, .segment_length = 4 };
	assert_int_equal(chain_gather(&packet, whole, sizeof(whole)), 4 * CHAIN_SEGMENTS_MAX);
	chain_link(memory + HEADROOM_BYTES, 24, 0);
	chain_link(memory + HEADROOM_BYTES + 24, -24, 0);
	packet.meta.segment_length = 0;
	assert_int_equal(chain_gather(&packet, whole, sizeof(whole)), 0);
}

/* Reads packet `index` of the sink's file; NULL past the end. The caller closes `*capture`. */
static const uint8_t *
sink_read(const struct fixture *f, uint32_t index, struct pcap_pkthdr **header, pcap_t **capture)
{
	char error[PCAP_ERRBUF_SIZE];
	const uint8_t *bytes = NULL;
	int ret;

	*capture =
		pcap_open_offline_with_tstamp_precision(f->path, PCAP_TSTAMP_PRECISION_NANO, error);
	assert_non_null(*capture);
	assert_int_equal(pcap_datalink(*capture), DLT_EN10MB);
	for (uint32_t i = 0; i <= index; i++) {
		ret = pcap_next_ex(*capture, header, &bytes);
		if (ret == PCAP_ERROR_BREAK)
			return NULL;
		assert_int_equal(ret, 1);
	}
	return bytes;
}

static void
assert_stored(const struct fixture *f, uint32_t index, const struct weir_packet *packet,
	const uint8_t *expected)
{
	struct pcap_pkthdr *header;
	pcap_t *capture;
	const uint8_t *bytes = sink_read(f, index, &header, &capture);

	assert_non_null(bytes);
	assert_int_equal(header->ts.tv_sec, packet->meta.time_ns / UINT64_C(1000000000));
	assert_int_equal(header->ts.tv_usec, packet->meta.time_ns % UINT64_C(1000000000));
	assert_int_equal(header->len, packet->meta.length);
	assert_int_equal(header->caplen, packet->meta.length);
	assert_memory_equal(bytes, expected, header->caplen);
	pcap_close(capture);
}

static void
assert_stored_count(const struct fixture *f, uint32_t n)
{
	struct pcap_pkthdr *header;
	pcap_t *capture;

	assert_null(sink_read(f, n, &header, &capture));
	pcap_close(capture);
	if (n == 0)
		return;
	assert_non_null(sink_read(f, n - 1, &header, &capture));
	pcap_close(capture);
}

static const struct handler *
sink_open(struct fixture *f)
{
	char spec[96];

	snprintf(spec, sizeof(spec), "pcap:%s", f->directory);
	return fixture_open(f, spec);
}

static void
pcap_stores_packets_before_it_says_consumed(void **state)
{
	struct fixture *f = *state;
	const struct handler *handler = sink_open(f);

	assert_true(handler->is_sink);
	handler->process(f->handler_state, f->packets, N_PACKETS, f->verdicts);
	/* Not closed yet: the bytes must be in the file all the same. */
	for (uint32_t i = 0; i < N_PACKETS; i++) {
		assert_int_equal(f->verdicts[i].kind, WEIR_VERDICT_CONSUMED);
		assert_stored(f, i, &f->packets[i], f->bytes[i]);
	}
	assert_stored_count(f, N_PACKETS);
	fixture_close(f, handler);
	assert_stored_count(f, N_PACKETS);
}

static void
pcap_stores_chains_whole(void **state)
{
	struct fixture *f = *state;
	const struct handler *handler = sink_open(f);
	uint8_t memory[256];
	uint8_t whole[60];

	for (uint32_t b = 0; b < sizeof(whole); b++)
		whole[b] = (uint8_t)b;
	f->packets[1] = chain_make(memory);
	handler->process(f->handler_state, f->packets, 3, f->verdicts);
	fixture_close(f, handler);
	assert_stored(f, 0, &f->packets[0], f->bytes[0]);
	assert_stored(f, 1, &f->packets[1], whole);
	assert_stored(f, 2, &f->packets[2], f->bytes[2]);
}

static void
pcap_stores_empty_and_very_long_packets(void **state)
{
	struct fixture *f = *state;
	const struct handler *handler = sink_open(f);
	uint8_t *bytes = calloc(1, SNAPLEN_BYTES + 1);
	struct pcap_pkthdr *header;
	pcap_t *capture;

	assert_non_null(bytes);
	f->packets[0].meta.length = 0;
	f->packets[0].meta.segment_length = 0;
	f->packets[1].data = bytes;
	f->packets[1].meta.length = SNAPLEN_BYTES + 1;
	f->packets[1].meta.segment_length = SNAPLEN_BYTES + 1;
	f->packets[2].meta.segment_length = PACKET_BYTES; /* more than the packet has */
	handler->process(f->handler_state, f->packets, 3, f->verdicts);
	fixture_close(f, handler);
	assert_stored(f, 0, &f->packets[0], f->bytes[0]);
	assert_non_null(sink_read(f, 1, &header, &capture));
	assert_int_equal(header->caplen, SNAPLEN_BYTES);
	assert_int_equal(header->len, SNAPLEN_BYTES + 1);
	pcap_close(capture);
	assert_stored(f, 2, &f->packets[2], f->bytes[2]);
	free(bytes);
}

static void
pcap_makes_its_directory_and_replaces_an_old_file(void **state)
{
	struct fixture *f = *state;
	const struct handler *handler;

	assert_int_equal(rmdir(f->directory), 0);
	for (uint32_t n = N_PACKETS; n > 0; n -= 4) {
		handler = sink_open(f);
		assert_stored_count(f, 0);
		handler->process(f->handler_state, f->packets, n, f->verdicts);
		fixture_close(f, handler);
		assert_stored_count(f, n);
	}
}

/* The refusal of whatever is in f->error: one line with the name and the reason. */
static void
assert_refusal(struct fixture *f, int error_number, const char *name)
{
	assert_non_null(strstr(f->error, name));
	assert_non_null(strstr(f->error, strerror(error_number)));
	assert_non_null(strstr(f->error, "a directory that can be written to"));
	assert_null(strchr(f->error, '\n'));
}

static void
assert_sink_refused(struct fixture *f, const char *directory, int error_number, const char *name)
{
	assert_int_equal(handler_find("pcap")->open(&setup_of_four, directory, &f->handler_state,
				 f->error, sizeof(f->error)),
		-error_number);
	assert_refusal(f, error_number, name);
}

static void
pcap_refuses_what_cannot_be_written(void **state)
{
	struct fixture *f = *state;
	char below[160];

	snprintf(below, sizeof(below), "%s/absent/deeper", f->directory);
	assert_sink_refused(f, below, ENOENT, below);
	assert_sink_refused(f, "/dev/null", ENOTDIR, "/dev/null/worker-2.pcap");
}

static void
pcap_finds_a_full_device_when_it_begins(void **state)
{
	struct fixture *f = *state;
	const struct handler *handler = handler_find("pcap");

	assert_int_equal(symlink("/dev/full", f->path), 0);
	assert_int_equal(handler->open(&setup_of_four, f->directory, &f->handler_state, f->error,
				 sizeof(f->error)),
		0);
	assert_int_equal(handler->begin(f->handler_state, f->error, sizeof(f->error)), -ENOSPC);
	assert_refusal(f, ENOSPC, f->path);
	handler->close(f->handler_state, f->error, sizeof(f->error));
}

/* A run that is refused after the file was opened has taken nothing from an earlier one. */
static void
pcap_keeps_what_is_there_until_it_begins(void **state)
{
	struct fixture *f = *state;
	const struct handler *handler = sink_open(f);
	struct stat before;
	struct stat after;

	handler->process(f->handler_state, f->packets, N_PACKETS, f->verdicts);
	fixture_close(f, handler);
	assert_int_equal(stat(f->path, &before), 0);
	assert_int_equal(handler->open(&setup_of_four, f->directory, &f->handler_state, f->error,
				 sizeof(f->error)),
		0);
	fixture_close(f, handler);
	assert_int_equal(stat(f->path, &after), 0);
	assert_int_equal(after.st_size, before.st_size);
	assert_true(before.st_size > 0);
	fixture_close(f, sink_open(f));
	assert_int_equal(stat(f->path, &after), 0);
	assert_true(after.st_size < before.st_size);
}

/* A burst that fails leaves the bursts before it whole, and nothing after it is taken. */
static void
assert_sink_fails(struct fixture *f, const struct handler *handler, int error_number)
{
	char line[160];
	struct stat before;
	struct stat after;

	assert_int_equal(stat(f->path, &before), 0);
	for (uint32_t burst = 0; burst < 2; burst++) {
		handler->process(f->handler_state, f->packets, N_PACKETS, f->verdicts);
		for (uint32_t i = 0; i < N_PACKETS; i++)
			assert_dropped(f, i, WEIR_REASON_SINK_FAILED);
		assert_int_equal(stat(f->path, &after), 0);
		assert_int_equal(after.st_size, before.st_size);
	}
	assert_int_equal(
		handler->close(f->handler_state, f->error, sizeof(f->error)), -error_number);
	snprintf(line, sizeof(line), "worker 2: %s: %s", f->path, strerror(error_number));
	assert_string_equal(f->error, line);
	assert_int_equal(stat(f->path, &after), 0);
	assert_int_equal(after.st_size, before.st_size);
}

/* The size limit falls into the middle of the second burst's third packet. */
static void
pcap_ends_behind_the_last_good_burst_when_a_write_fails(void **state)
{
	struct fixture *f = *state;
	const struct handler *handler = sink_open(f);
	struct rlimit before;
	struct rlimit tight;
	struct stat status;

	handler->process(f->handler_state, f->packets, N_PACKETS, f->verdicts);
	assert_int_equal(f->verdicts[0].kind, WEIR_VERDICT_CONSUMED);
	assert_int_equal(stat(f->path, &status), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	tight = before;
	tight.rlim_cur = (rlim_t)status.st_size + 300;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
	assert_sink_fails(f, handler, EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_stored_count(f, N_PACKETS);
}

static void
pcap_survives_a_full_disk(void **state)
{
	struct fixture *f = *state;
	const struct handler *handler;
	uint32_t n_good = 0;

	if (mount("tmpfs", f->directory, "tmpfs", 0, "size=64k") < 0) {
		print_message("skipped: a small tmpfs cannot be mounted: %s\n", strerror(errno));
		skip();
	}
	handler = sink_open(f);
	for (uint32_t burst = 0; burst < 1000; burst++) {
		handler->process(f->handler_state, f->packets, N_PACKETS, f->verdicts);
		if (f->verdicts[0].kind == WEIR_VERDICT_DROP)
			break;
		n_good += N_PACKETS;
	}
	assert_true(n_good > 0);
	assert_sink_fails(f, handler, ENOSPC);
	assert_stored_count(f, n_good);
	assert_int_equal(umount(f->directory), 0);
}

#define HANDLER_TEST(function) \
	cmocka_unit_test_setup_teardown(function, fixture_create, fixture_destroy)

/* What an earlier incarnation of its worker has written is not the next one's to empty. */
static void
each_incarnation_has_a_file_of_its_own(void **state)
{
	struct handler_setup setup = setup_of_four;
	const struct handler *handler = handler_find("pcap:/dev/null");
	char error[256];
	void *sink;

	(void)state;
	setup.incarnation = 3;
	assert_int_equal(handler->open(&setup, "/dev/null", &sink, error, sizeof(error)), -ENOTDIR);
	assert_non_null(strstr(error, "/dev/null/worker-2.3.pcap"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_incarnation_has_a_file_of_its_own),
		HANDLER_TEST(chain_is_gathered_in_order),
		HANDLER_TEST(chain_is_never_gathered_beyond_its_length_or_the_room),
		HANDLER_TEST(chain_that_is_shorter_than_its_length_gives_what_there_is),
		HANDLER_TEST(chain_that_never_ends_is_cut),
		HANDLER_TEST(pcap_stores_packets_before_it_says_consumed),
		HANDLER_TEST(pcap_stores_chains_whole),
		HANDLER_TEST(pcap_stores_empty_and_very_long_packets),
		HANDLER_TEST(pcap_makes_its_directory_and_replaces_an_old_file),
		HANDLER_TEST(pcap_refuses_what_cannot_be_written),
		HANDLER_TEST(pcap_finds_a_full_device_when_it_begins),
		HANDLER_TEST(pcap_keeps_what_is_there_until_it_begins),
		HANDLER_TEST(pcap_ends_behind_the_last_good_burst_when_a_write_fails),
		HANDLER_TEST(pcap_survives_a_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
