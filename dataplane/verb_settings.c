/* SPDX-License-Identifier: BSD-3-Clause */
#include "verb_settings.h"

#include "settings.h"

bool
set_strategy_answer(struct app *app, const char *argument, FILE *out)
{
	return settings_change(app, SETTING_STRATEGY, argument, false, out);
}

bool
set_overflow_answer(struct app *app, const char *argument, FILE *out)
{
	return settings_change(app, SETTING_OVERFLOW, argument, false, out);
}

bool
set_weights_answer(struct app *app, const char *argument, FILE *out)
{
	return settings_change(app, SETTING_WEIGHTS, argument, false, out);
}

bool
set_config_answer(struct app *app, const char *argument, FILE *out)
{
	return settings_change(app, SETTING_CONFIG, argument, false, out);
}

bool
reload_answer(struct app *app, const char *argument, FILE *out)
{
	(void)argument;
	return settings_change(app, SETTING_COUNT, NULL, false, out);
}

bool
try_strategy_answer(struct app *app, const char *argument, FILE *out)
{
	return settings_change(app, SETTING_STRATEGY, argument, true, out);
}

bool
try_overflow_answer(struct app *app, const char *argument, FILE *out)
{
	return settings_change(app, SETTING_OVERFLOW, argument, true, out);
}

bool
try_weights_answer(struct app *app, const char *argument, FILE *out)
{
	return settings_change(app, SETTING_WEIGHTS, argument, true, out);
}

bool
try_config_answer(struct app *app, const char *argument, FILE *out)
{
	return settings_change(app, SETTING_CONFIG, argument, true, out);
}
