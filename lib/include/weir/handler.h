/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handlers of one's own: what a worker does with packets, in a shared object that exports one
 * symbol, made by WEIR_HANDLER_PLUGIN(handler). `weir --handler plugin:FILE.so` checks it, tries it
 * and then runs it like a built-in one. Knows no buffer library.
 *
 * A plugin runs in the process with all of its rights: load only what you would run yourself.
 * docs/plugins.md tells how to write one.
 */
#ifndef WEIR_HANDLER_H
#define WEIR_HANDLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/packet.h>
#include <weir/stats.h>

/**
 * Version of what a handler and Weir must agree on: this header, what a handler sees of
 * weir/packet.h, and the numbers of enum weir_reason. Not the version of Weir, nor that of the
 * strategy ABI.
 */
#define WEIR_HANDLER_ABI_VERSION 1

/** "WEIRHAND": the first bytes of what a plugin exports. */
#define WEIR_HANDLER_MAGIC UINT64_C(0x444e414852494557)

/** The name of the symbol that a plugin exports. */
#define WEIR_HANDLER_PLUGIN_SYMBOL "weir_handler_plugin"

/** What a handler says of itself, bits of weir_handler.flags. */
enum weir_handler_flag {
	/**
	 * Packets end here: its verdicts are WEIR_VERDICT_CONSUMED and WEIR_VERDICT_DROP, never
	 * WEIR_VERDICT_TX. Without it, never WEIR_VERDICT_CONSUMED.
	 */
	WEIR_HANDLER_SINK = 1u << 0,
	/**
	 * Stores to packets' bytes, or gives verdicts that make a packet longer. Copies of a packet
	 * for several workers share their bytes while no worker's handler says this.
	 */
	WEIR_HANDLER_WRITES = 1u << 1,
	/**
	 * May be given the same packet again, by another worker or a new incarnation, after it died
	 * while it worked on it: the outcome is as if it had worked on it once. The bytes are as it
	 * left them. A handler that counts packets, writes them to a file, or changes bytes in a
	 * way that is not the same when done twice, says no.
	 */
	WEIR_HANDLER_RESTARTABLE = 1u << 2,
};

/** What a handler may know of its surroundings when it opens. Lives as long as the call. */
struct weir_handler_setup {
	uint64_t seed;	     /**< for random decisions; differs per worker */
	uint64_t tsc_hz;     /**< ticks of the TSC in a second; in a trial any number */
	const uint8_t *pair; /**< port → the one that `forward` sends to; 0 if there is no port */
	/** Of the worker, from 0: one that was ended or died has a successor. What an earlier
	 * incarnation has written is left alone. */
	uint32_t incarnation;
	uint16_t n_ports;      /**< entries of `pair`; not all of them are ports */
	weir_worker_id worker; /**< the worker that this state is for, 0 .. 255 */
	bool is_trial;	       /**< made-up packets, in a child process: leave nothing behind */
};

/**
 * A handler. Each worker has a state of its own, so the functions need no locks as long as they
 * keep to it: two workers may be in the same function at the same time.
 *
 * They run in a thread of Weir's, or in a process of the worker's that has neither EAL nor a pool
 * of buffers: they must not call DPDK.
 *
 *   trial	 open, begin, process..., close: in a child process, before Weir starts, and again
 *		 with each change of a running Weir (weirctl set, try, reload)
 *   thread	 open, begin and close by the control thread; process by the worker's
 *   process	 all four by the worker's process
 *
 * What was opened is closed, even if the run is refused before it begins. A worker that died, or
 * that hangs in `process`, is not closed; its successor opens and begins anew.
 */
