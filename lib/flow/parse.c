/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the flow of an Ethernet frame. A cursor walks from layer to layer; there is one small
 * function per layer, which checks bounds before it reads, notes the best flow that it can prove
 * and names the layer that follows. What comes after a layer it cannot read is never guessed: the
 * flow noted so far stands. A new layer is a function, a case in flow_walk and a row in one of the
 * next_* functions. Knows no buffer library and keeps no state.
 */
#include <weir/flow.h>

#include <stdbool.h>
#include <stddef.h>

#include "bytes.h"
#include "cacheline.h"
#include "siphash.h"

/*
 * Forced for the two big halves, which have two callers each: gcc 12 makes calls of them otherwise,
 * with the walk and the key in memory between (47 cycles a packet instead of 42 for IPv4/UDP, 79
 * instead of 55 for IPv6/UDP).
 */
#define FLOW_INLINE static inline __attribute__((always_inline))

#define ETHERNET_HEADER_BYTES 14
#define VLAN_TAG_BYTES 4
#define IPV4_HEADER_BYTES 20
#define IPV6_HEADER_BYTES 40
#define PORTS_BYTES 4
/* Type, code, checksum and the identifier of an echo. */
#define ICMP_ECHO_BYTES 6

/*
 * VLAN tags that are looked through; networks stack two, seldom three. A frame with more is not
 * IP, so that a frame full of tags costs no more than eight steps.
 */
#define VLAN_TAGS_MAX 8

/* "More fragments" and the offset: not both zero in a fragment, both zero in a whole datagram. */
#define IPV4_FRAGMENT_MASK 0x3fff

enum ethertype {
	ETHERTYPE_IPV4 = 0x0800,
	ETHERTYPE_VLAN = 0x8100,
	ETHERTYPE_IPV6 = 0x86dd,
	ETHERTYPE_SERVICE_VLAN = 0x88a8,
	ETHERTYPE_OLD_SERVICE_VLAN = 0x9100,
};

enum protocol {
	PROTOCOL_ICMP = 1,
	PROTOCOL_TCP = 6,
	PROTOCOL_UDP = 17,
	PROTOCOL_IPV6_FRAGMENT = 44,
	PROTOCOL_ICMPV6 = 58,
	PROTOCOL_SCTP = 132,
};

enum icmp_type {
	ICMP_ECHO_REPLY = 0,
	ICMP_ECHO_REQUEST = 8,
	ICMPV6_ECHO_REQUEST = 128,
	ICMPV6_ECHO_REPLY = 129,
};

/* Tells keys apart whose words are the same otherwise. Goes into the hash: never renumber. */
enum flow_kind {
	FLOW_KIND_UNKNOWN = 0,
	FLOW_KIND_MAC = 1,
	FLOW_KIND_IPV4 = 4,
	FLOW_KIND_IPV6 = 6,
};

enum layer {
	LAYER_END,
	LAYER_VLAN,
	LAYER_IPV4,
	LAYER_IPV6,
	LAYER_PORTS,
	LAYER_ICMP,
	LAYER_ICMPV6,
};

/* One walk through a frame: where the cursor is, and the best flow noted so far. */
struct walk {
	const uint8_t *at;
	size_t left;		  /* bytes at `at` that may be read */
	const uint8_t *addresses; /* the two of them, one behind the other; length by `kind` */
	uint16_t port[2];	  /* port[i] belongs to the i-th address */
	uint8_t protocol;
	uint8_t kind;	/* enum flow_kind */
	uint8_t reason; /* enum weir_flow_reason */
	uint8_t n_tags;
};

/* Moves on by `bytes`, or to the end if there are fewer. */
static inline void
walk_skip(struct walk *walk, size_t bytes)
{
	const size_t step = bytes < walk->left ? bytes : walk->left;

	walk->at += step;
	walk->left -= step;
}

/* Takes what lies beyond the next `bytes` out of the walk: padding, or a trailer. */
static inline void
walk_trim(struct walk *walk, size_t bytes)
{
	if (bytes < walk->left)
		walk->left = bytes;
}

/* Ends the walk for `reason` with the flow noted so far. */
static inline enum layer
walk_stop(struct walk *walk, enum weir_flow_reason reason)
{
	walk->reason = (uint8_t)reason;
	return LAYER_END;
}

/* Notes a flow by the pair of addresses at `addresses`. */
static inline void
walk_note(struct walk *walk, enum flow_kind kind, const uint8_t *addresses, uint8_t protocol)
{
	walk->kind = (uint8_t)kind;
	walk->addresses = addresses;
	walk->protocol = protocol;
	walk->port[0] = 0;
	walk->port[1] = 0;
}

