/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flow identity: which packets belong together. A bounds-checked cursor parser finds the addresses
 * and ports, in tunnels those of the inner packet; a keyed, symmetric hash turns them into a
 * bucket. Both directions of a connection get the same hash. Every byte of a packet is hostile.
 *
 * Looked through: VLAN tags (0x8100, 0x88a8, 0x9100, several), VN-Tag, LLC/SNAP, PPPoE sessions,
 * MPLS and what it carries (IPv4, IPv6, Ethernet with or without control word), NSH, IPv4 options,
 * IPv6 extension headers, AH. Tunnels: IP in IP in all four combinations, Ethernet and MPLS in IP,
 * GRE (PPTP, NVGRE, ERSPAN I to III), VXLAN, VXLAN-GPE, Geneve, GTP-U, Teredo.
 *
 * What identifies a flow, and what follows from it:
 * - Addresses, protocol and ports; of ICMP the identifier of a query. VLANs, labels and networks of
 *   tunnels (VNI, TEID, GRE key) are no part of it: flows that differ in those alone share a
 *   bucket, which costs balance and never order.
 * - An ICMP error belongs to the flow of the packet that it quotes.
 * - All fragments of a datagram, the first included: addresses and protocol, in IPv6 always 44: the
 *   fragments of a datagram may name different next headers (RFC 8200, 4.5). A flow's fragments
 *   and its whole datagrams are two flows. A fragmented tunnel packet goes by the tunnel.
 * - ESP, and AH over what has no ports: addresses, protocol and SPI. Each direction of an IPsec
 *   connection has an SPI of its own, so that its two directions are two flows.
 * - What a tunnel over UDP does not show goes by the tunnel's ports. The sender's differs by
 *   direction.
 * - The addresses are those of the IP header. The last stop of a source route is not looked up.
 */
#ifndef WEIR_FLOW_H
#define WEIR_FLOW_H

#include <stddef.h>
#include <stdint.h>

#include <weir/packet.h>

/**
 * How a packet's flow was found; everything but WEIR_FLOW_PORTS is a fallback, counted apart. Those
 * from WEIR_FLOW_NESTING_LIMIT on leave the best flow that was found around what could not be read:
 * that of the innermost IP header, else the MAC addresses.
 */
enum weir_flow_reason {
	WEIR_FLOW_PORTS = 0,	   /**< addresses, protocol and ports (or ICMP identifier) */
	WEIR_FLOW_NO_PORTS,	   /**< a protocol without ports: addresses and protocol */
	WEIR_FLOW_SPI,		   /**< ESP or AH: addresses, protocol and SPI */
	WEIR_FLOW_FRAGMENT,	   /**< a fragment, the first included: addresses and protocol */
	WEIR_FLOW_TRUNCATED_PORTS, /**< the packet ends before the ports: addresses and protocol */
	WEIR_FLOW_TRUNCATED_IP,	   /**< the IP header is cut or malformed: MAC addresses */
	WEIR_FLOW_NOT_IP,	   /**< no IP below the Ethernet header: MAC addresses */
	WEIR_FLOW_TRUNCATED_MAC,   /**< shorter than an Ethernet header: all share one flow */
	WEIR_FLOW_NESTING_LIMIT,   /**< more tunnels, tags or headers than are looked through */
	WEIR_FLOW_TRUNCATED_INNER, /**< what a tunnel or an ICMP error holds is cut or malformed */
	WEIR_FLOW_INNER_NOT_IP,	   /**< a tunnel holds something else than IP */
	WEIR_FLOW_UNKNOWN_TUNNEL,  /**< a tunnel header of unknown version or kind */
	WEIR_FLOW_NIC,		   /**< the port has hashed it: weir_flow_adopt_hash */
	WEIR_FLOW_REASON_COUNT,
};

/** Bytes of the hash key. */
#define WEIR_HASH_KEY_BYTES 16

/** A 128-bit key for weir_flow_hash. */
struct weir_hash_key {
	uint64_t word[2]; /**< little-endian halves of the key's 16 bytes */
};

/** Which packet of a tunnel is asked for its flow. */
enum weir_flow_depth {
	WEIR_FLOW_INNER = 0, /**< the innermost that the nesting limit allows */
	WEIR_FLOW_OUTER,     /**< the outermost with an IP header: no tunnel is looked into */
};

/**
 * Tunnels over UDP, known by their destination port (Teredo: by either port, for its servers
 * answer from theirs).
 */
enum weir_flow_tunnel {
	WEIR_FLOW_VXLAN = 0,
	WEIR_FLOW_VXLAN_GPE,
	WEIR_FLOW_GENEVE,
	WEIR_FLOW_GTPU,
	WEIR_FLOW_TEREDO,
	WEIR_FLOW_TUNNEL_COUNT,
};

/** Tunnels that are looked through by default, one in the other. */
#define WEIR_FLOW_NESTING_DEFAULT 4
/** Most tunnels that can be asked for: what bounds the work on a hostile packet. */
#define WEIR_FLOW_NESTING_MAX 16

/** How flows are found. Read-only for whoever parses: threads may share one. */
struct weir_flow_config {
	struct weir_hash_key hash_key;
	enum weir_flow_depth depth;
	uint32_t nesting_max; /**< tunnels looked through, 0 .. WEIR_FLOW_NESTING_MAX */
	uint16_t tunnel_port[WEIR_FLOW_TUNNEL_COUNT]; /**< by enum weir_flow_tunnel; 0 = off */
};

