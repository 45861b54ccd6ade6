/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file that samples of dead packets go to: what is in it of each (M10), and what happens when
 * it cannot be written.
 */
#include "test.h"

#include <pcap/pcap.h>

#include "dead_bench.h"
#include "dead_file.h"
#include "stderr_capture.h"

static uint32_t
u32_at(const uint8_t *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

/* Copies the comment of a packet's block. */
static void
block_comment(const uint8_t *block, char *comment, size_t n_bytes)
{
	const uint32_t padded = (u32_at(block + 20) + 3) & ~3u;
	const uint8_t *option = block + 28 + padded;

	assert_int_equal(u32_at(option) & 0xffff, 1);
	snprintf(comment, n_bytes, "%.*s", (int)(u32_at(option) >> 16), (const char *)option + 4);
}

/* The comment of the packet number `n` of the file, by its blocks; false if there is no such. */
static bool
file_comment(struct dead_bench *bench, uint32_t n, char *comment, size_t n_bytes)
{
	static uint8_t bytes[1 << 20];
	FILE *file = fopen(bench->path, "rb");
	const size_t end = fread(bytes, 1, sizeof(bytes), file);
	size_t at = 0;

	fclose(file);
	while (at < end) {
		const uint32_t length = u32_at(bytes + at + 4);

		assert_true(length % 4 == 0 && length <= end - at);
		assert_int_equal(u32_at(bytes + at + length - 4), length);
		if (u32_at(bytes + at) == 6 && n-- == 0) {
			block_comment(bytes + at, comment, n_bytes);
			return true;
		}
		at += length;
	}
	return false;
}

static void
file_start(struct dead_bench *bench, struct dead_file *file)
{
	assert_int_equal(dead_file_open(file, bench->path), 0);
	assert_int_equal(dead_file_begin(file), 0);
}

/* libpcap reads it: time in nanoseconds, lengths, bytes. */
static void
assert_file_read_by_libpcap(struct dead_bench *bench, uint32_t n, uint8_t fill)
{
	char error[PCAP_ERRBUF_SIZE];
	pcap_t *pcap = pcap_open_offline_with_tstamp_precision(
		bench->path, PCAP_TSTAMP_PRECISION_NANO, error);
	struct pcap_pkthdr *header;
	const uint8_t *bytes;

	assert_non_null(pcap);
	assert_int_equal(pcap_datalink(pcap), DLT_EN10MB);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(pcap_next_ex(pcap, &header, &bytes), 1);
		assert_int_equal(header->len, DEAD_PACKET_BYTES);
		assert_int_equal(header->caplen, DEAD_PACKET_BYTES);
		assert_int_equal(header->ts.tv_sec, 1234567890);
		assert_int_equal(header->ts.tv_usec, 987654321);
		assert_int_equal(bytes[DEAD_PACKET_BYTES - 1], fill + i);
	}
	assert_int_equal(pcap_next_ex(pcap, &header, &bytes), PCAP_ERROR_BREAK);
	pcap_close(pcap);
}

/* M10: who reads the file knows each packet's reason and intended worker. */
static void
file_has_each_packet_with_reason_and_worker(void **state)
{
	struct dead_bench *bench = *state;
	struct dead_file file = { 0 };
	char comment[128];

	dead_bench_open(bench, "last", 1);
	/* The clock stands still: a cycle takes no time. */
	bench->rx_core->epoch_ns = UINT64_C(1234567890987654321);
	file_start(bench, &file);
	dead_bench_dispatch(bench, DEAD_LANE_PKTS + 2);
	for (weir_worker_id id = 0; id < DEAD_WORKERS; id++)
		assert_int_equal(weir_pool_remove(bench->pool, id), 0);
	dead_bench_dispatch_packet(
		bench, dead_bench_packet(bench, DEAD_PACKET_BYTES, DEAD_LANE_PKTS + 2));
	dead_file_drain(&file, bench->rx_core);
	dead_file_drain(&file, bench->rx_core);
	assert_int_equal(counter_read(&file.written), 3);
	assert_int_equal(counter_read(&file.lost), 0);
	assert_int_equal(dead_file_close(&file), 0);
	assert_file_read_by_libpcap(bench, 3, DEAD_LANE_PKTS);
	assert_true(file_comment(bench, 1, comment, sizeof(comment)));
	assert_string_equal(comment, "reason=overflow_drop_new worker=2 rx_core=5 port=2");
	assert_true(file_comment(bench, 2, comment, sizeof(comment)));
	assert_string_equal(comment, "reason=no_route worker=none rx_core=5 port=2");
	assert_false(file_comment(bench, 3, comment, sizeof(comment)));
	dead_bench_close(bench);
}

