/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libFuzzer target: any bytes have a well-formed flow key, found without a read outside of them,
 * and the same one when the two MAC addresses change places. Knows no protocol beyond that.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <weir/flow.h>

#define MAC_BYTES 6

/* Unlike assert, there in release builds too. */
static void
require(int holds)
{
	if (!holds)
		abort();
}

static void
require_well_formed(const struct weir_flow_key *key)
{
	require(key->reason < WEIR_FLOW_REASON_COUNT);
	require(key->n_words == 2 || key->n_words == WEIR_FLOW_WORDS_MAX);
	for (unsigned int i = key->n_words; i < WEIR_FLOW_WORDS_MAX; i++)
		require(key->word[i] == 0);
}

static void
swap_macs(uint8_t *frame)
{
	uint8_t mac[MAC_BYTES];

	memcpy(mac, frame, MAC_BYTES);
	memcpy(frame, frame + MAC_BYTES, MAC_BYTES);
	memcpy(frame + MAC_BYTES, mac, MAC_BYTES);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	const struct weir_hash_key hash_key = { .word = { 1, 2 } };
	struct weir_flow_key key;
	struct weir_meta meta = { 0 };
	/* An allocation of the exact size, so that the sanitizer sees a read past the end. */
	uint8_t *frame = malloc(length);

	if (length != 0 && frame == NULL)
		return -1;
	if (length != 0)
		memcpy(frame, data, length);
	weir_flow_parse(frame, (uint32_t)length, &key);
	require_well_formed(&key);
	if (length >= 2 * MAC_BYTES)
		swap_macs(frame);
	weir_flow_classify(&hash_key, frame, (uint32_t)length, &meta);
	require(meta.hash == weir_flow_hash(&hash_key, &key));
	require(meta.bucket == weir_flow_bucket(meta.hash) && meta.flow_reason == key.reason);
	free(frame);
	return 0;
}
