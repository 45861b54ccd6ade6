/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cursor that walks through a frame, and what the functions of all layers do with it. A layer
 * is a function that checks bounds before it reads, notes the best flow that it can prove, moves
 * the cursor and names the layer that follows. What comes after a layer that cannot be read is
 * never guessed: the flow noted so far stands. Knows no layer.
 */
#ifndef WEIR_FLOW_CURSOR_H
#define WEIR_FLOW_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/flow.h>

#include "bytes.h"
#include "cacheline.h"

#define FLOW_INLINE static inline __attribute__((always_inline))

/*
 * Tags and headers that are looked through between two IP headers, and extension headers of one of
 * them. Networks stack two tags, seldom three: a frame full of tags costs no more than these steps.
 */
#define SHIMS_MAX 8
#define EXTENSIONS_MAX 8

/* Tells keys apart whose words are the same otherwise. Goes into the hash: never renumber. */
enum flow_kind {
	FLOW_KIND_UNKNOWN = 0,
	FLOW_KIND_MAC = 1,
	FLOW_KIND_IPV4 = 4,
	FLOW_KIND_IPV6 = 6,
};

enum layer {
	LAYER_PORTLESS, /* a protocol that has no ports, or none that are known */
	LAYER_ETHERNET,
	LAYER_VLAN,
	LAYER_VN_TAG,
	LAYER_LLC,
	LAYER_PPPOE,
	LAYER_PPP,
	LAYER_MPLS,
	LAYER_PSEUDOWIRE,
	LAYER_NSH,
	LAYER_IPV4,
	LAYER_IPV6,
	LAYER_IPV6_EXTENSION,
	LAYER_IPV6_FRAGMENT,
	LAYER_AH,
	LAYER_ESP,
	LAYER_PORTS,
	LAYER_UDP_TUNNEL,
	LAYER_ICMP,
	LAYER_ICMPV6,
	LAYER_IPV4_IN_IP,
	LAYER_IPV6_IN_IP,
	LAYER_MPLS_IN_IP,
	LAYER_ETHERNET_IN_IP,
	LAYER_GRE,
	LAYER_ERSPAN_2,
	LAYER_ERSPAN_3,
	LAYER_VXLAN,
	LAYER_VXLAN_GPE,
	LAYER_GENEVE,
	LAYER_GTPU,
	LAYER_TEREDO,
	LAYER_END,
};

/* One walk through a frame: where the cursor is, and the best flow noted so far. */
struct walk {
	const struct weir_flow_config *config;
	const uint8_t *at;
	size_t left;		  /* bytes at `at` that may be read */
	const uint8_t *addresses; /* the two of them, one behind the other; length by `kind` */
	uint32_t ports;		  /* as in a header: the first address's in the upper half */
	uint32_t ah_spi;	  /* of an AH behind these addresses; 0: none */
	uint32_t spi;		  /* in the place of ports, at the end of the walk; 0: none */
	uint8_t protocol;
	uint8_t kind;	/* enum flow_kind */
	uint8_t reason; /* enum weir_flow_reason */
	uint8_t n_shims;
	uint8_t n_extensions;
	uint8_t n_tunnels;
	bool quoted; /* in what an ICMP error quotes */
};

static inline uint16_t
walk_source_port(const struct walk *walk)
{
	return (uint16_t)(walk->ports >> 16);
}

static inline uint16_t
walk_destination_port(const struct walk *walk)
{
	return (uint16_t)walk->ports;
}

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

/* Whether an IP header has been read: what follows is inside of a tunnel or a quote. */
static inline bool
walk_is_inner(const struct walk *walk)
{
	return walk->kind > FLOW_KIND_MAC;
}

/* Ends the walk for `reason` with the flow noted so far. */
static inline enum layer
walk_stop(struct walk *walk, enum weir_flow_reason reason)
{
	walk->reason = (uint8_t)reason;
	return LAYER_END;
}

/* Ends the walk at a header that is cut or malformed; `reason` if no IP header came before it. */
static inline enum layer
walk_stop_cut(struct walk *walk, enum weir_flow_reason reason)
{
	return walk_stop(walk, walk_is_inner(walk) ? WEIR_FLOW_TRUNCATED_INNER : reason);
}

static inline enum layer
walk_stop_not_ip(struct walk *walk)
{
	return walk_stop(walk, walk_is_inner(walk) ? WEIR_FLOW_INNER_NOT_IP : WEIR_FLOW_NOT_IP);
}

/* Ends the walk with an SPI in the place of ports. */
static inline enum layer
walk_stop_spi(struct walk *walk, uint32_t spi)
{
	walk->spi = spi;
	return walk_stop(walk, WEIR_FLOW_SPI);
}

/* Ends the walk without ports for `reason`, unless an AH's SPI takes their place. */
static inline enum layer
walk_stop_portless(struct walk *walk, enum weir_flow_reason reason)
{
	return walk->ah_spi ? walk_stop_spi(walk, walk->ah_spi) : walk_stop(walk, reason);
}

/* Notes a flow by the pair of addresses at `addresses`. */
static inline void
walk_note(struct walk *walk, enum flow_kind kind, const uint8_t *addresses, uint8_t protocol)
{
	walk->kind = (uint8_t)kind;
	walk->addresses = addresses;
	walk->protocol = protocol;
	walk->ports = 0;
	walk->ah_spi = 0;
}

/*
 * Takes the next `bytes`, a tag or a header between Ethernet and IP. Returns false at the end of
 * the walk: they are not all there, or are one too many.
 */
static inline bool
walk_take_shim(struct walk *walk, size_t bytes)
{
	if (walk->left < bytes) {
		walk_stop_cut(walk, WEIR_FLOW_NOT_IP);
		return false;
	}
	if (walk->n_shims == SHIMS_MAX) {
		walk_stop(walk, WEIR_FLOW_NESTING_LIMIT);
		return false;
	}
	walk->n_shims++;
	walk_skip(walk, bytes);
	return true;
}

/* Goes into a tunnel, where `layer` comes first, unless its flow is to be that around it. */
static inline enum layer
walk_enter(struct walk *walk, enum layer layer)
{
	if (walk->config->depth == WEIR_FLOW_OUTER)
		return walk_stop_portless(walk, WEIR_FLOW_NO_PORTS);
	if (walk->n_tunnels >= walk->config->nesting_max)
		return walk_stop(walk, WEIR_FLOW_NESTING_LIMIT);
	walk->n_tunnels++;
	walk->n_shims = 0;
	walk->n_extensions = 0;
	return layer;
}

#endif
