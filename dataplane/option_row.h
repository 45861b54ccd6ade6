/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A row of the table of options (option_table.c), and the kinds of values that rows have. Private
 * to the files that parse (options.c) and print (options_print.c).
 */
#ifndef WEIR_DATAPLANE_OPTION_ROW_H
#define WEIR_DATAPLANE_OPTION_ROW_H

#include <stddef.h>
#include <stdint.h>

#include "options.h"

/* Room for what is allowed, in text: the longest lists every strategy or handler. */
#define OPTION_TEXT_BYTES 512

struct option_row;

/* A kind of value: how it is read, and how what is allowed is told. */
struct option_type {
	/*
	 * Stores the value, which is NULL only for rows without placeholder. Returns 0, or
	 * -EINVAL with nothing stored, without a message.
	 */
	int (*parse)(const struct option_row *row, const char *value, struct options *options);
	/* Writes what is allowed ("1 to 256"), always terminated. */
	void (*describe)(const struct option_row *row, char *text, size_t n_bytes);
	/* Whether two options have other values of the row; NULL: it can be told of none. */
	bool (*differs)(
		const struct option_row *row, const struct options *a, const struct options *b);
};

struct option_row {
	const char *heading;	  /* of the group that this row opens in usage, or NULL */
	const char *name;	  /* without its hyphens */
	const char *placeholder;  /* of the value, in usage; NULL: takes none */
	const char *help;	  /* one sentence without its full stop */
	const char *default_text; /* parsed like a value of the user's; NULL: none */
	const struct option_type *type;
	size_t offset;				    /* of the field in struct options */
	uint64_t min;				    /* of numbers, times (ns) and ids */
	uint64_t max;				    /* as min */
	const char *(*name_at)(unsigned int index); /* of choices: NULL past the end */
	bool also_why;				    /* an option of `weir` and of `weir why` */
	bool only_why;				    /* of `weir why` alone */
};

/* The commands that have options. */
enum options_command {
	OPTIONS_OF_WEIR,
	OPTIONS_OF_WHY,
};

extern const struct option_type option_type_u32;
extern const struct option_type option_type_u64;
extern const struct option_type option_type_seconds;
extern const struct option_type option_type_choice;
extern const struct option_type option_type_enum;
extern const struct option_type option_type_cpus;
extern const struct option_type option_type_seed;
extern const struct option_type option_type_hash_key;
extern const struct option_type option_type_tunnel_ports;
extern const struct option_type option_type_handler;
extern const struct option_type option_type_rule;
extern const struct option_type option_type_strategy;
extern const struct option_type option_type_weights;
extern const struct option_type option_type_restarts;
extern const struct option_type option_type_path;
extern const struct option_type option_type_name;
extern const struct option_type option_type_user;
extern const struct option_type option_type_flag;

/* option_table.c: all rows. */
extern const struct option_row option_table[];
extern const unsigned int option_table_rows;

/* The row at `index` among those of a command, in the order of usage; NULL past the end. */
const struct option_row *option_row_of(enum options_command command, unsigned int index);

/* The same of `weir`. */
const struct option_row *option_row_at(unsigned int index);

/* The bit of a row in options.given. */
uint64_t option_row_bit(const struct option_row *row);

/* The heading of the group that a row of the table belongs to. */
const char *option_heading_of(const struct option_row *row);

/* Prints "weir: " and the text as exactly one line on stderr; always returns -EINVAL. */
int options_refuse_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
