/* SPDX-License-Identifier: BSD-3-Clause */
/* What the flow tests share: parsing what packet_builder.h describes, and comparing keys. */
#ifndef WEIR_TESTS_FLOW_CHECK_H
#define WEIR_TESTS_FLOW_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <weir/flow.h>

#include "packet_builder.h"

/* The usual two: the sender has the higher address, so that a key shows them changed over. */
#define ENDPOINTS .from = { 0x020304, 1000 }, .to = { 0x010203, 2000 }
#define ECHO_ENDPOINTS .from = { 0x020304, 77 }, .to = { 0x010203, 77 }

static inline struct weir_flow_key
parse(const uint8_t *data, uint32_t length)
{
	struct weir_flow_key key;

	memset(&key, 0xee, sizeof(key));
	weir_flow_parse(data, length, &key);
	return key;
}

static inline struct weir_flow_key
parse_packet(const struct packet *packet)
{
	return parse(packet->bytes, packet->length);
}

static inline struct weir_flow_key
parse_spec(const struct packet_spec *spec)
{
	struct packet packet;

	packet_build(&packet, spec);
	return parse_packet(&packet);
}

static inline bool
same_flow(const struct weir_flow_key *a, const struct weir_flow_key *b)
{
	return a->n_words == b->n_words && memcmp(a->word, b->word, sizeof(a->word)) == 0;
}

static inline void
assert_same_flow(const struct weir_flow_key *a, const struct weir_flow_key *b)
{
	assert_int_equal(a->n_words, b->n_words);
	assert_memory_equal(a->word, b->word, sizeof(a->word));
}

/* What holds for the key of any bytes whatever. */
static inline void
assert_well_formed(const struct weir_flow_key *key)
{
	assert_in_range(key->reason, 0, WEIR_FLOW_REASON_COUNT - 1);
	assert_true(key->n_words == 2 || key->n_words == WEIR_FLOW_WORDS_MAX);
	for (unsigned int i = key->n_words; i < WEIR_FLOW_WORDS_MAX; i++)
		assert_int_equal(key->word[i], 0);
}

#endif