static inline enum layer
next_of_ethertype(struct walk *walk, uint16_t ethertype)
{
	switch (ethertype) {
	case ETHERTYPE_IPV4:
		return LAYER_IPV4;
	case ETHERTYPE_IPV6:
		return LAYER_IPV6;
	case ETHERTYPE_VLAN:
	case ETHERTYPE_SERVICE_VLAN:
	case ETHERTYPE_OLD_SERVICE_VLAN:
		return LAYER_VLAN;
	default:
		return walk_stop(walk, WEIR_FLOW_NOT_IP);
	}
}

static inline enum layer
next_of_protocol(struct walk *walk, uint8_t protocol)
{
	switch (protocol) {
	case PROTOCOL_UDP:
	case PROTOCOL_TCP:
	case PROTOCOL_SCTP:
		return LAYER_PORTS;
	case PROTOCOL_ICMP:
		return LAYER_ICMP;
	case PROTOCOL_ICMPV6:
		return LAYER_ICMPV6;
	case PROTOCOL_IPV6_FRAGMENT:
		return walk_stop(walk, WEIR_FLOW_FRAGMENT);
	default:
		return walk_stop(walk, WEIR_FLOW_NO_PORTS);
	}
}

static inline enum layer
walk_ethernet(struct walk *walk)
{
	const uint8_t *header = walk->at;

	if (unlikely(walk->left < ETHERNET_HEADER_BYTES))
		return walk_stop(walk, WEIR_FLOW_TRUNCATED_MAC);
	walk_note(walk, FLOW_KIND_MAC, header, 0);
	walk_skip(walk, ETHERNET_HEADER_BYTES);
	return next_of_ethertype(walk, load_be16(header + 12));
}

/* A tag names the type that follows it and is no part of the flow. */
static inline enum layer
walk_vlan(struct walk *walk)
{
	const uint8_t *tag = walk->at;

	if (walk->left < VLAN_TAG_BYTES || walk->n_tags == VLAN_TAGS_MAX)
		return walk_stop(walk, WEIR_FLOW_NOT_IP);
	walk->n_tags++;
	walk_skip(walk, VLAN_TAG_BYTES);
	return next_of_ethertype(walk, load_be16(tag + 2));
}

static inline enum layer
walk_ipv4(struct walk *walk)
{
	const uint8_t *header = walk->at;

	if (unlikely(walk->left < IPV4_HEADER_BYTES))
		return walk_stop(walk, WEIR_FLOW_TRUNCATED_IP);
	const size_t header_bytes = (size_t)(header[0] & 0x0f) * 4;
	/* Zero stands for a length that segmentation offload has yet to fill in: the frame's. */
	const size_t total_bytes = load_be16(header + 2) ? load_be16(header + 2) : SIZE_MAX;

	if (unlikely(header[0] >> 4 != 4 || header_bytes < IPV4_HEADER_BYTES ||
		     total_bytes < header_bytes))
		return walk_stop(walk, WEIR_FLOW_TRUNCATED_IP);
	walk_note(walk, FLOW_KIND_IPV4, header + 12, header[9]);
	/* Only the first fragment has ports; it goes without them, so that it meets the others. */
	if (unlikely(load_be16(header + 6) & IPV4_FRAGMENT_MASK))
		return walk_stop(walk, WEIR_FLOW_FRAGMENT);
	walk_trim(walk, total_bytes);
	walk_skip(walk, header_bytes);
	return next_of_protocol(walk, header[9]);
}

static inline enum layer
walk_ipv6(struct walk *walk)
{
	const uint8_t *header = walk->at;

	if (unlikely(walk->left < IPV6_HEADER_BYTES || header[0] >> 4 != 6))
		return walk_stop(walk, WEIR_FLOW_TRUNCATED_IP);
	walk_note(walk, FLOW_KIND_IPV6, header + 8, header[6]);
	walk_skip(walk, IPV6_HEADER_BYTES);
	/* Zero stands for a jumbogram, or for offload as in IPv4: the frame's end. */
	if (likely(load_be16(header + 4)))
		walk_trim(walk, load_be16(header + 4));
	return next_of_protocol(walk, header[6]);
}

