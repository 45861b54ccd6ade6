/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What weir-traffic writes: read back by libpcap and judged packet by packet. Shares only the
 * stamp's format with it.
 */
#include <pcap/pcap.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <weir/flow.h>

#include "stamp.h"
#include "traffic_run.h"

/* One packet as read back. */
struct record {
	uint64_t time_us;
	uint32_t length;
	uint64_t hash;
	uint8_t reason;
	bool has_stamp;
	struct stamp stamp;
	const uint8_t *ip;  /* the IP header */
	uint32_t transport; /* offset of the transport header from `ip` */
	uint8_t *bytes;
};

struct capture {
	struct record *records;
	uint32_t n;
};

static struct record
record_make(const struct pcap_pkthdr *header, const uint8_t *data)
{
	struct record record = {
		.time_us = (uint64_t)header->ts.tv_sec * 1000000 + (uint64_t)header->ts.tv_usec,
		.length = header->caplen,
		.bytes = malloc(header->caplen),
	};
	const struct weir_flow_config flow = weir_flow_config_default();
	struct weir_meta meta = { 0 };
	uint32_t at = 12;

	assert_non_null(record.bytes);
	memcpy(record.bytes, data, record.length);
	weir_flow_classify(&flow, record.bytes, record.length, &meta);
	record.hash = meta.hash;
	record.reason = meta.flow_reason;
	record.has_stamp = stamp_find(record.bytes, record.length, &record.stamp);
	while (record.bytes[at] != 0x08 && record.bytes[at] != 0x86)
		at += 4;
	record.ip = record.bytes + at + 2;
	record.transport = record.ip[0] >> 4 == 4 ? 20 : 40;
	return record;
}

static struct capture
capture_read(const char *path)
{
	struct capture capture = { .n = 0 };
	char error[PCAP_ERRBUF_SIZE];
	pcap_t *pcap = pcap_open_offline(path, error);
	struct pcap_pkthdr *header;
	const uint8_t *data;
	int result;

	if (pcap == NULL)
		fail_msg("%s: %s", path, error);
	assert_int_equal(pcap_datalink(pcap), DLT_EN10MB);
	while ((result = pcap_next_ex(pcap, &header, &data)) == 1) {
		if ((capture.n & (capture.n - 1)) == 0)
			capture.records = realloc(capture.records,
				(capture.n ? 2 * capture.n : 1) * sizeof(*capture.records));
		assert_non_null(capture.records);
		assert_int_equal(header->caplen, header->len);
		capture.records[capture.n++] = record_make(header, data);
	}
	assert_int_equal(result, PCAP_ERROR_BREAK);
	pcap_close(pcap);
	return capture;
}

static void
capture_free(struct capture *capture)
{
	for (uint32_t i = 0; i < capture->n; i++)
		free(capture->records[i].bytes);
	free(capture->records);
}

/* Generates with `options` and reads back. */
static struct capture
capture_make(void **state, const char *options)
{
	char *path = traffic_path(state, "made.pcap");
	const struct traffic_run run = traffic_run(state, options, path);

	if (run.exit_status != 0)
		fail_msg("%s: %s", options, run.errors);
	struct capture capture = capture_read(path);

	traffic_path_drop(path);
	return capture;
}

static void
the_same_seed_writes_the_same_bytes_and_another_does_not(void **state)
{
	char *first = traffic_path(state, "first.pcap");
	char *again = traffic_path(state, "again.pcap");
	char *other = traffic_path(state, "other.pcap");

	assert_int_equal(traffic_run(state, "--packets 5000 --seed 7", first).exit_status, 0);
	assert_int_equal(
		traffic_run(state, "--packets=5000 --seed=7 --output", again).exit_status, 0);
	assert_int_equal(traffic_run(state, "--packets 5000 --seed 8", other).exit_status, 0);
	assert_true(traffic_same_bytes(first, again));
	assert_false(traffic_same_bytes(first, other));
	traffic_path_drop(first);
	traffic_path_drop(again);
	traffic_path_drop(other);
}

