/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding rows of the table of options. */
#include "option_row.h"

uint64_t
option_row_bit(const struct option_row *row)
{
	return UINT64_C(1) << (row - option_table);
}

static bool
row_serves(const struct option_row *row, enum options_command command)
{
	return command == OPTIONS_OF_WHY ? row->also_why || row->only_why : !row->only_why;
}

const struct option_row *
option_row_of(enum options_command command, unsigned int index)
{
	for (unsigned int i = 0; i < option_table_rows; i++)
		if (row_serves(&option_table[i], command) && index-- == 0)
			return &option_table[i];
	return NULL;
}

const struct option_row *
option_row_at(unsigned int index)
{
	return option_row_of(OPTIONS_OF_WEIR, index);
}

const char *
option_heading_of(const struct option_row *row)
{
	while (!row->heading)
		row--;
	return row->heading;
}
