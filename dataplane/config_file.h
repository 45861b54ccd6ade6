/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The configuration file: INI, read by libinih. Section [weir] has the names of options as keys,
 * section [rules] has `rule` lines. Knows no option by name but --config.
 */
#ifndef WEIR_DATAPLANE_CONFIG_FILE_H
#define WEIR_DATAPLANE_CONFIG_FILE_H

#include "options.h"

/* One line of the file that says something. Strings live as long as the options. */
struct config_entry {
	const char *path;
	uint32_t line;	 /* from 1 */
	const char *key; /* an option's name; "rule" in [rules] */
	const char *value;
	bool in_rules;	/* of [rules] */
	bool continues; /* an indented line: it goes on with the entry before, which was a rule */
};

/* Takes an entry. Returns 0, or -EINVAL after a refusal. */
typedef int (*config_entry_fn)(void *context, const struct config_entry *entry);

/*
 * Reads a file, unless options->config_text is its text already, and hands over its entries in
 * order. Nothing is handed over of a file that is malformed. Values are kept in `options`. Returns
 * 0, -EINVAL after a refusal, or -ENOMEM after a line.
 */
int config_file_read(
	const char *path, struct options *options, config_entry_fn take, void *context);

#endif
