/* SPDX-License-Identifier: BSD-3-Clause */
/* DNS messages (RFC 1035) with an OPT record (RFC 6891). */
#include "dns.h"

#include <stdio.h>

#include "bytes_out.h"
#include "rng.h"

#define DNS_CLASS_INTERNET 1
#define DNS_ANSWERS_MAX 4
#define DNS_TTL_S 300

enum dns_record_type {
	DNS_RECORD_A = 1,
	DNS_RECORD_AAAA = 28,
	DNS_RECORD_OPT = 41,
};

enum dns_flag {
	DNS_RESPONSE = 0x8000,
	DNS_RECURSION_DESIRED = 0x0100,
	DNS_RECURSION_AVAILABLE = 0x0080,
};

/* "The name at byte 12": the question's, behind the header. */
#define DNS_POINTER_TO_QUESTION 0xc00c
/* The first option code of the range for local use, RFC 6891, section 9. */
#define DNS_OPTION_LOCAL 65001
#define DNS_UDP_BYTES 1232

static uint8_t *
put_label(uint8_t *at, const char *label)
{
	const size_t n = strlen(label);

	return put_bytes(put8(at, (unsigned int)n), label, n);
}

static uint8_t *
put_question(uint8_t *at, const struct dns_message *message)
{
	char host[16];

	(void)snprintf(host, sizeof(host), "h%08x", (unsigned int)message->random);
	at = put_label(at, host);
	at = put_label(at, "weir");
	at = put_label(at, "example");
	at = put8(at, 0);
	at = put16(at, message->wants_ipv6 ? DNS_RECORD_AAAA : DNS_RECORD_A);
	return put16(at, DNS_CLASS_INTERNET);
}

static uint8_t *
put_answer(uint8_t *at, const struct dns_message *message, uint32_t host)
{
	at = put16(at, DNS_POINTER_TO_QUESTION);
	at = put16(at, message->wants_ipv6 ? DNS_RECORD_AAAA : DNS_RECORD_A);
	at = put16(at, DNS_CLASS_INTERNET);
	at = put32(at, DNS_TTL_S);
	if (!message->wants_ipv6)
		return put32(put16(at, 4), UINT32_C(0xcb007100) | host); /* 203.0.113.0/24 */
	at = put16(at, 16);
	at = put32(put32(at, UINT32_C(0x20010db8)), 0);
	return put32(put32(at, 0), host);
}

/* Last in the message, its option last in it: so the stamp ends the packet. */
static uint8_t *
put_stamp_record(uint8_t *at, struct stamp stamp)
{
	at = put8(at, 0);
	at = put16(at, DNS_RECORD_OPT);
	at = put16(at, DNS_UDP_BYTES);
	at = put32(at, 0);
	at = put16(at, 4 + STAMP_BYTES);
	at = put16(at, DNS_OPTION_LOCAL);
	at = put16(at, STAMP_BYTES);
	stamp_write(at, stamp);
	return at + STAMP_BYTES;
}

uint32_t
dns_write(uint8_t *at, const struct dns_message *message)
{
	const uint32_t n_answers =
		message->is_response ? 1 + rng_below(rng_at(message->random, 0), DNS_ANSWERS_MAX)
				     : 0;
	uint8_t *const start = at;

	at = put16(at, message->random >> 48 & 0xffff);
	at = put16(at, DNS_RECURSION_DESIRED |
			       (message->is_response ? DNS_RESPONSE | DNS_RECURSION_AVAILABLE : 0));
	at = put16(at, 1);
	at = put16(at, n_answers);
	at = put16(at, 0);
	at = put16(at, 1);
	at = put_question(at, message);
	for (uint32_t i = 0; i < n_answers; i++)
		at = put_answer(at, message, 1 + i);
	at = put_stamp_record(at, message->stamp);
	return (uint32_t)(at - start);
}
