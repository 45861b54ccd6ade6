/* SPDX-License-Identifier: BSD-3-Clause */
/* Laws of synthetic work: parsing and drawing. Does no work and reads no clock. */
#include "law.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "rng.h"

static bool
digit_is(char character)
{
	return character >= '0' && character <= '9';
}

/* Decimal digits only: strtoull would take signs, spaces and what overflows. */
static bool
integer_parse(const char **text, uint64_t maximum, uint64_t *value)
{
	const char *cursor = *text;

	if (!digit_is(*cursor))
		return false;
	for (*value = 0; digit_is(*cursor); cursor++) {
		*value = *value * 10 + (uint64_t)(*cursor - '0');
		if (*value > maximum)
			return false;
	}
	*text = cursor;
	return true;
}

static bool
character_parse(const char **text, char character)
{
	if (**text != character)
		return false;
	(*text)++;
	return true;
}

/* 0 to 100 with at most two decimals, in hundredths. */
static bool
percent_parse(const char **text, uint32_t *share)
{
	uint64_t percent;
	uint32_t unit = LAW_SHARE_WHOLE / 100;

	if (!integer_parse(text, 100, &percent))
		return false;
	*share = (uint32_t)percent * unit;
	if (!character_parse(text, '.'))
		return true;
	if (!digit_is(**text))
		return false;
	for (; digit_is(**text) && unit > 1; (*text)++) {
		unit /= 10;
		*share += (uint32_t)(**text - '0') * unit;
	}
	return *share <= LAW_SHARE_WHOLE;
}

static bool
constant_parse(struct law *law, const char **text)
{
	law->kind = LAW_CONSTANT;
	return integer_parse(text, LAW_AMOUNT_MAX, &law->amount);
}

static bool
exponential_parse(struct law *law, const char **text)
{
	law->kind = LAW_EXPONENTIAL;
	return integer_parse(text, LAW_AMOUNT_MAX, &law->amount);
}

static bool
bimodal_parse(struct law *law, const char **text)
{
	law->kind = LAW_BIMODAL;
	return percent_parse(text, &law->short_share) && character_parse(text, ':') &&
	       integer_parse(text, LAW_AMOUNT_MAX, &law->amount) && character_parse(text, ':') &&
	       integer_parse(text, LAW_AMOUNT_MAX, &law->long_amount);
}

static bool
text_starts_with(const char **text, const char *prefix)
{
	const size_t length = strlen(prefix);

	if (strncmp(*text, prefix, length) != 0)
		return false;
	*text += length;
	return true;
}

static bool
law_read(struct law *law, const char **text)
{
	if (text_starts_with(text, "exp:"))
		return exponential_parse(law, text);
	if (text_starts_with(text, "bimodal:"))
		return bimodal_parse(law, text);
	return constant_parse(law, text);
}

int
law_parse(struct law *law, const char *text, char *error, size_t error_bytes)
{
	const char *cursor = text;
	struct law read = { 0 };

	if (text != NULL && law_read(&read, &cursor) && *cursor == '\0') {
		*law = read;
		return 0;
	}
	snprintf(error, error_bytes,
		LAW_GRAMMAR " (amounts: 0 to %" PRIu64
			    "; PERCENT: 0 to 100, two decimals at most), not '%s'",
		LAW_AMOUNT_MAX, text != NULL ? text : "");
	return -EINVAL;
}

/* By inversion: -ln(u) of a uniform u in (0, 1] is at most 37, so nothing overflows. */
static uint64_t
exponential_draw(uint64_t mean, uint64_t random)
{
	const double u = (double)((random >> 11) + 1) * 0x1p-53;

	return (uint64_t)((double)mean * -log(u) + 0.5);
}

uint64_t
law_draw(const struct law *law, uint64_t seed, uint64_t index)
{
	switch (law->kind) {
	case LAW_CONSTANT:
		return law->amount;
	case LAW_EXPONENTIAL:
		return exponential_draw(law->amount, rng_at(seed, index));
	case LAW_BIMODAL:
		break;
	}
	return rng_below(rng_at(seed, index), LAW_SHARE_WHOLE) < law->short_share
		       ? law->amount
		       : law->long_amount;
}