/** The inner flow, four tunnels deep, registered UDP ports; a hash key of zeros. Any thread. */
WEIR_API struct weir_flow_config weir_flow_config_default(void);

/**
 * The stable name of a UDP tunnel: `vxlan`, `vxlan-gpe`, `geneve`, `gtpu`, `teredo`.
 * @return NULL if `tunnel` is not below WEIR_FLOW_TUNNEL_COUNT. Any thread.
 */
WEIR_API const char *weir_flow_tunnel_name(unsigned int tunnel);

/** Most 64-bit words of a canonical flow key: IPv6 takes two addresses and one word of ports. */
#define WEIR_FLOW_WORDS_MAX 5

/**
 * A canonical flow key: the two endpoints in ascending order, so that both directions of a flow
 * have the same key. IPv4 and MAC flows take two words, IPv6 five; all words beyond `n_words` are
 * zero. The last word holds, from its lowest bit, {lower endpoint's port:16, higher endpoint's
 * port:16, protocol:8, kind:8, zero:16}; kind is 4 for IPv4, 6 for IPv6, 1 for MAC and 0 for
 * unknown keys. The words before it are the lower address, then the higher one. An ICMP identifier
 * stands for both ports; an SPI lies in their 32 bits. Two MACs need 96 bits: their last 32 lie
 * where other kinds have their ports.
 */
struct weir_flow_key {
	uint64_t word[WEIR_FLOW_WORDS_MAX];
	uint8_t n_words;
	uint8_t reason; /**< enum weir_flow_reason */
};

/**
 * Finds the flow key of an Ethernet frame.
 *
 * Never fails: what cannot be parsed falls back to what can (the flow around it, addresses, MACs,
 * one flow for all), and `key->reason` says so.
 *
 * @param data   first byte of the frame; only `length` bytes are read
 * @param length bytes at `data`, 0 or more
 * @param key    out
 * Any thread. No allocation, no system call.
 */
WEIR_API void weir_flow_parse(const struct weir_flow_config *config, const uint8_t *data,
	uint32_t length, struct weir_flow_key *key);

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
WEIR_API void weir_flow_classify(const struct weir_flow_config *config, const uint8_t *data,
	uint32_t length, struct weir_meta *meta);

/**
 * Takes a port's RSS hash for the flow hash of `meta` (hash, bucket, flow_reason). A symmetric RSS
 * key repeats 16 bits, and so do its hashes: they are multiplied (by 2^64 divided by the golden
 * ratio) until the top bits depend on all of them. Not keyed: whoever knows the port's key can aim
 * at a bucket.
 * Any thread.
 */
static inline void
weir_flow_adopt_hash(uint32_t rss_hash, struct weir_meta *meta)
{
	meta->hash = rss_hash * UINT64_C(0x9e3779b97f4a7c15);
	meta->bucket = weir_flow_bucket(meta->hash);
	meta->flow_reason = WEIR_FLOW_NIC;
}

/**
 * The stable name of a reason, as in reports: `ports`, `fragment`, `not_ip`, ...
 * @return NULL if `reason` is not below WEIR_FLOW_REASON_COUNT. Any thread.
 */
WEIR_API const char *weir_flow_reason_name(unsigned int reason);

/** Room for the text of any flow key. */
#define WEIR_FLOW_KEY_TEXT_BYTES 128

/**
 * Writes a key for people: `10.0.0.1:53 <> 10.0.0.2:4096 udp`, the lower endpoint first; without
 * ports `10.0.0.1 <> 10.0.0.2 ospf`, with `spi 0x...` behind them if that was found. Always
 * terminated.
 * @return as snprintf. Any thread.
 */
WEIR_API int weir_flow_key_format(const struct weir_flow_key *key, char *text, size_t n_bytes);

/** Layers of a trace; what a packet has beyond them is counted only. */
#define WEIR_FLOW_TRACE_LAYERS_MAX 64
/** Room for what a trace says of a layer. */
#define WEIR_FLOW_TRACE_DETAIL_BYTES 128

/** A layer that the parser came to, whether or not it could be read. */
struct weir_flow_trace_layer {
	const char *name;			   /**< `vlan`, `ipv6`, `geneve`, ... */
	uint32_t offset;			   /**< of its first byte in the frame */
	char detail[WEIR_FLOW_TRACE_DETAIL_BYTES]; /**< ids, addresses, ports: may be empty */
};

/** What weir_flow_parse saw on its way. */
struct weir_flow_trace {
	struct weir_flow_key key; /**< as weir_flow_parse finds it */
	uint32_t n_layers;	  /**< that are listed, outermost first */
	uint32_t n_omitted;	  /**< that are not */
	struct weir_flow_trace_layer layer[WEIR_FLOW_TRACE_LAYERS_MAX];
};

/**
 * As weir_flow_parse, and tells which layers it went through. For people, not for packet paths.
 * Any thread. No allocation.
 */
WEIR_API void weir_flow_trace(const struct weir_flow_config *config, const uint8_t *data,
	uint32_t length, struct weir_flow_trace *trace);

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
