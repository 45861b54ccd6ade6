/* SPDX-License-Identifier: BSD-3-Clause */
/* The layers that packet_builder.c puts together. Private to the builder. */
#ifndef WEIR_TESTS_PACKET_LAYERS_H
#define WEIR_TESTS_PACKET_LAYERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "packet_builder.h"

#define PACKET_ARGUMENTS_MAX 3
#define PACKET_FIXUPS_MAX 64
#define PACKET_NO_PROTOCOL (-1)

struct packet_builder;
struct packet_word;

/* A kind of layer: what those before it call it, and how it is appended. */
struct packet_kind {
	const char *name;
	uint16_t ethertype;
	int16_t protocol;
	uint16_t ppp;
	uint8_t gpe; /* and NSH */
	uint16_t udp_port;
	void (*append)(struct packet_builder *builder, const struct packet_word *word);
};

/* A layer of the list. */
struct packet_word {
	const struct packet_kind *kind;
	unsigned int n_arguments;
	uint32_t argument[PACKET_ARGUMENTS_MAX];
};

/* A field that is known once the frame is complete. */
struct packet_fixup {
	uint32_t at;   /* of the field */
	uint32_t from; /* first byte that counts */
	bool is_checksum;
};

struct packet_builder {
	struct packet *packet;
	struct packet_endpoint from;
	struct packet_endpoint to;
	struct packet_word words[PACKET_LAYERS_MAX];
	uint32_t n_words;
	uint32_t index; /* of the word being appended */
	struct packet_fixup fixups[PACKET_FIXUPS_MAX];
	uint32_t n_fixups;
};

/* The kind whose name is the `length` bytes at `text`; NULL if there is none. */
const struct packet_kind *packet_kind_find(const char *text, size_t length);

#endif
