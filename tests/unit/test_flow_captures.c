/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flow parser over real traffic: every prefix of every packet of every Ethernet capture in the
 * captures folder (WEIR_CAPTURES, or ../shared/captures beside WEIR_SOURCE_ROOT). Skips without
 * one.
 */
#include <dirent.h>
#include <inttypes.h>
#include <pcap/pcap.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include <weir/flow.h>

#include "flow_check.h"
#include "guard_page.h"

/* Long enough for every header that is parsed; prefixes of captured packets stop there. */
#define PREFIX_BYTES_MAX 256

/* How much of the captures was looked at. */
struct census {
	struct guard_page guard;
	uint64_t files;
	uint64_t packets;
	uint64_t prefixes;
	uint64_t by_reason[WEIR_FLOW_REASON_COUNT];
};

/* The flow of a frame whose two MAC addresses have changed places is the same. */
static void
assert_mac_order_does_not_matter(struct census *census, const uint8_t *data, uint32_t length,
	const struct weir_flow_key *key)
{
	uint8_t swapped[PREFIX_BYTES_MAX];

	memcpy(swapped, data, length);
	memcpy(swapped, data + 6, 6);
	memcpy(swapped + 6, data, 6);
	const struct weir_flow_key other =
		parse(guard_page_copy(&census->guard, swapped, length), length);

	assert_same_flow(&other, key);
}

static void
census_packet(struct census *census, const uint8_t *data, uint32_t length)
{
	struct weir_flow_key key = { 0 };

	if (length > PREFIX_BYTES_MAX)
		length = PREFIX_BYTES_MAX;
	for (uint32_t n = 0; n <= length; n++) {
		key = parse(guard_page_copy(&census->guard, data, n), n);
		assert_well_formed(&key);
	}
	if (length >= 12)
		assert_mac_order_does_not_matter(census, data, length, &key);
	census->packets++;
	census->prefixes += length + 1;
	census->by_reason[key.reason]++;
}

/* Files that are no capture, or not one of Ethernet frames, are passed over. */
static void
census_file(struct census *census, const char *path)
{
	char error[PCAP_ERRBUF_SIZE];
	pcap_t *pcap = pcap_open_offline(path, error);
	struct pcap_pkthdr *header;
	const uint8_t *data;

	if (pcap == NULL)
		return;
	if (pcap_datalink(pcap) == DLT_EN10MB) {
		census->files++;
		while (pcap_next_ex(pcap, &header, &data) == 1)
			census_packet(census, data, header->caplen);
	}
	pcap_close(pcap);
}

static void
census_folder(struct census *census, const char *folder)
{
	DIR *stream = opendir(folder);
	const struct dirent *entry;

	assert_non_null(stream);
	while ((entry = readdir(stream)) != NULL) {
		char path[4096];
		struct stat status;

		if (entry->d_name[0] == '.')
			continue;
		assert_in_range(snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name), 1,
			sizeof(path) - 1);
		if (stat(path, &status) != 0)
			continue;
		if (S_ISDIR(status.st_mode))
			census_folder(census, path);
		else if (S_ISREG(status.st_mode))
			census_file(census, path);
	}
	closedir(stream);
}

/* Writes the captures folder to `folder`; false, with the reason printed, if there is none. */
static bool
captures_find(char *folder, size_t bytes)
{
	const char *captures = getenv("WEIR_CAPTURES");
	const char *root = getenv("WEIR_SOURCE_ROOT");
	struct stat status;

	if (captures != NULL)
		(void)snprintf(folder, bytes, "%s", captures);
	else
		(void)snprintf(folder, bytes, "%s/../shared/captures", root ? root : ".");
	if (stat(folder, &status) == 0 && S_ISDIR(status.st_mode))
		return true;
	print_message("skipped: no captures folder at %s (WEIR_CAPTURES names another)\n", folder);
	return false;
}

static void
every_prefix_of_every_captured_packet_is_parsed(void **state)
{
	struct census census = { .files = 0 };
	char folder[4096];

	(void)state;
	if (!captures_find(folder, sizeof(folder)))
		skip();
	guard_page_create(&census.guard, PREFIX_BYTES_MAX);
	census_folder(&census, folder);
	guard_page_destroy(&census.guard);
	print_message("%" PRIu64 " captures, %" PRIu64 " packets, %" PRIu64 " prefixes\n",
		census.files, census.packets, census.prefixes);
	for (unsigned int i = 0; i < WEIR_FLOW_REASON_COUNT; i++)
		print_message("  %s %" PRIu64 "\n", weir_flow_reason_name(i), census.by_reason[i]);
	/* A folder of captures without a single connection means that the parser lost its way. */
	assert_true(census.by_reason[WEIR_FLOW_PORTS] > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_prefix_of_every_captured_packet_is_parsed),
	};

	return cmocka_run_group_tests_name("flow_captures", tests, NULL, NULL);
}
