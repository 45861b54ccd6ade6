/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pin table: which worker a bucket follows while packets of it are on their way. One table per
 * dispatcher, 8 bytes per bucket, local: nothing here is shared.
 *
 * A bucket may choose afresh exactly when its last packet has been harvested. The lane stamp of
 * that packet tells, by sequence numbers only: no clock, no count per flow.
 */
#ifndef WEIR_FLOW_PIN_H
#define WEIR_FLOW_PIN_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/packet.h>

enum pin_flag {
	/* `worker` has had a packet of the bucket. */
	PIN_KNOWN = 1u << 0,
	/* A pick was asked for in this burst: `stamp` is its number, until the packet is lent. */
	PIN_PICKED = 1u << 1,
	/* A held packet of the bucket stayed held in this pass: those behind it must, too. */
	PIN_STAYED = 1u << 2,
	/* A packet of this burst stays with `worker` by stickiness: those behind it must, too. */
	PIN_STUCK = 1u << 3,
};

/*
 * The packet path loads and stores a pin whole, by its word: a load that spans stores of parts
 * would wait for them. `held` counts the bucket's packets in the hold: while there are, arrivals
 * join them.
 */
struct pin {
	union {
		struct {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
			uint32_t stamp; /* the lane's tail after the bucket's last packet */
			uint16_t held;	/* packets */
			uint8_t worker;
			uint8_t flags; /* enum pin_flag */
#else
			uint8_t flags;
			uint8_t worker;
			uint16_t held;
			uint32_t stamp;
#endif
		};
		uint64_t word; /* flags : 8, worker : 8, held : 16, stamp : 32 */
	};
};
static_assert(sizeof(struct pin) == 8, "eight pins per cache line");
static_assert(WEIR_WORKERS_MAX - 1 <= UINT8_MAX, "a worker fits a byte");

#define PIN_HELD_SHIFT 32
#define PIN_WORKER_SHIFT 48
#define PIN_FLAGS_SHIFT 56
#define PIN_HELD_MASK ((uint64_t)UINT16_MAX << PIN_HELD_SHIFT)
#define PIN_FLAGS_WORD(flags) ((uint64_t)(flags) << PIN_FLAGS_SHIFT)

static inline uint32_t
pin_word_stamp(uint64_t word)
{
	return (uint32_t)word;
}

static inline uint32_t
pin_word_worker(uint64_t word)
{
	return (uint8_t)(word >> PIN_WORKER_SHIFT);
}

/* Whether nothing is held of the bucket and nothing of it was met in this burst or pass. */
static inline bool
pin_word_is_plain(uint64_t word)
{
	return (word & (PIN_HELD_MASK | PIN_FLAGS_WORD(PIN_PICKED | PIN_STAYED | PIN_STUCK))) == 0;
}

/* What turns a plain pin's word into that of one for which pick number `pick` was asked. */
static inline uint64_t
pin_word_picking(uint64_t word, uint32_t pick)
{
	return PIN_FLAGS_WORD(PIN_PICKED) | (pin_word_stamp(word) ^ pick);
}

/* The word once a packet was lent. Its bucket may have more in the hold. */
static inline uint64_t
pin_word_lent(uint64_t word, uint32_t worker, uint32_t stamp)
{
	return (word & PIN_HELD_MASK) | PIN_FLAGS_WORD(PIN_KNOWN) |
	       (uint64_t)worker << PIN_WORKER_SHIFT | stamp;
}

/* Whether `now`, of a bucket with a worker, names another one than `was`, if that had one: the
 * words differ there, and not in the flag. */
static inline bool
pin_word_moved(uint64_t was, uint64_t now)
{
	const uint32_t known = 1u << (PIN_FLAGS_SHIFT - PIN_WORKER_SHIFT);
	const uint32_t difference = (uint32_t)((was ^ now) >> PIN_WORKER_SHIFT) & (2 * known - 1);

	static_assert(PIN_KNOWN == 1, "the flag is the bit above the worker's");
	return difference - 1 < known - 1;
}

/*
 * Whether the packet with this stamp is still out: stamps run from harvested + 1 to tail. A window
 * test, so that a stamp of long ago, 2^31 packets and more, does not look like a coming one.
 */
static inline bool
pin_stamp_is_out(uint32_t stamp, uint32_t harvested, uint32_t tail)
{
	return (uint32_t)(stamp - harvested - 1) < (uint32_t)(tail - harvested);
}

#endif
