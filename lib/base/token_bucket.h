/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A token bucket: lets through so many a second, and a burst of those not used. Exact integers: it
 * counts in billionths of a token, so that a nanosecond adds as many as there are tokens a second,
 * and nothing is divided. Reads no clock.
 */
#ifndef WEIR_BASE_TOKEN_BUCKET_H
#define WEIR_BASE_TOKEN_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

#define TOKEN_CREDIT UINT64_C(1000000000)

struct token_bucket {
	uint64_t per_second;
	uint64_t credit; /* billionths of a token */
	uint64_t credit_max;
	uint64_t filled_ns; /* when it was filled last; 0 = the time is not known yet */
};

/* A full bucket. per_second: up to 10^9; burst: most tokens in it, 1 .. 2^31. */
static inline struct token_bucket
token_bucket_make(uint64_t per_second, uint32_t burst)
{
	return (struct token_bucket) {
		.per_second = per_second,
		.credit = burst * TOKEN_CREDIT,
		.credit_max = burst * TOKEN_CREDIT,
	};
}

static inline void
token_bucket_add(struct token_bucket *bucket, uint64_t credit)
{
	const uint64_t room = bucket->credit_max - bucket->credit;

	bucket->credit += credit < room ? credit : room;
}

/* Adds what has come in since it was filled last. now_ns: monotonic; 0 = not known. */
static inline void
token_bucket_fill(struct token_bucket *bucket, uint64_t now_ns)
{
	const uint64_t elapsed_ns = now_ns - bucket->filled_ns;
	uint64_t credit;

	if (elapsed_ns == 0)
		return;
	if (bucket->filled_ns > 0)
		token_bucket_add(
			bucket, __builtin_mul_overflow(elapsed_ns, bucket->per_second, &credit)
					? bucket->credit_max
					: credit);
	bucket->filled_ns = now_ns;
}

/* Takes a token. Returns false if there is none. */
static inline bool
token_bucket_take(struct token_bucket *bucket)
{
	if (bucket->credit < TOKEN_CREDIT)
		return false;
	bucket->credit -= TOKEN_CREDIT;
	return true;
}

/* Gives back a token that was taken and not used. */
static inline void
token_bucket_return(struct token_bucket *bucket)
{
	token_bucket_add(bucket, TOKEN_CREDIT);
}

#endif
