/* SPDX-License-Identifier: BSD-3-Clause */
/* DNS messages that carry a stamp in an EDNS option. Knows nothing of what carries the message. */
#ifndef WEIR_TRAFFIC_DNS_H
#define WEIR_TRAFFIC_DNS_H

#include <stdbool.h>
#include <stdint.h>

#include "stamp.h"

#define DNS_BYTES_MAX 256

struct dns_message {
	uint64_t random; /* the same for a query and its response: name, answers, identifier */
	bool is_response;
	bool wants_ipv6; /* AAAA records instead of A */
	struct stamp stamp;
};

/* Writes a message to `at`, which has DNS_BYTES_MAX bytes; returns its length. */
uint32_t dns_write(uint8_t *at, const struct dns_message *message);

#endif
