/* SPDX-License-Identifier: BSD-3-Clause */
/* The two forms of a result: a table for people, one JSON object for programs. */
#ifndef WEIR_BENCH_REPORT_H
#define WEIR_BENCH_REPORT_H

#include <stdio.h>

#include "runner.h"

/* Prints the machine, then a row per case. Returns 0 or -ENOMEM. */
int report_print_table(const struct run *run, FILE *out);

/* Writes one JSON object. Returns 0, -ENOMEM or -EIO. */
int report_write_json(const struct run *run, FILE *out);

#endif
