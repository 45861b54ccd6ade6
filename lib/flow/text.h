/* SPDX-License-Identifier: BSD-3-Clause */
/* Text built up in a buffer of fixed size, and the names of protocols. Cold. */
#ifndef WEIR_FLOW_TEXT_H
#define WEIR_FLOW_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* A buffer: always terminated; `used` counts what did not fit as well. */
struct text {
	char *begin;
	size_t n_bytes;
	size_t used;
};

void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* `bytes` in network order. */
void text_add_mac(struct text *text, const uint8_t *bytes);
void text_add_ipv4(struct text *text, const uint8_t *bytes);
void text_add_ipv6(struct text *text, const uint8_t *bytes);

/* The usual name of an IP protocol, or NULL. */
const char *protocol_name(uint8_t protocol);

/* The usual name of an IP protocol, else its number: "udp", "protocol 253". */
void text_add_protocol(struct text *text, uint8_t protocol);

#endif
