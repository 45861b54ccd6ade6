/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The keyed hash of a flow key, and where its 128-bit key comes from. Knows nothing of packets:
 * parse.c makes the flow keys; classify.c hashes them itself.
 */
#include <weir/flow.h>

#include <errno.h>
#include <unistd.h>

#include "siphash.h"

uint64_t
weir_flow_hash(const struct weir_hash_key *hash_key, const struct weir_flow_key *flow_key)
{
	struct siphash s = siphash_start(hash_key->word);

	for (unsigned int i = 0; i < flow_key->n_words; i++)
		s = siphash_add(s, flow_key->word[i]);
	return siphash_end(s, flow_key->n_words);
}

/* Sets the two words from the key's bytes; the same key on machines of either byte order. */
static void
hash_key_set(struct weir_hash_key *hash_key, const uint8_t *bytes)
{
	for (unsigned int i = 0; i < 2; i++) {
		hash_key->word[i] = 0;
		for (unsigned int j = 0; j < 8; j++)
			hash_key->word[i] |= (uint64_t)bytes[i * 8 + j] << (j * 8);
	}
}

/* Returns 0 .. 15, or -EINVAL. */
static int
hex_digit_value(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	if (digit >= 'A' && digit <= 'F')
		return digit - 'A' + 10;
	return -EINVAL;
}

int
weir_hash_key_parse(const char *hex, struct weir_hash_key *hash_key)
{
	uint8_t bytes[WEIR_HASH_KEY_BYTES] = { 0 };

	/* Stops at the terminator, which is no digit. */
	for (unsigned int i = 0; i < 2 * WEIR_HASH_KEY_BYTES; i++) {
		const int value = hex_digit_value(hex[i]);

		if (value < 0)
			return value;
		bytes[i / 2] = (uint8_t)(bytes[i / 2] << 4 | value);
	}
	if (hex[2 * WEIR_HASH_KEY_BYTES] != '\0')
		return -EINVAL;
	hash_key_set(hash_key, bytes);
	return 0;
}

int
weir_hash_key_random(struct weir_hash_key *hash_key)
{
	uint8_t bytes[WEIR_HASH_KEY_BYTES];

	/* getrandom(2) until the bytes are there: it retries what a signal interrupts. */
	if (getentropy(bytes, sizeof(bytes)) != 0)
		return -errno;
	hash_key_set(hash_key, bytes);
	return 0;
}
