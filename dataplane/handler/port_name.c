/* SPDX-License-Identifier: BSD-3-Clause */
#include "port_name.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* More digits than any id has. */
#define ID_DIGITS_MAX 5

/* The number that `text` is, or -ENOENT: digits and nothing else. */
static int
number_of(const char *text)
{
	const size_t n_digits = strspn(text, "0123456789");
	int number = 0;

	if (n_digits == 0 || n_digits > ID_DIGITS_MAX || text[n_digits] != '\0')
		return -ENOENT;
	for (size_t i = 0; i < n_digits; i++)
		number = number * 10 + (text[i] - '0');
	return number;
}

int
port_name_find(const char *const *names, uint16_t n, const char *text)
{
	int number;

	for (uint16_t id = 0; id < n; id++)
		if (names[id] && strcmp(names[id], text) == 0)
			return id;
	number = number_of(text);
	return number >= 0 && number < n && names[number] ? number : -ENOENT;
}

void
port_names_list(const char *const *names, uint16_t n, char *text, size_t n_bytes)
{
	size_t used = 0;

	text[0] = '\0';
	for (uint16_t id = 0; id < n; id++) {
		if (!names[id])
			continue;
		used += (size_t)snprintf(text + used, n_bytes - used, "%s%s (%u)",
			used > 0 ? ", " : "", names[id], id);
		if (used >= n_bytes) {
			snprintf(text + n_bytes - 4, 4, "...");
			return;
		}
	}
}
