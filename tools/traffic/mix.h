/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of flows and their shares. Knows nothing of packets. */
#ifndef WEIR_TRAFFIC_MIX_H
#define WEIR_TRAFFIC_MIX_H

#include <stdint.h>

#define MIX_WEIGHT_MAX 1000000
#define MIX_ALLOWED_BYTES 160

enum traffic_kind {
	TRAFFIC_TCP,
	TRAFFIC_UDP,
	TRAFFIC_DNS,
	TRAFFIC_VLAN,
	TRAFFIC_IPV6,
	TRAFFIC_FRAGMENTS,
	TRAFFIC_KINDS,
};

/* A mix and where its dealing stands. */
struct mix {
	uint32_t weight[TRAFFIC_KINDS];
	int64_t credit[TRAFFIC_KINDS];
};

/*
 * Reads KIND=WEIGHT[,KIND=WEIGHT...]; kinds that are not named get nothing.
 * Returns 0, or -EINVAL and `mix` untouched.
 */
int mix_parse(const char *text, struct mix *mix);

/* Writes what mix_parse allows, in words. */
void mix_allowed(char text[MIX_ALLOWED_BYTES]);

/*
 * Deals the next flow its kind. Kinds take turns as often as their weights say, so that any run of
 * flows has nearly the whole mix's shares: big flows and small ones alike.
 */
enum traffic_kind mix_deal(struct mix *mix);

/* Both for usage. */
const char *traffic_kind_name(enum traffic_kind kind);
const char *traffic_kind_help(enum traffic_kind kind);

#endif
