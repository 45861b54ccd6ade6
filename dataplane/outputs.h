/* SPDX-License-Identifier: BSD-3-Clause */
/* What is seen from outside: the live table, the report, DPDK telemetry. Fed by status only. */
#ifndef WEIR_DATAPLANE_OUTPUTS_H
#define WEIR_DATAPLANE_OUTPUTS_H

#include <stdio.h>

#include "status.h"

struct app;

/*
 * table.c: prints one table. Rates are of the time between `before` and `now`; NULL: of the whole
 * run, with the final ledger and drops by reason.
 */
void table_print(
	FILE *out, const struct app *app, const struct status *before, const struct status *now);

/* report.c: checks that the report can be written, before a packet moves. Returns 0 or -errno. */
int report_probe(const char *path);

/* report.c: the report as text, to be freed; NULL when memory is short. */
char *report_text(const struct app *app, const struct status *status);

/*
 * report.c: writes the JSON report: to a file beside it first, then renamed, so that a reader never
 * sees half of one. Returns 0 or -errno.
 */
int report_write(const char *path, const struct app *app, const struct status *status);

/* telemetry.c: registers the commands /weir/... Returns 0 or -errno. */
int telemetry_start(struct app *app);

/*
 * telemetry.c: keeps its threads from looking at the options while control changes them. Both may
 * be called before the start.
 */
void telemetry_lock(void);
void telemetry_unlock(void);

/* telemetry.c: from here on the commands answer that Weir is stopping; `app` is used no more. */
void telemetry_stop(void);

#endif
