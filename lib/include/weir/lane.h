/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The worker's end. A worker borrows packets through its lanes (one from each dispatcher), works
 * on them in place and publishes verdicts; it never owns a packet, so its death takes none along.
 */
#ifndef WEIR_LANE_H
#define WEIR_LANE_H

#include <stdint.h>

#include <weir/packet.h>
#include <weir/pool.h>

/**
 * Borrows up to `max` packets of one lane, in the order in which they were lent. Lanes are visited
 * in turn, so that no dispatcher starves another; but those of urgent dispatchers
 * (weir_config.n_urgent) before all others, in a turn of their own: these get nothing while an
 * urgent lane has packets. Nothing is taken while packets of an earlier take are not completed.
 * Packets that a newer one of their class covers (WEIR_ADMIT_COVER_EARLY) are given back here as
 * `covered` and not shown; a take ends in front of them.
 *
 * @param packets out: `max` entries
 * @param max     1 .. WEIR_BURST_MAX
 * @return packets taken; 0 if every lane is empty or an earlier take is not completed
 * Caller: the worker's own thread.
 */
WEIR_API uint32_t weir_take(struct weir_worker *worker, struct weir_packet *packets, uint32_t max);

/**
 * Gives back the next `n` packets of the last take, in its order, with their verdicts. From here
 * on they are the dispatcher's to transmit or free; the worker must not touch them (edge E2).
 *
 * @param n at most the packets of the last take that are not yet completed (asserted)
 * Caller: the worker's own thread.
 */
WEIR_API void weir_complete(
	struct weir_worker *worker, const struct weir_verdict *verdicts, uint32_t n);

/** The id of a worker. Any thread. */
WEIR_API weir_worker_id weir_worker_get_id(const struct weir_worker *worker);

#endif
