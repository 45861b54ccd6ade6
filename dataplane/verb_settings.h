/* SPDX-License-Identifier: BSD-3-Clause */
/* The requests that change what a running Weir does, or ask what a change would do. Control's. */
#ifndef WEIR_DATAPLANE_VERB_SETTINGS_H
#define WEIR_DATAPLANE_VERB_SETTINGS_H

#include <stdbool.h>
#include <stdio.h>

struct app;

/* Each writes what it does, or the reason why it is not done, and returns whether it is granted. */
bool set_strategy_answer(struct app *app, const char *argument, FILE *out);
bool set_overflow_answer(struct app *app, const char *argument, FILE *out);
bool set_weights_answer(struct app *app, const char *argument, FILE *out);
bool set_config_answer(struct app *app, const char *argument, FILE *out);
bool reload_answer(struct app *app, const char *argument, FILE *out);

/* What the same would do; nothing is changed. */
bool try_strategy_answer(struct app *app, const char *argument, FILE *out);
bool try_overflow_answer(struct app *app, const char *argument, FILE *out);
bool try_weights_answer(struct app *app, const char *argument, FILE *out);
bool try_config_answer(struct app *app, const char *argument, FILE *out);

#endif