struct weir_handler {
	/** Of the handler's own: lower case letters, digits and hyphens; at most 63. */
	const char *name;
	/** One line of at most 80 bytes. */
	const char *help;
	/** enum weir_handler_flag, others zero. */
	uint32_t flags;
	/**
	 * Makes the state of one worker. It must not destroy what an earlier run has left: this one
	 * can still be refused. NULL: there is no state, and arguments are refused.
	 *
	 * @param setup       valid during the call
	 * @param arguments   what follows the second colon of plugin:FILE.so:ARGUMENTS, NULL if
	 *		      there is none; valid during the call
	 * @param state       becomes the state; NULL before
	 * @param error       of a failure one line that reads well behind the word "allowed": what
	 *		      is allowed, and what was given; empty before
	 * @param error_bytes at least 128
	 * @return 0, or -errno with nothing left to close
	 */
	int (*open)(const struct weir_handler_setup *setup, const char *arguments, void **state,
		char *error, size_t error_bytes);
	/**
	 * The run begins, every worker's handler is open: the first moment to empty a file. NULL:
	 * nothing to do. Parameters and result as of `open`; after a failure `close` is called.
	 */
	int (*begin)(void *state, char *error, size_t error_bytes);
	/**
	 * Works on a burst in place and writes one verdict per packet. On the packet path: no
	 * allocation, no locks, and no system calls but of a sink.
	 *
	 * Packets are lent until `process` returns: keep no pointer into them. Their bytes come
	 * from outside and may be anything, from one byte on. `meta.segment_length` bytes may be
	 * read at `data`, and written with WEIR_HANDLER_WRITES. A packet with WEIR_META_CHAIN goes
	 * on: the struct weir_segment_link before the data of each segment tells where; copy it
	 * out, it has no alignment. All segments together have `meta.length` bytes.
	 *
	 * A verdict may cut the packet (`data_offset`, `length`). One that takes in bytes before or
	 * behind it is honoured if the buffer has them; how many there are is not told. A verdict
	 * of a kind, reason, port or length that is none makes a drop with WEIR_REASON_BAD_VERDICT.
	 * Each verdict must be written: what stands there before is nothing.
	 *
	 * @param state	   from `open`
	 * @param packets  `n` of them
	 * @param n	   1 .. WEIR_BURST_MAX
	 * @param verdicts `n` of them
	 */
	void (*process)(void *state, const struct weir_packet *packets, uint32_t n,
		struct weir_verdict *verdicts);
	/**
	 * Frees the state, after the last `process`. NULL: nothing to do.
	 *
	 * @return 0; or -errno if the handler could not do all it was asked to, with a line in
	 *	   `error`: Weir prints it, and ends with exit status 1
	 */
	int (*close)(void *state, char *error, size_t error_bytes);
};

/** What a plugin exports. Members up to `abi_version` stay as they are in every version. */
struct weir_handler_plugin {
	uint64_t magic;			    /**< WEIR_HANDLER_MAGIC */
	uint32_t abi_version;		    /**< WEIR_HANDLER_ABI_VERSION of its headers */
	uint32_t packet_bytes;		    /**< sizeof(struct weir_packet), likewise */
	uint32_t verdict_bytes;		    /**< sizeof(struct weir_verdict) */
	uint32_t setup_bytes;		    /**< sizeof(struct weir_handler_setup) */
	uint32_t handler_bytes;		    /**< sizeof(struct weir_handler) */
	uint32_t reserved;		    /**< zero */
	const struct weir_handler *handler; /**< lives as long as the shared object */
};

/** Makes a shared object a plugin: once, at file scope, behind the handler's definition. */
#define WEIR_HANDLER_PLUGIN(handler_)                                         \
	extern WEIR_API const struct weir_handler_plugin weir_handler_plugin; \
	WEIR_API const struct weir_handler_plugin weir_handler_plugin = {     \
		.magic = WEIR_HANDLER_MAGIC,                                  \
		.abi_version = WEIR_HANDLER_ABI_VERSION,                      \
		.packet_bytes = (uint32_t)sizeof(struct weir_packet),         \
		.verdict_bytes = (uint32_t)sizeof(struct weir_verdict),       \
		.setup_bytes = (uint32_t)sizeof(struct weir_handler_setup),   \
		.handler_bytes = (uint32_t)sizeof(struct weir_handler),       \
		.handler = &(handler_),                                       \
	}

#endif
