/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a worker process and Weir say to each other over their socket (SOCK_SEQPACKET): one message
 * each way, then nothing. The worker says hello; Weir answers with an offer and three files, or
 * with the reason why not. Structs of fixed size, and every field is checked: neither side trusts
 * the other's bytes. Knows no EAL.
 */
#ifndef WEIR_DATAPLANE_WORKER_PROTOCOL_H
#define WEIR_DATAPLANE_WORKER_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>

#include <weir/packet.h>

/* Its bytes read "WEIRWORK" in memory of a little-endian machine. */
#define WORKER_MAGIC UINT64_C(0x4b524f5752494557)

/* To be counted up with every change of what is in this file, or of what it means. */
#define WORKER_PROTOCOL_VERSION 1

#define WORKER_REASON_BYTES 320	  /* room for any reason, with its terminating zero */
#define WORKER_SPEC_BYTES 1024	  /* of a handler's SPEC, likewise */
#define WORKER_PORTS_MAX 32	  /* ids of ports are below that */
#define WORKER_PORT_NAME_BYTES 64 /* of a port's name */

/* The begin of every message, in every version. */
struct worker_preamble {
	uint64_t magic;
	uint32_t version;
	uint32_t bytes; /* of the whole message */
};

/* Bits of worker_hello.flags. */
enum worker_hello_flag {
	WORKER_HELLO_WRITES = 1u << 0, /* its handler writes to packets: it brings its own */
};

/* From the worker. */
struct worker_hello {
	struct worker_preamble preamble;
	uint32_t id;	/* that it wants to be */
	uint32_t flags; /* enum worker_hello_flag */
};

/* Bits of worker_offer.flags. */
enum worker_offer_flag {
	WORKER_OFFER_YIELDS = 1u << 0,	/* its CPU has another polling thread */
	WORKER_OFFER_DROPS = 1u << 1,	/* it is to become `uid`, if it is root */
	WORKER_OFFER_FILTERS = 1u << 2, /* system calls are to be filtered */
	WORKER_OFFER_BOUND = 1u << 3,	/* it is to run on `cpu` */
};

/* The files that come with an offer, in this order. */
enum worker_file {
	WORKER_FILE_LANES, /* to be mapped read-only */
	WORKER_FILE_OWN,   /* read-write */
	WORKER_FILE_DATA,  /* packets, read-write */
	WORKER_FILE_COUNT,
};

/*
 * From Weir. A refusal has no files, and nothing but preamble, status and reason, which stand where
 * they are in every version.
 */
struct worker_offer {
	struct worker_preamble preamble;
	uint32_t refused; /* 1: see reason; 0: an offer */
	uint32_t flags;	  /* enum worker_offer_flag */
	char reason[WORKER_REASON_BYTES];
	uint64_t file_bytes[WORKER_FILE_COUNT];
	uint64_t seed;
	uint64_t tsc_hz;
	uint64_t beat_cycles; /* TSC cycles between two beats */
	uint32_t id;
	uint32_t incarnation;
	uint32_t burst;
	uint32_t cpu;
	uint32_t uid;
	uint32_t gid;
	uint32_t n_ports; /* entries of the two tables by port id */
	uint8_t pair[WORKER_PORTS_MAX];
	char port_name[WORKER_PORTS_MAX][WORKER_PORT_NAME_BYTES]; /* empty: no such port */
	char handler[WORKER_SPEC_BYTES];
};

/* Sends a hello. Returns 0 or -errno. */
int worker_hello_send(int socket_fd, const struct worker_hello *hello);

/*
 * Receives a hello that is waiting, and checks it; files that come with it are not even opened.
 * Returns 0; -EAGAIN if there is none yet; -ENOTCONN if the other side is gone; -EPROTO with
 * `reason` filled if it is no hello of this version.
 */
int worker_hello_receive(
	int socket_fd, struct worker_hello *hello, char reason[WORKER_REASON_BYTES]);

/* Makes an offer that is zero but for its preamble. */
void worker_offer_init(struct worker_offer *offer);

/* Sends an offer with its files, which stay the caller's. Returns 0 or -errno. */
int worker_offer_send(
	int socket_fd, const struct worker_offer *offer, const int files[WORKER_FILE_COUNT]);

/* Sends a refusal, as far as the other side still listens. */
void worker_offer_refuse(int socket_fd, const char *reason);

/*
 * Waits for the offer to worker `id`, and checks it. Returns 0 with `files` open, the caller's;
 * -EACCES if it is a refusal; -EPROTO if it is no offer of this version; -ENOTCONN if Weir is gone;
 * or another -errno. In all of these `reason` is filled, and no file is open.
 */
int worker_offer_receive(int socket_fd, weir_worker_id id, struct worker_offer *offer,
	int files[WORKER_FILE_COUNT], char reason[WORKER_REASON_BYTES]);

#endif
