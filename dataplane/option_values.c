/* SPDX-License-Identifier: BSD-3-Clause */
/* Text to values. Not by strtoul or strtod: they take signs, blanks, hex floats and the locale. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "option_values.h"

#define DECIMALS_MAX 9 /* nanoseconds */

/* The value of a digit of any base up to 16; 16 for what is no digit. */
static unsigned int
digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned int)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned int)(c - 'a') + 10;
	if (c >= 'A' && c <= 'F')
		return (unsigned int)(c - 'A') + 10;
	return 16;
}

/* Reads all of text .. end as digits of `base`: at least one, no overflow. */
static int
digits_parse(const char *text, const char *end, unsigned int base, uint64_t *number)
{
	uint64_t value = 0;

	if (text == end)
		return -EINVAL;
	for (; text < end; text++) {
		const unsigned int digit = digit_value(*text);

		if (digit >= base || __builtin_mul_overflow(value, base, &value) ||
			__builtin_add_overflow(value, digit, &value))
			return -EINVAL;
	}
	*number = value;
	return 0;
}

int
option_parse_number(const char *text, uint64_t *number)
{
	return digits_parse(text, text + strlen(text), 10, number);
}

int
option_parse_number_or_hex(const char *text, uint64_t *number)
{
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return digits_parse(text + 2, text + strlen(text), 16, number);
	return option_parse_number(text, number);
}

/* Reads the digits behind the decimal point as nanoseconds. */
static int
decimals_parse(const char *text, const char *end, uint64_t *ns)
{
	uint64_t value;

	if (end - text > DECIMALS_MAX || digits_parse(text, end, 10, &value) < 0)
		return -EINVAL;
	for (long i = end - text; i < DECIMALS_MAX; i++)
		value *= 10;
	*ns = value;
	return 0;
}

int
option_parse_seconds(const char *text, uint64_t *ns)
{
	const char *end = text + strlen(text);
	const char *point = strchrnul(text, '.');
	uint64_t seconds, decimals_ns = 0;

	if (digits_parse(text, point, 10, &seconds) < 0)
		return -EINVAL;
	if (point < end && decimals_parse(point + 1, end, &decimals_ns) < 0)
		return -EINVAL;
	if (__builtin_mul_overflow(seconds, OPTION_NS_PER_SECOND, &seconds) ||
		__builtin_add_overflow(seconds, decimals_ns, &seconds))
		return -EINVAL;
	*ns = seconds;
	return 0;
}

/* Reads a number that fits 32 bits. */
static int
id_parse(const char *text, const char *end, uint32_t *id)
{
	uint64_t number;

	if (digits_parse(text, end, 10, &number) < 0 || number > UINT32_MAX)
		return -EINVAL;
	*id = (uint32_t)number;
	return 0;
}

/* The first `c` in text .. end, or `end`. */
static const char *
find_or_end(const char *text, const char *end, char c)
{
	const char *found = memchr(text, c, (size_t)(end - text));

	return found ? found : end;
}

int
option_next_range(const char **cursor, const char *end, uint32_t *first, uint32_t *last)
{
	const char *text = *cursor;
	const char *comma, *hyphen;

	if (text > end) /* the previous element was the last one */
		return 0;
	comma = find_or_end(text, end, ',');
	hyphen = find_or_end(text, comma, '-');
	if (id_parse(text, hyphen, first) < 0)
		return -EINVAL;
	*last = *first;
	if (hyphen < comma && id_parse(hyphen + 1, comma, last) < 0)
		return -EINVAL;
	if (*last < *first)
		return -EINVAL;
	*cursor = comma + 1;
	return 1;
}
