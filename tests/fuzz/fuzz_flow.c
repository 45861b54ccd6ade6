/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libFuzzer target: any bytes have a well-formed flow key by any configuration, found without a
 * read outside of them, the same one by parse, classify and trace and when the two MAC addresses
 * change places. The first bytes make the configuration, the rest is the frame. Knows no protocol
 * beyond that.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <weir/flow.h>

#define MAC_BYTES 6
#define CONFIG_BYTES 2

/*
 * What bounds the work on a frame: nine Ethernet headers with eight tags or the like among them, an
 * IP header with eight extension headers, ports and a tunnel's header; once for each tunnel, for
 * what is in the innermost one, and for what an ICMP error quotes.
 */
#define LEVEL_LAYERS_MAX (9 + 8 + 1 + 8 + 2)

/* Unlike assert, there in release builds too. */
static void
require(int holds)
{
	if (!holds)
		abort();
}

/* Zeros make the default. */
static struct weir_flow_config
config_of(const uint8_t *bytes)
{
	struct weir_flow_config config = weir_flow_config_default();

	config.hash_key = (struct weir_hash_key) { { 1, 2 } };
	config.depth = bytes[0] & 1 ? WEIR_FLOW_OUTER : WEIR_FLOW_INNER;
	config.nesting_max ^= bytes[0] >> 1 & 0x0f;
	for (unsigned int i = 0; i < WEIR_FLOW_TUNNEL_COUNT; i++)
		if (bytes[1] >> i & 1)
			config.tunnel_port[i] = 0;
	return config;
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
require_traced(const struct weir_flow_config *config, const uint8_t *frame, uint32_t length,
	const struct weir_flow_key *key)
{
	char text[WEIR_FLOW_KEY_TEXT_BYTES];
	struct weir_flow_trace trace;
	int n;

	weir_flow_trace(config, frame, length, &trace);
	require(memcmp(&trace.key, key, sizeof(*key)) == 0);
	require(trace.n_layers >= 1 && trace.n_layers <= WEIR_FLOW_TRACE_LAYERS_MAX);
	require(trace.n_layers + trace.n_omitted <= LEVEL_LAYERS_MAX * (config->nesting_max + 2));
	for (uint32_t i = 0; i < trace.n_layers; i++)
		require(trace.layer[i].offset <= length &&
			memchr(trace.layer[i].detail, 0, sizeof(trace.layer[i].detail)));
	n = weir_flow_key_format(key, text, sizeof(text));
	require(n > 0 && (size_t)n < sizeof(text));
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
	struct weir_flow_config config;
	struct weir_flow_key key;
	struct weir_meta meta = { 0 };
	uint8_t *frame;

	if (length < CONFIG_BYTES)
		return -1;
	config = config_of(data);
	data += CONFIG_BYTES;
	length -= CONFIG_BYTES;
	/* An allocation of the exact size, so that the sanitizer sees a read past the end. */
	frame = malloc(length);
	if (length != 0 && frame == NULL)
		return -1;
	if (length != 0)
		memcpy(frame, data, length);
	weir_flow_parse(&config, frame, (uint32_t)length, &key);
	require_well_formed(&key);
	require_traced(&config, frame, (uint32_t)length, &key);
	if (length >= 2 * MAC_BYTES)
		swap_macs(frame);
	weir_flow_classify(&config, frame, (uint32_t)length, &meta);
	require(meta.hash == weir_flow_hash(&config.hash_key, &key));
	require(meta.bucket == weir_flow_bucket(meta.hash) && meta.flow_reason == key.reason);
	free(frame);
	return 0;
}
