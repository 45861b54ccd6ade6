/* SPDX-License-Identifier: BSD-3-Clause */
/* From the flow that a walk has noted to the canonical key. */
#ifndef WEIR_FLOW_KEY_H
#define WEIR_FLOW_KEY_H

#include "cursor.h"

/*
 * Swaps without a branch: which of two endpoints is the lower one is a coin toss per packet, and
 * a missed branch costs as much as the hash.
 */
static inline void
swap_if(bool condition, uint64_t *a, uint64_t *b)
{
	const uint64_t difference = (*a ^ *b) & -(uint64_t)condition;

	*a ^= difference;
	*b ^= difference;
}

static inline uint64_t
last_word(uint64_t low_port, uint64_t high_port, uint8_t protocol, enum flow_kind kind)
{
	return low_port | high_port << 16 | (uint64_t)protocol << 32 | (uint64_t)kind << 40;
}

static inline void
key_set_ipv4(struct weir_flow_key *key, const struct walk *walk)
{
	uint64_t low = (uint64_t)load_be32(walk->addresses) << 16 | walk_source_port(walk);
	uint64_t high =
		(uint64_t)load_be32(walk->addresses + 4) << 16 | walk_destination_port(walk);

	swap_if(low > high, &low, &high);
	key->word[0] = low >> 16 << 32 | high >> 16;
	key->word[1] =
		last_word(low & 0xffff, high & 0xffff, walk->protocol, FLOW_KIND_IPV4) | walk->spi;
	key->n_words = 2;
}

static inline void
key_set_ipv6(struct weir_flow_key *key, const struct walk *walk)
{
	uint64_t low[3] = { load_be64(walk->addresses), load_be64(walk->addresses + 8),
		walk_source_port(walk) };
	uint64_t high[3] = { load_be64(walk->addresses + 16), load_be64(walk->addresses + 24),
		walk_destination_port(walk) };
	/* low > high, of three digits, without a branch. */
	const bool swap =
		(low[0] > high[0]) |
		((low[0] == high[0]) &
			((low[1] > high[1]) | ((low[1] == high[1]) & (low[2] > high[2]))));

	for (unsigned int i = 0; i < 3; i++)
		swap_if(swap, &low[i], &high[i]);
	key->word[0] = low[0];
	key->word[1] = low[1];
	key->word[2] = high[0];
	key->word[3] = high[1];
	key->word[4] = last_word(low[2], high[2], walk->protocol, FLOW_KIND_IPV6) | walk->spi;
	key->n_words = 5;
}

/* Two addresses of 48 bits need 96: the last 32 lie where other kinds have their ports. */
static inline void
key_set_mac(struct weir_flow_key *key, const struct walk *walk)
{
	uint64_t low = load_be64(walk->addresses) >> 16;
	uint64_t high =
		(uint64_t)load_be16(walk->addresses + 6) << 32 | load_be32(walk->addresses + 8);

	swap_if(low > high, &low, &high);
	key->word[0] = low << 16 | high >> 32;
	key->word[1] = last_word(high & 0xffff, high >> 16 & 0xffff, 0, FLOW_KIND_MAC);
	key->n_words = 2;
}

static inline void
key_set_unknown(struct weir_flow_key *key)
{
	key->word[0] = 0;
	key->word[1] = last_word(0, 0, 0, FLOW_KIND_UNKNOWN);
	key->n_words = 2;
}

/* Sets the first n_words words and leaves the rest alone. */
FLOW_INLINE void
key_set(struct weir_flow_key *key, const struct walk *walk)
{
	key->reason = walk->reason;
	switch ((enum flow_kind)walk->kind) {
	case FLOW_KIND_IPV4:
		key_set_ipv4(key, walk);
		break;
	case FLOW_KIND_IPV6:
		key_set_ipv6(key, walk);
		break;
	case FLOW_KIND_MAC:
		key_set_mac(key, walk);
		break;
	default:
		key_set_unknown(key);
		break;
	}
}

#endif