static void
file_is_emptied_when_the_run_begins_and_not_before(void **state)
{
	struct dead_bench *bench = *state;
	struct dead_file file = { 0 };
	FILE *old = fopen(bench->path, "w");
	char comment[16];

	fputs("what an earlier run has left, longer than the header of a new file is, in any case: "
	      "more than a hundred bytes of it\n",
		old);
	fclose(old);
	assert_int_equal(dead_file_open(&file, bench->path), 0);
	old = fopen(bench->path, "r");
	assert_int_equal(fgetc(old), 'w');
	fclose(old);
	assert_int_equal(dead_file_begin(&file), 0);
	assert_int_equal(dead_file_close(&file), 0);
	assert_file_read_by_libpcap(bench, 0, 0);
	assert_false(file_comment(bench, 0, comment, sizeof(comment)));
}

static void
file_that_cannot_be_opened_is_refused(void **state)
{
	struct dead_file file = { 0 };

	(void)state;
	assert_int_equal(dead_file_open(&file, "/nonexistent/dead"), -ENOENT);
	assert_int_equal(dead_file_close(&file), 0);
}

/* A device that takes nothing is found at the start. */
static void
full_device_is_refused_at_the_start(void **state)
{
	struct dead_file file = { 0 };

	(void)state;
	assert_int_equal(dead_file_open(&file, "/dev/full"), 0);
	assert_int_equal(dead_file_begin(&file), -ENOSPC);
	fclose(file.file);
}

/* M10: a disk that is full later is reported once, its losses are counted, and drops go on. */
static void
full_disk_is_reported_once_and_counted(void **state)
{
	struct dead_bench *bench = *state;
	struct dead_file file = { 0 };
	struct stderr_capture capture;
	char said[512];

	dead_bench_open(bench, "first", 1);
	file_start(bench, &file);
	dead_bench_dispatch(bench, DEAD_LANE_PKTS + 2);
	dead_file_drain(&file, bench->rx_core);
	/* From here on the disk is full. */
	fclose(file.file);
	file.file = fopen("/dev/full", "w");
	stderr_capture_start(&capture);
	dead_bench_dispatch(bench, 3);
	dead_file_drain(&file, bench->rx_core);
	dead_bench_dispatch(bench, 4);
	dead_file_drain(&file, bench->rx_core);
	stderr_capture_end(&capture, said, sizeof(said));
	assert_non_null(strstr(said, "No space left on device"));
	assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
	assert_int_equal(counter_read(&file.written), 2);
	assert_int_equal(counter_read(&file.lost), 7);
	assert_null(dead_ring_peek(bench->rx_core->dead));
	assert_int_equal(dead_file_close(&file), -ENOSPC);
	dead_bench_close(bench);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(file_has_each_packet_with_reason_and_worker),
		cmocka_unit_test(file_is_emptied_when_the_run_begins_and_not_before),
		cmocka_unit_test(file_that_cannot_be_opened_is_refused),
		cmocka_unit_test(full_device_is_refused_at_the_start),
		cmocka_unit_test(full_disk_is_reported_once_and_counted),
	};

	return cmocka_run_group_tests(tests, dead_bench_setup, dead_bench_teardown);
}
