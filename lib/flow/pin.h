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
 * The packet path loads a pin whole, by its word, when it plans: a load that spans stores of parts
 * would wait for them. When it lends it stores stamp and tie: the next load is a burst away.
 * `held` counts the bucket's packets in the hold: while there are, arrivals join them.
 */
struct pin {
	union {
		struct {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
			uint32_t stamp; /* the lane's tail after the bucket's last packet */
			uint16_t held;	/* packets */
			union {
				struct {
					uint8_t worker;
					uint8_t flags; /* enum pin_flag */
				};
				uint16_t tie; /* both: flags : 8, worker : 8 */
			};
#else
			union {
				struct {
					uint8_t flags;
					uint8_t worker;
				};
				uint16_t tie;
			};
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
#define PIN_TIE_FLAGS_SHIFT 8
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

/* The tie of a bucket whose last packet was lent to `worker`. */
static inline uint16_t
pin_tie_make(uint32_t worker)
{
	return (uint16_t)(PIN_KNOWN << PIN_TIE_FLAGS_SHIFT | worker);
}

/* Whether `now`, of a bucket with a worker, names another one than `was`, if that had one: the
 * ties differ there, and not in the flag. */
static inline bool
pin_tie_moved(uint16_t was, uint16_t now)
{
	const uint32_t known = PIN_KNOWN << PIN_TIE_FLAGS_SHIFT;
	const uint32_t difference = (uint32_t)(was ^ now) & (2 * known - 1);

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
