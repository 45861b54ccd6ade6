/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a worker does with packets. A handler is one file that ends in a const struct handler, one
 * row in registry.c and one test. It sees struct weir_packet, never an mbuf.
 */
#ifndef WEIR_DATAPLANE_HANDLER_H
#define WEIR_DATAPLANE_HANDLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/weir.h>

/* Room for any reason that `load` gives, with its terminating zero. */
#define HANDLER_REASON_BYTES 512

/* What a handler may know of its surroundings when it opens. */
struct handler_setup {
	weir_worker_id worker;
	uint32_t incarnation; /* of the worker, from 0: what an earlier one made is left alone */
	uint16_t n_ports;     /* entries of each of the two tables, by port id */
	const uint8_t *pair;  /* port → the port that `forward` sends to (testpmd's pairing) */
	const char *const *port_names; /* NULL: there is no such port */
	uint64_t seed;		       /* differs per worker */
	uint64_t tsc_hz;
};

struct handler {
	const char *name;  /* as in `--handler name:arguments` */
	const char *usage; /* "pcap:DIR", for help */
	const char *help;  /* one line */
	bool is_sink;	   /* consumes packets: they never come back to be transmitted */
	/*
	 * `process` stores to packets' bytes, or its verdicts make packets longer. Copies of a
	 * packet for several workers share its bytes if no worker's handler does.
	 */
	bool writes_packets;
	bool names_port; /* its arguments name the port that it sends to, which then only sends */
	/*
	 * May be given the same packet again, after it died while it worked on it: the outcome is
	 * as if it had worked on it once.
	 */
	bool restartable;
	/*
	 * For handlers whose code is in a file that the arguments name, NULL for others: checks and
	 * tries it in a child process, opens it, and corrects in `loaded`, a copy of this handler,
	 * what only the code can tell: help, is_sink, writes_packets, restartable. The code stays
	 * open until `unload`. Not needed before `open`, which works without.
	 * Returns 0, or -errno with a line in `reason`. Caller: control thread, before EAL starts.
	 */
	int (*load)(const char *arguments, struct handler *loaded, void **code, char *reason,
		size_t reason_bytes);
	void (*unload)(void *code);
	/*
	 * Opens the handler for one worker. `arguments` is what follows the colon, NULL if there is
	 * none. Returns 0, or -EINVAL / -errno with `error` (one line: value and what is allowed).
	 * Caller: control thread, before the worker starts.
	 */
	int (*open)(const struct handler_setup *setup, const char *arguments, void **state,
		char *error, size_t error_bytes);
	/*
	 * The run begins: every worker's handler has been opened. The first moment at which one may
	 * destroy what an earlier run has left. NULL if there is nothing to do. Returns as `open`.
	 * Caller: control thread, before the worker starts.
	 */
	int (*begin)(void *state, char *error, size_t error_bytes);
	/* Writes one verdict per packet. Caller: the worker's thread. */
	void (*process)(void *state, const struct weir_packet *packets, uint32_t n,
		struct weir_verdict *verdicts);
	/*
	 * Frees the state; NULL if `open` makes none. Returns 0, or -errno when the handler could
	 * not do all it was asked to (a sink that failed), with `error` filled. Caller: control
	 * thread, after the worker is joined.
	 */
	int (*close)(void *state, char *error, size_t error_bytes);
};

/* Finds a handler by the name before the colon of `spec`. NULL if there is none. */
const struct handler *handler_find(const char *spec);

/* The handler at `index`; NULL past the end. */
const struct handler *handler_at(unsigned int index);

/* The arguments of `spec`: what follows the first colon, NULL if there is no colon. */
const char *handler_arguments(const char *spec);

#endif
