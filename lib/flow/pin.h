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
	/* A pick was asked for in this burst: `stamp` is its number, until the packet is lent. */
	PIN_PICKED = 1u << 0,
	/* A held packet of the bucket stayed held in this pass: those behind it must, too. */
	PIN_STAYED = 1u << 1,
	/* `worker` has had a packet of the bucket. */
	PIN_KNOWN = 1u << 2,
	/* A packet of this burst stays with `worker` by stickiness: those behind it must, too. */
	PIN_STUCK = 1u << 3,
};

struct pin {
	uint32_t stamp; /* the lane's tail after the bucket's last packet */
	uint16_t held;	/* packets of the bucket in the hold: while there are, arrivals join them */
	uint8_t worker;
	uint8_t flags; /* enum pin_flag */
};
static_assert(sizeof(struct pin) == 8, "eight pins per cache line");
static_assert(WEIR_WORKERS_MAX - 1 <= UINT8_MAX, "a worker fits a byte");

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
