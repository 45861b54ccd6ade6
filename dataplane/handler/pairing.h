/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where packets leave: each handler that transmits keeps its own copy of the port pairing, so that
 * a worker's loop reads memory that nobody writes. Knows no port library.
 */
#ifndef WEIR_DATAPLANE_HANDLER_PAIRING_H
#define WEIR_DATAPLANE_HANDLER_PAIRING_H

#include <stddef.h>
#include <stdint.h>

#include "handler.h"

/* A verdict names its port in 8 bits. */
#define PAIRING_PORTS_MAX 256

struct pairing {
	uint16_t n_ports;
	uint8_t pair[PAIRING_PORTS_MAX];
};

/* Copies the pairing of `setup`. Caller: control thread. */
void pairing_copy(struct pairing *pairing, const struct handler_setup *setup);

/* `open` and `close` of handlers whose whole state is a struct pairing. */
int pairing_open(const struct handler_setup *setup, const char *arguments, void **state,
	char *error, size_t error_bytes);
int pairing_close(void *state, char *error, size_t error_bytes);

/*
 * Transmits on the pair of the arrival port. A port number beyond the table has no pair: whoever
 * filled the metadata is at fault, and the packet must not leave by a port of someone else's.
 */
static inline struct weir_verdict
pairing_verdict(const struct pairing *pairing, const struct weir_packet *packet)
{
	if (packet->meta.port >= pairing->n_ports)
		return weir_verdict_drop(WEIR_REASON_BAD_VERDICT);
	return weir_verdict_tx(packet, pairing->pair[packet->meta.port]);
}

#endif
