/* SPDX-License-Identifier: BSD-3-Clause */
/* What the flow tests share: parsing what packet_builder.h describes, and comparing keys. */
#ifndef WEIR_TESTS_FLOW_CHECK_H
#define WEIR_TESTS_FLOW_CHECK_H

#include "test.h"

#include <weir/flow.h>

#include "packet_builder.h"

/* The usual two: the sender has the higher address, so that a key shows them changed over. */
#define FROM ((struct packet_endpoint) { 0x020304, 1000 })
#define TO ((struct packet_endpoint) { 0x010203, 2000 })
/* An echo's two sides share its identifier. */
#define ECHO_FROM ((struct packet_endpoint) { 0x020304, 77 })
#define ECHO_TO ((struct packet_endpoint) { 0x010203, 77 })

static inline struct weir_flow_key
parse_by(const struct weir_flow_config *config, const uint8_t *data, uint32_t length)
{
	struct weir_flow_key key;

	memset(&key, 0xee, sizeof(key));
	weir_flow_parse(config, data, length, &key);
	return key;
}

/* By the default configuration. */
static inline struct weir_flow_key
parse(const uint8_t *data, uint32_t length)
{
	const struct weir_flow_config config = weir_flow_config_default();

	return parse_by(&config, data, length);
}

static inline struct weir_flow_key
parse_packet(const struct packet *packet)
{
	return parse(packet->bytes, packet->length);
}

static inline struct weir_flow_key
parse_between(const char *layers, struct packet_endpoint from, struct packet_endpoint to)
{
	struct packet packet;

	packet_build(&packet, layers, from, to);
	return parse_packet(&packet);
}

/* Between the usual two. */
static inline struct weir_flow_key
parse_layers(const char *layers)
{
	return parse_between(layers, FROM, TO);
}

static inline struct weir_flow_key
parse_layers_by(const struct weir_flow_config *config, const char *layers)
{
	struct packet packet;

	packet_build(&packet, layers, FROM, TO);
	return parse_by(config, packet.bytes, packet.length);
}

static inline bool
same_flow(const struct weir_flow_key *a, const struct weir_flow_key *b)
{
	return a->n_words == b->n_words && memcmp(a->word, b->word, sizeof(a->word)) == 0;
}

static inline void
assert_same_flow(const struct weir_flow_key *a, const struct weir_flow_key *b)
{
	char text[2][WEIR_FLOW_KEY_TEXT_BYTES];

	if (same_flow(a, b))
		return;
	weir_flow_key_format(a, text[0], sizeof(text[0]));
	weir_flow_key_format(b, text[1], sizeof(text[1]));
	fail_msg("%s (%s) is not %s (%s)", text[0], weir_flow_reason_name(a->reason), text[1],
		weir_flow_reason_name(b->reason));
}

/* Asserts how a frame's flow is found, and what it is; `text` as weir_flow_key_format writes it. */
static inline void
assert_key(const char *what, const struct weir_flow_key *key, enum weir_flow_reason reason,
	const char *text)
{
	char found[WEIR_FLOW_KEY_TEXT_BYTES];

	weir_flow_key_format(key, found, sizeof(found));
	if (key->reason != reason || strcmp(found, text) != 0)
		fail_msg("%s: %s (%s), not %s (%s)", what, found,
			weir_flow_reason_name(key->reason), text, weir_flow_reason_name(reason));
}

/* What holds for the key of any bytes whatever. */
static inline void
assert_well_formed(const struct weir_flow_key *key)
{
	assert_in_range(key->reason, 0, WEIR_FLOW_REASON_COUNT - 1);
	assert_true(key->n_words == 2 || key->n_words == WEIR_FLOW_WORDS_MAX);
	for (unsigned int i = key->n_words; i < WEIR_FLOW_WORDS_MAX; i++)
		assert_int_equal(key->word[i], 0);
	assert_int_equal(key->word[key->n_words - 1] >> 48, 0);
}

#endif
