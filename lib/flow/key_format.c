/* SPDX-License-Identifier: BSD-3-Clause */
/* Flow keys for people. Cold. */
#include <weir/flow.h>

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "cursor.h"
#include "text.h"

/* The fields of a key's last word. */
struct last_word {
	uint16_t port[2]; /* of the lower endpoint and of the higher one */
	uint32_t spi;	  /* in their place */
	uint8_t protocol;
	uint8_t kind; /* enum flow_kind */
};

static struct last_word
last_word_read(const struct weir_flow_key *key)
{
	const uint64_t word = key->n_words ? key->word[key->n_words - 1] : 0;

	return (struct last_word) {
		.port = { (uint16_t)word, (uint16_t)(word >> 16) },
		.spi = (uint32_t)word,
		.protocol = (uint8_t)(word >> 32),
		.kind = (uint8_t)(word >> 40),
	};
}

static void
store_be64(uint8_t *bytes, uint64_t word)
{
	for (unsigned int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(word >> (56 - 8 * i));
}

static void
endpoint_add(struct text *text, const struct weir_flow_key *key, unsigned int side, bool bracketed)
{
	uint8_t bytes[16];

	if (key->n_words == 2) {
		store_be64(bytes, key->word[0]);
		text_add_ipv4(text, bytes + side * 4);
		return;
	}
	store_be64(bytes, key->word[side * 2]);
	store_be64(bytes + 8, key->word[side * 2 + 1]);
	text_add(text, "%s", bracketed ? "[" : "");
	text_add_ipv6(text, bytes);
	text_add(text, "%s", bracketed ? "]" : "");
}

/* Ports of zero are those of a flow without. */
static void
ip_add(struct text *text, const struct weir_flow_key *key, const struct last_word *last)
{
	const bool has_spi = key->reason == WEIR_FLOW_SPI;
	const bool has_ports = key->reason == WEIR_FLOW_PORTS || (!has_spi && last->spi != 0);

	for (unsigned int side = 0; side < 2; side++) {
		text_add(text, "%s", side == 0 ? "" : " <> ");
		endpoint_add(text, key, side, has_ports);
		if (has_ports)
			text_add(text, ":%u", last->port[side]);
	}
	text_add(text, " ");
	text_add_protocol(text, last->protocol);
	if (has_spi)
		text_add(text, " spi 0x%08" PRIx32, last->spi);
}

/* The 96 bits of two MACs: 64 in the first word, 32 where the ports would be. */
static void
mac_add(struct text *text, const struct weir_flow_key *key, const struct last_word *last)
{
	uint8_t bytes[16];

	store_be64(bytes, key->word[0]);
	store_be64(bytes + 8, (uint64_t)last->port[1] << 48 | (uint64_t)last->port[0] << 32);
	text_add_mac(text, bytes);
	text_add(text, " <> ");
	text_add_mac(text, bytes + 6);
}

int
weir_flow_key_format(const struct weir_flow_key *key, char *text, size_t n_bytes)
{
	const struct last_word last = last_word_read(key);
	struct text out = { .begin = text, .n_bytes = n_bytes };

	switch (last.kind) {
	case FLOW_KIND_IPV4:
	case FLOW_KIND_IPV6:
		ip_add(&out, key, &last);
		break;
	case FLOW_KIND_MAC:
		mac_add(&out, key, &last);
		break;
	default:
		text_add(&out, "unknown");
	}
	return (int)out.used;
}
