/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames for parser tests: a list of layers is read, appended and completed. */
#include "packet_builder.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "packet_layers.h"

/* Reads "name:1:0x2" and returns where it ends. */
static const char *
word_read(struct packet_word *word, const char *text)
{
	const size_t length = strcspn(text, ": ");

	*word = (struct packet_word) { .kind = packet_kind_find(text, length) };
	assert(word->kind);
	text += length;
	while (*text == ':') {
		char *end;

		assert(word->n_arguments < PACKET_ARGUMENTS_MAX);
		word->argument[word->n_arguments++] = (uint32_t)strtoul(text + 1, &end, 0);
		text = end;
	}
	return text;
}

static void
words_read(struct packet_builder *b, const char *layers)
{
	while (*layers) {
		assert(b->n_words < PACKET_LAYERS_MAX);
		layers = word_read(&b->words[b->n_words++], layers);
		layers += *layers == ' ';
	}
}

static uint16_t
checksum_of(const uint8_t *header)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < (header[0] & 0x0fu) * 4; i += 2)
		sum += (uint32_t)header[i] << 8 | header[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

/* In order: a header's length comes before its checksum. */
static void
fixups_apply(struct packet_builder *b)
{
	for (uint32_t i = 0; i < b->n_fixups; i++) {
		const struct packet_fixup *fixup = &b->fixups[i];

		packet_poke16(b->packet, fixup->at,
			fixup->is_checksum ? checksum_of(b->packet->bytes + fixup->from)
					   : (uint16_t)(b->packet->length - fixup->from));
	}
}

void
packet_build(struct packet *packet, const char *layers, struct packet_endpoint from,
	struct packet_endpoint to)
{
	struct packet_builder b = { .packet = packet, .from = from, .to = to };

	packet->length = 0;
	words_read(&b, layers);
	for (b.index = 0; b.index < b.n_words; b.index++) {
		packet->offset[b.index] = packet->length;
		b.words[b.index].kind->append(&b, &b.words[b.index]);
	}
	packet->n_layers = b.n_words;
	fixups_apply(&b);
}

void
packet_poke16(struct packet *packet, uint32_t offset, uint16_t value)
{
	assert(offset + 2 <= packet->length);
	packet->bytes[offset] = (uint8_t)(value >> 8);
	packet->bytes[offset + 1] = (uint8_t)value;
}
