/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much synthetic work a packet is: a constant, or a random amount by a law. A draw is a
 * function of (law, seed, index), so a run can be repeated exactly. Knows no unit of work.
 */
#ifndef WEIR_DATAPLANE_HANDLER_LAW_H
#define WEIR_DATAPLANE_HANDLER_LAW_H

#include <stddef.h>
#include <stdint.h>

/* The grammar, for usage. PERCENT of the packets are SHORT, the others LONG. */
#define LAW_GRAMMAR "N, exp:MEAN or bimodal:PERCENT:SHORT:LONG"
/* A thousand seconds or so in either unit: more is a mistake, and 37 means of it still fit. */
#define LAW_AMOUNT_MAX UINT64_C(1000000000000)
/* Shares are kept in hundredths of a percent: 99.5 % is a share that people ask for. */
#define LAW_SHARE_WHOLE 10000

enum law_kind {
	LAW_CONSTANT,
	LAW_EXPONENTIAL,
	LAW_BIMODAL,
};

struct law {
	enum law_kind kind;
	uint32_t short_share; /* of LAW_SHARE_WHOLE */
	uint64_t amount;      /* the constant, the mean, or the short amount */
	uint64_t long_amount;
};

/* Reads a law from `text` (NULL: none was given). 0, or -EINVAL with `error` filled. */
int law_parse(struct law *law, const char *text, char *error, size_t error_bytes);

/* The amount of packet `index`. */
uint64_t law_draw(const struct law *law, uint64_t seed, uint64_t index);

#endif
