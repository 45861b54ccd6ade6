/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flow identity: which packets belong together. A bounds-checked cursor parser finds the addresses
 * and ports; a keyed, symmetric hash turns them into a bucket. Both directions of a connection get
 * the same hash. Every byte of a packet is hostile.
 */
#ifndef WEIR_FLOW_H
#define WEIR_FLOW_H

#include <stdint.h>

#include <weir/packet.h>

/** How a packet's flow was found; everything but WEIR_FLOW_PORTS is a fallback, counted apart. */
enum weir_flow_reason {
	WEIR_FLOW_PORTS = 0,	   /**< addresses, protocol and ports (or ICMP echo id) */
	WEIR_FLOW_NO_PORTS,	   /**< a protocol without ports: addresses and protocol */
	WEIR_FLOW_FRAGMENT,	   /**< a fragment, the first included: addresses and protocol */
	WEIR_FLOW_TRUNCATED_PORTS, /**< the packet ends before the ports: addresses and protocol */
	WEIR_FLOW_TRUNCATED_IP,	   /**< the IP header is cut or malformed: MAC addresses */
	WEIR_FLOW_NOT_IP,	   /**< no IP below the Ethernet header: MAC addresses */
	WEIR_FLOW_TRUNCATED_MAC,   /**< shorter than an Ethernet header: all share one flow */
	WEIR_FLOW_REASON_COUNT,
};

/** Bytes of the hash key. */
#define WEIR_HASH_KEY_BYTES 16

/** A 128-bit key for weir_flow_hash. */
struct weir_hash_key {
	uint64_t word[2]; /**< little-endian halves of the key's 16 bytes */
};

/** Most 64-bit words of a canonical flow key: IPv6 takes two addresses and one word of ports. */
#define WEIR_FLOW_WORDS_MAX 5

/**
 * A canonical flow key: the two endpoints in ascending order, so that both directions of a flow
 * have the same key. IPv4 and MAC flows take two words, IPv6 five; all words beyond `n_words` are
 * zero. The last word holds {lower endpoint's port:16, higher endpoint's port:16, protocol:8,
 * kind:8} where kind tells IPv4, IPv6, MAC and unknown keys apart. Two MACs need 96 bits: their
 * last 32 lie where other kinds have their ports.
 */
struct weir_flow_key {
	uint64_t word[WEIR_FLOW_WORDS_MAX];
	uint8_t n_words;
	uint8_t reason; /**< enum weir_flow_reason */
};

/**
 * Finds the flow key of an Ethernet frame.
 *
 * Never fails: what cannot be parsed falls back to what can (addresses, MACs, one flow for all),
 * and `key->reason` says so.
 *
 * @param data   first byte of the frame; only `length` bytes are read
 * @param length bytes at `data`, 0 or more
 * @param key    out
 * Any thread. No allocation, no system call.
 */
WEIR_API void weir_flow_parse(const uint8_t *data, uint32_t length, struct weir_flow_key *key);

/**
 * SipHash-1-3 of the key's words, in order, as little-endian bytes.
 * Source: Aumasson and Bernstein, "SipHash: a fast short-input PRF" (2012).
 * Any thread.
 */
WEIR_API uint64_t weir_flow_hash(
	const struct weir_hash_key *hash_key, const struct weir_flow_key *flow_key);

/** The bucket of a flow hash: its top 16 bits. */
static inline uint16_t
weir_flow_bucket(uint64_t hash)
{
	return (uint16_t)(hash >> 48);
}

/**
 * Parses and hashes one frame into `meta` (hash, bucket, flow_reason; other fields are left alone).
 * Any thread.
 */
WEIR_API void weir_flow_classify(const struct weir_hash_key *hash_key, const uint8_t *data,
	uint32_t length, struct weir_meta *meta);

/**
 * The stable name of a reason, as in reports: `ports`, `fragment`, `not_ip`, ...
 * @return NULL if `reason` is not below WEIR_FLOW_REASON_COUNT. Any thread.
 */
WEIR_API const char *weir_flow_reason_name(unsigned int reason);

/**
 * Reads a key from exactly 32 hexadecimal digits, first byte first.
 * @return 0, or -EINVAL and `hash_key` untouched. Any thread.
 */
WEIR_API int weir_hash_key_parse(const char *hex, struct weir_hash_key *hash_key);

/**
 * Draws a random key from the kernel.
 * @return 0, or -errno of getrandom(2). Any thread; not for the packet path (system call).
 */
WEIR_API int weir_hash_key_random(struct weir_hash_key *hash_key);

#endif