/* Not just addresses: what a flow says depends on the seed as well. */
static void
another_seed_draws_other_sizes(void **state)
{
	struct capture a = capture_make(state, "--packets 300 --flows 1 --mix tcp=1 --seed 1");
	struct capture b = capture_make(state, "--packets 300 --flows 1 --mix tcp=1 --seed 2");
	uint32_t n_same = 0;

	for (uint32_t i = 0; i < 300; i++)
		n_same += a.records[i].length == b.records[i].length;
	/* Bare acknowledgements are as long as each other, a third of all; data seldom is. */
	assert_in_range(n_same, 1, 150);
	capture_free(&a);
	capture_free(&b);
}

static void
exactly_as_many_packets_as_asked_for_are_written(void **state)
{
	static const struct {
		const char *options;
		uint32_t n;
	} cases[] = {
		{ "--packets 1", 1 },
		{ "--packets 7 --flows 7", 7 },
		{ "--packets 999 --flows 13 --zipf 2.5", 999 },
		{ "--packets 12345 --flows 1000", 12345 },
		{ "--packets 1000 --flows 1000 --mix fragments=1", 1000 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct capture capture = capture_make(state, cases[i].options);

		assert_int_equal(capture.n, cases[i].n);
		capture_free(&capture);
	}
}

static int
hash_compare(const void *a, const void *b)
{
	const uint64_t left = *(const uint64_t *)a;
	const uint64_t right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

static uint32_t
count_distinct_hashes(const struct capture *capture)
{
	uint64_t *hashes = calloc(capture->n, sizeof(*hashes));
	uint32_t n = 0;

	assert_non_null(hashes);
	for (uint32_t i = 0; i < capture->n; i++)
		hashes[i] = capture->records[i].hash;
	qsort(hashes, capture->n, sizeof(*hashes), hash_compare);
	for (uint32_t i = 0; i < capture->n; i++)
		n += i == 0 || hashes[i] != hashes[i - 1];
	free(hashes);
	return n;
}

/* Packets without a stamp too, and in both directions: or there would be more hashes than flows. */
static void
a_flow_has_one_hash_and_two_flows_have_two(void **state)
{
	static const struct {
		const char *options;
		uint32_t flows;
	} cases[] = {
		{ "--packets 20000", 1000 },
		{ "--packets 50", 50 },
		{ "--packets 20000 --flows 500 --mix tcp=1", 500 },
		{ "--packets 20000 --flows 500 --mix vlan=1,ipv6=1,fragments=1 --seed 3", 500 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct capture capture = capture_make(state, cases[i].options);

		assert_int_equal(count_distinct_hashes(&capture), cases[i].flows);
		capture_free(&capture);
	}
}

static void
packets_of_a_flow_go_both_ways_into_one_bucket(void **state)
{
	struct capture capture = capture_make(state, "--packets 20000 --flows 40");
	const uint8_t *first_macs[40] = { NULL };
	uint64_t hash[40] = { 0 };
	bool reversed[40] = { false };

	for (uint32_t i = 0; i < capture.n; i++) {
		const struct record *record = &capture.records[i];
		const uint32_t flow = record->stamp.flow;

		if (!record->has_stamp)
			continue;
		assert_in_range(flow, 0, 39);
		if (first_macs[flow] == NULL) {
			first_macs[flow] = record->bytes;
			hash[flow] = record->hash;
		}
		assert_int_equal(weir_flow_bucket(record->hash), weir_flow_bucket(hash[flow]));
		reversed[flow] |= memcmp(record->bytes, first_macs[flow], 6) != 0;
	}
	for (unsigned int flow = 0; flow < 40; flow++)
		assert_true(reversed[flow]);
	capture_free(&capture);
}

/* What of each kind is in a capture. */
struct census {
	uint32_t tcp, udp, dns, ipv6, one_tag, two_tags, fragments;
};

static uint32_t
load16(const uint8_t *at)
{
	return (uint32_t)at[0] << 8 | at[1];
}

static struct census
capture_census(const struct capture *capture)
{
	struct census census = { 0 };

	for (uint32_t i = 0; i < capture->n; i++) {
		const struct record *record = &capture->records[i];
		const uint8_t *ports = record->ip + record->transport;
		const uint8_t *types = record->bytes + 12;
		const uint8_t protocol = record->ip[record->transport == 20 ? 9 : 6];
		const bool is_fragment = record->reason == WEIR_FLOW_FRAGMENT;
		const bool is_dns = !is_fragment && protocol == 17 &&
				    (load16(ports) == 53 || load16(ports + 2) == 53);

		census.tcp += protocol == 6;
		census.udp += protocol == 17 && !is_dns && !is_fragment;
		census.dns += is_dns;
		census.ipv6 += record->transport == 40;
		census.one_tag += load16(types) == 0x8100;
		census.two_tags += load16(types) == 0x88a8 && load16(types + 4) == 0x8100;
		census.fragments += is_fragment;
	}
	return census;
}

static void
the_default_mix_has_every_kind(void **state)
{
	struct capture capture = capture_make(state, "--packets 20000 --flows 200");
	const struct census census = capture_census(&capture);

	assert_true(census.tcp > 0 && census.udp > 0 && census.dns > 0 && census.ipv6 > 0);
	assert_true(census.one_tag > 0 && census.two_tags > 0 && census.fragments > 0);
	capture_free(&capture);
}

static void
a_mix_of_one_kind_has_no_other(void **state)
{
	const uint32_t n = 600;
	static const char *const kinds[] = { "tcp", "udp", "dns", "vlan", "ipv6", "fragments" };
	struct census census[6];

	for (unsigned int i = 0; i < 6; i++) {
		char options[64];

		(void)snprintf(
			options, sizeof(options), "--packets 600 --flows 12 --mix %s=1", kinds[i]);
		struct capture capture = capture_make(state, options);

		census[i] = capture_census(&capture);
		assert_true(i == 3 || census[i].one_tag + census[i].two_tags == 0);
		assert_true(i == 4 || census[i].ipv6 == 0);
		capture_free(&capture);
	}
	assert_int_equal(census[0].tcp, n);
	assert_int_equal(census[1].udp, n);
	assert_int_equal(census[2].dns, n);
	assert_int_equal(census[3].one_tag + census[3].two_tags, n);
	assert_int_equal(census[4].ipv6, n);
	assert_true(census[4].tcp > 0 && census[4].udp > 0 && census[4].dns > 0);
	assert_int_equal(census[5].fragments, n);
}

static void
stamps_count_the_packets_of_a_flow(void **state)
{
	struct capture capture =
		capture_make(state, "--packets 10000 --flows 50 --mix udp=1,dns=1,fragments=1");
	uint32_t next[50] = { 0 };

	for (uint32_t i = 0; i < capture.n; i++) {
		const struct record *record = &capture.records[i];

		assert_true(record->has_stamp);
		assert_in_range(record->stamp.flow, 0, 49);
		assert_int_equal(record->stamp.sequence, next[record->stamp.flow]);
		next[record->stamp.flow]++;
	}
	capture_free(&capture);
}

/* How many packets each of the capture's first `n` flows has; every packet must have a stamp. */
static void
flows_count(const struct capture *capture, uint32_t *counts, uint32_t n)
{
	for (uint32_t i = 0; i < capture->n; i++) {
		assert_true(capture->records[i].has_stamp);
		assert_true(capture->records[i].stamp.flow < n);
		counts[capture->records[i].stamp.flow]++;
	}
}

static void
flow_sizes_follow_zipfs_law(void **state)
{
	struct capture equal =
		capture_make(state, "--packets 1000 --flows 100 --zipf 0 --mix udp=1");
	struct capture steep =
		capture_make(state, "--packets 10100 --flows 100 --zipf 1 --mix udp=1");
	uint32_t equal_counts[100] = { 0 };
	uint32_t steep_counts[100] = { 0 };

	flows_count(&equal, equal_counts, 100);
	flows_count(&steep, steep_counts, 100);
	/* The harmonic number of 100 is 5.187: flow k has 1 + 10,000 / 5.187 / k packets. */
	for (uint32_t i = 0; i < 100; i++) {
		const uint32_t expected = 1 + 10000000 / 5187 / (i + 1);

		assert_int_equal(equal_counts[i], 10);
		assert_in_range(steep_counts[i], expected - 1, expected + 1);
	}
	capture_free(&equal);
	capture_free(&steep);
}

static uint32_t
sum_words(uint32_t sum, const uint8_t *bytes, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		sum += i % 2 ? bytes[i] : (uint32_t)bytes[i] << 8;
	return sum;
}

static uint32_t
fold(uint32_t sum)
{
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/* A checksum is right if the sum over all, itself included, has all ones. */
static void
assert_transport_checksum(const struct record *record, const uint8_t *payload, uint32_t n)
{
	const bool ipv4 = record->transport == 20;
	const uint8_t protocol = record->ip[ipv4 ? 9 : 6];
	const uint32_t pseudo =
		sum_words(n + protocol, record->ip + (ipv4 ? 12 : 8), ipv4 ? 8 : 32);

	assert_int_equal(fold(sum_words(pseudo, payload, n)), 0xffff);
	/* Zero in UDP says that there is none. */
	assert_true(protocol != 17 || (payload[6] | payload[7]) != 0);
}

static uint32_t
ip_payload_bytes(const struct record *record)
{
	return record->transport == 20 ? load16(record->ip + 2) - 20 : load16(record->ip + 4);
}

static void
checksums_and_lengths_are_right(void **state)
{
	struct capture capture = capture_make(
		state, "--packets 20000 --mix tcp=4,udp=2,dns=2,vlan=2,ipv6=2,fragments=1");

	for (uint32_t i = 0; i < capture.n; i++) {
		const struct record *record = &capture.records[i];
		const uint32_t used = (uint32_t)(record->ip - record->bytes) + record->transport +
				      ip_payload_bytes(record);

		assert_true(
			used <= record->length && (used == record->length || record->length == 60));
		if (record->transport == 20)
			assert_int_equal(fold(sum_words(0, record->ip, 20)), 0xffff);
		if (record->reason != WEIR_FLOW_FRAGMENT)
			assert_transport_checksum(
				record, record->ip + record->transport, ip_payload_bytes(record));
	}
	capture_free(&capture);
}

/* One packet in 65,536 has a checksum of zero, which UDP writes as all ones. */
static void
a_udp_checksum_of_zero_is_written_as_ones(void **state)
{
	struct capture capture =
		capture_make(state, "--packets 300000 --flows 10000 --mix udp=1 --max-size 60");
	uint32_t n_ones = 0;

	for (uint32_t i = 0; i < capture.n; i++) {
		const uint32_t checksum = load16(capture.records[i].ip + 20 + 6);

		assert_int_not_equal(checksum, 0);
		n_ones += checksum == 0xffff;
	}
	assert_true(n_ones > 0);
	capture_free(&capture);
}

/*
 * With one flow its fragments come one after the other: appended, they are the datagram. Returns
 * the number of datagrams; the last one must be whole.
 */
static uint32_t
datagrams_count(const struct capture *capture)
{
	static uint8_t datagram[65536];
	uint32_t n = 0;
	uint32_t n_datagrams = 0;

	for (uint32_t i = 0; i < capture->n; i++) {
		const struct record *record = &capture->records[i];
		const uint32_t word = load16(record->ip + 6);

		assert_int_equal((word & 0x1fff) * 8, n);
		memcpy(datagram + n, record->ip + 20, ip_payload_bytes(record));
		n += ip_payload_bytes(record);
		if (word & 0x2000)
			continue;
		assert_int_equal(load16(datagram + 4), n);
		assert_transport_checksum(record, datagram, n);
		n_datagrams++;
		n = 0;
	}
	assert_int_equal(n, 0);
	return n_datagrams;
}

static void
fragments_make_up_whole_datagrams(void **state)
{
	for (uint32_t n_packets = 2; n_packets < 40; n_packets++) {
		char options[64];

		(void)snprintf(options, sizeof(options),
			"--packets %u --flows 1 --mix fragments=1 --max-size %u", n_packets,
			60 + n_packets * 20);
		struct capture capture = capture_make(state, options);

		assert_in_range(datagrams_count(&capture), (n_packets + 3) / 4, n_packets / 2);
		capture_free(&capture);
	}
}

static uint32_t
load32(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Plays both ends of the only session in a capture: every number must be the one expected. */
static void
a_tcp_session_opens_exchanges_and_closes(void **state)
{
	struct capture capture = capture_make(state, "--packets 500 --flows 1 --mix tcp=1");
	const uint8_t *client_mac = capture.records[0].bytes + 6;
	uint32_t expected[2] = { 0 };
	uint32_t n_data[2] = { 0 };
	uint8_t flags_seen[2] = { 0 };

	for (uint32_t i = 0; i < capture.n; i++) {
		const struct record *record = &capture.records[i];
		const uint8_t *tcp = record->ip + 20;
		const unsigned int side = memcmp(record->bytes + 6, client_mac, 6) != 0;
		const uint32_t n = ip_payload_bytes(record) - 20;

		if (tcp[13] & 0x02)
			expected[side] = load32(tcp + 4);
		assert_int_equal((tcp[13] & 0x02) != 0, i < 2);
		assert_int_equal(load32(tcp + 4), expected[side]);
		assert_int_equal(load32(tcp + 8), i == 0 ? 0 : expected[!side]);
		expected[side] += n + (tcp[13] & 0x03 ? 1 : 0);
		n_data[side] += n;
		flags_seen[side] |= tcp[13];
	}
	assert_true(n_data[0] > 0 && n_data[1] > 0);
	assert_true((flags_seen[0] & 0x01) && (flags_seen[1] & 0x01));
	capture_free(&capture);
}

static void
frames_keep_within_the_sizes_asked_for(void **state)
{
	static const struct {
		const char *options;
		uint32_t min;
		uint32_t max;
	} cases[] = {
		{ "--packets 3000", 60, 1514 },
		{ "--packets 3000 --min-size 64 --max-size 64 --mix udp=1,tcp=1", 64, 64 },
		{ "--packets 3000 --min-size 60 --max-size 60 --mix fragments=1,udp=1", 60, 60 },
		{ "--packets 3000 --min-size 500 --max-size 700", 500, 700 },
		{ "--packets 3000 --min-size 9014 --max-size 9014", 9014, 9014 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct capture capture = capture_make(state, cases[i].options);

		for (uint32_t j = 0; j < capture.n; j++)
			assert_in_range(capture.records[j].length, cases[i].min, cases[i].max);
		capture_free(&capture);
	}
}

static void
timestamps_follow_the_rate(void **state)
{
	struct capture capture = capture_make(state, "--packets 1001 --rate 4000");

	for (uint32_t i = 0; i < capture.n; i++)
		assert_int_equal(capture.records[i].time_us - capture.records[0].time_us, i * 250);
	capture_free(&capture);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_seed_writes_the_same_bytes_and_another_does_not),
		cmocka_unit_test(another_seed_draws_other_sizes),
		cmocka_unit_test(exactly_as_many_packets_as_asked_for_are_written),
		cmocka_unit_test(a_flow_has_one_hash_and_two_flows_have_two),
		cmocka_unit_test(packets_of_a_flow_go_both_ways_into_one_bucket),
		cmocka_unit_test(the_default_mix_has_every_kind),
		cmocka_unit_test(a_mix_of_one_kind_has_no_other),
		cmocka_unit_test(stamps_count_the_packets_of_a_flow),
		cmocka_unit_test(flow_sizes_follow_zipfs_law),
		cmocka_unit_test(checksums_and_lengths_are_right),
		cmocka_unit_test(a_udp_checksum_of_zero_is_written_as_ones),
		cmocka_unit_test(fragments_make_up_whole_datagrams),
		cmocka_unit_test(a_tcp_session_opens_exchanges_and_closes),
		cmocka_unit_test(frames_keep_within_the_sizes_asked_for),
		cmocka_unit_test(timestamps_follow_the_rate),
	};

	return cmocka_run_group_tests_name(
		"traffic", tests, traffic_scratch_create, traffic_scratch_destroy);
}
