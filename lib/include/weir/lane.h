/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The worker's end. A worker borrows packets through its lanes (one from each dispatcher), works
 * on them in place and publishes verdicts; it never owns a packet, so its death takes none along.
 */
#ifndef WEIR_LANE_H
#define WEIR_LANE_H

#include <stdbool.h>
#include <stddef.h>
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

/** What the worker is to do (edge E5). Between bursts. Caller: the worker's own thread. */
WEIR_API enum weir_worker_command weir_worker_read_command(const struct weir_worker *worker);

/**
 * Whether every dispatcher has said where its lane ends (it has seen the worker leave the pool) and
 * all up to there is completed. Caller: the worker's own thread.
 */
WEIR_API bool weir_worker_is_drained(const struct weir_worker *worker);

/** Tells that the worker lives: every half heartbeat period. Caller: the worker's own thread. */
WEIR_API void weir_worker_beat(struct weir_worker *worker);

/** Tells how far the worker is: READY, DRAINING or STOPPED (edge E4). The worker's own thread. */
WEIR_API void weir_worker_report_state(struct weir_worker *worker, enum weir_worker_state state);

/**
 * Counts `cycles` of work, and when the burst in hand was begun (0: none is), for whoever watches.
 * Caller: the worker's own thread.
 */
WEIR_API void weir_worker_count_busy(struct weir_worker *worker, uint64_t cycles, uint64_t since);

/** One worker's memory as mapped into a process that is not its pool's. */
struct weir_worker_mapping {
	const void *lanes; /**< read-only */
	size_t lanes_bytes;
	void *own; /**< read-write */
	size_t own_bytes;
	uint8_t *data; /**< packets: read-write */
	size_t data_bytes;
};

/** Room for any reason that weir_worker_attach gives, with its terminating zero. */
#define WEIR_ATTACH_REASON_BYTES 160

/**
 * Makes a worker of mapped memory, in another process than its pool's. Allocates.
 * @param reason filled with one line if there is none; may be NULL
 * @return to be freed with weir_worker_detach; or NULL with errno EPROTO (no memory of Weir's, of
 *	   another version, or sizes that do not fit) or ENOMEM
 */
WEIR_API struct weir_worker *weir_worker_attach(
	const struct weir_worker_mapping *mapping, char *reason, size_t n_bytes);

/** Frees what weir_worker_attach made; unmaps nothing. NULL is allowed. */
WEIR_API void weir_worker_detach(struct weir_worker *worker);

/** The id of a worker. Any thread. */
WEIR_API weir_worker_id weir_worker_get_id(const struct weir_worker *worker);

#endif
