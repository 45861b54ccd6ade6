/* SPDX-License-Identifier: BSD-3-Clause */
#include "words.h"

#include <errno.h>
#include <string.h>

#include "child.h"

#define NAME_LENGTH_MAX 63
#define HELP_LENGTH_MAX 80

int
words_check(const char *name, const char *help, char *reason, size_t n_bytes)
{
	if (!name || !help)
		return reason_set(reason, n_bytes, EINVAL, "has no %s", name ? "help" : "name");
	if (!name[0] || strlen(name) > NAME_LENGTH_MAX ||
		name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-")])
		return reason_set(reason, n_bytes, EINVAL,
			"its name '%.*s' is not of lower case letters, digits and hyphens",
			NAME_LENGTH_MAX, name);
	for (size_t i = 0; help[i]; i++) {
		if ((unsigned char)help[i] < 0x20 || i >= HELP_LENGTH_MAX)
			return reason_set(reason, n_bytes, EINVAL,
				"its help is not one line of at most %d bytes", HELP_LENGTH_MAX);
	}
	return help[0] ? 0 : reason_set(reason, n_bytes, EINVAL, "its help is empty");
}