/* TCP, UDP and SCTP all begin with the two ports. */
static inline enum layer
walk_ports(struct walk *walk)
{
	if (unlikely(walk->left < PORTS_BYTES))
		return walk_stop(walk, WEIR_FLOW_TRUNCATED_PORTS);
	walk->port[0] = load_be16(walk->at);
	walk->port[1] = load_be16(walk->at + 2);
	return walk_stop(walk, WEIR_FLOW_PORTS);
}

/* The identifier of an echo, which request and reply share, stands for both ports. */
static inline enum layer
walk_icmp(struct walk *walk, enum icmp_type request, enum icmp_type reply)
{
	if (walk->left == 0)
		return walk_stop(walk, WEIR_FLOW_TRUNCATED_PORTS);
	if (walk->at[0] != request && walk->at[0] != reply)
		return walk_stop(walk, WEIR_FLOW_NO_PORTS);
	if (walk->left < ICMP_ECHO_BYTES)
		return walk_stop(walk, WEIR_FLOW_TRUNCATED_PORTS);
	walk->port[0] = load_be16(walk->at + 4);
	walk->port[1] = walk->port[0];
	return walk_stop(walk, WEIR_FLOW_PORTS);
}

/* Every step consumes bytes or ends the walk. */
FLOW_INLINE struct walk
flow_walk(const uint8_t *data, uint32_t length)
{
	struct walk walk = { .at = data, .left = length };
	enum layer layer = walk_ethernet(&walk);

	while (layer != LAYER_END) {
		switch (layer) {
		case LAYER_VLAN:
			layer = walk_vlan(&walk);
			break;
		case LAYER_IPV4:
			layer = walk_ipv4(&walk);
			break;
		case LAYER_IPV6:
			layer = walk_ipv6(&walk);
			break;
		case LAYER_PORTS:
			layer = walk_ports(&walk);
			break;
		case LAYER_ICMP:
			layer = walk_icmp(&walk, ICMP_ECHO_REQUEST, ICMP_ECHO_REPLY);
			break;
		case LAYER_ICMPV6:
			layer = walk_icmp(&walk, ICMPV6_ECHO_REQUEST, ICMPV6_ECHO_REPLY);
			break;
		case LAYER_END:
			break;
		}
	}
	return walk;
}

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
	uint64_t low = (uint64_t)load_be32(walk->addresses) << 16 | walk->port[0];
	uint64_t high = (uint64_t)load_be32(walk->addresses + 4) << 16 | walk->port[1];

	swap_if(low > high, &low, &high);
	key->word[0] = low >> 16 << 32 | high >> 16;
	key->word[1] = last_word(low & 0xffff, high & 0xffff, walk->protocol, FLOW_KIND_IPV4);
	key->n_words = 2;
}

static inline void
key_set_ipv6(struct weir_flow_key *key, const struct walk *walk)
{
	uint64_t low[3] = { load_be64(walk->addresses), load_be64(walk->addresses + 8),
		walk->port[0] };
	uint64_t high[3] = { load_be64(walk->addresses + 16), load_be64(walk->addresses + 24),
		walk->port[1] };
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
	key->word[4] = last_word(low[2], high[2], walk->protocol, FLOW_KIND_IPV6);
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
	case FLOW_KIND_UNKNOWN:
		key_set_unknown(key);
		break;
	}
}

void
weir_flow_parse(const uint8_t *data, uint32_t length, struct weir_flow_key *key)
{
	const struct walk walk = flow_walk(data, length);

	*key = (struct weir_flow_key) { 0 };
	key_set(key, &walk);
}

/* weir_flow_hash with the two possible counts written out. */
static inline uint64_t
key_hash(const struct weir_hash_key *hash_key, const struct weir_flow_key *key)
{
	struct siphash s = siphash_start(hash_key->word);

	s = siphash_add(s, key->word[0]);
	s = siphash_add(s, key->word[1]);
	if (likely(key->n_words == 2))
		return siphash_end(s, 2);
	s = siphash_add(s, key->word[2]);
	s = siphash_add(s, key->word[3]);
	s = siphash_add(s, key->word[4]);
	return siphash_end(s, 5);
}

void
weir_flow_classify(const struct weir_hash_key *hash_key, const uint8_t *data, uint32_t length,
	struct weir_meta *meta)
{
	const struct walk walk = flow_walk(data, length);
	struct weir_flow_key key = { .n_words =
					     2 }; /* every kind sets it; not every gcc sees that */

	key_set(&key, &walk);
	meta->hash = key_hash(hash_key, &key);
	meta->bucket = weir_flow_bucket(meta->hash);
	meta->flow_reason = key.reason;
}
